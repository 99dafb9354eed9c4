/* One head of one sequence back through a window, chunk by chunk from the last. Gradients of the
 * projections take the places of these on the tape: what an earlier chunk still reads stands
 * before. */
#include "core/kernels/kernels.h"
#include "core/models/gdn/runner.h"

#include <math.h>
#include <string.h>

enum { C = GS_DELTA_CHUNK, PAST = GS_GDN_PAST_ROWS };

/* One of the three convolutions as this head sees it. */
struct piece {
    size_t column, n;
    size_t at;       /* in a row of dpre */
    const float *dy; /* (CHUNK, width) */
    size_t width;
};

static size_t dpre_width(const struct gs_gdn_config *c) {
    return 2 * c->key + c->value;
}

/* The row before the convolutions' silu at step t of the chunk. */
static float *dpre_row(const struct gs_gdn_unit *u, size_t t) {
    return u->work->dpre + t * dpre_width(u->runner->config);
}

static void find_pieces(const struct gs_gdn_unit *u, struct piece pieces[3]) {
    const struct gs_gdn_runner *r = u->runner;
    const size_t dk = r->config->key, dv = r->config->value;
    const size_t key = u->head * dk, value = u->head * dv;
    pieces[0] = (struct piece){r->columns.query + key, dk, 0, u->work->dq, r->keys};
    pieces[1] = (struct piece){r->columns.key + key, dk, dk, u->work->dk, r->keys};
    pieces[2] = (struct piece){r->columns.value + value, dv, 2 * dk, u->work->dv, r->values};
}

/* ---- around the memory -------------------------------------------------------------------- */

/* From the gradient of what was read to d_o, the gate's and the norm's; what was read is made again
 * for the output's weights. */
static void gates_back(const struct gs_gdn_unit *u, size_t first, size_t count, const float *o) {
    const struct gs_gdn_runner *r = u->runner;
    const size_t dv = r->config->value, values = r->config->heads * dv;
    const size_t unit = u->sequence * r->config->heads + u->head;
    const size_t units = r->options.batch * r->config->heads;
    const float *weight = r->weights.tensors.layers[u->layer].read_norm->values;
    float *dweight = r->back.read_norm + (u->layer * units + unit) * dv;
    for (size_t t = 0; t < count; t++) {
        const size_t row = u->sequence * u->steps + first + t;
        float *gate = r->layers[u->layer].in + row * r->columns.count + r->columns.gate;
        float *read = r->back.read + row * values + u->head * dv;
        gate += u->head * dv;
        r->kernels->gated_norm_backward(o + t * r->values, weight, gate, read, dv,
                                        u->work->d_o + t * r->values, gate, dweight, read);
    }
    memset(u->work->d_o + count * r->values, 0, (C - count) * r->values * sizeof(float));
}

/* Through softplus and sigmoid to the projections, A_log and dt_bias. */
static void decays_back(const struct gs_gdn_unit *u, size_t first, size_t count) {
    const struct gs_gdn_runner *r = u->runner;
    const struct gs_gdn_layer *p = &r->weights.tensors.layers[u->layer];
    const struct gs_gdn_tape *tape = &r->layers[u->layer];
    const size_t H = r->config->heads, unit = u->sequence * H + u->head;
    const size_t units = r->options.batch * H;
    const float rate = -expf(p->a_log->values[u->head]), bias = p->dt_bias->values[u->head];
    double *sums = r->back.gates + (u->layer * units + unit) * 2;
    for (size_t t = count; t-- > 0;) {
        const size_t row = u->sequence * u->steps + first + t, at = row * H + u->head;
        float *decay = tape->in + row * r->columns.count + r->columns.decay + u->head;
        float *strength = tape->in + row * r->columns.count + r->columns.strength + u->head;
        const float dlog = u->work->dlog_decay[t], b = tape->strength[at];
        float slope;
        gs_kernels()->sigmoid(decay, &bias, 1, &slope);
        *decay = dlog * rate * slope;
        *strength = u->work->dstrength[t] * b * (1 - b);
        sums[0] += (double)(dlog * tape->log_decay[at]);
        sums[1] += (double)*decay;
    }
}

/* ---- convolutions ------------------------------------------------------------------------- */

/* dpre of the chunk's rows, zero behind them. Those of the three rows after a whole chunk stand
 * behind it already. */
static void convolutions_back(const struct gs_gdn_unit *u, const struct piece *p, size_t first,
                              size_t count) {
    const struct gs_gdn_runner *r = u->runner;
    const size_t channels = gs_gdn_channels(r->config);
    const float *rows[GS_CONV_WIDTH], *taps = r->weights.layers[u->layer].taps + p->column;
    float *dtaps = r->back.taps +
                   (u->layer * r->options.batch + u->sequence) * GS_CONV_WIDTH * channels +
                   p->column;
    for (size_t t = 0; t < count; t++) {
        gs_gdn_conv_rows(u, first + t, p->column, rows);
        r->kernels->conv_backward(rows, taps, channels, p->dy + t * p->width, p->n,
                                  dpre_row(u, t) + p->at, dtaps);
    }
    for (size_t t = count; t < C; t++) memset(dpre_row(u, t) + p->at, 0, p->n * sizeof(float));
}

/* dx of the row `t` steps after the chunk's first (before it: -3 … -1), as far as dpre is there. */
static void conv_input(const struct gs_gdn_unit *u, const struct piece *p, ptrdiff_t t, float *dx) {
    const struct gs_gdn_runner *r = u->runner;
    const float *taps = r->weights.layers[u->layer].taps + p->column;
    const float *rows[GS_CONV_WIDTH];
    for (ptrdiff_t i = 0; i < GS_CONV_WIDTH; i++) {
        ptrdiff_t row = t + PAST - i;
        rows[i] = row < 0 ? u->work->zero : dpre_row(u, (size_t)row) + p->at;
    }
    r->kernels->conv_inputs(rows, taps, gs_gdn_channels(r->config), p->n, dx);
}

static void conv_inputs(const struct gs_gdn_unit *u, const struct piece *p, size_t first,
                        size_t count) {
    const struct gs_gdn_runner *r = u->runner;
    for (size_t t = 0; t < count; t++) {
        const size_t row = u->sequence * u->steps + first + t;
        conv_input(u, p, (ptrdiff_t)t, r->layers[u->layer].in + row * r->columns.count + p->column);
    }
}

/* What the first rows' convolutions leave is the gradient of the past before the window. */
static void past_back(const struct gs_gdn_unit *u, const struct piece *p) {
    const struct gs_gdn_runner *r = u->runner;
    const size_t channels = gs_gdn_channels(r->config);
    float *past = r->back.past + u->sequence * gs_gdn_past_width(r->config) +
                  u->layer * PAST * channels + p->column;
    for (size_t i = 0; i < PAST; i++) conv_input(u, p, (ptrdiff_t)i - PAST, past + i * channels);
}

/* ---- the unit ----------------------------------------------------------------------------- */

static void memory_back(const struct gs_gdn_unit *u, size_t at) {
    const struct gs_gdn_runner *r = u->runner;
    const struct gs_gdn_tape *tape = &r->layers[u->layer];
    struct gs_gdn_work *w = u->work;
    const struct gs_delta_chunk chunk = {r->keys,  r->values,   w->q,      w->k,
                                         w->decay, w->strength, w->scratch};
    const struct gs_delta_gradient gradient = {.x = tape->x + at * C * r->values,
                                               .S = tape->starts + at * r->keys * r->values,
                                               .d_o = w->d_o,
                                               .dS = w->dS,
                                               .dq = w->dq,
                                               .dk = w->dk,
                                               .dv = w->dv,
                                               .dlog_decay = w->dlog_decay,
                                               .dstrength = w->dstrength};
    r->kernels->backward(&chunk, &gradient);
}

static void units_back(const struct gs_gdn_unit *u, size_t count) {
    const struct gs_gdn_runner *r = u->runner;
    const struct gs_gdn_work *w = u->work;
    const size_t dk = r->config->key;
    const float scale = 1.0f / sqrtf((float)dk);
    for (size_t t = 0; t < count; t++) {
        float *dq = w->dq + t * r->keys, *dkey = w->dk + t * r->keys;
        r->kernels->unit_backward(dq, w->q + t * r->keys, w->q_factor[t], scale, dk, dq);
        r->kernels->unit_backward(dkey, w->k + t * r->keys, w->k_factor[t], 1, dk, dkey);
    }
}

static void gates_again(const struct gs_gdn_unit *u, size_t first, size_t count) {
    const struct gs_gdn_tape *tape = &u->runner->layers[u->layer];
    const size_t H = u->runner->config->heads, row = u->sequence * u->steps + first;
    for (size_t t = 0; t < C; t++) {
        const size_t at = (row + t) * H + u->head;
        u->work->decay[t] = t < count ? tape->decay[at] : 1;
        u->work->strength[t] = t < count ? tape->strength[at] : 0;
    }
}

static void chunk_back(const struct gs_gdn_unit *u, size_t first, size_t count) {
    const struct gs_gdn_runner *r = u->runner;
    const size_t unit = u->sequence * r->config->heads + u->head;
    const size_t at = unit * gs_gdn_chunks(r->segment) + first / C;
    struct piece pieces[3];
    find_pieces(u, pieces);
    gs_gdn_chunk_inputs(u, first, count, NULL);
    gates_again(u, first, count);
    gates_back(u, first, count, r->layers[u->layer].o + at * C * r->values);
    memory_back(u, at);
    units_back(u, count);
    decays_back(u, first, count);
    memcpy(dpre_row(u, C), dpre_row(u, 0), PAST * dpre_width(r->config) * sizeof(float));
    for (size_t i = 0; i < 3; i++) convolutions_back(u, &pieces[i], first, count);
    for (size_t i = 0; i < 3; i++) conv_inputs(u, &pieces[i], first, count);
}

void gs_gdn_unit_backward(const struct gs_gdn_unit *u) {
    const struct gs_gdn_runner *r = u->runner;
    const struct gs_gdn_config *c = r->config;
    const size_t dk = c->key, dv = c->value;
    float *state = r->back.memory + u->sequence * gs_gdn_memory_width(c) +
                   (u->layer * c->heads + u->head) * dk * dv;
    float *dS = u->work->dS;
    struct piece pieces[3];
    find_pieces(u, pieces);
    memset(dS, 0, r->keys * r->values * sizeof *dS);
    memset(dpre_row(u, 0), 0, PAST * dpre_width(c) * sizeof(float));
    for (size_t i = gs_gdn_chunks(u->steps); i-- > 0;)
        chunk_back(u, i * C, gs_gdn_smaller(C, u->steps - i * C));
    for (size_t i = 0; i < 3; i++) past_back(u, &pieces[i]);
    for (size_t i = 0; i < dk; i++) memcpy(state + i * dv, dS + i * r->values, dv * sizeof *dS);
}
