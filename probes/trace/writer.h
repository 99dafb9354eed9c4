/* writer.h - a trace file (../shared/spec/trace.md) being written: several sequences side by side,
 * each dataset in whole chunks.
 *
 * Chunks. HDF5 lays one grid of chunks over all rows of a dataset, while sequences begin anywhere.
 * Rows of a chunk are chosen so that about 1 MiB is reached and, where the lengths allow it, the
 * grid falls on every start (gs_trace_chunk_rows). The writer holds the chunks that are not full
 * yet, at most two for each sequence side by side, and up to 32 MiB of full ones, which it writes,
 * each once and whole, straight to the file while the next rows are copied.
 *
 * A kill. All space and all indexes exist before the first row, so that rows and rows_written are
 * plain writes in place: whatever the moment, the file opens. (With deflate the index has its full
 * size, and its entries change in place at a flush.) A flush brings data and index to the file,
 * then rows_written. The disk's space is taken at once, too, where the file system can: a disk that
 * others fill meanwhile does not matter. (With deflate it is taken as rows are written.)
 *
 * A failed write. The error names dataset, path and errno. The writer is broken from then on, and
 * destroying it writes nothing; what had been flushed stays readable. A file without one flushed
 * row is removed.
 */
#ifndef GS_PROBES_TRACE_WRITER_H
#define GS_PROBES_TRACE_WRITER_H

#include "core/base/status.h"
#include "probes/trace/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The attributes of the root. NULL and -1 are left out. */
struct gs_trace_labels {
    const char *model, *config, *creator, *command;
    const char *created; /* NULL: now, in UTC */
    const char *checkpoint_sha256, *tokenizer_sha256, *source_sha256, *blas_core, *weights;
    int64_t step, seed, threads;
};

/* What the file will hold. Everything is copied where it must outlive the call. */
struct gs_trace_plan {
    struct gs_trace_labels labels;
    size_t sequences;
    const uint64_t *start;    /* (sequences + 1), from 0, never falling */
    const char *const *names; /* (sequences), or NULL */
    bool token, nll;
    size_t nll_first; /* rows at the head of each sequence where nll is NaN */
    size_t stream_count, memory_count, read_count;
    const struct gs_trace_stream *streams; /* dtype "float32", "float16" or "bfloat16" */
    const struct gs_trace_memory *memories;
    const struct gs_trace_read *reads;
    int deflate; /* 0: none; 1 … 9 */
};

struct gs_trace_writer;

/* Rows of a chunk for rows of `row_bytes` bytes: about 1 MiB, at least one row and no more than
 * all, nor than the longest sequence, unless that is under 4 KiB, where one chunk a sequence would
 * be all overhead. Within that, chunk borders fall on every start where lengths allow it: a chunk
 * is a divisor of a sequence, between half of the most and all of it, or 1, 2, 4, … sequences
 * (powers of two, so that borders of all datasets meet soon: there a trace can be resumed). */
size_t gs_trace_chunk_rows(size_t row_bytes, const uint64_t *start, size_t sequences);

/* Bytes the finished file takes without deflate, an upper bound within some per cent. SIZE_MAX when
 * that does not fit in 64 bits. */
size_t gs_trace_bytes(const struct gs_trace_plan *plan);

/* Creates the file with complete = 0. An existing `path` is refused unless `force`, which writes
 * beside it and renames at gs_trace_writer_close. GS_IO when less space is free than needed. */
enum gs_status gs_trace_writer_create(const char *path, bool force,
                                      const struct gs_trace_plan *plan,
                                      struct gs_trace_writer **writer, struct gs_error *error);

/* Go on with an unfinished trace at `path`, which must be what `plan` says: the same checkpoint,
 * tokenizer, source and weights by their hashes, sequences, streams, memories and reads (GS_CONFIG
 * names what differs; command, dates and threads may). Sequences below *first are done; those from
 * *first on are to be appended from their first row again. A finished trace gives no writer (NULL)
 * and *first = sequences. */
enum gs_status gs_trace_writer_resume(const char *path, const struct gs_trace_plan *plan,
                                      struct gs_trace_writer **writer, size_t *first,
                                      struct gs_error *error);

/* The next `count` rows of a dataset for one sequence, copied (and narrowed) at once. Row r stands
 * at values + r * stride. GS_RANGE when the sequence has not that many rows left; GS_NUMERIC,
 * naming dataset, sequence, step and column, for a value that a reader would refuse: NaN or Inf,
 * γ > 0, β outside [0, 1], a state too large for float16. */
enum gs_status gs_trace_append_state(struct gs_trace_writer *writer, size_t stream, size_t sequence,
                                     size_t count, const float *values, size_t stride,
                                     struct gs_error *error);
enum gs_status gs_trace_append_memory(struct gs_trace_writer *writer, size_t memory,
                                      enum gs_memory_field field, size_t sequence, size_t count,
                                      const float *values, size_t stride, struct gs_error *error);
enum gs_status gs_trace_append_share(struct gs_trace_writer *writer, size_t read, size_t sequence,
                                     size_t count, const float *values, size_t stride,
                                     struct gs_error *error);
enum gs_status gs_trace_append_token(struct gs_trace_writer *writer, size_t sequence, size_t count,
                                     const uint32_t *ids, struct gs_error *error);
enum gs_status gs_trace_append_nll(struct gs_trace_writer *writer, size_t sequence, size_t count,
                                   const float *nll, struct gs_error *error);

/* The same for `batch` sequences side by side, first … first + batch - 1, by all threads: counts[b]
 * rows (NULL: `rows` of each) of sequence first + b, row r at values + b * batch_stride +
 * r * stride. After an error some of the block's rows may be in, unless no sequence had more than
 * gs_trace_chunk_rows of them. */
struct gs_trace_block {
    size_t first, batch, rows;
    const size_t *counts;
    const float *values;
    size_t batch_stride, stride;
};
enum gs_status gs_trace_append_state_block(struct gs_trace_writer *writer, size_t stream,
                                           const struct gs_trace_block *block,
                                           struct gs_error *error);
enum gs_status gs_trace_append_memory_block(struct gs_trace_writer *writer, size_t memory,
                                            enum gs_memory_field field,
                                            const struct gs_trace_block *block,
                                            struct gs_error *error);
enum gs_status gs_trace_append_share_block(struct gs_trace_writer *writer, size_t read,
                                           const struct gs_trace_block *block,
                                           struct gs_error *error);

/* Everything in whole chunks is written and becomes safe: data, then rows_written, then flush. */
enum gs_status gs_trace_writer_flush(struct gs_trace_writer *writer, struct gs_error *error);
/* The same when two seconds went by since the last; when 64 MiB were written, what is written
 * becomes safe, and full chunks may wait on. */
enum gs_status gs_trace_writer_flush_if_due(struct gs_trace_writer *writer, struct gs_error *error);

/* Writes what is held back, rows_written, complete = 1 if every row of every dataset is there, and
 * closes; with `force`, renames. The writer is gone whatever is returned. */
enum gs_status gs_trace_writer_close(struct gs_trace_writer *writer, struct gs_error *error);
/* After a failure that is no failed write: `keep` closes as an incomplete file
 * (gs_trace_writer_close with complete = 0 and, with force, under the temporary name), otherwise
 * the file is removed. After a failed write nothing more is written, whatever `keep`. NULL is fine.
 */
void gs_trace_writer_abandon(struct gs_trace_writer *writer, bool keep);

/* Rows of all sequences that are safe so far, and where they stand (borrowed). */
uint64_t gs_trace_writer_safe_rows(const struct gs_trace_writer *writer);
const char *gs_trace_writer_file(const struct gs_trace_writer *writer);
bool gs_trace_writer_broken(const struct gs_trace_writer *writer);

#endif
