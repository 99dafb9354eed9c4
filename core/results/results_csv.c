/* Results as comma-separated values, one file a table. */
#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/base/numbers.h"
#include "core/results/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* RFC 4180: a field with a comma, quote or line end stands in quotes, quotes inside doubled. Blanks
 * at the ends are quoted, too, since some readers trim them. */
static void put_text(FILE *stream, const char *text) {
    size_t length = strlen(text);
    bool plain =
        length > 0 && !strpbrk(text, ",\"\r\n") && text[0] != ' ' && text[length - 1] != ' ';
    if (plain) {
        fputs(text, stream);
        return;
    }
    fputc('"', stream);
    for (; *text; text++) {
        if (*text == '"') fputc('"', stream);
        fputc(*text, stream);
    }
    fputc('"', stream);
}

static void put_number(FILE *stream, double number) {
    char text[GS_NUMBER_TEXT];
    if (isfinite(number)) fputs(gs_number_text(number, text), stream);
}

static void put_cell(FILE *stream, struct gs_cell cell) {
    switch (cell.type) {
    case GS_CELL_NUMBER:
        put_number(stream, cell.number);
        break;
    case GS_CELL_INTEGER:
        fprintf(stream, "%" PRId64, cell.integer);
        break;
    case GS_CELL_TEXT:
        put_text(stream, cell.text);
        break;
    case GS_CELL_NULL:
        break;
    }
}

static void put_table(FILE *stream, const void *data) {
    const struct gs_table *table = data;
    for (size_t i = 0; i < table->column_count; i++) {
        if (i) fputc(',', stream);
        put_text(stream, table->columns[i]);
    }
    fputc('\n', stream);
    for (size_t row = 0; row < table->rows; row++) {
        for (size_t i = 0; i < table->column_count; i++) {
            if (i) fputc(',', stream);
            put_cell(stream, gs_table_cell(table, row, i));
        }
        fputc('\n', stream);
    }
}

static void put_value(FILE *stream, const char *name, const struct gs_value *value) {
    put_text(stream, name);
    fputc(',', stream);
    put_number(stream, value->value);
    fputc(',', stream);
    put_text(stream, value->unit);
    fprintf(stream, ",%" PRIu64 ",", value->n);
    if (value->has_interval) put_number(stream, value->low);
    fputc(',', stream);
    if (value->has_interval) put_number(stream, value->high);
    fputc(',', stream);
    put_text(stream, value->status);
    fputc(',', stream);
    if (value->has_bound) put_number(stream, value->bound);
    fputc(',', stream);
    if (value->reason) put_text(stream, value->reason);
    fputc('\n', stream);
}

static void put_values(FILE *stream, const void *data) {
    const struct gs_results *results = data;
    fputs("name,value,unit,n,low,high,status,bound,reason\n", stream);
    for (size_t i = 0; i < results->value_count; i++)
        put_value(stream, results->values[i].name, &results->values[i].value);
}

/* ---- the set of files ---- */

/* All files are written out beside their places before the first takes its place: where the disk
 * fills up, no half of a set is left. */
struct set {
    struct gs_output *files;
    size_t count;
};

static enum gs_status write_out(struct gs_output *out, const char *path, struct gs_error *error) {
    if (ferror(out->stream)) return gs_output_commit(out, error); /* fails, and finds out why */
    if (fflush(out->stream) == 0 && (fsync(fileno(out->stream)) == 0 || errno == EINVAL))
        return GS_OK;
    return gs_fail_errno(error, errno, "cannot write", path);
}

static enum gs_status write_file(struct set *set, const char *folder, const char *prefix,
                                 const char *name, bool force, void (*put)(FILE *, const void *),
                                 const void *data, struct gs_error *error) {
    char file[512];
    int length = snprintf(file, sizeof file, "%s%s.csv", prefix, name);
    char *path = length > 0 && (size_t)length < sizeof file ? gs_path_join(folder, file) : NULL;
    if (!path) return gs_fail_memory(error, strlen(folder), "a path");
    struct gs_output *out = &set->files[set->count];
    enum gs_status status = gs_output_open(out, path, force, error);
    if (status == GS_OK) {
        set->count++;
        put(out->stream, data);
        status = write_out(out, path, error);
    }
    gs_free(path);
    return status;
}

static enum gs_status write_set(struct set *set, const struct gs_results *results,
                                const char *folder, const char *prefix, bool force,
                                struct gs_error *error) {
    enum gs_status status =
        write_file(set, folder, prefix, "values", force, put_values, results, error);
    for (size_t i = 0; i < results->table_count && status == GS_OK; i++) {
        const struct gs_table *table = results->tables[i];
        status = write_file(set, folder, prefix, table->name, force, put_table, table, error);
    }
    for (size_t i = 0; i < set->count && status == GS_OK; i++)
        status = gs_output_commit(&set->files[i], error);
    return status;
}

enum gs_status gs_results_write_csv(const struct gs_results *results, const char *folder,
                                    const char *prefix, bool force, struct gs_error *error) {
    bool made = !gs_path_exists(folder);
    struct set set = {gs_calloc(results->table_count + 1, sizeof *set.files), 0};
    if (!set.files) return gs_fail_memory(error, sizeof *set.files, "tables");
    enum gs_status status = gs_folder_create(folder, error);
    if (status == GS_OK) status = write_set(&set, results, folder, prefix, force, error);
    for (size_t i = 0; i < set.count; i++) gs_output_abandon(&set.files[i]);
    gs_free(set.files);
    if (status != GS_OK && made) rmdir(folder); /* stays where a table is in it */
    return status;
}
