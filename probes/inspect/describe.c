#include "probes/inspect/describe.h"

#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/model_config.h"
#include "core/checkpoint/tensor_file.h"
#include "core/models/model.h"
#include "core/text/shard_folder.h"
#include "core/text/tokenizer.h"
#include "core/text/tokens.h"
#include "core/training/config.h"
#include "probes/inspect/file_kind.h"
#include "probes/inspect/sheet.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- tensors ---- */

static const char *const tensor_columns[] = {"name", "shape", "count", "norm"};

/* Euclidean norm, summed in double. */
static double norm_of(const float *values, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += (double)values[i] * (double)values[i];
    return sqrt(sum);
}

static void tensor_row(struct gs_sheet *sheet, struct gs_table *to, const char *name,
                       const size_t *shape, size_t rank, size_t count, struct gs_cell norm) {
    char text[128];
    gs_sheet_shape(shape, rank, text, sizeof text);
    struct gs_cell cells[4] = {gs_cell_text(name), gs_cell_text(text),
                               gs_cell_integer((int64_t)count), norm};
    gs_sheet_row(sheet, to, cells);
}

static void parameter_facts(struct gs_sheet *sheet, const struct gs_model *model, bool values) {
    const struct gs_parameters *parameters = gs_model_parameters(model);
    char count[64];
    snprintf(count, sizeof count, "%zu (%.4g M)", parameters->count,
             (double)parameters->count / 1e6);
    gs_sheet_text(sheet, "model", gs_model_kind(model));
    gs_sheet_text(sheet, "parameters", count);
    struct gs_json *config = gs_model_config(model);
    char *text = config ? gs_json_text(config, 0) : NULL;
    gs_sheet_text(sheet, "config", text);
    gs_free(text);
    gs_json_destroy(config);
    struct gs_table *tensors = gs_sheet_table(sheet, "tensors", tensor_columns, 4);
    for (size_t i = 0; i < parameters->tensor_count; i++) {
        const struct gs_tensor *tensor = &parameters->tensors[i];
        struct gs_cell norm = gs_cell_text(NULL);
        if (values) norm = gs_cell_number(norm_of(tensor->values, tensor->count));
        tensor_row(sheet, tensors, tensor->name, tensor->shape, tensor->rank, tensor->count, norm);
    }
}

static void foreign_row(struct gs_sheet *sheet, struct gs_table *to, struct gs_tensor_file *file,
                        const struct gs_stored_tensor *tensor) {
    struct gs_cell norm = gs_cell_text(NULL);
    float *values = gs_calloc(tensor->count, sizeof *values);
    if (values && gs_tensor_file_read(file, tensor, values, NULL) == GS_OK)
        norm = gs_cell_number(norm_of(values, tensor->count));
    gs_free(values);
    if (tensor->is_tensor) {
        tensor_row(sheet, to, tensor->name, tensor->shape, tensor->rank, tensor->count, norm);
        return;
    }
    struct gs_cell cells[4] = {gs_cell_text(tensor->name), gs_cell_text(tensor->type),
                               gs_cell_text(NULL), gs_cell_text(NULL)};
    gs_sheet_row(sheet, to, cells);
}

/* Tensors of something that is no model of ours. */
static void foreign_tensors(struct gs_sheet *sheet, const char *path, const char *reason) {
    struct gs_tensor_file *file;
    char *of_folder = NULL;
    sheet->status = gs_checkpoint_file(path, &of_folder, sheet->error);
    if (sheet->status == GS_OK)
        sheet->status = gs_tensor_file_open(of_folder, NULL, &file, sheet->error);
    gs_free(of_folder);
    if (sheet->status != GS_OK) return;
    gs_sheet_text(sheet, "format", gs_tensor_file_format(file));
    gs_sheet_text(sheet, "model", "none of the known kinds");
    gs_sheet_text(sheet, "reason", reason);
    struct gs_table *tensors = gs_sheet_table(sheet, "tensors", tensor_columns, 4);
    for (size_t i = 0; i < gs_tensor_file_count(file); i++)
        foreign_row(sheet, tensors, file, gs_tensor_file_at(file, i));
    gs_tensor_file_close(file);
}

static void describe_checkpoint(struct gs_sheet *sheet, const char *path) {
    struct gs_model *model;
    struct gs_checkpoint_info info;
    struct gs_error reason;
    char text[1024];
    if (gs_checkpoint_load(path, &model, &info, &reason) != GS_OK) {
        foreign_tensors(sheet, path, gs_error_text(&reason, text, sizeof text));
        return;
    }
    gs_sheet_text(sheet, "format", info.format);
    gs_sheet_text(sheet, "config_source", info.config_source);
    if (info.step >= 0) gs_sheet_whole(sheet, "step", info.step);
    if (info.seed >= 0) gs_sheet_whole(sheet, "seed", info.seed);
    gs_sheet_text(sheet, "sha256", info.sha256);
    parameter_facts(sheet, model, true);
    gs_model_destroy(model);
}

static void describe_config(struct gs_sheet *sheet, const char *path) {
    struct gs_training_config *config;
    struct gs_model *model;
    sheet->status = gs_training_config_read(path, NULL, &config, sheet->error);
    if (sheet->status != GS_OK) return;
    gs_sheet_text(sheet, "name", config->name);
    gs_sheet_text(sheet, "data", config->data);
    gs_sheet_whole(sheet, "total_steps", (int64_t)config->total_steps);
    gs_sheet_whole(sheet, "tokens_per_step",
                   (int64_t)(config->batch_size * config->grad_accum * config->seq_len));
    if (sheet->status == GS_OK)
        sheet->status = gs_model_outline_from_config(config->object, path, &model, sheet->error);
    if (sheet->status == GS_OK) {
        parameter_facts(sheet, model, false);
        gs_model_destroy(model);
    }
    gs_training_config_destroy(config);
}

/* ---- tokens, tokenizers, results ---- */

static void describe_shards(struct gs_sheet *sheet, const char *path) {
    struct gs_tokens *tokens;
    size_t documents;
    sheet->status = gs_tokens_open(path, NULL, &tokens, sheet->error);
    if (sheet->status != GS_OK) return;
    gs_tokens_documents(tokens, &documents);
    gs_sheet_whole(sheet, "tokens", (int64_t)gs_tokens_count(tokens));
    gs_sheet_whole(sheet, "documents", (int64_t)documents);
    gs_sheet_whole(sheet, "vocab_size", (int64_t)gs_tokens_vocab(tokens));
    gs_sheet_text(sheet, "sha256", gs_tokens_sha256(tokens));
    gs_tokens_close(tokens);
}

static void describe_ids(struct gs_sheet *sheet, const char *path) {
    struct gs_shard shard;
    uint32_t largest = 0;
    sheet->status = gs_shard_map(path, &shard, sheet->error);
    if (sheet->status != GS_OK) return;
    for (size_t i = 0; i < shard.file.size; i += 4) {
        const unsigned char *b = shard.file.bytes + i;
        uint32_t id =
            (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
        if (id > largest) largest = id;
    }
    gs_sheet_whole(sheet, "tokens", (int64_t)shard.count);
    gs_sheet_whole(sheet, "largest_id", largest);
    gs_file_unmap(&shard.file);
}

static void describe_tokenizer(struct gs_sheet *sheet, const char *path) {
    struct gs_tokenizer *tokenizer;
    sheet->status = gs_tokenizer_load(path, &tokenizer, sheet->error);
    if (sheet->status != GS_OK) return;
    gs_sheet_whole(sheet, "pieces", (int64_t)gs_tokenizer_size(tokenizer));
    gs_sheet_whole(sheet, "bos", gs_tokenizer_bos(tokenizer));
    gs_sheet_whole(sheet, "eos", gs_tokenizer_eos(tokenizer));
    gs_sheet_text(sheet, "sha256", gs_tokenizer_sha256(tokenizer));
    gs_tokenizer_destroy(tokenizer);
}

static void describe_results(struct gs_sheet *sheet, const char *path) {
    static const char *const value_columns[] = {"name", "value", "unit", "n", "status"};
    static const char *const table_columns[] = {"name", "columns", "rows"};
    struct gs_results *read;
    sheet->status = gs_results_read(path, &read, sheet->error);
    if (sheet->status != GS_OK) return;
    gs_sheet_text(sheet, "command", gs_results_command(read));
    struct gs_table *to = gs_sheet_table(sheet, "values", value_columns, 5);
    for (size_t i = 0; i < gs_results_count(read); i++) {
        struct gs_value value;
        const char *name = gs_results_name_at(read, i);
        if (!gs_results_find(read, name, &value)) continue;
        gs_sheet_row(sheet, to,
                     (struct gs_cell[]){gs_cell_text(name), gs_cell_number(value.value),
                                        gs_cell_text(value.unit), gs_cell_integer((int64_t)value.n),
                                        gs_cell_text(value.status)});
    }
    to = gs_sheet_table(sheet, "tables", table_columns, 3);
    for (size_t i = 0; i < gs_results_table_count(read); i++) {
        const struct gs_table *of = gs_results_table_at(read, i);
        gs_sheet_row(sheet, to,
                     (struct gs_cell[]){gs_cell_text(gs_table_name(of)),
                                        gs_cell_integer((int64_t)gs_table_columns(of)),
                                        gs_cell_integer((int64_t)gs_table_rows(of))});
    }
    gs_results_destroy(read);
}

/* JSON of no kind we know, or broken: say why. */
static void describe_json(struct gs_sheet *sheet, const char *path) {
    struct gs_json *json;
    sheet->status = gs_json_read_file(path, &json, sheet->error);
    if (sheet->status != GS_OK) return;
    gs_sheet_whole(sheet, "members", (int64_t)gs_json_size(json));
    gs_json_destroy(json);
}

static void describe(struct gs_sheet *sheet, const char *path, enum gs_file_kind kind) {
    switch (kind) {
    case GS_KIND_SAFETENSORS:
    case GS_KIND_PICKLED:
        describe_checkpoint(sheet, path);
        break;
    case GS_KIND_TRACE:
        gs_describe_trace(sheet, path);
        break;
    case GS_KIND_HDF5:
        gs_describe_hdf5(sheet, path);
        break;
    case GS_KIND_ARRAYS:
        gs_describe_arrays(sheet, path);
        break;
    case GS_KIND_CLAIMS:
        gs_describe_claims(sheet, path);
        break;
    case GS_KIND_SHARDS:
        describe_shards(sheet, path);
        break;
    case GS_KIND_IDS:
        describe_ids(sheet, path);
        break;
    case GS_KIND_CONFIG:
        describe_config(sheet, path);
        break;
    case GS_KIND_RESULTS:
        describe_results(sheet, path);
        break;
    case GS_KIND_JSON:
        describe_json(sheet, path);
        break;
    case GS_KIND_TOKENIZER:
        describe_tokenizer(sheet, path);
        break;
    }
}

enum gs_status gs_describe_file(const char *path, struct gs_results **results,
                                struct gs_error *error) {
    static const char *const columns[] = {"name", "value"};
    enum gs_file_kind kind;
    *results = NULL;
    enum gs_status status = gs_file_recognise(path, &kind, error);
    if (status != GS_OK) return status;
    struct gs_sheet sheet = {.results = gs_results_create("info"), .error = error};
    if (!sheet.results) return gs_fail_memory(error, 0, "results");
    sheet.facts = gs_sheet_table(&sheet, "facts", columns, 2);
    gs_sheet_text(&sheet, "file", path);
    gs_sheet_text(&sheet, "kind", gs_file_kind_name(kind));
    if (sheet.status == GS_OK) describe(&sheet, path, kind);
    if (sheet.status != GS_OK) {
        gs_results_destroy(sheet.results);
        return sheet.status;
    }
    *results = sheet.results;
    return GS_OK;
}
