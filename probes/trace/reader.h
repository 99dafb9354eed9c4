/* reader.h - a trace file (../shared/spec/trace.md), read strictly, widened to native types.
 *
 * Traces may be written by others: the least is format, version, /sequence/start and one /state
 * stream. Any float width and byte order is read. Wrong files give a named error with file,
 * dataset and row. Only rows below rows_written count.
 */
#ifndef GS_PROBES_TRACE_READER_H
#define GS_PROBES_TRACE_READER_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gs_trace;

enum { GS_TRACE_NAME = 64 };

struct gs_trace_stream {
    char name[GS_TRACE_NAME];
    size_t width;
    char dtype[16]; /* "float32", "float16", "bfloat16", "float64" */
};

enum gs_memory_field {
    GS_MEMORY_LOG_DECAY,
    GS_MEMORY_WRITE_STRENGTH,
    GS_MEMORY_NORM,
    GS_MEMORY_FIELDS
};

struct gs_trace_memory {
    char name[GS_TRACE_NAME];
    char rule[GS_TRACE_NAME]; /* "" when not said */
    size_t heads;
    bool has[GS_MEMORY_FIELDS];
};

struct gs_trace_read { /* /read/<name>/share */
    char name[GS_TRACE_NAME];
    size_t layers;
};

/* Everything said about the file; borrowed strings live as long as the trace is open. Absent
 * attributes are NULL, absent numbers -1. */
struct gs_trace_info {
    const char *path;
    int64_t version;
    bool complete;
    const char *model, *config, *creator, *command, *created;
    const char *checkpoint_sha256, *tokenizer_sha256, *source_sha256, *blas_core, *weights;
    int64_t step, seed, threads;
    size_t sequences;
    const uint64_t *start;        /* (sequences + 1) */
    const uint64_t *rows_written; /* (sequences), ≤ start[i+1] - start[i] */
    uint64_t rows;                /* start[sequences] */
    bool has_names, has_token, has_nll;
    size_t nll_first; /* rows at each head where nll is NaN */
    size_t vocab;     /* of config's model.vocab_size; 0 when not known */
    size_t stream_count, memory_count, read_count;
    const struct gs_trace_stream *streams; /* layers by their numbers, then the others by name */
    const struct gs_trace_memory *memories;
    const struct gs_trace_read *reads;
};

/* Opens and checks structure (not every value: see gs_trace_check). */
enum gs_status gs_trace_open(const char *path, struct gs_trace **trace, struct gs_error *error);
void gs_trace_close(struct gs_trace *trace); /* NULL is fine */
const struct gs_trace_info *gs_trace_info(const struct gs_trace *trace);

/* Index of a stream or memory; `name` NULL means the only one, or "predicted", "final" (of models
 * with layers), the first. GS_MISSING with the names that exist when there is none. */
enum gs_status gs_trace_find_stream(const struct gs_trace *trace, const char *name, size_t *index,
                                    struct gs_error *error);
enum gs_status gs_trace_find_memory(const struct gs_trace *trace, const char *name, size_t *index,
                                    struct gs_error *error);

/* Whether rows of a stream, of a field of a memory, may be read by several threads at once: they
 * are read from the file without HDF5. False also where there is none. */
bool gs_trace_state_is_direct(const struct gs_trace *trace, size_t stream);
bool gs_trace_memory_is_direct(const struct gs_trace *trace, size_t memory,
                               enum gs_memory_field field);

/* `count` rows from row `first` of the file on, into row-major arrays. GS_RANGE when rows are not
 * there or not yet written, and, naming dataset, row and column, for NaN or Inf where none may be,
 * γ > 0, β outside [0, 1], tokens ≥ vocab. */
enum gs_status gs_trace_read_state(struct gs_trace *trace, size_t stream, uint64_t first,
                                   size_t count, float *values, struct gs_error *error);
enum gs_status gs_trace_read_memory(struct gs_trace *trace, size_t memory,
                                    enum gs_memory_field field, uint64_t first, size_t count,
                                    float *values, struct gs_error *error);
enum gs_status gs_trace_read_share(struct gs_trace *trace, size_t read, uint64_t first,
                                   size_t count, float *values, struct gs_error *error);
enum gs_status gs_trace_read_token(struct gs_trace *trace, uint64_t first, size_t count,
                                   uint32_t *ids, struct gs_error *error);
enum gs_status gs_trace_read_nll(struct gs_trace *trace, uint64_t first, size_t count, float *nll,
                                 struct gs_error *error);
/* Name of a sequence as a new string (gs_free); NULL when the file has none. */
enum gs_status gs_trace_sequence_name(struct gs_trace *trace, size_t sequence, char **name,
                                      struct gs_error *error);

/* Every value of every dataset; the first fault found is the error. */
struct gs_progress;
enum gs_status gs_trace_check(struct gs_trace *trace, const struct gs_progress *progress,
                              struct gs_error *error);

#endif
