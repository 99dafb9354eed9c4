/* One head of one sequence through a segment, forward: convolutions, unit vectors, gates, the
 * memory, the gated norm of what is read. */
#include "core/kernels/kernels.h"
#include "core/models/gdn/runner.h"

#include <math.h>
#include <string.h>

enum { C = GS_DELTA_CHUNK, PAST = GS_GDN_PAST_ROWS };

/* ---- inputs of a chunk -------------------------------------------------------------------- */

void gs_gdn_conv_rows(const struct gs_gdn_unit *u, size_t t, size_t column,
                      const float *rows[GS_CONV_WIDTH]) {
    const struct gs_gdn_runner *r = u->runner;
    const struct gs_gdn_tape *tape = &r->layers[u->layer];
    const size_t count = r->columns.count, channels = gs_gdn_channels(r->config);
    const float *in = tape->in + u->sequence * u->steps * count + column;
    const float *past = tape->past + u->sequence * PAST * channels + column;
    for (size_t i = 0; i < GS_CONV_WIDTH; i++)
        rows[i] = t + i < PAST ? past + (t + i) * channels : in + (t + i - PAST) * count;
}

/* silu(conv) of n channels from `column` on, to rows `width` apart. */
static void convolve(const struct gs_gdn_unit *u, size_t first, size_t count, size_t column,
                     size_t n, float *to, size_t width) {
    const struct gs_gdn_runner *r = u->runner;
    const float *rows[GS_CONV_WIDTH], *taps = r->weights.layers[u->layer].taps + column;
    for (size_t t = 0; t < count; t++) {
        gs_gdn_conv_rows(u, first + t, column, rows);
        r->kernels->conv(rows, taps, gs_gdn_channels(r->config), n, to + t * width);
    }
    memset(to + count * width, 0, (C - count) * width * sizeof *to);
}

void gs_gdn_chunk_inputs(const struct gs_gdn_unit *u, size_t first, size_t count, float *v) {
    const struct gs_gdn_runner *r = u->runner;
    const struct gs_gdn_config *c = r->config;
    struct gs_gdn_work *w = u->work;
    const size_t key = u->head * c->key, value = u->head * c->value;
    convolve(u, first, count, r->columns.query + key, c->key, w->q, r->keys);
    convolve(u, first, count, r->columns.key + key, c->key, w->k, r->keys);
    if (v) convolve(u, first, count, r->columns.value + value, c->value, v, r->values);
    const float scale = 1.0f / sqrtf((float)c->key);
    for (size_t t = 0; t < count; t++) {
        float *q = w->q + t * r->keys, *k = w->k + t * r->keys;
        w->q_factor[t] = r->kernels->unit(q, c->key, scale, q);
        w->k_factor[t] = r->kernels->unit(k, c->key, 1, k);
    }
}

/* ---- gates -------------------------------------------------------------------------------- */

/* softplus(x) = log(1 + e^x) without overflow. */
static float softplus(float x) {
    return x > 20.0f ? x : log1pf(expf(x));
}

/* Onto the tape, and for the chunk, with nothing written or forgotten behind. */
static void find_gates(const struct gs_gdn_unit *u, size_t first, size_t count) {
    const struct gs_gdn_runner *r = u->runner;
    const struct gs_gdn_layer *p = &r->weights.tensors.layers[u->layer];
    const struct gs_gdn_tape *tape = &r->layers[u->layer];
    const size_t H = r->config->heads, row = u->sequence * u->steps + first;
    const float rate = -expf(p->a_log->values[u->head]), bias = p->dt_bias->values[u->head];
    for (size_t t = 0; t < count; t++) {
        const float *in = tape->in + (row + t) * r->columns.count;
        const float zero = 0, log_decay = rate * softplus(in[r->columns.decay + u->head] + bias);
        float strength;
        gs_kernels()->sigmoid(in + r->columns.strength + u->head, &zero, 1, &strength);
        const size_t at = (row + t) * H + u->head;
        tape->log_decay[at] = log_decay;
        u->work->decay[t] = tape->decay[at] = expf(log_decay);
        u->work->strength[t] = tape->strength[at] = strength;
    }
    for (size_t t = count; t < C; t++) {
        u->work->decay[t] = 1;
        u->work->strength[t] = 0;
    }
}

/* ---- the memory --------------------------------------------------------------------------- */

/* What is read at each step, through the gated norm. */
static void gate_reads(const struct gs_gdn_unit *u, size_t first, size_t count, const float *o) {
    const struct gs_gdn_runner *r = u->runner;
    const size_t dv = r->config->value, values = r->config->heads * dv;
    const float *weight = r->weights.tensors.layers[u->layer].read_norm->values;
    for (size_t t = 0; t < count; t++) {
        const size_t row = u->sequence * u->steps + first + t;
        const float *gate = r->layers[u->layer].in + row * r->columns.count + r->columns.gate;
        r->kernels->gated_norm(o + t * r->values, weight, gate + u->head * dv, dv,
                               r->read + row * values + u->head * dv);
    }
}

static void keep_norms(const struct gs_gdn_unit *u, const struct gs_delta_chunk *chunk,
                       const float *S, const float *x, size_t first, size_t count) {
    const struct gs_gdn_runner *r = u->runner;
    const size_t H = r->config->heads, row = u->sequence * u->steps + first;
    r->kernels->norms(chunk, S, u->work->v, x, u->work->norm);
    for (size_t t = 0; t < count; t++)
        r->layers[u->layer].norm[(row + t) * H + u->head] = u->work->norm[t];
}

static void run_chunk(const struct gs_gdn_unit *u, size_t first, size_t count, bool want_norms) {
    const struct gs_gdn_runner *r = u->runner;
    const struct gs_gdn_tape *tape = &r->layers[u->layer];
    struct gs_gdn_work *w = u->work;
    const size_t matrix = r->keys * r->values, rows = C * r->values;
    const size_t unit = u->sequence * r->config->heads + u->head;
    const size_t at = unit * gs_gdn_chunks(r->segment) + first / C;
    const struct gs_delta_chunk chunk = {r->keys,  r->values,   w->q,      w->k,
                                         w->decay, w->strength, w->scratch};
    float *x = tape->x ? tape->x + at * rows : w->x, *o = tape->o ? tape->o + at * rows : w->o;
    float *start = tape->starts ? tape->starts + at * matrix : w->dS;
    gs_gdn_chunk_inputs(u, first, count, x);
    find_gates(u, first, count);
    if (tape->starts || want_norms) memcpy(start, w->S, matrix * sizeof(float));
    if (want_norms) memcpy(w->v, x, rows * sizeof(float));
    r->kernels->forward(&chunk, x, o, w->S);
    if (want_norms) keep_norms(u, &chunk, start, x, first, count);
    gate_reads(u, first, count, o);
}

/* ---- the state ---------------------------------------------------------------------------- */

/* The convolutions' last inputs: out of the state onto the tape, and the segment's last ones back
 * into it. Columns of this head only. */
static void carry_past(const struct gs_gdn_unit *u, size_t column, size_t n, bool after) {
    const struct gs_gdn_runner *r = u->runner;
    const size_t channels = gs_gdn_channels(r->config);
    float *state =
        r->past + u->sequence * gs_gdn_past_width(r->config) + u->layer * PAST * channels + column;
    float *tape = r->layers[u->layer].past + u->sequence * PAST * channels + column;
    for (size_t i = 0; i < PAST; i++) {
        const float *rows[GS_CONV_WIDTH];
        if (after) gs_gdn_conv_rows(u, u->steps + i, column, rows); /* rows[0]: steps - 3 + i */
        if (after)
            memcpy(state + i * channels, rows[0], n * sizeof(float));
        else
            memcpy(tape + i * channels, state + i * channels, n * sizeof(float));
    }
}

static void carry_pasts(const struct gs_gdn_unit *u, bool after) {
    const struct gs_gdn_columns *at = &u->runner->columns;
    const size_t dk = u->runner->config->key, dv = u->runner->config->value;
    carry_past(u, at->query + u->head * dk, dk, after);
    carry_past(u, at->key + u->head * dk, dk, after);
    carry_past(u, at->value + u->head * dv, dv, after);
}

void gs_gdn_unit_forward(const struct gs_gdn_unit *u) {
    const struct gs_gdn_runner *r = u->runner;
    const struct gs_gdn_config *c = r->config;
    const size_t dk = c->key, dv = c->value;
    const bool want_norms = gs_gdn_wants(r, gs_gdn_gate_channel(c, u->layer, GS_GDN_NORM));
    float *state = r->memory + u->sequence * gs_gdn_memory_width(c) +
                   (u->layer * c->heads + u->head) * dk * dv;
    float *S = u->work->S;
    memset(S, 0, r->keys * r->values * sizeof *S);
    for (size_t i = 0; i < dk; i++) memcpy(S + i * r->values, state + i * dv, dv * sizeof *S);
    carry_pasts(u, false);
    for (size_t first = 0; first < u->steps; first += C)
        run_chunk(u, first, gs_gdn_smaller(C, u->steps - first), want_norms);
    carry_pasts(u, true);
    for (size_t i = 0; i < dk; i++) memcpy(state + i * dv, S + i * r->values, dv * sizeof *S);
}
