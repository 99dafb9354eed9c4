/* Rows straight between memory and the file: what the library itself reads and writes, in every
 * shape and type; and damaged indexes of chunks, which must never reach the library. */
#include "core/base/memory.h"
#include "core/base/random.h"
#include "probes/trace/hdf5_file.h"
#include "tests/support/support.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static struct gs_error error;
static struct gs_random random_numbers;

static size_t below(size_t limit) {
    return (size_t)gs_random_below(&random_numbers, limit);
}

/* ---- a file of one dataset ---- */

struct shape {
    enum gs_h5_type type;
    bool big_endian;
    size_t rows, width, chunk_rows;
    int deflate;
};

/* Elements from 0 on, exact in every type. */
static void fill(const struct shape *shape, size_t first, size_t rows, void *values) {
    for (size_t i = 0; i < rows * shape->width; i++) {
        size_t number = (first * shape->width + i) % 2000;
        if (shape->type == GS_H5_F32) ((float *)values)[i] = (float)number - 7;
        if (shape->type == GS_H5_U32) ((uint32_t *)values)[i] = (uint32_t)number;
        if (shape->type == GS_H5_U16) ((uint16_t *)values)[i] = (uint16_t)number;
    }
}

static struct gs_h5_data *begin(const char *path, const struct shape *shape, struct gs_h5 **file) {
    struct gs_h5_data *data;
    struct gs_h5_spec spec = {.type = shape->type,
                              .big_endian = shape->big_endian,
                              .rank = 2,
                              .dims = {shape->rows, shape->width},
                              .chunk_rows = shape->chunk_rows,
                              .deflate = shape->deflate};
    unlink(path);
    gs_assert_ok(gs_h5_create(path, file, &error), &error);
    gs_assert_ok(gs_h5_data_create(*file, "a/rows", &spec, &data, &error), &error);
    return data;
}

static void write_rows(struct gs_h5_data *data, const struct shape *shape, size_t first,
                       size_t rows) {
    uint32_t *values = gs_calloc(rows * shape->width + 1, sizeof *values);
    fill(shape, first, rows, values);
    gs_assert_ok(gs_h5_data_write(data, first, rows, shape->type, values, &error), &error);
    gs_free(values);
}

static const char *make(const char *name, const struct shape *shape) {
    const char *path = gs_scratch_path("%s", name);
    struct gs_h5 *file;
    struct gs_h5_data *data = begin(path, shape, &file);
    write_rows(data, shape, 0, shape->rows);
    gs_h5_data_close(data);
    gs_assert_ok(gs_h5_close(file, &error), &error);
    return path;
}

/* ---- reading ---- */

/* A range of rows both ways: as the caller gets them, and by the library's conversion. */
static void compare(struct gs_h5_data *data, const struct shape *shape, size_t first, size_t rows) {
    size_t count = rows * shape->width;
    void *values = gs_calloc(count + 1, 8), *wide = gs_calloc(count + 1, 8);
    enum gs_status status;
    if (shape->type == GS_H5_F32)
        status = gs_h5_data_f32(data, first, rows, values, &error);
    else if (shape->type == GS_H5_U32)
        status = gs_h5_data_u32(data, first, rows, values, &error);
    else
        status = gs_h5_data_u16(data, first, rows, values, &error);
    gs_assert_ok(status, &error);
    gs_assert_ok(gs_h5_data_f64(data, first, rows, wide, &error), &error);
    for (size_t i = 0; i < count; i++) {
        double value = shape->type == GS_H5_F32   ? (double)((float *)values)[i]
                       : shape->type == GS_H5_U32 ? (double)((uint32_t *)values)[i]
                                                  : (double)((uint16_t *)values)[i];
        if (value == ((double *)wide)[i]) continue;
        print_error("row %zu + %zu of %zu x %zu: %g, the library has %g\n", first, i / shape->width,
                    shape->rows, shape->width, value, ((double *)wide)[i]);
        fail();
    }
    gs_free(values);
    gs_free(wide);
}

static void rows_in_every_shape(void **state) {
    (void)state;
    static const enum gs_h5_type types[] = {GS_H5_F32, GS_H5_U32, GS_H5_U16};
    gs_random_seed(&random_numbers, 5, "test/direct");
    for (int n = 0; n < 80; n++) {
        struct shape shape = {.type = types[below(3)],
                              .big_endian = below(4) == 0,
                              .rows = 1 + below(n % 10 == 0 ? 20000 : 300),
                              .width = 1 + below(20),
                              .deflate = below(4) == 0 ? 1 : 0};
        shape.chunk_rows = below(5) == 0 ? 0 : 1 + below(shape.rows < 50 ? shape.rows : 50);
        if (shape.chunk_rows == 0) shape.deflate = 0;
        struct gs_h5 *file;
        struct gs_h5_data *data;
        gs_assert_ok(gs_h5_open(make("shape.h5", &shape), &file, &error), &error);
        gs_assert_ok(gs_h5_data_open(file, "a/rows", &data, &error), &error);
        assert_false(gs_h5_data_shape(data)->holes);
        assert_int_equal(gs_h5_data_is_direct(data), !shape.big_endian && shape.deflate == 0);
        compare(data, &shape, 0, shape.rows);
        for (int range = 0; range < 5; range++) {
            size_t first = below(shape.rows);
            compare(data, &shape, first, below(shape.rows - first + 1));
        }
        gs_assert_error(gs_h5_data_f64(data, shape.rows, 1, &(double){0}, &error), GS_RANGE, &error,
                        "shape.h5", "a/rows");
        gs_h5_data_close(data);
        gs_assert_ok(gs_h5_close(file, &error), &error);
    }
}

/* ---- writing ---- */

/* Chunks to their places in any order and by many threads; what is not written stays zero. */
static void chunks_go_to_their_places(void **state) {
    (void)state;
    struct shape shape = {.type = GS_H5_F32, .rows = 7001, .width = 3, .chunk_rows = 10};
    const char *path = gs_scratch_path("written.h5");
    struct gs_h5 *file;
    struct gs_h5_data *data = begin(path, &shape, &file);
    assert_false(gs_h5_data_is_direct(data));
    gs_assert_ok(gs_h5_flush(file, &error), &error);
    gs_h5_data_locate(data);
    assert_true(gs_h5_data_is_direct(data));
    int failed = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : failed)
    for (size_t chunk = 0; chunk < 701; chunk++) {
        size_t at = chunk * 37 % 701, rows = at == 700 ? 1 : 10;
        float values[30];
        fill(&shape, at * 10, rows, values);
        if (at == 5) continue;
        failed += gs_h5_data_write(data, at * 10, rows, GS_H5_F32, values, NULL) != GS_OK;
    }
    assert_int_equal(failed, 0);
    gs_h5_data_close(data);
    gs_assert_ok(gs_h5_close(file, &error), &error);
    gs_assert_ok(gs_h5_open(path, &file, &error), &error);
    gs_assert_ok(gs_h5_data_open(file, "a/rows", &data, &error), &error);
    compare(data, &shape, 0, shape.rows);
    float *values = gs_calloc(shape.rows * 3, sizeof *values);
    gs_assert_ok(gs_h5_data_f32(data, 0, shape.rows, values, &error), &error);
    for (size_t i = 0; i < shape.rows * 3; i++)
        assert_true(values[i] == (i / 30 == 5 ? 0 : (float)(i % 2000) - 7));
    gs_free(values);
    gs_h5_data_close(data);
    gs_h5_close(file, NULL);
}

/* Runs of whole chunks, each from a place of its own, whether the library writes them or not. */
static void runs_of_chunks(void **state) {
    (void)state;
    gs_random_seed(&random_numbers, 6, "test/direct");
    for (int n = 0; n < 60; n++) {
        struct shape shape = {.type = GS_H5_F32,
                              .rows = 1 + below(3000),
                              .width = 1 + below(5),
                              .deflate = n % 4 == 0 ? 1 : 0};
        shape.chunk_rows = 1 + below(shape.rows < 20 ? shape.rows : 20);
        const size_t chunks = (shape.rows + shape.chunk_rows - 1) / shape.chunk_rows;
        const char *path = gs_scratch_path("runs.h5");
        struct gs_h5 *file;
        struct gs_h5_data *data = begin(path, &shape, &file);
        if (n % 3) {
            gs_assert_ok(gs_h5_flush(file, &error), &error);
            gs_h5_data_locate(data);
        }
        for (size_t first = 0, count; first < chunks; first += count) {
            const void *values[200];
            count = 1 + below(chunks - first < 200 ? chunks - first : 200);
            for (size_t i = 0; i < count; i++) {
                float *one = gs_calloc(shape.chunk_rows * shape.width, sizeof *one);
                fill(&shape, (first + i) * shape.chunk_rows, shape.chunk_rows, one);
                values[i] = one;
            }
            gs_assert_ok(gs_h5_data_write_chunks(data, first, count, GS_H5_F32, values, &error),
                         &error);
            for (size_t i = 0; i < count; i++) gs_free((void *)(uintptr_t)values[i]);
        }
        gs_h5_data_close(data);
        gs_assert_ok(gs_h5_close(file, &error), &error);
        gs_assert_ok(gs_h5_open(path, &file, &error), &error);
        gs_assert_ok(gs_h5_data_open(file, "a/rows", &data, &error), &error);
        float *values = gs_calloc(shape.rows * shape.width, sizeof *values);
        gs_assert_ok(gs_h5_data_f32(data, 0, shape.rows, values, &error), &error);
        for (size_t i = 0; i < shape.rows * shape.width; i++)
            assert_true(values[i] == (float)(i % 2000) - 7);
        gs_free(values);
        gs_h5_data_close(data);
        gs_h5_close(file, NULL);
    }
}

/* More chunks than one call takes, into a file that may not grow so far. */
static void a_failed_run_of_chunks(void **state) {
    (void)state;
    enum { CHUNKS = 200 };
    struct shape shape = {.type = GS_H5_F32, .rows = CHUNKS, .width = 1000, .chunk_rows = 1};
    const char *path = gs_scratch_path("failed.h5");
    struct gs_h5 *file;
    struct gs_h5_data *data = begin(path, &shape, &file);
    const void *values[CHUNKS];
    float *one = gs_calloc(shape.width, sizeof *one);
    for (size_t i = 0; i < CHUNKS; i++) values[i] = one;
    gs_assert_ok(gs_h5_flush(file, &error), &error);
    gs_h5_data_locate(data);
    struct rlimit before, limit = {4096, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    enum gs_status status = gs_h5_data_write_chunks(data, 0, CHUNKS, GS_H5_F32, values, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    gs_assert_error(status, GS_IO, &error, path, "a/rows", strerror(EFBIG));
    gs_free(one);
    gs_h5_data_close(data);
    gs_h5_close(file, NULL);
}

/* A file is not read past its end: the dataset then has holes, and the library says so. */
static void files_that_end_early(void **state) {
    (void)state;
    struct shape shape = {.type = GS_H5_F32, .rows = 1000, .width = 16, .chunk_rows = 100};
    const char *path = make("short.h5", &shape);
    struct gs_h5 *file;
    struct gs_h5_data *data;
    gs_assert_ok(gs_h5_open(path, &file, &error), &error);
    gs_assert_ok(gs_h5_data_open(file, "a/rows", &data, &error), &error);
    assert_int_equal(truncate(path, 30000), 0); /* while it is open */
    float *values = gs_calloc(16000, sizeof *values);
    gs_assert_error(gs_h5_data_f32(data, 0, 1000, values, &error), GS_IO, &error, "short.h5",
                    "a/rows", "1000 rows");
    gs_free(values);
    gs_h5_data_close(data);
    gs_h5_close(file, NULL);
}

/* ---- damaged indexes ---- */

enum { NODE_HEAD = 24, NODES = 256, MUTATIONS = 600 };

struct bytes {
    unsigned char *at;
    size_t size;
};

static struct bytes read_file(const char *path) {
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    fseek(stream, 0, SEEK_END);
    struct bytes bytes = {NULL, (size_t)ftell(stream)};
    rewind(stream);
    bytes.at = gs_calloc(bytes.size, 1);
    assert_int_equal(fread(bytes.at, 1, bytes.size, stream), bytes.size);
    fclose(stream);
    return bytes;
}

/* The nodes of indexes of chunks. */
static size_t find_nodes(const struct bytes *bytes, size_t *nodes) {
    size_t count = 0;
    for (size_t at = 0; at + NODE_HEAD <= bytes->size && count < NODES; at++)
        if (memcmp(bytes->at + at, "TREE\1", 5) == 0) nodes[count++] = at;
    return count;
}

/* Opens and reads all of it; whether that went well. */
static bool survives(const char *path, size_t rows, size_t width) {
    struct gs_h5 *file;
    struct gs_h5_data *data;
    if (gs_h5_open(path, &file, &error) != GS_OK) return false;
    enum gs_status status = gs_h5_data_open(file, "a/rows", &data, &error);
    if (status == GS_OK) {
        float *values = gs_calloc(rows * width, sizeof *values);
        status = gs_h5_data_f32(data, 0, rows, values, &error);
        gs_free(values);
        gs_h5_data_close(data);
    }
    gs_h5_close(file, NULL);
    return status == GS_OK;
}

static void patch(const char *path, size_t at, const void *bytes, size_t count) {
    FILE *stream = fopen(path, "r+b");
    assert_non_null(stream);
    assert_int_equal(fseek(stream, (long)at, SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, 1, count, stream), count);
    assert_int_equal(fclose(stream), 0);
}

static void mutate(int deflate) {
    struct shape shape = {
        .type = GS_H5_F32, .rows = 1000, .width = 2, .chunk_rows = 2, .deflate = deflate};
    const char *path = make(deflate ? "packed.h5" : "plain.h5", &shape);
    struct bytes whole = read_file(path);
    size_t nodes[NODES], count = find_nodes(&whole, nodes), refused = 0;
    assert_true(count > 6); /* more than one level */
    assert_true(survives(path, shape.rows, shape.width));
    for (int n = 0; n < MUTATIONS; n++) {
        /* heads more often than their share; then some key or child */
        size_t inside = below(3) == 0 ? below(NODE_HEAD) : below(2096);
        size_t at = nodes[below(count)] + inside, size = below(2) ? 1 : 8;
        if (at + size > whole.size) continue;
        uint64_t numbers[] = {0,
                              1,
                              255,
                              UINT64_MAX,
                              whole.size,
                              below(whole.size),
                              nodes[below(count)],
                              nodes[below(count)] + 8};
        patch(path, at, &numbers[below(8)], size);
        refused += !survives(path, shape.rows, shape.width);
        patch(path, at, whole.at + at, size);
    }
    print_message("%zu of %d mutations refused\n", refused, MUTATIONS);
    assert_true(refused > MUTATIONS / 4);
    assert_true(survives(path, shape.rows, shape.width));
    gs_free(whole.at);
}

static void damaged_indexes(void **state) {
    (void)state;
    gs_random_seed(&random_numbers, 6, "test/indexes");
    mutate(0);
    mutate(1);
}

/* A tree that bites its tail, a node counted twice, a level that does not fall: by name. */
static void circles(void **state) {
    (void)state;
    struct shape shape = {.type = GS_H5_F32, .rows = 6000, .width = 2, .chunk_rows = 2};
    const char *path = make("circle.h5", &shape);
    struct bytes whole = read_file(path);
    size_t nodes[NODES] = {0}, count = find_nodes(&whole, nodes), root = 0;
    for (size_t i = 0; i < count; i++)
        if (whole.at[nodes[i] + 5] > whole.at[nodes[root] + 5]) root = i;
    uint64_t address = nodes[root];
    size_t child = nodes[root] + NODE_HEAD + 8 + 24; /* behind the first key */
    struct gs_h5 *file;
    struct gs_h5_data *data;
    patch(path, child, &address, 8);
    gs_assert_ok(gs_h5_open(path, &file, &error), &error);
    gs_assert_error(gs_h5_data_open(file, "a/rows", &data, &error), GS_FORMAT, &error, "circle.h5",
                    "a/rows", "damaged index");
    gs_h5_close(file, NULL);
    gs_free(whole.at);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_in_every_shape),
        cmocka_unit_test(chunks_go_to_their_places),
        cmocka_unit_test(runs_of_chunks),
        cmocka_unit_test(a_failed_run_of_chunks),
        cmocka_unit_test(files_that_end_early),
        cmocka_unit_test(damaged_indexes),
        cmocka_unit_test(circles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
