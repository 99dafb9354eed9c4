/* The recorder on a model that is none: it copies, it takes what is chosen, it counts lengths. */
#include "probes/trace/recorder.h"

#include "core/base/memory.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 6, HEADS = 2, SEQUENCES = 5, LENGTH = 10 };
static struct gs_error error;
static const struct gs_channel channels[] = {
    {.group = GS_CHANNEL_LOG_DECAY, .name = "m1", .rule = "gpn", .width = HEADS},
    {.group = GS_CHANNEL_STATE, .name = "layer00", .width = WIDTH},
    {.group = GS_CHANNEL_STATE, .name = "final", .width = WIDTH},
    {.group = GS_CHANNEL_WRITE_STRENGTH, .name = "m1", .rule = "gpn", .width = HEADS},
    {.group = GS_CHANNEL_MEMORY_NORM, .name = "m2", .width = HEADS + 1},
    {.group = GS_CHANNEL_READ_SHARE, .name = "m1", .width = 1},
};
enum { CHANNELS = sizeof channels / sizeof *channels };

/* Sequence, step, column and channel in one number, exact in float16 and legal as any gate. */
static float value_of(size_t channel, size_t sequence, size_t step, size_t column) {
    float number = (float)(((channel * SEQUENCES + sequence) * LENGTH + step) % 97 * 8 + column);
    float small = number / 1024;
    return channels[channel].group == GS_CHANNEL_LOG_DECAY ? -small : small;
}

/* As a runner does: blocks of any length, in a buffer that the next block overwrites. */
static void show(const struct gs_tap *tap, size_t first_sequence, size_t batch) {
    static float buffer[SEQUENCES * LENGTH * 16];
    static const size_t borders[] = {0, 3, 4, LENGTH};
    for (size_t piece = 0; piece < 3; piece++)
        for (size_t c = 0; c < CHANNELS; c++) {
            size_t first = borders[piece], steps = borders[piece + 1] - first;
            size_t step_stride = channels[c].width + 1, batch_stride = steps * step_stride + 5;
            if (!tap->wanted[c]) continue;
            for (size_t b = 0; b < batch; b++)
                for (size_t t = 0; t < steps; t++)
                    for (size_t j = 0; j < channels[c].width; j++)
                        buffer[b * batch_stride + t * step_stride + j] =
                            value_of(c, first_sequence + b, first + t, j);
            struct gs_tap_block block = {c, first, steps, batch, buffer, batch_stride, step_stride};
            gs_assert_ok(tap->take(tap->context, &block, &error), &error);
            memset(buffer, 0xff, sizeof buffer); /* NaN */
        }
}

static const size_t lengths[SEQUENCES] = {LENGTH, 2, 4, LENGTH, 7};

static const char *record(const struct gs_recorder_choice *choice) {
    const char *path = gs_scratch_path("recorded.h5");
    struct gs_recorder *recorder;
    struct gs_trace_writer *writer;
    uint64_t start[SEQUENCES + 1] = {0};
    for (size_t i = 0; i < SEQUENCES; i++) start[i + 1] = start[i] + lengths[i];
    struct gs_trace_plan plan = {.sequences = SEQUENCES, .start = start};
    plan.labels.step = plan.labels.seed = plan.labels.threads = -1;
    gs_assert_ok(gs_recorder_create(channels, CHANNELS, choice, &recorder, &error), &error);
    gs_recorder_plan(recorder, &plan);
    gs_assert_ok(gs_trace_writer_create(path, true, &plan, &writer, &error), &error);
    gs_recorder_attach(recorder, writer);
    for (size_t first = 0; first < SEQUENCES; first += 2) { /* does not divide */
        size_t batch = SEQUENCES - first < 2 ? SEQUENCES - first : 2;
        gs_recorder_window(recorder, first, lengths + first);
        show(gs_recorder_tap(recorder), first, batch);
    }
    gs_assert_ok(gs_trace_writer_close(writer, &error), &error);
    gs_recorder_destroy(recorder);
    return path;
}

/* Rows of one dataset against what was shown. */
static void compare(struct gs_trace *trace, size_t channel, const float *values) {
    const struct gs_trace_info *info = gs_trace_info(trace);
    size_t width = channels[channel].width;
    for (size_t i = 0; i < SEQUENCES; i++)
        for (size_t t = 0; t < lengths[i]; t++)
            for (size_t j = 0; j < width; j++) {
                float got = values[(info->start[i] + t) * width + j];
                if (got == value_of(channel, i, t, j)) continue;
                print_error("channel %zu, sequence %zu, step %zu, column %zu: %g, expected %g\n",
                            channel, i, t, j, (double)got, (double)value_of(channel, i, t, j));
                fail();
            }
}

static void it_copies_everything(void **state) {
    (void)state;
    static const char *const dtypes[] = {NULL, "float16", "bfloat16"};
    for (int d = 0; d < 2; d++) { /* bfloat16 has too few digits for these values */
        struct gs_trace *trace;
        struct gs_recorder_choice choice = {.dtype = dtypes[d]};
        gs_assert_ok(gs_trace_open(record(&choice), &trace, &error), &error);
        const struct gs_trace_info *info = gs_trace_info(trace);
        float values[SEQUENCES * LENGTH * WIDTH];
        size_t rows = (size_t)info->rows, index;
        assert_true(info->complete && !info->has_token && !info->has_nll);
        assert_int_equal(info->stream_count, 2);
        assert_int_equal(info->memory_count, 2);
        assert_int_equal(info->read_count, 1);
        for (size_t c = 1; c < 3; c++) {
            gs_assert_ok(gs_trace_find_stream(trace, channels[c].name, &index, &error), &error);
            assert_string_equal(info->streams[index].dtype, d ? "float16" : "float32");
            gs_assert_ok(gs_trace_read_state(trace, index, 0, rows, values, &error), &error);
            compare(trace, c, values);
        }
        gs_assert_ok(gs_trace_find_memory(trace, "m1", &index, &error), &error);
        assert_string_equal(info->memories[index].rule, "gpn");
        assert_int_equal(info->memories[index].heads, HEADS);
        assert_false(info->memories[index].has[GS_MEMORY_NORM]);
        gs_assert_ok(
            gs_trace_read_memory(trace, index, GS_MEMORY_LOG_DECAY, 0, rows, values, &error),
            &error);
        compare(trace, 0, values);
        gs_assert_ok(
            gs_trace_read_memory(trace, index, GS_MEMORY_WRITE_STRENGTH, 0, rows, values, &error),
            &error);
        compare(trace, 3, values);
        gs_assert_ok(gs_trace_find_memory(trace, "m2", &index, &error), &error);
        gs_assert_ok(gs_trace_read_memory(trace, index, GS_MEMORY_NORM, 0, rows, values, &error),
                     &error);
        compare(trace, 4, values);
        gs_assert_ok(gs_trace_read_share(trace, 0, 0, rows, values, &error), &error);
        compare(trace, 5, values);
        gs_trace_close(trace);
    }
}

static void it_takes_what_is_chosen(void **state) {
    (void)state;
    struct gs_trace *trace;
    struct gs_recorder_choice choice = {.streams = "final"};
    gs_assert_ok(gs_trace_open(record(&choice), &trace, &error), &error);
    assert_int_equal(gs_trace_info(trace)->stream_count, 1);
    assert_string_equal(gs_trace_info(trace)->streams[0].name, "final");
    gs_trace_close(trace);
    struct gs_recorder *recorder;
    choice.streams = "final,layer0";
    gs_assert_error(gs_recorder_create(channels, CHANNELS, &choice, &recorder, &error), GS_USAGE,
                    &error, "layer0", "layer00, final", "did you mean layer00");
    choice.streams = "m1"; /* a memory is no stream */
    gs_assert_error(gs_recorder_create(channels, CHANNELS, &choice, &recorder, &error), GS_USAGE,
                    &error, "m1");
    choice.streams = ",";
    gs_assert_error(gs_recorder_create(channels, CHANNELS, &choice, &recorder, &error), GS_USAGE,
                    &error, "stream");
    assert_null(recorder);
}

/* A NaN in a run ends it, with its place. */
static void it_refuses_nan(void **state) {
    (void)state;
    struct gs_recorder *recorder;
    struct gs_trace_writer *writer;
    struct gs_recorder_choice choice = {.streams = NULL};
    uint64_t start[2] = {0, LENGTH};
    float values[WIDTH * 2];
    struct gs_trace_plan plan = {.sequences = 1, .start = start};
    plan.labels.step = plan.labels.seed = plan.labels.threads = -1;
    gs_assert_ok(gs_recorder_create(channels, CHANNELS, &choice, &recorder, &error), &error);
    gs_recorder_plan(recorder, &plan);
    const char *path = gs_scratch_path("nan.h5");
    gs_assert_ok(gs_trace_writer_create(path, false, &plan, &writer, &error), &error);
    gs_recorder_attach(recorder, writer);
    gs_recorder_window(recorder, 0, NULL);
    memset(values, 0, sizeof values);
    memset(&values[WIDTH + 2], 0xff, sizeof values[0]);
    struct gs_tap_block block = {1, 0, 2, 1, values, 2 * WIDTH, WIDTH};
    const struct gs_tap *tap = gs_recorder_tap(recorder);
    gs_assert_error(tap->take(tap->context, &block, &error), GS_NUMERIC, &error, path,
                    "state/layer00", "sequence 0, step 1, column 2");
    gs_trace_writer_abandon(writer, false);
    gs_recorder_destroy(recorder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_copies_everything),
        cmocka_unit_test(it_takes_what_is_chosen),
        cmocka_unit_test(it_refuses_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
