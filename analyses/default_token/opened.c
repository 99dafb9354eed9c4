#include "analyses/default_token/opened.h"

#include "core/base/memory.h"
#include "core/checkpoint/checkpoint.h"
#include "core/text/tokens.h"

#include <string.h>

void gs_default_close(struct gs_default_opened *o) {
    gs_runner_destroy(o->runner);
    gs_model_destroy(o->model);
    gs_tokenizer_destroy(o->tokenizer);
    gs_free(o->counts);
}

/* ---- do they belong together? -----------------------------------------------------------------
 */

static enum gs_status differ(const struct gs_default_opened *o, const char *what,
                             const char *expected, const char *found, const char *path,
                             struct gs_error *error) {
    gs_fail(error, GS_CONFIG, "%s is not the one that the trace was made with", what);
    gs_error_expected(error, "%s (recorded in %s)", expected, o->info->path);
    gs_error_found(error, "%s", found);
    gs_error_where(error, "%s", path);
    gs_error_next(error, "give the trace's own, or record a new trace with this one");
    return GS_CONFIG;
}

static enum gs_status check_vocabulary(const struct gs_default_opened *o, const char *checkpoint,
                                       struct gs_error *error) {
    size_t vocab = gs_model_vocab(o->model);
    if (o->info->vocab == 0 || o->info->vocab == vocab) return GS_OK;
    gs_fail(error, GS_CONFIG, "trace and checkpoint have different vocabularies");
    gs_error_expected(error, "%zu tokens (the config in %s)", o->info->vocab, o->info->path);
    gs_error_found(error, "%zu", vocab);
    gs_error_where(error, "%s", checkpoint);
    return GS_CONFIG;
}

static enum gs_status load_model(struct gs_default_opened *o, const char *path,
                                 struct gs_results *results, struct gs_error *error) {
    struct gs_checkpoint_info info;
    enum gs_status status = gs_checkpoint_load(path, &o->model, &info, error);
    if (status != GS_OK) return status;
    const char *recorded = o->info->checkpoint_sha256;
    if (recorded && recorded[0] && strcmp(recorded, info.sha256) != 0)
        return differ(o, "this checkpoint", recorded, info.sha256, path, error);
    status = check_vocabulary(o, path, error);
    if (status == GS_OK) status = gs_results_source(results, path, info.sha256, error);
    if (status == GS_OK && !(recorded && recorded[0]))
        status = gs_results_note(results,
                                 "default token: the trace does not record its checkpoint's hash; "
                                 "that they belong together is taken on trust",
                                 error);
    if (status != GS_OK) return status;
    struct gs_runner_options options = {
        .batch = 1, .steps = 1, .bf16 = o->info->weights && strcmp(o->info->weights, "bf16") == 0};
    return gs_runner_create(o->model, &options, &o->runner, error);
}

static enum gs_status load_tokenizer(struct gs_default_opened *o, const char *path,
                                     struct gs_results *results, struct gs_error *error) {
    if (!path) return GS_OK;
    enum gs_status status = gs_tokenizer_load(path, &o->tokenizer, error);
    if (status != GS_OK) return status;
    const char *recorded = o->info->tokenizer_sha256, *found = gs_tokenizer_sha256(o->tokenizer);
    if (recorded && recorded[0] && strcmp(recorded, found) != 0)
        return differ(o, "this tokenizer", recorded, found, path, error);
    size_t pieces = gs_tokenizer_size(o->tokenizer), vocab = gs_model_vocab(o->model);
    if (pieces <= vocab) return gs_results_source(results, path, found, error);
    gs_fail(error, GS_CONFIG, "the tokenizer has more pieces than the model has tokens");
    gs_error_expected(error, "at most %zu", vocab);
    gs_error_found(error, "%zu", pieces);
    gs_error_where(error, "%s", path);
    return GS_CONFIG;
}

/* ---- counts --------------------------------------------------------------------------------- */

static enum gs_status count_data(struct gs_default_opened *o, const char *path,
                                 const char *tokenizer, struct gs_results *results,
                                 struct gs_error *error) {
    struct gs_tokens *tokens;
    enum gs_status status = gs_tokens_open(path, tokenizer, &tokens, error);
    if (status != GS_OK) return status;
    status = gs_tokens_histogram(tokens, gs_model_vocab(o->model), o->counts, error);
    if (status == GS_OK) status = gs_results_source(results, path, gs_tokens_sha256(tokens), error);
    gs_tokens_close(tokens);
    return status;
}

static enum gs_status count_stretch(struct gs_default_opened *o, uint64_t first, size_t count,
                                    uint32_t *ids, struct gs_error *error) {
    enum gs_status status = gs_trace_read_token(o->trace, first, count, ids, error);
    size_t vocab = gs_model_vocab(o->model);
    for (size_t i = 0; status == GS_OK && i < count; i++) {
        if (ids[i] < vocab) {
            o->counts[ids[i]]++;
            continue;
        }
        status = gs_fail(error, GS_RANGE, "a token lies outside the model's vocabulary");
        gs_error_expected(error, "below %zu", vocab);
        gs_error_found(error, "%lu", (unsigned long)ids[i]);
        gs_error_where(error, "%s, /token, row %llu", o->info->path, (unsigned long long)first + i);
    }
    return status;
}

static enum gs_status count_trace(struct gs_default_opened *o, struct gs_error *error) {
    enum { STRETCH = 1 << 16 };
    uint32_t *ids = gs_calloc(STRETCH, sizeof *ids);
    if (!ids) return gs_fail_memory(error, STRETCH * sizeof *ids, "tokens");
    enum gs_status status = GS_OK;
    for (size_t s = 0; status == GS_OK && s < o->info->sequences; s++)
        for (uint64_t at = 0; status == GS_OK && at < o->info->rows_written[s]; at += STRETCH) {
            uint64_t left = o->info->rows_written[s] - at;
            status = count_stretch(o, o->info->start[s] + at,
                                   left < STRETCH ? (size_t)left : STRETCH, ids, error);
        }
    gs_free(ids);
    return status;
}

static enum gs_status find_counts(struct gs_default_opened *o, const char *data,
                                  const char *tokenizer, struct gs_results *results,
                                  struct gs_error *error) {
    if (!data && !o->info->has_token) return GS_OK;
    size_t vocab = gs_model_vocab(o->model);
    o->counts = gs_calloc(vocab, sizeof *o->counts);
    if (!o->counts) return gs_fail_memory(error, vocab * sizeof *o->counts, "unigram counts");
    if (data) return count_data(o, data, tokenizer, results, error);
    enum gs_status status = count_trace(o, error);
    if (status != GS_OK) return status;
    return gs_results_note(
        results,
        "default token: no --counts given: unigram counts are of the trace's own "
        "tokens, a small and different text than what the model was trained on",
        error);
}

/* ---- the whole ------------------------------------------------------------------------------ */

enum gs_status gs_default_open(struct gs_trace *trace, const struct gs_default_inputs *inputs,
                               struct gs_default_opened *o, struct gs_results *results,
                               struct gs_error *error) {
    *o = (struct gs_default_opened){.trace = trace, .info = gs_trace_info(trace)};
    enum gs_status status = gs_rows_note_incomplete(trace, results, error);
    if (status == GS_OK) status = load_model(o, inputs->checkpoint, results, error);
    if (status == GS_OK) status = load_tokenizer(o, inputs->tokenizer, results, error);
    if (status == GS_OK) status = find_counts(o, inputs->counts, inputs->tokenizer, results, error);
    return status;
}
