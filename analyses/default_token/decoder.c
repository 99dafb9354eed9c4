#include "analyses/default_token/decoder.h"

#include "analyses/linalg/lapack.h"
#include "core/base/memory.h"
#include "core/kernels/blas.h"

#include <math.h>

static enum gs_status decode(void *context, const float *states, size_t rows, float *logits,
                             struct gs_error *error) {
    struct gs_decoder_of_model *self = context;
    return gs_runner_decode(self->runner, self->channel, states, rows, logits, error);
}

static enum gs_status decode_embedding(void *context, const float *vectors, size_t rows,
                                       float *logits, struct gs_error *error) {
    struct gs_decoder_of_model *self = context;
    return gs_runner_decode_embedding(self->runner, vectors, rows, logits, error);
}

static const float *embedding(void *context, uint32_t id) {
    struct gs_decoder_of_model *self = context;
    return gs_model_embedding(self->model, id);
}

struct gs_decoder gs_decoder_of(struct gs_decoder_of_model *model) {
    size_t count;
    const struct gs_channel *channels = gs_model_channels(model->model, &count);
    return (struct gs_decoder){.width = channels[model->channel].width,
                               .embedding_width = gs_model_embedding_width(model->model),
                               .vocab = gs_model_vocab(model->model),
                               .context = model,
                               .decode = decode,
                               .decode_embedding = decode_embedding,
                               .embedding = embedding};
}

/* ---- taking it apart ------------------------------------------------------------------------ */

enum { STRIP = 1024 }; /* tokens that are widened to float64 at a time */

struct taken_apart {
    size_t width, vocab;
    float *unit, *rows, *base; /* (width, width), (width, vocab), (vocab) */
    double *square, *strip;    /* (width, width) = W Wᵀ, (width, STRIP) */
};

static void apart_destroy(struct taken_apart *a) {
    gs_free(a->unit);
    gs_free(a->rows);
    gs_free(a->base);
    gs_free(a->square);
    gs_free(a->strip);
}

static enum gs_status apart_create(const struct gs_decoder *decoder, struct taken_apart *a,
                                   struct gs_error *error) {
    size_t e = decoder->embedding_width, vocab = decoder->vocab;
    *a = (struct taken_apart){.width = e, .vocab = vocab};
    a->unit = gs_calloc(e * e, sizeof *a->unit);
    a->rows = gs_calloc(e * vocab, sizeof *a->rows);
    a->base = gs_calloc(vocab, sizeof *a->base);
    a->square = gs_calloc(e * e, sizeof *a->square);
    a->strip = gs_calloc(e * STRIP, sizeof *a->strip);
    if (!a->unit || !a->rows || !a->base || !a->square || !a->strip)
        return gs_fail_memory(error, e * vocab * sizeof *a->rows, "the output matrix");
    enum gs_status status =
        decoder->decode_embedding(decoder->context, a->unit, 1, a->base, error); /* of zero */
    if (status != GS_OK) return status;
    for (size_t i = 0; i < e; i++) a->unit[i * e + i] = 1;
    status = decoder->decode_embedding(decoder->context, a->unit, e, a->rows, error);
    if (status != GS_OK) return status;
    for (size_t i = 0; i < e; i++)
        for (size_t v = 0; v < vocab; v++) a->rows[i * vocab + v] -= a->base[v];
    return GS_OK;
}

static enum gs_status square(struct taken_apart *a, const float *logits, double *right,
                             struct gs_error *error) {
    for (size_t first = 0; first < a->vocab; first += STRIP) {
        size_t count = a->vocab - first < STRIP ? a->vocab - first : STRIP;
        for (size_t i = 0; i < a->width; i++)
            for (size_t v = 0; v < count; v++) {
                double value = (double)a->rows[i * a->vocab + first + v];
                a->strip[i * STRIP + v] = value;
                right[i] += value * ((double)logits[first + v] - (double)a->base[first + v]);
            }
        enum gs_status status = gs_blas_dsyrk(GS_UPPER, GS_PLAIN, a->width, count, 1, a->strip,
                                              STRIP, 1, a->square, a->width, error);
        if (status != GS_OK) return status;
    }
    return GS_OK;
}

/* z = Σ_k u_k (u_k · right) / λ_k over the eigenvectors of W Wᵀ. right becomes z. */
static enum gs_status solve(struct taken_apart *a, double *right, struct gs_error *error) {
    size_t e = a->width;
    double *values = gs_calloc(2 * e, sizeof *values), *z = values + e;
    if (!values) return gs_fail_memory(error, 2 * e * sizeof *values, "eigenvalues");
    enum gs_status status = gs_eigenvectors(e, a->square, values, error);
    if (status == GS_OK && !(values[e - 1] > 1e-10 * values[0])) {
        status = gs_fail(error, GS_NUMERIC, "the output matrix has not full rank");
        gs_error_expected(error, "eigenvalues of its square within a factor of 1e10");
        gs_error_found(error, "%g to %g", values[0], values[e - 1]);
    }
    for (size_t k = 0; status == GS_OK && k < e; k++) {
        double product = 0;
        for (size_t i = 0; i < e; i++) product += a->square[k * e + i] * right[i];
        for (size_t i = 0; i < e; i++) z[i] += a->square[k * e + i] * (product / values[k]);
    }
    for (size_t i = 0; status == GS_OK && i < e; i++) right[i] = z[i];
    gs_free(values);
    return status;
}

static double residual_of(const struct taken_apart *a, const float *logits, const double *z) {
    double wrong = 0, whole = 0;
    for (size_t v = 0; v < a->vocab; v++) {
        double wanted = (double)logits[v] - (double)a->base[v], made = 0;
        for (size_t i = 0; i < a->width; i++) made += z[i] * (double)a->rows[i * a->vocab + v];
        wrong += (made - wanted) * (made - wanted);
        whole += wanted * wanted;
    }
    return whole > 0 ? sqrt(wrong / whole) : 0;
}

enum gs_status gs_decoder_invert(const struct gs_decoder *decoder, const float *logits, double *z,
                                 double *residual, struct gs_error *error) {
    if (decoder->vocab < decoder->embedding_width) {
        gs_fail(error, GS_NUMERIC, "logits do not determine a vector that is wider than they are");
        gs_error_expected(error, "a vocabulary of at least %zu", decoder->embedding_width);
        gs_error_found(error, "%zu", decoder->vocab);
        return GS_NUMERIC;
    }
    struct taken_apart a;
    enum gs_status status = apart_create(decoder, &a, error);
    for (size_t i = 0; i < decoder->embedding_width; i++) z[i] = 0;
    if (status == GS_OK) status = square(&a, logits, z, error);
    if (status == GS_OK) status = solve(&a, z, error);
    if (status == GS_OK) *residual = residual_of(&a, logits, z);
    apart_destroy(&a);
    return status;
}
