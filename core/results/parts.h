/* parts.h - what a struct gs_results is made of; for the files of this folder alone. */
#ifndef GS_CORE_RESULTS_PARTS_H
#define GS_CORE_RESULTS_PARTS_H

#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/results/results.h"

#define GS_RESULTS_SCHEMA "gpnscope-results"
enum { GS_RESULTS_VERSION = 1 };

struct gs_results_source_part {
    char *path;
    char sha256[GS_SHA256_TEXT]; /* "" while it is being computed */
    struct gs_sha256_job *job;   /* what computes it, else NULL */
};

struct gs_results_value_part {
    char *name;
    struct gs_value value; /* its strings are owned */
    bool detail;           /* for files, not for people: one of many of its kind */
    double *replicates;    /* (replicate_count), see replicates.h; NULL: it has none */
    size_t replicate_count, replicate_blocks;
    uint64_t replicate_seed;
};

struct gs_table {
    char *name;
    char **columns;
    size_t column_count;
    struct gs_cell *cells; /* (rows, columns), texts owned */
    size_t rows, room;     /* room in rows */
    bool detail;           /* as of a value */
};

struct gs_results {
    bool keeps_replicates;
    char *command;
    char *created;               /* UTC, ISO 8601 */
    struct gs_json *environment; /* an object */
    struct gs_results_source_part *sources;
    size_t source_count, source_room;
    char **notes;
    size_t note_count, note_room;
    struct gs_results_value_part *values;
    size_t value_count, value_room;
    struct gs_table **tables;
    size_t table_count, table_room;
};

/* Room for one more item in an array: doubles when full. False when memory is short, and then
 * nothing changed. */
bool gs_results_grow(void **items, size_t *room, size_t count, size_t size);

#endif
