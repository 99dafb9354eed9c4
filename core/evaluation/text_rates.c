#include "core/evaluation/text_rates.h"

#include "core/base/memory.h"

#include <math.h>

/* Sums of each window, the observations of the limits. */
struct work {
    const struct gs_loss *loss;
    const struct gs_tokens *tokens;
    const struct gs_token_text *text;
    uint32_t *ids;         /* (length) */
    double *bytes, *words; /* (windows) */
};

static enum gs_status count_window(const struct work *work, uint64_t window,
                                   struct gs_text_place *place, struct gs_text_amount *total,
                                   struct gs_error *error) {
    const struct gs_windows *windows = &work->loss->windows;
    const size_t length = windows->length, first = work->loss->first;
    struct gs_text_amount amount = {0};
    enum gs_status status =
        gs_tokens_read(work->tokens, gs_window_start(windows, window), length, work->ids, error);
    if (status == GS_OK)
        status = gs_token_text_add(work->text, work->ids, first, place, NULL, error);
    if (status == GS_OK)
        status =
            gs_token_text_add(work->text, work->ids + first, length - first, place, &amount, error);
    work->bytes[window] = (double)amount.bytes;
    work->words[window] = (double)amount.words;
    total->special += amount.special;
    total->unknown += amount.unknown;
    total->bytes += amount.bytes;
    total->words += amount.words;
    return status;
}

static enum gs_status count_all(const struct work *work, struct gs_text_amount *total,
                                struct gs_error *error) {
    struct gs_text_place place;
    enum gs_status status = gs_token_text_place(
        work->text, work->tokens, gs_window_start(&work->loss->windows, 0), &place, error);
    for (uint64_t i = 0; i < work->loss->windows.count && status == GS_OK; i++)
        status = count_window(work, i, &place, total, error);
    return status;
}

static struct gs_text_rate rate_of(const struct gs_loss *loss, const double *units, uint64_t total,
                                   bool known) {
    if (!known || total == 0) return (struct gs_text_rate){.nats = (double)NAN};
    return (struct gs_text_rate){
        loss->sum / (double)total,
        gs_ratio_limits(loss->by_window, units, (size_t)loss->windows.count)};
}

static enum gs_status run(struct work *work, struct gs_text_rates *rates, struct gs_error *error) {
    const size_t windows = (size_t)work->loss->windows.count;
    work->ids = gs_calloc(work->loss->windows.length, sizeof *work->ids);
    work->bytes = gs_calloc(windows, sizeof *work->bytes);
    work->words = gs_calloc(windows, sizeof *work->words);
    if (!work->ids || !work->bytes || !work->words)
        return gs_fail_memory(error, windows * sizeof *work->bytes, "sums of windows");
    enum gs_status status = count_all(work, &rates->amount, error);
    if (status != GS_OK) return status;
    bool known = rates->amount.unknown == 0;
    rates->byte = rate_of(work->loss, work->bytes, rates->amount.bytes, known);
    rates->word = rate_of(work->loss, work->words, rates->amount.words, known);
    return GS_OK;
}

enum gs_status gs_evaluate_text_rates(const struct gs_loss *loss, const struct gs_tokens *tokens,
                                      const struct gs_tokenizer *tokenizer,
                                      struct gs_text_rates *rates, struct gs_error *error) {
    *rates = (struct gs_text_rates){0};
    enum gs_status status = gs_token_text_check(tokenizer, tokens, error);
    struct gs_token_text *text = NULL;
    if (status == GS_OK) status = gs_token_text_create(tokenizer, &text, error);
    struct work work = {.loss = loss, .tokens = tokens, .text = text};
    if (status == GS_OK) status = run(&work, rates, error);
    gs_free(work.ids);
    gs_free(work.bytes);
    gs_free(work.words);
    gs_token_text_destroy(text);
    return status;
}
