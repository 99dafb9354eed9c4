/* Random numbers against published outputs, an independent implementation, and their moments. */
#include "tests/support/support.h"

#include "core/base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* First outputs of xoshiro256** from the state {1, 2, 3, 4}, as the generator's ports test them. */
static void test_published(void **state) {
    (void)state;
    static const uint64_t expected[] = {11520u,
                                        0u,
                                        1509978240u,
                                        1215971899390074240u,
                                        1216172134540287360u,
                                        607988272756665600u,
                                        16172922978634559625u,
                                        8476171486693032832u,
                                        10595114339597558777u,
                                        2904607092377533576u};
    struct gs_random random = {{1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_true(gs_random_bits(&random) == expected[i]);
}

/* Seeding, from an implementation of our own in Python's integers (splitmix64 of the seed, xor
 * FNV-1a of the name, four splitmix64 outputs). These bits may never change: runs depend on them.
 */
static void test_seeding(void **state) {
    (void)state;
    static const struct {
        uint64_t seed;
        const char *stream;
        uint64_t first[3];
    } cases[] = {
        {0, "init/embedding", {0x4e992de699844d2cu, 0xeff8a7d86643214cu, 0x97726ddf834f1d3cu}},
        {1, "init/embedding", {0x3a3f3bf7fd14b3d2u, 0x2415f0f06d358969u, 0x8c9a8f0d8f3241bfu}},
        {UINT64_MAX, "", {0x0a81060806085bc9u, 0x4c4d2f08a4e15404u, 0x23e8d455470ca233u}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gs_random random;
        gs_random_seed(&random, cases[i].seed, cases[i].stream);
        for (size_t j = 0; j < 3; j++) assert_true(gs_random_bits(&random) == cases[i].first[j]);
    }
}

static void test_uniform(void **state) {
    (void)state;
    enum { COUNT = 1000000, BINS = 64 };
    struct gs_random random, twin;
    double sum = 0, squares = 0, chi = 0;
    size_t bins[BINS] = {0};
    gs_random_seed(&random, 3, "test/uniform");
    twin = random;
    for (size_t i = 0; i < COUNT; i++) {
        double u = gs_random_uniform(&random);
        assert_true(u >= 0 && u < 1);
        assert_true(u * 0x1p53 == (double)(gs_random_bits(&twin) >> 11));
        sum += u;
        squares += u * u;
        bins[(size_t)(u * BINS)]++;
    }
    /* five standard errors */
    gs_assert_near("mean", sum / COUNT, 0.5, 5 * sqrt(1.0 / 12 / COUNT), 0);
    gs_assert_near("mean square", squares / COUNT, 1.0 / 3, 5 * sqrt(4.0 / 45 / COUNT), 0);
    for (size_t i = 0; i < BINS; i++) {
        double away = (double)bins[i] - (double)COUNT / BINS;
        chi += away * away / ((double)COUNT / BINS);
    }
    gs_assert_near("chi square", chi, BINS - 1, 5 * sqrt(2.0 * (BINS - 1)), 0);
}

static void test_below(void **state) {
    (void)state;
    struct gs_random random;
    gs_random_seed(&random, 4, "test/below");
    size_t seen[3] = {0};
    for (int i = 0; i < 300000; i++) seen[gs_random_below(&random, 3)]++;
    for (size_t i = 0; i < 3; i++)
        gs_assert_near("third", (double)seen[i], 1e5, 5 * sqrt(3e5 * 2 / 9), 0);
    for (int i = 0; i < 100; i++) assert_true(gs_random_below(&random, 1) == 0);
    /* a bound for which a plain remainder would give the lower half twice as often */
    uint64_t bound = UINT64_C(3) << 62;
    size_t low = 0;
    for (int i = 0; i < 100000; i++) {
        uint64_t value = gs_random_below(&random, bound);
        assert_true(value < bound);
        low += value < bound / 3;
    }
    gs_assert_near("no bias", (double)low, 1e5 / 3, 5 * sqrt(1e5 * 2 / 9), 0);
    assert_true(gs_random_below(&random, UINT64_MAX) < UINT64_MAX);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Moments, and the largest distance from the normal distribution function (Kolmogorov). */
static void test_normal(void **state) {
    (void)state;
    enum { COUNT = 400000 };
    struct gs_random random;
    double *x = malloc(COUNT * sizeof *x), sum[5] = {0}, distance = 0;
    assert_non_null(x);
    gs_random_seed(&random, 6, "test/normal");
    for (size_t i = 0; i < COUNT; i++) {
        x[i] = gs_random_normal(&random);
        double power = 1;
        for (int k = 1; k <= 4; k++) sum[k] += power *= x[i];
    }
    double error = 5 / sqrt(COUNT);
    gs_assert_near("mean", sum[1] / COUNT, 0, error, 0);
    gs_assert_near("variance", sum[2] / COUNT, 1, error * sqrt(2), 0);
    gs_assert_near("third moment", sum[3] / COUNT, 0, error * sqrt(15), 0);
    gs_assert_near("fourth moment", sum[4] / COUNT, 3, error * sqrt(96), 0);
    qsort(x, COUNT, sizeof *x, compare);
    for (size_t i = 0; i < COUNT; i++) {
        double cumulative = 0.5 * erfc(-x[i] / sqrt(2));
        double away = fabs(cumulative - ((double)i + 0.5) / COUNT);
        if (away > distance) distance = away;
    }
    assert_true(distance < 2 / sqrt(COUNT)); /* passed by chance once in 1500 */
    free(x);
}

/* The normal numbers are those of the polar method with libm's logarithm, within rounding. */
static void test_normal_against_libm(void **state) {
    (void)state;
    struct gs_random random, twin;
    gs_random_seed(&random, 7, "test/normal");
    twin = random;
    for (int i = 0; i < 200000; i++) {
        double u, v, q;
        do {
            u = 2 * gs_random_uniform(&twin) - 1;
            v = 2 * gs_random_uniform(&twin) - 1;
            q = u * u + v * v;
        } while (q >= 1 || q == 0);
        gs_assert_near("normal", gs_random_normal(&random), u * sqrt(-2 * log(q) / q), 0, 1e-14);
    }
    assert_memory_equal(&random, &twin, sizeof random); /* and draw as many bits */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published), cmocka_unit_test(test_seeding),
        cmocka_unit_test(test_uniform),   cmocka_unit_test(test_below),
        cmocka_unit_test(test_normal),    cmocka_unit_test(test_normal_against_libm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
