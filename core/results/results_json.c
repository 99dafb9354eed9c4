/* Results as JSON and back: ../shared/spec/cli.md, "Results JSON". */
#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/results/parts.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* ---- out ---- */

static struct gs_json *sources_json(const struct gs_results *results) {
    struct gs_json *array = gs_json_new_array();
    for (size_t i = 0; i < results->source_count; i++) {
        const struct gs_results_source_part *part = &results->sources[i];
        struct gs_json *source = gs_json_new_object();
        bool good = gs_json_set(source, "path", gs_json_new_string(part->path)) &&
                    gs_json_set(source, "sha256", gs_json_new_string(part->sha256));
        if (gs_json_append(array, source) && good) continue;
        gs_json_destroy(array);
        return NULL;
    }
    return array;
}

static struct gs_json *notes_json(const struct gs_results *results) {
    struct gs_json *array = gs_json_new_array();
    for (size_t i = 0; i < results->note_count; i++) {
        if (gs_json_append(array, gs_json_new_string(results->notes[i]))) continue;
        gs_json_destroy(array);
        return NULL;
    }
    return array;
}

static struct gs_json *interval_json(const struct gs_value *value) {
    struct gs_json *array = gs_json_new_array();
    if (gs_json_append(array, gs_json_new_number(value->low)) &&
        gs_json_append(array, gs_json_new_number(value->high)))
        return array;
    gs_json_destroy(array);
    return NULL;
}

static struct gs_json *value_json(const struct gs_value *value) {
    struct gs_json *json = gs_json_new_object();
    int64_t n = value->n > INT64_MAX ? INT64_MAX : (int64_t)value->n;
    bool good = gs_json_set(json, "value", gs_json_new_number(value->value)) &&
                gs_json_set(json, "unit", gs_json_new_string(value->unit)) &&
                gs_json_set(json, "n", gs_json_new_integer(n));
    if (good && value->has_interval) good = gs_json_set(json, "ci95", interval_json(value));
    if (good) good = gs_json_set(json, "status", gs_json_new_string(value->status));
    if (good && value->has_bound)
        good = gs_json_set(json, "bound", gs_json_new_number(value->bound));
    if (good && value->reason)
        good = gs_json_set(json, "reason", gs_json_new_string(value->reason));
    if (good) return json;
    gs_json_destroy(json);
    return NULL;
}

static struct gs_json *values_json(const struct gs_results *results) {
    struct gs_json *object = gs_json_new_object();
    for (size_t i = 0; i < results->value_count; i++) {
        const struct gs_results_value_part *part = &results->values[i];
        if (gs_json_set(object, part->name, value_json(&part->value))) continue;
        gs_json_destroy(object);
        return NULL;
    }
    return object;
}

static struct gs_json *cell_json(struct gs_cell cell) {
    switch (cell.type) {
    case GS_CELL_NUMBER:
        return gs_json_new_number(cell.number);
    case GS_CELL_INTEGER:
        return gs_json_new_integer(cell.integer);
    case GS_CELL_TEXT:
        return gs_json_new_string(cell.text);
    case GS_CELL_NULL:
        break;
    }
    return gs_json_new_null();
}

static struct gs_json *row_json(const struct gs_table *table, size_t row) {
    struct gs_json *array = gs_json_new_array();
    for (size_t i = 0; i < table->column_count; i++) {
        if (gs_json_append(array, cell_json(gs_table_cell(table, row, i)))) continue;
        gs_json_destroy(array);
        return NULL;
    }
    return array;
}

static struct gs_json *table_json(const struct gs_table *table) {
    struct gs_json *json = gs_json_new_object();
    struct gs_json *columns = gs_json_new_array(), *rows = gs_json_new_array();
    bool good = true;
    for (size_t i = 0; good && i < table->column_count; i++)
        good = gs_json_append(columns, gs_json_new_string(table->columns[i]));
    for (size_t i = 0; good && i < table->rows; i++)
        good = gs_json_append(rows, row_json(table, i));
    good = gs_json_set(json, "columns", columns) && good;
    good = gs_json_set(json, "rows", rows) && good;
    if (good) return json;
    gs_json_destroy(json);
    return NULL;
}

static struct gs_json *tables_json(const struct gs_results *results) {
    struct gs_json *object = gs_json_new_object();
    for (size_t i = 0; i < results->table_count; i++) {
        if (gs_json_set(object, results->tables[i]->name, table_json(results->tables[i]))) continue;
        gs_json_destroy(object);
        return NULL;
    }
    return object;
}

struct gs_json *gs_results_json(const struct gs_results *results) {
    struct gs_json *json = gs_json_new_object();
    bool good = gs_json_set(json, "schema", gs_json_new_string(GS_RESULTS_SCHEMA)) &&
                gs_json_set(json, "version", gs_json_new_integer(GS_RESULTS_VERSION)) &&
                gs_json_set(json, "command", gs_json_new_string(results->command)) &&
                gs_json_set(json, "created", gs_json_new_string(results->created)) &&
                gs_json_set(json, "sources", sources_json(results)) &&
                gs_json_set(json, "environment", gs_json_copy(results->environment)) &&
                (results->note_count == 0 || gs_json_set(json, "notes", notes_json(results))) &&
                gs_json_set(json, "values", values_json(results)) &&
                gs_json_set(json, "tables", tables_json(results));
    if (good) return json;
    gs_json_destroy(json);
    return NULL;
}

static enum gs_status print_to_file(const struct gs_json *json, const char *path, bool force,
                                    struct gs_error *error) {
    struct gs_output out;
    enum gs_status status = gs_output_open(&out, path, force, error);
    if (status != GS_OK) return status;
    status = gs_json_print(json, out.stream, error);
    if (status == GS_OK) return gs_output_commit(&out, error);
    gs_error_where(error, "%s", path);
    gs_output_abandon(&out);
    return status;
}

enum gs_status gs_results_write(const struct gs_results *results, const char *path, bool force,
                                struct gs_error *error) {
    struct gs_json *json = gs_results_json(results);
    if (!json) return gs_fail_memory(error, 0, "results as JSON");
    enum gs_status status;
    if (strcmp(path, "-") != 0) {
        status = print_to_file(json, path, force, error);
    } else {
        status = gs_json_print(json, stdout, error);
        if (status == GS_IO) gs_error_where(error, "standard output");
        if (status == GS_OK && fflush(stdout) != 0)
            status = gs_fail_errno(error, errno, "cannot write", "standard output");
    }
    gs_json_destroy(json);
    return status;
}

/* ---- in ---- */

/* What is being read, for errors: "results.json, values.loss". */
struct place {
    const char *where;
    const char *group; /* "values" or "tables", or NULL */
    const char *name;
};

static enum gs_status wrong(struct gs_error *error, const struct place *place, const char *what,
                            const char *expected, const struct gs_json *found) {
    gs_fail(error, GS_FORMAT, "%s", what);
    if (expected) gs_error_expected(error, "%s", expected);
    char *text = found ? gs_json_text(found, 0) : NULL;
    if (expected && (text || !found)) gs_error_found(error, "%.120s", found ? text : "nothing");
    gs_free(text);
    if (place->group)
        gs_error_where(error, "%s, %s, %s", place->where, place->group, place->name);
    else
        gs_error_where(error, "%s", place->where);
    return GS_FORMAT;
}

static double number_or_nan(const struct gs_json *json) {
    double number;
    return gs_json_number(json, &number) ? number : NAN;
}

static bool is_number_or_null(const struct gs_json *json) {
    double number;
    return gs_json_number(json, &number) || gs_json_type(json) == GS_JSON_NULL;
}

static enum gs_status read_value(const struct gs_json *json, const struct place *place,
                                 struct gs_value *value, struct gs_error *error) {
    const struct gs_json *number = gs_json_get(json, "value"), *n = gs_json_get(json, "n");
    const struct gs_json *interval = gs_json_get(json, "ci95"), *bound = gs_json_get(json, "bound");
    int64_t count = 0;
    *value = (struct gs_value){.unit = gs_json_string(gs_json_get(json, "unit")),
                               .status = gs_json_string(gs_json_get(json, "status")),
                               .reason = gs_json_string(gs_json_get(json, "reason"))};
    if (!is_number_or_null(number))
        return wrong(error, place, "unusable \"value\"", "a number or null", number);
    if (!value->unit)
        return wrong(error, place, "unusable \"unit\"", "a string", gs_json_get(json, "unit"));
    if (!value->status)
        return wrong(error, place, "unusable \"status\"", "a string", gs_json_get(json, "status"));
    if (!gs_json_integer(n, &count) || count < 0)
        return wrong(error, place, "unusable \"n\"", "a whole number from 0", n);
    value->value = number_or_nan(number);
    value->n = (uint64_t)count;
    if (isnan(value->value) && strcmp(value->status, "ok") == 0)
        return wrong(error, place, "a null value with status \"ok\"", NULL, NULL);
    if (interval) {
        const struct gs_json *low = gs_json_at(interval, 0), *high = gs_json_at(interval, 1);
        if (gs_json_size(interval) != 2 || !is_number_or_null(low) || !is_number_or_null(high))
            return wrong(error, place, "unusable \"ci95\"", "two numbers", interval);
        value->has_interval = true;
        value->low = number_or_nan(low);
        value->high = number_or_nan(high);
    }
    if (bound && !(value->has_bound = gs_json_number(bound, &value->bound)))
        return wrong(error, place, "unusable \"bound\"", "a number", bound);
    return GS_OK;
}

static enum gs_status read_values(struct gs_results *results, const struct gs_json *values,
                                  const char *where, struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (size_t i = 0; i < gs_json_size(values) && status == GS_OK; i++) {
        struct place place = {where, "values", gs_json_key_at(values, i)};
        struct gs_value value;
        status = read_value(gs_json_value_at(values, i), &place, &value, error);
        if (status == GS_OK) status = gs_results_add(results, place.name, &value, error);
    }
    return status;
}

static bool read_cell(const struct gs_json *json, struct gs_cell *cell) {
    *cell = (struct gs_cell){.type = GS_CELL_NULL};
    switch (gs_json_type(json)) {
    case GS_JSON_NULL:
        return true;
    case GS_JSON_INTEGER:
        cell->type = GS_CELL_INTEGER;
        return gs_json_integer(json, &cell->integer);
    case GS_JSON_REAL:
        cell->type = GS_CELL_NUMBER;
        return gs_json_number(json, &cell->number);
    case GS_JSON_STRING:
        *cell = gs_cell_text(gs_json_string(json));
        return true;
    default:
        return false;
    }
}

static enum gs_status read_row(struct gs_table *table, const struct gs_json *row,
                               struct gs_cell *cells, const struct place *place,
                               struct gs_error *error) {
    if (gs_json_type(row) != GS_JSON_ARRAY || gs_json_size(row) != table->column_count)
        return wrong(error, place, "a row that is not as wide as the columns",
                     "an array of one cell a column", row);
    for (size_t i = 0; i < table->column_count; i++)
        if (!read_cell(gs_json_at(row, i), &cells[i]))
            return wrong(error, place, "an unusable cell", "a number, a string or null",
                         gs_json_at(row, i));
    return gs_table_row(table, cells, error);
}

static enum gs_status read_rows(struct gs_table *table, const struct gs_json *rows,
                                const struct place *place, struct gs_error *error) {
    if (gs_json_type(rows) != GS_JSON_ARRAY)
        return wrong(error, place, "unusable \"rows\"", "an array", rows);
    struct gs_cell *cells = gs_calloc(table->column_count, sizeof *cells);
    if (!cells) return gs_fail_memory(error, table->column_count * sizeof *cells, "a row");
    enum gs_status status = GS_OK;
    for (size_t i = 0; i < gs_json_size(rows) && status == GS_OK; i++)
        status = read_row(table, gs_json_at(rows, i), cells, place, error);
    gs_free(cells);
    return status;
}

static enum gs_status read_table(struct gs_results *results, const struct gs_json *json,
                                 const struct place *place, struct gs_error *error) {
    const struct gs_json *columns = gs_json_get(json, "columns");
    size_t count = gs_json_size(columns);
    if (gs_json_type(columns) != GS_JSON_ARRAY || count == 0)
        return wrong(error, place, "unusable \"columns\"", "an array of names", columns);
    const char **names = gs_calloc(count, sizeof *names);
    if (!names) return gs_fail_memory(error, count * sizeof *names, "column names");
    enum gs_status status = GS_OK;
    for (size_t i = 0; i < count && status == GS_OK; i++) {
        names[i] = gs_json_string(gs_json_at(columns, i));
        if (!names[i])
            status = wrong(error, place, "an unusable column", "a name", gs_json_at(columns, i));
    }
    struct gs_table *table = NULL;
    if (status == GS_OK)
        status = gs_results_table(results, place->name, names, count, &table, error);
    gs_free(names);
    if (status == GS_OK) status = read_rows(table, gs_json_get(json, "rows"), place, error);
    return status;
}

static enum gs_status read_tables(struct gs_results *results, const struct gs_json *tables,
                                  const char *where, struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (size_t i = 0; i < gs_json_size(tables) && status == GS_OK; i++) {
        struct place place = {where, "tables", gs_json_key_at(tables, i)};
        status = read_table(results, gs_json_value_at(tables, i), &place, error);
    }
    return status;
}

static enum gs_status read_sources(struct gs_results *results, const struct gs_json *sources,
                                   const char *where, struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (size_t i = 0; i < gs_json_size(sources) && status == GS_OK; i++) {
        const struct gs_json *source = gs_json_at(sources, i);
        const char *path = gs_json_string(gs_json_get(source, "path"));
        const char *sha256 = gs_json_string(gs_json_get(source, "sha256"));
        status = path && sha256 ? gs_results_source(results, path, sha256, error)
                                : wrong(error, &(struct place){.where = where}, "unusable source",
                                        "path and sha256", source);
    }
    return status;
}

static enum gs_status read_notes(struct gs_results *results, const struct gs_json *notes,
                                 const char *where, struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (size_t i = 0; i < gs_json_size(notes) && status == GS_OK; i++) {
        const char *note = gs_json_string(gs_json_at(notes, i));
        status = note ? gs_results_note(results, note, error)
                      : wrong(error, &(struct place){.where = where}, "unusable note", "a string",
                              gs_json_at(notes, i));
    }
    return status;
}

static enum gs_status check_head(const struct gs_json *json, const struct place *place,
                                 struct gs_error *error) {
    const struct gs_json *schema = gs_json_get(json, "schema");
    const struct gs_json *version = gs_json_get(json, "version");
    const char *name = gs_json_string(schema);
    int64_t number = 0;
    if (!name || strcmp(name, GS_RESULTS_SCHEMA) != 0)
        return wrong(error, place, "not a file of results", "\"schema\": \"" GS_RESULTS_SCHEMA "\"",
                     schema);
    if (!gs_json_integer(version, &number) || number != GS_RESULTS_VERSION)
        return wrong(error, place, "results of a version that is not known", "\"version\": 1",
                     version);
    if (!gs_json_string(gs_json_get(json, "command")))
        return wrong(error, place, "unusable \"command\"", "a string",
                     gs_json_get(json, "command"));
    if (!gs_json_string(gs_json_get(json, "created")))
        return wrong(error, place, "unusable \"created\"", "a string",
                     gs_json_get(json, "created"));
    static const char *const objects[] = {"environment", "values", "tables"};
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
        const struct gs_json *member = gs_json_get(json, objects[i]);
        if (gs_json_type(member) == GS_JSON_OBJECT) continue;
        struct place inside = {place->where, "member", objects[i]};
        return wrong(error, &inside, "unusable member", "an object", member);
    }
    return GS_OK;
}

static enum gs_status read_body(struct gs_results *results, const struct gs_json *json,
                                const char *where, struct gs_error *error) {
    gs_free(results->created);
    gs_json_destroy(results->environment);
    results->created = gs_strdup(gs_json_string(gs_json_get(json, "created")));
    results->environment = gs_json_copy(gs_json_get(json, "environment"));
    if (!results->created || !results->environment)
        return gs_fail_memory(error, sizeof *results, "results");
    enum gs_status status = read_sources(results, gs_json_get(json, "sources"), where, error);
    if (status == GS_OK) status = read_notes(results, gs_json_get(json, "notes"), where, error);
    if (status == GS_OK) status = read_values(results, gs_json_get(json, "values"), where, error);
    if (status == GS_OK) status = read_tables(results, gs_json_get(json, "tables"), where, error);
    return status;
}

/* Errors of the parts name the part: the file, too. */
static void name_file(struct gs_error *error, const char *where) {
    char inside[sizeof error->where];
    if (!error || strstr(error->where, where)) return;
    memcpy(inside, error->where, sizeof inside);
    gs_error_where(error, "%s, %s", where, inside);
}

enum gs_status gs_results_from_json(const struct gs_json *json, const char *where,
                                    struct gs_results **results, struct gs_error *error) {
    *results = NULL;
    enum gs_status status = check_head(json, &(struct place){.where = where}, error);
    if (status != GS_OK) return status;
    struct gs_results *made = gs_results_create(gs_json_string(gs_json_get(json, "command")));
    if (!made) return gs_fail_memory(error, sizeof *made, "results");
    status = read_body(made, json, where, error);
    if (status != GS_OK) name_file(error, where);
    if (status == GS_OK)
        *results = made;
    else
        gs_results_destroy(made);
    return status;
}

enum gs_status gs_results_read(const char *path, struct gs_results **results,
                               struct gs_error *error) {
    *results = NULL;
    struct gs_json *json;
    enum gs_status status = gs_json_read_file(path, &json, error);
    if (status != GS_OK) return status;
    status = gs_results_from_json(json, path, results, error);
    gs_json_destroy(json);
    return status;
}
