#include "analyses/default_token/decoding.h"

#include "analyses/default_token/controls.h"
#include "analyses/stats/basic_interval.h"
#include "analyses/stats/effective.h"
#include "core/base/memory.h"

#include <math.h>
#include <string.h>

const char *gs_decoding_name(enum gs_decoding decoding) {
    static const char *const names[] = {"mean_state", "mean_logits", "mean_probs"};
    return names[decoding];
}

/* ---- decodings ------------------------------------------------------------------------------ */

static enum gs_status create_decoding(struct gs_default_decoding *d, size_t vocab, size_t top,
                                      struct gs_error *error) {
    d->score = gs_calloc(2 * vocab, sizeof *d->score);
    d->best = gs_calloc(top, sizeof *d->best);
    if (!d->score || !d->best) return gs_fail_memory(error, 2 * vocab * sizeof(double), "logits");
    d->probability = d->score + vocab;
    d->spearman = d->shuffled_share = (double)NAN;
    d->interval = d->frequent_interval = (struct gs_interval){false, (double)NAN, (double)NAN, 0};
    return GS_OK;
}

static void destroy_decoding(struct gs_default_decoding *d) {
    gs_free(d->score);
    gs_free(d->best);
    gs_free(d->spearman_replicates);
    gs_free(d->frequent_replicates);
}

static enum gs_status decode_narrow(const struct gs_decoder *decoder, const double *mean,
                                    float *state, float *narrow, double *logits,
                                    struct gs_error *error) {
    for (size_t i = 0; i < decoder->width; i++) state[i] = (float)mean[i];
    enum gs_status status = decoder->decode(decoder->context, state, 1, narrow, error);
    if (status != GS_OK) return status;
    for (size_t v = 0; v < decoder->vocab; v++) logits[v] = (double)narrow[v];
    return GS_OK;
}

static enum gs_status decode_mean(const struct gs_decoder *decoder, const double *mean,
                                  double *logits, struct gs_error *error) {
    float *state = gs_calloc(decoder->width, sizeof *state);
    float *narrow = gs_calloc(decoder->vocab, sizeof *narrow);
    enum gs_status status = state && narrow
                                ? decode_narrow(decoder, mean, state, narrow, logits, error)
                                : gs_fail_memory(error, decoder->vocab * sizeof *narrow, "logits");
    gs_free(state);
    gs_free(narrow);
    return status;
}

static enum gs_status decode_three_ways(const struct gs_default_sums *sums,
                                        const struct gs_decoder *decoder,
                                        struct gs_default_token *t, double *mean,
                                        struct gs_error *error) {
    struct gs_default_decoding *d = t->decodings;
    size_t vocab = t->vocab;
    double square = 0;
    gs_default_mean(sums, sums->state, t->width, NULL, mean);
    for (size_t i = 0; i < t->width; i++) square += mean[i] * mean[i];
    t->mean_norm = sqrt(square);
    enum gs_status status = decode_mean(decoder, mean, d[GS_DECODING_MEAN_STATE].score, error);
    if (status != GS_OK) return status;
    gs_default_mean(sums, sums->logits, vocab, NULL, d[GS_DECODING_MEAN_LOGITS].score);
    for (int i = 0; i < GS_DECODING_MEAN_PROBS; i++)
        gs_default_softmax(d[i].score, vocab, d[i].probability);
    d += GS_DECODING_MEAN_PROBS;
    gs_default_mean(sums, sums->probabilities, vocab, NULL, d->probability);
    for (size_t v = 0; v < vocab; v++) d->score[v] = log(d->probability[v]);
    for (int i = 0; i < GS_DECODINGS; i++)
        gs_default_best(t->decodings[i].score, vocab, t->top, t->decodings[i].best);
    return GS_OK;
}

/* Correlation with the counts, and top tokens among the most frequent. */
static enum gs_status hold_against_counts(const struct gs_default_token *t,
                                          const struct gs_counted *counted,
                                          struct gs_default_decoding *d, struct gs_error *error) {
    if (t->frequent) d->frequent = gs_default_overlap(d->best, t->frequent, t->top);
    double *work = gs_calloc(2 * counted->count, sizeof *work);
    if (!work) return gs_fail_memory(error, 2 * counted->count * sizeof *work, "ranks");
    enum gs_status status = gs_counted_spearman(counted, d->score, work, &d->spearman, error);
    gs_free(work);
    return status;
}

/* ---- intervals ------------------------------------------------------------------------------ */

/* Replicates of mean_state are decoded many at a time, in order; the other two are means of sums
 * and can be made by any thread. */
struct replicas {
    const struct gs_default_sums *sums;
    const struct gs_counted *counted;
    const struct gs_default_options *options;
    const struct gs_default_token *token; /* its frequent tokens */
    double *spearman, *frequent;          /* (GS_DECODINGS, replicates) */
    float *states, *logits;
    size_t batch;
};

static enum gs_status average_states(struct replicas *r, size_t first, size_t count) {
    size_t width = r->sums->width, blocks = r->sums->blocks;
    double *weights = gs_calloc(blocks + width, sizeof *weights);
    if (!weights) return GS_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        double *mean = weights + blocks;
        gs_bootstrap_weights(r->options->seed, first + i, blocks, weights);
        gs_default_mean(r->sums, r->sums->state, width, weights, mean);
        for (size_t c = 0; c < width; c++) r->states[i * width + c] = (float)mean[c];
    }
    gs_free(weights);
    return GS_OK;
}

/* What a replica's scores (vocab) say; work: 2 counted doubles, and room for the top tokens. */
static enum gs_status judge_scores(struct replicas *r, const double *scores,
                                   enum gs_decoding decoding, size_t replica, double *work,
                                   uint32_t *best) {
    size_t place = (size_t)decoding * r->options->replicates + replica, top = r->token->top;
    if (r->token->frequent) {
        gs_default_best(scores, r->sums->vocab, top, best);
        r->frequent[place] = (double)gs_default_overlap(best, r->token->frequent, top);
    }
    return gs_counted_spearman(r->counted, scores, work, &r->spearman[place], NULL);
}

static enum gs_status judge_replica(struct replicas *r, size_t replica, size_t slot, double *work,
                                    uint32_t *best) {
    size_t vocab = r->sums->vocab, blocks = r->sums->blocks;
    double *weights = work, *scores = weights + blocks, *ranks = scores + vocab;
    gs_bootstrap_weights(r->options->seed, replica, blocks, weights);
    for (size_t v = 0; v < vocab; v++) scores[v] = (double)r->logits[slot * vocab + v];
    enum gs_status status = judge_scores(r, scores, GS_DECODING_MEAN_STATE, replica, ranks, best);
    gs_default_mean(r->sums, r->sums->logits, vocab, weights, scores);
    if (status == GS_OK)
        status = judge_scores(r, scores, GS_DECODING_MEAN_LOGITS, replica, ranks, best);
    gs_default_mean(r->sums, r->sums->probabilities, vocab, weights, scores);
    if (status == GS_OK)
        status = judge_scores(r, scores, GS_DECODING_MEAN_PROBS, replica, ranks, best);
    return status;
}

static enum gs_status judge_batch(struct replicas *r, size_t first, size_t count) {
    size_t doubles = r->sums->blocks + r->sums->vocab + 2 * r->counted->count;
    enum gs_status worst = GS_OK;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i++) {
        double *work = gs_calloc(doubles, sizeof *work);
        uint32_t *best = gs_calloc(r->token->top, sizeof *best);
        enum gs_status status =
            work && best ? judge_replica(r, first + i, i, work, best) : GS_NO_MEMORY;
        gs_free(best);
        gs_free(work);
        if (status != GS_OK) {
#pragma omp critical(gs_default_judge)
            worst = status;
        }
    }
    return worst;
}

static enum gs_status run_replicas(struct replicas *r, const struct gs_decoder *decoder,
                                   struct gs_error *error) {
    size_t total = r->options->replicates;
    for (size_t first = 0; first < total; first += r->batch) {
        size_t count = total - first < r->batch ? total - first : r->batch;
        enum gs_status status = average_states(r, first, count);
        if (status == GS_OK)
            status = decoder->decode(decoder->context, r->states, count, r->logits, error);
        if (status == GS_OK) status = judge_batch(r, first, count);
        if (status != GS_OK)
            return gs_fail(error, status, "a bootstrap replicate of the default token failed");
        gs_progress_report(r->options->progress, (double)(first + count), (double)total,
                           "bootstrap");
        if (gs_progress_stop(r->options->progress))
            return gs_fail(error, GS_INTERRUPTED, "stopped on request");
    }
    return GS_OK;
}

/* The percentiles of replicates, which stay in their order. */
static enum gs_status percentiles(const double *values, size_t count, double **kept,
                                  struct gs_interval *interval, struct gs_error *error) {
    double *sorted = gs_calloc(count, sizeof *sorted);
    *kept = gs_calloc(count, sizeof **kept);
    if (sorted && *kept) {
        memcpy(sorted, values, count * sizeof *sorted);
        memcpy(*kept, values, count * sizeof **kept);
        *interval = gs_bootstrap_percentile(sorted, count);
    }
    gs_free(sorted);
    return sorted && *kept ? GS_OK
                           : gs_fail_memory(error, count * sizeof *sorted, "bootstrap replicates");
}

static enum gs_status set_intervals(const struct replicas *r, struct gs_default_token *t,
                                    struct gs_error *error) {
    size_t count = r->options->replicates;
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < GS_DECODINGS; i++) {
        struct gs_default_decoding *d = &t->decodings[i];
        status = percentiles(r->spearman + i * count, count, &d->spearman_replicates, &d->interval,
                             error);
        if (status == GS_OK) d->interval = gs_basic_interval(d->interval, d->spearman, -1, 1);
        if (status == GS_OK && t->frequent)
            status = percentiles(r->frequent + i * count, count, &d->frequent_replicates,
                                 &d->frequent_interval, error);
    }
    return status;
}

static enum gs_status find_intervals(const struct gs_default_sums *sums,
                                     const struct gs_decoder *decoder,
                                     const struct gs_counted *counted,
                                     const struct gs_default_options *options,
                                     struct gs_default_token *t, struct gs_error *error) {
    size_t count = options->replicates;
    if (count < 2 || sums->blocks < 2 || counted->count < 2) return GS_OK;
    struct replicas r = {
        .sums = sums, .counted = counted, .options = options, .token = t, .batch = 32};
    r.spearman = gs_calloc(2 * GS_DECODINGS * count, sizeof *r.spearman);
    r.states = gs_calloc(r.batch * sums->width, sizeof *r.states);
    r.logits = gs_calloc(r.batch * sums->vocab, sizeof *r.logits);
    if (r.spearman) r.frequent = r.spearman + GS_DECODINGS * count;
    enum gs_status status =
        r.spearman && r.states && r.logits
            ? run_replicas(&r, decoder, error)
            : gs_fail_memory(error, r.batch * sums->vocab * sizeof(float), "logits");
    if (status == GS_OK) status = set_intervals(&r, t, error);
    gs_free(r.spearman);
    gs_free(r.states);
    gs_free(r.logits);
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void describe_counts(const uint64_t *counts, struct gs_default_token *t) {
    t->has_counts = counts != NULL;
    for (size_t v = 0; counts && v < t->vocab; v++) {
        t->counted += counts[v];
        t->occurring += counts[v] > 0;
        t->absent += counts[v] == 0;
    }
}

static enum gs_status describe_blocks(const struct gs_default_sums *sums,
                                      struct gs_default_token *t, struct gs_error *error) {
    double *rows = gs_calloc(sums->blocks, sizeof *rows);
    if (!rows) return gs_fail_memory(error, sums->blocks * sizeof *rows, "the blocks' rows");
    t->blocks = sums->blocks;
    for (size_t b = 0; b < sums->blocks; b++) {
        t->rows += sums->rows[b];
        rows[b] = (double)sums->rows[b];
    }
    t->effective_blocks = gs_effective_blocks(rows, 1, sums->blocks);
    gs_free(rows);
    return GS_OK;
}

static enum gs_status find_frequent(const uint64_t *counts, struct gs_default_token *t,
                                    struct gs_error *error) {
    if (t->occurring < t->top || t->top == 0) return GS_OK;
    double *values = gs_calloc(t->vocab, sizeof *values);
    t->frequent = gs_calloc(t->top, sizeof *t->frequent);
    enum gs_status status =
        values && t->frequent ? GS_OK
                              : gs_fail_memory(error, t->vocab * sizeof *values, "unigram counts");
    for (size_t v = 0; status == GS_OK && v < t->vocab; v++) values[v] = (double)counts[v];
    if (status == GS_OK) gs_default_best(values, t->vocab, t->top, t->frequent);
    gs_free(values);
    return status;
}

static enum gs_status follow(const struct gs_default_sums *sums, const struct gs_decoder *decoder,
                             const uint64_t *counts, const struct gs_default_options *options,
                             struct gs_default_token *t, struct gs_error *error) {
    struct gs_counted counted = {0};
    double *mean = gs_calloc(t->width, sizeof *mean);
    enum gs_status status = mean ? decode_three_ways(sums, decoder, t, mean, error)
                                 : gs_fail_memory(error, t->width * sizeof *mean, "a state");
    gs_free(mean);
    if (status == GS_OK) status = gs_counted_make(counts, t->vocab, &counted, error);
    for (int i = 0; status == GS_OK && i < GS_DECODINGS; i++)
        status = hold_against_counts(t, &counted, &t->decodings[i], error);
    if (status == GS_OK) status = find_intervals(sums, decoder, &counted, options, t, error);
    if (status == GS_OK) status = gs_default_controls(decoder, &counted, options, t, error);
    if (status == GS_OK) status = hold_against_counts(t, &counted, &t->embedding, error);
    gs_counted_destroy(&counted);
    return status;
}

static enum gs_status create(const struct gs_decoder *decoder,
                             const struct gs_default_options *options, struct gs_default_token *t,
                             struct gs_error *error) {
    t->vocab = decoder->vocab;
    t->width = decoder->width;
    t->top = options->top < t->vocab ? options->top : t->vocab;
    t->replicates = options->replicates;
    t->draws = options->draws;
    t->seed = options->seed;
    enum gs_status status = create_decoding(&t->embedding, t->vocab, t->top, error);
    for (int i = 0; status == GS_OK && i < GS_DECODINGS; i++)
        status = create_decoding(&t->decodings[i], t->vocab, t->top, error);
    return status;
}

enum gs_status gs_default_token_measure(const struct gs_rows *rows,
                                        const struct gs_decoder *decoder, const uint64_t *counts,
                                        const struct gs_default_options *options,
                                        struct gs_default_token **token, struct gs_error *error) {
    if (rows->width != decoder->width) {
        gs_fail(error, GS_SHAPE, "the states are not of the model's width");
        gs_error_expected(error, "%zu", decoder->width);
        gs_error_found(error, "%zu", rows->width);
        gs_error_next(error, "give the checkpoint that the trace was made with");
        return GS_SHAPE;
    }
    if (options->draws > GS_DEFAULT_MOST_DRAWS) {
        gs_fail(error, GS_RANGE, "more draws than a control needs");
        gs_error_expected(error, "at most %d", GS_DEFAULT_MOST_DRAWS);
        gs_error_found(error, "%zu", options->draws);
        return GS_RANGE;
    }
    struct gs_default_sums sums = {0};
    struct gs_default_token *t = gs_calloc(1, sizeof *t);
    if (!t) return gs_fail_memory(error, sizeof *t, "the default token");
    enum gs_status status = create(decoder, options, t, error);
    if (status == GS_OK)
        status = gs_default_sums_make(rows, decoder, options, &sums, &t->sequences, error);
    if (status == GS_OK) status = describe_blocks(&sums, t, error);
    describe_counts(counts, t);
    if (status == GS_OK) status = find_frequent(counts, t, error);
    if (status == GS_OK) status = follow(&sums, decoder, counts, options, t, error);
    gs_default_sums_destroy(&sums);
    if (status == GS_OK)
        *token = t;
    else
        gs_default_token_destroy(t);
    return status;
}

void gs_default_token_destroy(struct gs_default_token *token) {
    if (!token) return;
    for (int i = 0; i < GS_DECODINGS; i++) destroy_decoding(&token->decodings[i]);
    destroy_decoding(&token->embedding);
    gs_free(token->frequent);
    gs_free(token);
}
