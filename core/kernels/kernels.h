/* kernels.h - the inner loops of the models, in the widest form that the processor has.
 *
 * Each kernel is written once with compiler vectors and compiled once per instruction set; the
 * table is chosen when the program starts. Two rules hold for all of them:
 *   - what a kernel computes for one row depends on that row alone, in a fixed order, so that bits
 *     do not depend on the batch, on neighbours or on threads;
 *   - kernels allocate nothing and synchronise nothing: the caller splits the work.
 * Formulas: ../shared/spec/model.md. Arrays may not overlap unless said so.
 */
#ifndef GS_CORE_KERNELS_KERNELS_H
#define GS_CORE_KERNELS_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The memory of one head at some step, as what it was at an earlier one and what was written since:
 * M = a_0 start + sum over j of a_j strengths[j] keys[j] (x) diffs[j], where a_j is the product of
 * all decays after write j (a_0: of all). So backward reads `start` and a few vectors, and a whole
 * matrix need not be kept for each step. */
struct gs_past {
    const float *start; /* (dk, dv) */
    size_t writes;
    const float *keys, *diffs;       /* (writes, dk), (writes, dv) */
    const float *decays, *strengths; /* (writes) */
};

/* What memory_step was given for one head, and what it gave. */
struct gs_head {
    const float *k, *q;       /* (dk) */
    const float *diff, *read; /* (dv) v - M' k, M' q */
    float decay, strength;
};

/* Its gradients: dread (dv), dM (dk, dv) and overlap come in, the rest goes out. */
struct gs_head_gradient {
    const float *dread;
    float *dM;
    double *overlap;               /* <dM, M>, which goes back with dM */
    float *dq, *dk;                /* (dk) */
    float *dv;                     /* (dv) */
    float *dlog_decay, *dstrength; /* one each */
    float *work;                   /* (dk) scratch */
};

struct gs_kernels {
    const char *isa; /* "avx512", "avx2", "generic" */
    size_t panel;    /* columns of a packed panel */

    /* ---- products with packed weights (core/kernels/packed.h) ------------------------------- */

    /* y[r, c] (+)= sum over k of x[r, k] W[k, c], k ascending in one chain of multiply-adds, for
     * the columns of panels first … last - 1. x (rows, inner) with row stride xs; y (rows,
     * columns) with row stride ys. `accumulate` starts the chain from y. */
    void (*product)(const float *x, size_t xs, size_t rows, const float *packed, size_t inner,
                    size_t first, size_t last, size_t columns, float *y, size_t ys,
                    bool accumulate);

    /* c[i, j] += sum over k of a[k, i] b[k, j]. a (steps, rows) with stride as, b (steps, columns)
     * with stride bs, c (rows, columns) with stride cs. The sum is one chain, k ascending, that
     * begins at c. Takes 300 KiB of stack. */
    void (*outer)(const float *a, size_t as, const float *b, size_t bs, size_t steps, size_t rows,
                  size_t columns, float *c, size_t cs);

    /* ---- one row ----------------------------------------------------------------------------- */

    /* y = x * s, s = 1 / sqrt(mean(x^2) + 1e-6); returns s. y may be x. */
    float (*rms)(const float *x, size_t n, float *y);
    /* dx (+)= s (dy - y mean(y dy)): back through rms, given its y and s. dx may be dy. */
    void (*rms_backward)(const float *dy, const float *y, float s, size_t n, float *dx,
                         bool accumulate);
    /* y = x * s * w with the same s. y may be x. */
    void (*norm)(const float *x, const float *w, size_t n, float *y);
    /* Back through norm: dx (+)= …, dw += dy x s; s is computed again. dx may be dy. */
    void (*norm_backward)(const float *dy, const float *x, const float *w, size_t n, float *dx,
                          bool accumulate, float *dw);
    /* y = relu(x + bias) * s, s = 1 / sqrt(sum(relu^2) + 1e-12); returns s. y may be x. */
    float (*unit_relu)(const float *x, const float *bias, size_t n, float *y);
    /* dx = back through unit_relu, given y and s (0 where y is 0). dx may be dy. */
    void (*unit_relu_backward)(const float *dy, const float *y, float s, size_t n, float *dx);
    /* y = sigmoid(x + bias). y may be x. */
    void (*sigmoid)(const float *x, const float *bias, size_t n, float *y);
    /* y = silu(gate) * x * scale. */
    void (*swiglu)(const float *gate, const float *x, float scale, size_t n, float *y);
    /* Back through swiglu at scale: dgate = dy x scale silu'(gate); dx = dy silu(gate), which is
     * the gradient of (x scale); y is computed again. dgate may be gate, dx dy or x. */
    void (*swiglu_backward)(const float *gate, const float *x, float scale, const float *dy,
                            size_t n, float *dgate, float *dx, float *y);
    /* y = gate * x + a (+ b when not NULL). y may be a. */
    void (*gated_sum)(const float *gate, const float *x, const float *a, const float *b, size_t n,
                      float *y);
    /* y = base + b, base = gate * x + a; sums = |base|^2, |b|^2, base . b. */
    void (*gated_sum_measured)(const float *gate, const float *x, const float *a, const float *b,
                               size_t n, float *y, float sums[3]);
    /* Back through gate * x with gate = sigmoid(pre): dpre = dy x xscale gate (1 - gate),
     * dx = dy gate. The x of the forward is x * xscale here. dx may be dy. */
    void (*gate_backward)(const float *gate, const float *x, float xscale, const float *dy,
                          size_t n, float *dpre, float *dx);
    /* sum of x^2, and of x y, in float lanes then double. */
    double (*squares)(const float *x, size_t n);
    double (*dot)(const float *x, const float *y, size_t n);
    /* y += x */
    void (*add)(const float *x, size_t n, float *y);
    /* -log softmax(logits)[target]; with `gradient`, logits become softmax - onehot(target). */
    float (*cross_entropy)(float *logits, size_t n, size_t target, bool gradient);

    /* ---- one head of one sequence's matrix memory: M (dk, dv) ------------------------------- */

    /* diff = v - M' k; M <- decay M + strength k (x) diff; read = M' q (new M); squares, when not
     * NULL: the sum of the new M's squares. diff may be v. */
    void (*memory_step)(float *M, size_t dk, size_t dv, const float *k, const float *v, float decay,
                        float strength, const float *q, float *diff, float *read, float *squares);
    /* read = M' q */
    void (*memory_read)(const float *M, size_t dk, size_t dv, const float *q, float *read);
    /* Back through a read of the memory `past`, which gave `read`: dM += q (x) dread;
     * dq = M dread; overlap += dread . read. work: dk floats. */
    void (*memory_read_backward)(const struct gs_past *past, size_t dk, size_t dv, const float *q,
                                 const float *read, const float *dread, float *dM, double *overlap,
                                 float *dq, float *work);
    /* Back through a whole memory_step with a query, from the memory `past` before it; dM and
     * overlap come with respect to M after it and leave with respect to M before it. With
     * G = dM + q (x) dread:
     *   dlog_decay = decay <G, M before> = overlap + dread . read - strength dstrength,
     * so no product of matrices is needed. It is right to the rounding of these terms. */
    void (*memory_step_backward)(const struct gs_past *past, size_t dk, size_t dv,
                                 const struct gs_head *head,
                                 const struct gs_head_gradient *gradient);
};

/* The table in use. */
const struct gs_kernels *gs_kernels(void);
/* Use another one from now on (NULL: the best again): for tests, and for profiles, whose tables
 * measure and pass on. It must have the panel of what is packed already, and stay where it is. */
void gs_kernels_replace(const struct gs_kernels *table);
/* Its name alone, for records: gs_kernels_isa (core/kernels/isa.h). */
/* All tables that this processor can run, best first; for tests. */
size_t gs_kernels_count(void);
const struct gs_kernels *gs_kernels_at(size_t index);

#endif
