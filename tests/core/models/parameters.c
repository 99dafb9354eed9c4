/* Parameters: names, shapes and the distributions they start from (model.md, "Parameters"). */
#include "tests/support/support.h"

#include "core/models/parameters.h"

#include <math.h>
#include <string.h>

enum { ROWS = 400, COLUMNS = 300, SEED = 5 };

static struct gs_parameters *make(enum gs_init init) {
    struct gs_error error = {0};
    struct gs_parameters *p;
    struct gs_tensor declared[2] = {
        {.name = "w", .rank = 2, .shape = {ROWS, COLUMNS}, .fan_in = ROWS, .init = init},
        {.name = "b", .rank = 1, .shape = {3}, .init = GS_INIT_ONE}};
    gs_assert_ok(gs_parameters_create(declared, 2, &p, &error), &error);
    gs_parameters_initialise(p, SEED);
    return p;
}

struct moments {
    double mean, deviation, lowest, highest;
};

static struct moments moments_of(const struct gs_tensor *t) {
    struct moments m = {0, 0, INFINITY, -INFINITY};
    for (size_t i = 0; i < t->count; i++) {
        m.mean += (double)t->values[i] / (double)t->count;
        m.lowest = fmin(m.lowest, (double)t->values[i]);
        m.highest = fmax(m.highest, (double)t->values[i]);
    }
    for (size_t i = 0; i < t->count; i++)
        m.deviation += pow((double)t->values[i] - m.mean, 2) / (double)t->count;
    m.deviation = sqrt(m.deviation);
    return m;
}

static void lecun_is_cut_at_two_sigma_and_rescaled(void **unused) {
    (void)unused;
    struct gs_parameters *p = make(GS_INIT_LECUN);
    struct moments m = moments_of(&p->tensors[0]);
    double deviation = 1 / sqrt(ROWS), sigma = deviation / 0.87962566;
    gs_assert_near("mean", m.mean, 0, 4 * deviation / sqrt(ROWS * COLUMNS), 0);
    gs_assert_near("deviation", m.deviation, deviation, 0, 0.01);
    assert_true(m.highest <= 2 * sigma * 1.000001 && m.highest > 1.99 * sigma);
    assert_true(m.lowest >= -2 * sigma * 1.000001 && m.lowest < -1.99 * sigma);
    gs_parameters_destroy(p);
}

static void normal_and_uniform(void **unused) {
    (void)unused;
    struct gs_parameters *p = make(GS_INIT_NORMAL_002);
    struct moments m = moments_of(&p->tensors[0]);
    gs_assert_near("deviation", m.deviation, 0.02, 0, 0.01);
    assert_true(m.highest > 4 * 0.02); /* not cut */
    gs_parameters_destroy(p);
    p = make(GS_INIT_UNIFORM);
    m = moments_of(&p->tensors[0]);
    gs_assert_near("deviation", m.deviation, 1 / sqrt(3.0 * ROWS), 0, 0.01);
    assert_true(m.highest <= 1 / sqrt((double)ROWS) && m.lowest >= -1 / sqrt((double)ROWS));
    gs_parameters_destroy(p);
}

/* exp(A_log) is uniform in (0, 16); softplus(dt_bias) is log-uniform in (1e-3, 1e-1). */
static void decay_starts_as_published(void **unused) {
    (void)unused;
    struct gs_parameters *p = make(GS_INIT_A_LOG);
    for (size_t i = 0; i < p->tensors[0].count; i++)
        p->tensors[0].values[i] = expf(p->tensors[0].values[i]);
    struct moments m = moments_of(&p->tensors[0]);
    gs_assert_near("mean", m.mean, 8, 0.05, 0);
    gs_assert_near("deviation", m.deviation, 16 / sqrt(12), 0, 0.01);
    assert_true(m.lowest >= 0.99e-8 && m.highest <= 16.0001);
    gs_parameters_destroy(p);
    p = make(GS_INIT_DT_BIAS);
    for (size_t i = 0; i < p->tensors[0].count; i++)
        p->tensors[0].values[i] = logf(log1pf(expf(p->tensors[0].values[i])));
    m = moments_of(&p->tensors[0]);
    gs_assert_near("mean", m.mean, (log(1e-3) + log(1e-1)) / 2, 0.02, 0);
    gs_assert_near("deviation", m.deviation, (log(1e-1) - log(1e-3)) / sqrt(12), 0, 0.01);
    assert_true(m.lowest >= log(1e-3) - 1e-3 && m.highest <= log(1e-1) + 1e-3);
    gs_parameters_destroy(p);
}

static void streams_belong_to_names(void **unused) {
    (void)unused;
    struct gs_parameters *p = make(GS_INIT_LECUN), *again = make(GS_INIT_LECUN);
    assert_memory_equal(p->values, again->values, p->stride * sizeof(float));
    strcpy(again->tensors[0].name, "v");
    gs_parameters_initialise(again, SEED);
    assert_memory_not_equal(p->tensors[0].values, again->tensors[0].values, 64);
    gs_parameters_initialise(p, SEED + 1);
    strcpy(again->tensors[0].name, "w");
    gs_parameters_initialise(again, SEED);
    assert_memory_not_equal(p->tensors[0].values, again->tensors[0].values, 64);
    gs_parameters_destroy(p);
    gs_parameters_destroy(again);
}

static void what_is_not_finite_is_named(void **unused) {
    (void)unused;
    struct gs_error error = {0};
    struct gs_parameters *p = make(GS_INIT_ONE);
    gs_assert_ok(gs_parameters_check_finite(p, &error), &error);
    p->tensors[1].values[2] = NAN;
    gs_assert_error(gs_parameters_check_finite(p, &error), GS_NUMERIC, &error, "index 2 of b");
    gs_parameters_destroy(p);
}

static void sizes_do_not_wrap(void **unused) {
    (void)unused;
    struct gs_error error = {0};
    struct gs_parameters *p;
    struct gs_tensor declared = {.name = "w", .rank = 4, .shape = {1U << 31, 1U << 31, 4, 1}};
    gs_assert_error(gs_parameters_create(&declared, 1, &p, &error), GS_NO_MEMORY, &error, "memory");
    assert_null(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lecun_is_cut_at_two_sigma_and_rescaled),
        cmocka_unit_test(normal_and_uniform),
        cmocka_unit_test(decay_starts_as_published),
        cmocka_unit_test(streams_belong_to_names),
        cmocka_unit_test(what_is_not_finite_is_named),
        cmocka_unit_test(sizes_do_not_wrap),
    };
    print_message("seed %d\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
