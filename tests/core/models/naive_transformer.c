#include "tests/core/models/naive_transformer.h"

#include "core/kernels/packed.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double *find(const struct naive_transformer *m, const char *name) {
    size_t at = 0;
    for (size_t i = 0; i < m->names->tensor_count; at += m->names->tensors[i++].count)
        if (strcmp(m->names->tensors[i].name, name) == 0) return m->values + at;
    assert(!"a parameter is missing");
    return NULL;
}

static const double *of_block(const struct naive_transformer *m, size_t block, const char *name) {
    char whole[GS_PARAMETER_NAME];
    snprintf(whole, sizeof whole, "blocks.%zu.%s", block, name);
    return find(m, whole);
}

static double rounded(const struct naive_transformer *m, double weight) {
    return m->bf16 ? (double)gs_round_bf16((float)weight) : weight;
}

static void rms(const double *x, const double *w, size_t n, double *y) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
    for (size_t i = 0; i < n; i++) y[i] = x[i] / sqrt(sum / (double)n + 1e-6) * w[i];
}

/* y (out) = W x, W (out, in). */
static void linear(const struct naive_transformer *m, const double *W, const double *x, size_t in,
                   size_t out, double *y) {
    for (size_t o = 0; o < out; o++) {
        y[o] = 0;
        for (size_t i = 0; i < in; i++) y[o] += rounded(m, W[o * in + i]) * x[i];
    }
}

static void rotate(double *x, size_t c, size_t position) {
    for (size_t j = 0; j < c / 2; j++) {
        double angle = (double)position * pow(10000, -(double)j / (double)(c / 2));
        double a = x[j], b = x[j + c / 2];
        x[j] = a * cos(angle) - b * sin(angle);
        x[j + c / 2] = b * cos(angle) + a * sin(angle);
    }
}

/* q, k, v (steps, d), one head's columns from `at`; o the same. */
static void attend(const double *q, const double *k, const double *v, size_t steps, size_t d,
                   size_t at, size_t c, double *o) {
    double *p = malloc(steps * sizeof *p);
    for (size_t t = 0; t < steps; t++) {
        double top = -INFINITY, sum = 0;
        for (size_t s = 0; s <= t; s++) {
            p[s] = 0;
            for (size_t i = at; i < at + c; i++) p[s] += q[t * d + i] * k[s * d + i];
            p[s] /= sqrt((double)c);
            top = fmax(top, p[s]);
        }
        for (size_t s = 0; s <= t; s++) sum += p[s] = exp(p[s] - top);
        for (size_t i = at; i < at + c; i++) {
            o[t * d + i] = 0;
            for (size_t s = 0; s <= t; s++) o[t * d + i] += p[s] / sum * v[s * d + i];
        }
    }
    free(p);
}

static void attention(const struct naive_transformer *m, size_t block, size_t steps, double *h) {
    const size_t d = m->d, c = d / m->H;
    double *rows[4], *a = malloc(d * sizeof *a);
    static const char *const names[] = {"attn.W_q.weight", "attn.W_k.weight", "attn.W_v.weight"};
    for (size_t i = 0; i < 4; i++) rows[i] = malloc(steps * d * sizeof(double));
    for (size_t t = 0; t < steps; t++) {
        rms(h + t * d, of_block(m, block, "attn.norm.weight"), d, a);
        for (size_t i = 0; i < 3; i++)
            linear(m, of_block(m, block, names[i]), a, d, d, rows[i] + t * d);
        for (size_t i = 0; i < 2; i++)
            for (size_t head = 0; head < m->H; head++) rotate(rows[i] + t * d + head * c, c, t);
    }
    for (size_t head = 0; head < m->H; head++)
        attend(rows[0], rows[1], rows[2], steps, d, head * c, c, rows[3]);
    for (size_t t = 0; t < steps; t++) {
        linear(m, of_block(m, block, "attn.W_o.weight"), rows[3] + t * d, d, d, a);
        for (size_t i = 0; i < d; i++) h[t * d + i] += a[i];
    }
    for (size_t i = 0; i < 4; i++) free(rows[i]);
    free(a);
}

static void feed_forward(const struct naive_transformer *m, size_t block, double *h) {
    const size_t d = m->d, f = m->f;
    double *b = malloc(d * sizeof *b), *gu = malloc(2 * f * sizeof *gu);
    rms(h, of_block(m, block, "ffn.norm.weight"), d, b);
    linear(m, of_block(m, block, "ffn.w1.weight"), b, d, 2 * f, gu);
    for (size_t i = 0; i < f; i++) gu[i] = gu[i] / (1 + exp(-gu[i])) * gu[f + i];
    linear(m, of_block(m, block, "ffn.w2.weight"), gu, f, d, b);
    for (size_t i = 0; i < d; i++) h[i] += b[i];
    free(b);
    free(gu);
}

static double loss(const struct naive_transformer *m, const double *z, uint32_t target) {
    double *logits = malloc(m->V * sizeof *logits), top = -INFINITY, sum = 0;
    linear(m, find(m, "embedding.weight"), z, m->d, m->V, logits);
    for (size_t v = 0; v < m->V; v++) top = fmax(top, logits[v]);
    for (size_t v = 0; v < m->V; v++) sum += exp(logits[v] - top);
    double nll = log(sum) + top - logits[target];
    free(logits);
    return nll;
}

double naive_transformer_run(const struct naive_transformer *m, const uint32_t *tokens,
                             size_t steps, double *streams, double *nll) {
    const size_t d = m->d;
    double *h = malloc(steps * d * sizeof *h), *z = malloc(d * sizeof *z), total = 0;
    const double *embedding = find(m, "embedding.weight");
    for (size_t t = 0; t < steps; t++)
        for (size_t i = 0; i < d; i++) h[t * d + i] = rounded(m, embedding[tokens[t] * d + i]);
    for (size_t block = 0; block < m->L; block++) {
        attention(m, block, steps, h);
        for (size_t t = 0; t < steps; t++) feed_forward(m, block, h + t * d);
        if (streams) memcpy(streams + block * steps * d, h, steps * d * sizeof *h);
    }
    for (size_t t = 0; t < steps; t++) {
        rms(h + t * d, find(m, "norm.weight"), d, z);
        if (streams) memcpy(streams + (m->L * steps + t) * d, z, d * sizeof *z);
        if (t + 1 == steps) break;
        double one = loss(m, z, tokens[t + 1]);
        if (nll) nll[t + 1] = one;
        total += one;
    }
    free(h);
    free(z);
    return total;
}
