/* A chunk of the gated delta rule against the sgemm peak of the same run, one thread.
 *
 *     bench_delta [dk dv [rounds]]
 *
 * FLOPs are those of the products as delta.h writes them, triangles counted half. */
#include "core/kernels/delta.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/kernels/blas.h"
#include "tests/bench/bench.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { C = GS_DELTA_CHUNK };

static float *numbers(size_t n, double scale) {
    static struct gs_random random;
    static bool seeded;
    if (!seeded) gs_random_seed(&random, 1, "bench delta");
    seeded = true;
    float *x = gs_calloc(n + 1, sizeof *x);
    for (size_t i = 0; i < n; i++) x[i] = (float)(scale * gs_random_normal(&random));
    return x;
}

static double sgemm_rate(double seconds) {
    enum { N = 1024 };
    static float *a, *b, *c;
    if (!a) a = numbers(N * N, 1), b = numbers(N * N, 1), c = numbers(N * N, 1);
    double start = bench_now(), taken, flops = 0;
    do {
        gs_blas_sgemm(GS_PLAIN, GS_PLAIN, N, N, N, 1, a, N, b, N, 0, c, N, NULL);
        flops += 2.0 * N * N * N;
        taken = bench_now() - start;
    } while (taken < seconds);
    return flops / taken / 1e9;
}

struct made {
    const struct gs_delta_kernels *kernels;
    struct gs_delta_chunk chunk;
    struct gs_delta_gradient gradient;
    float *v, *x, *o, *start, *S, *d_end;
};

static void make(struct made *m, size_t dk, size_t dv) {
    m->kernels = gs_delta_kernels();
    const size_t keys = gs_delta_width(m->kernels, dk), values = gs_delta_width(m->kernels, dv);
    float *decay = numbers(C, 0), *strength = numbers(C, 0);
    for (size_t t = 0; t < C; t++) decay[t] = 0.97f, strength[t] = 0.5f;
    m->chunk = (struct gs_delta_chunk){keys,
                                       values,
                                       numbers(C * keys, 0.1),
                                       numbers(C * keys, 0.1),
                                       decay,
                                       strength,
                                       numbers(gs_delta_work(keys, values), 0)};
    m->v = numbers(C * values, 1), m->x = numbers(C * values, 0), m->o = numbers(C * values, 0);
    m->start = numbers(keys * values, 0.1), m->S = numbers(keys * values, 0);
    m->d_end = numbers(keys * values, 0.1);
    m->gradient = (struct gs_delta_gradient){m->x,
                                             m->start,
                                             numbers(C * values, 1),
                                             numbers(keys * values, 0),
                                             numbers(C * keys, 0),
                                             numbers(C * keys, 0),
                                             numbers(C * values, 0),
                                             numbers(C, 0),
                                             numbers(C, 0)};
}

static void forward(struct made *m) {
    memcpy(m->x, m->v, C * m->chunk.values * sizeof(float));
    memcpy(m->S, m->start, m->chunk.keys * m->chunk.values * sizeof(float));
    m->kernels->forward(&m->chunk, m->x, m->o, m->S);
}

static void backward(struct made *m) {
    memcpy(m->gradient.dS, m->d_end, m->chunk.keys * m->chunk.values * sizeof(float));
    m->kernels->backward(&m->chunk, &m->gradient);
}

static void measure(const char *what, struct made *m, void (*work)(struct made *), double macs,
                    size_t rounds) {
    enum { TIMES = 500 };
    double best = 0, rate = 0;
    for (size_t round = 0; round < rounds; round++) {
        double start = bench_now();
        for (size_t i = 0; i < TIMES; i++) work(m);
        double taken = bench_now() - start, now = 2 * macs * TIMES / taken / 1e9;
        double ratio = now / sgemm_rate(taken);
        if (ratio > best) best = ratio, rate = now;
    }
    printf("%-10s %6.1f us a chunk, %6.1f GFLOP/s, %5.1f %% of sgemm (best of %zu)\n", what,
           2 * macs / rate / 1e3, rate, 100 * best, rounds);
}

int main(int argc, char **argv) {
    size_t sizes[] = {48, 96, 7};
    for (int i = 1; i < argc && i <= 3; i++) sizes[i - 1] = strtoul(argv[i], NULL, 10);
    omp_set_num_threads(1);
    struct made m;
    make(&m, sizes[0], sizes[1]);
    const double dk = (double)sizes[0], dv = (double)sizes[1], n = C;
    forward(&m);
    measure("forward", &m, forward, n * (3 * dk * dv + n * (dk + dv)), sizes[2]);
    forward(&m);
    measure("backward", &m, backward, n * (6 * dk * dv + n * (3 * dk + 2 * dv)), sizes[2]);
    return 0;
}
