/* results.h - what a command measured: named values and tables, and where they came from.
 *
 * The JSON is ../shared/spec/cli.md, "Results JSON". A measurement keeps its name for ever. A value
 * that is not finite is written as null and must carry a status that says why.
 */
#ifndef GS_CORE_RESULTS_RESULTS_H
#define GS_CORE_RESULTS_RESULTS_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct gs_results;

/* `command` such as "geometry". NULL when memory is short. destroy(NULL) is fine. */
struct gs_results *gs_results_create(const char *command);
void gs_results_destroy(struct gs_results *results);
const char *gs_results_command(const struct gs_results *results);

/* A file the result was computed on. sha256 may be NULL: computed from the path. */
enum gs_status gs_results_source(struct gs_results *results, const char *path, const char *sha256,
                                 struct gs_error *error);
/* The same for a large file that is being measured, when its SHA-256 is wanted at all: that is
 * computed meanwhile, on a thread of its own. gs_results_settle waits for those, computes what has
 * none, and must have come before JSON is made. */
enum gs_status gs_results_source_meanwhile(struct gs_results *results, const char *path,
                                           bool wanted, struct gs_error *error);
enum gs_status gs_results_settle(struct gs_results *results, struct gs_error *error);
/* A remark for people that belongs to the numbers, e.g. a policy or a bias. */
enum gs_status gs_results_note(struct gs_results *results, const char *note,
                               struct gs_error *error);
/* One entry of "environment" beyond what is always recorded at create (threads, blas, blas_core,
 * blas_threading, kernels, compiler, version) and by gs_call_finish (seed, command_line). The same
 * key again replaces. */
enum gs_status gs_results_setting(struct gs_results *results, const char *key, const char *text,
                                  struct gs_error *error);
enum gs_status gs_results_setting_integer(struct gs_results *results, const char *key,
                                          int64_t integer, struct gs_error *error);
bool gs_results_has_setting(const struct gs_results *results, const char *key);

struct gs_value {
    double value;     /* NaN: not known, see status */
    const char *unit; /* "1", "token", "nat/token", …; not NULL */
    uint64_t n;       /* observations it rests on */
    bool has_interval;
    double low, high;   /* 95 % interval when has_interval */
    const char *status; /* "ok", "censored", "none", "undefined", …; NULL is "ok" */
    bool has_bound;
    double bound;       /* for "censored" */
    const char *reason; /* why it is not ok, for people; NULL: nothing to say */
};
/* Names are unique: adding one twice is GS_EXISTS. Strings are copied. A value that is not finite
 * under the status "ok" gets the status "undefined"; a bound or end of an interval that is not
 * finite becomes null in files. */
enum gs_status gs_results_add(struct gs_results *results, const char *name,
                              const struct gs_value *value, struct gs_error *error);
/* Shorthand for a plain finite value. */
enum gs_status gs_results_number(struct gs_results *results, const char *name, double value,
                                 const char *unit, uint64_t n, struct gs_error *error);

/* Looking in, borrowed. False when there is none of that name. */
bool gs_results_find(const struct gs_results *results, const char *name, struct gs_value *value);
size_t gs_results_count(const struct gs_results *results);
const char *gs_results_name_at(const struct gs_results *results, size_t index);
size_t gs_results_note_count(const struct gs_results *results);
const char *gs_results_note_at(const struct gs_results *results, size_t index);
/* The environment and sources as JSON text lines for pages: see gs_results_json. */

/* ---- tables ---- */
struct gs_table; /* owned by its results */

struct gs_cell {
    enum { GS_CELL_NULL, GS_CELL_NUMBER, GS_CELL_INTEGER, GS_CELL_TEXT } type;
    double number;
    int64_t integer;
    const char *text; /* copied when added; borrowed when read */
};
static inline struct gs_cell gs_cell_number(double number) {
    return (struct gs_cell){.type = GS_CELL_NUMBER, .number = number}; /* NaN, Inf: null in files */
}
static inline struct gs_cell gs_cell_integer(int64_t integer) {
    return (struct gs_cell){.type = GS_CELL_INTEGER, .integer = integer};
}
static inline struct gs_cell gs_cell_text(const char *text) {
    return (struct gs_cell){.type = text ? GS_CELL_TEXT : GS_CELL_NULL, .text = text};
}

/* A new table with `count` columns, unique by name. The name is also a file's name: letters,
 * digits,
 * '.', '_', '-', not '.' first; else GS_FORMAT. */
enum gs_status gs_results_table(struct gs_results *results, const char *name,
                                const char *const *columns, size_t count, struct gs_table **table,
                                struct gs_error *error);
/* One row: as many cells as columns. */
enum gs_status gs_table_row(struct gs_table *table, const struct gs_cell *cells,
                            struct gs_error *error);
size_t gs_results_table_count(const struct gs_results *results);
const struct gs_table *gs_results_table_at(const struct gs_results *results, size_t index);
const struct gs_table *gs_results_find_table(const struct gs_results *results, const char *name);
const char *gs_table_name(const struct gs_table *table);
size_t gs_table_rows(const struct gs_table *table);
size_t gs_table_columns(const struct gs_table *table);
const char *gs_table_column(const struct gs_table *table, size_t column);
/* Index of a column, SIZE_MAX when there is none. */
size_t gs_table_find_column(const struct gs_table *table, const char *name);
struct gs_cell gs_table_cell(const struct gs_table *table, size_t row, size_t column);

/* ---- files ---- */
struct gs_json;
/* The whole as JSON (owned by the caller); NULL when memory is short. */
struct gs_json *gs_results_json(const struct gs_results *results);
/* From JSON, strictly: schema and version known, columns and rows of one width, a null value only
 * with a status. Members that are not known are passed over. */
enum gs_status gs_results_from_json(const struct gs_json *json, const char *where,
                                    struct gs_results **results, struct gs_error *error);
/* To a file ("-": stdout) by temporary file and rename. */
enum gs_status gs_results_write(const struct gs_results *results, const char *path, bool force,
                                struct gs_error *error);
enum gs_status gs_results_read(const char *path, struct gs_results **results,
                               struct gs_error *error);
/* Every table as <folder>/<prefix><table>.csv (quoting of RFC 4180, lines end in LF, as many digits
 * as read back the same bits, empty for null), and the values as <folder>/<prefix>values.csv. The
 * folder is made. All are written before the first is put in its place: a disk that fills up leaves
 * none of them. */
enum gs_status gs_results_write_csv(const struct gs_results *results, const char *folder,
                                    const char *prefix, bool force, struct gs_error *error);
/* For people: values with unit, interval and status, then tables of at most `table_rows` rows
 * (longer ones are cut and say so). */
enum gs_status gs_results_print(const struct gs_results *results, FILE *stream, size_t table_rows,
                                struct gs_error *error);

#endif
