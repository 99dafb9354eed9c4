#include "analyses/default_token/controls.h"

#include "analyses/stats/rank_correlation.h"
#include "core/base/memory.h"
#include "core/base/random.h"

#include <math.h>
#include <stdio.h>

/* ---- the mean embedding --------------------------------------------------------------------- */

static void average_embeddings(const struct gs_decoder *decoder, double *mean) {
    for (size_t i = 0; i < decoder->embedding_width; i++) mean[i] = 0;
    for (size_t v = 0; v < decoder->vocab; v++) {
        const float *row = decoder->embedding(decoder->context, (uint32_t)v);
        for (size_t i = 0; i < decoder->embedding_width; i++) mean[i] += (double)row[i];
    }
    for (size_t i = 0; i < decoder->embedding_width; i++) mean[i] /= (double)decoder->vocab;
}

static double cosine(const double *x, const double *y, size_t n) {
    double xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        xx += x[i] * x[i];
        yy += y[i] * y[i];
        xy += x[i] * y[i];
    }
    return xx > 0 && yy > 0 ? xy / (sqrt(xx) * sqrt(yy)) : (double)NAN;
}

/* Against the vector z behind the mean state's logits. A residual above 1e-3 says that the logits
 * are no product of the output matrix with any vector, so there is no such z. */
static enum gs_status invert(const struct gs_decoder *decoder, const double *mean, float *logits,
                             double *z, struct gs_default_token *t, struct gs_error *error) {
    struct gs_error ignored;
    for (size_t v = 0; v < t->vocab; v++)
        logits[v] = (float)t->decodings[GS_DECODING_MEAN_STATE].score[v];
    enum gs_status status = gs_decoder_invert(decoder, logits, z, &t->embedding_residual, &ignored);
    if (status == GS_NUMERIC) {
        t->embedding_reason = "the output matrix has not full rank, so the vector put to it "
                              "cannot be recovered from the logits";
        return GS_OK;
    }
    if (status != GS_OK) {
        if (error) *error = ignored;
        return status;
    }
    if (!(t->embedding_residual <= 1e-3)) {
        t->embedding_reason = "the mean state's logits are no product with the output matrix";
        return GS_OK;
    }
    t->embedding_cosine = cosine(mean, z, decoder->embedding_width);
    if (isnan(t->embedding_cosine)) t->embedding_reason = "a vector is zero";
    return GS_OK;
}

static enum gs_status compare_direction(const struct gs_decoder *decoder, const double *mean,
                                        struct gs_default_token *t, struct gs_error *error) {
    t->embedding_cosine = t->embedding_residual = (double)NAN;
    float *logits = gs_calloc(t->vocab, sizeof *logits);
    double *z = gs_calloc(decoder->embedding_width, sizeof *z);
    enum gs_status status = logits && z
                                ? invert(decoder, mean, logits, z, t, error)
                                : gs_fail_memory(error, t->vocab * sizeof *logits, "logits");
    gs_free(logits);
    gs_free(z);
    return status;
}

static enum gs_status decode_embedding(const struct gs_decoder *decoder, double *mean,
                                       float *vector, float *logits, struct gs_default_token *t,
                                       struct gs_error *error) {
    struct gs_default_decoding *d = &t->embedding;
    average_embeddings(decoder, mean);
    for (size_t i = 0; i < decoder->embedding_width; i++) vector[i] = (float)mean[i];
    enum gs_status status = decoder->decode_embedding(decoder->context, vector, 1, logits, error);
    if (status != GS_OK) return status;
    for (size_t v = 0; v < t->vocab; v++) d->score[v] = (double)logits[v];
    gs_default_softmax(d->score, t->vocab, d->probability);
    gs_default_best(d->score, t->vocab, t->top, d->best);
    const struct gs_default_decoding *own = &t->decodings[GS_DECODING_MEAN_STATE];
    t->embedding_overlap = gs_default_overlap(d->best, own->best, t->top);
    t->embedding_logit_correlation = gs_pearson(d->score, own->score, t->vocab);
    return compare_direction(decoder, mean, t, error);
}

static enum gs_status control_embedding(const struct gs_decoder *decoder,
                                        struct gs_default_token *t, struct gs_error *error) {
    double *mean = gs_calloc(decoder->embedding_width, sizeof *mean);
    float *vector = gs_calloc(decoder->embedding_width, sizeof *vector);
    float *logits = gs_calloc(t->vocab, sizeof *logits);
    enum gs_status status = mean && vector && logits
                                ? decode_embedding(decoder, mean, vector, logits, t, error)
                                : gs_fail_memory(error, t->vocab * sizeof *logits, "logits");
    gs_free(mean);
    gs_free(vector);
    gs_free(logits);
    return status;
}

/* ---- draws ---------------------------------------------------------------------------------- */

static void seed_draw(struct gs_random *random, uint64_t seed, const char *control, size_t draw) {
    char stream[64];
    snprintf(stream, sizeof stream, "default_token/%s/%zu", control, draw);
    gs_random_seed(random, seed, stream);
}

/* The middle 95 % of the draws and their mean. */
static struct gs_drawn describe(double *values, size_t count) {
    struct gs_drawn drawn = {(double)NAN, (double)NAN, (double)NAN};
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += values[i];
    if (isnan(sum) || count == 0) return drawn;
    struct gs_interval middle = gs_bootstrap_percentile(values, count);
    return (struct gs_drawn){sum / (double)count, middle.low, middle.high};
}

/* Draws at least as far from 0 as what was observed, the observed one counted among them, so that
 * the share is never 0 (Davison and Hinkley 1997, 4.2.1). */
static double share_as_far(const double *values, size_t count, double observed) {
    size_t as_far = 0;
    if (isnan(observed) || count == 0) return (double)NAN;
    for (size_t i = 0; i < count; i++) {
        if (isnan(values[i])) return (double)NAN;
        as_far += fabs(values[i]) >= fabs(observed);
    }
    return (double)(1 + as_far) / (double)(1 + count);
}

static void draw_direction(uint64_t seed, size_t draw, size_t width, double norm, float *state) {
    struct gs_random random;
    double square = 0;
    seed_draw(&random, seed, "direction", draw);
    for (size_t i = 0; i < width; i++) {
        double value = gs_random_normal(&random);
        state[i] = (float)value;
        square += value * value;
    }
    double scale = norm / sqrt(square);
    for (size_t i = 0; i < width; i++) state[i] = (float)((double)state[i] * scale);
}

struct directions {
    const struct gs_counted *counted;
    const struct gs_default_token *token;
    float *states, *logits;
    double *spearman, *overlap; /* (draws) */
};

static enum gs_status judge_direction(const struct directions *d, size_t draw, size_t slot) {
    size_t vocab = d->token->vocab, top = d->token->top;
    double *work = gs_calloc(vocab + 2 * d->counted->count, sizeof *work);
    uint32_t *best = gs_calloc(top, sizeof *best);
    enum gs_status status = work && best ? GS_OK : GS_NO_MEMORY;
    if (status == GS_OK) {
        for (size_t v = 0; v < vocab; v++) work[v] = (double)d->logits[slot * vocab + v];
        gs_default_best(work, vocab, top, best);
        d->overlap[draw] =
            (double)gs_default_overlap(best, d->token->decodings[GS_DECODING_MEAN_STATE].best, top);
        status = gs_counted_spearman(d->counted, work, work + vocab, &d->spearman[draw], NULL);
    }
    gs_free(work);
    gs_free(best);
    return status;
}

static enum gs_status judge_directions(const struct directions *d, size_t first, size_t count) {
    enum gs_status worst = GS_OK;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i++) {
        enum gs_status status = judge_direction(d, first + i, i);
        if (status != GS_OK) {
#pragma omp critical(gs_default_directions)
            worst = status;
        }
    }
    return worst;
}

static enum gs_status run_directions(const struct gs_decoder *decoder, struct directions *d,
                                     size_t batch, const struct gs_default_options *options,
                                     struct gs_error *error) {
    size_t width = decoder->width;
    for (size_t first = 0; first < options->draws; first += batch) {
        size_t count = options->draws - first < batch ? options->draws - first : batch;
        for (size_t i = 0; i < count; i++)
            draw_direction(options->seed, first + i, width, d->token->mean_norm,
                           d->states + i * width);
        enum gs_status status =
            decoder->decode(decoder->context, d->states, count, d->logits, error);
        if (status == GS_OK) status = judge_directions(d, first, count);
        if (status != GS_OK) return gs_fail(error, status, "decoding random directions failed");
        gs_progress_report(options->progress, (double)(first + count), (double)options->draws,
                           "random directions");
        if (gs_progress_stop(options->progress))
            return gs_fail(error, GS_INTERRUPTED, "stopped on request");
    }
    return GS_OK;
}

static enum gs_status control_directions(const struct gs_decoder *decoder,
                                         const struct gs_counted *counted,
                                         const struct gs_default_options *options,
                                         struct gs_default_token *t, struct gs_error *error) {
    enum { BATCH = 32 };
    size_t draws = options->draws;
    struct directions d = {.counted = counted, .token = t};
    d.states = gs_calloc(BATCH * decoder->width, sizeof *d.states);
    d.logits = gs_calloc(BATCH * decoder->vocab, sizeof *d.logits);
    d.spearman = gs_calloc(draws, sizeof *d.spearman);
    d.overlap = gs_calloc(draws, sizeof *d.overlap);
    enum gs_status status =
        d.states && d.logits && d.spearman && d.overlap
            ? run_directions(decoder, &d, BATCH, options, error)
            : gs_fail_memory(error, BATCH * decoder->vocab * sizeof(float), "logits");
    if (status == GS_OK && d.spearman && d.overlap) {
        double own = t->decodings[GS_DECODING_MEAN_STATE].spearman;
        t->random_share = share_as_far(d.spearman, draws, own);
        t->random_spearman = describe(d.spearman, draws);
        t->random_overlap = describe(d.overlap, draws);
    }
    gs_free(d.states);
    gs_free(d.logits);
    gs_free(d.spearman);
    gs_free(d.overlap);
    return status;
}

/* Fisher and Yates's shuffle of the counts' ranks. */
static void shuffle(uint64_t seed, size_t draw, double *ranks, size_t count) {
    struct gs_random random;
    seed_draw(&random, seed, "shuffle", draw);
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)gs_random_below(&random, i);
        double kept = ranks[i - 1];
        ranks[i - 1] = ranks[j];
        ranks[j] = kept;
    }
}

/* One set of shuffles serves all decodings: values (GS_DECODINGS, draws). */
static enum gs_status run_shuffles(const struct gs_counted *counted, const double *ranks,
                                   const struct gs_default_options *options, double *values) {
    enum gs_status worst = GS_OK;
    size_t n = counted->count;
#pragma omp parallel for schedule(static)
    for (size_t draw = 0; draw < options->draws; draw++) {
        double *dealt = gs_calloc(n, sizeof *dealt);
        if (!dealt) {
#pragma omp critical(gs_default_shuffles)
            worst = GS_NO_MEMORY;
            continue;
        }
        for (size_t i = 0; i < n; i++) dealt[i] = counted->ranks[i];
        shuffle(options->seed, draw, dealt, n);
        for (size_t d = 0; d < GS_DECODINGS; d++)
            values[d * options->draws + draw] = gs_pearson(ranks + d * n, dealt, n);
        gs_free(dealt);
    }
    return worst;
}

/* ranks: room for those of every decoding, and the scores in one. */
static enum gs_status judge_shuffles(const struct gs_counted *counted,
                                     const struct gs_default_options *options, double *ranks,
                                     double *values, struct gs_default_token *t,
                                     struct gs_error *error) {
    size_t n = counted->count;
    for (size_t d = 0; d < GS_DECODINGS; d++) {
        double *scores = ranks + GS_DECODINGS * n;
        for (size_t i = 0; i < n; i++) scores[i] = t->decodings[d].score[counted->ids[i]];
        enum gs_status status = gs_average_ranks(scores, n, ranks + d * n, error);
        if (status != GS_OK) return status;
    }
    enum gs_status status = run_shuffles(counted, ranks, options, values);
    if (status != GS_OK) return gs_fail(error, status, "shuffling the unigram counts failed");
    for (size_t d = 0; d < GS_DECODINGS; d++)
        t->decodings[d].shuffled_share =
            share_as_far(values + d * options->draws, options->draws, t->decodings[d].spearman);
    t->shuffled_spearman =
        describe(values + GS_DECODING_MEAN_STATE * options->draws, options->draws);
    return GS_OK;
}

static enum gs_status control_shuffles(const struct gs_counted *counted,
                                       const struct gs_default_options *options,
                                       struct gs_default_token *t, struct gs_error *error) {
    size_t n = counted->count;
    double *ranks = gs_calloc(GS_DECODINGS * n + n, sizeof *ranks);
    double *values = gs_calloc(GS_DECODINGS * options->draws, sizeof *values);
    enum gs_status status = ranks && values
                                ? judge_shuffles(counted, options, ranks, values, t, error)
                                : gs_fail_memory(error, 4 * n * sizeof *ranks, "ranks");
    gs_free(ranks);
    gs_free(values);
    return status;
}

enum gs_status gs_default_controls(const struct gs_decoder *decoder,
                                   const struct gs_counted *counted,
                                   const struct gs_default_options *options,
                                   struct gs_default_token *token, struct gs_error *error) {
    enum gs_status status = control_embedding(decoder, token, error);
    if (status == GS_OK) status = control_directions(decoder, counted, options, token, error);
    return status == GS_OK ? control_shuffles(counted, options, token, error) : status;
}
