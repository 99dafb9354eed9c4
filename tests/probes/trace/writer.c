/* What the writer writes, the reader reads, on random and hostile shapes; chunks; refusals. */
#include "probes/trace/writer.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "probes/trace/hdf5_file.h"
#include "tests/probes/trace/trace_support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct gs_error error;
static const uint64_t seed = 20261129;

static void seeded(struct gs_random *random, const char *name) {
    gs_random_seed(random, seed, name);
    print_message("seed %llu\n", (unsigned long long)seed);
}

/* ---- chunks ---- */

static void chunk_rows_of_known_shapes(void **state) {
    (void)state;
    enum { MIB = 1024 * 1024 };
    uint64_t equal[5] = {0, 2048, 4096, 6144, 8192}, one[2] = {0, 100000}, tiny[9], odd[4] = {0};
    for (size_t i = 0; i < 9; i++) tiny[i] = i * 16;
    odd[1] = 7, odd[2] = 1000, odd[3] = 1013;
    /* 2,496 floats: 105 rows are 1 MiB, and 64 of them divide 2,048. */
    assert_int_equal(gs_trace_chunk_rows(2496 * 4, equal, 4), 64);
    /* One id a row: a whole sequence, not 128 of them. */
    assert_int_equal(gs_trace_chunk_rows(4, equal, 4), 2048);
    assert_int_equal(gs_trace_chunk_rows(1, equal, 4), 4096); /* 4 KiB hold two */
    assert_int_equal(gs_trace_chunk_rows(60, equal, 4), 2048);
    assert_int_equal(gs_trace_chunk_rows(1000, one, 1), MIB / 1000);
    assert_int_equal(gs_trace_chunk_rows(8, one, 1), 100000);
    assert_int_equal(gs_trace_chunk_rows(4, tiny, 8), 128);
    assert_int_equal(gs_trace_chunk_rows(2 * MIB, equal, 4), 1);
    assert_int_equal(gs_trace_chunk_rows(1024, odd, 3), 512);
}

/* Within the limits, whatever the lengths. */
static void chunk_rows_of_random_shapes(void **state) {
    (void)state;
    struct gs_random random;
    seeded(&random, "test/chunks");
    for (int n = 0; n < 3000; n++) {
        uint64_t start[20] = {0}, longest = 0;
        size_t sequences = 1 + (size_t)gs_random_below(&random, 19);
        bool same = gs_random_below(&random, 2);
        uint64_t scale = (uint64_t)1 << gs_random_below(&random, 14);
        uint64_t length = 1 + gs_random_below(&random, scale);
        for (size_t i = 0; i < sequences; i++) {
            if (!same) length = gs_random_below(&random, scale) + (i == 0);
            start[i + 1] = start[i] + length;
            if (length > longest) longest = length;
        }
        size_t row =
            1 + (size_t)gs_random_below(&random, (uint64_t)1 << gs_random_below(&random, 22));
        size_t rows = gs_trace_chunk_rows(row, start, sequences);
        assert_true(rows >= 1 && rows <= start[sequences]);
        assert_true(rows == 1 || rows * row <= 1024 * 1024);
        assert_true(rows <= longest || rows * row <= 4 * 1024);
        if (!same || sequences == 1) continue;
        /* equal lengths: the grid falls on the starts where a divisor is near enough */
        if (rows * row <= 512 * 1024 && rows < length) assert_int_equal(length % rows, 0);
        if (rows > length) assert_int_equal(rows % length, 0);
    }
}

/* ---- round trips ---- */

/* Sequences grow side by side, `batch` at a time, in pieces of random size. */
static void write_made(const struct made *made, struct gs_trace_writer *writer, size_t batch,
                       struct gs_random *random) {
    size_t all = made->plan.sequences;
    size_t *step = gs_calloc(all, sizeof *step);
    for (size_t first = 0; first < all; first += batch) {
        size_t above = first + batch < all ? first + batch : all;
        for (size_t unfinished = above - first; unfinished > 0;) {
            unfinished = 0;
            for (size_t i = first; i < above; i++) {
                size_t left = made->start[i + 1] - made->start[i] - step[i];
                if (left == 0) continue;
                size_t count = 1 + (size_t)gs_random_below(random, left);
                gs_assert_ok(made_append(made, writer, i, step[i], count, &error), &error);
                step[i] += count;
                if (count < left) unfinished++;
            }
            if (gs_random_below(random, 4) == 0)
                gs_assert_ok(gs_trace_writer_flush(writer, &error), &error);
        }
    }
    gs_free(step);
}

static void round_trip(const size_t *lengths, size_t sequences, size_t width, size_t heads,
                       size_t batch, int deflate, struct gs_random *random) {
    struct made *made = made_create(lengths, sequences, width, heads, random);
    const char *path = gs_scratch_path("round.h5");
    struct gs_trace_writer *writer;
    struct gs_trace *trace;
    made->plan.deflate = deflate;
    gs_assert_ok(gs_trace_writer_create(path, true, &made->plan, &writer, &error), &error);
    write_made(made, writer, batch, random);
    gs_assert_ok(gs_trace_writer_close(writer, &error), &error);
    gs_assert_ok(gs_trace_open(path, &trace, &error), &error);
    const struct gs_trace_info *info = gs_trace_info(trace);
    assert_true(info->complete);
    assert_int_equal(info->version, 1);
    assert_int_equal(info->nll_first, 1);
    assert_int_equal(info->vocab, 1000);
    assert_int_equal(info->step, 12);
    assert_int_equal(info->seed, 0);
    assert_int_equal(info->threads, -1);
    assert_string_equal(info->model, "gpn_m");
    assert_null(info->weights);
    made_compare(made, trace);
    gs_assert_ok(gs_trace_check(trace, NULL, &error), &error);
    gs_trace_close(trace);
    made_destroy(made);
}

static void hostile_shapes(void **state) {
    (void)state;
    struct gs_random random;
    seeded(&random, "test/hostile");
    round_trip((size_t[]){1}, 1, 1, 1, 1, 0, &random);
    round_trip((size_t[]){0, 1, 0}, 3, 2, 1, 3, 0, &random);
    round_trip((size_t[]){0}, 1, 4, 2, 1, 0, &random); /* no rows at all */
    round_trip((size_t[]){1, 1, 1, 1, 1}, 5, 3, 1, 2, 0, &random);
    round_trip((size_t[]){3, 700, 0, 1, 299, 64}, 6, 700, 5, 4, 0, &random); /* shared chunks */
    round_trip((size_t[]){5, 4, 3}, 3, 300000, 1, 3, 0, &random); /* a row is more than 1 MiB */
    round_trip((size_t[]){512, 512, 512, 512}, 4, 1000, 15, 3, 0, &random);
    round_trip((size_t[]){100, 200, 300}, 3, 40, 3, 2, 6, &random); /* deflate */
}

static void random_shapes(void **state) {
    (void)state;
    struct gs_random random;
    seeded(&random, "test/random");
    for (int n = 0; n < 20; n++) {
        size_t lengths[12], sequences = 1 + (size_t)gs_random_below(&random, 12);
        bool same = gs_random_below(&random, 2);
        for (size_t i = 0; i < sequences; i++)
            lengths[i] = i && same ? lengths[0] : (size_t)gs_random_below(&random, 300);
        round_trip(lengths, sequences, 1 + (size_t)gs_random_below(&random, 500),
                   1 + (size_t)gs_random_below(&random, 9), 1 + (size_t)gs_random_below(&random, 5),
                   gs_random_below(&random, 4) == 0 ? 1 : 0, &random);
    }
}

/* ---- flush and end ---- */

static struct made *three_sequences(struct gs_random *random, const char *name) {
    seeded(random, name);
    return made_create((size_t[]){200, 200, 200}, 3, 3000, 2, random);
}

/* After a flush rows_written holds whole chunks only; at the end of an unfinished trace all rows.
 */
static void unfinished_traces(void **state) {
    (void)state;
    struct gs_random random;
    struct made *made = three_sequences(&random, "test/unfinished");
    for (int deflate = 0; deflate < 2; deflate++) {
        const char *path = gs_scratch_path("unfinished%d.h5", deflate);
        struct gs_trace_writer *writer;
        struct gs_trace *trace;
        made->plan.deflate = deflate;
        gs_assert_ok(gs_trace_writer_create(path, false, &made->plan, &writer, &error), &error);
        gs_assert_ok(made_append(made, writer, 1, 0, 133, &error), &error);
        gs_assert_ok(made_append(made, writer, 0, 0, 200, &error), &error);
        assert_int_equal(gs_trace_writer_safe_rows(writer), 0);
        gs_assert_ok(gs_trace_writer_flush(writer, &error), &error);
        /* a chunk of predicted is 50 rows; those of the narrow datasets are 200 and more */
        assert_int_equal(gs_trace_writer_safe_rows(writer), 0);
        gs_trace_writer_abandon(writer, true);
        gs_assert_ok(gs_trace_open(path, &trace, &error), &error);
        const struct gs_trace_info *info = gs_trace_info(trace);
        assert_false(info->complete);
        assert_int_equal(info->rows_written[0], 200);
        assert_int_equal(info->rows_written[1], 133);
        assert_int_equal(info->rows_written[2], 0);
        made_compare(made, trace);
        gs_assert_ok(gs_trace_check(trace, NULL, &error), &error);
        float *room = gs_calloc(200 * 3000, sizeof *room);
        gs_assert_error(gs_trace_read_state(trace, 2, 300, 40, room, &error), GS_RANGE, &error,
                        path, "state/predicted", "not written", "sequence 1");
        gs_assert_ok(gs_trace_read_state(trace, 2, 190, 143, room, &error), &error);
        gs_free(room);
        gs_trace_close(trace);
    }
    made_destroy(made);
}

static void closing_an_unfinished_trace(void **state) {
    (void)state;
    struct gs_random random;
    struct made *made = three_sequences(&random, "test/closing");
    const char *path = gs_scratch_path("closing.h5");
    struct gs_trace_writer *writer;
    struct gs_trace *trace;
    gs_assert_ok(gs_trace_writer_create(path, false, &made->plan, &writer, &error), &error);
    for (size_t i = 0; i < 3; i++)
        gs_assert_ok(made_append(made, writer, i, 0, i == 2 ? 199 : 200, &error), &error);
    gs_assert_ok(gs_trace_writer_close(writer, &error), &error);
    gs_assert_ok(gs_trace_open(path, &trace, &error), &error);
    assert_false(gs_trace_info(trace)->complete);
    made_compare(made, trace);
    gs_trace_close(trace);
    made_destroy(made);
}

static void outputs_that_exist(void **state) {
    (void)state;
    struct gs_random random;
    struct made *made = three_sequences(&random, "test/exists");
    const char *path = gs_scratch_file("exists.h5", "precious", 8);
    struct gs_trace_writer *writer;
    struct gs_mapped_file file;
    gs_assert_error(gs_trace_writer_create(path, false, &made->plan, &writer, &error), GS_EXISTS,
                    &error, path, "--force");
    /* with force, the old file stays until the new one is whole */
    gs_assert_ok(gs_trace_writer_create(path, true, &made->plan, &writer, &error), &error);
    gs_assert_ok(made_append(made, writer, 0, 0, 10, &error), &error);
    gs_assert_ok(gs_file_map(path, &file, &error), &error);
    assert_memory_equal(file.bytes, "precious", 8);
    gs_file_unmap(&file);
    const char *temporary = gs_scratch_path("kept-name");
    snprintf((char *)(uintptr_t)temporary, 1000, "%s", gs_trace_writer_file(writer));
    assert_true(gs_path_exists(temporary));
    gs_trace_writer_abandon(writer, false);
    assert_false(gs_path_exists(temporary));
    gs_assert_ok(gs_file_map(path, &file, &error), &error);
    assert_int_equal(file.size, 8);
    gs_file_unmap(&file);
    unlink(path);
    /* abandoned without keeping, or without one safe row: no file */
    gs_assert_ok(gs_trace_writer_create(path, false, &made->plan, &writer, &error), &error);
    gs_trace_writer_abandon(writer, true);
    assert_false(gs_path_exists(path));
    made_destroy(made);
}

/* The space is known before anything is written. */
static void too_little_space(void **state) {
    (void)state;
    uint64_t start[2] = {0, (uint64_t)1 << 40};
    struct gs_trace_stream stream = {.name = "predicted", .width = 2496, .dtype = "float32"};
    struct gs_trace_plan plan = {
        .sequences = 1, .start = start, .stream_count = 1, .streams = &stream};
    const char *path = gs_scratch_path("large.h5");
    struct gs_trace_writer *writer;
    gs_assert_error(gs_trace_writer_create(path, false, &plan, &writer, &error), GS_IO, &error,
                    path, "disk space", "bytes free", "--dtype");
    assert_false(gs_path_exists(path));
    start[1] = (uint64_t)1 << 60;
    gs_assert_error(gs_trace_writer_create(path, false, &plan, &writer, &error), GS_IO, &error,
                    path, "disk space");
    assert_int_equal(gs_trace_bytes(&plan), SIZE_MAX);
}

/* The planned size is an upper bound, and not far off. */
static void planned_size(void **state) {
    (void)state;
    struct gs_random random;
    struct made *made = three_sequences(&random, "test/size");
    const char *path = gs_scratch_path("size.h5");
    struct gs_trace_writer *writer;
    struct gs_mapped_file file;
    gs_assert_ok(gs_trace_writer_create(path, false, &made->plan, &writer, &error), &error);
    write_made(made, writer, 2, &random);
    gs_assert_ok(gs_trace_writer_close(writer, &error), &error);
    gs_assert_ok(gs_file_map(path, &file, &error), &error);
    size_t planned = gs_trace_bytes(&made->plan);
    print_message("planned %zu, is %zu\n", planned, file.size);
    assert_true(planned >= file.size && planned < file.size + file.size / 10 + 512 * 1024);
    gs_file_unmap(&file);
    made_destroy(made);
}

/* The disk's space is taken before the first row; not with deflate, where nobody knows how much. */
static void space_is_taken_at_once(void **state) {
    (void)state;
    const size_t lengths[] = {4000};
    for (int deflate = 0; deflate < 2; deflate++) {
        struct gs_random random;
        gs_random_seed(&random, 1, "test/space");
        struct made *made = made_create(lengths, 1, 200, 2, &random);
        made->plan.deflate = deflate;
        const char *path = gs_scratch_path("space%d.h5", deflate);
        struct gs_trace_writer *writer;
        struct stat status;
        gs_assert_ok(gs_trace_writer_create(path, false, &made->plan, &writer, &error), &error);
        assert_int_equal(stat(path, &status), 0);
        size_t taken = (size_t)status.st_blocks * 512, rows = 4000 * 200 * sizeof(float);
        gs_trace_writer_abandon(writer, false);
        made_destroy(made);
        if (deflate) {
            assert_true(taken < rows);
        } else if (taken < rows) {
            print_message("SKIP space_is_taken_at_once: the file system takes none ahead\n");
            skip();
        }
    }
}

/* Chunks as they stand in the file. */
static void chunks_in_the_file(void **state) {
    (void)state;
    struct gs_random random;
    struct made *made = three_sequences(&random, "test/layout");
    const char *path = gs_scratch_path("layout.h5");
    struct gs_trace_writer *writer;
    struct gs_h5 *file;
    struct gs_h5_data *data;
    gs_assert_ok(gs_trace_writer_create(path, false, &made->plan, &writer, &error), &error);
    write_made(made, writer, 3, &random);
    gs_assert_ok(gs_trace_writer_close(writer, &error), &error);
    gs_assert_ok(gs_h5_open(path, &file, &error), &error);
    const struct {
        const char *name;
        size_t rows;
    } expected[] = {{"state/predicted", 50},
                    {"state/layer00", 100},
                    {"nll", 400},
                    {"memory/layer00/norm", 400}};
    for (size_t i = 0; i < 4; i++) {
        gs_assert_ok(gs_h5_data_open(file, expected[i].name, &data, &error), &error);
        assert_int_equal(gs_h5_data_shape(data)->chunk_rows, expected[i].rows);
        gs_h5_data_close(data);
    }
    gs_h5_close(file, NULL);
    made_destroy(made);
}

/* ---- refused values ---- */

static void values_a_trace_may_not_hold(void **state) {
    (void)state;
    struct gs_random random;
    struct made *made = three_sequences(&random, "test/values");
    const char *path = gs_scratch_path("values.h5");
    struct gs_trace_writer *writer;
    float row[3000] = {0}, nan_row[2] = {0, NAN};
    gs_assert_ok(gs_trace_writer_create(path, false, &made->plan, &writer, &error), &error);
    row[2999] = INFINITY;
    gs_assert_error(gs_trace_append_state(writer, 0, 2, 1, row, 3000, &error), GS_NUMERIC, &error,
                    path, "state/predicted", "sequence 2", "step 0", "column 2999", "inf");
    row[2999] = 70000;
    gs_assert_error(gs_trace_append_state(writer, 1, 0, 1, row, 3000, &error), GS_NUMERIC, &error,
                    "float16", "65504", "--dtype");
    row[2999] = 3.4e38f;
    gs_assert_error(gs_trace_append_state(writer, 2, 0, 1, row, 3000, &error), GS_NUMERIC, &error,
                    "bfloat16", "--dtype f32");
    gs_assert_error(gs_trace_append_memory(writer, 0, GS_MEMORY_NORM, 0, 1, nan_row, 2, &error),
                    GS_NUMERIC, &error, "layer00/norm", "column 1");
    float decay[2] = {-1, 1e-30f}, strength[2] = {0.5f, 1.0000001f};
    gs_assert_error(gs_trace_append_memory(writer, 0, GS_MEMORY_LOG_DECAY, 0, 1, decay, 2, &error),
                    GS_NUMERIC, &error, "log_decay", "column 1", "at most 0");
    gs_assert_error(
        gs_trace_append_memory(writer, 0, GS_MEMORY_WRITE_STRENGTH, 0, 1, strength, 2, &error),
        GS_NUMERIC, &error, "write_strength", "column 1", "0 … 1");
    gs_assert_error(gs_trace_append_memory(writer, 1, GS_MEMORY_NORM, 0, 1, decay, 2, &error),
                    GS_MISSING, &error, path, "norm");
    float nll[2] = {NAN, NAN};
    gs_assert_error(gs_trace_append_nll(writer, 0, 2, nll, &error), GS_NUMERIC, &error, "nll",
                    "step 1");
    uint32_t ids[201] = {0};
    gs_assert_error(gs_trace_append_token(writer, 0, 201, ids, &error), GS_RANGE, &error, "token",
                    "200");
    gs_assert_error(gs_trace_append_token(writer, 3, 1, ids, &error), GS_RANGE, &error, "token",
                    "sequence 3");
    gs_trace_writer_abandon(writer, false);
    assert_false(gs_path_exists(path));
    made_destroy(made);
}

/* Of several bad values in a block that all threads share, the first sequence's is named, and the
 * block's rows can be given again. */
static void first_of_many_refused(void **state) {
    (void)state;
    enum { BATCH = 12, ROWS = 100, COLUMNS = 300 };
    uint64_t start[BATCH + 1];
    for (size_t i = 0; i <= BATCH; i++) start[i] = i * ROWS;
    struct gs_trace_stream stream = {.name = "state", .width = COLUMNS, .dtype = "float32"};
    struct gs_trace_plan plan = {
        .sequences = BATCH, .start = start, .stream_count = 1, .streams = &stream};
    float *values = gs_calloc(BATCH * ROWS * COLUMNS, sizeof *values);
    const struct gs_trace_block block = {.batch = BATCH,
                                         .rows = ROWS,
                                         .values = values,
                                         .batch_stride = ROWS * COLUMNS,
                                         .stride = COLUMNS};
    for (size_t i = 0; i < BATCH * ROWS * COLUMNS; i++) values[i] = (float)i;
    for (int round = 0; round < 20; round++) {
        const char *path = gs_scratch_path("many.h5");
        struct gs_trace_writer *writer;
        struct gs_trace *trace;
        unlink(path);
        gs_assert_ok(gs_trace_writer_create(path, false, &plan, &writer, &error), &error);
        for (size_t b = 2; b < BATCH; b++) values[(b * ROWS + 7) * COLUMNS + b] = NAN;
        gs_assert_error(gs_trace_append_state_block(writer, 0, &block, &error), GS_NUMERIC, &error,
                        path, "state/state", "sequence 2", "step 7", "column 2");
        for (size_t b = 2; b < BATCH; b++) {
            size_t at = (b * ROWS + 7) * COLUMNS + b;
            values[at] = (float)at;
        }
        gs_assert_ok(gs_trace_append_state_block(writer, 0, &block, &error), &error);
        gs_assert_ok(gs_trace_writer_close(writer, &error), &error);
        gs_assert_ok(gs_trace_open(path, &trace, &error), &error);
        assert_true(gs_trace_info(trace)->complete);
        float *read = gs_calloc(BATCH * ROWS * COLUMNS, sizeof *read);
        gs_assert_ok(gs_trace_read_state(trace, 0, 0, BATCH * ROWS, read, &error), &error);
        assert_memory_equal(read, values, BATCH * ROWS * COLUMNS * sizeof *read);
        gs_free(read);
        gs_trace_close(trace);
    }
    gs_free(values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunk_rows_of_known_shapes),
        cmocka_unit_test(chunk_rows_of_random_shapes),
        cmocka_unit_test(hostile_shapes),
        cmocka_unit_test(random_shapes),
        cmocka_unit_test(unfinished_traces),
        cmocka_unit_test(closing_an_unfinished_trace),
        cmocka_unit_test(outputs_that_exist),
        cmocka_unit_test(too_little_space),
        cmocka_unit_test(planned_size),
        cmocka_unit_test(space_is_taken_at_once),
        cmocka_unit_test(chunks_in_the_file),
        cmocka_unit_test(values_a_trace_may_not_hold),
        cmocka_unit_test(first_of_many_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
