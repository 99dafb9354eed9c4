/* gpnscope eval on data: the loss per token, byte and word, in all and by position. */
#include "core/evaluation/loss.h"
#include "core/evaluation/text_rates.h"
#include "core/programs/eval_parts.h"
#include "core/text/tokenizer.h"
#include "core/text/tokens.h"

#include <math.h>
#include <string.h>

static enum gs_status add_positions(struct gs_results *results, const struct gs_loss *loss,
                                    struct gs_error *error) {
    static const char *const columns[] = {"position", "loss", "n", "low", "high"};
    struct gs_table *table;
    enum gs_status status =
        gs_results_table(results, "loss_by_position", columns, 5, &table, error);
    for (size_t t = loss->first; t < loss->windows.length && status == GS_OK; t++) {
        struct gs_limits limits =
            gs_mean_limits(loss->by_position[t], loss->squares[t], loss->windows.count);
        const struct gs_cell row[] = {gs_cell_integer((int64_t)t),
                                      gs_cell_number(loss->by_position[t]),
                                      gs_cell_integer((int64_t)loss->windows.count),
                                      gs_cell_number(limits.low), gs_cell_number(limits.high)};
        status = gs_table_row(table, row, error);
    }
    return status;
}

/* What was read and what was not: a reader must be able to see that nothing was lost silently. */
enum gs_status gs_eval_windows(struct gs_results *results, const struct gs_loss *loss,
                               struct gs_error *error) {
    const struct gs_windows *windows = &loss->windows;
    uint64_t dropped = gs_windows_dropped(windows);
    enum gs_status status = gs_results_number(results, "windows", (double)windows->count, "window",
                                              windows->count, error);
    if (status == GS_OK)
        status = gs_results_number(results, "tokens.used", (double)windows->used, "token",
                                   windows->total, error);
    if (status == GS_OK)
        status = gs_results_number(results, "tokens.skipped", (double)windows->first, "token",
                                   windows->total, error);
    if (status == GS_OK)
        status = gs_results_number(results, "tokens.dropped", (double)dropped, "token",
                                   windows->total, error);
    if (status != GS_OK) return status;
    return gs_eval_note(results, error,
                        "%llu consecutive windows of %zu tokens, each from the state 0, across "
                        "documents: %llu of %llu tokens read, %llu before them skipped, %llu "
                        "behind them not read. 95 %% limits: Student's t over windows.",
                        (unsigned long long)windows->count, windows->length,
                        (unsigned long long)windows->used, (unsigned long long)windows->total,
                        (unsigned long long)windows->first, (unsigned long long)dropped);
}

static enum gs_status add_loss(struct gs_results *results, const struct gs_loss *loss,
                               struct gs_error *error) {
    enum gs_status status = gs_eval_value(results, "loss", "nat/token", loss->loss, loss->limits,
                                          loss->tokens, NULL, error);
    if (status == GS_OK)
        status = gs_eval_perplexity(results, "perplexity", loss->loss, loss->limits, loss->tokens,
                                    NULL, error);
    if (status == GS_OK)
        status = gs_results_number(results, "tokens", (double)loss->tokens, "token", loss->tokens,
                                   error);
    return status;
}

/* ---- per byte and per word ---- */

static struct gs_text_rate in_bits(struct gs_text_rate rate) {
    const double ln2 = log(2);
    rate.nats /= ln2;
    rate.limits.low /= ln2;
    rate.limits.high /= ln2;
    return rate;
}

/* The three rates; `reason` when there are none. */
static enum gs_status add_rates(struct gs_results *results, const struct gs_text_rates *rates,
                                const char *reason, struct gs_error *error) {
    const struct gs_text_amount *amount = &rates->amount;
    const struct gs_text_rate bits = in_bits(rates->byte);
    enum gs_status status =
        gs_eval_value(results, "bits_per_byte", "bit/byte", bits.nats, bits.limits, amount->bytes,
                      reason ? reason : "the predicted tokens hold no byte of text", error);
    if (status == GS_OK)
        status = gs_eval_perplexity(
            results, "perplexity.byte", rates->byte.nats, rates->byte.limits, amount->bytes,
            reason ? reason : "the predicted tokens hold no byte of text", error);
    if (status == GS_OK)
        status = gs_eval_perplexity(
            results, "perplexity.word", rates->word.nats, rates->word.limits, amount->words,
            reason ? reason : "no word begins in the predicted tokens", error);
    return status;
}

static enum gs_status add_amounts(struct gs_results *results, const struct gs_loss *loss,
                                  const struct gs_text_amount *amount, struct gs_error *error) {
    enum gs_status status =
        gs_results_number(results, "bytes", (double)amount->bytes, "byte", loss->tokens, error);
    if (status == GS_OK)
        status =
            gs_results_number(results, "words", (double)amount->words, "word", loss->tokens, error);
    if (status == GS_OK)
        status = gs_results_number(results, "tokens.special", (double)amount->special, "token",
                                   loss->tokens, error);
    if (status != GS_OK) return status;
    return gs_eval_note(results, error,
                        "Bytes and words are those of the predicted tokens' text. A word is a run "
                        "of bytes other than ASCII white space; it counts at the token in which "
                        "it begins. The %llu special tokens (EOS) have no bytes, but what "
                        "predicting them cost is in every rate.",
                        (unsigned long long)amount->special);
}

static enum gs_status measure_rates(struct gs_eval *eval, const struct gs_loss *loss,
                                    const struct gs_tokens *tokens,
                                    const struct gs_tokenizer *tokenizer, struct gs_error *error) {
    struct gs_text_rates rates;
    char reason[160];
    enum gs_status status = gs_evaluate_text_rates(loss, tokens, tokenizer, &rates, error);
    if (status == GS_RANGE || status == GS_FORMAT) gs_error_where(error, "%s", eval->tokenizer);
    if (status != GS_OK) return status;
    snprintf(reason, sizeof reason,
             "%llu of the predicted tokens are <unk>, whose bytes are not known",
             (unsigned long long)rates.amount.unknown);
    status = add_rates(eval->results, &rates, rates.amount.unknown ? reason : NULL, error);
    return status == GS_OK ? add_amounts(eval->results, loss, &rates.amount, error) : status;
}

static enum gs_status add_without_tokenizer(struct gs_results *results, struct gs_error *error) {
    const struct gs_text_rates none = {.byte = {.nats = (double)NAN},
                                       .word = {.nats = (double)NAN}};
    return add_rates(results, &none, "needs the data's tokenizer: give --tokenizer FILE", error);
}

/* ---- what is read ---- */

static enum gs_status load_tokenizer(const struct gs_eval *eval, size_t vocab,
                                     struct gs_tokenizer **tokenizer, struct gs_error *error) {
    enum gs_status status = gs_tokenizer_load(eval->tokenizer, tokenizer, error);
    if (status != GS_OK || gs_tokenizer_size(*tokenizer) <= vocab) return status;
    gs_fail(error, GS_RANGE, "the tokenizer has pieces that the model does not know");
    gs_error_expected(error, "at most %zu pieces, the model's vocabulary", vocab);
    gs_error_found(error, "%zu", gs_tokenizer_size(*tokenizer));
    gs_error_where(error, "%s", eval->tokenizer);
    gs_error_next(error, "give the tokenizer that made the data the model was trained on");
    return GS_RANGE;
}

/* The tokenizer is looked at before the work, since it can be wrong. */
enum gs_status gs_eval_open(const struct gs_eval *eval, size_t vocab, struct gs_tokens **tokens,
                            struct gs_tokenizer **tokenizer, struct gs_error *error) {
    enum gs_status status = GS_OK;
    *tokens = NULL;
    *tokenizer = NULL;
    if (eval->tokenizer) status = load_tokenizer(eval, vocab, tokenizer, error);
    if (status == GS_OK) status = gs_tokens_open(eval->data, eval->tokenizer, tokens, error);
    if (status == GS_OK && *tokenizer) {
        status = gs_token_text_check(*tokenizer, *tokens, error);
        if (status != GS_OK) gs_error_where(error, "%s", eval->tokenizer);
    }
    return status;
}

struct gs_loss_options gs_eval_loss_options(const struct gs_eval *eval) {
    return (struct gs_loss_options){.length = eval->length,
                                    .skip = eval->skip,
                                    .sequences = eval->sequences,
                                    .batch = eval->batch,
                                    .bf16 = eval->bf16};
}

enum gs_status gs_eval_note_tokenizer(struct gs_eval *eval, const struct gs_tokens *tokens,
                                      const struct gs_tokenizer *tokenizer,
                                      struct gs_error *error) {
    const char *name = gs_tokens_tokenizer(tokens);
    enum gs_status status =
        gs_results_source(eval->results, eval->tokenizer, gs_tokenizer_sha256(tokenizer), error);
    if (status != GS_OK || *gs_tokens_tokenizer_sha256(tokens)) return status;
    return gs_eval_note(eval->results, error, "That %s made the data could not be checked: %s%s%s.",
                        eval->tokenizer,
                        *name ? "its meta.json names \"" : "the data names no tokenizer", name,
                        *name ? "\" without a SHA-256" : "");
}

/* ---- all of it ---- */

static enum gs_status measure(struct gs_eval *eval, const struct gs_tokens *tokens,
                              const struct gs_tokenizer *tokenizer, struct gs_loss **loss,
                              struct gs_error *error) {
    const struct gs_loss_options options = gs_eval_loss_options(eval);
    enum gs_status status =
        gs_evaluate_loss(eval->model, tokens, &options, eval->call->progress, loss, error);
    if (status == GS_NUMERIC) gs_error_where(error, "%s on %s", eval->checkpoints[0], eval->data);
    if (status == GS_OK)
        status = gs_results_source(eval->results, eval->data, gs_tokens_sha256(tokens), error);
    if (status == GS_OK) status = add_loss(eval->results, *loss, error);
    if (status == GS_OK)
        status = tokenizer ? measure_rates(eval, *loss, tokens, tokenizer, error)
                           : add_without_tokenizer(eval->results, error);
    if (status == GS_OK) status = gs_eval_windows(eval->results, *loss, error);
    if (status == GS_OK && (*loss)->first > 0)
        status =
            gs_eval_note(eval->results, error,
                         "This model predicts the next token: positions below %zu of a "
                         "window are not predicted. Beside a model that predicts every token, give "
                         "both checkpoints: they are measured at the same positions.",
                         (*loss)->first);
    if (status == GS_OK && tokenizer)
        status = gs_eval_note_tokenizer(eval, tokens, tokenizer, error);
    return status == GS_OK ? add_positions(eval->results, *loss, error) : status;
}

enum gs_status gs_eval_loss(struct gs_eval *eval, struct gs_error *error) {
    struct gs_tokens *tokens;
    struct gs_tokenizer *tokenizer;
    struct gs_loss *loss = NULL;
    enum gs_status status =
        gs_eval_open(eval, gs_model_vocab(eval->model), &tokens, &tokenizer, error);
    if (status == GS_OK) status = measure(eval, tokens, tokenizer, &loss, error);
    gs_loss_destroy(loss);
    gs_tokens_close(tokens);
    gs_tokenizer_destroy(tokenizer);
    return status;
}
