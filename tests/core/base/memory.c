/* Arithmetic that cannot wrap, against 128-bit arithmetic; allocations aligned and zeroed. */
#include "tests/support/support.h"

#include "core/base/memory.h"
#include "core/base/random.h"

#include <string.h>

/* a * b < 2^64 exactly when the high word of the product is zero: schoolbook halves. */
static bool product_fits(uint64_t a, uint64_t b) {
    uint64_t a1 = a >> 32, a0 = a & 0xffffffffu, b1 = b >> 32, b0 = b & 0xffffffffu;
    if (a1 && b1) return false;
    uint64_t middle = a1 * b0 + a0 * b1; /* one of them is 0 */
    return middle >> 32 == 0 && (middle << 32) + a0 * b0 >= a0 * b0;
}

static void test_multiply(void **state) {
    (void)state;
    struct gs_random random;
    gs_random_seed(&random, 5, "test/multiply");
    size_t product, good = 0;
    for (int i = 0; i < 100000; i++) {
        size_t a = (size_t)(gs_random_bits(&random) >> gs_random_below(&random, 64));
        size_t b = (size_t)(gs_random_bits(&random) >> gs_random_below(&random, 64));
        product = 77;
        bool fits = gs_multiply(a, b, &product);
        assert_int_equal(fits, product_fits(a, b));
        assert_true(product == (fits ? a * b : 77));
        good += fits;
    }
    assert_true(good > 10000 && good < 90000); /* both outcomes were seen often */
    assert_true(gs_multiply(0, SIZE_MAX, &product) && product == 0);
    assert_true(gs_multiply(SIZE_MAX, 0, &product) && product == 0);
    assert_true(gs_multiply(SIZE_MAX, 1, &product) && product == SIZE_MAX);
    assert_false(gs_multiply(SIZE_MAX / 2 + 1, 2, &product));
}

static void test_add(void **state) {
    (void)state;
    size_t sum = 77;
    assert_true(gs_add(SIZE_MAX - 1, 1, &sum) && sum == SIZE_MAX);
    sum = 77;
    assert_false(gs_add(SIZE_MAX, 1, &sum));
    assert_false(gs_add(1, SIZE_MAX, &sum));
    assert_int_equal(sum, 77);
}

static void test_allocate(void **state) {
    (void)state;
    /* the last so large that pages of another size are asked for */
    static const size_t sizes[] = {0, 1, 63, 64, 65, 4096, 100001, 9000001};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *bytes = gs_calloc(sizes[i], 1);
        assert_non_null(bytes);
        assert_int_equal((uintptr_t)bytes % 64, 0);
        size_t set = 0;
        for (size_t j = 0; j < sizes[i]; j++) set += bytes[j] != 0;
        assert_int_equal(set, 0);
        memset(bytes, 0xff, sizes[i]); /* dirty for the next */
        gs_free(bytes);
    }
    assert_null(gs_calloc(SIZE_MAX, 2));
    assert_null(gs_calloc(SIZE_MAX, 1)); /* rounding up would wrap */
    assert_null(gs_calloc(SIZE_MAX / 4, 3));
    gs_free(NULL);
}

static void test_copy(void **state) {
    (void)state;
    assert_null(gs_strdup(NULL));
    char *copy = gs_strdup("");
    assert_string_equal(copy, "");
    gs_free(copy);
    copy = gs_strdup("text");
    assert_string_equal(copy, "text");
    gs_free(copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_multiply),
        cmocka_unit_test(test_add),
        cmocka_unit_test(test_allocate),
        cmocka_unit_test(test_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
