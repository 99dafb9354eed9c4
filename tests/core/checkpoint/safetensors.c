/* Good safetensors files: what is written is read again, what others write is read, all exact. */
#include "tests/support/support.h"

#include "core/base/file.h"
#include "core/base/random.h"
#include "core/checkpoint/float_formats.h"
#include "core/checkpoint/safetensors.h"
#include "core/checkpoint/tensor_file.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static struct gs_tensor declare(const char *name, size_t rows, size_t columns) {
    struct gs_tensor tensor = {.rank = columns ? 2 : 1, .shape = {rows, columns}};
    snprintf(tensor.name, sizeof tensor.name, "%s", name);
    return tensor;
}

static struct gs_parameters *make_parameters(uint64_t seed) {
    struct gs_tensor tensors[] = {declare("embedding", 31, 7), declare("norm_w", 7, 0),
                                  declare("odd \"name\" ▁", 1, 0), declare("L0_w", 4099, 3)};
    struct gs_parameters *parameters = NULL;
    struct gs_error error = {0};
    gs_assert_ok(gs_parameters_create(tensors, 4, &parameters, &error), &error);
    struct gs_random random;
    gs_random_seed(&random, seed, "test");
    for (size_t t = 0; t < 4; t++)
        for (size_t i = 0; i < parameters->tensors[t].count; i++)
            parameters->tensors[t].values[i] = (float)gs_random_normal(&random);
    /* values that a text format or a careless widening would lose */
    float *values = parameters->tensors[0].values;
    values[0] = -0.0f, values[1] = 1e-45f, values[2] = NAN, values[3] = -INFINITY;
    return parameters;
}

static void test_round_trip(void **state) {
    (void)state;
    struct gs_error error = {0};
    struct gs_parameters *written = make_parameters(5);
    const char *path = gs_scratch_path("round.safetensors");
    const char *metadata[] = {"gpnscope.config", "{\"kind\": \"x\"}", "note", "▁ \"quoted\"\n",
                              NULL};
    gs_assert_ok(gs_safetensors_write(path, false, written, metadata, &error), &error);

    struct gs_safetensors *file = NULL;
    gs_assert_ok(gs_safetensors_open(path, &file, &error), &error);
    assert_int_equal(gs_safetensors_count(file), 4);
    assert_string_equal(gs_safetensors_metadata(file, "gpnscope.config"), metadata[1]);
    assert_string_equal(gs_safetensors_metadata(file, "note"), metadata[3]);
    assert_null(gs_safetensors_metadata(file, "absent"));
    assert_null(gs_safetensors_find(file, "absent"));
    assert_null(gs_safetensors_find(file, "__metadata__"));
    assert_null(gs_safetensors_at(file, 4));
    for (size_t t = 0; t < 4; t++) {
        const struct gs_tensor *tensor = &written->tensors[t];
        const struct gs_safetensors_entry *entry = gs_safetensors_find(file, tensor->name);
        assert_non_null(entry);
        assert_ptr_equal(entry, gs_safetensors_at(file, t));
        assert_int_equal(entry->dtype, GS_F32);
        assert_int_equal(entry->rank, tensor->rank);
        assert_memory_equal(entry->shape, tensor->shape, tensor->rank * sizeof(size_t));
        assert_int_equal(entry->count, tensor->count);
        float *values = malloc(tensor->count * sizeof *values);
        gs_assert_ok(gs_safetensors_read(file, entry, values, &error), &error);
        assert_memory_equal(values, tensor->values, tensor->count * sizeof *values);
        free(values);
    }
    gs_safetensors_close(file);
    gs_parameters_destroy(written);
}

/* The data begins at a multiple of 8, whatever the header's length. */
static void test_alignment(void **state) {
    (void)state;
    struct gs_error error = {0};
    struct gs_parameters *written = make_parameters(6);
    for (int length = 0; length < 9; length++) {
        char note[16] = "";
        memset(note, 'n', (size_t)length);
        const char *metadata[] = {"note", note, NULL};
        const char *path = gs_scratch_path("aligned_%d.safetensors", length);
        gs_assert_ok(gs_safetensors_write(path, false, written, metadata, &error), &error);
        unsigned char start[8];
        FILE *stream = fopen(path, "rb");
        assert_non_null(stream);
        assert_int_equal(fread(start, 1, 8, stream), 8);
        fclose(stream);
        assert_int_equal(gs_load_u64(start) % 8, 0);
    }
    gs_parameters_destroy(written);
}

static void test_existing_output(void **state) {
    (void)state;
    struct gs_error error = {0};
    struct gs_parameters *written = make_parameters(7);
    const char *path = gs_scratch_file("there.safetensors", "old", 3);
    gs_assert_error(gs_safetensors_write(path, false, written, NULL, &error), GS_EXISTS, &error,
                    "there.safetensors");
    gs_assert_ok(gs_safetensors_write(path, true, written, NULL, &error), &error);
    struct gs_safetensors *file = NULL;
    gs_assert_ok(gs_safetensors_open(path, &file, &error), &error);
    gs_safetensors_close(file);
    const char *nowhere = gs_scratch_path("no/such/folder/a.safetensors");
    gs_assert_error(gs_safetensors_write(nowhere, false, written, NULL, &error), GS_MISSING, &error,
                    "no/such/folder");
    gs_parameters_destroy(written);
}

/* A write that the system refuses (here a limit of the file size) says which file and why, and
 * leaves what was there, and nothing beside it. */
static void test_failed_write(void **state) {
    (void)state;
    struct gs_error error = {0};
    struct gs_parameters *written = make_parameters(8);
    const char *path = gs_scratch_path("limited/kept.safetensors");
    gs_assert_ok(gs_folder_create(gs_scratch_path("limited"), &error), &error);
    gs_scratch_file("limited/kept.safetensors", "old", 3);
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    const struct rlimit small = {20000, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    enum gs_status status = gs_safetensors_write(path, true, written, NULL, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    gs_assert_error(status, GS_IO, &error, "kept.safetensors", "File too large");
    char **names = NULL;
    size_t count = 0;
    gs_assert_ok(gs_folder_list(gs_scratch_path("limited"), &names, &count, &error), &error);
    assert_int_equal(count, 1);
    gs_free_names(names, count);
    struct gs_mapped_file kept;
    gs_assert_ok(gs_file_map(path, &kept, &error), &error);
    assert_int_equal(kept.size, 3);
    gs_file_unmap(&kept);
    gs_parameters_destroy(written);
}

/* A file of others: tensors out of order in the header, an empty one, a scalar, every float. */
static void test_foreign_file(void **state) {
    (void)state;
    static const char header[] =
        "{\"last\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[13,29]},"
        "\"scalar\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]},"
        "\"none\":{\"dtype\":\"F32\",\"shape\":[3,0],\"data_offsets\":[4,4]},"
        "\"huge "
        "none\":{\"dtype\":\"F32\",\"shape\":[4294967296,0,4294967296],\"data_offsets\":[29,29]},"
        "\"half\":{\"dtype\":\"F16\",\"shape\":[2,1],\"data_offsets\":[4,8]},"
        "\"brain\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[8,12]},"
        "\"byte\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[12,13]}}   ";
    static const unsigned char data[] = {
        0,    0,    0xc0, 0x3f, /* 1.5 */
        0x01, 0,    0xff, 0x7b, /* smallest subnormal, 65504 */
        0x80, 0x3f, 0x7f, 0xff, /* 1, and the most negative */
        9,                      /* a byte that puts the rest off grid */
        0,    0,    0,    0,    0, 0, 0xe0, 0xbf, 0, 0, 0, 0, 0, 0, 0xf0, 0x7f /* -0.5, infinity */
    };
    unsigned char bytes[8 + sizeof header - 1 + sizeof data] = {0};
    gs_store_u64(bytes, sizeof header - 1);
    memcpy(bytes + 8, header, sizeof header - 1);
    memcpy(bytes + 8 + sizeof header - 1, data, sizeof data);
    const char *path = gs_scratch_file("foreign.safetensors", bytes, sizeof bytes);
    struct gs_error error = {0};
    struct gs_safetensors *file = NULL;
    gs_assert_ok(gs_safetensors_open(path, &file, &error), &error);
    assert_int_equal(gs_safetensors_count(file), 7);
    assert_string_equal(gs_safetensors_at(file, 0)->name, "scalar");
    assert_string_equal(gs_safetensors_at(file, 1)->name, "none");
    assert_string_equal(gs_safetensors_at(file, 6)->name, "huge none");
    assert_int_equal(gs_safetensors_find(file, "none")->count, 0);
    assert_int_equal(gs_safetensors_find(file, "huge none")->count, 0);
    float values[2] = {0};
    gs_assert_ok(gs_safetensors_read(file, gs_safetensors_find(file, "scalar"), values, &error),
                 &error);
    assert_true(values[0] == 1.5f);
    gs_assert_ok(gs_safetensors_read(file, gs_safetensors_find(file, "half"), values, &error),
                 &error);
    assert_true(values[0] == ldexpf(1, -24) && values[1] == 65504);
    gs_assert_ok(gs_safetensors_read(file, gs_safetensors_find(file, "brain"), values, &error),
                 &error);
    assert_true(values[0] == 1 && values[1] == -gs_float_from_bits(0x7f7f0000));
    gs_assert_ok(gs_safetensors_read(file, gs_safetensors_find(file, "last"), values, &error),
                 &error);
    assert_true(values[0] == -0.5f && isinf(values[1]));
    gs_assert_error(gs_safetensors_read(file, gs_safetensors_find(file, "byte"), values, &error),
                    GS_UNSUPPORTED, &error, "foreign.safetensors", "U8", "byte");
    gs_safetensors_close(file);
}

static void test_double_out_of_range(void **state) {
    (void)state;
    static const char header[] =
        "{\"wide\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]}}";
    unsigned char bytes[8 + sizeof header - 1 + 8] = {0};
    gs_store_u64(bytes, sizeof header - 1);
    memcpy(bytes + 8, header, sizeof header - 1);
    gs_store_u64(bytes + 8 + sizeof header - 1, 0x7e37e43c8800759c); /* 1e300 */
    const char *path = gs_scratch_file("wide.safetensors", bytes, sizeof bytes);
    struct gs_error error = {0};
    struct gs_safetensors *file = NULL;
    float value;
    gs_assert_ok(gs_safetensors_open(path, &file, &error), &error);
    gs_assert_error(gs_safetensors_read(file, gs_safetensors_at(file, 0), &value, &error), GS_RANGE,
                    &error, "wide.safetensors", "1e+300");
    gs_safetensors_close(file);
}

/* Every half there is, against the definition of the formats. */
static void test_halves(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        uint32_t exponent = (bits >> 10) & 31, fraction = bits & 1023;
        double magnitude = exponent == 31 ? (fraction ? NAN : INFINITY)
                           : exponent     ? ldexp(1 + fraction / 1024.0, (int)exponent - 15)
                                          : ldexp(fraction / 1024.0, -14);
        float value = gs_float_from_f16((uint16_t)bits);
        assert_true(isnan(magnitude) ? isnan(value) : fabs((double)value) == magnitude);
        if (!isnan(magnitude)) assert_int_equal(signbit(value) != 0, bits >> 15);

        exponent = (bits >> 7) & 255, fraction = bits & 127;
        magnitude = exponent == 255 ? (fraction ? NAN : INFINITY)
                    : exponent      ? ldexp(1 + fraction / 128.0, (int)exponent - 127)
                                    : ldexp(fraction / 128.0, -126);
        value = gs_float_from_bf16((uint16_t)bits);
        assert_true(isnan(magnitude) ? isnan(value) : fabs((double)value) == magnitude);
        if (!isnan(magnitude)) assert_int_equal(signbit(value) != 0, bits >> 15);
    }
}

/* A header of many megabytes and 60,000 tensors opens at once. */
static void test_large_header(void **state) {
    (void)state;
    enum { COUNT = 60000, ROOM = 160 };
    char *header = malloc((size_t)COUNT * ROOM);
    assert_non_null(header);
    size_t size = 0;
    for (int i = 0; i < COUNT; i++)
        size += (size_t)snprintf(header + size, ROOM,
                                 "%s\"model.layers.%08d.some.long.enough.name.weight\":{\"dtype\":"
                                 "\"U8\",\"shape\":[1],\"data_offsets\":[%d,%d]}",
                                 i ? "," : "{", i, i, i + 1);
    header[size++] = '}';
    unsigned char *bytes = calloc(1, 8 + size + COUNT);
    assert_non_null(bytes);
    gs_store_u64(bytes, size);
    memcpy(bytes + 8, header, size);
    const char *path = gs_scratch_file("large.safetensors", bytes, 8 + size + COUNT);
    free(header);
    free(bytes);
    struct gs_error error = {0};
    struct gs_safetensors *file = NULL;
    gs_assert_ok(gs_safetensors_open(path, &file, &error), &error);
    assert_int_equal(gs_safetensors_count(file), COUNT);
    assert_non_null(
        gs_safetensors_find(file, "model.layers.00031415.some.long.enough.name.weight"));
    gs_safetensors_close(file);
}

/* A file of the safetensors library for Python. */
static void test_python_file(void **state) {
    (void)state;
    const char *path = gs_shared_path("reference/gpnm1/params.safetensors");
    if (!path) skip();
    struct gs_error error = {0};
    struct gs_safetensors *file = NULL;
    gs_assert_ok(gs_safetensors_open(path, &file, &error), &error);
    assert_int_equal(gs_safetensors_find(file, "embedding")->shape[0], 97);
    assert_non_null(strstr(gs_safetensors_metadata(file, "gpnscope.config"), "gpn_m"));
    gs_safetensors_close(file);
}

/* A header of 640, 896, 1,152 or 1,408 bytes has a length that begins as a pickle of protocol 2 to
 * 5 does. Headers of every length up to 1,500 are opened, and told from content. */
static void test_header_like_a_pickle(void **state) {
    (void)state;
    struct gs_error error = {0};
    struct gs_parameters *written = make_parameters(8);
    const char *path = gs_scratch_path("like.safetensors");
    size_t like_pickles = 0;
    for (size_t length = 0; length < 1200; length += 8) {
        char note[1201] = "";
        memset(note, 'n', length);
        const char *metadata[] = {"note", note, NULL};
        gs_assert_ok(gs_safetensors_write(path, true, written, metadata, &error), &error);
        struct gs_mapped_file bytes;
        gs_assert_ok(gs_file_map(path, &bytes, &error), &error);
        like_pickles += bytes.bytes[0] == 0x80 && bytes.bytes[1] >= 2 && bytes.bytes[1] <= 5;
        assert_true(gs_safetensors_recognise(bytes.bytes, bytes.size));
        assert_false(gs_tensor_file_recognise(bytes.bytes, bytes.size));
        assert_false(gs_safetensors_recognise(bytes.bytes, 9));
        gs_file_unmap(&bytes);
        struct gs_tensor_file *file = NULL;
        gs_assert_ok(gs_tensor_file_open(path, NULL, &file, &error), &error);
        gs_tensor_file_close(file);
    }
    assert_true(like_pickles >= 3);
    gs_parameters_destroy(written);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),      cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_existing_output), cmocka_unit_test(test_foreign_file),
        cmocka_unit_test(test_failed_write),    cmocka_unit_test(test_double_out_of_range),
        cmocka_unit_test(test_halves),          cmocka_unit_test(test_large_header),
        cmocka_unit_test(test_python_file),     cmocka_unit_test(test_header_like_a_pickle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
