/* gpnscope eval --lambada of several checkpoints. */
#include "core/evaluation/lambada.h"
#include "core/programs/eval_compare.h"

#include <stdio.h>

static enum gs_status add_model(struct gs_eval *eval, struct gs_table *table, size_t index,
                                const struct gs_competitor *one, struct gs_error *error) {
    const struct gs_lambada *lambada = one->lambada;
    char name[64];
    snprintf(name, sizeof name, "model.%02zu.lambada.accuracy", index);
    enum gs_status status = gs_eval_value(eval->results, name, "1", lambada->accuracy,
                                          gs_share_limits(lambada->correct, lambada->examples),
                                          lambada->examples, NULL, error);
    snprintf(name, sizeof name, "model.%02zu.lambada.perplexity", index);
    if (status == GS_OK)
        status = gs_eval_perplexity(eval->results, name, lambada->loss, lambada->limits,
                                    lambada->words, NULL, error);
    if (status != GS_OK) return status;
    const struct gs_cell row[] = {gs_cell_integer((int64_t)index),
                                  gs_cell_text(one->path),
                                  gs_cell_text(one->kind),
                                  gs_cell_integer((int64_t)one->parameters),
                                  gs_cell_number(lambada->accuracy),
                                  gs_cell_number(lambada->loss),
                                  gs_cell_number(lambada->perplexity)};
    return gs_table_row(table, row, error);
}

static enum gs_status add_models(struct gs_eval *eval, const struct gs_competitor *all,
                                 struct gs_error *error) {
    static const char *const columns[] = {"model",    "checkpoint", "kind",      "parameters",
                                          "accuracy", "loss",       "perplexity"};
    struct gs_table *table;
    enum gs_status status = gs_results_table(eval->results, "models", columns, 7, &table, error);
    for (size_t i = 0; i < eval->checkpoint_count && status == GS_OK; i++)
        status = add_model(eval, table, i, &all[i], error);
    return status;
}

static enum gs_status add_pair(struct gs_eval *eval, struct gs_table *table,
                               const struct gs_competitor *all, size_t i, size_t k,
                               struct gs_error *error) {
    struct gs_difference difference;
    enum gs_status status =
        gs_lambada_accuracy_difference(all[i].lambada, all[k].lambada, &difference, error);
    if (status == GS_OK)
        status = gs_eval_difference(eval, table, "lambada.accuracy.difference", "1", i, k,
                                    &difference, error);
    if (status == GS_OK)
        status = gs_lambada_loss_difference(all[i].lambada, all[k].lambada, &difference, error);
    if (status == GS_OK)
        status = gs_eval_difference(eval, table, "lambada.loss.difference", "nat/subword", i, k,
                                    &difference, error);
    return status;
}

static enum gs_status report(struct gs_eval *eval, const struct gs_competitor *all,
                             struct gs_error *error) {
    struct gs_table *table = NULL;
    enum gs_status status = add_models(eval, all, error);
    if (status == GS_OK) status = gs_eval_differences(eval, &table, error);
    for (size_t i = 0; i < eval->checkpoint_count && status == GS_OK; i++)
        for (size_t k = i + 1; k < eval->checkpoint_count && status == GS_OK; k++)
            status = add_pair(eval, table, all, i, k, error);
    if (status != GS_OK) return status;
    return gs_eval_note(eval->results, error,
                        "A difference NN.MM is that of model NN minus that of model MM. Its 95 %% "
                        "limits are over the differences of %zu examples: Student's t for the "
                        "accuracy, the ratio estimator's for the loss per subword.",
                        all[0].lambada->examples);
}

static enum gs_status run(struct gs_eval *eval, struct gs_competitor *all,
                          const struct gs_tokenizer *tokenizer, struct gs_error *error) {
    struct gs_lambada_examples examples;
    const struct gs_lambada_options options = {.batch = eval->batch, .bf16 = eval->bf16};
    enum gs_status status = gs_lambada_examples_read(eval->lambada, tokenizer, &examples, error);
    for (size_t i = 0; i < eval->checkpoint_count && status == GS_OK; i++) {
        status = gs_eval_take(eval, i, error);
        if (status == GS_OK)
            status = gs_evaluate_lambada(eval->model, &examples, &options, eval->call->progress,
                                         &all[i].lambada, error);
        if (status == GS_NUMERIC) gs_error_where(error, "%s on %s", all[i].path, eval->lambada);
    }
    if (status == GS_OK) status = gs_results_source(eval->results, eval->lambada, NULL, error);
    if (status == GS_OK) status = report(eval, all, error);
    if (status == GS_OK) status = gs_eval_lambada_notes(eval->results, &examples, error);
    gs_lambada_examples_clear(&examples);
    return status;
}

enum gs_status gs_eval_compare_lambada(struct gs_eval *eval, struct gs_competitor *competitors,
                                       struct gs_error *error) {
    struct gs_tokenizer *tokenizer;
    enum gs_status status = gs_tokenizer_load(eval->tokenizer, &tokenizer, error);
    if (status != GS_OK) return status;
    status = run(eval, competitors, tokenizer, error);
    if (status == GS_OK)
        status = gs_results_source(eval->results, eval->tokenizer, gs_tokenizer_sha256(tokenizer),
                                   error);
    gs_tokenizer_destroy(tokenizer);
    return status;
}
