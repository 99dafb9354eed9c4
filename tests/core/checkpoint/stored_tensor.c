/* Tensors of every width, byte order and order of axes against the definition: element (i, j, k)
 * stands i s0 + j s1 + k s2 elements behind the first. */
#include "core/checkpoint/stored_tensor.h"

#include "core/base/random.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum { MOST = 4096 };

/* A small whole number plus halves, which all formats hold exactly. */
static float value_at(size_t element) {
    return (float)((int)(element % 61) - 30) / 2;
}

/* The bytes of a value by arithmetic on its sign, exponent and fraction. */
static uint64_t bits_of(double value, int exponent_bits, int fraction_bits) {
    if (value == 0) return 0;
    int exponent;
    double fraction = frexp(fabs(value), &exponent); /* 0.5 … 1 */
    const int bias = (1 << (exponent_bits - 1)) - 1;
    uint64_t low = (uint64_t)ldexp(fraction * 2 - 1, fraction_bits);
    uint64_t high = (uint64_t)(exponent - 1 + bias) << fraction_bits;
    return (value < 0 ? (uint64_t)1 << (exponent_bits + fraction_bits) : 0) | high | low;
}

static const struct format {
    enum gs_element element;
    size_t width;
    int exponent, fraction;
} formats[] = {{GS_ELEMENT_FLOAT, 2, 5, 10},
               {GS_ELEMENT_BFLOAT16, 2, 8, 7},
               {GS_ELEMENT_FLOAT, 4, 8, 23},
               {GS_ELEMENT_FLOAT, 8, 11, 52}};

static void store(unsigned char *bytes, const struct format *format, bool big, double value) {
    uint64_t bits = bits_of(value, format->exponent, format->fraction);
    for (size_t i = 0; i < format->width; i++)
        bytes[big ? format->width - 1 - i : i] = (unsigned char)(bits >> (8 * i));
}

/* Axes in a random order, with room between their elements. */
static void random_layout(struct gs_random *random, struct gs_stored_tensor *tensor) {
    size_t order[3] = {0, 1, 2}, stride = 1 + (size_t)gs_random_below(random, 2);
    tensor->rank = (size_t)gs_random_below(random, 4);
    for (size_t i = tensor->rank; i > 1; i--) {
        size_t k = (size_t)gs_random_below(random, i), kept = order[i - 1];
        order[i - 1] = order[k];
        order[k] = kept;
    }
    for (size_t i = 0; i < tensor->rank; i++) {
        tensor->shape[order[i]] = 1 + (size_t)gs_random_below(random, 5);
        tensor->stride[order[i]] = stride;
        stride *= tensor->shape[order[i]] + (size_t)gs_random_below(random, 2);
    }
}

static size_t place_of(const struct gs_stored_tensor *tensor, size_t element) {
    size_t place = 0;
    for (size_t axis = tensor->rank; axis > 0; axis--) {
        place += element % tensor->shape[axis - 1] * tensor->stride[axis - 1];
        element /= tensor->shape[axis - 1];
    }
    return place;
}

static void test_layouts(void **state) {
    (void)state;
    static unsigned char bytes[8 * MOST + 1];
    struct gs_random random;
    struct gs_error error = {0};
    gs_random_seed(&random, 5, "layouts");
    for (size_t round = 0; round < 4000; round++) {
        const struct format *format = &formats[round % 4];
        struct gs_stored_tensor tensor = {.name = "w",
                                          .is_tensor = true,
                                          .element = format->element,
                                          .width = format->width,
                                          .big_endian = round / 4 % 2 == 1,
                                          .bytes = bytes + 1}; /* not aligned */
        float values[128];
        random_layout(&random, &tensor);
        gs_assert_ok(gs_stored_tensor_measure(&tensor, &error), &error);
        assert_true(tensor.count >= 1 && tensor.count <= 125 && tensor.span <= 8 * MOST);
        memset(bytes, 0xaa, sizeof bytes);
        for (size_t i = 0; i < tensor.count; i++)
            store(bytes + 1 + place_of(&tensor, i) * tensor.width, format, tensor.big_endian,
                  (double)value_at(i));
        assert_int_equal(tensor.span, (place_of(&tensor, tensor.count - 1) + 1) * tensor.width);
        gs_assert_ok(gs_stored_tensor_read(&tensor, values, &error), &error);
        for (size_t i = 0; i < tensor.count; i++)
            if (values[i] != value_at(i))
                fail_msg("round %zu, element %zu: %g, not %g", round, i, (double)values[i],
                         (double)value_at(i));
    }
}

/* Packed by rows and by columns, and turned, against the formulas of both orders. */
static void test_packing(void **state) {
    (void)state;
    unsigned char bytes[4 * 6];
    float values[6];
    struct gs_error error = {0};
    for (size_t i = 0; i < 6; i++) store(bytes + 4 * i, &formats[2], false, (double)i);
    struct gs_stored_tensor tensor = {.is_tensor = true,
                                      .element = GS_ELEMENT_FLOAT,
                                      .width = 4,
                                      .rank = 2,
                                      .shape = {2, 3},
                                      .bytes = bytes};
    gs_assert_ok(gs_stored_tensor_pack(&tensor, &error), &error);
    gs_assert_ok(gs_stored_tensor_transpose(&tensor, &error), &error);
    gs_assert_ok(gs_stored_tensor_read(&tensor, values, &error), &error);
    const float turned[] = {0, 3, 1, 4, 2, 5};
    assert_true(tensor.shape[0] == 3 && tensor.shape[1] == 2);
    assert_memory_equal(values, turned, sizeof turned);
    tensor.shape[0] = 2;
    tensor.shape[1] = 3;
    gs_assert_ok(gs_stored_tensor_pack_columns(&tensor, &error), &error);
    gs_assert_ok(gs_stored_tensor_read(&tensor, values, &error), &error);
    const float columns[] = {0, 2, 4, 1, 3, 5};
    assert_memory_equal(values, columns, sizeof columns);
    tensor.rank = 3;
    gs_assert_error(gs_stored_tensor_transpose(&tensor, &error), GS_SHAPE, &error, "matrix");
}

static void test_out_of_range(void **state) {
    (void)state;
    unsigned char bytes[16];
    float values[2];
    struct gs_error error = {0};
    struct gs_stored_tensor tensor = {.name = "w",
                                      .is_tensor = true,
                                      .element = GS_ELEMENT_FLOAT,
                                      .width = 8,
                                      .rank = 1,
                                      .shape = {2},
                                      .bytes = bytes};
    gs_assert_ok(gs_stored_tensor_pack(&tensor, &error), &error);
    store(bytes, &formats[3], false, 1);
    store(bytes + 8, &formats[3], false, -1e39);
    gs_assert_error(gs_stored_tensor_read(&tensor, values, &error), GS_RANGE, &error, "-1e+39",
                    "index 1", "\"w\"");
    tensor.element = GS_ELEMENT_SIGNED;
    gs_assert_error(gs_stored_tensor_read(&tensor, values, &error), GS_UNSUPPORTED, &error,
                    "floating-point");
    tensor.is_tensor = false;
    gs_assert_error(gs_stored_tensor_read(&tensor, values, &error), GS_UNSUPPORTED, &error,
                    "an object where a tensor is needed");
}

static void test_integers(void **state) {
    (void)state;
    static const struct {
        enum gs_element element;
        size_t width;
        bool big;
        unsigned char bytes[8];
        bool whole;
        int64_t number;
    } cases[] = {
        {GS_ELEMENT_SIGNED, 1, false, {0xfe}, true, -2},
        {GS_ELEMENT_UNSIGNED, 1, false, {0xfe}, true, 254},
        {GS_ELEMENT_SIGNED, 2, true, {0xff, 0x00}, true, -256},
        {GS_ELEMENT_SIGNED, 4, false, {1, 0, 0, 0x80}, true, -2147483647},
        {GS_ELEMENT_UNSIGNED, 4, true, {0x80, 0, 0, 1}, true, 2147483649},
        {GS_ELEMENT_SIGNED, 8, false, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, true, -1},
        {GS_ELEMENT_UNSIGNED, 8, false, {0, 0, 0, 0, 0, 0, 0, 0x80}, false, 0},
        {GS_ELEMENT_FLOAT, 4, false, {0, 0, 0xf0, 0x41}, true, 30},
        {GS_ELEMENT_FLOAT, 4, false, {0, 0, 0xf1, 0x41}, false, 0},
        {GS_ELEMENT_FLOAT, 4, false, {0, 0, 0xc0, 0x7f}, false, 0},
        {GS_ELEMENT_FLOAT, 8, false, {0, 0, 0, 0, 0, 0, 0xf0, 0x7f}, false, 0},
        {GS_ELEMENT_BFLOAT16, 2, false, {0xf0, 0x41}, true, 30},
        {GS_ELEMENT_OTHER, 8, false, {1}, false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gs_stored_tensor tensor = {.is_tensor = true,
                                          .element = cases[i].element,
                                          .width = cases[i].width,
                                          .big_endian = cases[i].big,
                                          .bytes = cases[i].bytes};
        struct gs_error error = {0};
        int64_t number = 77;
        gs_assert_ok(gs_stored_tensor_pack(&tensor, &error), &error);
        assert_int_equal(gs_stored_tensor_integer(&tensor, &number), cases[i].whole);
        if (cases[i].whole) assert_int_equal(number, cases[i].number);
        tensor.count = 2;
        assert_false(gs_stored_tensor_integer(&tensor, &number));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_packing),
        cmocka_unit_test(test_out_of_range),
        cmocka_unit_test(test_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
