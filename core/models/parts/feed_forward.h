/* feed_forward.h - h <- h + (silu(g) * u) W_out', [g | u] = rms(h; norm) W_in', block by block of
 * rows (row_blocks.h), forward beside backward. f is the width between.
 */
#ifndef GS_CORE_MODELS_PARTS_FEED_FORWARD_H
#define GS_CORE_MODELS_PARTS_FEED_FORWARD_H

#include "core/models/parts/linear.h"

struct gs_feed_forward {
    const struct gs_tensor *norm; /* (d) */
    struct gs_linear in, out;     /* d -> 2f, f -> d */
    size_t width, between;        /* d, f */
};

/* Its room in a runner's plan. */
void gs_feed_forward_plan(size_t width, size_t between, bool train, struct gs_arena *arena,
                          struct gs_feed_forward *feed);
/* The parameters it holds, which must outlive it. `in`: one weight (2f, d), or two (f, d), gate
 * first. */
void gs_feed_forward_bind(const struct gs_tensor *norm, const struct gs_tensor *const *in,
                          size_t in_count, const struct gs_tensor *out, bool bf16,
                          struct gs_feed_forward *feed);
void gs_feed_forward_refresh(struct gs_feed_forward *feed);
/* Floats of a thread's working space for a block of `rows`. */
size_t gs_feed_forward_work(size_t width, size_t between, size_t rows);

/* out (rows, d) = h + …; out may be h. gu (rows, 2f) receives what backward needs. */
void gs_feed_forward_rows(const struct gs_feed_forward *feed, const float *h, size_t rows,
                          float *out, float *gu, float *work);
/* Back from dout (rows, d) to dh (rows, d), given h and gu of forward. gu becomes its own gradient;
 * normal (rows, d) and activation (rows, f) receive what the weights' gradients need; dnorm (d) +=
 * the norm's. dh may not be dout, which the weights' gradients need, too. */
void gs_feed_forward_rows_back(const struct gs_feed_forward *feed, const float *h, float *gu,
                               const float *dout, size_t rows, float *dh, float *normal,
                               float *activation, float *dnorm, float *work);
/* The weights' gradients over all rows of a window, from what all blocks left. Called by all
 * threads of a region; does not wait. */
void gs_feed_forward_gradients(const struct gs_feed_forward *feed, const float *normal,
                               const float *dgu, const float *activation, const float *dout,
                               size_t rows, const struct gs_parameters *gradients);

#endif
