/* runner.h - what a running transformer holds.
 *
 * All tokens of all sequences of a window go through a layer at once, as rows (sequence, token). A
 * token of a window may be only predicted, so fewer tokens are run than the window has: `run` of
 * each sequence. Rows go in blocks (parts/row_blocks.h), attention head by head.
 *
 * What backward needs of a layer is its tape. A training runner has one for each layer; with
 * recompute_every, one for all, and each layer is run forward again from its input in backward.
 * Without training, one tape is enough, of a group of sequences.
 */
#ifndef GS_CORE_MODELS_TRANSFORMER_RUNNER_H
#define GS_CORE_MODELS_TRANSFORMER_RUNNER_H

#include "core/kernels/attention.h"
#include "core/models/parts/feed_forward.h"
#include "core/models/parts/linear.h"
#include "core/models/parts/output.h"
#include "core/models/transformer/config.h"

struct gs_transformer_weights {
    struct gs_linear in, out; /* d -> q | k | v, d -> d */
    struct gs_feed_forward feed;
};

/* One layer's tape. */
struct gs_transformer_tape {
    float *q, *k, *v; /* (sequence, head, room, stride): rotated, q scaled; zero behind the end */
    float *log_sum;   /* (sequence, head, room) */
    float *mixed;     /* (rows, d) what attention gave, all heads */
    float *middle;    /* (rows, d) the stream between attention and feed-forward */
    float *gate;      /* (rows, 2f) [g | u] */
};

/* Buffers of backward, for all rows of a window. */
struct gs_transformer_back {
    float *upper, *middle; /* (rows, d) gradients of the stream: of a layer's output, between */
    float *normal;         /* (rows, d) normalised input of the product at hand */
    float *activation;     /* (rows, f) */
    float *d_mixed;        /* (rows, d) */
    float *d_in;           /* (rows, 3d) */
    float *d_norm;         /* (2 layers + 1, blocks, d) of the norms' weights, by block */
};

/* A stream that a tap gets from one thread while the others go on with the next layer. */
struct gs_transformer_handing {
    const struct gs_tap *tap; /* NULL: nothing to hand over */
    size_t channel;
    const float *values; /* (batch, run, d) */
    struct gs_error *error;
    enum gs_status status;
};

struct gs_transformer_runner {
    const struct gs_transformer_config *config;
    struct gs_runner_options options;
    size_t threads;
    size_t head, width, stride, room; /* of attention's arrays: c, columns, stride, rows */
    size_t group;                     /* sequences that go through a layer at once */
    struct gs_transformer_tensors tensors;
    struct gs_transformer_weights *weights; /* (layers) */
    struct gs_output output;
    float *cosines, *sines; /* (steps, c / 2) */
    float *stream; /* (layers + 1 or 2, batch, steps, d): each layer's input, and the last */
    struct gs_transformer_tape *tapes; /* (layers or 1) */
    size_t taped;                      /* layer whose tape is there, where all share one */
    float *final;                      /* (rows, d) after the last norm */
    float *predicting;                 /* (rows, d) those that predict a token, closely */
    float *d_predicting;               /* the loss's gradient of them; training */
    uint32_t *tokens, *targets;        /* (rows) */
    float *losses;                     /* (rows) */
    float *work;                       /* (threads, work_floats) */
    size_t work_floats;
    struct gs_transformer_back back;
    void *arena; /* all of the above */
    /* the window in hand */
    size_t batch, steps, run; /* tokens in it, and run, of each sequence */
    struct gs_transformer_handing handing;
    bool has_losses; /* the output's gradient holds a window's */
};

/* runner.c */
enum gs_status gs_transformer_runner_create(struct gs_model *model,
                                            const struct gs_runner_options *options, void **runner,
                                            struct gs_error *error);
void gs_transformer_runner_destroy(void *runner);
void gs_transformer_runner_refresh(void *runner);
size_t gs_transformer_runner_bytes(const void *config, const struct gs_runner_options *options);

/* The stream before layer i (batch, run, d); i = layers: after the last. */
static inline float *gs_transformer_stream(const struct gs_transformer_runner *r, size_t i) {
    const size_t rows = r->options.batch * r->options.steps;
    return r->stream + (r->options.train ? i : i % 2) * rows * r->config->width;
}
static inline struct gs_transformer_tape *gs_transformer_tape(struct gs_transformer_runner *r,
                                                              size_t i) {
    return r->options.train && !r->options.recompute_every ? &r->tapes[i] : r->tapes;
}
/* The calling thread's working space. */
float *gs_transformer_work(const struct gs_transformer_runner *r);

/* forward.c: layer i of all sequences, from its input to the next one's. */
void gs_transformer_layer_forward(struct gs_transformer_runner *r, size_t i);
enum gs_status gs_transformer_forward(void *runner, struct gs_state *state, const uint32_t *tokens,
                                      size_t steps, const struct gs_tap *tap, float *nll,
                                      struct gs_error *error);
void gs_transformer_decode(void *runner, size_t channel, const float *states, size_t rows,
                           float *logits);
void gs_transformer_decode_embedding(void *runner, const float *vectors, size_t rows,
                                     float *logits);

/* backward.c */
enum gs_status gs_transformer_backward(void *runner, float scale, struct gs_parameters *gradients,
                                       struct gs_state *state_gradient, struct gs_error *error);

/* heads.c. Rows first … last - 1 of `count` sequences, projected to q | k | v (last - first, 3d),
 * to the heads' arrays. */
void gs_transformer_split(const struct gs_transformer_runner *r,
                          const struct gs_transformer_tape *tape, size_t first, size_t last,
                          const float *projected);
/* Attention of `count` sequences from the heads' arrays to tape->mixed. Called by all threads of a
 * region, which share it; the caller waits. */
void gs_transformer_attend(const struct gs_transformer_runner *r,
                           const struct gs_transformer_tape *tape, size_t count);
/* Back from d_mixed to d_in. As before. */
void gs_transformer_attend_back(const struct gs_transformer_runner *r,
                                const struct gs_transformer_tape *tape, size_t count);

#endif
