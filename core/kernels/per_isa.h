/* per_isa.h - declarations of the kernels of one instruction set (see lanes.h for GS_KERNEL). */
#ifndef GS_CORE_KERNELS_PER_ISA_H
#define GS_CORE_KERNELS_PER_ISA_H

#include "core/kernels/kernels.h"
#include "core/kernels/lanes.h"

/* Rows of a register tile: 4 x 3 accumulators leave 16 registers room for three vectors of weights
 * and a value of x, with fewer loads a multiply-add (7 for 12) than 6 x 2 (8). */
enum { GS_TILE_ROWS = 4 };

void GS_KERNEL(product)(const float *x, size_t xs, size_t rows, const float *packed, size_t inner,
                        size_t first, size_t last, size_t columns, float *y, size_t ys,
                        bool accumulate);
void GS_KERNEL(outer)(const float *a, size_t as, const float *b, size_t bs, size_t steps,
                      size_t rows, size_t columns, float *c, size_t cs);
float GS_KERNEL(rms)(const float *x, size_t n, float *y);
void GS_KERNEL(rms_backward)(const float *dy, const float *y, float s, size_t n, float *dx,
                             bool accumulate);
void GS_KERNEL(norm)(const float *x, const float *w, size_t n, float *y);
void GS_KERNEL(norm_backward)(const float *dy, const float *x, const float *w, size_t n, float *dx,
                              bool accumulate, float *dw);
float GS_KERNEL(unit_relu)(const float *x, const float *bias, size_t n, float *y);
void GS_KERNEL(unit_relu_backward)(const float *dy, const float *y, float s, size_t n, float *dx);
void GS_KERNEL(sigmoid)(const float *x, const float *bias, size_t n, float *y);
void GS_KERNEL(swiglu)(const float *gate, const float *x, float scale, size_t n, float *y);
void GS_KERNEL(swiglu_backward)(const float *gate, const float *x, float scale, const float *dy,
                                size_t n, float *dgate, float *dx, float *y);
void GS_KERNEL(gated_sum)(const float *gate, const float *x, const float *a, const float *b,
                          size_t n, float *y);
void GS_KERNEL(gated_sum_measured)(const float *gate, const float *x, const float *a,
                                   const float *b, size_t n, float *y, float sums[3]);
void GS_KERNEL(gate_backward)(const float *gate, const float *x, float xscale, const float *dy,
                              size_t n, float *dpre, float *dx);
double GS_KERNEL(squares)(const float *x, size_t n);
double GS_KERNEL(dot)(const float *x, const float *y, size_t n);
void GS_KERNEL(add)(const float *x, size_t n, float *y);
float GS_KERNEL(cross_entropy)(float *logits, size_t n, size_t target, bool gradient);
void GS_KERNEL(memory_step)(float *M, size_t dk, size_t dv, const float *k, const float *v,
                            float decay, float strength, const float *q, float *diff, float *read,
                            float *squares);
void GS_KERNEL(memory_read)(const float *M, size_t dk, size_t dv, const float *q, float *read);
void GS_KERNEL(memory_read_backward)(const struct gs_past *past, size_t dk, size_t dv,
                                     const float *q, const float *read, const float *dread,
                                     float *dM, double *overlap, float *dq, float *work);
void GS_KERNEL(memory_step_backward)(const struct gs_past *past, size_t dk, size_t dv,
                                     const struct gs_head *head,
                                     const struct gs_head_gradient *gradient);
extern const struct gs_kernels GS_KERNEL(table);

#endif
