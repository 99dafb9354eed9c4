/* JSON in and out, with the texts that hostile or broken writers make. */
#include "tests/support/support.h"

#include "core/base/json.h"
#include "core/base/memory.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gs_json *parse(const char *text) {
    struct gs_error error;
    struct gs_json *json = NULL;
    gs_assert_ok(gs_json_parse(text, strlen(text), "test", &json, &error), &error);
    return json;
}

struct hostile {
    const char *text;
    size_t size; /* 0: strlen */
    const char *word;
    const char *place; /* in the error's where */
};

static const struct hostile hostile[] = {
    {"", 0, "empty", "in.json"},
    {" \n ", 0, "not usable", "in.json"},
    {"{\"a\": 1} x", 0, "end of file", "byte 10"},
    {"{\"a\": 1}\0", 9, "not usable", "byte 9"},
    {"{\"a\": 1, \"a\": 2}", 0, "duplicate", "byte 12"},
    {"{\"a\": {\"b\": 1, \"\\u0062\": 2}}", 0, "duplicate", "in.json"},
    {"{\"a\\u0000b\": 1}", 0, "u0000", "in.json"},
    {"{\"a\": \"x\\u0000y\"}", 0, "u0000", "in.json"},
    {"{\"a\": \"x\0y\"}", 12, "control character", "in.json"},
    {"{\"a\": \"\xff\"}", 0, "0xff", "byte 7"},
    {"[\n\"\xc3\"]", 0, "0xc3", "byte 3 (line 2)"},
    {"\"\xed\xa0\x80\"", 0, "0xed", "byte 1"},
    {"\xef\xbb\xbf{}", 0, "byte order mark", "byte 0"},
    {"{\"a\": 1", 0, "not usable", "in.json"},
    {"{\"a\" 1}", 0, "not usable", "in.json"},
    {"{a: 1}", 0, "not usable", "in.json"},
    {"[1,]", 0, "not usable", "in.json"},
    {"[01]", 0, "not usable", "in.json"},
    {"[NaN]", 0, "not usable", "in.json"},
    {"[-Infinity]", 0, "not usable", "in.json"},
    {"[1e999]", 0, "overflow", "in.json"},
    {"[99999999999999999999]", 0, "too big", "in.json"},
    {"\"a", 0, "not usable", "in.json"},
    {"\"\\ud800\"", 0, "not usable", "in.json"},
    {"]", 0, "not usable", "in.json"},
    {"nul", 0, "not usable", "in.json"},
};

static void test_hostile(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        const struct hostile *h = &hostile[i];
        size_t size = h->size ? h->size : strlen(h->text);
        char *exact = malloc(size + 1); /* no byte behind the end may be read */
        assert_non_null(exact);
        memcpy(exact, h->text, size);
        struct gs_json *json = (struct gs_json *)exact;
        struct gs_error error = {0};
        enum gs_status status = gs_json_parse(exact, size, "in.json", &json, &error);
        gs_assert_error(status, GS_FORMAT, &error, h->word, h->place);
        assert_null(json);
        free(exact);
    }
}

static void test_depth(void **state) {
    (void)state;
    char text[400];
    struct gs_json *json;
    struct gs_error error;
    for (size_t depth = 63; depth <= 66; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        enum gs_status status = gs_json_parse(text, 2 * depth, "deep", &json, &error);
        assert_int_equal(status, depth <= 64 ? GS_OK : GS_FORMAT);
        if (depth > 64) gs_assert_error(status, GS_FORMAT, &error, "deep, byte 64", "64 levels");
        gs_json_destroy(json);
    }
    /* brackets in strings do not count, and quotes behind backslashes do not end them */
    snprintf(
        text, sizeof text, "[\"%.100s\\\"%.100s\"]",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
        "{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{");
    json = parse(text);
    assert_int_equal(gs_json_size(json), 1);
    gs_json_destroy(json);
    /* a bomb of a megabyte */
    size_t size = 1 << 20;
    char *bomb = malloc(size);
    assert_non_null(bomb);
    memset(bomb, '[', size);
    gs_assert_error(gs_json_parse(bomb, size, "bomb", &json, &error), GS_FORMAT, &error, "bomb",
                    "nested");
    free(bomb);
}

/* A safetensors header of many tensors: all members are reached by index, in order. */
static void test_huge(void **state) {
    (void)state;
    enum { MEMBERS = 100000, ROOM = 64 };
    char *text = malloc((size_t)MEMBERS * ROOM);
    assert_non_null(text);
    size_t used = 1;
    text[0] = '{';
    for (int i = 0; i < MEMBERS; i++)
        used += (size_t)snprintf(text + used, ROOM, "%s\"layers.%06d.weight\": [%d, %d]",
                                 i ? ", " : "", MEMBERS - i, i, i + 1);
    text[used++] = '}';
    struct gs_json *json;
    struct gs_error error;
    gs_assert_ok(gs_json_parse(text, used, "huge", &json, &error), &error);
    free(text);
    assert_int_equal(gs_json_size(json), MEMBERS);
    for (size_t i = 0; i < MEMBERS; i++) {
        int64_t first = -1;
        char key[ROOM];
        snprintf(key, sizeof key, "layers.%06zu.weight", MEMBERS - i);
        assert_string_equal(gs_json_key_at(json, i), key);
        assert_true(gs_json_integer(gs_json_at(gs_json_value_at(json, i), 0), &first));
        assert_int_equal(first, i);
    }
    assert_string_equal(gs_json_key_at(json, 0), "layers.100000.weight"); /* and back */
    assert_ptr_equal(gs_json_get(json, "layers.000001.weight"),
                     gs_json_value_at(json, MEMBERS - 1));
    gs_json_destroy(json);
}

/* Walking by index while objects change and die. */
static void test_walk_and_change(void **state) {
    (void)state;
    struct gs_json *object = gs_json_new_object();
    assert_true(gs_json_set(object, "a", gs_json_new_integer(1)));
    assert_true(gs_json_set(object, "b", gs_json_new_integer(2)));
    assert_string_equal(gs_json_key_at(object, 1), "b");
    assert_true(gs_json_set(object, "c", gs_json_new_integer(3)));
    assert_true(gs_json_set(object, "a", gs_json_new_integer(4))); /* keeps its place */
    assert_string_equal(gs_json_key_at(object, 0), "a");
    assert_string_equal(gs_json_key_at(object, 2), "c");
    assert_null(gs_json_key_at(object, 3));
    gs_json_destroy(object);
    for (int i = 0; i < 100; i++) { /* likely at the same address again */
        object = gs_json_new_object();
        assert_null(gs_json_key_at(object, 0));
        assert_true(gs_json_set(object, "z", gs_json_new_null()));
        assert_string_equal(gs_json_key_at(object, 0), "z");
        gs_json_destroy(object);
    }
}

static void test_types(void **state) {
    (void)state;
    struct gs_json *json = parse("{\"i\": -3, \"r\": 2.0, \"s\": \"x\", \"t\": true, \"n\": null, "
                                 "\"a\": [1, 2], \"o\": {}}");
    int64_t integer = 0;
    double number = 0;
    bool truth = false;
    assert_true(gs_json_integer(gs_json_get(json, "i"), &integer) && integer == -3);
    assert_false(gs_json_integer(gs_json_get(json, "r"), &integer)); /* 2.0 is no count */
    assert_true(gs_json_number(gs_json_get(json, "i"), &number) && number == -3);
    assert_true(gs_json_number(gs_json_get(json, "r"), &number) && number == 2);
    assert_false(gs_json_number(gs_json_get(json, "s"), &number));
    assert_true(gs_json_truth(gs_json_get(json, "t"), &truth) && truth);
    assert_false(gs_json_truth(gs_json_get(json, "i"), &truth));
    assert_string_equal(gs_json_string(gs_json_get(json, "s")), "x");
    assert_null(gs_json_string(gs_json_get(json, "i")));
    static const char *const keys[] = {"n", "t", "i", "r", "s", "a", "o", "absent"};
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(gs_json_type(gs_json_get(json, keys[i])), GS_JSON_NULL + i);
    /* chains through nothing */
    const struct gs_json *nothing = gs_json_at(gs_json_get(gs_json_get(json, "s"), "x"), 3);
    assert_null(nothing);
    assert_int_equal(gs_json_size(nothing), 0);
    assert_null(gs_json_key_at(gs_json_get(json, "a"), 0));
    assert_null(gs_json_at(gs_json_get(json, "a"), 2));
    assert_null(gs_json_get(NULL, "x"));
    assert_string_equal(gs_json_type_name(GS_JSON_ARRAY), "an array");
    gs_json_destroy(json);
    gs_json_destroy(NULL);
}

static void expect_text(struct gs_json *json, const char *text) {
    char *found = gs_json_text(json, 0);
    assert_string_equal(found, text);
    gs_free(found);
    gs_json_destroy(json);
}

static void test_text(void **state) {
    (void)state;
    expect_text(gs_json_new_number(NAN), "null");
    expect_text(gs_json_new_number(-INFINITY), "null");
    expect_text(gs_json_new_number(0.1), "0.1");
    expect_text(gs_json_new_number(3), "3.0");
    expect_text(gs_json_new_number(1e300), "1e+300");
    expect_text(gs_json_new_integer(INT64_MIN), "-9223372036854775808");
    expect_text(gs_json_new_bool(false), "false");
    expect_text(gs_json_new_string("\"</script>\n\t\\\x01\x7f\xff\xe2\x80\xa8"),
                "\"\\\"<\\/script>\\n\\t\\\\\\u0001\\u007f<0xFF>\\u2028\"");
    /* U+009B and U+202E are commands to a terminal; both ways of writing them are the same JSON */
    expect_text(gs_json_new_string("\xc2\x9b"
                                   "1m\xe2\x80\xae"),
                "\"\\u009b1m\\u202e\"");
    expect_text(gs_json_new_string("\xe2\x96\x81the \xf0\x9f\x98\x80"),
                "\"\xe2\x96\x81the \xf0\x9f\x98\x80\"");
    expect_text(parse("{\"b\":[1,[],{}],\"a\":null}"), "{\"b\": [1, [], {}], \"a\": null}");
    struct gs_json *json = parse("{\"rows\": [[1, 2], [3, 4]], \"e\": []}");
    char *text = gs_json_text(json, 2);
    assert_string_equal(text, "{\n  \"rows\": [\n    [1, 2],\n    [3, 4]\n  ],\n  \"e\": []\n}");
    gs_free(text);
    gs_json_destroy(json);
    json = parse("{\"a\": {\"b\": {\"x\": 1, \"y\": [2, 3]}, \"c\": {\"z\": [[]]}}}");
    text = gs_json_text(json, 1);
    assert_string_equal(text, "{\n \"a\": {\n  \"b\": {\"x\": 1, \"y\": [2, 3]},\n  \"c\": {\n   "
                              "\"z\": [\n    []\n   ]\n  }\n }\n}");
    gs_free(text);
    gs_json_destroy(json);
}

/* Whatever is written reads back the same. */
static void test_round_trip(void **state) {
    (void)state;
    static const char *const strings[] = {"",
                                          "\"quoted\"",
                                          "a\nb\r\tc",
                                          "</script><!--",
                                          "\\",
                                          "<0xF0>",
                                          "\xe2\x96\x81",
                                          "\xe2\x80\xa9",
                                          "`rm`",
                                          "\x7f",
                                          "\xc2\x9b"
                                          "31m",
                                          "\xe2\x80\xae"
                                          "abc"};
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) {
        struct gs_json *json = gs_json_new_object();
        assert_true(gs_json_set(json, strings[i], gs_json_new_string(strings[i])));
        char *text = gs_json_text(json, (int)(i % 3));
        struct gs_json *back = parse(text);
        assert_string_equal(gs_json_key_at(back, 0), strings[i]);
        assert_string_equal(gs_json_string(gs_json_value_at(back, 0)), strings[i]);
        gs_free(text);
        gs_json_destroy(back);
        gs_json_destroy(json);
    }
    static const double numbers[] = {0.1, 1.0 / 3, DBL_MAX, 5e-324, -0.0, 12345678901234567.0};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct gs_json *json = gs_json_new_number(numbers[i]);
        char *text = gs_json_text(json, 0);
        struct gs_json *back = parse(text);
        double number;
        assert_int_equal(gs_json_type(back), GS_JSON_REAL);
        assert_true(gs_json_number(back, &number));
        assert_memory_equal(&number, &numbers[i], sizeof number);
        gs_free(text);
        gs_json_destroy(back);
        gs_json_destroy(json);
    }
}

static void test_ownership(void **state) {
    (void)state;
    /* a failing set still takes the value (the leak check sees to it) */
    assert_false(gs_json_set(NULL, "x", gs_json_new_string("y")));
    assert_false(gs_json_append(NULL, gs_json_new_string("y")));
    struct gs_json *json = gs_json_new_object();
    assert_false(gs_json_set(json, "x", NULL));
    assert_false(gs_json_append(json, gs_json_new_null()));
    struct gs_json *inner = gs_json_new_array();
    assert_true(gs_json_append(inner, gs_json_new_integer(1)));
    assert_true(gs_json_set(json, "inner", inner));
    struct gs_json *copy = gs_json_copy(json);
    gs_json_destroy(json);
    assert_int_equal(gs_json_size(gs_json_get(copy, "inner")), 1);
    gs_json_destroy(copy);
    assert_null(gs_json_copy(NULL));
}

static void test_files(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_json *json;
    const char *good = gs_scratch_file("good.json", "{\"a\": [1]}\n", 11);
    gs_assert_ok(gs_json_read_file(good, &json, &error), &error);
    FILE *full = fopen("/dev/full", "w");
    if (full) {
        setvbuf(full, NULL, _IONBF, 0);
        gs_assert_error(gs_json_print(json, full, &error), GS_IO, &error, "cannot write");
        fclose(full);
    }
    gs_json_destroy(json);
    gs_assert_error(gs_json_read_file(gs_scratch_file("bad.json", "{", 1), &json, &error),
                    GS_FORMAT, &error, "bad.json");
    gs_assert_error(gs_json_read_file(gs_scratch_file("empty.json", "", 0), &json, &error),
                    GS_FORMAT, &error, "empty.json");
    gs_assert_error(gs_json_read_file(gs_scratch_path("absent.json"), &json, &error), GS_MISSING,
                    &error, "absent.json");
    gs_assert_error(gs_json_read_file(gs_scratch_folder(), &json, &error), GS_IO, &error, "folder");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hostile),    cmocka_unit_test(test_depth),
        cmocka_unit_test(test_huge),       cmocka_unit_test(test_walk_and_change),
        cmocka_unit_test(test_types),      cmocka_unit_test(test_text),
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_ownership),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
