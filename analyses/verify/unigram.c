#include "analyses/verify/unigram.h"

#include "analyses/default_token/decoding.h"
#include "analyses/default_token/opened.h"
#include "analyses/stats/rank_correlation.h"
#include "core/base/memory.h"

#include <math.h>

enum { STRETCH = 256 };

/* mean (width) over all rows of a stream. */
static enum gs_status mean_state(struct gs_trace *trace, size_t stream,
                                 const struct gs_progress *progress, float *mean,
                                 struct gs_error *error) {
    struct gs_rows rows = gs_rows_of_state(trace, stream);
    double *sum = gs_calloc(rows.width, sizeof *sum), all = (double)gs_rows_total(&rows);
    float *block = gs_calloc(STRETCH * rows.width, sizeof *block);
    enum gs_status status =
        sum && block ? GS_OK : gs_fail_memory(error, STRETCH * rows.width * sizeof *block, "rows");
    for (size_t s = 0; status == GS_OK && s < rows.sequences; s++)
        for (uint64_t at = 0; status == GS_OK && at < rows.length[s]; at += STRETCH) {
            uint64_t left = rows.length[s] - at;
            size_t count = left < STRETCH ? (size_t)left : STRETCH;
            if (gs_progress_stop(progress))
                status = gs_fail(error, GS_INTERRUPTED, "stopped on request");
            else
                status = gs_rows_read(&rows, s, at, count, block, error);
            for (size_t i = 0; status == GS_OK && i < count * rows.width; i++)
                sum[i % rows.width] += (double)block[i];
        }
    for (size_t i = 0; status == GS_OK && i < rows.width; i++) mean[i] = (float)(sum[i] / all);
    gs_free(sum);
    gs_free(block);
    return status;
}

static enum gs_status decode(struct gs_default_opened *o, size_t stream,
                             const struct gs_progress *progress, struct gs_unigram *unigram,
                             struct gs_error *error) {
    struct gs_decoder_of_model model = {o->model, o->runner, gs_model_decodable_channel(o->model)};
    struct gs_decoder decoder = gs_decoder_of(&model);
    size_t width = o->info->streams[stream].width;
    if (width != decoder.width) {
        gs_fail(error, GS_SHAPE, "trace and checkpoint have states of different widths");
        gs_error_expected(error, "%zu", decoder.width);
        gs_error_found(error, "%zu", width);
        gs_error_where(error, "%s", o->info->path);
        return GS_SHAPE;
    }
    float *mean = gs_calloc(width, sizeof *mean),
          *logits = gs_calloc(decoder.vocab, sizeof *logits);
    unigram->vocab = decoder.vocab;
    unigram->top = decoder.vocab < GS_UNIGRAM_TOP ? decoder.vocab : GS_UNIGRAM_TOP;
    unigram->logits = gs_calloc(decoder.vocab, sizeof *unigram->logits);
    enum gs_status status = mean && logits && unigram->logits
                                ? mean_state(o->trace, stream, progress, mean, error)
                                : gs_fail_memory(error, decoder.vocab * 12, "logits");
    if (status == GS_OK) status = decoder.decode(decoder.context, mean, 1, logits, error);
    for (size_t i = 0; status == GS_OK && i < decoder.vocab; i++)
        unigram->logits[i] = (double)logits[i];
    if (status == GS_OK)
        gs_default_best(unigram->logits, unigram->vocab, unigram->top, unigram->best);
    gs_free(mean);
    gs_free(logits);
    return status;
}

enum gs_status gs_unigram_of_trace(struct gs_trace *trace, const char *checkpoint,
                                   const struct gs_progress *progress, struct gs_unigram *unigram,
                                   struct gs_error *error) {
    struct gs_default_opened o = {0};
    const struct gs_default_inputs inputs = {.checkpoint = checkpoint};
    size_t stream = 0;
    *unigram = (struct gs_unigram){0};
    struct gs_results *unread = gs_results_create("default"); /* notes on what is opened */
    enum gs_status status = unread ? gs_default_open(trace, &inputs, &o, unread, error)
                                   : gs_fail_memory(error, 0, "the results");
    if (status == GS_OK) {
        size_t channels;
        const struct gs_channel *channel = gs_model_channels(o.model, &channels);
        channel += gs_model_decodable_channel(o.model);
        status = gs_trace_find_stream(trace, channel->name, &stream, error);
    }
    if (status == GS_OK) status = decode(&o, stream, progress, unigram, error);
    gs_default_close(&o);
    gs_results_destroy(unread);
    if (status != GS_OK) gs_unigram_free(unigram);
    return status;
}

void gs_unigram_free(struct gs_unigram *unigram) {
    gs_free(unigram->logits);
    *unigram = (struct gs_unigram){0};
}

double gs_unigram_cosine(const struct gs_unigram *a, const struct gs_unigram *b) {
    if (!a->logits || !b->logits || a->vocab != b->vocab) return (double)NAN;
    return gs_pearson(a->logits, b->logits, a->vocab);
}

double gs_unigram_overlap(const struct gs_unigram *a, const struct gs_unigram *b) {
    if (!a->logits || !b->logits || a->vocab != b->vocab) return (double)NAN;
    size_t shared = gs_default_overlap(a->best, b->best, a->top);
    return (double)shared / (double)(2 * a->top - shared);
}
