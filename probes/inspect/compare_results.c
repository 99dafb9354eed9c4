/* Results as named arrays: each value with its interval, each column of each table. */
#include "core/base/memory.h"
#include "probes/inspect/compare_parts.h"
#include "probes/inspect/text_number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { VALUE_NUMBERS = 4, VALUE_TEXTS = 2 }; /* value, low, high, bound; status and unit */
enum { VALUE, WORDS, COLUMN, KINDS };

static void read_value(const struct gs_results *results, size_t index, double *values,
                       unsigned char *none) {
    struct gs_value value;
    gs_results_find(results, gs_results_name_at(results, index), &value);
    double all[VALUE_NUMBERS] = {value.value, value.has_interval ? value.low : NAN,
                                 value.has_interval ? value.high : NAN,
                                 value.has_bound ? value.bound : NAN};
    for (size_t i = 0; i < VALUE_NUMBERS; i++) {
        values[i] = all[i];
        none[i] = (unsigned char)(isfinite(all[i]) ? 0 : 1); /* null in the file */
    }
}

static void read_words(const struct gs_results *results, size_t index, double *values) {
    struct gs_value value;
    gs_results_find(results, gs_results_name_at(results, index), &value);
    values[0] = gs_text_number(value.status ? value.status : "ok");
    values[1] = gs_text_number(value.unit);
}

static void read_cell(struct gs_cell cell, double *value, unsigned char *none) {
    *none = 0;
    switch (cell.type) {
    case GS_CELL_NULL:
        *value = NAN;
        break;
    case GS_CELL_NUMBER:
        *value = cell.number;
        break;
    case GS_CELL_INTEGER:
        *value = (double)cell.integer;
        break;
    case GS_CELL_TEXT:
        *value = gs_text_number(cell.text);
        break;
    }
    *none = (unsigned char)(isfinite(*value) ? 0 : 1);
}

/* Columns of all tables are numbered through. */
static const struct gs_table *table_of(const struct gs_results *results, size_t *column) {
    size_t table = 0;
    while (*column >= gs_table_columns(gs_results_table_at(results, table)))
        *column -= gs_table_columns(gs_results_table_at(results, table++));
    return gs_results_table_at(results, table);
}

static enum gs_status read_part(struct gs_side *side, const struct gs_part *part, size_t first,
                                size_t rows, double *values, unsigned char *none,
                                struct gs_error *error) {
    (void)error;
    const struct gs_results *results = side->context;
    double all[VALUE_NUMBERS] = {0};
    unsigned char missing[VALUE_NUMBERS] = {0};
    size_t index = part->source / KINDS;
    if (part->source % KINDS == COLUMN) {
        const struct gs_table *table = table_of(results, &index);
        for (size_t i = 0; i < rows; i++)
            read_cell(gs_table_cell(table, first + i, index), &values[i], &none[i]);
        return GS_OK;
    }
    if (part->source % KINDS == VALUE)
        read_value(results, index, all, missing);
    else
        read_words(results, index, all);
    memcpy(values, all + first, rows * sizeof *values);
    memcpy(none, missing + first, rows);
    return GS_OK;
}

static void place_of(const struct gs_side *side, const struct gs_part *part, size_t index,
                     char *text, size_t size) {
    static const char *const numbers[VALUE_NUMBERS] = {"value", "low", "high", "bound"};
    static const char *const words[VALUE_TEXTS] = {"status", "unit"};
    (void)side;
    if (part->source % KINDS == COLUMN)
        snprintf(text, size, "row %zu", index);
    else
        snprintf(text, size, "%s", (part->source % KINDS == VALUE ? numbers : words)[index]);
}

static void close_results(struct gs_side *side) {
    gs_results_destroy(side->context);
}

static bool holds_text(const struct gs_table *table, size_t column) {
    for (size_t row = 0; row < gs_table_rows(table); row++)
        if (gs_table_cell(table, row, column).type == GS_CELL_TEXT) return true;
    return false;
}

static enum gs_status add(struct gs_side *side, const char *group, const char *name,
                          const char *end, size_t rows, size_t source, bool text,
                          struct gs_error *error) {
    size_t room = strlen(group) + strlen(name) + strlen(end) + 3;
    char *full = gs_calloc(room, 1);
    if (!full) return gs_fail_memory(error, room, "a name");
    snprintf(full, room, "%s%s%s%s", group, name, end[0] ? "." : "", end);
    enum gs_status status = gs_side_add(side, full, 1, &rows, source, error);
    if (status == GS_OK) side->parts[side->count - 1].text = text;
    gs_free(full);
    return status;
}

static enum gs_status list_parts(struct gs_side *side, struct gs_error *error) {
    const struct gs_results *results = side->context;
    enum gs_status status = GS_OK;
    size_t number = 0;
    for (size_t i = 0; status == GS_OK && i < gs_results_count(results); i++) {
        const char *name = gs_results_name_at(results, i);
        status = add(side, "", name, "", VALUE_NUMBERS, i * KINDS + VALUE, false, error);
        if (status == GS_OK)
            status = add(side, "", name, "status", VALUE_TEXTS, i * KINDS + WORDS, true, error);
    }
    for (size_t i = 0; i < gs_results_table_count(results); i++) {
        const struct gs_table *table = gs_results_table_at(results, i);
        for (size_t j = 0; status == GS_OK && j < gs_table_columns(table); j++, number++)
            status =
                add(side, "table ", gs_table_name(table), gs_table_column(table, j),
                    gs_table_rows(table), number * KINDS + COLUMN, holds_text(table, j), error);
    }
    return status;
}

enum gs_status gs_side_results(struct gs_side *side, const char *path, struct gs_error *error) {
    struct gs_results *results;
    enum gs_status status = gs_results_read(path, &results, error);
    if (status != GS_OK) return status;
    side->context = results;
    side->read = read_part;
    side->place = place_of;
    side->close = close_results;
    return list_parts(side, error);
}
