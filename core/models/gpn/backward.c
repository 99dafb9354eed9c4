/* Back through the steps of a segment, last to first. What each step's products need for the
 * weights' gradients is kept for a stretch of steps and multiplied at once (gradients.c): while the
 * steps of the stretch before it run, by the threads that are done with theirs, since these are
 * never equally fast. */
#include "core/models/gpn/runner.h"

#include "core/kernels/kernels.h"

#include <math.h>
#include <omp.h>
#include <string.h>

/* Row block of step `at` of the stretch. */
static float *row_block(const struct gs_gpn_runner *r, float *values, size_t at, size_t width) {
    return values + at * r->batch * width;
}

/* The memory (batch, H dk dv) before the stretch that begins at step `begin` of the segment. */
static float *stretch_memory(const struct gs_gpn_runner *r, size_t begin) {
    const struct gs_gpn_config *c = r->config;
    return r->saved.stretch_memory + begin / r->stretch * r->batch * c->heads * c->key * c->value;
}

/* From the gradient of the state after the token to that of the head and the predicted state. */
static void ground_back(const struct gs_gpn_runner *r, size_t t, size_t at, size_t position,
                        size_t b) {
    const size_t d = r->config->width, e = r->config->embedding;
    const float *state = r->back.state + b * d;
    float *head = row_block(r, r->back.now->head, at, d + e) + b * (d + e);
    memcpy(row_block(r, r->back.now->ground, at, d) + b * d, state, d * sizeof(float));
    gs_kernels()->gate_backward(gs_at(r, &r->tape.head, t) + b * (d + e),
                                gs_at(r, &r->tape.predicted, t) + b * d, 1.0f, state, d, head,
                                r->back.current + b * d);
    memcpy(head + d, r->loss_gradient + (position * r->batch + b) * e, e * sizeof(float));
}

/* dx += back through the rms of a layer's input (or of the predicted state), whose normalised
 * gradient is in back.normal. */
static void rms_back(const struct gs_gpn_runner *r, const struct gs_team *team, const float *normal,
                     const float *scale) {
    const size_t d = r->config->width;
    for (size_t b = team->first_row; b < team->last_row; b++)
        gs_kernels()->rms_backward(r->back.normal + b * d, normal + b * d, scale[b], d,
                                   r->back.current + b * d, true);
}

/* FFN, predict gate and read gate of one row of layer i. back.current holds the gradient of the
 * layer's output and becomes that of its input through the gate. */
static void activation_back(const struct gs_gpn_runner *r, size_t i, size_t t, size_t at,
                            size_t b) {
    const struct gs_gpn_config *c = r->config;
    const struct gs_kernels *k = gs_kernels();
    const struct gs_gpn_columns *col = gs_columns(r, i);
    const struct gs_gpn_layer_tape *layer = &r->tape.layers[i];
    const float *in = gs_at(r, &layer->in, t) + b * col->count;
    float *din = row_block(r, r->back.now->in[i], at, col->count) + b * col->count;
    float *current = r->back.current + b * c->width;
    k->swiglu_backward(in + col->ffn_gate, in + col->ffn_value, 1.0f,
                       r->back.activation_back + b * c->ffn, c->ffn, din + col->ffn_gate,
                       din + col->ffn_value,
                       row_block(r, r->back.now->activation[i], at, c->ffn) + b * c->ffn);
    k->gate_backward(in + col->gate, gs_at(r, &layer->normal, t) + b * c->width,
                     1.0f / gs_at(r, &layer->scale, t)[b], current, c->width, din + col->gate,
                     current);
}

static void read_gate_back(const struct gs_gpn_runner *r, size_t i, size_t t, size_t at, size_t b) {
    const struct gs_kernels *k = gs_kernels();
    const struct gs_gpn_columns *col = gs_columns(r, i);
    const struct gs_gpn_layer_tape *layer = &r->tape.layers[i];
    const size_t values = r->config->heads * r->config->value;
    const float *in = gs_at(r, &layer->in, t) + b * col->count;
    const float *read = gs_at(r, &layer->read, t) + b * values;
    float scale = gs_at(r, &layer->read_scale, t)[b];
    float *din = row_block(r, r->back.now->in[i], at, col->count) + b * col->count;
    float *dread = r->back.read_back + b * values, *unit = r->back.unit_read + b * values;
    k->swiglu_backward(in + col->read_gate, read, scale, dread, values, din + col->read_gate, dread,
                       row_block(r, r->back.now->read[i], at, values) + b * values);
    for (size_t j = 0; j < values; j++) unit[j] = read[j] * scale;
    k->rms_backward(dread, unit, scale, values, dread, false);
}

/* The memory of a head after `writes` steps of the stretch that begins at step `begin`. */
static struct gs_past past(const struct gs_gpn_runner *r, size_t begin, size_t unit,
                           size_t writes) {
    const struct gs_gpn_config *c = r->config;
    const size_t size = c->key * c->value, first = unit * r->stretch;
    return (struct gs_past){.start = stretch_memory(r, begin) + unit * size,
                            .writes = writes,
                            .keys = r->back.keys + first * c->key,
                            .diffs = r->back.diffs + first * c->value,
                            .decays = r->back.decays + first,
                            .strengths = r->back.strengths + first};
}

/* Back through the read of a layer after the first by one head: into the query and the memory's
 * gradient. */
static void read_back(const struct gs_gpn_runner *r, size_t i, size_t t, size_t at, size_t unit,
                      float *work) {
    const struct gs_gpn_config *c = r->config;
    const struct gs_kernels *k = gs_kernels();
    const struct gs_gpn_columns *col = gs_columns(r, i);
    const struct gs_gpn_layer_tape *layer = &r->tape.layers[i];
    const size_t b = unit / c->heads, h = unit % c->heads, size = c->key * c->value;
    const struct gs_past after = past(r, t - at, unit, at + 1);
    const float *query = gs_at(r, &layer->in, t) + b * col->count + col->query + h * c->key;
    float *dquery =
        row_block(r, r->back.now->in[i], at, col->count) + b * col->count + col->query + h * c->key;
    k->memory_read_backward(&after, c->key, c->value, query,
                            gs_at(r, &layer->read, t) + unit * c->value,
                            r->back.read_back + unit * c->value, r->back.matrix + unit * size,
                            &r->back.overlap[unit], work, work + c->key);
    k->unit_relu_backward(work, query, gs_at(r, &layer->query_scale, t)[unit], c->key, dquery);
}

static float sigmoid(float x) {
    return 1.0f / (1.0f + expf(-x));
}

/* Back through the gates of one head's write, from the gradients of log decay and strength. */
static void gates_back(const struct gs_gpn_runner *r, size_t t, size_t at, size_t unit, float dlog,
                       float dstrength) {
    const struct gs_gpn_config *c = r->config;
    const struct gs_gpn_columns *col = &r->weights.first;
    const size_t b = unit / c->heads, h = unit % c->heads;
    const float *in = gs_at(r, &r->tape.layers[0].in, t) + b * col->count;
    float *din = row_block(r, r->back.now->in[0], at, col->count) + b * col->count;
    float strength = gs_at(r, &r->tape.strength, t)[unit];
    float log_decay = gs_at(r, &r->tape.log_decay, t)[unit];
    float rate = -expf(r->weights.tensors.a_log->values[h]);
    din[col->strength + h] = dstrength * strength * (1.0f - strength);
    din[col->decay + h] = dlog * rate * sigmoid(in[col->decay + h]);
    row_block(r, r->back.now->a_log, at, c->heads)[unit] = dlog * log_decay;
}

/* Back through the write and the first layer's read by one head. work: 3 dk floats. */
static void write_back(const struct gs_gpn_runner *r, size_t t, size_t at, size_t unit,
                       float *work) {
    const struct gs_gpn_config *c = r->config;
    const struct gs_kernels *k = gs_kernels();
    const struct gs_gpn_columns *col = &r->weights.first;
    const struct gs_gpn_layer_tape *layer = &r->tape.layers[0];
    const size_t b = unit / c->heads, h = unit % c->heads, size = c->key * c->value;
    const float *in = gs_at(r, &layer->in, t) + b * col->count;
    float *din = row_block(r, r->back.now->in[0], at, col->count) + b * col->count;
    float *next_key = r->back.key + unit * c->key, key_scale, dlog, dstrength;
    const struct gs_head head = {.k = gs_written_key(r, t, unit, &key_scale),
                                 .q = in + col->query + h * c->key,
                                 .diff = in + col->value + h * c->value,
                                 .read = gs_at(r, &layer->read, t) + unit * c->value,
                                 .decay = gs_at(r, &r->tape.decay, t)[unit],
                                 .strength = gs_at(r, &r->tape.strength, t)[unit]};
    const struct gs_head_gradient gradient = {.dread = r->back.read_back + unit * c->value,
                                              .dM = r->back.matrix + unit * size,
                                              .overlap = &r->back.overlap[unit],
                                              .dq = work,
                                              .dk = work + c->key,
                                              .dv = din + col->value + h * c->value,
                                              .dlog_decay = &dlog,
                                              .dstrength = &dstrength,
                                              .work = work + 2 * c->key};
    const struct gs_past before = past(r, t - at, unit, at);
    k->memory_step_backward(&before, c->key, c->value, &head, &gradient);
    k->unit_relu_backward(work, head.q, gs_at(r, &layer->query_scale, t)[unit], c->key,
                          din + col->query + h * c->key);
    memcpy(din + col->key + h * c->key, next_key, c->key * sizeof(float)); /* of step t + 1 */
    k->unit_relu_backward(work + c->key, head.k, key_scale, c->key, next_key);
    gates_back(r, t, at, unit, dlog, dstrength);
}

static void heads_back(const struct gs_gpn_runner *r, const struct gs_team *team, size_t i,
                       size_t t, size_t at) {
    const struct gs_gpn_config *c = r->config;
    size_t first, last;
    gs_team_units(team, c->heads, &first, &last);
    for (size_t unit = first; unit < last; unit++) {
        float *work = r->back.head_work + unit * 3 * c->key;
        if (i == 0)
            write_back(r, t, at, unit, work);
        else
            read_back(r, i, t, at, unit, work);
    }
}

static void layer_back(const struct gs_gpn_runner *r, struct gs_team *team, size_t i, size_t t,
                       size_t at) {
    const struct gs_gpn_config *c = r->config;
    const struct gs_gpn_columns *col = gs_columns(r, i);
    const struct gs_gpn_layer_tape *layer = &r->tape.layers[i];
    const size_t d = c->width, values = c->heads * c->value;
    for (size_t b = team->first_row; b < team->last_row; b++)
        memcpy(row_block(r, r->back.now->out[i], at, d) + b * d, r->back.current + b * d,
               d * sizeof(float));
    gs_team_meet(team);
    gs_team_product(team, &r->weights.ffn_out[i].backward, r->back.current, d,
                    r->back.activation_back, c->ffn, false);
    if (c->heads)
        gs_team_product(team, &r->weights.read_out[i].backward, r->back.current, d,
                        r->back.read_back, values, false);
    gs_team_meet(team);
    for (size_t b = team->first_row; b < team->last_row; b++) {
        activation_back(r, i, t, at, b);
        if (c->heads) read_gate_back(r, i, t, at, b);
    }
    gs_team_meet_units(team);
    if (c->heads) heads_back(r, team, i, t, at);
    gs_team_meet(team);
    gs_team_product(team, &r->weights.in[i].backward,
                    row_block(r, r->back.now->in[i], at, col->count), col->count, r->back.normal, d,
                    false);
    gs_team_meet(team);
    rms_back(r, team, gs_at(r, &layer->normal, t), gs_at(r, &layer->scale, t));
}

/* Step t of the segment, step `at` of the stretch, position `position` of the window. */
static void step_back(const struct gs_gpn_runner *r, struct gs_team *team, size_t t, size_t at,
                      size_t position) {
    const size_t d = r->config->width, e = r->config->embedding;
    for (size_t b = team->first_row; b < team->last_row; b++) ground_back(r, t, at, position, b);
    gs_team_meet(team);
    gs_team_product(team, &r->weights.head.backward, row_block(r, r->back.now->head, at, d + e),
                    d + e, r->back.normal, d, false);
    gs_team_meet(team);
    rms_back(r, team, gs_at(r, &r->tape.predicted_normal, t),
             gs_at(r, &r->tape.predicted_scale, t));
    for (size_t i = r->config->layers; i-- > 0;) layer_back(r, team, i, t, at);
    for (size_t b = team->first_row; b < team->last_row; b++)
        memcpy(r->back.state + b * d, r->back.current + b * d, d * sizeof(float));
}

/* What step t wrote into a head, to its place in the stretch. */
static void collect_write(const struct gs_gpn_runner *r, size_t t, size_t at, size_t unit) {
    const struct gs_gpn_config *c = r->config;
    const struct gs_gpn_columns *col = &r->weights.first;
    const size_t b = unit / c->heads, h = unit % c->heads, place = unit * r->stretch + at;
    const float *in = gs_at(r, &r->tape.layers[0].in, t) + b * col->count;
    memcpy(r->back.keys + place * c->key, gs_written_key(r, t, unit, NULL), c->key * sizeof(float));
    memcpy(r->back.diffs + place * c->value, in + col->value + h * c->value,
           c->value * sizeof(float));
    r->back.decays[place] = gs_at(r, &r->tape.decay, t)[unit];
    r->back.strengths[place] = gs_at(r, &r->tape.strength, t)[unit];
}

/* What the stretch's steps wrote, and how the matrix's gradient after them lies to the memory. The
 * overlap goes back with the gradient, but its rounding errors would gather over a window; so it is
 * found anew for each stretch. Behind the window's last step the gradient is zero. */
static void begin_stretch(const struct gs_gpn_runner *r, const struct gs_team *team, size_t begin,
                          size_t steps, bool segment_ends, bool window_ends) {
    const struct gs_gpn_config *c = r->config;
    const size_t size = c->key * c->value;
    size_t first, last;
    gs_team_units(team, c->heads, &first, &last);
    const float *after = segment_ends ? r->memory : stretch_memory(r, begin + steps);
    for (size_t unit = first; unit < last; unit++) {
        for (size_t at = 0; at < steps; at++) collect_write(r, begin + at, at, unit);
        r->back.overlap[unit] = window_ends ? 0
                                            : gs_kernels()->dot(r->back.matrix + unit * size,
                                                                after + unit * size, size);
    }
}

/* Steps at … at + count - 1 of the segment; then the weights' gradients of `behind`, the stretch
 * after this one (NULL: none). */
static void stretch_back(struct gs_gpn_runner *r, size_t begin, size_t at, size_t count,
                         bool segment_ends, const struct gs_gpn_left *behind) {
    const bool by_columns = gs_gpn_shares_columns(r);
    struct gs_team_queues queues = {0};
#pragma omp parallel
    {
        struct gs_team team =
            gs_team_member((size_t)omp_get_thread_num(), (size_t)omp_get_num_threads(), r->batch,
                           by_columns, &queues);
        if (r->config->heads)
            begin_stretch(r, &team, at, count, segment_ends, begin + at + count == r->steps);
        gs_team_meet(&team);
        for (size_t s = count; s-- > 0;) step_back(r, &team, at + s, s, begin + at + s);
        if (behind) gs_gpn_stretch_flush(r, behind);
#pragma omp barrier
        gs_gpn_ground_scatter(r, count);
    }
}

void gs_gpn_segment_backward(struct gs_gpn_runner *r, size_t begin, size_t steps) {
    const struct gs_gpn_left *behind = NULL;
    for (size_t stretch = (steps + r->stretch - 1) / r->stretch; stretch-- > 0;) {
        size_t at = stretch * r->stretch;
        size_t count = steps - at < r->stretch ? steps - at : r->stretch;
        struct gs_gpn_left *now = &r->back.left[stretch % 2];
        now->at = at;
        now->steps = count;
        r->back.now = now;
        gs_gpn_ground_collect(r, begin + at, count);
        memset(r->ground_gradient, 0, r->ground.count * r->config->width * sizeof(float));
        stretch_back(r, begin, at, count, at + count == steps, behind);
        gs_gpn_ground_backward(r);
        behind = now;
    }
#pragma omp parallel
    gs_gpn_stretch_flush(r, behind);
}
