/* trace_support.h - random traces, written through the writer, and what they should hold. */
#ifndef GS_TESTS_PROBES_TRACE_SUPPORT_H
#define GS_TESTS_PROBES_TRACE_SUPPORT_H

#include "core/base/random.h"
#include "probes/trace/reader.h"
#include "probes/trace/writer.h"
#include "tests/support/support.h"

/* A plan with values for all of it, in memory. */
struct made {
    struct gs_trace_plan plan;
    uint64_t *start;
    struct gs_trace_stream streams[3];
    struct gs_trace_memory memories[2];
    struct gs_trace_read reads[2];
    uint64_t rows;
    uint32_t *token;
    float *nll;
    float *states[3];
    float *gates[2][GS_MEMORY_FIELDS];
    float *shares[2];
};

/* Sequences of these lengths; streams f32, f16 and bf16 of width d (values exact in 16 bits), a
 * memory with all fields and one with log_decay alone, of H heads, and two reads. */
struct made *made_create(const size_t *lengths, size_t sequences, size_t width, size_t heads,
                         struct gs_random *random);
void made_destroy(struct made *made);

/* Append `count` rows of sequence `sequence` from step `step` on to every dataset. */
enum gs_status made_append(const struct made *made, struct gs_trace_writer *writer, size_t sequence,
                           size_t step, size_t count, struct gs_error *error);

/* Every row below rows_written must be what `made` says; prints where it is not, and fails. */
void made_compare(const struct made *made, struct gs_trace *trace);

#endif
