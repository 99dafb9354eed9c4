/* Small reflections against plain matrices, in every instruction set that this processor has. */
#include "core/kernels/reflections.h"
#include "core/base/random.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum { SEED = 20261130, N = GS_REFLECTION, STRIDE = 63 };

static void fill(double *values, size_t count, const char *stream) {
    struct gs_random random;
    gs_random_seed(&random, SEED, stream);
    for (size_t i = 0; i < count; i++) values[i] = gs_random_normal(&random);
}

/* y = H x */
static void reflect(const struct gs_reflection *h, const double *x, double *y) {
    double along = 0;
    for (size_t i = 0; i < N; i++) along += h->v[i] * x[i];
    for (size_t i = 0; i < N; i++) y[i] = x[i] - h->tau * along * h->v[i];
}

static void a_reflection_leaves_the_first(void **state) {
    (void)state;
    const struct gs_reflection_kernels *k;
    for (size_t table = 0; (k = gs_reflection_kernels_at(table)); table++)
        for (int kind = 0; kind < 4; kind++) {
            double x[N], made[N], y[N], norm = 0;
            fill(x, N, "make");
            for (size_t i = 0; i < N; i++) {
                if (kind == 1) x[i] = 0;
                if (kind == 2 && i > 0) x[i] = 0;
                if (kind == 3 && i != 5) x[i] = 0;
                norm += x[i] * x[i];
                made[i] = x[i];
            }
            struct gs_reflection h;
            k->make(made, &h);
            reflect(&h, x, y);
            gs_assert_near("v", h.v[0], 1, 0, 0);
            gs_assert_near("first", fabs(made[0]), sqrt(norm), 0, 1e-14);
            for (size_t i = 0; i < N; i++) {
                gs_assert_near("H x", y[i], made[i], 1e-13, 0);
                if (i > 0) gs_assert_near("rest", made[i], 0, 0, 0);
            }
        }
}

static void a_block_is_reflected_on_both_sides(void **state) {
    (void)state;
    const struct gs_reflection_kernels *k;
    for (size_t table = 0; (k = gs_reflection_kernels_at(table)); table++) {
        double block[N * STRIDE], before[N * STRIDE], whole[N][N], half[N][N], x[N];
        fill(block, N * STRIDE, "block");
        memcpy(before, block, sizeof block);
        for (size_t j = 0; j < N; j++)
            for (size_t i = j; i < N; i++) whole[i][j] = whole[j][i] = block[j * STRIDE + i];
        struct gs_reflection h;
        fill(x, N, "both");
        k->make(x, &h);
        for (size_t i = 0; i < N; i++) reflect(&h, whole[i], half[i]); /* A H, by rows */
        for (size_t j = 0; j < N; j++) {
            for (size_t i = 0; i < N; i++) x[i] = half[i][j];
            reflect(&h, x, whole[j]); /* column j of H A H */
        }
        k->both_sides(block, STRIDE, &h);
        for (size_t j = 0; j < N; j++)
            for (size_t i = 0; i < STRIDE; i++) {
                double expected = i >= j && i < N ? whole[j][i] : before[j * STRIDE + i];
                gs_assert_near("block", block[j * STRIDE + i], expected, 1e-13, 0);
            }
    }
}

static void a_bulge_is_chased(void **state) {
    (void)state;
    const struct gs_reflection_kernels *k;
    for (size_t table = 0; (k = gs_reflection_kernels_at(table)); table++) {
        double block[N * STRIDE], rows[N][N], x[N], y[N];
        struct gs_reflection right, left;
        fill(x, N, "right");
        k->make(x, &right);
        fill(block, N * STRIDE, "bulge");
        for (size_t i = 0; i < N; i++) {
            for (size_t j = 0; j < N; j++) x[j] = block[j * STRIDE + i];
            reflect(&right, x, rows[i]);
        }
        k->chase(block, STRIDE, &right, &left);
        for (size_t j = 0; j < N; j++) {
            for (size_t i = 0; i < N; i++) x[i] = rows[i][j];
            reflect(&left, x, y);
            for (size_t i = 0; i < N; i++) {
                gs_assert_near("chased", block[j * STRIDE + i], y[i], 1e-13, 0);
                if (j == 0 && i > 0) gs_assert_near("first column", block[i], 0, 0, 0);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reflection_leaves_the_first),
        cmocka_unit_test(a_block_is_reflected_on_both_sides),
        cmocka_unit_test(a_bulge_is_chased),
    };
    print_message("seed %d\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
