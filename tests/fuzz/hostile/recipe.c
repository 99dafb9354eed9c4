#include "tests/fuzz/hostile/recipe.h"

#include "core/base/file.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A case being made. Bytes go to the entry of an archive when one is open, else to the file. */
struct kitchen {
    const char *path;
    int line;
    struct hostile_case *made;
    struct {
        char name[RECIPE_NAME];
        struct bytes bytes;
    } entries[RECIPE_ENTRIES];
    size_t entry_count;
};

static void wrong(const struct kitchen *kitchen, const char *what, const char *line) {
    fail_msg("%s, line %d: %s: %s", kitchen->path, kitchen->line, what, line);
}

static struct bytes *target(struct kitchen *kitchen) {
    struct hostile_case *made = kitchen->made;
    if (kitchen->entry_count) return &kitchen->entries[kitchen->entry_count - 1].bytes;
    if (!made->file_count) made->file_count = 1;
    return &made->files[made->file_count - 1].bytes;
}

/* ---- words of a line ---- */

/* \xNN, \n, \r, \t, \0, \s (a space) and \\ stand for bytes. */
static struct bytes unescape(const struct kitchen *kitchen, const char *text, size_t length) {
    static const char letters[] = "nrt0s\\", values[] = "\n\r\t\0 \\";
    struct bytes bytes = {0};
    put(&bytes, "", 0);
    for (size_t i = 0; i < length; i++) {
        if (text[i] != '\\' || i + 1 == length) {
            put_byte(&bytes, (unsigned char)text[i]);
            continue;
        }
        const char *letter = strchr(letters, text[++i]);
        unsigned number;
        if (letter)
            put_byte(&bytes, (unsigned char)values[letter - letters]);
        else if (text[i] == 'x' && i + 2 < length && sscanf(text + i + 1, "%2x", &number) == 1) {
            put_byte(&bytes, (unsigned char)number);
            i += 2;
        } else
            wrong(kitchen, "an unknown escape", text);
    }
    return bytes;
}

static struct bytes unescape_all(const struct kitchen *kitchen, const char *text) {
    return unescape(kitchen, text, strlen(text));
}

/* A whole number, decimal or 0x…, negative ones as two's complement; the rest of the line. */
static uint64_t take_number(const struct kitchen *kitchen, const char **text) {
    char *end;
    uint64_t number =
        (*text)[0] == '-' ? (uint64_t)strtoll(*text, &end, 0) : (uint64_t)strtoull(*text, &end, 0);
    if (end == *text) wrong(kitchen, "no number", *text);
    *text = end + (*end == ' ');
    return number;
}

/* Where the needle first is in the bytes. */
static size_t find(const struct kitchen *kitchen, const struct bytes *in,
                   const struct bytes *needle) {
    for (size_t at = 0; needle->size && at + needle->size <= in->size; at++)
        if (memcmp(in->at + at, needle->at, needle->size) == 0) return at;
    wrong(kitchen, "is not in the file", "what is looked for");
    return 0;
}

/* ---- what a line does ---- */

static void do_text(struct kitchen *kitchen, const char *rest) {
    struct bytes bytes = unescape_all(kitchen, rest);
    put(target(kitchen), bytes.at, bytes.size);
    clear(&bytes);
}

/* header TEXT: a safetensors header with its length */
static void do_header(struct kitchen *kitchen, const char *rest) {
    struct bytes text = unescape_all(kitchen, rest);
    put_count(target(kitchen), text.size, 8);
    put(target(kitchen), text.at, text.size);
    clear(&text);
}

/* npy TEXT: the head of a .npy of version 1 with this dictionary */
static void do_npy(struct kitchen *kitchen, const char *rest) {
    struct bytes text = unescape_all(kitchen, rest);
    put(target(kitchen), "\x93NUMPY\x01\x00", 8);
    put_count(target(kitchen), text.size, 2);
    put(target(kitchen), text.at, text.size);
    clear(&text);
}

static void do_times(struct kitchen *kitchen, const char *rest) {
    uint64_t count = take_number(kitchen, &rest);
    struct bytes bytes = unescape_all(kitchen, rest);
    for (uint64_t i = 0; i < count; i++) put(target(kitchen), bytes.at, bytes.size);
    clear(&bytes);
}

static void do_file(struct kitchen *kitchen, const char *rest) {
    struct gs_mapped_file file;
    struct gs_error error;
    gs_assert_ok(gs_file_map(gs_source_path(rest), &file, &error), &error);
    put(target(kitchen), file.bytes, file.size);
    gs_file_unmap(&file);
}

/* cut N: the first N bytes stay; -N: the last N go. */
static void do_cut(struct kitchen *kitchen, const char *rest) {
    struct bytes *bytes = target(kitchen);
    int64_t size = (int64_t)take_number(kitchen, &rest);
    size_t left = size < 0 ? bytes->size - (size_t)-size : (size_t)size;
    if (left > bytes->size) wrong(kitchen, "there is less to cut", rest);
    bytes->size = left;
}

static void overwrite(struct kitchen *kitchen, size_t at, const char *rest) {
    struct bytes *bytes = target(kitchen), over = unescape_all(kitchen, rest);
    if (at + over.size > bytes->size) wrong(kitchen, "beyond the file", rest);
    memcpy(bytes->at + at, over.at, over.size);
    clear(&over);
}

/* put AT TEXT */
static void do_put(struct kitchen *kitchen, const char *rest) {
    size_t at = (size_t)take_number(kitchen, &rest);
    overwrite(kitchen, at, rest);
}

/* after NEEDLE N TEXT: N bytes behind the needle's start */
static void do_after(struct kitchen *kitchen, const char *rest) {
    size_t length = strcspn(rest, " ");
    struct bytes needle = unescape(kitchen, rest, length);
    size_t at = find(kitchen, target(kitchen), &needle);
    rest += length + (rest[length] == ' ');
    at += (size_t)take_number(kitchen, &rest);
    overwrite(kitchen, at, rest);
    clear(&needle);
}

/* swap A -> B */
static void do_swap(struct kitchen *kitchen, const char *rest) {
    const char *arrow = strstr(rest, " -> ");
    if (!arrow) {
        wrong(kitchen, "no arrow", rest);
        return;
    }
    struct bytes *bytes = target(kitchen), swapped = {0};
    struct bytes from = unescape(kitchen, rest, (size_t)(arrow - rest));
    struct bytes to = unescape_all(kitchen, arrow + 4);
    size_t at = find(kitchen, bytes, &from);
    put(&swapped, bytes->at, at);
    put(&swapped, to.at, to.size);
    put(&swapped, bytes->at + at + from.size, bytes->size - at - from.size);
    clear(&from);
    clear(&to);
    clear(bytes);
    *bytes = swapped;
}

static void do_entry(struct kitchen *kitchen, const char *rest) {
    if (kitchen->entry_count == RECIPE_ENTRIES) wrong(kitchen, "too many entries", rest);
    struct bytes name = unescape_all(kitchen, rest);
    char *to = kitchen->entries[kitchen->entry_count++].name;
    snprintf(to, RECIPE_NAME, "%.*s", (int)name.size, (const char *)name.at);
    clear(&name);
}

/* The archive of all entries. */
static void do_zip(struct kitchen *kitchen, const char *rest) {
    struct entry entries[RECIPE_ENTRIES] = {0};
    size_t count = kitchen->entry_count;
    (void)rest;
    for (size_t i = 0; i < count; i++) {
        const struct bytes *bytes = &kitchen->entries[i].bytes;
        entries[i] = (struct entry){kitchen->entries[i].name, bytes->at ? bytes->at : (void *)"",
                                    bytes->size};
    }
    kitchen->entry_count = 0;
    put_archive(target(kitchen), entries, count);
    for (size_t i = 0; i < count; i++) clear(&kitchen->entries[i].bytes);
}

/* in NAME: a further file of a folder */
static void do_in(struct kitchen *kitchen, const char *rest) {
    struct hostile_case *made = kitchen->made;
    if (made->file_count == RECIPE_FILES) wrong(kitchen, "too many files", rest);
    snprintf(made->files[made->file_count++].name, RECIPE_NAME, "%s", rest);
}

/* expect STATUS WORD | WORD … */
static void do_expect(struct kitchen *kitchen, const char *rest) {
    struct hostile_case *made = kitchen->made;
    int used = 0;
    if (sscanf(rest, "%31s %n", made->status, &used) != 1) wrong(kitchen, "no status", rest);
    for (rest += used; *rest;) {
        const char *end = strstr(rest, " | ");
        size_t length = end ? (size_t)(end - rest) : strlen(rest);
        if (made->word_count == RECIPE_WORDS) wrong(kitchen, "too many words", rest);
        snprintf(made->words[made->word_count++], sizeof made->words[0], "%.*s", (int)length, rest);
        rest += length + (end ? 3 : 0);
    }
    if (!made->word_count) wrong(kitchen, "no words of the error", rest);
}

static void do_number(struct kitchen *kitchen, const char *rest, size_t width) {
    put_count(target(kitchen), take_number(kitchen, &rest), width);
}

static void do_line(struct kitchen *kitchen, const char *line) {
    static const struct {
        const char *word;
        void (*what)(struct kitchen *kitchen, const char *rest);
    } words[] = {{"expect", do_expect}, {"text", do_text}, {"times", do_times},
                 {"file", do_file},     {"cut", do_cut},   {"put", do_put},
                 {"after", do_after},   {"swap", do_swap}, {"entry", do_entry},
                 {"zip", do_zip},       {"in", do_in},     {"header", do_header},
                 {"npy", do_npy}};
    size_t length = strcspn(line, " ");
    const char *rest = line + length + (line[length] == ' ');
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == length && strncmp(line, words[i].word, length) == 0) {
            words[i].what(kitchen, rest);
            return;
        }
    if (length == 3 && strncmp(line, "le", 2) == 0 && strchr("1248", line[2]))
        do_number(kitchen, rest, (size_t)(line[2] - '0'));
    else
        wrong(kitchen, "an unknown word", line);
}

bool hostile_next(const char *path, const char **at, int *line, struct hostile_case *made) {
    struct kitchen kitchen = {.path = path, .made = made};
    char text[4096];
    *made = (struct hostile_case){0};
    while (**at) {
        size_t length = strcspn(*at, "\n");
        if (made->name[0] && strncmp(*at, "case ", 5) == 0) break;
        kitchen.line = ++*line;
        if (length >= sizeof text) wrong(&kitchen, "too long", "a line");
        snprintf(text, sizeof text, "%.*s", (int)length, *at);
        *at += length + ((*at)[length] == '\n');
        if (!text[0] || text[0] == '#') continue;
        if (strncmp(text, "case ", 5) == 0) {
            snprintf(made->name, sizeof made->name, "%.100s", text + 5);
            made->line = *line;
        } else if (made->name[0])
            do_line(&kitchen, text);
        else
            wrong(&kitchen, "before the first case", text);
    }
    if (made->name[0] && !made->status[0]) wrong(&kitchen, "a case without its error", made->name);
    if (kitchen.entry_count) wrong(&kitchen, "entries without their zip", made->name);
    return made->name[0];
}

void hostile_clear(struct hostile_case *made) {
    for (size_t i = 0; i < made->file_count; i++) clear(&made->files[i].bytes);
}
