#include "core/results/results.h"

#include "core/base/environment.h"
#include "core/base/memory.h"
#include "core/results/parts.h"

#include <math.h>
#include <string.h>
#include <time.h>

bool gs_results_grow(void **items, size_t *room, size_t count, size_t size) {
    if (count < *room) return true;
    size_t wanted;
    if (!gs_multiply(*room ? *room : 8, 2, &wanted)) return false;
    void *grown = gs_calloc(wanted, size);
    if (!grown) return false;
    if (count) memcpy(grown, *items, count * size);
    gs_free(*items);
    *items = grown;
    *room = wanted;
    return true;
}

static enum gs_status no_memory(struct gs_error *error) {
    return gs_fail_memory(error, sizeof(struct gs_results), "results");
}

/* ---- the whole ---- */

static char *utc_now(void) {
    char text[32] = "";
    time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts)) strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return gs_strdup(text);
}

static struct gs_json *environment_now(void) {
    struct gs_environment now;
    gs_environment_read(&now);
    struct gs_json *json = gs_json_new_object();
    bool good = gs_json_set(json, "threads", gs_json_new_integer(now.threads)) &&
                gs_json_set(json, "blas", gs_json_new_string(now.blas)) &&
                gs_json_set(json, "blas_core", gs_json_new_string(now.blas_core)) &&
                gs_json_set(json, "blas_threading", gs_json_new_string(now.blas_threading)) &&
                gs_json_set(json, "kernels", gs_json_new_string(now.kernels)) &&
                gs_json_set(json, "compiler", gs_json_new_string(now.compiler)) &&
                gs_json_set(json, "version", gs_json_new_string(GS_VERSION));
    if (good) return json;
    gs_json_destroy(json);
    return NULL;
}

struct gs_results *gs_results_create(const char *command) {
    struct gs_results *results = gs_calloc(1, sizeof *results);
    if (!results) return NULL;
    results->command = gs_strdup(command);
    results->created = utc_now();
    results->environment = environment_now();
    if (results->command && results->created && results->environment) return results;
    gs_results_destroy(results);
    return NULL;
}

static void free_value(struct gs_results_value_part *part) {
    gs_free(part->name);
    gs_free(part->replicates);
    gs_free((char *)(uintptr_t)part->value.unit);
    gs_free((char *)(uintptr_t)part->value.status);
    gs_free((char *)(uintptr_t)part->value.reason);
}

static void free_table(struct gs_table *table) {
    if (!table) return;
    for (size_t i = 0; i < table->rows * table->column_count; i++)
        gs_free((char *)(uintptr_t)table->cells[i].text);
    for (size_t i = 0; table->columns && i < table->column_count; i++) gs_free(table->columns[i]);
    gs_free(table->columns);
    gs_free(table->cells);
    gs_free(table->name);
    gs_free(table);
}

void gs_results_destroy(struct gs_results *results) {
    if (!results) return;
    for (size_t i = 0; i < results->source_count; i++) {
        gs_sha256_cancel(results->sources[i].job);
        gs_free(results->sources[i].path);
    }
    for (size_t i = 0; i < results->note_count; i++) gs_free(results->notes[i]);
    for (size_t i = 0; i < results->value_count; i++) free_value(&results->values[i]);
    for (size_t i = 0; i < results->table_count; i++) free_table(results->tables[i]);
    gs_free(results->sources);
    gs_free(results->notes);
    gs_free(results->values);
    gs_free(results->tables);
    gs_json_destroy(results->environment);
    gs_free(results->created);
    gs_free(results->command);
    gs_free(results);
}

const char *gs_results_command(const struct gs_results *results) {
    return results->command;
}

/* ---- what belongs to all values ---- */

static enum gs_status add_source(struct gs_results *results, const char *path,
                                 struct gs_results_source_part *part, struct gs_error *error) {
    if (!gs_results_grow((void **)&results->sources, &results->source_room, results->source_count,
                         sizeof *part) ||
        !(part->path = gs_strdup(path)))
        return no_memory(error);
    results->sources[results->source_count++] = *part;
    return GS_OK;
}

enum gs_status gs_results_source(struct gs_results *results, const char *path, const char *sha256,
                                 struct gs_error *error) {
    struct gs_results_source_part part = {0};
    if (!sha256) {
        enum gs_status status = gs_sha256_path(path, part.sha256, error);
        if (status != GS_OK) return status;
    } else if (strlen(sha256) != GS_SHA256_TEXT - 1) {
        gs_fail(error, GS_FORMAT, "a source with an unusable SHA-256");
        gs_error_expected(error, "%d hex digits", GS_SHA256_TEXT - 1);
        gs_error_found(error, "\"%s\"", sha256);
        gs_error_where(error, "%s", path);
        return GS_FORMAT;
    } else {
        memcpy(part.sha256, sha256, GS_SHA256_TEXT);
    }
    return add_source(results, path, &part, error);
}

enum gs_status gs_results_source_meanwhile(struct gs_results *results, const char *path,
                                           bool wanted, struct gs_error *error) {
    struct gs_results_source_part part = {0};
    enum gs_status status = wanted ? gs_sha256_start(path, &part.job, error) : GS_OK;
    if (status == GS_OK) status = add_source(results, path, &part, error);
    if (status != GS_OK) gs_sha256_cancel(part.job);
    return status;
}

enum gs_status gs_results_settle(struct gs_results *results, struct gs_error *error) {
    for (size_t i = 0; i < results->source_count; i++) {
        struct gs_results_source_part *part = &results->sources[i];
        struct gs_sha256_job *job = part->job;
        enum gs_status status = GS_OK;
        part->job = NULL;
        if (job)
            status = gs_sha256_join(job, part->sha256, error);
        else if (!part->sha256[0])
            status = gs_sha256_path(part->path, part->sha256, error);
        if (status != GS_OK) return status;
    }
    return GS_OK;
}

enum gs_status gs_results_note(struct gs_results *results, const char *note,
                               struct gs_error *error) {
    char *copy = gs_strdup(note);
    if (!copy || !gs_results_grow((void **)&results->notes, &results->note_room,
                                  results->note_count, sizeof copy)) {
        gs_free(copy);
        return no_memory(error);
    }
    results->notes[results->note_count++] = copy;
    return GS_OK;
}

size_t gs_results_note_count(const struct gs_results *results) {
    return results->note_count;
}

const char *gs_results_note_at(const struct gs_results *results, size_t index) {
    return results->notes[index];
}

enum gs_status gs_results_setting(struct gs_results *results, const char *key, const char *text,
                                  struct gs_error *error) {
    struct gs_json *value = text ? gs_json_new_string(text) : gs_json_new_null();
    return gs_json_set(results->environment, key, value) ? GS_OK : no_memory(error);
}

enum gs_status gs_results_setting_integer(struct gs_results *results, const char *key,
                                          int64_t integer, struct gs_error *error) {
    struct gs_json *value = gs_json_new_integer(integer);
    return gs_json_set(results->environment, key, value) ? GS_OK : no_memory(error);
}

bool gs_results_has_setting(const struct gs_results *results, const char *key) {
    return gs_json_get(results->environment, key) != NULL;
}

/* ---- values ---- */

static const struct gs_value *find_value(const struct gs_results *results, const char *name) {
    for (size_t i = 0; i < results->value_count; i++)
        if (strcmp(results->values[i].name, name) == 0) return &results->values[i].value;
    return NULL;
}

/* A number that cannot be written must not look like one that could. */
static const char *honest_status(const struct gs_value *value) {
    const char *status = value->status ? value->status : "ok";
    return !isfinite(value->value) && strcmp(status, "ok") == 0 ? "undefined" : status;
}

enum gs_status gs_results_add(struct gs_results *results, const char *name,
                              const struct gs_value *value, struct gs_error *error) {
    if (find_value(results, name)) {
        gs_fail(error, GS_EXISTS, "a value of this name is there already");
        gs_error_where(error, "%s, %s", results->command, name);
        return GS_EXISTS;
    }
    struct gs_results_value_part part = {.value = *value};
    if (!isfinite(part.value.value)) part.value.value = NAN;
    if (part.value.has_bound && !isfinite(part.value.bound)) part.value.has_bound = false;
    part.name = gs_strdup(name);
    part.value.unit = gs_strdup(value->unit);
    part.value.status = gs_strdup(honest_status(value));
    part.value.reason = gs_strdup(value->reason);
    bool good = part.name && part.value.unit && part.value.status &&
                (part.value.reason || !value->reason) &&
                gs_results_grow((void **)&results->values, &results->value_room,
                                results->value_count, sizeof part);
    if (!good) {
        free_value(&part);
        return no_memory(error);
    }
    results->values[results->value_count++] = part;
    return GS_OK;
}

enum gs_status gs_results_number(struct gs_results *results, const char *name, double value,
                                 const char *unit, uint64_t n, struct gs_error *error) {
    return gs_results_add(results, name, &(struct gs_value){.value = value, .unit = unit, .n = n},
                          error);
}

bool gs_results_find(const struct gs_results *results, const char *name, struct gs_value *value) {
    const struct gs_value *found = find_value(results, name);
    if (found && value) *value = *found;
    return found != NULL;
}

size_t gs_results_count(const struct gs_results *results) {
    return results->value_count;
}

const char *gs_results_name_at(const struct gs_results *results, size_t index) {
    return results->values[index].name;
}

/* ---- tables ---- */

static bool is_file_name(const char *name) {
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t length = strlen(name);
    return length > 0 && length < 128 && name[0] != '.' && strspn(name, allowed) == length;
}

static enum gs_status check_table_name(const struct gs_results *results, const char *name,
                                       struct gs_error *error) {
    enum gs_status status = GS_OK;
    if (!is_file_name(name)) {
        status = gs_fail(error, GS_FORMAT, "not usable as a table's name");
        gs_error_expected(error, "letters, digits, '.', '_', '-'");
        gs_error_found(error, "\"%s\"", name);
    } else if (gs_results_find_table(results, name)) {
        status = gs_fail(error, GS_EXISTS, "a table of this name is there already");
        gs_error_found(error, "%s", name);
    }
    gs_error_where(status == GS_OK ? NULL : error, "%s", results->command);
    return status;
}

static bool copy_columns(struct gs_table *table, const char *const *columns, size_t count) {
    table->column_count = count;
    table->columns = gs_calloc(count, sizeof *table->columns);
    for (size_t i = 0; table->columns && i < count; i++)
        if (!(table->columns[i] = gs_strdup(columns[i]))) return false;
    return table->columns != NULL;
}

enum gs_status gs_results_table(struct gs_results *results, const char *name,
                                const char *const *columns, size_t count, struct gs_table **table,
                                struct gs_error *error) {
    *table = NULL;
    enum gs_status status = check_table_name(results, name, error);
    if (status != GS_OK) return status;
    struct gs_table *made = gs_calloc(1, sizeof *made);
    bool good = made && (made->name = gs_strdup(name)) && copy_columns(made, columns, count) &&
                gs_results_grow((void **)&results->tables, &results->table_room,
                                results->table_count, sizeof made);
    if (!good) {
        free_table(made);
        return no_memory(error);
    }
    results->tables[results->table_count++] = made;
    *table = made;
    return GS_OK;
}

static bool grow_rows(struct gs_table *table) {
    size_t cells;
    if (table->rows < table->room) return true;
    size_t room = table->room ? 2 * table->room : 16;
    if (!gs_multiply(room, table->column_count, &cells)) return false;
    struct gs_cell *grown = gs_calloc(cells, sizeof *grown);
    if (!grown) return false;
    size_t used = table->rows * table->column_count;
    if (used) memcpy(grown, table->cells, used * sizeof *grown);
    gs_free(table->cells);
    table->cells = grown;
    table->room = room;
    return true;
}

enum gs_status gs_table_row(struct gs_table *table, const struct gs_cell *cells,
                            struct gs_error *error) {
    if (!grow_rows(table)) return no_memory(error);
    struct gs_cell *row = table->cells + table->rows * table->column_count;
    for (size_t i = 0; i < table->column_count; i++) {
        row[i] = cells[i];
        row[i].text = NULL;
        if (cells[i].type == GS_CELL_NUMBER && !isfinite(cells[i].number))
            row[i] = (struct gs_cell){.type = GS_CELL_NULL};
        if (cells[i].type != GS_CELL_TEXT || (row[i].text = gs_strdup(cells[i].text))) continue;
        for (; i-- > 0;) gs_free((char *)(uintptr_t)row[i].text);
        return no_memory(error);
    }
    table->rows++;
    return GS_OK;
}

size_t gs_results_table_count(const struct gs_results *results) {
    return results->table_count;
}

const struct gs_table *gs_results_table_at(const struct gs_results *results, size_t index) {
    return results->tables[index];
}

const struct gs_table *gs_results_find_table(const struct gs_results *results, const char *name) {
    for (size_t i = 0; i < results->table_count; i++)
        if (strcmp(results->tables[i]->name, name) == 0) return results->tables[i];
    return NULL;
}

const char *gs_table_name(const struct gs_table *table) {
    return table->name;
}

size_t gs_table_rows(const struct gs_table *table) {
    return table->rows;
}

size_t gs_table_columns(const struct gs_table *table) {
    return table->column_count;
}

const char *gs_table_column(const struct gs_table *table, size_t column) {
    return table->columns[column];
}

size_t gs_table_find_column(const struct gs_table *table, const char *name) {
    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i], name) == 0) return i;
    return SIZE_MAX;
}

struct gs_cell gs_table_cell(const struct gs_table *table, size_t row, size_t column) {
    return table->cells[row * table->column_count + column];
}
