/* gpnscope eval of several checkpoints: each measured on the same predictions, and every pair's
 * difference with its own limits. */
#include "core/programs/eval_compare.h"
#include "core/base/memory.h"
#include "core/evaluation/lambada.h"
#include "core/evaluation/text_rates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- who is compared ---- */

static enum gs_status fail_vocabulary(const struct gs_competitor *first,
                                      const struct gs_competitor *other, struct gs_error *error) {
    gs_fail(error, GS_RANGE, "models of different vocabularies cannot be compared token by token");
    gs_error_expected(error, "%zu tokens, as %.150s has", first->vocab, first->path);
    gs_error_found(error, "%zu", other->vocab);
    gs_error_where(error, "%s", other->path);
    gs_error_next(error, "eval each alone with its own --tokenizer: bits and perplexity per byte "
                         "can be compared");
    return GS_RANGE;
}

static enum gs_status fail_same(const struct gs_competitor *first,
                                const struct gs_competitor *other, struct gs_error *error) {
    gs_fail(error, GS_CONFIG, "the same checkpoint is given twice");
    gs_error_found(error, "%.150s is the same file", first->path);
    gs_error_where(error, "%s", other->path);
    return GS_CONFIG;
}

/* Every checkpoint once, before anything takes time; only one model is in memory at a time. */
static enum gs_status look(struct gs_eval *eval, struct gs_competitor *all,
                           struct gs_error *error) {
    for (size_t i = 0; i < eval->checkpoint_count; i++) {
        struct gs_competitor *one = &all[i];
        one->path = eval->checkpoints[i];
        enum gs_status status = gs_eval_take(eval, i, error);
        if (status != GS_OK) return status;
        one->kind = gs_model_kind(eval->model);
        one->vocab = gs_model_vocab(eval->model);
        one->first = gs_model_first(eval->model);
        one->parameters = gs_model_parameters(eval->model)->count;
        snprintf(one->sha256, sizeof one->sha256, "%s", eval->info.sha256);
        if (one->vocab != all[0].vocab) return fail_vocabulary(&all[0], one, error);
        for (size_t k = 0; k < i; k++)
            if (strcmp(all[k].sha256, one->sha256) == 0) return fail_same(&all[k], one, error);
        status = gs_results_source(eval->results, one->path, one->sha256, error);
        if (status != GS_OK) return status;
    }
    return GS_OK;
}

enum gs_status gs_eval_take(struct gs_eval *eval, size_t index, struct gs_error *error) {
    gs_model_destroy(eval->model);
    eval->model = NULL;
    return gs_checkpoint_load(eval->checkpoints[index], &eval->model, &eval->info, error);
}

/* ---- what is reported of a pair ---- */

enum gs_status gs_eval_differences(struct gs_eval *eval, struct gs_table **table,
                                   struct gs_error *error) {
    static const char *const columns[] = {"measure", "model", "minus", "difference",
                                          "low",     "high",  "n"};
    return gs_results_table(eval->results, "differences", columns, 7, table, error);
}

enum gs_status gs_eval_difference(struct gs_eval *eval, struct gs_table *table, const char *name,
                                  const char *unit, size_t first, size_t second,
                                  const struct gs_difference *difference, struct gs_error *error) {
    char full[64];
    snprintf(full, sizeof full, "%s.%02zu.%02zu", name, first, second);
    enum gs_status status = gs_eval_value(eval->results, full, unit, difference->value,
                                          difference->limits, difference->n, NULL, error);
    if (status != GS_OK) return status;
    const struct gs_cell row[] = {gs_cell_text(name),
                                  gs_cell_integer((int64_t)first),
                                  gs_cell_integer((int64_t)second),
                                  gs_cell_number(difference->value),
                                  gs_cell_number(difference->limits.low),
                                  gs_cell_number(difference->limits.high),
                                  gs_cell_integer((int64_t)difference->n)};
    return gs_table_row(table, row, error);
}

/* ---- losses ---- */

static enum gs_status add_model(struct gs_eval *eval, struct gs_table *table, size_t index,
                                const struct gs_competitor *one, struct gs_error *error) {
    const struct gs_loss *loss = one->loss;
    char name[64];
    snprintf(name, sizeof name, "model.%02zu.loss", index);
    enum gs_status status = gs_eval_value(eval->results, name, "nat/token", loss->loss,
                                          loss->limits, loss->tokens, NULL, error);
    snprintf(name, sizeof name, "model.%02zu.perplexity", index);
    if (status == GS_OK)
        status = gs_eval_perplexity(eval->results, name, loss->loss, loss->limits, loss->tokens,
                                    NULL, error);
    if (status != GS_OK) return status;
    const struct gs_cell row[] = {
        gs_cell_integer((int64_t)index),   gs_cell_text(one->path),
        gs_cell_text(one->kind),           gs_cell_integer((int64_t)one->parameters),
        gs_cell_number(loss->loss),        gs_cell_number(loss->limits.low),
        gs_cell_number(loss->limits.high), gs_cell_number(loss->perplexity)};
    return gs_table_row(table, row, error);
}

static enum gs_status add_models(struct gs_eval *eval, const struct gs_competitor *all,
                                 struct gs_error *error) {
    static const char *const columns[] = {"model", "checkpoint", "kind", "parameters",
                                          "loss",  "low",        "high", "perplexity"};
    struct gs_table *table;
    enum gs_status status = gs_results_table(eval->results, "models", columns, 8, &table, error);
    for (size_t i = 0; i < eval->checkpoint_count && status == GS_OK; i++)
        status = add_model(eval, table, i, &all[i], error);
    return status;
}

static enum gs_status add_differences(struct gs_eval *eval, const struct gs_competitor *all,
                                      bool *documents, struct gs_error *error) {
    struct gs_table *table;
    enum gs_status status = gs_eval_differences(eval, &table, error);
    for (size_t i = 0; i < eval->checkpoint_count && status == GS_OK; i++)
        for (size_t k = i + 1; k < eval->checkpoint_count && status == GS_OK; k++) {
            struct gs_difference difference;
            status = gs_loss_difference(all[i].loss, all[k].loss, &difference, error);
            *documents = difference.documents;
            if (status == GS_OK)
                status = gs_eval_difference(eval, table, "difference", "nat/token", i, k,
                                            &difference, error);
        }
    return status;
}

/* One column a model. */
static enum gs_status add_positions(struct gs_eval *eval, const struct gs_competitor *all,
                                    struct gs_error *error) {
    const size_t count = eval->checkpoint_count;
    const struct gs_loss *loss = all[0].loss;
    char(*names)[32] = gs_calloc(count, sizeof *names);
    const char **columns = gs_calloc(count + 2, sizeof *columns);
    struct gs_cell *row = gs_calloc(count + 2, sizeof *row);
    struct gs_table *table;
    enum gs_status status = names && columns && row
                                ? GS_OK
                                : gs_fail_memory(error, count * sizeof *names, "a table's columns");
    if (status == GS_OK) {
        columns[0] = "position";
        columns[1] = "n";
        for (size_t i = 0; i < count; i++) {
            snprintf(names[i], sizeof names[i], "loss.%02zu", i);
            columns[i + 2] = names[i];
        }
        status =
            gs_results_table(eval->results, "loss_by_position", columns, count + 2, &table, error);
    }
    for (size_t t = loss->first; t < loss->windows.length && status == GS_OK; t++) {
        row[0] = gs_cell_integer((int64_t)t);
        row[1] = gs_cell_integer((int64_t)loss->windows.count);
        for (size_t i = 0; i < count; i++) row[i + 2] = gs_cell_number(all[i].loss->by_position[t]);
        status = gs_table_row(table, row, error);
    }
    gs_free(names);
    gs_free(columns);
    gs_free(row);
    return status;
}

static enum gs_status add_rates(struct gs_eval *eval, const struct gs_competitor *all,
                                const struct gs_tokens *tokens,
                                const struct gs_tokenizer *tokenizer, struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (size_t i = 0; i < eval->checkpoint_count && status == GS_OK; i++) {
        struct gs_text_rates rates;
        char name[64];
        snprintf(name, sizeof name, "model.%02zu.bits_per_byte", i);
        status = gs_evaluate_text_rates(all[i].loss, tokens, tokenizer, &rates, error);
        const double ln2 = log(2);
        struct gs_limits limits = rates.byte.limits;
        limits.low /= ln2;
        limits.high /= ln2;
        if (status == GS_OK)
            status = gs_eval_value(eval->results, name, "bit/byte", rates.byte.nats / ln2, limits,
                                   rates.amount.bytes,
                                   "the bytes of the predicted tokens are not "
                                   "known",
                                   error);
    }
    return status;
}

static enum gs_status add_notes(struct gs_eval *eval, const struct gs_competitor *all,
                                bool documents, struct gs_error *error) {
    const struct gs_loss *loss = all[0].loss;
    enum gs_status status = gs_results_number(eval->results, "tokens", (double)loss->tokens,
                                              "token", loss->tokens, error);
    if (status == GS_OK)
        status = gs_eval_note(eval->results, error,
                              "difference.NN.MM is the loss of model NN minus that of model MM: "
                              "negative where NN predicts better. Its 95 %% limits are over the "
                              "differences of %zu %s.",
                              documents ? loss->documents : (size_t)loss->windows.count,
                              documents ? "documents (ratio estimator)" : "windows (Student's t)");
    if (status == GS_OK && loss->first > 0)
        status = gs_eval_note(eval->results, error,
                              "Not every model predicts the positions below %zu of a window, so "
                              "those from %zu on count for all.",
                              loss->first, loss->first);
    return status == GS_OK ? gs_eval_windows(eval->results, loss, error) : status;
}

static enum gs_status report(struct gs_eval *eval, const struct gs_competitor *all,
                             const struct gs_tokens *tokens, const struct gs_tokenizer *tokenizer,
                             struct gs_error *error) {
    bool documents = false;
    enum gs_status status =
        gs_results_source(eval->results, eval->data, gs_tokens_sha256(tokens), error);
    if (status == GS_OK) status = add_models(eval, all, error);
    if (status == GS_OK && tokenizer) status = add_rates(eval, all, tokens, tokenizer, error);
    if (status == GS_OK) status = add_differences(eval, all, &documents, error);
    if (status == GS_OK) status = add_notes(eval, all, documents, error);
    if (status == GS_OK && tokenizer)
        status = gs_eval_note_tokenizer(eval, tokens, tokenizer, error);
    return status == GS_OK ? add_positions(eval, all, error) : status;
}

static enum gs_status compare_losses(struct gs_eval *eval, struct gs_competitor *all,
                                     struct gs_error *error) {
    struct gs_tokens *tokens;
    struct gs_tokenizer *tokenizer;
    struct gs_loss_options options = gs_eval_loss_options(eval);
    enum gs_status status = gs_eval_open(eval, all[0].vocab, &tokens, &tokenizer, error);
    for (size_t i = 0; i < eval->checkpoint_count; i++)
        if (all[i].first > options.first) options.first = all[i].first;
    for (size_t i = 0; i < eval->checkpoint_count && status == GS_OK; i++) {
        status = gs_eval_take(eval, i, error);
        if (status == GS_OK)
            status = gs_evaluate_loss(eval->model, tokens, &options, eval->call->progress,
                                      &all[i].loss, error);
        if (status == GS_NUMERIC) gs_error_where(error, "%s on %s", all[i].path, eval->data);
    }
    if (status == GS_OK) status = report(eval, all, tokens, tokenizer, error);
    gs_tokens_close(tokens);
    gs_tokenizer_destroy(tokenizer);
    return status;
}

/* ---- all of it ---- */

enum gs_status gs_eval_compare(struct gs_eval *eval, struct gs_error *error) {
    struct gs_competitor *all = gs_calloc(eval->checkpoint_count, sizeof *all);
    if (!all) return gs_fail_memory(error, eval->checkpoint_count * sizeof *all, "models");
    enum gs_status status = look(eval, all, error);
    if (status == GS_OK)
        status = eval->lambada ? gs_eval_compare_lambada(eval, all, error)
                               : compare_losses(eval, all, error);
    for (size_t i = 0; i < eval->checkpoint_count; i++) {
        gs_loss_destroy(all[i].loss);
        gs_lambada_destroy(all[i].lambada);
    }
    gs_free(all);
    return status;
}
