/* runner.h - what is needed to run a Gated DeltaNet on windows, and what one of its files offers
 * the others.
 *
 * A window runs in segments of time, each through all layers: in training the whole window, else as
 * many tokens as make a decent number of rows. With recompute_every, training keeps only h before
 * each layer, and runs a layer again before going back through it: the same bits.
 * Row b · steps + t of a segment is token t of sequence b. A unit is a head of a sequence: it goes
 * through its segment chunk by chunk (core/kernels/delta.h), and units know nothing of each other.
 * Chunks are counted from the window's start, so that bits depend on nothing beside.
 */
#ifndef GS_CORE_MODELS_GDN_RUNNER_H
#define GS_CORE_MODELS_GDN_RUNNER_H

#include "core/base/arena.h"
#include "core/kernels/delta.h"
#include "core/models/gdn/weights.h"

enum { GS_GDN_PAST_ROWS = GS_CONV_WIDTH - 1 };

/* What a segment leaves of a layer. Outside of training all layers share one tape, and h is changed
 * in place; with recompute_every they share what is not h. */
struct gs_gdn_tape {
    float *before, *between, *after; /* (rows, d): h before the layer, after its memory, after it */
    float *in;                       /* (rows, columns) projections of rms(before) */
    float *gu;                       /* (rows, 2f) of the feed-forward */
    float *log_decay, *decay, *strength, *norm; /* (rows, H) */
    float *past; /* (batch, 3, channels): inputs of the convolutions before the segment */
    /* Training: */
    float *x, *o;  /* (units, chunks, CHUNK, values) */
    float *starts; /* (units, chunks, keys, values) memories before each chunk */
};

/* A thread's own. */
struct gs_gdn_work {
    float *rows;                            /* a block of rows through norms and feed-forward */
    float *q, *k, *v, *x, *o, *S, *scratch; /* a chunk */
    float *decay, *strength, *norm;         /* (CHUNK) */
    float *dq, *dk, *dv, *d_o, *dS;         /* training */
    float *dlog_decay, *dstrength;
    float *q_factor, *k_factor; /* (CHUNK) of the unit vectors */
    float *dpre;                /* (CHUNK + 3, 2 dk + dv) before the convolutions' silu */
    float *zero;                /* (dk or dv) zeros */
};

/* Backward. */
struct gs_gdn_back {
    float *h[3];          /* (rows, d): gradients of h, taken in turn */
    float *normal[2];     /* (rows, d): inputs of `in` and of the feed-forward */
    float *activation;    /* (rows, f) */
    float *read;          /* (rows, H dv) gradient of what is read, then what was read */
    float *norms[2];      /* (blocks, d): gradients of norms, block by block */
    float *memory, *past; /* gradients of the state before the window */
    /* Of units or sequences, for each layer: */
    float *read_norm; /* (layers, units, dv) */
    double *gates;    /* (layers, units, 2): A_log, dt_bias */
    float *taps;      /* (layers, batch, 4, channels) */
};

/* A layer that a tap gets from one thread while the others begin with the next one, which for so
 * long only reads what the layer left. */
struct gs_gdn_handing {
    const struct gs_tap *tap; /* NULL: nothing to hand over */
    size_t layer, begin, steps;
    struct gs_error *error;
    enum gs_status status;
};

struct gs_gdn_runner {
    const struct gs_gdn_config *config;
    struct gs_runner_options options;
    struct gs_gdn_weights weights;
    struct gs_gdn_columns columns;
    const struct gs_delta_kernels *kernels;
    size_t keys, values; /* widths of a chunk */
    size_t threads, segment;
    void *arena;

    struct gs_gdn_tape *layers;
    struct gs_gdn_work *work; /* (threads) */
    struct gs_gdn_back back;
    float *read, *final;              /* (rows, H dv), (rows, d) */
    float *dz;                        /* (batch · steps, d); training */
    float *segment_nll;               /* (rows) */
    uint32_t *targets, *tokens;       /* (rows), (batch, steps) */
    float *saved_memory, *saved_past; /* the state before the window; with recompute_every */

    /* The window in hand. */
    size_t batch, steps, run; /* tokens of a sequence, and how many of them are run */
    float *memory, *past;     /* the state, changed in place */
    const bool *wanted;       /* channels of the tap, or NULL */
    struct gs_gdn_handing handing;
    bool has_loss_gradient;
    struct gs_metric metric;
};

static inline size_t gs_gdn_smaller(size_t a, size_t b) {
    return a < b ? a : b;
}
/* Floats of a sequence's memories and pasts. */
static inline size_t gs_gdn_memory_width(const struct gs_gdn_config *c) {
    return c->layers * c->heads * c->key * c->value;
}
static inline size_t gs_gdn_past_width(const struct gs_gdn_config *c) {
    return c->layers * GS_GDN_PAST_ROWS * gs_gdn_channels(c);
}
static inline size_t gs_gdn_chunks(size_t steps) {
    return (steps + GS_DELTA_CHUNK - 1) / GS_DELTA_CHUNK;
}
/* Tokens of the segment at `begin`. */
static inline size_t gs_gdn_segment_steps(const struct gs_gdn_runner *r, size_t begin) {
    return gs_gdn_smaller(r->segment, r->run - begin);
}
/* Tokens of the segment that have a next one to predict. */
static inline size_t gs_gdn_predicting(const struct gs_gdn_runner *r, size_t begin, size_t steps) {
    return begin + steps < r->steps ? steps : steps - 1;
}
static inline bool gs_gdn_wants(const struct gs_gdn_runner *r, size_t channel) {
    return r->wanted && r->wanted[channel];
}

/* runner.c */
enum gs_status gs_gdn_runner_create(struct gs_model *model, const struct gs_runner_options *options,
                                    void **runner, struct gs_error *error);
void gs_gdn_runner_destroy(void *runner);
size_t gs_gdn_runner_bytes(const void *config, const struct gs_runner_options *options);

/* head.c: one unit through a segment of `steps` tokens, in the calling thread's workspace. */
struct gs_gdn_unit {
    const struct gs_gdn_runner *runner;
    struct gs_gdn_work *work;
    size_t layer, sequence, head, steps;
};
void gs_gdn_unit_forward(const struct gs_gdn_unit *unit);
/* The queries and keys of `count` steps from `first` on as unit vectors, and with `v` the values,
 * each behind its convolution; rows behind are zero. */
void gs_gdn_chunk_inputs(const struct gs_gdn_unit *unit, size_t first, size_t count, float *v);
/* The three rows before and the row of step t, from `column` on. */
void gs_gdn_conv_rows(const struct gs_gdn_unit *unit, size_t t, size_t column,
                      const float *rows[GS_CONV_WIDTH]);

/* head_back.c: the same unit back. back.read (rows, H dv) has the gradient of what is read and gets
 * what was read; back.memory and back.past get the gradient of the state before the window. */
void gs_gdn_unit_backward(const struct gs_gdn_unit *unit);

/* gdn.c: the layer that waits to be handed over, if one does. Called by all threads of a region, of
 * which the first to come does it; does not wait. */
void gs_gdn_hand_over(struct gs_gdn_runner *r);

/* forward.c: the segment's tokens through the embedding; a layer; final = rms(h; norm). */
void gs_gdn_embed(const struct gs_gdn_runner *r, size_t begin, size_t steps);
void gs_gdn_layer_forward(struct gs_gdn_runner *r, size_t layer, size_t steps);
void gs_gdn_finish(struct gs_gdn_runner *r, size_t steps);
/* Losses into nll (batch, steps of the window), in training also dz. Overwrites final. */
void gs_gdn_losses(struct gs_gdn_runner *r, size_t begin, size_t steps, float *nll);

/* backward.c: all layers of the window that forward left. */
void gs_gdn_window_backward(struct gs_gdn_runner *r, float scale,
                            const struct gs_parameters *gradients);
/* What units gathered, and the output matrix. */
void gs_gdn_gradients_finish(struct gs_gdn_runner *r, float scale,
                             const struct gs_parameters *gradients);

#endif
