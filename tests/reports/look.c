#include "tests/reports/look.h"

#include "core/base/file.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *gs_inside(const char *folder, const char *name) {
    static char paths[8][2048];
    static size_t next;
    char *path = paths[next++ % 8];
    snprintf(path, 2048, "%s/%s", folder, name);
    return path;
}

static char *read_path(const char *path) {
    struct gs_mapped_file file;
    struct gs_error error;
    gs_assert_ok(gs_file_map(path, &file, &error), &error);
    char *text = calloc(file.size + 1, 1);
    assert_non_null(text);
    memcpy(text, file.bytes, file.size);
    gs_file_unmap(&file);
    return text;
}

char *gs_read_text(const char *folder, const char *name) {
    return read_path(gs_inside(folder, name));
}

size_t gs_count_of(const char *text, const char *word) {
    size_t count = 0;
    for (; (text = strstr(text, word)); text += strlen(word)) count++;
    return count;
}

/* As XML, with the void elements closed. */
static void check_tags(const char *page) {
    static const char *const voids[] = {"<meta ", "<img ", "<source ", "<br"};
    char *xml = calloc(2 * strlen(page) + 1, 1), *out = xml, command[2600];
    assert_non_null(xml);
    bool in_void = false;
    for (const char *from = strstr(page, "<html"); *from; from++) {
        if (strncmp(from, "&nbsp;", 6) == 0) {
            from += 5;
            *out++ = ' ';
            continue;
        }
        for (size_t i = 0; i < sizeof voids / sizeof *voids; i++)
            if (strncmp(from, voids[i], strlen(voids[i])) == 0) in_void = true;
        if (in_void && *from == '>') {
            *out++ = '/';
            in_void = false;
        }
        *out++ = *from;
    }
    const char *path = gs_scratch_file("page.xml", xml, (size_t)(out - xml));
    free(xml);
    snprintf(command, sizeof command, "xmllint --noout '%s' 2>/dev/null", path);
    if (system(command) != 0) fail_msg("%s is not well formed", path);
}

/* Behind each `start` stands a name; its id is there exactly once. */
static void check_ids(const char *page, const char *start) {
    for (const char *found = page; (found = strstr(found, start)); found++) {
        char word[256];
        const char *name = found + strlen(start);
        snprintf(word, sizeof word, " id=\"%.*s\"", (int)strcspn(name, "\""), name);
        if (gs_count_of(page, word) != 1)
            fail_msg("%s stands %zu times", word, gs_count_of(page, word));
    }
}

void gs_assert_page(const char *path) {
    char *page = read_path(path);
    if (system("xmllint --version 2>/dev/null >/dev/null") == 0)
        check_tags(page);
    else
        print_message("tags are not checked: xmllint is absent\n");
    check_ids(page, " id=\"");
    check_ids(page, "href=\"#");
    free(page);
}
