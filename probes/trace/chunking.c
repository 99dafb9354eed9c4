/* How many rows a chunk holds, and what the whole file takes: see writer.h. */
#include "core/base/memory.h"
#include "probes/trace/writer.h"

enum {
    CHUNK_BYTES = 1024 * 1024,
    SMALL_BYTES = 4 * 1024,   /* a chunk below this is more index than data */
    INDEX_BYTES = 64,         /* of the index, for each chunk, with the index half empty */
    FIXED_BYTES = 256 * 1024, /* headers, groups, attributes besides config and command */
    TEXT_LIMIT = 1024
};

/* Greatest common divisor of all starts: where a grid may have its lines. 0 for one sequence. */
static uint64_t common_divisor(const uint64_t *start, size_t sequences) {
    uint64_t divisor = 0;
    for (size_t i = 1; i < sequences && divisor != 1; i++) {
        uint64_t a = start[i], b = divisor;
        while (b) {
            uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        divisor = a;
    }
    return divisor;
}

static uint64_t longest_sequence(const uint64_t *start, size_t sequences) {
    uint64_t longest = 1;
    for (size_t i = 0; i < sequences; i++)
        if (start[i + 1] - start[i] > longest) longest = start[i + 1] - start[i];
    return longest;
}

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* The largest power of two up to `number`, which is at least 1. */
static uint64_t power_of_two(uint64_t number) {
    uint64_t power = 1;
    while (power <= number / 2) power *= 2;
    return power;
}

size_t gs_trace_chunk_rows(size_t row_bytes, const uint64_t *start, size_t sequences) {
    uint64_t rows = start[sequences];
    if (rows == 0 || row_bytes == 0) return 1;
    uint64_t most = longest_sequence(start, sequences);
    if (most < SMALL_BYTES / row_bytes) most = SMALL_BYTES / row_bytes;
    uint64_t target = smaller(smaller(most, rows), CHUNK_BYTES / row_bytes);
    if (target == 0) target = 1;
    uint64_t divisor = common_divisor(start, sequences);
    if (divisor == 0) return (size_t)target;
    if (target >= divisor) return (size_t)(divisor * power_of_two(target / divisor));
    for (uint64_t size = target; size > target / 2; size--)
        if (divisor % size == 0) return (size_t)size;
    return (size_t)target;
}

/* Adds one dataset of `row_bytes` a row; false when the sum wraps. */
static bool add_dataset(const struct gs_trace_plan *plan, size_t row_bytes, size_t *bytes) {
    size_t rows = (size_t)plan->start[plan->sequences];
    size_t chunk_rows = gs_trace_chunk_rows(row_bytes, plan->start, plan->sequences);
    size_t chunks = rows / chunk_rows + (rows % chunk_rows != 0), data, index, chunk;
    return gs_multiply(chunk_rows, row_bytes, &chunk) && gs_multiply(chunks, chunk, &data) &&
           gs_multiply(chunks, INDEX_BYTES, &index) && gs_add(*bytes, data, bytes) &&
           gs_add(*bytes, index, bytes) && gs_add(*bytes, TEXT_LIMIT, bytes);
}

static size_t stream_row(const struct gs_trace_stream *stream) {
    size_t element = stream->dtype[0] == 'f' && stream->dtype[5] == '3' ? 4 : 2, bytes;
    return gs_multiply(stream->width, element, &bytes) ? bytes : 0;
}

size_t gs_trace_bytes(const struct gs_trace_plan *plan) {
    size_t bytes = FIXED_BYTES, sequences;
    bool fits = gs_multiply(plan->sequences + 1, TEXT_LIMIT / 16, &sequences) &&
                gs_add(bytes, sequences, &bytes);
    if (plan->token) fits = fits && add_dataset(plan, 4, &bytes);
    if (plan->nll) fits = fits && add_dataset(plan, 4, &bytes);
    for (size_t i = 0; i < plan->stream_count; i++) {
        size_t row = stream_row(&plan->streams[i]);
        fits = fits && row > 0 && add_dataset(plan, row, &bytes);
    }
    for (size_t i = 0; i < plan->memory_count; i++)
        for (size_t field = 0; field < GS_MEMORY_FIELDS; field++)
            if (plan->memories[i].has[field])
                fits = fits && add_dataset(plan, 4 * plan->memories[i].heads, &bytes);
    for (size_t i = 0; i < plan->read_count; i++)
        fits = fits && add_dataset(plan, 4 * plan->reads[i].layers, &bytes);
    return fits ? bytes : SIZE_MAX;
}
