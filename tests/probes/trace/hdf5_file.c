/* The HDF5 face: what goes in comes out, in every type and byte order, and what is refused is
 * refused by name. */
#include "probes/trace/hdf5_file.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "probes/trace/narrow.h"
#include "tests/support/support.h"

#include <fcntl.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct gs_error error;

static struct gs_h5 *create(const char *name, const char **path) {
    struct gs_h5 *file;
    *path = gs_scratch_path("%s", name);
    unlink(*path);
    gs_assert_ok(gs_h5_create(*path, &file, &error), &error);
    return file;
}

static struct gs_h5 *reopen(struct gs_h5 *file, const char *path) {
    gs_assert_ok(gs_h5_close(file, &error), &error);
    gs_assert_ok(gs_h5_open(path, &file, &error), &error);
    return file;
}

static void texts_and_numbers(void **state) {
    (void)state;
    const char *path;
    struct gs_h5 *file = create("attributes.h5", &path);
    char *big = gs_calloc(100001, 1), *text;
    memset(big, 'x', 100000);
    int64_t whole = 5;
    double real = 5;
    bool found;
    gs_assert_ok(gs_h5_set_text(file, "/", "plain", "α ≤ 1", &error), &error);
    gs_assert_ok(gs_h5_set_text(file, "/", "empty", "", &error), &error);
    gs_assert_ok(gs_h5_set_text(file, "/", "big", big, &error), &error);
    gs_assert_ok(gs_h5_group_create(file, "a/b", &error), &error);
    gs_assert_ok(gs_h5_set_text(file, "a/b", "plain", "first", &error), &error);
    gs_assert_ok(gs_h5_set_text(file, "a/b", "plain", "second, longer", &error), &error);
    gs_assert_ok(gs_h5_set_integer(file, "/", "whole", -3, &error), &error);
    gs_assert_ok(gs_h5_set_integer(file, "/", "whole", INT64_MAX, &error), &error);
    gs_assert_ok(gs_h5_set_number(file, "/", "real", 0.1, &error), &error);
    gs_assert_ok(gs_h5_set_number(file, "/", "even", 4.0, &error), &error);
    file = reopen(file, path);
    gs_assert_ok(gs_h5_text(file, "/", "plain", &text, &error), &error);
    assert_string_equal(text, "α ≤ 1");
    gs_free(text);
    gs_assert_ok(gs_h5_text(file, "/", "empty", &text, &error), &error);
    assert_string_equal(text, "");
    gs_free(text);
    gs_assert_ok(gs_h5_text(file, "/", "big", &text, &error), &error);
    assert_string_equal(text, big);
    gs_free(text);
    gs_assert_ok(gs_h5_text(file, "a/b", "plain", &text, &error), &error);
    assert_string_equal(text, "second, longer");
    gs_free(text);
    gs_assert_ok(gs_h5_text(file, "/", "absent", &text, &error), &error);
    assert_null(text);
    gs_assert_ok(gs_h5_integer(file, "/", "whole", &whole, &found, &error), &error);
    assert_true(found && whole == INT64_MAX);
    gs_assert_ok(gs_h5_integer(file, "/", "even", &whole, &found, &error), &error);
    assert_true(found && whole == 4);
    gs_assert_ok(gs_h5_number(file, "/", "real", &real, &found, &error), &error);
    assert_true(found && real == 0.1);
    gs_assert_ok(gs_h5_integer(file, "/", "absent", &whole, &found, &error), &error);
    assert_false(found);
    gs_assert_error(gs_h5_integer(file, "/", "real", &whole, &found, &error), GS_FORMAT, &error,
                    path, "real", "whole number");
    gs_assert_error(gs_h5_integer(file, "/", "plain", &whole, &found, &error), GS_FORMAT, &error,
                    path, "plain");
    gs_assert_error(gs_h5_text(file, "/", "whole", &text, &error), GS_FORMAT, &error, path,
                    "whole");
    gs_h5_close(file, NULL);
    gs_free(big);
}

/* All halves and random floats through every type and byte order. */
static void floats_in_every_type(void **state) {
    (void)state;
    enum { ROWS = 512, WIDTH = 128 };
    static uint16_t bits[ROWS * WIDTH];
    static float values[ROWS * WIDTH], back[ROWS * WIDTH];
    static double wide[ROWS * WIDTH], wide_back[ROWS * WIDTH];
    for (size_t i = 0; i < ROWS * WIDTH; i++) {
        bits[i] = (uint16_t)i;
        values[i] = gs_f16_to_f32((uint16_t)i);
        wide[i] = (double)values[i];
    }
    const struct {
        enum gs_h5_type type;
        const void *data;
        const char *name;
    } types[] = {
        {GS_H5_F16, bits, "float16"}, {GS_H5_F32, values, "float32"}, {GS_H5_F64, wide, "float64"}};
    for (int type = 0; type < 3; type++)
        for (int variant = 0; variant < 8; variant++) {
            const char *path;
            struct gs_h5 *file = create("floats.h5", &path);
            struct gs_h5_spec spec = {.type = types[type].type, .rank = 2, .dims = {ROWS, WIDTH}};
            spec.big_endian = variant & 1;
            spec.chunk_rows = variant & 2 ? 100 : 0; /* does not divide */
            spec.deflate = variant & 4 ? 1 : 0;
            struct gs_h5_data *data;
            gs_assert_ok(gs_h5_data_create(file, "x/y", &spec, &data, &error), &error);
            gs_assert_ok(gs_h5_data_write(data, 0, ROWS, spec.type, types[type].data, &error),
                         &error);
            gs_h5_data_close(data);
            file = reopen(file, path);
            gs_assert_ok(gs_h5_data_open(file, "x/y", &data, &error), &error);
            const struct gs_h5_shape *shape = gs_h5_data_shape(data);
            assert_string_equal(shape->type_name, types[type].name);
            assert_int_equal(shape->rank, 2);
            assert_int_equal(shape->count, ROWS * WIDTH);
            assert_int_equal(shape->row, WIDTH);
            assert_int_equal(shape->chunk_rows, spec.chunk_rows);
            assert_false(shape->holes);
            memset(back, 0x5a, sizeof back);
            gs_assert_ok(gs_h5_data_f32(data, 0, ROWS, back, &error), &error);
            gs_assert_ok(gs_h5_data_f64(data, 0, ROWS, wide_back, &error), &error);
            for (size_t i = 0; i < ROWS * WIDTH; i++) {
                if (isnan(values[i]))
                    assert_true(isnan(back[i]) && isnan(wide_back[i]));
                else
                    assert_true(back[i] == values[i] && wide_back[i] == wide[i]);
            }
            gs_h5_data_close(data);
            gs_h5_close(file, NULL);
        }
}

static void doubles_narrow_as_the_compiler_does(void **state) {
    (void)state;
    double wide[6] = {0.1, 1e39, -1e39, 1e-46, 3.4028235677973366e38, 1.0 / 3};
    float back[6];
    for (int big = 0; big < 2; big++) {
        const char *path;
        struct gs_h5 *file = create("doubles.h5", &path);
        struct gs_h5_spec spec = {
            .type = GS_H5_F64, .big_endian = big == 1, .rank = 1, .dims = {6}};
        struct gs_h5_data *data;
        gs_assert_ok(gs_h5_data_create(file, "x", &spec, &data, &error), &error);
        gs_assert_ok(gs_h5_data_write(data, 0, 6, GS_H5_F64, wide, &error), &error);
        gs_assert_ok(gs_h5_data_f32(data, 0, 6, back, &error), &error);
        assert_true(back[0] == 0.1f && back[5] == (float)(1.0 / 3) && back[3] == 0);
        assert_true(isinf(back[1]) && back[1] > 0 && isinf(back[2]) && back[2] < 0);
        assert_true(isinf(back[4]));
        gs_h5_data_close(data);
        gs_h5_close(file, NULL);
    }
}

static void rows_of_a_dataset(void **state) {
    (void)state;
    enum { ROWS = 57, WIDTH = 3 };
    struct gs_random random;
    gs_random_seed(&random, 11, "test/rows");
    for (size_t chunk = 0; chunk < 60; chunk += 7) {
        const char *path;
        struct gs_h5 *file = create("rows.h5", &path);
        struct gs_h5_spec spec = {
            .type = GS_H5_F32, .rank = 2, .dims = {ROWS, WIDTH}, .chunk_rows = chunk};
        struct gs_h5_data *data;
        float values[ROWS * WIDTH], back[ROWS * WIDTH];
        for (size_t i = 0; i < ROWS * WIDTH; i++) values[i] = (float)gs_random_normal(&random);
        gs_assert_ok(gs_h5_data_create(file, "x", &spec, &data, &error), &error);
        for (size_t first = ROWS; first > 0; first--) /* backwards, one row each */
            gs_assert_ok(gs_h5_data_write(data, first - 1, 1, GS_H5_F32,
                                          values + (first - 1) * WIDTH, &error),
                         &error);
        for (int n = 0; n < 50; n++) {
            size_t first = (size_t)gs_random_below(&random, ROWS + 1);
            size_t rows = (size_t)gs_random_below(&random, ROWS + 1 - first);
            gs_assert_ok(gs_h5_data_f32(data, first, rows, back, &error), &error);
            assert_memory_equal(back, values + first * WIDTH, rows * WIDTH * sizeof *back);
        }
        gs_assert_error(gs_h5_data_f32(data, 50, 8, back, &error), GS_RANGE, &error, path, "x",
                        "57");
        gs_assert_error(gs_h5_data_f32(data, SIZE_MAX, 2, back, &error), GS_RANGE, &error, path);
        gs_h5_data_close(data);
        gs_h5_close(file, NULL);
    }
}

static void integers_do_not_wrap(void **state) {
    (void)state;
    const char *path;
    struct gs_h5 *file = create("integers.h5", &path);
    uint64_t large[3] = {0, UINT32_MAX, (uint64_t)UINT32_MAX + 1};
    int64_t negative[2] = {7, -1};
    uint32_t ids[2] = {65535, 65536}, *small;
    uint64_t *whole;
    size_t three = 3, two = 2, rank, shape[GS_H5_MAX_RANK];
    gs_assert_ok(gs_h5_write(file, "large", GS_H5_U64, 1, &three, large, &error), &error);
    gs_assert_ok(gs_h5_write(file, "negative", GS_H5_I64, 1, &two, negative, &error), &error);
    gs_assert_ok(gs_h5_write(file, "ids", GS_H5_U32, 1, &two, ids, &error), &error);
    gs_assert_ok(gs_h5_read_u64(file, "large", &whole, &rank, shape, &error), &error);
    assert_true(rank == 1 && shape[0] == 3 && whole[2] == large[2]);
    gs_free(whole);
    gs_assert_error(gs_h5_read_u32(file, "large", &small, NULL, NULL, &error), GS_RANGE, &error,
                    path, "large", "row 2", "4294967296");
    gs_assert_error(gs_h5_read_u64(file, "negative", &whole, NULL, NULL, &error), GS_RANGE, &error,
                    path, "negative", "row 1", "-1");
    struct gs_h5_data *data;
    uint16_t bits[2];
    gs_assert_ok(gs_h5_data_open(file, "ids", &data, &error), &error);
    gs_assert_error(gs_h5_data_u16(data, 0, 2, bits, &error), GS_RANGE, &error, "ids", "65536");
    float floats[2];
    gs_assert_error(gs_h5_data_f32(data, 0, 2, floats, &error), GS_FORMAT, &error, "ids", "uint32");
    gs_h5_data_close(data);
    gs_h5_close(file, NULL);
}

static void texts_of_both_kinds(void **state) {
    (void)state;
    const char *texts[3] = {"one", "", "drei ▁ Ω"};
    for (int variable = 0; variable < 2; variable++) {
        const char *path;
        struct gs_h5 *file = create("texts.h5", &path);
        struct gs_h5_data *data;
        char *text;
        gs_assert_ok(gs_h5_write_texts(file, "a/names", texts, 3, variable == 1, &error), &error);
        file = reopen(file, path);
        gs_assert_ok(gs_h5_data_open(file, "a/names", &data, &error), &error);
        for (size_t i = 0; i < 3; i++) {
            gs_assert_ok(gs_h5_data_text(data, i, &text, &error), &error);
            assert_string_equal(text, texts[i]);
            gs_free(text);
        }
        gs_assert_error(gs_h5_data_text(data, 3, &text, &error), GS_RANGE, &error, "a/names");
        gs_h5_data_close(data);
        gs_h5_close(file, NULL);
    }
}

static void names_and_what_they_are(void **state) {
    (void)state;
    const char *path;
    struct gs_h5 *file = create("names.h5", &path);
    enum gs_h5_object object;
    char **names;
    size_t count, none = 0;
    float value = 1;
    gs_assert_ok(gs_h5_write(file, "g/z", GS_H5_F32, 0, &none, &value, &error), &error);
    gs_assert_ok(gs_h5_group_create(file, "g/a/b", &error), &error);
    gs_assert_ok(gs_h5_members(file, "g", &names, &count, &error), &error);
    assert_int_equal(count, 2);
    assert_string_equal(names[0], "a");
    assert_string_equal(names[1], "z");
    gs_free_names(names, count);
    const struct {
        const char *name;
        enum gs_h5_object object;
    } cases[] = {{"/", GS_H5_GROUP},     {"g", GS_H5_GROUP},  {"/g/a/b", GS_H5_GROUP},
                 {"g/z", GS_H5_DATASET}, {"h", GS_H5_ABSENT}, {"g/z/inside", GS_H5_ABSENT},
                 {"h/x/y", GS_H5_ABSENT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gs_assert_ok(gs_h5_look(file, cases[i].name, &object, &error), &error);
        assert_int_equal(object, cases[i].object);
    }
    struct gs_h5_data *data;
    gs_assert_error(gs_h5_data_open(file, "g/a", &data, &error), GS_FORMAT, &error, path, "g/a",
                    "group");
    gs_assert_error(gs_h5_data_open(file, "g/q", &data, &error), GS_MISSING, &error, path, "g/q");
    gs_h5_close(file, NULL);
}

static void files_that_cannot_be_opened(void **state) {
    (void)state;
    struct gs_h5 *file;
    const char *path = gs_scratch_file("text.h5", "not one", 7);
    gs_assert_error(gs_h5_open(path, &file, &error), GS_FORMAT, &error, path, "not an HDF5 file");
    path = gs_scratch_file("empty.h5", "", 0);
    gs_assert_error(gs_h5_open(path, &file, &error), GS_FORMAT, &error, path);
    path = gs_scratch_file("signature.h5", "\x89HDF\r\n\x1a\n", 8);
    gs_assert_error(gs_h5_open(path, &file, &error), GS_FORMAT, &error, path);
    path = gs_scratch_path("absent.h5");
    gs_assert_error(gs_h5_open(path, &file, &error), GS_MISSING, &error, path);
    gs_assert_error(gs_h5_open(gs_scratch_folder(), &file, &error), GS_IO, &error,
                    gs_scratch_folder());
    path = gs_scratch_path("no/such/folder.h5");
    gs_assert_error(gs_h5_create(path, &file, &error), GS_MISSING, &error, path);
    path = gs_scratch_file("there.h5", "precious", 8);
    gs_assert_error(gs_h5_create(path, &file, &error), GS_EXISTS, &error, path);
}

/* Whatever byte the file ends at: a named error, no crash. */
static void truncated_files(void **state) {
    (void)state;
    const char *path;
    struct gs_h5 *file = create("whole.h5", &path);
    float values[3000] = {1};
    size_t count = 3000;
    gs_assert_ok(gs_h5_write(file, "x", GS_H5_F32, 1, &count, values, &error), &error);
    gs_assert_ok(gs_h5_close(file, &error), &error);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    for (off_t length = info.st_size - 1; length > 0; length -= 1 + length / 9) {
        assert_int_equal(truncate(path, length), 0);
        enum gs_status status = gs_h5_open(path, &file, &error);
        if (status != GS_OK) {
            gs_assert_error(status, GS_FORMAT, &error, path);
            continue;
        }
        float *read;
        gs_assert_error(gs_h5_read_f32(file, "x", &read, NULL, NULL, &error), GS_FORMAT, &error,
                        path, "x");
        gs_h5_close(file, NULL);
    }
}

/* Files of others (fixtures/traces/make.py) that are refused. */
static void what_is_refused(void **state) {
    (void)state;
    const struct {
        const char *file, *dataset;
        const char *words[3];
    } cases[] = {
        {"external_link.h5", "state/predicted", {"external link", "h5repack", "state/predicted"}},
        {"external_group.h5", "state/predicted", {"external link", "state", "inside"}},
        {"external_storage.h5", "state/predicted", {"external storage", "inside", "predicted"}},
        {"virtual.h5", "state/predicted", {"virtual", "inside", "predicted"}},
        {"lzf.h5", "state/predicted", {"lzf", "32000", "gzip"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char relative[128];
        struct gs_h5 *file;
        struct gs_h5_data *data;
        snprintf(relative, sizeof relative, "fixtures/traces/%s", cases[i].file);
        gs_assert_ok(gs_h5_open(gs_source_path(relative), &file, &error), &error);
        gs_assert_error(gs_h5_data_open(file, cases[i].dataset, &data, &error), GS_UNSUPPORTED,
                        &error, cases[i].file, cases[i].words[0], cases[i].words[1],
                        cases[i].words[2]);
        gs_h5_close(file, NULL);
    }
}

static void holes_are_seen(void **state) {
    (void)state;
    struct gs_h5 *file;
    struct gs_h5_data *data;
    gs_assert_ok(gs_h5_open(gs_source_path("fixtures/traces/holes.h5"), &file, &error), &error);
    gs_assert_ok(gs_h5_data_open(file, "state/predicted", &data, &error), &error);
    assert_true(gs_h5_data_shape(data)->holes);
    gs_h5_data_close(data);
    float *values;
    gs_assert_error(gs_h5_read_f32(file, "state/predicted", &values, NULL, NULL, &error), GS_FORMAT,
                    &error, "holes.h5", "never stored");
    gs_h5_close(file, NULL);
}

/* Nothing is printed about a failure, whichever thread meets it. */
static void failures_in_another_thread(void **state) {
    (void)state;
    const char *path, *said = gs_scratch_path("said.txt");
    struct gs_h5 *file = create("thread.h5", &path);
    const size_t rows = 4;
    const uint64_t numbers[4] = {1, 2, 3, 4};
    struct gs_h5_data *data;
    struct stat printed;
    enum gs_status status = GS_OK;
    gs_assert_ok(gs_h5_write(file, "numbers", GS_H5_U64, 1, &rows, numbers, &error), &error);
    file = reopen(file, path); /* to read only: a write fails */
    gs_assert_ok(gs_h5_data_open(file, "numbers", &data, &error), &error);
    int kept = dup(STDERR_FILENO), to = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(kept >= 0 && to >= 0 && dup2(to, STDERR_FILENO) >= 0);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == omp_get_num_threads() - 1)
        status = gs_h5_data_write(data, 0, rows, GS_H5_U64, numbers, &error);
    fflush(stderr);
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    close(to);
    gs_assert_error(status, GS_IO, &error, path, "numbers", "no write intent");
    assert_int_equal(stat(said, &printed), 0);
    assert_int_equal(printed.st_size, 0);
    gs_h5_data_close(data);
    gs_h5_close(file, NULL);
}

/* A lock that somebody else holds: the words say what to do. */
static void locked_files(void **state) {
    (void)state;
    const char *path;
    struct gs_h5 *writer = create("locked.h5", &path);
    gs_assert_ok(gs_h5_flush(writer, &error), &error);
    char command[1024], line[2048] = "";
    const char *bin = getenv("GS_BIN");
    if (!bin) skip();
    snprintf(command, sizeof command, "'%s/gpnscope-info' '%s' 2>&1", bin, path);
    FILE *child = popen(command, "r");
    assert_non_null(child);
    size_t length = fread(line, 1, sizeof line - 1, child);
    line[length] = '\0';
    int result = pclose(child);
    gs_h5_close(writer, NULL);
    if (strstr(line, "not found")) skip();
    if (WIFEXITED(result) && WEXITSTATUS(result) == 3 && strstr(line, "HDF5_USE_FILE_LOCKING"))
        return;
    print_error("%s\n", line);
    fail();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_and_numbers),
        cmocka_unit_test(floats_in_every_type),
        cmocka_unit_test(doubles_narrow_as_the_compiler_does),
        cmocka_unit_test(rows_of_a_dataset),
        cmocka_unit_test(integers_do_not_wrap),
        cmocka_unit_test(texts_of_both_kinds),
        cmocka_unit_test(names_and_what_they_are),
        cmocka_unit_test(files_that_cannot_be_opened),
        cmocka_unit_test(truncated_files),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(holes_are_seen),
        cmocka_unit_test(failures_in_another_thread),
        cmocka_unit_test(locked_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
