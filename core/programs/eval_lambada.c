/* gpnscope eval --lambada: the last word of each passage. */
#include "core/evaluation/lambada.h"
#include "core/programs/eval_parts.h"
#include "core/text/tokenizer.h"

static enum gs_status add_values(struct gs_results *results, const struct gs_lambada *lambada,
                                 struct gs_error *error) {
    enum gs_status status = gs_eval_value(results, "lambada.accuracy", "1", lambada->accuracy,
                                          gs_share_limits(lambada->correct, lambada->examples),
                                          lambada->examples, NULL, error);
    if (status == GS_OK)
        status = gs_eval_perplexity(results, "lambada.perplexity", lambada->loss, lambada->limits,
                                    lambada->words, NULL, error);
    if (status == GS_OK)
        status = gs_results_number(results, "lambada.examples", (double)lambada->examples,
                                   "example", lambada->examples, error);
    return status;
}

enum gs_status gs_eval_lambada_notes(struct gs_results *results,
                                     const struct gs_lambada_examples *examples,
                                     struct gs_error *error) {
    enum gs_status status = gs_eval_note(
        results, error,
        "Last word: what follows the last space. Accuracy: the most probable token is its first "
        "subword. Perplexity: over the %zu subwords of all last words. 95 %% limits over "
        "examples: Wilson's for the accuracy, the ratio estimator's for the loss under the "
        "perplexity.",
        examples->words);
    if (status == GS_OK && examples->early > 0)
        status = gs_eval_note(results, error,
                              "In %zu of %zu examples the tokenizer joins the prefix with what "
                              "follows; there the last word begins at the first token that "
                              "differs.",
                              examples->early, examples->count);
    if (status == GS_OK && examples->skipped > 0)
        status = gs_eval_note(results, error, "%zu empty texts were skipped.", examples->skipped);
    return status;
}

static enum gs_status run(struct gs_eval *eval, const struct gs_tokenizer *tokenizer,
                          struct gs_error *error) {
    struct gs_lambada_examples examples;
    struct gs_lambada *lambada = NULL;
    const struct gs_lambada_options options = {.batch = eval->batch, .bf16 = eval->bf16};
    enum gs_status status = gs_lambada_examples_read(eval->lambada, tokenizer, &examples, error);
    if (status == GS_OK)
        status = gs_evaluate_lambada(eval->model, &examples, &options, eval->call->progress,
                                     &lambada, error);
    if (status == GS_NUMERIC)
        gs_error_where(error, "%s on %s", eval->checkpoints[0], eval->lambada);
    if (status == GS_OK) status = gs_results_source(eval->results, eval->lambada, NULL, error);
    if (status == GS_OK) status = add_values(eval->results, lambada, error);
    if (status == GS_OK) status = gs_eval_lambada_notes(eval->results, &examples, error);
    gs_lambada_destroy(lambada);
    gs_lambada_examples_clear(&examples);
    return status;
}

enum gs_status gs_eval_lambada(struct gs_eval *eval, struct gs_error *error) {
    struct gs_tokenizer *tokenizer;
    enum gs_status status = gs_tokenizer_load(eval->tokenizer, &tokenizer, error);
    if (status != GS_OK) return status;
    status = run(eval, tokenizer, error);
    if (status == GS_OK)
        status = gs_results_source(eval->results, eval->tokenizer, gs_tokenizer_sha256(tokenizer),
                                   error);
    gs_tokenizer_destroy(tokenizer);
    return status;
}
