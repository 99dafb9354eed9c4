#include "core/results/side_by_side.h"

#include "core/base/memory.h"
#include "core/results/parts.h"
#include "core/results/replicates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { KEY = 96, NAME = GS_PART_NAME };

/* ---- names ---- */

/* "stream.layer00." of each part, usable in a table's name. */
static void make_key(const char *kind, const struct gs_results_part *part, char key[KEY]) {
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t before = strlen(kind) + 1;
    snprintf(key, KEY, "%s.%.*s.", kind, (int)(KEY - before - 6), part->name);
    for (char *c = key + before; *c; c++)
        if (!strchr(allowed, *c)) *c = '_';
}

/* Two names may differ in such characters alone: the later one is counted. */
static void part_key(const char *kind, const struct gs_results_part *parts, size_t index,
                     char key[KEY]) {
    size_t same = 1;
    char other[KEY];
    make_key(kind, &parts[index], key);
    for (size_t i = 0; i < index; i++) {
        make_key(kind, &parts[i], other);
        if (strcmp(other, key) == 0) same++;
    }
    if (same > 1) snprintf(key + strlen(key) - 1, 6, "-%zu.", same % 1000);
}

/* The mark of the untrained model, and of a comparison with it, stays first. */
static void name_in_whole(char text[NAME], const char *key, const char *name) {
    static const char *const marks[] = {"null.", "ratio.", "difference."};
    const char *mark = "";
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strncmp(name, marks[i], strlen(marks[i])) == 0) mark = marks[i];
    snprintf(text, NAME, "%s%s%s", mark, key, name + strlen(mark));
}

void gs_results_name_of_part(const char *kind, const char *part, const char *name, char *text) {
    char key[KEY];
    make_key(kind, &(struct gs_results_part){.name = part}, key);
    name_in_whole(text, key, name);
}

/* ---- values and tables ---- */

static enum gs_status take_values(struct gs_results *results, const char *key, bool detail,
                                  const struct gs_results *part, struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < part->value_count; i++) {
        char name[NAME];
        name_in_whole(name, key, part->values[i].name);
        status = gs_results_add(results, name, &part->values[i].value, error);
        if (status == GS_OK) results->values[results->value_count - 1].detail = detail;
        struct gs_replicates replicates;
        if (status == GS_OK && gs_results_find_replicates(part, part->values[i].name, &replicates))
            status = gs_results_add_replicates(results, name, &replicates, error);
    }
    return status;
}

static enum gs_status take_table(struct gs_results *results, const char *key, bool detail,
                                 const struct gs_table *from, struct gs_error *error) {
    char name[NAME];
    struct gs_table *table;
    name_in_whole(name, key, from->name);
    enum gs_status status = gs_results_table(results, name, (const char *const *)from->columns,
                                             from->column_count, &table, error);
    if (status == GS_OK) table->detail = detail || from->detail;
    for (size_t row = 0; status == GS_OK && row < from->rows; row++)
        status = gs_table_row(table, from->cells + row * from->column_count, error);
    return status;
}

static enum gs_status take_numbers(struct gs_results *results, const char *key, bool detail,
                                   const struct gs_results *part, struct gs_error *error) {
    enum gs_status status = take_values(results, key, detail, part, error);
    for (size_t i = 0; status == GS_OK && i < part->table_count; i++)
        status = take_table(results, key, detail, part->tables[i], error);
    return status;
}

/* ---- notes and settings ---- */

static bool has_note(const struct gs_results *results, const char *note) {
    for (size_t i = 0; i < results->note_count; i++)
        if (strcmp(results->notes[i], note) == 0) return true;
    return false;
}

static bool all_have_note(const struct gs_results_part *parts, size_t count, const char *note) {
    for (size_t i = 0; i < count; i++)
        if (!has_note(parts[i].results, note)) return false;
    return true;
}

/* "layer00, layer01: note" of the parts from `first` on that have it. */
static enum gs_status take_note(struct gs_results *results, const struct gs_results_part *parts,
                                size_t first, size_t count, const char *note,
                                struct gs_error *error) {
    size_t size = strlen(note) + 3, used = 0;
    for (size_t p = first; p < count; p++) size += strlen(parts[p].name) + 2;
    char *text = gs_calloc(size, 1);
    if (!text) return gs_fail_memory(error, size, "a note");
    for (size_t p = first; p < count; p++)
        if (has_note(parts[p].results, note))
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", parts[p].name);
    snprintf(text + used, size - used, ": %s", note);
    enum gs_status status = gs_results_note(results, text, error);
    gs_free(text);
    return status;
}

static bool said_before(const struct gs_results_part *parts, size_t part, const char *note) {
    for (size_t p = 0; p < part; p++)
        if (has_note(parts[p].results, note)) return true;
    return false;
}

static enum gs_status take_notes(struct gs_results *results, const struct gs_results_part *parts,
                                 size_t count, struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (size_t p = 0; p < count; p++)
        for (size_t i = 0; status == GS_OK && i < parts[p].results->note_count; i++) {
            const char *note = parts[p].results->notes[i];
            if (has_note(results, note) || said_before(parts, p, note)) continue;
            status = all_have_note(parts, count, note)
                         ? gs_results_note(results, note, error)
                         : take_note(results, parts, p, count, note, error);
        }
    return status;
}

static bool same_json(const struct gs_json *a, const struct gs_json *b) {
    char *x = a ? gs_json_text(a, 0) : NULL, *y = b ? gs_json_text(b, 0) : NULL;
    bool same = x && y && strcmp(x, y) == 0;
    gs_free(x);
    gs_free(y);
    return same;
}

static bool all_have_setting(const struct gs_results_part *parts, size_t count, const char *key,
                             const struct gs_json *value) {
    for (size_t i = 0; i < count; i++)
        if (!same_json(gs_json_get(parts[i].results->environment, key), value)) return false;
    return true;
}

static enum gs_status take_settings(struct gs_results *results, const char *kind,
                                    const struct gs_results_part *parts, size_t count,
                                    struct gs_error *error) {
    for (size_t p = 0; p < count; p++) {
        const struct gs_json *from = parts[p].results->environment;
        char key[KEY], name[NAME];
        part_key(kind, parts, p, key);
        for (size_t i = 0; i < gs_json_size(from); i++) {
            const char *setting = gs_json_key_at(from, i);
            const struct gs_json *value = gs_json_value_at(from, i);
            bool shared = all_have_setting(parts, count, setting, value);
            const char *text = gs_json_string(value);
            if (text && strcmp(text, parts[p].name) == 0) continue; /* which part it is */
            if (same_json(gs_json_get(results->environment, setting), value)) continue;
            snprintf(name, sizeof name, "%s%s", shared ? "" : key, setting);
            if (!gs_json_set(results->environment, name, gs_json_copy(value)))
                return gs_fail_memory(error, 0, "settings");
        }
    }
    return GS_OK;
}

/* ---- the whole ---- */

enum gs_status gs_results_take_parts(struct gs_results *results, const char *kind,
                                     const struct gs_results_part *parts, size_t count,
                                     struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (size_t p = 0; status == GS_OK && p < count; p++) {
        char key[KEY];
        part_key(kind, parts, p, key);
        status = take_numbers(results, key, true, parts[p].results, error);
    }
    if (status == GS_OK) status = take_notes(results, parts, count, error);
    return status == GS_OK ? take_settings(results, kind, parts, count, error) : status;
}

enum gs_status gs_results_take(struct gs_results *results, const struct gs_results *part,
                               struct gs_error *error) {
    const struct gs_results_part alone = {"", part};
    enum gs_status status = take_numbers(results, "", false, part, error);
    if (status == GS_OK) status = take_notes(results, &alone, 1, error);
    return status == GS_OK ? take_settings(results, "", &alone, 1, error) : status;
}

/* ---- the untrained model's ---- */

static enum gs_status take_sources(struct gs_results *results, const struct gs_results *from,
                                   struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < from->source_count; i++) {
        const struct gs_results_source_part *source = &from->sources[i];
        bool known = false;
        for (size_t j = 0; j < results->source_count; j++)
            known = known || strcmp(results->sources[j].path, source->path) == 0;
        if (!known && source->sha256[0])
            status = gs_results_source(results, source->path, source->sha256, error);
        else if (!known)
            status = gs_results_source_meanwhile(results, source->path, source->job, error);
    }
    return status;
}

/* Settings that differ from the model's own. */
static enum gs_status take_other_settings(struct gs_results *results, const struct gs_results *from,
                                          struct gs_error *error) {
    for (size_t i = 0; i < gs_json_size(from->environment); i++) {
        const char *setting = gs_json_key_at(from->environment, i);
        const struct gs_json *value = gs_json_value_at(from->environment, i);
        char name[NAME];
        if (same_json(gs_json_get(results->environment, setting), value)) continue;
        snprintf(name, sizeof name, "null.%s", setting);
        if (!gs_json_set(results->environment, name, gs_json_copy(value)))
            return gs_fail_memory(error, 0, "settings");
    }
    return GS_OK;
}

enum gs_status gs_results_take_untrained(struct gs_results *results,
                                         const struct gs_results *untrained,
                                         struct gs_error *error) {
    const struct gs_results_part part = {"untrained", untrained};
    enum gs_status status = take_numbers(results, "null.", true, untrained, error);
    for (size_t i = 0; status == GS_OK && i < untrained->note_count; i++)
        if (!has_note(results, untrained->notes[i]))
            status = take_note(results, &part, 0, 1, untrained->notes[i], error);
    if (status == GS_OK) status = take_sources(results, untrained, error);
    return status == GS_OK ? take_other_settings(results, untrained, error) : status;
}

enum gs_status gs_results_take_details(struct gs_results *results, const struct gs_results *from,
                                       struct gs_error *error) {
    enum gs_status status = take_values(results, "", true, from, error);
    for (size_t i = 0; status == GS_OK && i < from->table_count; i++)
        status = take_table(results, "", false, from->tables[i], error);
    return status;
}

/* ---- the table ---- */

struct comparison {
    const char *kind;
    const struct gs_results_part *parts;
    size_t count;
    const char *const *values;
    size_t value_count;
    size_t each; /* columns of a value: 1, or 3 with the ends of its interval */
};

static enum gs_status compare_rows(const struct comparison *c, struct gs_table *table,
                                   struct gs_cell *cells, struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (size_t p = 0; status == GS_OK && p < c->count; p++) {
        cells[0] = gs_cell_text(c->parts[p].name);
        for (size_t v = 0; v < c->value_count; v++) {
            struct gs_value value = {.value = (double)NAN};
            struct gs_cell *cell = cells + 1 + v * c->each;
            gs_results_find(c->parts[p].results, c->values[v], &value);
            cell[0] = gs_cell_number(value.value);
            if (c->each == 1) continue;
            cell[1] = gs_cell_number(value.has_interval ? value.low : (double)NAN);
            cell[2] = gs_cell_number(value.has_interval ? value.high : (double)NAN);
        }
        status = gs_table_row(table, cells, error);
    }
    return status;
}

static void name_columns(const struct comparison *c, char (*names)[NAME], const char **columns) {
    static const char *const ends[] = {"", "_low", "_high"};
    snprintf(names[0], NAME, "%s", c->kind);
    columns[0] = names[0];
    for (size_t v = 0; v < c->value_count; v++)
        for (size_t e = 0; e < c->each; e++) {
            size_t at = 1 + v * c->each + e;
            snprintf(names[at], NAME, "%s%s", c->values[v], ends[e]);
            columns[at] = names[at];
        }
}

static enum gs_status compare(const struct comparison *c, struct gs_results *results,
                              const char *name, struct gs_table **table, struct gs_error *error) {
    size_t columns = 1 + c->value_count * c->each;
    char(*names)[NAME] = gs_calloc(columns, sizeof *names);
    const char **list = gs_calloc(columns, sizeof *list);
    struct gs_cell *cells = gs_calloc(columns, sizeof *cells);
    enum gs_status status = GS_OK;
    if (!names || !list || !cells) {
        status = gs_fail_memory(error, columns * sizeof *names, "a table");
    } else {
        name_columns(c, names, list);
        status = gs_results_table(results, name, list, columns, table, error);
    }
    if (status == GS_OK) status = compare_rows(c, *table, cells, error);
    gs_free(cells);
    gs_free(list);
    gs_free(names);
    return status;
}

static bool any_interval(const struct comparison *c) {
    struct gs_value value;
    for (size_t p = 0; p < c->count; p++)
        for (size_t v = 0; v < c->value_count; v++)
            if (gs_results_find(c->parts[p].results, c->values[v], &value) && value.has_interval)
                return true;
    return false;
}

enum gs_status gs_results_table_of_parts(struct gs_results *results, const char *name,
                                         const char *kind, const struct gs_results_part *parts,
                                         size_t count, const char *const *values,
                                         size_t value_count, struct gs_error *error) {
    struct comparison c = {kind, parts, count, values, value_count, 1};
    struct gs_table *table;
    char wide[NAME];
    enum gs_status status = compare(&c, results, name, &table, error);
    if (status != GS_OK || !any_interval(&c)) return status;
    c.each = 3;
    snprintf(wide, sizeof wide, "%s_interval", name);
    status = compare(&c, results, wide, &table, error);
    if (status == GS_OK) table->detail = true;
    return status;
}
