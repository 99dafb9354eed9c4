#include "tests/bench/profile.h"

#include "core/base/environment.h"
#include "core/kernels/attention.h"
#include "core/kernels/delta.h"
#include "core/kernels/kernels.h"

#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum part { PRODUCTS, WEIGHT_GRADIENTS, MEMORY, ATTENTION, DELTA, ELEMENTWISE, DECODING, PARTS };
static const char *const NAMES[PARTS] = {"products",  "weight gradients", "memory heads",
                                         "attention", "delta rule",       "elementwise",
                                         "decoding"};

enum { MOST_THREADS = 256 };
/* A thread's sums, on cache lines of their own. */
static struct {
    uint64_t ticks[PARTS];
    double flops[PARTS];
    uint64_t away[8];
} sums[MOST_THREADS];

static const struct gs_kernels *real;
static struct gs_kernels measuring;
static const struct gs_attention_kernels *real_attention;
static struct gs_attention_kernels measuring_attention;
static const struct gs_delta_kernels *real_delta;
static struct gs_delta_kernels measuring_delta;
static uint64_t began;
static size_t vocabulary;

static inline uint64_t ticks(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#endif
}

static inline void add(enum part part, uint64_t start) {
    sums[(size_t)omp_get_thread_num() % MOST_THREADS].ticks[part] += ticks() - start;
}

/* One measuring function per kernel: its name, part, result, parameters and arguments. */
#define MEASURED(name, part, parameters, arguments)                                                \
    static void m_##name parameters {                                                              \
        uint64_t start = ticks();                                                                  \
        real->name arguments;                                                                      \
        add(part, start);                                                                          \
    }
#define MEASURED_VALUE(type, name, part, parameters, arguments)                                    \
    static type m_##name parameters {                                                              \
        uint64_t start = ticks();                                                                  \
        type result = real->name arguments;                                                        \
        add(part, start);                                                                          \
        return result;                                                                             \
    }

static inline void add_product(enum part part, uint64_t start, size_t m, size_t n, size_t k) {
    add(part, start);
    sums[(size_t)omp_get_thread_num() % MOST_THREADS].flops[part] +=
        2.0 * (double)m * (double)n * (double)k;
}

static void m_product(const float *x, size_t xs, size_t rows, const float *packed, size_t inner,
                      size_t first, size_t last, size_t columns, float *y, size_t ys,
                      bool accumulate) {
    uint64_t start = ticks();
    real->product(x, xs, rows, packed, inner, first, last, columns, y, ys, accumulate);
    size_t end = last * real->panel < columns ? last * real->panel : columns;
    bool decoding = vocabulary && (columns == vocabulary || inner == vocabulary);
    add_product(decoding ? DECODING : PRODUCTS, start, rows, end - first * real->panel, inner);
}

static void m_outer(const float *a, size_t as, const float *b, size_t bs, size_t steps, size_t rows,
                    size_t columns, float *c, size_t cs) {
    uint64_t start = ticks();
    real->outer(a, as, b, bs, steps, rows, columns, c, cs);
    /* rows of logits may stand a little further apart */
    bool decoding = vocabulary && as >= vocabulary && as < vocabulary + 64;
    add_product(decoding ? DECODING : WEIGHT_GRADIENTS, start, rows, columns, steps);
}

MEASURED_VALUE(float, rms, ELEMENTWISE, (const float *x, size_t n, float *y), (x, n, y))
MEASURED(rms_backward, ELEMENTWISE,
         (const float *dy, const float *y, float s, size_t n, float *dx, bool accumulate),
         (dy, y, s, n, dx, accumulate))
MEASURED(norm, ELEMENTWISE, (const float *x, const float *w, size_t n, float *y), (x, w, n, y))
MEASURED(norm_backward, ELEMENTWISE,
         (const float *dy, const float *x, const float *w, size_t n, float *dx, bool accumulate,
          float *dw),
         (dy, x, w, n, dx, accumulate, dw))
MEASURED_VALUE(float, unit_relu, ELEMENTWISE,
               (const float *x, const float *bias, size_t n, float *y), (x, bias, n, y))
MEASURED(unit_relu_backward, ELEMENTWISE,
         (const float *dy, const float *y, float s, size_t n, float *dx), (dy, y, s, n, dx))
MEASURED(sigmoid, ELEMENTWISE, (const float *x, const float *bias, size_t n, float *y),
         (x, bias, n, y))
MEASURED(swiglu, ELEMENTWISE, (const float *g, const float *x, float s, size_t n, float *y),
         (g, x, s, n, y))
MEASURED(swiglu_backward, ELEMENTWISE,
         (const float *g, const float *x, float s, const float *dy, size_t n, float *dg, float *dx,
          float *y),
         (g, x, s, dy, n, dg, dx, y))
MEASURED(gated_sum, ELEMENTWISE,
         (const float *g, const float *x, const float *a, const float *b, size_t n, float *y),
         (g, x, a, b, n, y))
MEASURED(gated_sum_measured, ELEMENTWISE,
         (const float *g, const float *x, const float *a, const float *b, size_t n, float *y,
          float products[3]),
         (g, x, a, b, n, y, products))
MEASURED(gate_backward, ELEMENTWISE,
         (const float *g, const float *x, float xs, const float *dy, size_t n, float *dp,
          float *dx),
         (g, x, xs, dy, n, dp, dx))
MEASURED_VALUE(double, squares, ELEMENTWISE, (const float *x, size_t n), (x, n))
MEASURED_VALUE(double, dot, ELEMENTWISE, (const float *x, const float *y, size_t n), (x, y, n))
MEASURED(add, ELEMENTWISE, (const float *x, size_t n, float *y), (x, n, y))
MEASURED_VALUE(float, cross_entropy, DECODING,
               (float *logits, size_t n, size_t target, bool gradient),
               (logits, n, target, gradient))
MEASURED(memory_step, MEMORY,
         (float *M, size_t dk, size_t dv, const float *k, const float *v, float decay,
          float strength, const float *q, float *diff, float *read, float *squares),
         (M, dk, dv, k, v, decay, strength, q, diff, read, squares))
MEASURED(memory_read, MEMORY, (const float *M, size_t dk, size_t dv, const float *q, float *read),
         (M, dk, dv, q, read))
MEASURED(memory_read_backward, MEMORY,
         (const struct gs_past *past, size_t dk, size_t dv, const float *q, const float *read,
          const float *dread, float *dM, double *overlap, float *dq, float *work),
         (past, dk, dv, q, read, dread, dM, overlap, dq, work))
MEASURED(memory_step_backward, MEMORY,
         (const struct gs_past *past, size_t dk, size_t dv, const struct gs_head *head,
          const struct gs_head_gradient *gradient),
         (past, dk, dv, head, gradient))

static void m_attention(const struct gs_attention *attention, size_t first, float *o,
                        float *log_sum) {
    uint64_t start = ticks();
    real_attention->forward(attention, first, o, log_sum);
    add(ATTENTION, start);
}

static void m_attention_backward(const struct gs_attention *attention, size_t first,
                                 const struct gs_attention_gradient *gradient) {
    uint64_t start = ticks();
    real_attention->backward(attention, first, gradient);
    add(ATTENTION, start);
}

static void m_delta(const struct gs_delta_chunk *chunk, float *x, float *o, float *S) {
    uint64_t start = ticks();
    real_delta->forward(chunk, x, o, S);
    add(DELTA, start);
}

static void m_delta_backward(const struct gs_delta_chunk *chunk,
                             const struct gs_delta_gradient *gradient) {
    uint64_t start = ticks();
    real_delta->backward(chunk, gradient);
    add(DELTA, start);
}

void bench_profile_vocabulary(size_t vocab) {
    vocabulary = vocab;
}

void bench_profile_begin(void) {
    real = gs_kernels();
    measuring = (struct gs_kernels){.isa = real->isa,
                                    .panel = real->panel,
                                    .product = m_product,
                                    .outer = m_outer,
                                    .rms = m_rms,
                                    .rms_backward = m_rms_backward,
                                    .norm = m_norm,
                                    .norm_backward = m_norm_backward,
                                    .unit_relu = m_unit_relu,
                                    .unit_relu_backward = m_unit_relu_backward,
                                    .sigmoid = m_sigmoid,
                                    .swiglu = m_swiglu,
                                    .swiglu_backward = m_swiglu_backward,
                                    .gated_sum = m_gated_sum,
                                    .gated_sum_measured = m_gated_sum_measured,
                                    .gate_backward = m_gate_backward,
                                    .squares = m_squares,
                                    .dot = m_dot,
                                    .add = m_add,
                                    .cross_entropy = m_cross_entropy,
                                    .memory_step = m_memory_step,
                                    .memory_read = m_memory_read,
                                    .memory_read_backward = m_memory_read_backward,
                                    .memory_step_backward = m_memory_step_backward};
    real_attention = gs_attention_kernels();
    measuring_attention = *real_attention;
    measuring_attention.forward = m_attention;
    measuring_attention.backward = m_attention_backward;
    real_delta = gs_delta_kernels();
    measuring_delta = *real_delta;
    measuring_delta.forward = m_delta;
    measuring_delta.backward = m_delta_backward;
    memset(sums, 0, sizeof sums);
    gs_attention_kernels_replace(&measuring_attention);
    gs_delta_kernels_replace(&measuring_delta);
    gs_kernels_replace(&measuring);
    began = ticks();
}

void bench_profile_end(const char *what, double seconds) {
    const double whole = (double)(ticks() - began) * gs_threads_get();
    gs_kernels_replace(NULL);
    gs_attention_kernels_replace(NULL);
    gs_delta_kernels_replace(NULL);
    double rest = 100;
    printf("%s, %.3f s, share of all threads' time:", what, seconds);
    for (size_t part = 0; part < PARTS; part++) {
        double total = 0, flops = 0;
        for (size_t i = 0; i < MOST_THREADS; i++) {
            total += (double)sums[i].ticks[part];
            flops += sums[i].flops[part];
        }
        if (total == 0) continue;
        printf(" %s %.1f %%", NAMES[part], 100 * total / whole);
        if (flops > 0) printf(" (at %.1f GFLOP/s)", flops / (seconds * total / whole) / 1e9);
        printf(",");
        rest -= 100 * total / whole;
    }
    printf(" copies and waiting %.1f %%\n", rest);
}
