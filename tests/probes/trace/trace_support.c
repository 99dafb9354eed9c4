#include "tests/probes/trace/trace_support.h"

#include "core/base/memory.h"
#include "probes/trace/narrow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *pointer) {
    if (!pointer) abort();
    return pointer;
}

static float *floats(size_t count) {
    return must(gs_calloc(count, sizeof(float)));
}

static void make_states(struct made *made, size_t width, struct gs_random *random) {
    static const char *const names[] = {"predicted", "grounded", "layer00"};
    static const char *const dtypes[] = {"float32", "float16", "bfloat16"};
    for (size_t s = 0; s < 3; s++) {
        snprintf(made->streams[s].name, GS_TRACE_NAME, "%s", names[s]);
        snprintf(made->streams[s].dtype, sizeof made->streams[s].dtype, "%s", dtypes[s]);
        made->streams[s].width = width;
        made->states[s] = floats(made->rows * width);
        for (size_t i = 0; i < made->rows * width; i++) {
            float value = (float)gs_random_normal(random) * 30;
            if (s == 1) value = gs_f16_to_f32(gs_f16_from_f32(value));
            if (s == 2) value = gs_bf16_to_f32(gs_bf16_from_f32(value));
            made->states[s][i] = value;
        }
    }
}

static void make_gates(struct made *made, size_t heads, struct gs_random *random) {
    for (size_t m = 0; m < 2; m++) {
        snprintf(made->memories[m].name, GS_TRACE_NAME, "layer%02zu", m);
        snprintf(made->memories[m].rule, GS_TRACE_NAME, "%s", m == 0 ? "gpn" : "");
        made->memories[m].heads = heads;
        for (size_t field = 0; field < GS_MEMORY_FIELDS; field++) {
            if (m == 1 && field != GS_MEMORY_LOG_DECAY) continue;
            made->memories[m].has[field] = true;
            float *values = made->gates[m][field] = floats(made->rows * heads);
            for (size_t i = 0; i < made->rows * heads; i++) {
                double value = gs_random_uniform(random);
                if (gs_random_below(random, 5) == 0) value = value < 0.5 ? 0 : 1; /* the ends */
                values[i] =
                    field == GS_MEMORY_LOG_DECAY ? (float)(-50 * value * value) : (float)value;
            }
        }
        snprintf(made->reads[m].name, GS_TRACE_NAME, "read%zu", m);
        made->reads[m].layers = m + 1;
        made->shares[m] = floats(made->rows * (m + 1));
        for (size_t i = 0; i < made->rows * (m + 1); i++)
            made->shares[m][i] = (float)gs_random_uniform(random);
    }
}

static void make_plan(struct made *made, size_t sequences) {
    made->plan = (struct gs_trace_plan){
        .labels = {.model = "gpn_m",
                   .config = "{\"kind\": \"gpn_m\", \"model\": {\"vocab_size\": 1000}}",
                   .command = "a test",
                   .step = 12,
                   .seed = 0,
                   .threads = -1},
        .sequences = sequences,
        .start = made->start,
        .token = true,
        .nll = true,
        .nll_first = 1,
        .stream_count = 3,
        .memory_count = 2,
        .read_count = 2,
        .streams = made->streams,
        .memories = made->memories,
        .reads = made->reads,
    };
}

struct made *made_create(const size_t *lengths, size_t sequences, size_t width, size_t heads,
                         struct gs_random *random) {
    struct made *made = must(gs_calloc(1, sizeof *made));
    made->start = must(gs_calloc(sequences + 1, sizeof *made->start));
    for (size_t i = 0; i < sequences; i++) made->start[i + 1] = made->start[i] + lengths[i];
    made->rows = made->start[sequences];
    made->token = must(gs_calloc(made->rows, sizeof *made->token));
    made->nll = floats(made->rows);
    for (size_t r = 0; r < made->rows; r++) {
        made->token[r] = (uint32_t)gs_random_below(random, 1000);
        made->nll[r] = (float)gs_random_uniform(random) * 12;
    }
    for (size_t i = 0; i < sequences; i++)
        if (lengths[i] > 0) made->nll[made->start[i]] = NAN;
    make_states(made, width, random);
    make_gates(made, heads, random);
    make_plan(made, sequences);
    return made;
}

void made_destroy(struct made *made) {
    for (size_t s = 0; s < 3; s++) gs_free(made->states[s]);
    for (size_t m = 0; m < 2; m++) {
        for (size_t field = 0; field < GS_MEMORY_FIELDS; field++) gs_free(made->gates[m][field]);
        gs_free(made->shares[m]);
    }
    gs_free(made->token);
    gs_free(made->nll);
    gs_free(made->start);
    gs_free(made);
}

/* ---- writing ---- */

/* Through a buffer with a stride of its own, which is spoilt afterwards. */
typedef enum gs_status append_call(struct gs_trace_writer *writer, size_t index, int field,
                                   size_t sequence, size_t count, const float *values,
                                   size_t stride, struct gs_error *error);

static enum gs_status strided(append_call *call, struct gs_trace_writer *writer, size_t index,
                              int field, size_t sequence, size_t count, const float *values,
                              size_t width, struct gs_error *error) {
    size_t stride = width + 3;
    float *buffer = floats(count * stride);
    for (size_t r = 0; r < count; r++)
        memcpy(buffer + r * stride, values + r * width, width * sizeof *values);
    enum gs_status status = call(writer, index, field, sequence, count, buffer, stride, error);
    memset(buffer, 0xff, count * stride * sizeof *buffer);
    gs_free(buffer);
    return status;
}

static enum gs_status append_state(struct gs_trace_writer *writer, size_t index, int field,
                                   size_t sequence, size_t count, const float *values,
                                   size_t stride, struct gs_error *error) {
    (void)field;
    return gs_trace_append_state(writer, index, sequence, count, values, stride, error);
}

static enum gs_status append_gate(struct gs_trace_writer *writer, size_t index, int field,
                                  size_t sequence, size_t count, const float *values, size_t stride,
                                  struct gs_error *error) {
    return gs_trace_append_memory(writer, index, (enum gs_memory_field)field, sequence, count,
                                  values, stride, error);
}

static enum gs_status append_share(struct gs_trace_writer *writer, size_t index, int field,
                                   size_t sequence, size_t count, const float *values,
                                   size_t stride, struct gs_error *error) {
    (void)field;
    return gs_trace_append_share(writer, index, sequence, count, values, stride, error);
}

enum gs_status made_append(const struct made *made, struct gs_trace_writer *writer, size_t sequence,
                           size_t step, size_t count, struct gs_error *error) {
    size_t row = made->start[sequence] + step, width = made->streams[0].width;
    size_t heads = made->memories[0].heads;
    enum gs_status status =
        gs_trace_append_token(writer, sequence, count, made->token + row, error);
    if (status == GS_OK)
        status = gs_trace_append_nll(writer, sequence, count, made->nll + row, error);
    for (size_t s = 0; status == GS_OK && s < 3; s++)
        status = strided(append_state, writer, s, 0, sequence, count, made->states[s] + row * width,
                         width, error);
    for (size_t m = 0; status == GS_OK && m < 2; m++) {
        for (int f = 0; status == GS_OK && f < GS_MEMORY_FIELDS; f++)
            if (made->memories[m].has[f])
                status = strided(append_gate, writer, m, f, sequence, count,
                                 made->gates[m][f] + row * heads, heads, error);
        if (status == GS_OK)
            status = strided(append_share, writer, m, 0, sequence, count,
                             made->shares[m] + row * (m + 1), m + 1, error);
    }
    return status;
}

/* ---- comparing ---- */

static void same_bits(const char *name, uint64_t row, const void *got, const void *expected,
                      size_t size) {
    if (memcmp(got, expected, size) == 0) return;
    print_error("%s differs in the rows from %llu on\n", name, (unsigned long long)row);
    fail();
}

/* NaN may have any bits. */
static void same_nll(uint64_t row, const float *got, const float *expected, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (got[i] == expected[i] || (isnan(got[i]) && isnan(expected[i]))) continue;
        print_error("nll[%llu]: %g, expected %g\n", (unsigned long long)(row + i), (double)got[i],
                    (double)expected[i]);
        fail();
    }
}

static void compare_gates(const struct made *made, struct gs_trace *trace, uint64_t row,
                          size_t count, float *room) {
    struct gs_error error;
    size_t index, heads = made->memories[0].heads;
    for (size_t m = 0; m < 2; m++) {
        gs_assert_ok(gs_trace_find_memory(trace, made->memories[m].name, &index, &error), &error);
        for (int f = 0; f < GS_MEMORY_FIELDS; f++) {
            assert_int_equal(gs_trace_info(trace)->memories[index].has[f],
                             made->memories[m].has[f]);
            if (!made->memories[m].has[f]) continue;
            gs_assert_ok(gs_trace_read_memory(trace, index, (enum gs_memory_field)f, row, count,
                                              room, &error),
                         &error);
            same_bits("gates", row, room, made->gates[m][f] + row * heads,
                      count * heads * sizeof *room);
        }
        gs_assert_ok(gs_trace_read_share(trace, m, row, count, room, &error), &error);
        same_bits("share", row, room, made->shares[m] + row * (m + 1),
                  count * (m + 1) * sizeof *room);
    }
}

static void compare_rows(const struct made *made, struct gs_trace *trace, uint64_t row,
                         size_t count) {
    struct gs_error error;
    size_t index, width = made->streams[0].width;
    size_t most = width + made->memories[0].heads + 8;
    float *room = floats(count * most);
    uint32_t *ids = must(gs_calloc(count, sizeof *ids));
    gs_assert_ok(gs_trace_read_token(trace, row, count, ids, &error), &error);
    same_bits("token", row, ids, made->token + row, count * sizeof *ids);
    gs_assert_ok(gs_trace_read_nll(trace, row, count, room, &error), &error);
    same_nll(row, room, made->nll + row, count);
    for (size_t s = 0; s < 3; s++) {
        gs_assert_ok(gs_trace_find_stream(trace, made->streams[s].name, &index, &error), &error);
        gs_assert_ok(gs_trace_read_state(trace, index, row, count, room, &error), &error);
        same_bits(made->streams[s].name, row, room, made->states[s] + row * width,
                  count * width * sizeof *room);
    }
    compare_gates(made, trace, row, count, room);
    gs_free(room);
    gs_free(ids);
}

void made_compare(const struct made *made, struct gs_trace *trace) {
    const struct gs_trace_info *info = gs_trace_info(trace);
    assert_int_equal(info->sequences, made->plan.sequences);
    for (size_t i = 0; i < info->sequences; i++) {
        assert_int_equal(info->start[i + 1], made->start[i + 1]);
        compare_rows(made, trace, info->start[i], (size_t)info->rows_written[i]);
    }
}
