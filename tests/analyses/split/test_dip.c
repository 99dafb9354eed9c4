/* The dip against its definition (a linear programme), published values and published quantiles. */
#include "analyses/split/dip.h"
#include "core/base/random.h"
#include "tests/analyses/split/nearest_unimodal.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>

enum { SEED = 20261130, MOST = 100 };

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double dip_of(const double *sorted, size_t count) {
    size_t scratch[GS_DIP_SCRATCH(MOST)];
    for (size_t i = 0; i < GS_DIP_SCRATCH(MOST); i++) scratch[i] = 77777; /* may hold anything */
    return gs_dip(sorted, count, scratch);
}

/* Answers that R's package diptest gives; the last sample is Hartigan's own ("statfaculty"), in
 * which the dip was printed as 0.0595. */
static void published_values(void **state) {
    (void)state;
    const double two_points[] = {1, 1, 2, 2}, unimodal[] = {0, 1, 3, 6}, small[] = {0, 2, 3, 5, 6},
                 mirrored[] = {0, 1, 3, 4, 6}, tied[] = {1, 2, 2, 2, 2, 2, 2, 2, 2, 2},
                 faculty[] = {30, 33, 35, 36, 37, 37, 39, 39, 39, 39, 39, 40, 40, 40, 40, 41,
                              42, 43, 43, 43, 44, 44, 45, 45, 46, 46, 47, 47, 48, 48, 48, 49,
                              50, 50, 51, 52, 52, 53, 53, 53, 53, 53, 54, 54, 57, 57, 59, 60,
                              60, 60, 61, 61, 61, 61, 62, 62, 62, 62, 63, 66, 70, 72, 72};
    gs_assert_near("two points", dip_of(two_points, 4), 1.0 / 4, 1e-15, 0);
    gs_assert_near("unimodal", dip_of(unimodal, 4), 1.0 / 8, 1e-15, 0);
    gs_assert_near("small", dip_of(small, 5), 2.0 / 15, 1e-15, 0);
    gs_assert_near("mirrored", dip_of(mirrored, 5), 2.0 / 15, 1e-15, 0);
    gs_assert_near("tied", dip_of(tied, 10), 1.0 / 20, 1e-15, 0);
    gs_assert_near("faculty", dip_of(faculty, 63), 3.75 / 63, 1e-12, 0);
    /* efolds of 30 trained heads (fixtures/studies/structure/gpn_m_128, seeds 11 and 12),
     * logarithms; Python's package diptest 0.12.0, which agreed with ours on 3,000 made-up samples
     * of 8 to 300, ties among them, to 6e-17 */
    double heads[] = {0.4864, 0.7416, 0.7536, 0.7647, 0.8034, 0.8859, 0.9275, 1.031, 1.137, 1.14,
                      1.22,   1.224,  1.296,  1.414,  1.437,  1.5,    1.656,  1.69,  1.727, 1.803,
                      1.909,  3.13,   3.444,  5.101,  5.147,  8.553,  9.95,   10.62, 22.34, 27.93};
    for (size_t i = 0; i < 30; i++) heads[i] = log(heads[i]);
    gs_assert_near("heads", dip_of(heads, 30), 0.044814396526621496, 1e-15, 0);
}

static void least_samples(void **state) {
    (void)state;
    const double alike[] = {2, 2, 2, 2, 2}, two[] = {1, 5};
    gs_assert_near("none", dip_of(alike, 0), 0, 0, 0);
    gs_assert_near("one", dip_of(alike, 1), 0.5, 0, 0);
    gs_assert_near("alike", dip_of(alike, 5), 0.1, 1e-15, 0);
    gs_assert_near("two", dip_of(two, 2), 0.25, 1e-15, 0);
}

/* Random samples, some with two clumps, some rounded so that values repeat. */
static void agrees_with_its_definition(void **state) {
    (void)state;
    struct gs_random random;
    gs_random_seed(&random, SEED, "test/dip");
    for (int round = 0; round < 400; round++) {
        double x[GS_NEAREST_MOST];
        size_t count = 3 + (size_t)gs_random_below(&random, GS_NEAREST_MOST - 2);
        for (size_t i = 0; i < count; i++) {
            x[i] = gs_random_uniform(&random);
            if (round % 2) x[i] = 0.2 * x[i] + (double)(gs_random_below(&random, 2));
            if (round % 5 == 0) x[i] = (double)(int)(x[i] * 6);
        }
        qsort(x, count, sizeof *x, ascending);
        if (!(x[count - 1] > x[0])) continue;
        double expected = gs_nearest_unimodal(x, count), found = dip_of(x, count);
        if (!(found - expected < 1e-9 && expected - found < 1e-9)) {
            print_error("round %d, seed %d, n %zu:", round, (int)SEED, count);
            for (size_t i = 0; i < count; i++) print_error(" %.17g", x[i]);
            print_error("\n");
        }
        gs_assert_near("dip", found, expected, 1e-9, 0);
    }
}

static void does_not_depend_on_scale_or_side(void **state) {
    (void)state;
    struct gs_random random;
    gs_random_seed(&random, SEED, "test/dip/scale");
    for (int round = 0; round < 100; round++) {
        double x[75], scaled[75], mirrored[75];
        for (size_t i = 0; i < 75; i++) x[i] = gs_random_normal(&random) + (i % 2 ? 3 : 0);
        qsort(x, 75, sizeof *x, ascending);
        for (size_t i = 0; i < 75; i++) {
            scaled[i] = 1000 + 8 * x[i];
            mirrored[i] = -x[74 - i];
        }
        gs_assert_near("scaled", dip_of(scaled, 75), dip_of(x, 75), 1e-10, 0);
        gs_assert_near("mirrored", dip_of(mirrored, 75), dip_of(x, 75), 1e-12, 0);
    }
}

/* Quantiles of the dip of uniform samples, from a million each, in diptest's table (after Hartigan
 * and Hartigan's): as many of ours lie at or below as should, within four deviations. */
static void published_quantiles(void **state) {
    (void)state;
    enum { SAMPLES = 8000 };
    static const struct {
        size_t count;
        double q50, q95, q99;
    } table[] = {{10, 0.0977817630384725, 0.139611395137099, 0.159684158858235},
                 {15, 0.083621033469191, 0.118760769203664, 0.13598356863636},
                 {50, 0.048851155289608, 0.0702737877191269, 0.0811998415355918},
                 {100, 0.0354621760592113, 0.0511279442868827, 0.059024132304226}};
    struct gs_random random;
    gs_random_seed(&random, SEED, "test/dip/quantiles");
    for (size_t t = 0; t < sizeof table / sizeof *table; t++) {
        double below[3] = {0}, x[MOST];
        for (int s = 0; s < SAMPLES; s++) {
            for (size_t i = 0; i < table[t].count; i++) x[i] = gs_random_uniform(&random);
            qsort(x, table[t].count, sizeof *x, ascending);
            double dip = dip_of(x, table[t].count);
            below[0] += dip <= table[t].q50;
            below[1] += dip <= table[t].q95;
            below[2] += dip <= table[t].q99;
        }
        gs_assert_near("50 %", below[0] / SAMPLES, 0.5, 0.023, 0);
        gs_assert_near("95 %", below[1] / SAMPLES, 0.95, 0.01, 0);
        gs_assert_near("99 %", below[2] / SAMPLES, 0.99, 0.0045, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_values),
        cmocka_unit_test(least_samples),
        cmocka_unit_test(agrees_with_its_definition),
        cmocka_unit_test(does_not_depend_on_scale_or_side),
        cmocka_unit_test(published_quantiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
