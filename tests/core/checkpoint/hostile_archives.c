/* Archives that torch.save never wrote: every one is refused by name. */
#include "tests/support/support.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/checkpoint/tensor_file.h"
#include "tests/core/checkpoint/hostile_bytes.h"

#include <stdio.h>
#include <string.h>

static enum gs_status open_bytes(const unsigned char *bytes, size_t size, struct gs_error *error) {
    struct gs_tensor_file *file = NULL;
    enum gs_status status =
        gs_tensor_file_open_bytes(bytes, size, "hostile.pt", NULL, &file, error);
    if (status != GS_OK) return status;
    for (size_t i = 0; i < gs_tensor_file_count(file) && status == GS_OK; i++) {
        const struct gs_stored_tensor *tensor = gs_tensor_file_at(file, i);
        float *values = gs_calloc(tensor->count, sizeof *values);
        assert_non_null(values);
        status = gs_tensor_file_read(file, tensor, values, error);
        gs_free(values);
    }
    gs_tensor_file_close(file);
    return status;
}

/* {"w": that window}, beside one storage "0" of 12 numbers: 0, 1, 2 … in float32. */
static struct bytes archive_of(const struct window *window, const char *folder) {
    struct bytes pickle = {0}, archive = {0};
    unsigned char storage[48];
    char data[64], piece[64];
    for (uint32_t i = 0; i < 12; i++) {
        float number = (float)i;
        memcpy(storage + 4 * i, &number, 4);
    }
    put(&pickle, "\x80\x02}", 3);
    put_text(&pickle, "w");
    put_window(&pickle, window);
    put(&pickle, "s.", 2);
    snprintf(data, sizeof data, "%sdata.pkl", folder);
    snprintf(piece, sizeof piece, "%sdata/0", folder);
    const struct entry entries[] = {{data, pickle.at, pickle.size}, {piece, storage, 48}};
    put_archive(&archive, entries, 2);
    clear(&pickle);
    return archive;
}

/* A matrix laid columnwise from an offset on is read so. */
static void test_window(void **state) {
    (void)state;
    const struct window window = {"FloatStorage", "0", 12, 1, 2, {2, 3}, {1, 4}};
    struct bytes archive = archive_of(&window, "archive/");
    struct gs_tensor_file *file = NULL;
    struct gs_error error = {0};
    float values[6];
    const float expected[] = {1, 5, 9, 2, 6, 10};
    gs_assert_ok(gs_tensor_file_open_bytes(archive.at, archive.size, "a.pt", NULL, &file, &error),
                 &error);
    assert_int_equal(gs_tensor_file_count(file), 1);
    gs_assert_ok(gs_tensor_file_read(file, gs_tensor_file_at(file, 0), values, &error), &error);
    assert_memory_equal(values, expected, sizeof values);
    gs_tensor_file_close(file);
    clear(&archive);
}

static void test_windows(void **state) {
    (void)state;
    const int64_t large = INT64_MAX, half = (int64_t)1 << 32;
    const struct {
        struct window window;
        enum gs_status status;
        const char *word;
    } bad[] = {
        {{"FloatStorage", "0", 12, 0, 1, {13}, {1}}, GS_SHAPE, "beyond its storage"},
        {{"FloatStorage", "0", 12, 12, 1, {1}, {1}}, GS_SHAPE, "beyond its storage"},
        {{"FloatStorage", "0", 12, 11, 1, {2}, {1}}, GS_SHAPE, "beyond its storage"},
        {{"FloatStorage", "0", 12, 0, 2, {2, 2}, {11, 1}}, GS_SHAPE, "beyond its storage"},
        {{"FloatStorage", "0", 12, large, 1, {1}, {1}}, GS_FORMAT, "offset"},
        {{"FloatStorage", "0", 12, large / 4, 1, {1}, {1}}, GS_SHAPE, "beyond its storage"},
        {{"FloatStorage", "0", 12, -1, 1, {1}, {1}}, GS_FORMAT, "offset"},
        {{"FloatStorage", "0", 12, 0, 1, {-1}, {1}}, GS_FORMAT, "no list of lengths"},
        {{"FloatStorage", "0", 12, 0, 1, {2}, {-1}}, GS_FORMAT, "no list of lengths"},
        {{"FloatStorage", "0", 12, 0, 2, {2, 2}, {large, 1}}, GS_SHAPE, "more elements"},
        {{"FloatStorage", "0", 12, 0, 2, {large, large}, {0, 0}}, GS_SHAPE, "more elements"},
        {{"FloatStorage", "0", 12, 0, 2, {half, half}, {0, 0}}, GS_SHAPE, "more elements"},
        {{"FloatStorage", "0", 12, 0, 1, {half}, {0}}, GS_UNSUPPORTED, "contiguous()"},
        {{"FloatStorage", "0", 12, 0, 1, {13}, {0}}, GS_UNSUPPORTED, "contiguous()"},
        {{"FloatStorage", "0", 13, 0, 1, {1}, {1}}, GS_FORMAT, "has less of it"},
        {{"FloatStorage", "0", large, 0, 1, {1}, {1}}, GS_FORMAT, "larger than memory"},
        {{"FloatStorage", "0", -1, 0, 1, {1}, {1}}, GS_FORMAT, "without its storage"},
        {{"FloatStorage", "1", 12, 0, 1, {1}, {1}}, GS_FORMAT, "none"},
        {{"FloatStorage", "", 12, 0, 1, {1}, {1}}, GS_FORMAT, "no short text"},
        {{"FloatStorage", "../data.pkl", 12, 0, 1, {1}, {1}}, GS_FORMAT, "none"},
        {{"DoubleStorage", "0", 12, 0, 1, {1}, {1}}, GS_FORMAT, "96 bytes"},
        {{"LongStorage", "0", 6, 0, 1, {6}, {1}}, GS_UNSUPPORTED, "int64"},
        {{"ComplexFloatStorage", "0", 6, 0, 1, {6}, {1}}, GS_UNSUPPORTED, "complex64"},
        {{"SparseStorage", "0", 12, 0, 1, {1}, {1}}, GS_UNSUPPORTED, "SparseStorage"},
        {{"FloatStorage", "0", 12, 0, 9, {1, 1, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1, 1}},
         GS_UNSUPPORTED,
         "more than 8 axes"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct bytes archive = archive_of(&bad[i].window, "archive/");
        struct gs_error error = {0};
        enum gs_status status = open_bytes(archive.at, archive.size, &error);
        if (status != bad[i].status) print_message("case %zu\n", i);
        gs_assert_error(status, bad[i].status, &error, bad[i].word, "hostile.pt");
        clear(&archive);
    }
}

static void test_legal(void **state) {
    (void)state;
    const struct window good[] = {
        {"FloatStorage", "0", 12, 0, 0, {0}, {0}},  /* a single number */
        {"FloatStorage", "0", 12, 99, 1, {0}, {1}}, /* an empty one, wherever it is */
        {"FloatStorage", "0", 10, 0, 1, {10}, {1}}, /* less than the archive has */
        {"HalfStorage", "0", 24, 0, 2, {2, 3}, {0, 1}},
    };
    static const char *const folders[] = {"", "a/", "a/b/c/"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        for (size_t k = 0; k < 3; k++) {
            struct bytes archive = archive_of(&good[i], folders[k]);
            struct gs_error error = {0};
            gs_assert_ok(open_bytes(archive.at, archive.size, &error), &error);
            clear(&archive);
        }
}

static void test_entries(void **state) {
    (void)state;
    static const struct {
        struct entry entries[3];
        size_t count;
        enum gs_status status;
        const char *word;
    } bad[] = {
        {{{"a.npy", "x", 1}}, 1, GS_UNSUPPORTED, "torch.save has not written"},
        {{{"a/data.pkl", "\x80\x02}.", 4}, {"/etc/passwd", "x", 1}}, 2, GS_FORMAT, "leads out"},
        {{{"a/data.pkl", "\x80\x02}.", 4}, {"a/../../x", "x", 1}}, 2, GS_FORMAT, "leads out"},
        {{{"../data.pkl", "\x80\x02}.", 4}}, 1, GS_FORMAT, "leads out"},
        {{{"a/..", "x", 1}, {"a/data.pkl", "\x80\x02}.", 4}}, 2, GS_FORMAT, "leads out"},
        {{{"a\\b", "x", 1}, {"a/data.pkl", "\x80\x02}.", 4}}, 2, GS_FORMAT, "leads out"},
        {{{"a/data.pkl", "\x80\x02}.", 4}, {"a/data.pkl", "\x80\x02}.", 4}}, 2, GS_FORMAT, "twice"},
        {{{"a/data.pkl", "", 0}}, 1, GS_FORMAT, "not a pickle"},
        {{{"a/data.pkl", "\x80\x02", 2}}, 1, GS_FORMAT, "ends before its STOP"},
        {{{"a/data.pkl", "\x80\x02N.", 4}}, 1, GS_UNSUPPORTED, "no dict of tensors"},
        {{{"a/data.pkl", "\x80\x02}.", 4}, {"a/byteorder", "middle", 6}},
         2,
         GS_FORMAT,
         "byte order"},
        {{{"a/data.pkl", "\x80\x02}.", 4}, {"a/byteorder", "little and more", 15}},
         2,
         GS_FORMAT,
         "byte order"},
        {{{"a/data.pkl", "\x80\x02}.", 4}, {"a/byteorder", "little and much more", 20}},
         2,
         GS_FORMAT,
         "byte order"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct bytes archive = {0};
        struct gs_error error = {0};
        put_archive(&archive, bad[i].entries, bad[i].count);
        enum gs_status status = open_bytes(archive.at, archive.size, &error);
        if (status != bad[i].status) print_message("case %zu\n", i);
        gs_assert_error(status, bad[i].status, &error, bad[i].word, "hostile.pt");
        clear(&archive);
    }
}

/* A big-endian machine's archive says so. */
static void test_byte_order(void **state) {
    (void)state;
    struct bytes pickle = {0}, archive = {0};
    const struct window window = {"FloatStorage", "0", 1, 0, 1, {1}, {1}};
    put(&pickle, "\x80\x02}", 3);
    put_text(&pickle, "w");
    put_window(&pickle, &window);
    put(&pickle, "s.", 2);
    const struct entry entries[] = {{"a/data.pkl", pickle.at, pickle.size},
                                    {"a/byteorder", "big", 3},
                                    {"a/data/0", "\x3f\x80\0\0", 4}};
    put_archive(&archive, entries, 3);
    struct gs_tensor_file *file = NULL;
    struct gs_error error = {0};
    float value = 0;
    gs_assert_ok(gs_tensor_file_open_bytes(archive.at, archive.size, "a.pt", NULL, &file, &error),
                 &error);
    gs_assert_ok(gs_tensor_file_read(file, gs_tensor_file_at(file, 0), &value, &error), &error);
    assert_true(value == 1);
    gs_tensor_file_close(file);
    clear(&archive);
    clear(&pickle);
}

/* PyTorch's formats before the archives, and what is no checkpoint at all. */
static void test_others(void **state) {
    (void)state;
    static unsigned char tar[512];
    memcpy(tar + 257, "ustar", 5);
    static const struct {
        const void *bytes;
        size_t size;
        const char *word;
    } bad[] = {
        {"\x80\x02\x8a\nl\xfc\x9c"
         "F\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.",
         21, "before version 1.6"},
        {tar, sizeof tar, "a tar archive"},
        {"\x89HDF\r\n\x1a\n\0\0\0\0", 12, "HDF5"},
        {"\x93NUMPY\x01\0v\0{", 11, "single array of numpy"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct gs_error error = {0};
        gs_assert_error(open_bytes(bad[i].bytes, bad[i].size, &error), GS_UNSUPPORTED, &error,
                        bad[i].word, "hostile.pt");
    }
}

/* ---- cut off, and changed
 * -------------------------------------------------------------------------- */

static void test_cut_and_changed(void **state) {
    (void)state;
    struct gs_mapped_file file;
    struct gs_error error = {0};
    gs_assert_ok(gs_file_map(gs_source_path("fixtures/checkpoints/shared.pt"), &file, &error),
                 &error);
    for (size_t length = 0; length < file.size; length++) {
        struct bytes exact = {0};
        put(&exact, file.bytes, length);
        if (length == 0) put(&exact, "", 1);
        assert_int_not_equal(open_bytes(exact.at, length, &error), GS_OK);
        clear(&exact);
    }
    struct bytes changed = {0};
    put(&changed, file.bytes, file.size);
    for (size_t i = 0; i < file.size; i++) {
        changed.at[i] ^= 0xff;
        open_bytes(changed.at, file.size, &error);
        changed.at[i] ^= 0xff;
    }
    assert_int_equal(open_bytes(changed.at, file.size, &error), GS_OK);
    clear(&changed);
    gs_file_unmap(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window),          cmocka_unit_test(test_windows),
        cmocka_unit_test(test_legal),           cmocka_unit_test(test_entries),
        cmocka_unit_test(test_byte_order),      cmocka_unit_test(test_others),
        cmocka_unit_test(test_cut_and_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
