#include "tests/core/models/naive_gpn.h"

#include "core/kernels/packed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t naive_gpn_offset(const struct gs_parameters *names, const char *name) {
    size_t at = 0;
    for (size_t i = 0; i < names->tensor_count; i++) {
        if (strcmp(names->tensors[i].name, name) == 0) return at;
        at += names->tensors[i].count;
    }
    fprintf(stderr, "no parameter %s\n", name);
    abort();
}

static const double *get(const struct naive_gpn *m, const char *name) {
    return m->values + naive_gpn_offset(m->names, name);
}

static const double *get_layer(const struct naive_gpn *m, size_t layer, const char *name) {
    char whole[GS_PARAMETER_NAME];
    if (m->H || m->L > 1)
        snprintf(whole, sizeof whole, "L%zu_%s", layer, name);
    else
        snprintf(whole, sizeof whole, "%s", name);
    return get(m, whole);
}

static double round_weight(const struct naive_gpn *m, double x) {
    return m->bf16 ? (double)gs_round_bf16((float)x) : x;
}

static double sigmoid(double x) {
    return 1 / (1 + exp(-x));
}
static double silu(double x) {
    return x * sigmoid(x);
}

static double *vector(size_t n) {
    return calloc(n ? n : 1, sizeof(double));
}

static double *rms(const double *x, const double *w, size_t n) {
    double sum = 0, *y = vector(n);
    for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
    double scale = 1 / sqrt(sum / (double)n + 1e-6);
    for (size_t i = 0; i < n; i++) y[i] = x[i] * scale * w[i];
    return y;
}

/* x (n) times W (n, m) */
static double *times(const struct naive_gpn *model, const double *x, const double *W, size_t n,
                     size_t m) {
    double *y = vector(m);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) y[j] += x[i] * round_weight(model, W[i * m + j]);
    return y;
}

static double *gate(const struct naive_gpn *m, const double *x, const double *w, const double *W,
                    const double *b) {
    double *normal = rms(x, w, m->d), *y = times(m, normal, W, m->d, m->d);
    for (size_t i = 0; i < m->d; i++) y[i] = sigmoid(y[i] + b[i]);
    free(normal);
    return y;
}

/* relu(x + b), then unit length per head */
static void unit_heads(const struct naive_gpn *m, double *x, const double *b) {
    for (size_t h = 0; h < m->H; h++) {
        double sum = 0, *head = x + h * m->dk;
        for (size_t i = 0; i < m->dk; i++) {
            head[i] = fmax(head[i] + b[h * m->dk + i], 0);
            sum += head[i] * head[i];
        }
        for (size_t i = 0; i < m->dk; i++) head[i] /= sqrt(sum + 1e-12);
    }
}

static void write_memory(const struct naive_gpn *m, const double *s, const double *s_prev,
                         double *M, const struct naive_out *out, size_t t) {
    double *ks = rms(s_prev, get(m, "write_norm_w"), m->d);
    double *vs = rms(s, get(m, "write_norm_w"), m->d);
    double *k = times(m, ks, get(m, "write_W_k_k"), m->d, m->H * m->dk);
    double *v = times(m, vs, get(m, "write_W_v_k"), m->d, m->H * m->dv);
    double *beta = times(m, vs, get(m, "write_W_beta_k"), m->d, m->H);
    double *a = times(m, vs, get(m, "write_W_a_k"), m->d, m->H);
    unit_heads(m, k, get(m, "write_W_k_b"));
    for (size_t h = 0; h < m->H; h++) {
        double rate = exp(get(m, "write_A_log")[h]);
        double gamma = -rate * log1p(exp(a[h] + get(m, "write_dt_bias")[h]));
        double b = sigmoid(beta[h]), norm = 0, *Mh = M + h * m->dk * m->dv;
        const double *kh = k + h * m->dk;
        for (size_t j = 0; j < m->dv; j++) {
            double held = 0;
            for (size_t i = 0; i < m->dk; i++) held += Mh[i * m->dv + j] * kh[i];
            for (size_t i = 0; i < m->dk; i++) {
                double *at = &Mh[i * m->dv + j];
                *at = exp(gamma) * *at + b * kh[i] * (v[h * m->dv + j] - held);
                norm += *at * *at;
            }
        }
        if (out->log_decay) out->log_decay[t * m->H + h] = gamma;
        if (out->strength) out->strength[t * m->H + h] = b;
        if (out->norm) out->norm[t * m->H + h] = sqrt(norm);
    }
    free(ks), free(vs), free(k), free(v), free(beta), free(a);
}

static double *read_memory(const struct naive_gpn *m, size_t layer, const double *cur,
                           const double *M) {
    size_t values = m->H * m->dv;
    double *x = rms(cur, get_layer(m, layer, "read_norm_w"), m->d);
    double *q = times(m, x, get_layer(m, layer, "read_W_q_k"), m->d, m->H * m->dk);
    double *g = times(m, x, get_layer(m, layer, "read_W_gate_k"), m->d, values);
    double *read = vector(values);
    unit_heads(m, q, get_layer(m, layer, "read_W_q_b"));
    for (size_t h = 0; h < m->H; h++)
        for (size_t i = 0; i < m->dk; i++)
            for (size_t j = 0; j < m->dv; j++)
                read[h * m->dv + j] += M[(h * m->dk + i) * m->dv + j] * q[h * m->dk + i];
    double *normal = rms(read, get_layer(m, layer, "read_out_norm_w"), values);
    for (size_t j = 0; j < values; j++) normal[j] *= silu(g[j]);
    double *y = times(m, normal, get_layer(m, layer, "read_W_o_k"), values, m->d);
    free(x), free(q), free(g), free(read), free(normal);
    return y;
}

static double *feed_forward(const struct naive_gpn *m, size_t layer, const double *cur) {
    double *x = rms(cur, get_layer(m, layer, "ffn_norm_w"), m->d);
    double *gu = times(m, x, get_layer(m, layer, "ffn_w1_k"), m->d, 2 * m->f);
    for (size_t i = 0; i < m->f; i++) gu[i] = silu(gu[i]) * gu[m->f + i];
    double *y = times(m, gu, get_layer(m, layer, "ffn_w2_k"), m->f, m->d);
    free(x), free(gu);
    return y;
}

/* cur (d), in place */
static void predict(const struct naive_gpn *m, double *cur, const double *M) {
    for (size_t layer = 0; layer < m->L; layer++) {
        double *ffn = feed_forward(m, layer, cur);
        double *g = gate(m, cur, get_layer(m, layer, "pg_norm_w"), get_layer(m, layer, "pg_gate_k"),
                         get_layer(m, layer, "pg_gate_b"));
        double *read = m->H ? read_memory(m, layer, cur, M) : vector(m->d);
        for (size_t i = 0; i < m->d; i++) cur[i] = g[i] * cur[i] + ffn[i] + read[i];
        free(ffn), free(g), free(read);
    }
}

static double loss(const struct naive_gpn *m, const double *p, uint32_t token) {
    double *x = rms(p, get(m, "decode_norm_w"), m->d);
    double *z = times(m, x, get(m, "decode_proj_k"), m->d, m->e), *logits = vector(m->V);
    const double *E = get(m, "embedding");
    if (gs_parameters_find(m->names, "decode_bias"))
        for (size_t i = 0; i < m->e; i++) z[i] += get(m, "decode_bias")[i];
    double top = -INFINITY, sum = 0;
    for (size_t v = 0; v < m->V; v++) {
        for (size_t i = 0; i < m->e; i++) logits[v] += z[i] * round_weight(m, E[v * m->e + i]);
        top = fmax(top, logits[v]);
    }
    for (size_t v = 0; v < m->V; v++) sum += exp(logits[v] - top);
    double nll = log(sum) + top - logits[token];
    free(x), free(z), free(logits);
    return nll;
}

/* The token's contribution to the grounded state. */
static double *fuse(const struct naive_gpn *m, uint32_t token) {
    double *x = vector(m->e), *ones = vector(m->e);
    for (size_t i = 0; i < m->e; i++) {
        x[i] = round_weight(m, get(m, "embedding")[token * m->e + i]);
        ones[i] = 1;
    }
    double *normal = rms(x, ones, m->e);
    for (size_t i = 0; i < m->e; i++)
        normal[i] = round_weight(m, normal[i]) * get(m, "fuse_norm_w")[i];
    double *y = times(m, normal, get(m, "fuse_proj_k"), m->e, m->d);
    free(x), free(ones), free(normal);
    return y;
}

double naive_gpn_run(const struct naive_gpn *m, const uint32_t *tokens, size_t steps, double *s,
                     double *s_prev, double *M, const struct naive_out *out) {
    double total = 0, *p = vector(m->d);
    for (size_t t = 0; t < steps; t++) {
        if (m->H) write_memory(m, s, s_prev, M, out, t);
        memcpy(p, s, m->d * sizeof *p);
        predict(m, p, M);
        double nll = loss(m, p, tokens[t]);
        total += nll;
        double *g = gate(m, p, get(m, "fg_norm_w"), get(m, "fg_gate_k"), get(m, "fg_gate_b"));
        double *input = fuse(m, tokens[t]);
        memcpy(s_prev, s, m->d * sizeof *s);
        for (size_t i = 0; i < m->d; i++) s[i] = g[i] * p[i] + input[i];
        if (out->nll) out->nll[t] = nll;
        if (out->predicted) memcpy(out->predicted + t * m->d, p, m->d * sizeof *p);
        if (out->grounded) memcpy(out->grounded + t * m->d, s, m->d * sizeof *s);
        free(g), free(input);
    }
    free(p);
    return total;
}
