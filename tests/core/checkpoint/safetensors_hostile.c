/* Broken safetensors files: each kind of fault is a named error with the file's name. */
#include "tests/support/support.h"

#include "core/checkpoint/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH_BYTES = 8 };

/* A file of a header length (as it is told), header bytes and `data_size` bytes of data. */
static const char *make_file(uint64_t told, const char *header, size_t header_size,
                             size_t data_size) {
    size_t size = LENGTH_BYTES + header_size + data_size;
    unsigned char *bytes = calloc(size, 1);
    if (!bytes) abort();
    for (int i = 0; i < LENGTH_BYTES; i++) bytes[i] = (unsigned char)(told >> (8 * i));
    memcpy(bytes + LENGTH_BYTES, header, header_size);
    const char *path = gs_scratch_file("hostile.safetensors", bytes, size);
    free(bytes);
    return path;
}

static const char *with_header(const char *header, size_t data_size) {
    return make_file(strlen(header), header, strlen(header), data_size);
}

static void refuse(const char *path, enum gs_status expected, const char *word) {
    struct gs_safetensors *file = NULL;
    struct gs_error error = {0};
    gs_assert_error(gs_safetensors_open(path, &file, &error), expected, &error,
                    "hostile.safetensors", word);
    assert_null(file);
}

/* ---- faults that a header text shows ------------------------------------------------------ */

#define F32_4 "\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]"

static const struct fault {
    const char *name, *header;
    size_t data_size;
    const char *word; /* the error must say it */
} faults[] = {
    {"not an object", "[1, 2]", 0, "JSON object"},
    {"a number", "12", 0, "JSON object"},
    {"a blank in front", " {}", 0, "JSON object"},
    {"cut JSON", "{\"a\":{" F32_4, 16, "JSON"},
    {"bytes behind the JSON", "{\"a\":{" F32_4 "}} x", 16, "JSON"},
    {"single quotes", "{'a':{}}", 0, "JSON"},
    {"a comma too many", "{\"a\":{" F32_4 "},}", 16, "JSON"},
    {"duplicate name", "{\"a\":{" F32_4 "},\"a\":{" F32_4 "}}", 16, "duplicate"},
    {"duplicate member", "{\"a\":{\"dtype\":\"F32\"," F32_4 "}}", 16, "duplicate"},
    {"duplicate metadata", "{\"__metadata__\":{},\"__metadata__\":{}}", 0, "duplicate"},
    {"NUL in a name", "{\"a\\u0000b\":{" F32_4 "}}", 16, "NUL"},
    {"name not UTF-8", "{\"a\xff\":{" F32_4 "}}", 16, "UTF-8"},
    {"half a surrogate pair", "{\"a\\ud800\":{" F32_4 "}}", 16, "JSON"},
    {"entry is a number", "{\"a\":7}", 0, "\"a\""},
    {"entry is null", "{\"a\":null}", 0, "\"a\""},
    {"entry is a list", "{\"a\":[\"F32\",[4],[0,16]]}", 16, "\"a\""},
    {"nested entry", "{\"a\":{\"b\":{" F32_4 "}}}", 16, "dtype"},
    {"no dtype", "{\"a\":{\"shape\":[4],\"data_offsets\":[0,16]}}", 16, "dtype"},
    {"no shape", "{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,16]}}", 16, "shape"},
    {"no offsets", "{\"a\":{\"dtype\":\"F32\",\"shape\":[4]}}", 16, "data_offsets"},
    {"unknown member", "{\"a\":{" F32_4 ",\"scale\":2}}", 16, "scale"},
    {"unknown dtype", "{\"a\":{\"dtype\":\"F33\",\"shape\":[4],\"data_offsets\":[0,16]}}", 16,
     "F33"},
    {"dtype in lower case", "{\"a\":{\"dtype\":\"f32\",\"shape\":[4],\"data_offsets\":[0,16]}}", 16,
     "f32"},
    {"dtype a number", "{\"a\":{\"dtype\":32,\"shape\":[4],\"data_offsets\":[0,16]}}", 16, "dtype"},
    {"shape a number", "{\"a\":{\"dtype\":\"F32\",\"shape\":4,\"data_offsets\":[0,16]}}", 16,
     "shape"},
    {"float in shape", "{\"a\":{\"dtype\":\"F32\",\"shape\":[4.0],\"data_offsets\":[0,16]}}", 16,
     "shape"},
    {"negative in shape", "{\"a\":{\"dtype\":\"F32\",\"shape\":[-4],\"data_offsets\":[0,16]}}", 16,
     "-4"},
    {"text in shape", "{\"a\":{\"dtype\":\"F32\",\"shape\":[\"4\"],\"data_offsets\":[0,16]}}", 16,
     "shape"},
    {"shape nested", "{\"a\":{\"dtype\":\"F32\",\"shape\":[[4]],\"data_offsets\":[0,16]}}", 16,
     "shape"},
    {"nine dimensions",
     "{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,4],\"data_offsets\":[0,16]}}", 16,
     "dimensions"},
    {"shape wraps around",
     "{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296,4],\"data_offsets\":[0,16]}}", 16,
     "elements"},
    {"bytes wrap around",
     "{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387908],\"data_offsets\":[0,16]}}", 16,
     "dtype and shape"},
    {"shape beyond 64 bits",
     "{\"a\":{\"dtype\":\"F32\",\"shape\":[18446744073709551620],\"data_offsets\":[0,16]}}", 16,
     "JSON"},
    {"float offsets", "{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0.0,16.0]}}", 16,
     "data_offsets"},
    {"negative offset", "{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[-16,0]}}", 16,
     "-16"},
    {"offsets of one", "{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[16]}}", 16,
     "pair"},
    {"offsets of three", "{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,8,16]}}", 16,
     "pair"},
    {"offsets an object",
     "{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":{\"begin\":0,\"end\":16}}}", 16,
     "pair"},
    {"offsets backwards", "{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[16,0]}}", 16,
     "backwards"},
    {"beyond the file", "{\"a\":{\"dtype\":\"F32\",\"shape\":[8],\"data_offsets\":[0,32]}}", 16,
     "beyond the end"},
    {"far beyond the file",
     "{\"a\":{\"dtype\":\"U8\",\"shape\":[16],\"data_offsets\":[9223372036854775791,"
     "9223372036854775807]}}",
     16, "beyond the end"},
    {"too few bytes for the shape",
     "{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,12]}}", 12, "16 bytes"},
    {"too many bytes for the shape",
     "{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,16]}}", 16, "12 bytes"},
    {"a wrong dtype's bytes", "{\"a\":{\"dtype\":\"F64\",\"shape\":[4],\"data_offsets\":[0,16]}}",
     16, "32 bytes"},
    {"no whole bytes", "{\"a\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,1]}}", 1,
     "whole bytes"},
    {"bytes of an empty tensor",
     "{\"a\":{\"dtype\":\"F32\",\"shape\":[4,0],\"data_offsets\":[0,16]}}", 16, "0 bytes"},
    {"gap in front", "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8, "gap"},
    {"gap between",
     "{\"a\":{" F32_4 "},\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[20,24]}}", 24,
     "gap"},
    {"overlap",
     "{\"a\":{" F32_4 "},\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[12,16]}}", 16,
     "share bytes"},
    {"the same bytes twice", "{\"a\":{" F32_4 "},\"b\":{" F32_4 "}}", 16, "share bytes"},
    {"bytes behind the last tensor", "{\"a\":{" F32_4 "}}", 20, "behind the last"},
    {"data without tensors", "{}", 4, "behind the last"},
    {"metadata a list", "{\"__metadata__\":[]}", 0, "__metadata__"},
    {"metadata a string", "{\"__metadata__\":\"pt\"}", 0, "__metadata__"},
    {"a number in metadata", "{\"__metadata__\":{\"step\":4}}", 0, "step"},
    {"an object in metadata", "{\"__metadata__\":{\"config\":{}}}", 0, "config"},
};

static void test_headers(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        print_message("%s\n", faults[i].name);
        refuse(with_header(faults[i].header, faults[i].data_size), GS_FORMAT, faults[i].word);
    }
}

/* ---- faults of the file itself ------------------------------------------------------------- */

static void test_lengths(void **state) {
    (void)state;
    static const char good[] = "{\"a\":{" F32_4 "}}";
    size_t size = sizeof good - 1;
    refuse(gs_scratch_file("hostile.safetensors", "", 0), GS_FORMAT, "too short");
    refuse(gs_scratch_file("hostile.safetensors", "\2\0\0\0\0\0\0", 7), GS_FORMAT, "too short");
    refuse(make_file(0, good, size, 16), GS_FORMAT, "empty header");
    refuse(make_file(UINT64_MAX, good, size, 16), GS_FORMAT, "limit");
    refuse(make_file(UINT64_MAX - 7, good, size, 16), GS_FORMAT, "limit");
    refuse(make_file(GS_SAFETENSORS_MAX_HEADER + 1, good, size, 16), GS_FORMAT, "limit");
    refuse(make_file(GS_SAFETENSORS_MAX_HEADER, good, size, 16), GS_FORMAT, "beyond the end");
    refuse(make_file(size + 17, good, size, 16), GS_FORMAT, "beyond the end");
    refuse(make_file(size - 1, good, size, 16), GS_FORMAT, "JSON");
    refuse(make_file(size + 1, good, size, 16), GS_FORMAT, "JSON");
    refuse(make_file(size, good, size, 15), GS_FORMAT, "cut off");
    refuse(make_file(size, good, size, 0), GS_FORMAT, "cut off");
}

/* Every prefix of a good file is refused, and none crashes. */
static void test_every_prefix(void **state) {
    (void)state;
    static const char header[] = "{\"a\":{" F32_4 "}}";
    unsigned char bytes[LENGTH_BYTES + sizeof header - 1 + 16] = {sizeof header - 1};
    memcpy(bytes + LENGTH_BYTES, header, sizeof header - 1);
    for (size_t size = 0; size < sizeof bytes; size++)
        refuse(gs_scratch_file("hostile.safetensors", bytes, size), GS_FORMAT, "");
    struct gs_safetensors *file = NULL;
    struct gs_error error = {0};
    const char *path = gs_scratch_file("good.safetensors", bytes, sizeof bytes);
    gs_assert_ok(gs_safetensors_open(path, &file, &error), &error);
    gs_safetensors_close(file);
}

static void test_deep_nesting(void **state) {
    (void)state;
    enum { DEPTH = 100000 };
    char *header = malloc(DEPTH + 8);
    assert_non_null(header);
    memcpy(header, "{\"a\":", 5);
    memset(header + 5, '[', DEPTH);
    refuse(make_file(DEPTH + 5, header, DEPTH + 5, 0), GS_FORMAT, "JSON");
    free(header);
}

static void test_long_name(void **state) {
    (void)state;
    char header[2200] = "{\"";
    memset(header + 2, 'n', 2000);
    strcpy(header + 2002, "\":{" F32_4 "}}");
    refuse(with_header(header, 16), GS_FORMAT, "too long");
}

static void test_no_regular_file(void **state) {
    (void)state;
    struct gs_safetensors *file = NULL;
    struct gs_error error = {0};
    const char *absent = gs_scratch_path("absent.safetensors");
    gs_assert_error(gs_safetensors_open(absent, &file, &error), GS_MISSING, &error, "absent");
    assert_true(gs_safetensors_open(gs_scratch_folder(), &file, &error) != GS_OK);
    assert_true(gs_safetensors_open("/dev/null", &file, &error) != GS_OK);
    assert_null(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers),      cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_every_prefix), cmocka_unit_test(test_deep_nesting),
        cmocka_unit_test(test_long_name),    cmocka_unit_test(test_no_regular_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
