/* Pickles that no writer wrote: every one is refused by name, in time and memory that its size
 * bounds. */
#include "tests/support/support.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/checkpoint/pickle.h"
#include "core/checkpoint/tensor_file.h"
#include "tests/core/checkpoint/hostile_bytes.h"

#include <stdio.h>
#include <string.h>

static enum gs_status open_bytes(const unsigned char *bytes, size_t size, struct gs_error *error) {
    struct gs_tensor_file *file = NULL;
    enum gs_status status =
        gs_tensor_file_open_bytes(bytes, size, "hostile.pkl", NULL, &file, error);
    if (status != GS_OK) {
        assert_null(file);
        return status;
    }
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

static void refuse(struct bytes *bytes, enum gs_status expected, const char *word) {
    struct gs_error error = {0};
    gs_assert_error(open_bytes(bytes->at, bytes->size, &error), expected, &error, word,
                    "hostile.pkl");
    clear(bytes);
}

/* ---- opcodes ------------------------------------------------------------------------------------
 */

#define BYTES(text) (text), sizeof(text) - 1

static void test_opcodes(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        enum gs_status status;
        const char *word;
    } bad[] = {
        {BYTES("\x80\x04."), GS_FORMAT, "takes more than it has put down"},
        {BYTES("\x80\x04N"), GS_FORMAT, "ends before its STOP"},
        {BYTES("\x80\x04NN."), GS_FORMAT, "values left over"},
        {BYTES("\x80\x04(N."), GS_FORMAT, "unfinished container"},
        {BYTES("\x80\x04N.N"), GS_FORMAT, "behind the end of the pickle"},
        {BYTES("\x80\x04t."), GS_FORMAT, "a mark it has not set"},
        {BYTES("\x80\x04u."), GS_FORMAT, "a mark it has not set"},
        {BYTES("\x80\x04(u."), GS_FORMAT, "takes more than it has put down"},
        {BYTES("\x80\x04}(Nu."), GS_FORMAT, "a key without a value"},
        {BYTES("\x80\x04(Nd."), GS_FORMAT, "a key without a value"},
        {BYTES("\x80\x04K\x01(NNu."), GS_FORMAT, "what holds none"},
        {BYTES("\x80\x04}Na."), GS_FORMAT, "what holds none"},
        {BYTES("\x80\x04(]Na(\x85."), GS_FORMAT, "takes more than it has put down"},
        {BYTES("\x80\x04\x85."), GS_FORMAT, "takes more than it has put down"},
        {BYTES("\x80\x04R."), GS_FORMAT, "takes more than it has put down"},
        {BYTES("\x80\x04NR."), GS_FORMAT, "takes more than it has put down"},
        {BYTES("\x80\x04\x93."), GS_FORMAT, "takes more than it has put down"},
        {BYTES("\x80\x04NN\x93."), GS_FORMAT, "names a global by what is no text"},
        {BYTES("\x80\x04"
               "cos\nsystem"),
         GS_FORMAT, "ends within a name"},
        {BYTES("\x80\x04"
               "cos"),
         GS_FORMAT, "ends within a name"},
        {BYTES("\x80\x04q\x00."), GS_FORMAT, "remembers what it has not put down"},
        {BYTES("\x80\x04h\x00."), GS_FORMAT, "recalls what it has not remembered"},
        {BYTES("\x80\x04j\xff\xff\xff\xff."), GS_FORMAT, "recalls what it has not remembered"},
        {BYTES("\x80\x04Nr\xff\xff\xff\xff."), GS_FORMAT, "beyond its own length"},
        {BYTES("\x80\x04Nr\x00\x00\x00\x40."), GS_FORMAT, "beyond its own length"},
        {BYTES("\x80\x04Nq\x05h\x04."), GS_FORMAT, "recalls what it has not remembered"},
        {BYTES("\x80\x04\x94."), GS_FORMAT, "remembers what it has not put down"},
        {BYTES("\x80\x04\x8a\xff."), GS_FORMAT, "ends within an opcode"},
        {BYTES("\x80\x04\x8b\xff\xff\xff\x7f."), GS_FORMAT, "ends within an opcode"},
        {BYTES("\x80\x04\x8b\xff\xff\xff\xff."), GS_FORMAT, "ends within an opcode"},
        {BYTES("\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\xff."), GS_FORMAT,
         "ends within an opcode"},
        {BYTES("\x80\x04\x8e\x00\x00\x00\x00\x01\x00\x00\x00."), GS_FORMAT,
         "ends within an opcode"},
        {BYTES("\x80\x05\x96\xff\xff\xff\xff\xff\xff\xff\x7f."), GS_FORMAT,
         "ends within an opcode"},
        {BYTES("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff."), GS_FORMAT,
         "ends within an opcode"},
        {BYTES("\x80\x04"
               "B\xff\xff\xff\xff."),
         GS_FORMAT, "ends within an opcode"},
        {BYTES("\x80\x04X\xff\xff\xff\x7f."), GS_FORMAT, "ends within an opcode"},
        {BYTES("\x80\x04"
               "C\x05"
               "abc."),
         GS_FORMAT, "ends within an opcode"},
        {BYTES("\x80\x04G\x00\x00."), GS_FORMAT, "ends within an opcode"},
        {BYTES("\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\xffN."), GS_FORMAT, "beyond its end"},
        {BYTES("\x80\x04\x95\x03\x00\x00\x00\x00\x00\x00\x00N."), GS_FORMAT, "beyond its end"},
        {BYTES("\x80\x04\x80\x06N."), GS_UNSUPPORTED, "a protocol of pickle that is not known"},
        {BYTES("\x80\x04\x82\x01."), GS_UNSUPPORTED, "copyreg"},
        {BYTES("\x80\x04\x83\x01\x01."), GS_UNSUPPORTED, "copyreg"},
        {BYTES("\x80\x04\x84\x01\x01\x01\x01."), GS_UNSUPPORTED, "copyreg"},
        {BYTES("\x80\x05\x97."), GS_UNSUPPORTED, "in another file"},
        {BYTES("\x80\x05\x98."), GS_FORMAT, "no buffer"},
        {BYTES("\x80\x04I01\n."), GS_UNSUPPORTED, "old text protocol"},
        {BYTES("\x80\x04S'a'\n."), GS_UNSUPPORTED, "old text protocol"},
        {BYTES("\x80\x04P1\n."), GS_UNSUPPORTED, "old text protocol"},
        {BYTES("\x80\x04(cos\nsystem\no."), GS_UNSUPPORTED, "old text protocol"},
        {BYTES("\x80\x04(ios\nsystem\n."), GS_UNSUPPORTED, "old text protocol"},
        {BYTES("\x80\x04\x00."), GS_FORMAT, "that pickles do not have"},
        {BYTES("\x80\x04\xff."), GS_FORMAT, "that pickles do not have"},
        {BYTES("\x80\x04N."), GS_UNSUPPORTED, "no dict of tensors"},
        {BYTES("\x80\x04K\x07."), GS_UNSUPPORTED, "no dict of tensors"},
        {BYTES("\x80\x04]."), GS_UNSUPPORTED, "no dict of tensors"},
        /* what others would run */
        {BYTES("\x80\x04"
               "cos\nsystem\nX\x04\x00\x00\x00"
               "true\x85R."),
         GS_UNSUPPORTED, "an object of os.system"},
        {BYTES("\x80\x04"
               "cbuiltins\neval\n."),
         GS_UNSUPPORTED, "the name builtins.eval"},
        {BYTES("\x80\x04}X\x01\x00\x00\x00wcos\nsystem\n)Rs."), GS_UNSUPPORTED,
         "an object of os.system"},
        {BYTES("\x80\x04}X\x01\x00\x00\x00wNQs."), GS_UNSUPPORTED, "outside of the pickle"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct gs_error error = {0};
        struct bytes exact = {0}; /* as large as it is, so that reading beyond is seen */
        put(&exact, bad[i].bytes, bad[i].size);
        enum gs_status status = open_bytes(exact.at, exact.size, &error);
        if (status != bad[i].status) print_message("case %zu\n", i);
        gs_assert_error(status, bad[i].status, &error, bad[i].word, "hostile.pkl");
        clear(&exact);
    }
}

/* ---- size and depth
 * ------------------------------------------------------------------------------ */

enum { MANY = 1000000 };

static void begin(struct bytes *to) {
    put(to, "\x80\x02}", 3);
}

static void test_deep(void **state) {
    (void)state;
    struct bytes deep = {0};
    begin(&deep);
    put_text(&deep, "params");
    put_byte(&deep, '}');
    put_text(&deep, "w");
    for (size_t i = 0; i < MANY; i++) put_byte(&deep, ']');
    for (size_t i = 1; i < MANY; i++) put_byte(&deep, 'a');
    put(&deep, "ss.", 3);
    refuse(&deep, GS_UNSUPPORTED, "nested too deeply");
    /* tuples of tuples, made from inside */
    put(&deep, "\x80\x02)", 3);
    for (size_t i = 0; i < MANY; i++) put_byte(&deep, 0x85);
    put_byte(&deep, '.');
    refuse(&deep, GS_UNSUPPORTED, "no dict of tensors");
    /* marks alone */
    put(&deep, "\x80\x02", 2);
    for (size_t i = 0; i < MANY; i++) put_byte(&deep, '(');
    refuse(&deep, GS_FORMAT, "ends before its STOP");
    /* calls of calls, states of states */
    put(&deep, "\x80\x02", 2);
    put_global(&deep, "a", "b");
    for (size_t i = 0; i < MANY; i++) put(&deep, ")R", 2);
    for (size_t i = 0; i < MANY; i++) put(&deep, ")b", 2);
    put_byte(&deep, '.');
    refuse(&deep, GS_UNSUPPORTED, "no dict of tensors");
    /* the same value again and again */
    put(&deep, "\x80\x02]", 3);
    for (size_t i = 0; i < MANY; i++) put_byte(&deep, '2');
    put(&deep, ".", 1);
    refuse(&deep, GS_FORMAT, "values left over");
}

static void test_circles(void **state) {
    (void)state;
    struct bytes circle = {0};
    begin(&circle); /* d = {}; d["a"] = d */
    put(&circle, "q\x00", 2);
    put_text(&circle, "a");
    put(&circle, "h\x00s.", 4);
    refuse(&circle, GS_UNSUPPORTED, "holds itself");
    begin(&circle); /* l = []; l.append(l); {"a": l} */
    put_text(&circle, "a");
    put(&circle,
        "]q\x00h\x00"
        "as.",
        8);
    refuse(&circle, GS_UNSUPPORTED, "holds itself");
    begin(&circle); /* params = {"params": params} */
    put(&circle, "q\x00", 2);
    put_text(&circle, "params");
    put(&circle, "h\x00s.", 4);
    refuse(&circle, GS_UNSUPPORTED, "holds itself");
    begin(&circle); /* a FrozenDict that is its own argument */
    put_text(&circle, "a");
    put_global(&circle, "flax", "FrozenDict");
    put(&circle,
        "]q\x00h\x00"
        "aRs.",
        9);
    refuse(&circle, GS_UNSUPPORTED, "FrozenDict");
}

/* Each of 40 dicts holds the one before it twice: 2^40 leaves. */
static void test_laughs(void **state) {
    (void)state;
    struct bytes laughs = {0};
    begin(&laughs);
    put_text(&laughs, "params");
    put(&laughs, "}q\x00", 3);
    for (unsigned char i = 0; i < 40; i++) {
        put(&laughs, "0}q", 3);
        put_byte(&laughs, (unsigned char)(i + 1));
        for (size_t k = 0; k < 2; k++) {
            put_text(&laughs, k ? "b" : "a");
            put_byte(&laughs, 'h');
            put_byte(&laughs, i);
            put_byte(&laughs, 's');
        }
    }
    put(&laughs, "s.", 2);
    refuse(&laughs, GS_UNSUPPORTED, "nested too deeply");
    /* not deep, but wide: one dict at many places */
    begin(&laughs);
    put_text(&laughs, "params");
    put(&laughs, "}(", 2);
    put_text(&laughs, "a");
    put(&laughs, "}q\x00", 3);
    put_text(&laughs, "b");
    put(&laughs, "h\x00us.", 5);
    refuse(&laughs, GS_UNSUPPORTED, "two places");
}

/* ---- arrays
 * -------------------------------------------------------------------------------------- */

static void test_arrays(void **state) {
    (void)state;
    static const struct {
        int64_t shape[9];
        size_t rank, bytes;
        enum gs_status status;
        const char *word;
    } bad[] = {
        {{3}, 1, 8, GS_SHAPE, "12 bytes"},
        {{3}, 1, 16, GS_SHAPE, "12 bytes"},
        {{-1}, 1, 4, GS_FORMAT, "no list of lengths"},
        {{2, -2}, 2, 4, GS_FORMAT, "no list of lengths"},
        {{INT64_MAX}, 1, 4, GS_SHAPE, "more elements than memory"},
        {{INT64_MAX, INT64_MAX}, 2, 4, GS_SHAPE, "more elements than memory"},
        {{(int64_t)1 << 32, (int64_t)1 << 32}, 2, 0, GS_SHAPE, "more elements than memory"},
        {{(int64_t)1 << 31, (int64_t)1 << 31, 4}, 3, 0, GS_SHAPE, "more elements than memory"},
        {{1, 1, 1, 1, 1, 1, 1, 1, 1}, 9, 4, GS_UNSUPPORTED, "more than 8 axes"},
        {{(int64_t)1 << 40}, 1, 4, GS_SHAPE, "4398046511104 bytes"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        for (int columns = 0; columns < 2; columns++) {
            struct bytes pickle = {0};
            begin(&pickle);
            put_text(&pickle, "w");
            put_array(&pickle, bad[i].shape, bad[i].rank, columns, bad[i].bytes);
            put(&pickle, "s.", 2);
            struct gs_error error = {0};
            enum gs_status status = open_bytes(pickle.at, pickle.size, &error);
            gs_assert_error(status, bad[i].status, &error, bad[i].word, "tensor \"w\"");
            clear(&pickle);
        }
}

/* An empty tensor is legal, and so is one without axes. */
static void test_legal(void **state) {
    (void)state;
    static const struct {
        int64_t shape[3];
        size_t rank, bytes;
    } good[] = {{{0}, 1, 0}, {{0, INT64_MAX, INT64_MAX}, 3, 0}, {{0}, 0, 4}, {{1, 1, 2}, 3, 8}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct bytes pickle = {0};
        begin(&pickle);
        put_text(&pickle, "w");
        put_array(&pickle, good[i].shape, good[i].rank, i % 2, good[i].bytes);
        put(&pickle, "s.", 2);
        struct gs_error error = {0};
        gs_assert_ok(open_bytes(pickle.at, pickle.size, &error), &error);
        clear(&pickle);
    }
}

/* One array under so many names that they would be a model much larger than the file. */
static void test_shared_array(void **state) {
    (void)state;
    const int64_t shape[] = {25000};
    struct bytes pickle = {0};
    begin(&pickle);
    put_text(&pickle, "w");
    put_array(&pickle, shape, 1, 0, 100000);
    put(&pickle, "q\x01s", 3);
    for (unsigned i = 0; i < 5000; i++) {
        char name[16];
        snprintf(name, sizeof name, "%u", i);
        put_text(&pickle, name);
        put(&pickle, "h\x01s", 3);
    }
    put_byte(&pickle, '.');
    refuse(&pickle, GS_UNSUPPORTED, "share their bytes too often");
}

static void test_names(void **state) {
    (void)state;
    const int64_t shape[] = {1};
    struct bytes pickle = {0};
    begin(&pickle);
    for (int i = 0; i < 2; i++) {
        put_text(&pickle, "w");
        put_array(&pickle, shape, 1, 0, 4);
        put_byte(&pickle, 's');
    }
    put_byte(&pickle, '.');
    refuse(&pickle, GS_FORMAT, "stands twice");
    begin(&pickle);
    put(&pickle, "X\x03\x00\x00\x00w\x00w", 8);
    put_array(&pickle, shape, 1, 0, 4);
    put(&pickle, "s.", 2);
    refuse(&pickle, GS_FORMAT, "NUL");
    char name[2000];
    memset(name, 'a', sizeof name);
    name[sizeof name - 1] = '\0';
    begin(&pickle);
    put_text(&pickle, name);
    put_array(&pickle, shape, 1, 0, 4);
    put(&pickle, "s.", 2);
    refuse(&pickle, GS_UNSUPPORTED, "too long");
}

/* Text for bytes (protocol 2) whose characters are none of Latin-1, or too few. */
static void test_text_for_bytes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum gs_status status;
    } cases[] = {{"ab\xc3\xa9"
                  "d",
                  GS_OK},
                 {"\xc2\x80\xc3\xbf\xc2\x81z", GS_OK},
                 {"abc", GS_SHAPE},
                 {"abcde", GS_FORMAT},
                 {"ab\xc3", GS_SHAPE},
                 {"abc\xc3", GS_FORMAT},
                 {"ab\xe2\x82\xac", GS_FORMAT},
                 {"ab\xc4\x80"
                  "d",
                  GS_FORMAT},
                 {"abcdefghijkl", GS_SHAPE},
                 {"\x80"
                  "bcd",
                  GS_FORMAT},
                 {"abc\xc3"
                  "a",
                  GS_FORMAT}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int64_t shape[] = {1};
        struct bytes pickle = {0};
        begin(&pickle);
        put_text(&pickle, "w");
        put_array(&pickle, shape, 1, 0, 0);
        pickle.size -= 7; /* without its bytes: B, four of length, t, b */
        put_global(&pickle, "_codecs", "encode");
        put_text(&pickle, cases[i].text);
        put_text(&pickle, "latin1");
        put(&pickle, "\x86Rtbs.", 6);
        struct gs_error error = {0};
        enum gs_status status = open_bytes(pickle.at, pickle.size, &error);
        if (status != cases[i].status) print_message("case %zu\n", i);
        assert_int_equal(status, cases[i].status);
        clear(&pickle);
    }
}

/* ---- cut off, and changed
 * -------------------------------------------------------------------------- */

static const char *const samples[] = {"protocol5.pkl", "optax.pkl", "void.pkl",
                                      "nested.pkl",    "jax.pkl",   "scalars2.pkl"};

static void each_sample(size_t first, void (*use)(const unsigned char *bytes, size_t size)) {
    for (size_t i = first; i < sizeof samples / sizeof samples[0]; i++) {
        char relative[128];
        struct gs_mapped_file file;
        struct gs_error error = {0};
        snprintf(relative, sizeof relative, "fixtures/checkpoints/%s", samples[i]);
        gs_assert_ok(gs_file_map(gs_source_path(relative), &file, &error), &error);
        use(file.bytes, file.size);
        gs_file_unmap(&file);
    }
}

static void cut(const unsigned char *bytes, size_t size) {
    for (size_t length = 0; length < size; length++) {
        struct bytes exact = {0};
        struct gs_error error = {0};
        put(&exact, bytes, length);
        if (length == 0) put(&exact, "", 1); /* so that there is an address */
        assert_int_not_equal(open_bytes(exact.at, length, &error), GS_OK);
        assert_true(error.what[0] && error.where[0]);
        clear(&exact);
    }
}

static void change(const unsigned char *bytes, size_t size) {
    static const unsigned char turns[] = {0xff, 0x01};
    struct bytes changed = {0};
    put(&changed, bytes, size);
    for (size_t i = 0; i < size; i++)
        for (size_t k = 0; k < sizeof turns; k++) {
            struct gs_error error = {0};
            changed.at[i] = (unsigned char)(bytes[i] ^ turns[k]);
            if (open_bytes(changed.at, size, &error) != GS_OK) assert_true(error.what[0]);
            changed.at[i] = bytes[i];
        }
    clear(&changed);
}

static void test_cut_everywhere(void **state) {
    (void)state;
    each_sample(0, cut);
}

static void test_every_byte_changed(void **state) {
    (void)state;
    each_sample(4, change); /* changing takes longest: the last two */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opcodes),
        cmocka_unit_test(test_deep),
        cmocka_unit_test(test_circles),
        cmocka_unit_test(test_laughs),
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_legal),
        cmocka_unit_test(test_shared_array),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_text_for_bytes),
        cmocka_unit_test(test_cut_everywhere),
        cmocka_unit_test(test_every_byte_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
