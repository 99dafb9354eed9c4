/* Gates of memory heads against exp and plain products in float64, in every instruction set that
 * this processor has. */
#include "core/kernels/gates.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum { SEED = 20261130, ROWS = 4 * GS_GATE_ROWS, STRIDE = 21, LAGS = GS_GATE_FAR + 3 };

struct gates {
    float log_decay[ROWS * STRIDE + GS_GATE_GROUP], strength[ROWS * STRIDE + GS_GATE_GROUP];
    float decay[ROWS * GS_GATE_GROUP], key[ROWS * GS_GATE_GROUP], worked[ROWS * GS_GATE_GROUP];
    double log_decay_sum[GS_GATE_GROUP], loss_sum[GS_GATE_GROUP];
    float most_strength[GS_GATE_GROUP];
};

/* Head h keeps about 10^-h; some gates shut or open wholly. */
static void fill(struct gates *g) {
    struct gs_random random;
    gs_random_seed(&random, SEED, "test/gates");
    memset(g, 0, sizeof *g);
    for (size_t i = 0; i < ROWS * STRIDE; i++) {
        double scale = 30 * pow(10, -(double)(i % STRIDE % 8));
        g->log_decay[i] = (float)(scale * log1p(-gs_random_uniform(&random)));
        g->strength[i] = (float)gs_random_uniform(&random);
        if (i % 31 == 0) g->log_decay[i] = 0;
        if (i % 97 == 0) g->log_decay[i] = -INFINITY;
        if (i % 41 == 0) g->strength[i] = i % 2 ? 1.0f : 0.0f;
    }
}

static struct gs_gate_rows rows_of(struct gates *g, bool gated_delta) {
    return (struct gs_gate_rows){g->log_decay, g->strength,     STRIDE, ROWS,
                                 gated_delta,  g->decay,        g->key, g->log_decay_sum,
                                 g->loss_sum,  g->most_strength};
}

static void factors_are_exponentials(void **state) {
    (void)state;
    const struct gs_gate_kernels *k;
    struct gates *g = gs_calloc(1, sizeof *g);
    for (size_t table = 0; (k = gs_gate_kernels_at(table)); table++)
        for (int rule = 0; rule < 2; rule++) {
            fill(g);
            struct gs_gate_rows rows = rows_of(g, rule);
            assert_true(k->group <= GS_GATE_GROUP);
            assert_true(k->factors(&rows));
            for (size_t h = 0; h < k->group; h++) {
                double sum = 0, loss = 0, most = 0;
                for (size_t r = 0; r < ROWS; r++) {
                    double gamma = (double)g->log_decay[r * STRIDE + h], alpha = exp(gamma);
                    double beta = (double)g->strength[r * STRIDE + h];
                    double key = rule ? alpha * (1 - beta) : alpha - beta;
                    gs_assert_near("decay", (double)g->decay[r * k->group + h], alpha, 1e-37, 2e-7);
                    gs_assert_near("key", (double)g->key[r * k->group + h], key, 3e-7, 0);
                    sum += gamma;
                    loss -= expm1(gamma);
                    most = fmax(most, beta);
                }
                gs_assert_near("sum", g->log_decay_sum[h], sum, 0, 1e-13);
                gs_assert_near("loss", g->loss_sum[h], loss, 0, 2e-7);
                gs_assert_near("most", (double)g->most_strength[h], most, 0, 0);
            }
        }
    gs_free(g);
}

/* In every place of a vector. */
static void what_no_gate_may_be_is_found(void **state) {
    (void)state;
    static const float bad[] = {1e-30f, NAN, -1e-30f, 1.0001f, NAN};
    const struct gs_gate_kernels *k;
    struct gates *g = gs_calloc(1, sizeof *g);
    for (size_t table = 0; (k = gs_gate_kernels_at(table)); table++)
        for (size_t i = 0; i < 5; i++)
            for (size_t h = 0; h < k->group; h++) {
                fill(g);
                struct gs_gate_rows rows = rows_of(g, false);
                size_t at = (7 + h) * STRIDE + h;
                if (i < 2)
                    g->log_decay[at] = bad[i];
                else
                    g->strength[at] = bad[i];
                assert_false(k->factors(&rows));
            }
    gs_free(g);
}

/* Products of 2^l factors that end at row r; none before the first row. */
static double product(const float *factors, size_t group, size_t r, size_t h, size_t l) {
    size_t window = (size_t)1 << l;
    double value = 1;
    if (r + 1 < window) return 0;
    for (size_t i = r + 1; value != 0 && i > r + 1 - window; i--)
        value *= (double)factors[(i - 1) * group + h];
    return value;
}

static void make(struct gs_gate_products *p, size_t lags, size_t group) {
    *p = (struct gs_gate_products){.lags = lags, .sums = gs_calloc(lags * group, sizeof(double))};
    p->past = gs_calloc((GS_GATE_ROWS - 1) * group, sizeof *p->past);
    for (size_t l = GS_GATE_FAR; l + 1 < lags; l++) {
        float *ring = gs_calloc(group << l, sizeof *ring);
        p->ring[l] = (struct gs_gate_ring){ring, ring, ring + (group << l)};
    }
}

static void drop(struct gs_gate_products *p) {
    for (size_t l = GS_GATE_FAR; l + 1 < p->lags; l++) gs_free(p->ring[l].begin);
    gs_free(p->past);
    gs_free(p->sums);
}

static void products_are_those_of_windows(void **state) {
    (void)state;
    const struct gs_gate_kernels *k;
    struct gates *g = gs_calloc(1, sizeof *g);
    for (size_t table = 0; (k = gs_gate_kernels_at(table)); table++)
        for (size_t lags = 1; lags <= LAGS; lags++)
            for (int signs = 0; signs < 2; signs++) {
                fill(g);
                struct gs_gate_rows rows = rows_of(g, false);
                k->factors(&rows);
                const float *factors = signs ? g->key : g->decay;
                struct gs_gate_products p;
                make(&p, lags, k->group);
                memcpy(g->worked, factors, ROWS * k->group * sizeof *factors);
                k->multiply(&p, g->worked, GS_GATE_ROWS);
                k->multiply(&p, g->worked + GS_GATE_ROWS * k->group, ROWS - GS_GATE_ROWS);
                for (size_t l = 0; l < lags; l++)
                    for (size_t h = 0; h < k->group; h++) {
                        double sum = 0, size = 0;
                        for (size_t r = 0; r < ROWS; r++) {
                            double value = product(factors, k->group, r, h, l);
                            sum += value;
                            size += fabs(value);
                        }
                        gs_assert_near("sum", p.sums[l * k->group + h], sum, size * 1e-5 + 1e-36,
                                       0);
                    }
                drop(&p);
            }
    gs_free(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_are_exponentials),
        cmocka_unit_test(what_no_gate_may_be_is_found),
        cmocka_unit_test(products_are_those_of_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
