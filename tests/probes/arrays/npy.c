/* Headers by hand, every width and order of number by its bytes, and every way to be wrong. */
#include "probes/arrays/npy.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "probes/arrays/array_file.h"
#include "probes/arrays/npy_write.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROOM = 4096 };
static struct gs_error error;

/* A file of that version, dictionary and data, in an allocation of its own size, so that a read
 * past its end is seen. */
static unsigned char *make(unsigned version, const char *dictionary, const void *data, size_t bytes,
                           size_t *size) {
    size_t length = strlen(dictionary), start = version == 1 ? 10 : 12;
    *size = start + length + bytes;
    unsigned char *file = gs_calloc(*size, 1);
    const unsigned char head[12] = {0x93,
                                    'N',
                                    'U',
                                    'M',
                                    'P',
                                    'Y',
                                    (unsigned char)version,
                                    0,
                                    (unsigned char)(length & 0xff),
                                    (unsigned char)(length >> 8)};
    memcpy(file, head, start);
    memcpy(file + start, dictionary, length);
    if (bytes) memcpy(file + start + length, data, bytes);
    return file;
}

static enum gs_status read_array(unsigned version, const char *dictionary, const void *data,
                                 size_t bytes, struct gs_npy *array, unsigned char **file) {
    size_t size;
    *file = make(version, dictionary, data, bytes, &size);
    return gs_npy_read(*file, size, "x.npy", array, &error);
}

static void headers_that_are_right(void **state) {
    (void)state;
    static const char *const dictionaries[] = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }          \n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}",
        "{\"shape\":(2,3,),\"fortran_order\":False,\"descr\":\"<f4\"}\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L), }\n",
        " { 'fortran_order' : False , 'descr' : '<f4' , 'shape' : ( 2 , 3 ) , } "};
    float data[6] = {0, 1, 2, 3, 4, 5}, values[6];
    for (unsigned version = 1; version <= 3; version++)
        for (size_t i = 0; i < sizeof dictionaries / sizeof *dictionaries; i++) {
            struct gs_npy array;
            unsigned char *file;
            gs_assert_ok(read_array(version, dictionaries[i], data, sizeof data, &array, &file),
                         &error);
            assert_int_equal(array.rank, 2);
            assert_int_equal(array.shape[0], 2);
            assert_int_equal(array.shape[1], 3);
            assert_int_equal(array.count, 6);
            assert_int_equal(array.family, GS_NPY_FLOAT);
            gs_npy_f32(&array, 1, 4, values);
            assert_memory_equal(values, data + 1, 16);
            gs_free(file);
        }
}

static void shapes_of_all_ranks(void **state) {
    (void)state;
    struct gs_npy array;
    unsigned char *file;
    double one = 1.5, value;
    gs_assert_ok(read_array(1, "{'descr': '<f8', 'fortran_order': False, 'shape': ()}", &one, 8,
                            &array, &file),
                 &error);
    assert_int_equal(array.rank, 0);
    assert_int_equal(array.count, 1);
    gs_npy_f64(&array, 0, 1, &value);
    assert_true(value == 1.5);
    gs_free(file);
    gs_assert_ok(read_array(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (0, 5)}", NULL, 0,
                            &array, &file),
                 &error);
    assert_int_equal(array.count, 0);
    gs_npy_f64(&array, 0, 0, &value);
    gs_free(file);
    gs_assert_ok(read_array(1,
                            "{'descr': '<f8', 'fortran_order': True, 'shape': (1,1,1,1,1,1,1,1)}",
                            &one, 8, &array, &file),
                 &error);
    assert_int_equal(array.rank, 8);
    gs_free(file);
}

struct number {
    const char *descr;
    unsigned char bytes[8];
    double value;
};

/* Bytes as numpy writes them: numpy.array(value, descr).tobytes(). */
static void every_width_and_order(void **state) {
    (void)state;
    static const struct number numbers[] = {
        {"<f2", {0x00, 0xc1}, -2.5},
        {">f2", {0xc1, 0x00}, -2.5},
        {"<f2", {0x01, 0x00}, 0x1p-24},
        {"<f4", {0x00, 0x00, 0x20, 0xc0}, -2.5},
        {">f4", {0xc0, 0x20, 0x00, 0x00}, -2.5},
        {"<f8", {0, 0, 0, 0, 0, 0, 0x04, 0xc0}, -2.5},
        {">f8", {0xc0, 0x04}, -2.5},
        {"|V2", {0x20, 0xc0}, -2.5}, /* bfloat16 of ml_dtypes */
        {"<V2", {0x20, 0xc0}, -2.5},
        {"|i1", {0xfd}, -3},
        {"|u1", {0xfd}, 253},
        {"|b1", {1}, 1},
        {"<i2", {0x00, 0x80}, -32768},
        {">i2", {0xff, 0xfe}, -2},
        {">u2", {0xff, 0xfe}, 65534},
        {"<i4", {0xff, 0xff, 0xff, 0x7f}, 2147483647},
        {">i4", {0x80}, -2147483648.0},
        {"<i8", {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, -1},
        {">i8", {0x80}, -0x1p63},
        {"<u8", {0, 0, 0, 0, 0, 0, 0, 0x80}, 0x1p63},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char dictionary[128];
        struct gs_npy array;
        unsigned char *file;
        double value;
        size_t size = (size_t)(numbers[i].descr[2] - '0');
        snprintf(dictionary, sizeof dictionary,
                 "{'descr': '%s', 'fortran_order': False, 'shape': (1,)}", numbers[i].descr);
        gs_assert_ok(read_array(1, dictionary, numbers[i].bytes, size, &array, &file), &error);
        gs_npy_f64(&array, 0, 1, &value);
        gs_assert_near(numbers[i].descr, value, numbers[i].value, 0, 0);
        if (array.family != GS_NPY_INTEGER) {
            float narrow;
            gs_npy_f32(&array, 0, 1, &narrow);
            assert_true(narrow == (float)numbers[i].value);
        }
        gs_free(file);
    }
}

static void doubles_beyond_floats(void **state) {
    (void)state;
    double data[6] = {1e300, -1e300, NAN, 0x1.fffffefffffffp127, 0x1.ffffffp127, -INFINITY};
    float values[6];
    struct gs_npy array;
    unsigned char *file;
    gs_assert_ok(read_array(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (6,)}", data,
                            sizeof data, &array, &file),
                 &error);
    gs_npy_f32(&array, 0, 6, values);
    assert_true(values[0] == INFINITY && values[1] == -INFINITY && isnan(values[2]));
    assert_true(values[3] == 0x1.fffffep127f); /* rounds down to the largest */
    assert_true(values[4] == INFINITY && values[5] == -INFINITY);
    gs_free(file);
}

/* Element (i, j, k) of shape (2, 3, 4) is 100 i + 10 j + k, written first axis fastest. */
static void fortran_order(void **state) {
    (void)state;
    int16_t data[24], *at = data;
    double values[24];
    struct gs_npy array;
    unsigned char *file;
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 2; i++) *at++ = (int16_t)(100 * i + 10 * j + k);
    gs_assert_ok(read_array(1, "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3, 4)}", data,
                            sizeof data, &array, &file),
                 &error);
    for (size_t first = 0; first < 24; first++)
        for (size_t count = 0; count <= 24 - first; count++) {
            gs_npy_f64(&array, first, count, values);
            for (size_t n = 0; n < count; n++) {
                size_t e = first + n, i = e / 12, j = e / 4 % 3, k = e % 4;
                assert_true(values[n] == (double)(100 * i + 10 * j + k));
            }
        }
    gs_free(file);
}

static void whole_numbers_in_range(void **state) {
    (void)state;
    int32_t data[4] = {0, 7, -1, 70000};
    uint64_t values[4];
    struct gs_npy array;
    unsigned char *file;
    gs_assert_ok(read_array(1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 2)}", data,
                            sizeof data, &array, &file),
                 &error);
    gs_assert_ok(gs_npy_u64(&array, 0, 2, 10, "x.npy", values, &error), &error);
    assert_int_equal(values[1], 7);
    gs_assert_error(gs_npy_u64(&array, 0, 4, 10, "x.npy", values, &error), GS_RANGE, &error,
                    "x.npy", "element 2", "-1");
    gs_assert_error(gs_npy_u64(&array, 3, 1, 65535, "x.npy", values, &error), GS_RANGE, &error,
                    "element 3", "70000", "65535");
    gs_free(file);
    float real = 1;
    gs_assert_ok(read_array(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", &real, 4,
                            &array, &file),
                 &error);
    gs_assert_error(gs_npy_u64(&array, 0, 1, 9, "x.npy", values, &error), GS_UNSUPPORTED, &error,
                    "whole numbers", "<f4");
    gs_free(file);
}

static void texts(void **state) {
    (void)state;
    struct gs_npy array;
    unsigned char *file;
    char *text;
    /* big-endian UTF-32: "é\U0001f600", "a" */
    static const unsigned char wide[16] = {0, 0, 0, 0xe9, 0, 1, 0xf6, 0, 0, 0, 0, 'a', 0, 0, 0, 0};
    gs_assert_ok(read_array(1, "{'descr': '>U2', 'fortran_order': False, 'shape': (2,)}", wide, 16,
                            &array, &file),
                 &error);
    gs_assert_ok(gs_npy_text(&array, 0, "x.npy", &text, &error), &error);
    assert_string_equal(text, "é\U0001f600");
    gs_free(text);
    gs_assert_ok(gs_npy_text(&array, 1, "x.npy", &text, &error), &error);
    assert_string_equal(text, "a");
    gs_free(text);
    gs_free(file);
    static const unsigned char surrogate[4] = {0, 0xd8, 0, 0};
    gs_assert_ok(read_array(1, "{'descr': '<U1', 'fortran_order': False, 'shape': (1,)}", surrogate,
                            4, &array, &file),
                 &error);
    gs_assert_error(gs_npy_text(&array, 0, "x.npy", &text, &error), GS_FORMAT, &error, "element 0");
    gs_free(file);
    gs_assert_ok(read_array(1, "{'descr': '|S3', 'fortran_order': False, 'shape': (2,)}",
                            "abc\xff\0\0", 6, &array, &file),
                 &error);
    gs_assert_ok(gs_npy_text(&array, 0, "x.npy", &text, &error), &error);
    assert_string_equal(text, "abc");
    gs_free(text);
    gs_assert_error(gs_npy_text(&array, 1, "x.npy", &text, &error), GS_FORMAT, &error, "element 1");
    gs_free(file);
}

struct wrong {
    const char *dictionary;
    enum gs_status status;
    const char *word;
};

static void headers_that_are_wrong(void **state) {
    (void)state;
    static const struct wrong wrongs[] = {
        {"", GS_FORMAT, "a dictionary"},
        {"{", GS_FORMAT, "a key"},
        {"{}", GS_FORMAT, "descr, fortran_order"},
        {"[('descr', '<f4')]", GS_FORMAT, "a dictionary"},
        {"{'descr': '<f4'}", GS_FORMAT, "descr, fortran_order"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}", GS_FORMAT,
         "once each"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (), 'x': 1}", GS_FORMAT, "once each"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': ()} x", GS_FORMAT, "nothing behind"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': ()}", GS_FORMAT, "True or False"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 3}", GS_FORMAT, "'shape'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", GS_FORMAT, "'shape'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3", GS_FORMAT, "'shape'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (,)}", GS_FORMAT, "'shape'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551616,)}", GS_FORMAT,
         "'shape'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", GS_UNSUPPORTED,
         "at most 8"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", GS_SHAPE,
         "64 bits"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,)}", GS_SHAPE,
         "64 bits"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", GS_SHAPE, "8 bytes"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': ()}", GS_UNSUPPORTED, "Python objects"},
        {"{'descr': '|O8', 'fortran_order': False, 'shape': ()}", GS_UNSUPPORTED, "pickle"},
        {"{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': ()}", GS_UNSUPPORTED,
         "structured"},
        {"{'descr': 'f4', 'fortran_order': False, 'shape': ()}", GS_FORMAT, "'<f4'"},
        {"{'descr': '<f', 'fortran_order': False, 'shape': ()}", GS_FORMAT, "'<f4'"},
        {"{'descr': '|S0', 'fortran_order': False, 'shape': (9223372036854775807,)}", GS_FORMAT,
         "'<f4'"},
        {"{'descr': '<U4611686018427387905', 'fortran_order': False, 'shape': ()}", GS_FORMAT,
         "short text"},
        {"{'descr': '\\x3cf4', 'fortran_order': False, 'shape': ()}", GS_FORMAT, "short text"},
        {"{'descr': (((((((((((((((((((((((((((((((((((((", GS_UNSUPPORTED, "structured"},
    };
    float one = 1;
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        struct gs_npy array;
        unsigned char *file;
        enum gs_status status = read_array(1, wrongs[i].dictionary, &one, 4, &array, &file);
        if (status != wrongs[i].status) print_error("%s\n", wrongs[i].dictionary);
        gs_assert_error(status, wrongs[i].status, &error, "x.npy", wrongs[i].word);
        gs_free(file);
    }
}

static void types_without_numbers(void **state) {
    (void)state;
    static const char *const descrs[] = {"<c8", "<M8", "<f16", "|V3", "<f3", "<i3", "|S4"};
    static const unsigned char bytes[16];
    for (size_t i = 0; i < sizeof descrs / sizeof *descrs; i++) {
        char dictionary[128];
        struct gs_npy array;
        unsigned char *file;
        snprintf(dictionary, sizeof dictionary,
                 "{'descr': '%s', 'fortran_order': False, 'shape': ()}", descrs[i]);
        size_t size = strcmp(descrs[i], "<f16") == 0 ? 16 : (size_t)(descrs[i][2] - '0');
        gs_assert_ok(read_array(1, dictionary, bytes, size, &array, &file), &error);
        gs_assert_error(gs_npy_want_floats(&array, true, "x.npy", &error), GS_UNSUPPORTED, &error,
                        "x.npy", descrs[i], "f8");
        gs_free(file);
    }
    struct gs_npy raw = {.family = GS_NPY_RAW, .descr = "|V2"};
    gs_assert_ok(gs_npy_want_floats(&raw, true, "x.npy", &error), &error);
    gs_assert_error(gs_npy_want_floats(&raw, false, "x.npy", &error), GS_UNSUPPORTED, &error, "|V2",
                    "--bfloat16");
}

static void lengths_of_headers(void **state) {
    (void)state;
    struct gs_npy array;
    size_t size;
    float one = 1;
    unsigned char *file =
        make(2, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", &one, 4, &size);
    gs_assert_ok(gs_npy_read(file, size, "x.npy", &array, &error), &error);
    for (uint64_t length = 0; length <= UINT32_MAX; length = length * 3 + 1) {
        if (length == size - 16) continue;
        for (size_t i = 0; i < 4; i++) file[8 + i] = (unsigned char)(length >> 8 * i);
        enum gs_status status = gs_npy_read(file, size, "x.npy", &array, &error);
        assert_true(status == GS_FORMAT || status == GS_SHAPE);
    }
    file[6] = 4;
    gs_assert_error(gs_npy_read(file, size, "x.npy", &array, &error), GS_UNSUPPORTED, &error,
                    "unknown version", "4");
    gs_free(file);
}

/* ---- files of numpy's ---- */

static const char *const fixtures[] = {
    "f2.npy",         "f2_big_endian.npy", "f4.npy",        "f4_big_endian_fortran.npy",
    "f8_fortran.npy", "f8_version2.npy",   "bfloat16.npy",  "sequences_fortran.npy",
    "sequences.npy",  "f4_version3.npy",   "sequences.npz", "rows.npz"};

static enum gs_status open_and_load(const unsigned char *bytes, size_t size) {
    struct gs_array_file *file;
    enum gs_status status = gs_array_file_of_bytes(bytes, size, "damaged", &file, &error);
    for (size_t i = 0; status == GS_OK && i < gs_array_file_count(file); i++) {
        status = gs_array_file_load(file, i, &error);
        const struct gs_npy *array = gs_array_file_at(file, i);
        double value;
        if (status == GS_OK && array->count && array->family < GS_NPY_TEXT)
            gs_npy_f64(array, array->count - 1, 1, &value);
    }
    gs_array_file_close(file);
    return status;
}

static void cut_and_damaged(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof fixtures / sizeof *fixtures; i++) {
        char relative[64];
        struct gs_mapped_file whole;
        snprintf(relative, sizeof relative, "fixtures/arrays/%s", fixtures[i]);
        gs_assert_ok(gs_file_map(gs_source_path(relative), &whole, &error), &error);
        gs_assert_ok(open_and_load(whole.bytes, whole.size), &error);
        for (size_t size = 0; size < whole.size; size++) { /* each in bytes of its own */
            unsigned char *cut = gs_calloc(size, 1);
            memcpy(cut, whole.bytes, size);
            enum gs_status status = open_and_load(cut, size);
            assert_true(status == GS_FORMAT || status == GS_SHAPE);
            assert_non_null(strstr(error.where, "damaged"));
            gs_free(cut);
        }
        unsigned char *wrong = gs_calloc(whole.size + 1, 1);
        memcpy(wrong, whole.bytes, whole.size);
        for (size_t at = 0; at < whole.size; at++)
            for (unsigned change = 1; change < 256; change *= 2) {
                wrong[at] ^= (unsigned char)change;
                open_and_load(wrong, whole.size);
                wrong[at] ^= (unsigned char)change;
            }
        bool archive = strstr(fixtures[i], ".npz") != NULL;
        enum gs_status longer = open_and_load(wrong, whole.size + 1);
        if (!archive) gs_assert_error(longer, GS_SHAPE, &error, "damaged", "bytes");
        gs_free(wrong);
        gs_file_unmap(&whole);
    }
}

static void archives_of_others(void **state) {
    (void)state;
    struct gs_mapped_file whole;
    gs_assert_ok(gs_file_map(gs_source_path("fixtures/arrays/rows.npz"), &whole, &error), &error);
    assert_true(gs_array_archive(whole.bytes, whole.size));
    unsigned char *other = gs_calloc(whole.size, 1);
    memcpy(other, whole.bytes, whole.size);
    for (size_t i = 0; i + 9 < whole.size; i++) /* an entry of another name, in both places */
        if (memcmp(other + i, "start.npy", 9) == 0) other[i + 6] = 'x';
    assert_false(gs_array_archive(other, whole.size));
    gs_assert_error(open_and_load(other, whole.size), GS_UNSUPPORTED, &error, "damaged",
                    "start.xpy", ".npy");
    gs_free(other);
    gs_file_unmap(&whole);
}

static void headers_of_our_own(void **state) {
    (void)state;
    static const size_t shapes[][3] = {{0}, {7}, {7, 3}, {SIZE_MAX, 1, 1}};
    static const char *const texts[] = {"()", "(7,)", "(7, 3)", "(18446744073709551615, 1, 1)"};
    for (size_t rank = 0; rank < 4; rank++) {
        unsigned char bytes[GS_NPY_MOST_HEADER];
        char expected[256];
        size_t size = gs_npy_make_header("<f4", rank, shapes[rank], bytes);
        int used = snprintf(expected, sizeof expected,
                            "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }", texts[rank]);
        assert_int_equal(size % 64, 0);
        assert_int_equal(bytes[8] + 256 * bytes[9] + 10, size);
        assert_memory_equal(bytes + 10, expected, (size_t)used);
        assert_int_equal(bytes[size - 1], '\n');
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_that_are_right),
        cmocka_unit_test(shapes_of_all_ranks),
        cmocka_unit_test(every_width_and_order),
        cmocka_unit_test(doubles_beyond_floats),
        cmocka_unit_test(fortran_order),
        cmocka_unit_test(whole_numbers_in_range),
        cmocka_unit_test(texts),
        cmocka_unit_test(headers_that_are_wrong),
        cmocka_unit_test(types_without_numbers),
        cmocka_unit_test(lengths_of_headers),
        cmocka_unit_test(cut_and_damaged),
        cmocka_unit_test(archives_of_others),
        cmocka_unit_test(headers_of_our_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
