#include "probes/inspect/check.h"

#include "core/base/json.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/model_config.h"
#include "core/models/model.h"
#include "core/results/results.h"
#include "core/text/shard_folder.h"
#include "core/text/tokenizer.h"
#include "core/text/tokens.h"
#include "core/training/config.h"
#include "probes/inspect/check_arrays.h"
#include "probes/inspect/claims_file.h"
#include "probes/inspect/file_kind.h"
#include "probes/trace/reader.h"

#include <stdio.h>
#include <string.h>

static enum gs_status check_checkpoint(const char *path, char *summary, size_t size,
                                       struct gs_error *error) {
    struct gs_model *model;
    struct gs_checkpoint_info info; /* its numbers are checked where it is read */
    enum gs_status status = gs_checkpoint_load(path, &model, &info, error);
    if (status != GS_OK) return status;
    snprintf(summary, size, "a checkpoint of kind %s, %zu parameters", gs_model_kind(model),
             gs_model_parameters(model)->count);
    gs_model_destroy(model);
    return GS_OK;
}

static enum gs_status fail_incomplete(const struct gs_trace_info *info, struct gs_error *error) {
    uint64_t rows = 0;
    for (size_t i = 0; i < info->sequences; i++) rows += info->rows_written[i];
    gs_fail(error, GS_CHECK_FAILED, "the trace is not complete; its recording was cut short");
    gs_error_expected(error, "%llu rows and complete = 1", (unsigned long long)info->rows);
    gs_error_found(error, "%llu rows that are good", (unsigned long long)rows);
    gs_error_where(error, "%s", info->path);
    return GS_CHECK_FAILED;
}

static enum gs_status check_trace(const char *path, const struct gs_progress *progress,
                                  char *summary, size_t size, struct gs_error *error) {
    struct gs_trace *trace;
    enum gs_status status = gs_trace_open(path, &trace, error);
    if (status != GS_OK) return status;
    const struct gs_trace_info *info = gs_trace_info(trace);
    status = gs_trace_check(trace, progress, error);
    if (status == GS_OK && !info->complete) status = fail_incomplete(info, error);
    if (status == GS_OK)
        snprintf(summary, size, "a complete trace of %zu sequences, %llu rows, %zu state streams",
                 info->sequences, (unsigned long long)info->rows, info->stream_count);
    gs_trace_close(trace);
    return status;
}

static enum gs_status check_shards(const char *path, char *summary, size_t size,
                                   struct gs_error *error) {
    struct gs_tokens *tokens;
    enum gs_status status = gs_tokens_open(path, NULL, &tokens, error);
    if (status != GS_OK) return status;
    size_t vocab = gs_tokens_vocab(tokens), documents;
    gs_tokens_documents(tokens, &documents);
    if (vocab > 0) status = gs_tokens_check(tokens, vocab, error);
    if (status == GS_OK)
        snprintf(summary, size, "token shards of %llu tokens, %zu documents, vocabulary %zu",
                 (unsigned long long)gs_tokens_count(tokens), documents, vocab);
    gs_tokens_close(tokens);
    return status;
}

static enum gs_status check_ids(const char *path, char *summary, size_t size,
                                struct gs_error *error) {
    struct gs_shard shard;
    enum gs_status status = gs_shard_map(path, &shard, error);
    if (status != GS_OK) return status;
    snprintf(summary, size, "%llu token ids", (unsigned long long)shard.count);
    gs_file_unmap(&shard.file);
    return GS_OK;
}

/* The keys of the run, then the model that they describe. */
static enum gs_status check_config(const char *path, char *summary, size_t size,
                                   struct gs_error *error) {
    struct gs_training_config *config;
    struct gs_model *model = NULL;
    enum gs_status status = gs_training_config_read(path, NULL, &config, error);
    if (status != GS_OK) return status;
    status = gs_model_outline_from_config(config->object, path, &model, error);
    if (status == GS_OK)
        snprintf(summary, size, "a config \"%s\" of kind %s, %zu parameters", config->name,
                 gs_model_kind(model), gs_model_parameters(model)->count);
    gs_model_destroy(model);
    gs_training_config_destroy(config);
    return status;
}

static enum gs_status check_tokenizer(const char *path, char *summary, size_t size,
                                      struct gs_error *error) {
    struct gs_tokenizer *tokenizer;
    enum gs_status status = gs_tokenizer_load(path, &tokenizer, error);
    if (status != GS_OK) return status;
    snprintf(summary, size, "a tokenizer of %zu pieces", gs_tokenizer_size(tokenizer));
    gs_tokenizer_destroy(tokenizer);
    return GS_OK;
}

static enum gs_status check_results(const char *path, char *summary, size_t size,
                                    struct gs_error *error) {
    struct gs_results *results;
    enum gs_status status = gs_results_read(path, &results, error);
    if (status != GS_OK) return status;
    snprintf(summary, size, "results of \"%s\", %zu values, %zu tables",
             gs_results_command(results), gs_results_count(results),
             gs_results_table_count(results));
    gs_results_destroy(results);
    return GS_OK;
}

static enum gs_status check_claims(const char *path, char *summary, size_t size,
                                   struct gs_error *error) {
    struct gs_json *json;
    enum gs_status status = gs_claims_file_read(path, &json, error);
    if (status != GS_OK) return status;
    snprintf(summary, size, "%zu claims", gs_json_size(gs_json_get(json, "claims")));
    gs_json_destroy(json);
    return GS_OK;
}

static enum gs_status check_json(const char *path, char *summary, size_t size,
                                 struct gs_error *error) {
    struct gs_json *json;
    enum gs_status status = gs_json_read_file(path, &json, error);
    if (status != GS_OK) return status;
    gs_json_destroy(json);
    snprintf(summary, size, "JSON");
    gs_fail(error, GS_FORMAT, "JSON that is neither a config nor results");
    gs_error_expected(error, "the keys model and training, or schema");
    gs_error_where(error, "%s", path);
    return GS_FORMAT;
}

enum gs_status gs_check_file(const char *path, const struct gs_progress *progress, char *summary,
                             size_t size, struct gs_error *error) {
    enum gs_file_kind kind;
    enum gs_status status = gs_file_recognise(path, &kind, error);
    if (status != GS_OK) return status;
    switch (kind) {
    case GS_KIND_SAFETENSORS:
    case GS_KIND_PICKLED:
        return check_checkpoint(path, summary, size, error);
    case GS_KIND_TRACE:
    case GS_KIND_HDF5:
        return check_trace(path, progress, summary, size, error);
    case GS_KIND_SHARDS:
        return check_shards(path, summary, size, error);
    case GS_KIND_IDS:
        return check_ids(path, summary, size, error);
    case GS_KIND_CONFIG:
        return check_config(path, summary, size, error);
    case GS_KIND_ARRAYS:
        return gs_check_arrays(path, progress, summary, size, error);
    case GS_KIND_CLAIMS:
        return check_claims(path, summary, size, error);
    case GS_KIND_RESULTS:
        return check_results(path, summary, size, error);
    case GS_KIND_JSON:
        return check_json(path, summary, size, error);
    case GS_KIND_TOKENIZER:
        break;
    }
    return check_tokenizer(path, summary, size, error);
}
