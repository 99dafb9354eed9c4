/* The steps of a segment, in the order of ../shared/spec/model.md, "One step". */
#include "core/models/gpn/runner.h"

#include "core/kernels/kernels.h"

#include <math.h>
#include <omp.h>
#include <string.h>

/* softplus(x) = log(1 + e^x) without overflow. */
static float softplus(float x) {
    return x > 20.0f ? x : log1pf(expf(x));
}

/* Gates of head h, the write of one step, and the read for layer 0. */
static void write_head(const struct gs_gpn_runner *r, size_t t, size_t b, size_t h) {
    const struct gs_gpn_config *c = r->config;
    const struct gs_gpn_columns *at = &r->weights.first;
    const struct gs_gpn_tensors *p = &r->weights.tensors;
    const struct gs_kernels *k = gs_kernels();
    const struct gs_gpn_layer_tape *layer = &r->tape.layers[0];
    float *in = gs_at(r, &layer->in, t) + b * at->count;
    size_t unit = b * c->heads + h;

    float *pre = in + at->decay + h, zero = 0;
    *pre += p->dt_bias->values[h];
    float log_decay = -expf(p->a_log->values[h]) * softplus(*pre), decay = expf(log_decay);
    k->sigmoid(in + at->strength + h, &zero, 1, in + at->strength + h);
    float strength = in[at->strength + h];
    gs_at(r, &r->tape.log_decay, t)[unit] = log_decay;
    gs_at(r, &r->tape.decay, t)[unit] = decay;
    gs_at(r, &r->tape.strength, t)[unit] = strength;

    const float *key = gs_written_key(r, t, unit, NULL);
    float *value = in + at->value + h * c->value; /* becomes v - M'k */
    float *matrix = r->memory + unit * c->key * c->value, squares;
    k->memory_step(
        matrix, c->key, c->value, key, value, decay, strength, in + at->query + h * c->key, value,
        gs_at(r, &layer->read, t) + (b * c->heads + h) * c->value, r->want_norm ? &squares : NULL);
    if (r->want_norm) gs_at(r, &r->tape.norm, t)[unit] = sqrtf(squares);
}

static void unit_query(const struct gs_gpn_runner *r, size_t i, size_t t, size_t b, size_t h) {
    const struct gs_gpn_config *c = r->config;
    const struct gs_gpn_columns *at = gs_columns(r, i);
    const struct gs_gpn_layer_tape *layer = &r->tape.layers[i];
    float *query = gs_at(r, &layer->in, t) + b * at->count + at->query + h * c->key;
    gs_at(r, &layer->query_scale, t)[b * c->heads + h] = gs_kernels()->unit_relu(
        query, r->weights.tensors.layers[i].query_bias->values + h * c->key, c->key, query);
}

static void next_key(const struct gs_gpn_runner *r, size_t t, size_t b, size_t h) {
    const struct gs_gpn_config *c = r->config;
    const struct gs_gpn_columns *at = &r->weights.first;
    float *key = gs_at(r, &r->tape.layers[0].in, t) + b * at->count + at->key + h * c->key;
    gs_at(r, &r->tape.key_scale, t)[b * c->heads + h] =
        gs_kernels()->unit_relu(key, r->weights.tensors.key_bias->values + h * c->key, c->key, key);
}

/* A head's memory before the stretch that begins at step t, for backward: copied when it is about
 * to be written, so that it comes from far only once. */
static void keep_memory(const struct gs_gpn_runner *r, size_t t, size_t unit) {
    const size_t size = r->config->key * r->config->value, heads = r->batch * r->config->heads;
    memcpy(r->saved.stretch_memory + (t / r->stretch * heads + unit) * size,
           r->memory + unit * size, size * sizeof(float));
}

/* Memory work of layer i, head by head: the write before layer 0's read, reads in all layers. */
static void heads(const struct gs_gpn_runner *r, const struct gs_team *team, size_t i, size_t t) {
    const struct gs_gpn_config *c = r->config;
    size_t first, last;
    gs_team_units(team, c->heads, &first, &last);
    for (size_t unit = first; unit < last; unit++) {
        size_t b = unit / c->heads, h = unit % c->heads;
        unit_query(r, i, t, b, h);
        if (i == 0) {
            if (r->options.train && t % r->stretch == 0) keep_memory(r, t, unit);
            write_head(r, t, b, h);
            next_key(r, t, b, h);
            continue;
        }
        const struct gs_gpn_columns *at = &r->weights.other;
        const struct gs_gpn_layer_tape *layer = &r->tape.layers[i];
        gs_kernels()->memory_read(r->memory + unit * c->key * c->value, c->key, c->value,
                                  gs_at(r, &layer->in, t) + b * at->count + at->query + h * c->key,
                                  gs_at(r, &layer->read, t) + unit * c->value);
    }
}

/* The predict gate and the FFN's activation of one row. */
static void activate(const struct gs_gpn_runner *r, size_t i, size_t t, size_t b) {
    const struct gs_gpn_config *c = r->config;
    const struct gs_kernels *k = gs_kernels();
    const struct gs_gpn_columns *at = gs_columns(r, i);
    float *in = gs_at(r, &r->tape.layers[i].in, t) + b * at->count;
    k->sigmoid(in + at->gate, r->weights.tensors.layers[i].gate_bias->values, c->width,
               in + at->gate);
    k->swiglu(in + at->ffn_gate, in + at->ffn_value, 1.0f, c->ffn, r->work.activation + b * c->ffn);
}

/* What was read, normalised over all heads and gated, of one row. */
static void gate_read(const struct gs_gpn_runner *r, size_t i, size_t t, size_t b) {
    const size_t values = r->config->heads * r->config->value;
    const struct gs_kernels *k = gs_kernels();
    const struct gs_gpn_columns *at = gs_columns(r, i);
    const struct gs_gpn_layer_tape *layer = &r->tape.layers[i];
    const float *read = gs_at(r, &layer->read, t) + b * values;
    float mean = (float)(k->squares(read, values)) / (float)values;
    float scale = 1.0f / sqrtf(mean + 1e-6f);
    gs_at(r, &layer->read_scale, t)[b] = scale;
    k->swiglu(gs_at(r, &layer->in, t) + b * at->count + at->read_gate, read, scale, values,
              r->work.read + b * values);
}

/* How much of a layer's output the memory read is: its share (trace.md), the same as the authors'
 * log has it (never 0 / 0), and the cosine of the states with and without it.
 * sums: |without|^2, |read|^2, without . read. */
static void measure_read(const struct gs_gpn_runner *r, size_t i, size_t t, size_t b,
                         const float sums[3]) {
    const double without = (double)sums[0], read = (double)sums[1], across = (double)sums[2];
    double with = without + 2 * across + read, both = sqrt(without) * sqrt(with > 0 ? with : 0);
    size_t at = b * r->config->layers + i;
    gs_at(r, &r->tape.share, t)[at] = (float)(without > 0 ? sqrt(read / without) : 0);
    gs_at(r, &r->tape.effect, t)[at] = (float)sqrt((read + 1e-12) / (without + 1e-12));
    gs_at(r, &r->tape.cosine, t)[at] = (float)(both > 0 ? (without + across) / both : 0);
}

/* Row b of layer i's output: gate * current + ffn + memory read. */
static void combine(const struct gs_gpn_runner *r, size_t i, size_t t, size_t b, const float *gate,
                    const float *current, float *next) {
    const size_t d = r->config->width;
    const float *memory = r->config->heads ? r->work.memory + b * d : NULL;
    const float *ffn = r->work.ffn + b * d;
    float sums[3];
    if (r->want_share) {
        gs_kernels()->gated_sum_measured(gate, current, ffn, memory, d, next, sums);
        measure_read(r, i, t, b, sums);
    } else {
        gs_kernels()->gated_sum(gate, current, ffn, memory, d, next);
    }
}

/* Layer i of step t, from its normalised input to the (not yet normalised) next one. */
static void layer_step(const struct gs_gpn_runner *r, struct gs_team *team, size_t i, size_t t,
                       const float *current, float *next) {
    const struct gs_gpn_config *c = r->config;
    const struct gs_gpn_columns *at = gs_columns(r, i);
    const struct gs_gpn_layer_tape *layer = &r->tape.layers[i];
    const size_t d = c->width, values = c->heads * c->value;
    float *in = gs_at(r, &layer->in, t);

    gs_team_product(team, &r->weights.in[i].forward, gs_at(r, &layer->normal, t), d, in, at->count,
                    false);
    gs_team_meet(team);
    heads(r, team, i, t);
    for (size_t b = team->first_row; b < team->last_row; b++) activate(r, i, t, b);
    gs_team_meet_units(team);
    if (c->heads)
        for (size_t b = team->first_row; b < team->last_row; b++) gate_read(r, i, t, b);
    gs_team_meet(team);
    gs_team_product(team, &r->weights.ffn_out[i].forward, r->work.activation, c->ffn, r->work.ffn,
                    d, false);
    if (c->heads) {
        gs_team_product(team, &r->weights.read_out[i].forward, r->work.read, values, r->work.memory,
                        d, false);
    }
    gs_team_meet(team);
    for (size_t b = team->first_row; b < team->last_row; b++)
        combine(r, i, t, b, in + b * at->count + at->gate, current + b * d, next + b * d);
}

static void normalise(const struct gs_gpn_runner *r, const struct gs_team *team, const float *x,
                      float *normal, float *scale) {
    const size_t d = r->config->width;
    for (size_t b = team->first_row; b < team->last_row; b++)
        scale[b] = gs_kernels()->rms(x + b * d, d, normal + b * d);
    gs_team_meet(team);
}

/* Grounding: the state after reading the token, and the decoded vector's bias. */
static void ground(const struct gs_gpn_runner *r, struct gs_team *team, size_t t) {
    const size_t d = r->config->width, e = r->config->embedding;
    const struct gs_kernels *k = gs_kernels();
    const struct gs_gpn_tensors *p = &r->weights.tensors;
    float *head = gs_at(r, &r->tape.head, t);
    const float *predicted = gs_at(r, &r->tape.predicted, t);
    gs_team_product(team, &r->weights.head.forward, gs_at(r, &r->tape.predicted_normal, t), d, head,
                    d + e, false);
    gs_team_meet(team);
    for (size_t b = team->first_row; b < team->last_row; b++) {
        float *row = head + b * (d + e);
        k->sigmoid(row, p->ground_bias->values, d, row);
        if (p->decode_bias) k->add(p->decode_bias->values, e, row + d);
        memcpy(r->decoded + (t * r->batch + b) * e, row + d, e * sizeof(float));
        size_t token = r->ground.row[t % r->stretch * r->batch + b];
        k->gated_sum(row, predicted + b * d, r->ground.ground + token * d, NULL, d,
                     gs_at(r, &r->tape.state, t + 1) + b * d);
    }
    /* no meeting: normalise reads only rows that this thread wrote */
}

static void step(const struct gs_gpn_runner *r, struct gs_team *team, size_t t) {
    const size_t d = r->config->width, layers = r->config->layers;
    const float *current = gs_at(r, &r->tape.state, t);
    for (size_t i = 0; i < layers; i++) {
        const struct gs_gpn_layer_tape *layer = &r->tape.layers[i];
        normalise(r, team, current, gs_at(r, &layer->normal, t), gs_at(r, &layer->scale, t));
        bool last = i + 1 == layers;
        float *next =
            last ? gs_at(r, &r->tape.predicted, t) : r->work.layer_input + (i + 1) * r->batch * d;
        layer_step(r, team, i, t, current, next);
        current = next;
    }
    normalise(r, team, current, gs_at(r, &r->tape.predicted_normal, t),
              gs_at(r, &r->tape.predicted_scale, t));
    ground(r, team, t);
}

bool gs_gpn_shares_columns(const struct gs_gpn_runner *r) {
    return gs_team_shares_columns(r->batch, (size_t)omp_get_max_threads(),
                                  gs_gpn_weights_floats(r->config));
}

/* Steps at … end - 1 of the segment that begins at `begin`. The losses of the stretch before, when
 * wanted, are the work of the threads that are done first. */
static void stretch_forward(struct gs_gpn_runner *r, size_t begin, size_t at, size_t end,
                            bool losses) {
    const bool by_columns = gs_gpn_shares_columns(r);
    struct gs_team_queues queues = {0};
    gs_gpn_ground_forward(r, begin + at, end - at);
#pragma omp parallel
    {
        struct gs_team team =
            gs_team_member((size_t)omp_get_thread_num(), (size_t)omp_get_num_threads(), r->batch,
                           by_columns, &queues);
        for (size_t t = at; t < end; t++) step(r, &team, t);
        if (losses && at) gs_gpn_stretch_losses(r, begin, at - r->stretch, r->stretch);
    }
}

void gs_gpn_segment_forward(struct gs_gpn_runner *r, size_t begin, size_t steps, float *nll) {
    if (nll) gs_gpn_targets(r, begin, steps);
    size_t last = 0;
    for (size_t at = 0; at < steps; at += r->stretch) {
        stretch_forward(r, begin, at, steps - at < r->stretch ? steps : at + r->stretch, nll);
        last = at;
    }
    if (!nll) return;
#pragma omp parallel
    gs_gpn_stretch_losses(r, begin, last, steps - last);
    gs_gpn_spread_losses(r, begin, steps, nll);
}

void gs_gpn_first_key(struct gs_gpn_runner *r, const float *previous) {
    const struct gs_gpn_config *c = r->config;
    const struct gs_packed *in = &r->weights.in[0].forward;
    const size_t d = c->width, panel = gs_kernels()->panel, keys = c->heads * c->key;
    const size_t from = r->weights.first.key;
    for (size_t b = 0; b < r->batch; b++) {
        float *normal = r->work.previous_normal + b * d;
        float *row = r->work.key_row + b * r->weights.first.count;
        r->work.previous_scale[b] = gs_kernels()->rms(previous + b * d, d, normal);
        gs_packed_product(in, normal, d, 1, from / panel, (from + keys + panel - 1) / panel, row,
                          r->weights.first.count, false);
        for (size_t h = 0; h < c->heads; h++)
            r->work.first_key_scale[b * c->heads + h] = gs_kernels()->unit_relu(
                row + from + h * c->key, r->weights.tensors.key_bias->values + h * c->key, c->key,
                r->work.first_key + b * keys + h * c->key);
    }
}
