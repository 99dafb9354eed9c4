/* delta_isa.h - declarations of the delta rule's kernels of one instruction set; see delta.h. */
#ifndef GS_CORE_KERNELS_DELTA_ISA_H
#define GS_CORE_KERNELS_DELTA_ISA_H

#include "core/kernels/delta.h"
#include "core/kernels/lanes.h"

void GS_KERNEL(delta_forward)(const struct gs_delta_chunk *c, float *x, float *o, float *S);
void GS_KERNEL(delta_backward)(const struct gs_delta_chunk *c, const struct gs_delta_gradient *g);
void GS_KERNEL(delta_norms)(const struct gs_delta_chunk *c, const float *S, const float *v,
                            const float *x, float *norms);
void GS_KERNEL(conv)(const float *const x[GS_CONV_WIDTH], const float *weights, size_t stride,
                     size_t n, float *y);
void GS_KERNEL(conv_backward)(const float *const x[GS_CONV_WIDTH], const float *weights,
                              size_t stride, const float *dy, size_t n, float *dpre,
                              float *dweights);
void GS_KERNEL(conv_inputs)(const float *const dpre[GS_CONV_WIDTH], const float *weights,
                            size_t stride, size_t n, float *dx);
float GS_KERNEL(unit)(const float *x, size_t n, float scale, float *y);
void GS_KERNEL(unit_backward)(const float *dy, const float *y, float f, float scale, size_t n,
                              float *dx);
void GS_KERNEL(gated_norm)(const float *x, const float *w, const float *g, size_t n, float *y);
void GS_KERNEL(gated_norm_backward)(const float *x, const float *w, const float *g, const float *dy,
                                    size_t n, float *dx, float *dg, float *dw, float *y);

#endif
