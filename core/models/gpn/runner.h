/* runner.h - what a running GPN holds: weights, the tape of a segment, workspaces.
 *
 * A window runs in segments of `segment` steps. What a segment's steps make stands on the tape in
 * series (step, sequence, width). A training runner keeps every series of the whole segment; else
 * only what is decoded or tapped is kept, and the rest is overwritten at each step. With
 * recompute_every the segment is short, and backward runs each segment forward once more from the
 * state kept at its beginning. A segment is cut into stretches, whose length depends on the batch
 * alone: all sums over a window are made stretch by stretch, so that recomputing changes no bit.
 *
 * Threads: with enough sequences each thread takes some of them through all steps and never waits;
 * with few, all threads share the columns of each product and meet after each phase (team.h).
 */
#ifndef GS_CORE_MODELS_GPN_RUNNER_H
#define GS_CORE_MODELS_GPN_RUNNER_H

#include "core/models/gpn/team.h"
#include "core/models/gpn/weights.h"

enum { GS_DECODE_ROWS = 12 }; /* rows that a thread decodes at once */

/* Values of one kind for each step and sequence. */
struct gs_series {
    float *values; /* (rows, batch, width) */
    size_t width;
    size_t rows; /* steps kept; with fewer than a segment has, later steps overwrite earlier ones */
};

/* One layer's part of the tape. in = [ffn gate | ffn value | predict gate (after the sigmoid) |
 * query (unit) | read gate | v - M'k | key of the next step (unit) | beta | a + dt_bias]. */
struct gs_gpn_layer_tape {
    struct gs_series normal;      /* (d) rms of the layer's input */
    struct gs_series scale;       /* (1) its factor */
    struct gs_series in;          /* (columns of in[i]) */
    struct gs_series query_scale; /* (H) */
    struct gs_series read;        /* (H dv) M'q */
    struct gs_series read_scale;  /* (1) */
};

struct gs_gpn_tape {
    struct gs_series state;     /* (d), one step more than the others: s before each step */
    struct gs_series key_scale; /* (H) of the next step's key */
    struct gs_series strength, log_decay, decay, norm;             /* (H) */
    struct gs_series share, effect, cosine;                        /* (L) */
    struct gs_series predicted, predicted_normal, predicted_scale; /* (d), (d), (1) */
    struct gs_series head; /* (d + e): ground gate after the sigmoid | decoded vector z */
    struct gs_gpn_layer_tape *layers;
};

/* Buffers of one step. */
struct gs_gpn_work {
    float *layer_input;                 /* (layers + 1, batch, d); 0 is not used */
    float *activation, *read;           /* (batch, f), (batch, H dv) */
    float *ffn, *memory;                /* (batch, d) */
    float *first_key, *first_key_scale; /* (batch, H dk), (batch, H): key of the segment's step 0 */
    float *key_row;                     /* (batch, columns of in[0]) */
    float *previous_normal, *previous_scale; /* (batch, d), (batch): of s_prev before the window */
    float *decode_normal, *decode_head;      /* (threads, GS_DECODE_ROWS, d), (…, d + e) */
};

/* The state at the beginning of each segment, and the memory at the beginning of each stretch. */
struct gs_gpn_saved {
    float *state, *key, *key_scale; /* (segments, batch, …) */
    float *memory;                  /* (segments, batch, H dk dv) */
    float *stretch_memory;          /* (stretches of a segment, batch, H dk dv) */
};

/* The tokens of a stretch, each distinct one once. */
struct gs_gpn_ground {
    size_t count;    /* distinct tokens */
    uint32_t *token; /* (count) */
    uint32_t *row;   /* (stretch, batch) index into token */
    uint32_t *slot;  /* (V) scratch: index + 1, or 0 */
    float *normal;   /* (count, e) rms of the embedding (bf16: rounded) */
    float *scale;    /* (count) */
    float *ground;   /* (count, d) */
};

/* What the steps of one stretch leave for the weights' gradients. */
struct gs_gpn_left {
    float **in, **out;          /* per layer (steps, batch, columns), (steps, batch, d) */
    float **activation, **read; /* per layer (steps, batch, f), (steps, batch, H dv) */
    float *head;                /* (steps, batch, d + e) */
    float *ground;              /* (steps, batch, d) */
    float *a_log;               /* (steps, batch, H) */
    size_t at, steps;           /* of the segment */
};

/* What goes back through a stretch of steps. */
struct gs_gpn_stretch {
    struct gs_gpn_left left[2]; /* of the stretch in hand and of the one behind it */
    struct gs_gpn_left *now;    /* that in hand */
    /* what the stretch's steps wrote, head by head (gs_past): (batch, H, steps, …) */
    float *keys, *diffs, *decays, *strengths;
    /* carried from step to step */
    float *state;    /* (batch, d) */
    float *key;      /* (batch, H dk) of the next step's key before relu */
    float *matrix;   /* (batch, H dk dv) */
    double *overlap; /* (batch, H) of the matrix with the memory that it is the gradient of */
    /* of one step */
    float *current, *normal;                        /* (batch, d) */
    float *activation_back, *read_back, *unit_read; /* (batch, f), (batch, H dv), (batch, H dv) */
    float *head_work;                               /* (batch, H, 3 dk) */
};

struct gs_gpn_runner {
    const struct gs_gpn_config *config;
    struct gs_runner_options options;
    size_t segment, stretch; /* steps */
    size_t threads;          /* that workspaces were made for */
    struct gs_gpn_weights weights;
    struct gs_gpn_tape tape;
    struct gs_gpn_work work;
    struct gs_gpn_saved saved;
    struct gs_gpn_ground ground;
    struct gs_gpn_stretch back;
    /* decoding: a block of rows at a time */
    size_t decode_rows;
    float *decoded;                         /* (rows of a segment, e): z */
    float *loss_gradient;                   /* (steps, batch, e): d nll / d z; training */
    float *segment_nll;                     /* (segment * batch) in the tape's order */
    uint32_t *targets;                      /* the same */
    float *ground_gradient, *embedding_row; /* (distinct, d), (distinct, e); training */
    void *arena;                            /* all of the above */
    /* sums over a window of a_log's and the biases' gradients, (columns) each; training */
    double **bias_in, *bias_head, *a_log_sum;
    /* the window in hand */
    size_t batch, steps;
    uint32_t *tokens; /* (batch, steps) copy, for backward */
    float *memory;    /* the caller's M, (batch, H dk dv) */
    bool want_norm, want_share;
    bool has_loss_gradient;        /* the output's gradient and loss_gradient hold a window's */
    double effect_sum, cosine_sum; /* over steps, sequences and layers, for the metrics */
    struct gs_metric metrics[5];
    size_t metric_count;
};

/* Row block of step t: (batch, width). */
static inline float *gs_at(const struct gs_gpn_runner *r, const struct gs_series *series,
                           size_t t) {
    return series->values + t % series->rows * r->batch * series->width;
}

/* Where layer i's columns stand in its row of `in`. */
static inline const struct gs_gpn_columns *gs_columns(const struct gs_gpn_runner *r, size_t i) {
    return i == 0 ? &r->weights.first : &r->weights.other;
}

/* The key (dk) that step t of the segment writes with in `unit` (sequence * H + head), and its
 * scale (NULL: not wanted): what the step before made, or what the segment began with. */
static inline const float *gs_written_key(const struct gs_gpn_runner *r, size_t t, size_t unit,
                                          float *scale) {
    const struct gs_gpn_config *c = r->config;
    if (scale)
        *scale = t == 0 ? r->work.first_key_scale[unit] : gs_at(r, &r->tape.key_scale, t - 1)[unit];
    if (t == 0) return r->work.first_key + unit * c->key;
    const struct gs_gpn_columns *columns = gs_columns(r, 0);
    return gs_at(r, &r->tape.layers[0].in, t - 1) + unit / c->heads * columns->count +
           columns->key + unit % c->heads * c->key;
}

/* Steps of the segment that begins at `begin`. */
static inline size_t gs_segment_steps(const struct gs_gpn_runner *r, size_t begin) {
    return r->steps - begin < r->segment ? r->steps - begin : r->segment;
}

/* runner.c */
enum gs_status gs_gpn_runner_create(struct gs_model *model, const struct gs_runner_options *options,
                                    void **runner, struct gs_error *error);
void gs_gpn_runner_destroy(void *runner);
size_t gs_gpn_runner_bytes(const void *config, const struct gs_runner_options *options);

/* forward.c: how the threads share the window in hand (team.h). */
bool gs_gpn_shares_columns(const struct gs_gpn_runner *r);
/* Steps `begin` … of the window, from the state at tape.state[0], first_key and memory;
 * leaves the state after them at tape.state[steps]. With nll (batch, steps of the window) also
 * their losses, and, in training, what backward needs of them. */
void gs_gpn_segment_forward(struct gs_gpn_runner *r, size_t begin, size_t steps, float *nll);
/* The key of the window's first step, from s_prev (batch, d). */
void gs_gpn_first_key(struct gs_gpn_runner *r, const float *previous);

/* ground.c: the distinct tokens of a stretch, which begins at step `begin` of the window, with
 * their normalised embeddings; forward also what they ground to. */
void gs_gpn_ground_collect(struct gs_gpn_runner *r, size_t begin, size_t steps);
void gs_gpn_ground_forward(struct gs_gpn_runner *r, size_t begin, size_t steps);
/* Scatter a collected stretch's gradients (steps, batch, d) to ground_gradient (called by all
 * threads of a region; does not wait); then pass them on to the weights and the embedding. */
void gs_gpn_ground_scatter(struct gs_gpn_runner *r, size_t steps);
void gs_gpn_ground_backward(struct gs_gpn_runner *r);

/* decode.c: the tokens that a segment's steps predict; the losses of `steps` of its steps from `at`
 * on (by all threads of a region, see gs_output_share); and all of a segment's to their places in
 * nll (batch, steps of the window). */
void gs_gpn_targets(struct gs_gpn_runner *r, size_t begin, size_t steps);
void gs_gpn_stretch_losses(struct gs_gpn_runner *r, size_t begin, size_t at, size_t steps);
void gs_gpn_spread_losses(const struct gs_gpn_runner *r, size_t begin, size_t steps, float *nll);
void gs_gpn_decode(void *runner, size_t channel, const float *states, size_t rows, float *logits);
void gs_gpn_decode_embedding(void *runner, const float *vectors, size_t rows, float *logits);

/* backward.c: all steps of the segment on the tape, last to first. */
void gs_gpn_segment_backward(struct gs_gpn_runner *r, size_t begin, size_t steps);
/* gradients.c: the products of what a stretch left into the matrices' gradients. Called by all
 * threads of a region, which take them part by part; does not wait for the others. */
void gs_gpn_stretch_flush(struct gs_gpn_runner *r, const struct gs_gpn_left *left);
/* What flows into s_prev before the window; ds_prev (batch, d) may be NULL. */
void gs_gpn_first_key_backward(struct gs_gpn_runner *r, float *previous);
/* Everything gathered over the window, times scale, into the parameters' gradients. */
void gs_gpn_gradients_finish(struct gs_gpn_runner *r, float scale,
                             const struct gs_parameters *gradients);

#endif
