/* Results for people: aligned columns, whole numbers whole, others in six digits, what is not ok
 * said in words. */
#include "core/base/memory.h"
#include "core/base/numbers.h"
#include "core/base/visible.h"
#include "core/results/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { DIGITS = 6, CELL = 160, VALUE_COLUMNS = 5 };

/* One cell as it is shown (visible.h), cut to CELL bytes. */
struct shown {
    char text[CELL];
    bool right; /* numbers stand at the right of their column */
};

static void show_text(struct shown *cell, const char *text) {
    cell->right = false;
    gs_visible_text(text, cell->text, CELL);
}

/* A count of 1200034 rows is that, not 1.20003e+06. */
static bool is_whole(double number) {
    return fabs(number) < 1e15 && floor(number) == number;
}

static void show_number(struct shown *cell, double number) {
    char digits[GS_NUMBER_TEXT];
    cell->right = true;
    if (is_whole(number))
        snprintf(cell->text, CELL, "%.0f", number == 0 ? 0.0 : number); /* 0, never -0 */
    else
        snprintf(cell->text, CELL, "%s",
                 isfinite(number) ? gs_number_short(number, DIGITS, digits) : "-");
}

static void show_integer(struct shown *cell, int64_t integer) {
    cell->right = true;
    snprintf(cell->text, CELL, "%" PRId64, integer);
}

static void show_cell(struct shown *shown, struct gs_cell cell) {
    switch (cell.type) {
    case GS_CELL_NUMBER:
        show_number(shown, cell.number);
        break;
    case GS_CELL_INTEGER:
        show_integer(shown, cell.integer);
        break;
    case GS_CELL_TEXT:
        show_text(shown, cell.text);
        break;
    case GS_CELL_NULL:
        show_number(shown, NAN);
        break;
    }
}

/* A grid of cells: the first pass measures, the second prints. */
struct grid {
    size_t columns;
    size_t *widths;
    void (*fill)(const void *data, size_t row, struct shown *cells);
    const void *data;
    size_t rows; /* row 0 is the head */
    struct shown *cells;
};

static void print_row(const struct grid *grid, FILE *stream) {
    size_t last = grid->columns;
    while (last > 0 && !grid->cells[last - 1].text[0]) last--;
    fputs(" ", stream);
    for (size_t i = 0; i < last; i++) {
        const struct shown *cell = &grid->cells[i];
        size_t pad = grid->widths[i] - gs_visible_width(cell->text);
        fputs(" ", stream);
        for (size_t j = 0; cell->right && j < pad; j++) fputc(' ', stream);
        fputs(cell->text, stream);
        if (i + 1 == last) break;
        for (size_t j = 0; !cell->right && j < pad; j++) fputc(' ', stream);
        fputc(' ', stream);
    }
    fputc('\n', stream);
}

static bool print_grid(struct grid *grid, FILE *stream) {
    grid->widths = gs_calloc(grid->columns, sizeof *grid->widths);
    grid->cells = gs_calloc(grid->columns, sizeof *grid->cells);
    bool good = grid->widths && grid->cells;
    for (size_t row = 0; good && row < grid->rows; row++) {
        grid->fill(grid->data, row, grid->cells);
        for (size_t i = 0; i < grid->columns; i++) {
            size_t width = gs_visible_width(grid->cells[i].text);
            if (width > grid->widths[i]) grid->widths[i] = width;
        }
    }
    for (size_t row = 0; good && row < grid->rows; row++) {
        grid->fill(grid->data, row, grid->cells);
        print_row(grid, stream);
    }
    gs_free(grid->widths);
    gs_free(grid->cells);
    return good;
}

/* ---- values ---- */

static void show_interval(struct shown *cell, const struct gs_value *value) {
    struct shown low, high;
    cell->text[0] = '\0';
    cell->right = false;
    if (!value->has_interval) return;
    show_number(&low, value->low);
    show_number(&high, value->high);
    snprintf(cell->text, CELL, "[%.40s, %.40s]", low.text, high.text);
}

static void show_status(struct shown *cell, const struct gs_value *value) {
    cell->text[0] = '\0';
    cell->right = false;
    if (strcmp(value->status, "ok") == 0 && !value->reason) return;
    char text[512];
    struct shown bound;
    show_number(&bound, value->bound);
    snprintf(text, sizeof text, "%s%s%.40s%s%s", value->status, value->has_bound ? " at " : "",
             value->has_bound ? bound.text : "", value->reason ? ": " : "",
             value->reason ? value->reason : "");
    show_text(cell, text);
}

/* The values that are for people. */
struct for_people {
    const struct gs_results_value_part **values;
    size_t count;
};

static void fill_value(const void *data, size_t row, struct shown *cells) {
    static const char *const head[VALUE_COLUMNS] = {"value", "", "unit", "95 % interval", "n"};
    const struct for_people *people = data;
    if (row == 0) {
        for (size_t i = 0; i < VALUE_COLUMNS; i++) show_text(&cells[i], head[i]);
        show_text(&cells[VALUE_COLUMNS], "status");
        cells[1].right = cells[4].right = true;
        return;
    }
    const struct gs_results_value_part *part = people->values[row - 1];
    show_text(&cells[0], part->name);
    show_number(&cells[1], part->value.value);
    /* "1" is the unit of a pure number: nothing to show. */
    show_text(&cells[2], strcmp(part->value.unit, "1") == 0 ? "" : part->value.unit);
    show_interval(&cells[3], &part->value);
    show_integer(&cells[4], part->value.n > INT64_MAX ? INT64_MAX : (int64_t)part->value.n);
    show_status(&cells[5], &part->value);
}

static bool print_values(const struct gs_results *results, FILE *stream) {
    struct for_people people = {gs_calloc(results->value_count, sizeof *people.values), 0};
    if (!people.values) return false;
    for (size_t i = 0; i < results->value_count; i++)
        if (!results->values[i].detail) people.values[people.count++] = &results->values[i];
    struct grid grid = {.columns = VALUE_COLUMNS + 1,
                        .fill = fill_value,
                        .data = &people,
                        .rows = people.count + 1};
    bool good = people.count == 0 || print_grid(&grid, stream);
    gs_free(people.values);
    return good;
}

/* ---- tables ---- */

static void fill_table(const void *data, size_t row, struct shown *cells) {
    const struct gs_table *table = data;
    for (size_t i = 0; i < table->column_count; i++) {
        if (row > 0) {
            show_cell(&cells[i], gs_table_cell(table, row - 1, i));
        } else {
            show_text(&cells[i], table->columns[i]);
            cells[i].right = table->rows > 0 && gs_table_cell(table, 0, i).type != GS_CELL_TEXT;
        }
    }
}

static bool print_table(const struct gs_table *table, FILE *stream, size_t table_rows) {
    size_t rows = table->rows < table_rows ? table->rows : table_rows;
    fprintf(stream, "\n%s (%zu %s)\n", table->name, table->rows, table->rows == 1 ? "row" : "rows");
    struct grid grid = {
        .columns = table->column_count, .fill = fill_table, .data = table, .rows = rows + 1};
    bool good = print_grid(&grid, stream);
    if (rows < table->rows)
        fprintf(stream, "  ... %zu more; --csv or --json gives all\n", table->rows - rows);
    return good;
}

static void print_head(const struct gs_results *results, FILE *stream) {
    gs_visible_put(stream, results->command, 0);
    for (size_t i = 0; i < results->source_count; i++) {
        fputs(i ? ", " : " of ", stream);
        gs_visible_put(stream, results->sources[i].path, 0);
    }
    fputs("\n", stream);
}

/* What is left out, and where it is. */
static void print_details(const struct gs_results *results, FILE *stream) {
    size_t values = 0, tables = 0;
    for (size_t i = 0; i < results->value_count; i++) values += results->values[i].detail;
    for (size_t i = 0; i < results->table_count; i++) tables += results->tables[i]->detail;
    if (values + tables == 0) return;
    fprintf(stream, "\n%zu values and %zu tables more, of each part by itself: --csv or --json\n",
            values, tables);
}

static void print_notes(const struct gs_results *results, FILE *stream) {
    if (results->note_count) fputs("\n", stream);
    for (size_t i = 0; i < results->note_count; i++) {
        fputs("note: ", stream);
        gs_visible_put(stream, results->notes[i], 0);
        fputs("\n", stream);
    }
}

enum gs_status gs_results_print(const struct gs_results *results, FILE *stream, size_t table_rows,
                                struct gs_error *error) {
    errno = 0;
    print_head(results, stream);
    bool good = print_values(results, stream);
    for (size_t i = 0; i < results->table_count && good; i++)
        if (!results->tables[i]->detail) good = print_table(results->tables[i], stream, table_rows);
    print_details(results, stream);
    print_notes(results, stream);
    if (!good) return gs_fail_memory(error, CELL, "a table");
    int reason = errno;
    if (fflush(stream) != 0 || ferror(stream))
        return gs_fail_errno(error,
                             errno    ? errno
                             : reason ? reason
                                      : EIO,
                             "cannot write the results", NULL);
    return GS_OK;
}
