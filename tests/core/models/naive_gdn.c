#include "tests/core/models/naive_gdn.h"

#include "core/kernels/packed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double *find(const struct naive_gdn *m, const char *name) {
    size_t at = 0;
    for (size_t i = 0; i < m->names->tensor_count; at += m->names->tensors[i++].count)
        if (strcmp(m->names->tensors[i].name, name) == 0) return m->values + at;
    abort();
}

static const double *of_layer(const struct naive_gdn *m, size_t layer, const char *name) {
    char whole[GS_PARAMETER_NAME];
    snprintf(whole, sizeof whole, "model.layers.%zu.%s", layer, name);
    return find(m, whole);
}

static double rounded(const struct naive_gdn *m, double weight) {
    return m->bf16 ? (double)gs_round_bf16((float)weight) : weight;
}

static double sigmoid(double x) {
    return 1 / (1 + exp(-x));
}

static double silu(double x) {
    return x * sigmoid(x);
}

/* y[o] = sum over i of W[o, i] x[i] */
static void linear(const struct naive_gdn *m, size_t layer, const char *name, const double *x,
                   size_t in, size_t out, double *y) {
    const double *W = of_layer(m, layer, name);
    for (size_t o = 0; o < out; o++) {
        y[o] = 0;
        for (size_t i = 0; i < in; i++) y[o] += rounded(m, W[o * in + i]) * x[i];
    }
}

static double mean_scale(const double *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
    return 1 / sqrt(sum / (double)n + 1e-6);
}

static void norm(const struct naive_gdn *m, size_t layer, const char *name, const double *x,
                 double *y) {
    const double s = mean_scale(x, m->d), *w = of_layer(m, layer, name);
    for (size_t i = 0; i < m->d; i++) y[i] = x[i] * s * w[i];
}

static void unit(double *x, size_t n, double scale) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
    for (size_t i = 0; i < n; i++) x[i] *= scale / sqrt(sum + 1e-6);
}

/* One of the three: projected x joins the past, which moves on; y = silu(conv). */
static void convolve(const struct naive_gdn *m, size_t layer, char letter, const double *a,
                     size_t channels, size_t all, double *past, double *y) {
    char name[32];
    double *x = calloc(channels, sizeof *x);
    snprintf(name, sizeof name, "attn.%c_proj.weight", letter);
    linear(m, layer, name, a, m->d, channels, x);
    snprintf(name, sizeof name, "attn.%c_conv1d.weight", letter);
    const double *w = of_layer(m, layer, name);
    for (size_t j = 0; j < channels; j++) {
        double sum = rounded(m, w[j * 4 + 3]) * x[j];
        for (size_t tap = 0; tap < 3; tap++)
            sum += rounded(m, w[j * 4 + tap]) * past[tap * all + j];
        y[j] = silu(sum);
        past[j] = past[all + j];
        past[all + j] = past[2 * all + j];
        past[2 * all + j] = x[j];
    }
    free(x);
}

/* One head's memory; o = what is read. */
static void remember(const struct naive_gdn *m, double alpha, double beta, const double *q,
                     const double *k, const double *v, double *S, double *o, double *size) {
    *size = 0;
    for (size_t i = 0; i < m->dk * m->dv; i++) S[i] *= alpha;
    for (size_t j = 0; j < m->dv; j++) {
        double found = 0;
        for (size_t i = 0; i < m->dk; i++) found += S[i * m->dv + j] * k[i];
        o[j] = 0;
        for (size_t i = 0; i < m->dk; i++) {
            double *at = &S[i * m->dv + j];
            *at += beta * k[i] * (v[j] - found);
            o[j] += *at * q[i];
            *size += *at * *at;
        }
    }
    *size = sqrt(*size);
}

static void mix(const struct naive_gdn *m, size_t layer, size_t t, size_t steps, double *h,
                double *S, double *past, const struct naive_gdn_seen *seen) {
    const size_t keys = m->H * m->dk, values = m->H * m->dv, all = 2 * keys + values;
    double *a = calloc(m->d, sizeof *a), *q = calloc(keys, sizeof *q), *k = calloc(keys, sizeof *k);
    double *v = calloc(values, sizeof *v), *g = calloc(values, sizeof *g);
    double *o = calloc(values, sizeof *o), *out = calloc(m->d, sizeof *out);
    double *decay = calloc(m->H, sizeof *decay), *strength = calloc(m->H, sizeof *strength);
    norm(m, layer, "attn_norm.weight", h, a);
    convolve(m, layer, 'q', a, keys, all, past, q);
    convolve(m, layer, 'k', a, keys, all, past + keys, k);
    convolve(m, layer, 'v', a, values, all, past + 2 * keys, v);
    linear(m, layer, "attn.g_proj.weight", a, m->d, values, g);
    linear(m, layer, "attn.a_proj.weight", a, m->d, m->H, decay);
    linear(m, layer, "attn.b_proj.weight", a, m->d, m->H, strength);
    const double *a_log = of_layer(m, layer, "attn.A_log");
    const double *bias = of_layer(m, layer, "attn.dt_bias");
    const double *read_norm = of_layer(m, layer, "attn.o_norm.weight");
    for (size_t n = 0; n < m->H; n++) {
        double *read = o + n * m->dv, size;
        const double pre = decay[n] + bias[n];
        const double gamma = -exp(a_log[n]) * log1p(exp(pre));
        const double beta = sigmoid(strength[n]);
        unit(q + n * m->dk, m->dk, 1 / sqrt((double)m->dk));
        unit(k + n * m->dk, m->dk, 1);
        remember(m, exp(gamma), beta, q + n * m->dk, k + n * m->dk, v + n * m->dv,
                 S + n * m->dk * m->dv, read, &size);
        const double s = mean_scale(read, m->dv);
        for (size_t j = 0; j < m->dv; j++) read[j] *= s * read_norm[j] * silu(g[n * m->dv + j]);
        const size_t at = (layer * steps + t) * m->H + n;
        if (seen->log_decay) seen->log_decay[at] = gamma;
        if (seen->strength) seen->strength[at] = beta;
        if (seen->norm) seen->norm[at] = size;
    }
    linear(m, layer, "attn.o_proj.weight", o, values, m->d, out);
    for (size_t i = 0; i < m->d; i++) h[i] += out[i];
    free(a), free(q), free(k), free(v), free(g), free(o), free(out), free(decay), free(strength);
}

static void feed(const struct naive_gdn *m, size_t layer, double *h) {
    double *b = calloc(m->d, sizeof *b), *out = calloc(m->d, sizeof *out);
    double *gate = calloc(m->f, sizeof *gate), *up = calloc(m->f, sizeof *up);
    norm(m, layer, "mlp_norm.weight", h, b);
    linear(m, layer, "mlp.gate_proj.weight", b, m->d, m->f, gate);
    linear(m, layer, "mlp.up_proj.weight", b, m->d, m->f, up);
    for (size_t i = 0; i < m->f; i++) up[i] *= silu(gate[i]);
    linear(m, layer, "mlp.down_proj.weight", up, m->f, m->d, out);
    for (size_t i = 0; i < m->d; i++) h[i] += out[i];
    free(b), free(out), free(gate), free(up);
}

/* -log p(next) from h after the final norm. */
static double loss(const struct naive_gdn *m, const double *h, uint32_t next) {
    const double *W = find(m, "lm_head.weight");
    double sum = 0, aim = 0;
    for (size_t v = 0; v < m->V; v++) {
        double logit = 0;
        for (size_t i = 0; i < m->d; i++) logit += rounded(m, W[v * m->d + i]) * h[i];
        sum += exp(logit);
        if (v == next) aim = logit;
    }
    return log(sum) - aim;
}

double naive_gdn_run(const struct naive_gdn *m, const uint32_t *tokens, size_t steps, double *S,
                     double *past, const struct naive_gdn_seen *seen) {
    const size_t matrix = m->H * m->dk * m->dv, rows = 3 * m->H * (2 * m->dk + m->dv);
    const double *embedding = find(m, "model.embeddings.weight");
    const double *last_norm = find(m, "model.norm.weight");
    double *h = calloc(m->d, sizeof *h), total = 0;
    for (size_t t = 0; t < steps; t++) {
        for (size_t i = 0; i < m->d; i++) h[i] = rounded(m, embedding[tokens[t] * m->d + i]);
        for (size_t layer = 0; layer < m->L; layer++) {
            mix(m, layer, t, steps, h, S + layer * matrix, past + layer * rows, seen);
            feed(m, layer, h);
            if (seen->streams)
                memcpy(seen->streams + (layer * steps + t) * m->d, h, m->d * sizeof *h);
        }
        const double s = mean_scale(h, m->d);
        for (size_t i = 0; i < m->d; i++) h[i] *= s * last_norm[i];
        if (seen->streams) memcpy(seen->streams + (m->L * steps + t) * m->d, h, m->d * sizeof *h);
        if (t + 1 == steps) break;
        const double nll = loss(m, h, tokens[t + 1]);
        if (seen->nll) seen->nll[t + 1] = nll;
        total += nll;
    }
    free(h);
    return total;
}
