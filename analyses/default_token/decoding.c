#include "analyses/default_token/decoding.h"

#include "analyses/stats/rank_correlation.h"
#include "core/base/memory.h"

#include <math.h>
#include <stdbool.h>

enum { BLOCK_LOGITS = 1 << 22, MOST_ROWS = 256, STRIP = 256 };

/* ---- one pass ------------------------------------------------------------------------------- */

struct pass {
    const struct gs_rows *rows;
    const struct gs_decoder *decoder;
    const struct gs_default_options *options;
    struct gs_default_sums *sums;
    size_t block_rows;
    float *states, *logits; /* (block_rows, width), (block_rows, vocab) */
    float *odds;            /* (block_rows, vocab): exp(logit − the row's largest) */
    double *whole;          /* (block_rows): their sum */
    double done, total;
};

static void pass_destroy(struct pass *pass) {
    gs_free(pass->states);
    gs_free(pass->logits);
    gs_free(pass->odds);
    gs_free(pass->whole);
}

static enum gs_status pass_create(struct pass *pass, struct gs_error *error) {
    size_t vocab = pass->decoder->vocab, width = pass->decoder->width;
    pass->block_rows = (size_t)BLOCK_LOGITS / vocab;
    if (pass->block_rows > MOST_ROWS) pass->block_rows = MOST_ROWS;
    if (pass->block_rows < 1) pass->block_rows = 1;
    pass->states = gs_calloc(pass->block_rows * width, sizeof *pass->states);
    pass->logits = gs_calloc(pass->block_rows * vocab, sizeof *pass->logits);
    pass->odds = gs_calloc(pass->block_rows * vocab, sizeof *pass->odds);
    pass->whole = gs_calloc(pass->block_rows, sizeof *pass->whole);
    if (pass->states && pass->logits && pass->odds && pass->whole) return GS_OK;
    return gs_fail_memory(error, pass->block_rows * vocab * sizeof(float), "logits");
}

static enum gs_status sums_create(struct gs_default_sums *s, struct gs_error *error) {
    s->rows = gs_calloc(s->blocks, sizeof *s->rows);
    s->state = gs_calloc(s->blocks * s->width, sizeof *s->state);
    s->logits = gs_calloc(s->blocks * s->vocab, sizeof *s->logits);
    s->probabilities = gs_calloc(s->blocks * s->vocab, sizeof *s->probabilities);
    if (s->rows && s->state && s->logits && s->probabilities) return GS_OK;
    return gs_fail_memory(error, 2 * s->blocks * s->vocab * sizeof(double), "sums of logits");
}

void gs_default_sums_destroy(struct gs_default_sums *sums) {
    gs_free(sums->rows);
    gs_free(sums->state);
    gs_free(sums->logits);
    gs_free(sums->probabilities);
    *sums = (struct gs_default_sums){0};
}

/* Each row's softmax, up to its denominator. False when a logit is not finite. */
static bool weigh_rows(struct pass *pass, size_t count) {
    size_t vocab = pass->decoder->vocab;
    bool finite = true;
#pragma omp parallel for schedule(static) reduction(&& : finite)
    for (size_t r = 0; r < count; r++) {
        const float *row = pass->logits + r * vocab;
        float top = row[0], *odds = pass->odds + r * vocab;
        for (size_t v = 1; v < vocab; v++)
            if (row[v] > top) top = row[v];
        double sum = 0;
        for (size_t v = 0; v < vocab; v++) {
            finite = finite && isfinite(row[v]);
            double value = exp((double)row[v] - (double)top);
            odds[v] = (float)value;
            sum += value;
        }
        pass->whole[r] = sum;
    }
    return finite;
}

/* One thread owns a strip of tokens, so that every sum runs over the rows in order. */
static void sum_tokens(struct pass *pass, size_t block, size_t count) {
    size_t vocab = pass->decoder->vocab, strips = (vocab + STRIP - 1) / STRIP;
    double *logits = pass->sums->logits + block * vocab;
    double *probabilities = pass->sums->probabilities + block * vocab;
#pragma omp parallel for schedule(static)
    for (size_t s = 0; s < strips; s++) {
        size_t first = s * STRIP, end = vocab - first < STRIP ? vocab : first + STRIP;
        for (size_t r = 0; r < count; r++) {
            double share = 1 / pass->whole[r];
            for (size_t v = first; v < end; v++) {
                logits[v] += (double)pass->logits[r * vocab + v];
                probabilities[v] += (double)pass->odds[r * vocab + v] * share;
            }
        }
    }
}

static enum gs_status take_rows(struct pass *pass, size_t block, size_t sequence, uint64_t from,
                                size_t count, struct gs_error *error) {
    struct gs_default_sums *sums = pass->sums;
    enum gs_status status = gs_rows_read(pass->rows, sequence, from, count, pass->states, error);
    if (status == GS_OK)
        status =
            pass->decoder->decode(pass->decoder->context, pass->states, count, pass->logits, error);
    if (status != GS_OK) return status;
    if (!weigh_rows(pass, count)) {
        gs_fail(error, GS_NUMERIC, "a state decodes to logits that are not finite");
        gs_error_where(error, "sequence %zu, rows %llu to %llu", sequence, (unsigned long long)from,
                       (unsigned long long)(from + count - 1));
        return GS_NUMERIC;
    }
    sum_tokens(pass, block, count);
    for (size_t r = 0; r < count; r++)
        for (size_t c = 0; c < sums->width; c++)
            sums->state[block * sums->width + c] += (double)pass->states[r * sums->width + c];
    sums->rows[block] += count;
    return GS_OK;
}

static enum gs_status take_sequence(struct pass *pass, size_t block, size_t sequence,
                                    struct gs_error *error) {
    uint64_t at = pass->options->skip_first, end = pass->rows->length[sequence];
    while (at < end) {
        size_t count = end - at < pass->block_rows ? (size_t)(end - at) : pass->block_rows;
        enum gs_status status = take_rows(pass, block, sequence, at, count, error);
        if (status != GS_OK) return status;
        at += count;
        pass->done += (double)count;
        gs_progress_report(pass->options->progress, pass->done, pass->total, "states decoded");
        if (gs_progress_stop(pass->options->progress))
            return gs_fail(error, GS_INTERRUPTED, "stopped on request");
    }
    return GS_OK;
}

enum gs_status gs_default_sums_make(const struct gs_rows *rows, const struct gs_decoder *decoder,
                                    const struct gs_default_options *options,
                                    struct gs_default_sums *sums, size_t *sequences,
                                    struct gs_error *error) {
    struct pass pass = {.rows = rows, .decoder = decoder, .options = options, .sums = sums};
    size_t used = 0, number = 0;
    for (size_t i = 0; i < rows->sequences; i++) {
        if (rows->length[i] <= options->skip_first) continue;
        used++;
        pass.total += (double)(rows->length[i] - options->skip_first);
    }
    *sequences = used;
    *sums = (struct gs_default_sums){.blocks = used < GS_DEFAULT_BLOCKS ? used : GS_DEFAULT_BLOCKS,
                                     .width = decoder->width,
                                     .vocab = decoder->vocab};
    if (used == 0) {
        gs_fail(error, GS_RANGE, "no state is left to decode");
        gs_error_expected(error, "a sequence of more than %llu rows",
                          (unsigned long long)options->skip_first);
        gs_error_found(error, "%zu sequences, the longest of %llu rows", rows->sequences,
                       (unsigned long long)gs_rows_longest(rows));
        return GS_RANGE;
    }
    enum gs_status status = sums_create(sums, error);
    if (status == GS_OK) status = pass_create(&pass, error);
    for (size_t i = 0; status == GS_OK && i < rows->sequences; i++) {
        if (rows->length[i] <= options->skip_first) continue;
        status = take_sequence(&pass, number++ * sums->blocks / used, i, error);
    }
    pass_destroy(&pass);
    return status;
}

/* ---- what can be made of the sums ------------------------------------------------------------ */

void gs_default_mean(const struct gs_default_sums *sums, const double *values, size_t columns,
                     const double *weights, double *mean) {
    double rows = 0;
    for (size_t c = 0; c < columns; c++) mean[c] = 0;
    for (size_t b = 0; b < sums->blocks; b++) {
        double weight = weights ? weights[b] : 1;
        if (!(weight > 0)) continue;
        rows += weight * (double)sums->rows[b];
        for (size_t c = 0; c < columns; c++) mean[c] += weight * values[b * columns + c];
    }
    for (size_t c = 0; c < columns; c++) mean[c] /= rows;
}

void gs_default_softmax(const double *scores, size_t count, double *probabilities) {
    double top = scores[0], sum = 0;
    for (size_t i = 1; i < count; i++) top = fmax(top, scores[i]);
    for (size_t i = 0; i < count; i++) {
        probabilities[i] = exp(scores[i] - top);
        sum += probabilities[i];
    }
    for (size_t i = 0; i < count; i++) probabilities[i] /= sum;
}

/* Insertion into a short sorted list: tokens come by id, so a later equal score stays behind. */
void gs_default_best(const double *scores, size_t count, size_t top, uint32_t *best) {
    size_t held = 0;
    for (size_t id = 0; id < count; id++) {
        if (held == top && !(scores[id] > scores[best[top - 1]])) continue;
        size_t place = held < top ? held++ : top - 1;
        for (; place > 0 && scores[id] > scores[best[place - 1]]; place--)
            best[place] = best[place - 1];
        best[place] = (uint32_t)id;
    }
}

size_t gs_default_overlap(const uint32_t *a, const uint32_t *b, size_t top) {
    size_t shared = 0;
    for (size_t i = 0; i < top; i++)
        for (size_t j = 0; j < top; j++) shared += a[i] == b[j];
    return shared;
}

/* ---- counts --------------------------------------------------------------------------------- */

enum gs_status gs_counted_make(const uint64_t *counts, size_t vocab, struct gs_counted *counted,
                               struct gs_error *error) {
    *counted = (struct gs_counted){0};
    size_t count = 0;
    for (size_t v = 0; counts && v < vocab; v++) count += counts[v] > 0;
    counted->ids = gs_calloc(count, sizeof *counted->ids);
    counted->ranks = gs_calloc(count, sizeof *counted->ranks);
    double *values = gs_calloc(count, sizeof *values);
    enum gs_status status = GS_OK;
    if (!counted->ids || !counted->ranks || !values)
        status = gs_fail_memory(error, count * sizeof *values, "unigram counts");
    for (size_t v = 0; status == GS_OK && counts && v < vocab; v++) {
        if (counts[v] == 0) continue;
        values[counted->count] = (double)counts[v];
        counted->ids[counted->count++] = (uint32_t)v;
    }
    if (status == GS_OK) status = gs_average_ranks(values, count, counted->ranks, error);
    gs_free(values);
    return status;
}

void gs_counted_destroy(struct gs_counted *counted) {
    gs_free(counted->ids);
    gs_free(counted->ranks);
    *counted = (struct gs_counted){0};
}

static enum gs_status correlate(const struct gs_counted *counted, double *work, double *rho,
                                struct gs_error *error) {
    enum gs_status status = gs_average_ranks(work, counted->count, work + counted->count, error);
    if (status == GS_OK) *rho = gs_pearson(work + counted->count, counted->ranks, counted->count);
    return status;
}

enum gs_status gs_counted_spearman(const struct gs_counted *counted, const double *scores,
                                   double *work, double *rho, struct gs_error *error) {
    for (size_t i = 0; i < counted->count; i++) work[i] = scores[counted->ids[i]];
    return correlate(counted, work, rho, error);
}
