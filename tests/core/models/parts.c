/* What the kinds share, each against the plain form: blocks of rows, the arena, sums of outer
 * products, the output matrix, token rows. */
#include "tests/support/support.h"

#include "core/base/arena.h"
#include "core/base/environment.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/models/parts/accumulate.h"
#include "core/models/parts/output.h"
#include "core/models/parts/row_blocks.h"
#include "core/models/parts/token_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 20261130 };

static float *random_floats(size_t count, const char *stream) {
    struct gs_random random;
    gs_random_seed(&random, SEED, stream);
    float *values = gs_calloc(count, sizeof *values);
    for (size_t i = 0; i < count; i++) values[i] = (float)gs_random_normal(&random);
    return values;
}

/* Every row stands in one block, no block is empty or too large, and what is set aside for the
 * largest window is enough for every smaller one. */
static void blocks_cover_all_rows(void **unused) {
    (void)unused;
    size_t most = 0;
    for (size_t rows = 1; rows < 20000; rows += rows < 2000 ? 1 : 37) {
        const size_t blocks = gs_row_blocks(rows);
        if (blocks > most) most = blocks;
        assert_true(gs_row_blocks_most(rows) >= most);
        assert_int_equal(gs_row_block(rows, blocks, 0), 0);
        assert_int_equal(gs_row_block(rows, blocks, blocks), rows);
        for (size_t i = 0; i < blocks; i++) {
            const size_t count = gs_row_block(rows, blocks, i + 1) - gs_row_block(rows, blocks, i);
            assert_true(count >= 1 && count <= GS_BLOCK_ROWS);
        }
    }
}

static void an_arena_counts_what_it_places(void **unused) {
    (void)unused;
    struct gs_arena counted = {0};
    assert_null(gs_arena_floats(&counted, 3, 5, 7));
    assert_null(gs_arena_take(&counted, 1, 1, 1, 1));
    assert_false(counted.wrapped);
    struct gs_arena placed = {.base = gs_calloc(counted.bytes, 1)};
    float *first = gs_arena_floats(&placed, 3, 5, 7);
    char *second = gs_arena_take(&placed, 1, 1, 1, 1);
    assert_ptr_equal(first, placed.base);
    assert_true(second - placed.base >= 3 * 5 * 7 * 4 && (second - placed.base) % 64 == 0);
    assert_int_equal(placed.bytes, counted.bytes);
    gs_free(placed.base);
    const size_t large[][3] = {{SIZE_MAX, 2, 1}, {SIZE_MAX / 4, 1, 1}, {1, SIZE_MAX / 8, 3}};
    for (size_t i = 0; i < 3; i++) {
        struct gs_arena arena = {0};
        gs_arena_floats(&arena, large[i][0], large[i][1], large[i][2]);
        assert_true(arena.wrapped);
    }
}

/* In any region, and the same bits on any number of threads. */
static void sums_of_outer_products_are_the_plain_ones(void **unused) {
    (void)unused;
    static const size_t shapes[][3] = {{1, 1, 1}, {7, 30, 65}, {300, 70, 90}, {40, 300, 300}};
    for (size_t k = 0; k < 4; k++) {
        const size_t steps = shapes[k][0], rows = shapes[k][1], columns = shapes[k][2];
        float *a = random_floats(steps * (rows + 3), "a");
        float *b = random_floats(steps * (columns + 1), "b");
        float *kept = NULL;
        for (int threads = 1; threads <= 3; threads++) {
            float *c = random_floats(rows * columns, "c"),
                  *before = random_floats(rows * columns, "c");
            gs_threads_set(threads);
#pragma omp parallel
            gs_accumulate(a, rows + 3, b, columns + 1, steps, rows, columns, c, columns);
            for (size_t i = 0; i < rows; i++)
                for (size_t j = 0; j < columns; j++) {
                    double sum = (double)before[i * columns + j];
                    for (size_t s = 0; s < steps; s++)
                        sum += (double)a[s * (rows + 3) + i] * (double)b[s * (columns + 1) + j];
                    gs_assert_near("c", (double)c[i * columns + j], sum, 1e-4, 1e-5);
                }
            if (kept) assert_memory_equal(kept, c, rows * columns * sizeof *c);
            gs_free(before);
            if (kept)
                gs_free(c);
            else
                kept = c;
        }
        gs_free(kept);
        gs_free(a);
        gs_free(b);
    }
    gs_threads_set(0);
}

enum { VOCAB = 41, WIDTH = 10, ROWS = 29 };

/* -log softmax in double; the gradient of the sum, rows dz and matrix dW, is added. */
static double plain_loss(const float *W, const float *z, uint32_t target, double *dz, double *dW) {
    double logits[VOCAB], top = -INFINITY, sum = 0;
    for (size_t v = 0; v < VOCAB; v++) {
        logits[v] = 0;
        for (size_t i = 0; i < WIDTH; i++) logits[v] += (double)W[v * WIDTH + i] * (double)z[i];
        top = fmax(top, logits[v]);
    }
    for (size_t v = 0; v < VOCAB; v++) sum += exp(logits[v] - top);
    for (size_t v = 0; v < VOCAB; v++) {
        const double d = exp(logits[v] - top) / sum - (v == target);
        for (size_t i = 0; i < WIDTH; i++) {
            dz[i] += d * (double)W[v * WIDTH + i];
            dW[v * WIDTH + i] += d * (double)z[i];
        }
    }
    return log(sum) + top - logits[target];
}

static void losses_and_their_gradients_are_the_plain_ones(void **unused) {
    (void)unused;
    struct gs_tensor matrix = {.name = "W", .rank = 2, .shape = {VOCAB, WIDTH}};
    matrix.values = random_floats(VOCAB * WIDTH, "W");
    float *z = random_floats(ROWS * WIDTH, "z"), nll[ROWS], dz[ROWS * WIDTH];
    uint32_t targets[ROWS];
    for (size_t i = 0; i < ROWS; i++) targets[i] = (uint32_t)(i * 7 % VOCAB);
    double plain_dz[ROWS * WIDTH] = {0}, plain_dW[VOCAB * WIDTH] = {0}, plain_nll[ROWS];
    for (size_t i = 0; i < ROWS; i++)
        plain_nll[i] =
            plain_loss(matrix.values, z + i * WIDTH, targets[i], plain_dz + i * WIDTH, plain_dW);
    for (size_t block_rows = 3; block_rows < 40; block_rows += 13) {
        struct gs_output output = {0};
        struct gs_arena arena = {0};
        gs_output_plan(VOCAB, WIDTH, true, block_rows, &arena, &output);
        arena = (struct gs_arena){.base = gs_calloc(arena.bytes, 1)};
        gs_output_plan(VOCAB, WIDTH, true, block_rows, &arena, &output);
        gs_output_bind(&matrix, false, &output);
        gs_output_refresh(&output);
        gs_output_losses(&output, z, targets, ROWS, nll, dz);
        float gradient[VOCAB * WIDTH] = {0};
        gs_output_gradient(&output, 0.5f, gradient);
        for (size_t i = 0; i < ROWS; i++)
            gs_assert_near("nll", (double)nll[i], plain_nll[i], 1e-5, 1e-5);
        for (size_t i = 0; i < ROWS * WIDTH; i++)
            gs_assert_near("dz", (double)dz[i], plain_dz[i], 1e-5, 1e-5);
        for (size_t i = 0; i < VOCAB * WIDTH; i++)
            gs_assert_near("dW", (double)gradient[i], plain_dW[i] / 2, 1e-5, 1e-5);
        gs_output_gradient(&output, 1, gradient); /* it was cleared */
        gs_assert_near("cleared", (double)gradient[3], plain_dW[3] / 2, 1e-5, 1e-5);
        gs_free(arena.base);
    }
    gs_free(matrix.values);
    gs_free(z);
}

static void token_rows_go_and_come_back(void **unused) {
    (void)unused;
    enum { WIDE = 130 };
    struct gs_tensor embedding = {.name = "E", .rank = 2, .shape = {VOCAB, WIDE}};
    embedding.values = random_floats(VOCAB * WIDE, "E");
    uint32_t tokens[ROWS];
    for (size_t i = 0; i < ROWS; i++) tokens[i] = (uint32_t)(i * i % 5 * 9);
    float *rows = gs_calloc(ROWS * WIDE, sizeof *rows), *dh = random_floats(ROWS * WIDE, "dh");
    gs_token_rows(&embedding, false, tokens, ROWS, rows);
    for (size_t i = 0; i < ROWS; i++)
        assert_memory_equal(rows + i * WIDE, embedding.values + tokens[i] * WIDE,
                            WIDE * sizeof *rows);
    float *expected = gs_calloc(VOCAB * WIDE, sizeof *expected);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < WIDE; j++) expected[tokens[i] * WIDE + j] += dh[i * WIDE + j];
    for (int threads = 1; threads <= 3; threads++) {
        float *gradient = gs_calloc(VOCAB * WIDE, sizeof *gradient);
        gs_threads_set(threads);
#pragma omp parallel
        gs_token_rows_back(tokens, ROWS, WIDE, dh, gradient);
        assert_memory_equal(gradient, expected, VOCAB * WIDE * sizeof *gradient);
        gs_free(gradient);
    }
    gs_threads_set(0);
    gs_free(expected);
    gs_free(rows);
    gs_free(dh);
    gs_free(embedding.values);
}

int main(void) {
    printf("seed %d\n", SEED);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_cover_all_rows),
        cmocka_unit_test(an_arena_counts_what_it_places),
        cmocka_unit_test(sums_of_outer_products_are_the_plain_ones),
        cmocka_unit_test(losses_and_their_gradients_are_the_plain_ones),
        cmocka_unit_test(token_rows_go_and_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
