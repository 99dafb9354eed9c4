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
#include "probes/trace/hdf5_file.h"
#include "probes/trace/reader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Results being filled; after a failure further calls do nothing. */
struct sheet {
    struct gs_results *results;
    struct gs_table *facts;
    enum gs_status status;
    struct gs_error *error;
};

static void fact(struct sheet *sheet, const char *name, struct gs_cell value) {
    struct gs_cell cells[2] = {gs_cell_text(name), value};
    if (sheet->status == GS_OK) sheet->status = gs_table_row(sheet->facts, cells, sheet->error);
}

/* A text that may be absent. */
static void text_fact(struct sheet *sheet, const char *name, const char *text) {
    if (text && text[0]) fact(sheet, name, gs_cell_text(text));
}

static void whole_fact(struct sheet *sheet, const char *name, int64_t number) {
    fact(sheet, name, gs_cell_integer(number));
}

static struct gs_table *table(struct sheet *sheet, const char *name, const char *const *columns,
                              size_t count) {
    struct gs_table *made = NULL;
    if (sheet->status == GS_OK)
        sheet->status = gs_results_table(sheet->results, name, columns, count, &made, sheet->error);
    return made;
}

static void row(struct sheet *sheet, struct gs_table *to, const struct gs_cell *cells) {
    if (sheet->status == GS_OK) sheet->status = gs_table_row(to, cells, sheet->error);
}

/* ---- tensors ---- */

static const char *const tensor_columns[] = {"name", "shape", "count", "norm"};

static void shape_text(const size_t *shape, size_t rank, char *text, size_t size) {
    size_t used = 0;
    snprintf(text, size, "scalar");
    for (size_t axis = 0; axis < rank && used < size; axis++)
        used += (size_t)snprintf(text + used, size - used, "%s%zu", axis ? " x " : "", shape[axis]);
}

/* Euclidean norm, summed in double. */
static double norm_of(const float *values, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += (double)values[i] * (double)values[i];
    return sqrt(sum);
}

static void tensor_row(struct sheet *sheet, struct gs_table *to, const char *name,
                       const size_t *shape, size_t rank, size_t count, struct gs_cell norm) {
    char text[128];
    shape_text(shape, rank, text, sizeof text);
    struct gs_cell cells[4] = {gs_cell_text(name), gs_cell_text(text),
                               gs_cell_integer((int64_t)count), norm};
    row(sheet, to, cells);
}

static void parameter_facts(struct sheet *sheet, const struct gs_model *model, bool values) {
    const struct gs_parameters *parameters = gs_model_parameters(model);
    char count[64];
    snprintf(count, sizeof count, "%zu (%.4g M)", parameters->count,
             (double)parameters->count / 1e6);
    text_fact(sheet, "model", gs_model_kind(model));
    text_fact(sheet, "parameters", count);
    struct gs_json *config = gs_model_config(model);
    char *text = config ? gs_json_text(config, 0) : NULL;
    text_fact(sheet, "config", text);
    gs_free(text);
    gs_json_destroy(config);
    struct gs_table *tensors = table(sheet, "tensors", tensor_columns, 4);
    for (size_t i = 0; i < parameters->tensor_count; i++) {
        const struct gs_tensor *tensor = &parameters->tensors[i];
        struct gs_cell norm = gs_cell_text(NULL);
        if (values) norm = gs_cell_number(norm_of(tensor->values, tensor->count));
        tensor_row(sheet, tensors, tensor->name, tensor->shape, tensor->rank, tensor->count, norm);
    }
}

static void foreign_row(struct sheet *sheet, struct gs_table *to, struct gs_tensor_file *file,
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
    row(sheet, to, cells);
}

/* Tensors of something that is no model of ours. */
static void foreign_tensors(struct sheet *sheet, const char *path, const char *reason) {
    struct gs_tensor_file *file;
    char *of_folder = NULL;
    sheet->status = gs_checkpoint_file(path, &of_folder, sheet->error);
    if (sheet->status == GS_OK)
        sheet->status = gs_tensor_file_open(of_folder, NULL, &file, sheet->error);
    gs_free(of_folder);
    if (sheet->status != GS_OK) return;
    text_fact(sheet, "format", gs_tensor_file_format(file));
    text_fact(sheet, "model", "none of the known kinds");
    text_fact(sheet, "reason", reason);
    struct gs_table *tensors = table(sheet, "tensors", tensor_columns, 4);
    for (size_t i = 0; i < gs_tensor_file_count(file); i++)
        foreign_row(sheet, tensors, file, gs_tensor_file_at(file, i));
    gs_tensor_file_close(file);
}

static void describe_checkpoint(struct sheet *sheet, const char *path) {
    struct gs_model *model;
    struct gs_checkpoint_info info;
    struct gs_error reason;
    char text[1024];
    if (gs_checkpoint_load(path, &model, &info, &reason) != GS_OK) {
        foreign_tensors(sheet, path, gs_error_text(&reason, text, sizeof text));
        return;
    }
    text_fact(sheet, "format", info.format);
    text_fact(sheet, "config_source", info.config_source);
    if (info.step >= 0) whole_fact(sheet, "step", info.step);
    if (info.seed >= 0) whole_fact(sheet, "seed", info.seed);
    text_fact(sheet, "sha256", info.sha256);
    parameter_facts(sheet, model, true);
    gs_model_destroy(model);
}

static void describe_config(struct sheet *sheet, const char *path) {
    struct gs_training_config *config;
    struct gs_model *model;
    sheet->status = gs_training_config_read(path, NULL, &config, sheet->error);
    if (sheet->status != GS_OK) return;
    text_fact(sheet, "name", config->name);
    text_fact(sheet, "data", config->data);
    whole_fact(sheet, "total_steps", (int64_t)config->total_steps);
    whole_fact(sheet, "tokens_per_step",
               (int64_t)(config->batch_size * config->grad_accum * config->seq_len));
    if (sheet->status == GS_OK)
        sheet->status = gs_model_from_config(config->object, path, &model, sheet->error);
    if (sheet->status == GS_OK) {
        parameter_facts(sheet, model, false);
        gs_model_destroy(model);
    }
    gs_training_config_destroy(config);
}

/* ---- traces ---- */

static void trace_labels(struct sheet *sheet, const struct gs_trace_info *info) {
    uint64_t rows = 0;
    for (size_t i = 0; i < info->sequences; i++) rows += info->rows_written[i];
    whole_fact(sheet, "version", info->version);
    text_fact(sheet, "complete", info->complete ? "yes" : "no: its recording was cut short");
    whole_fact(sheet, "sequences", (int64_t)info->sequences);
    whole_fact(sheet, "rows", (int64_t)info->rows);
    whole_fact(sheet, "rows_written", (int64_t)rows);
    text_fact(sheet, "token", info->has_token ? "yes" : "no");
    text_fact(sheet, "nll", info->has_nll ? "yes" : "no");
    if (info->has_nll) whole_fact(sheet, "nll_first", (int64_t)info->nll_first);
    text_fact(sheet, "names", info->has_names ? "yes" : "no");
    text_fact(sheet, "model", info->model);
    text_fact(sheet, "config", info->config);
    text_fact(sheet, "weights", info->weights);
    if (info->step >= 0) whole_fact(sheet, "step", info->step);
    if (info->seed >= 0) whole_fact(sheet, "seed", info->seed);
    if (info->threads >= 0) whole_fact(sheet, "threads", info->threads);
    text_fact(sheet, "blas_core", info->blas_core);
    text_fact(sheet, "creator", info->creator);
    text_fact(sheet, "command", info->command);
    text_fact(sheet, "created", info->created);
    text_fact(sheet, "checkpoint_sha256", info->checkpoint_sha256);
    text_fact(sheet, "tokenizer_sha256", info->tokenizer_sha256);
    text_fact(sheet, "source_sha256", info->source_sha256);
}

static void trace_tables(struct sheet *sheet, const struct gs_trace_info *info) {
    static const char *const stream_columns[] = {"name", "width", "dtype"};
    static const char *const memory_columns[] = {"name",      "rule",           "heads",
                                                 "log_decay", "write_strength", "norm"};
    static const char *const read_columns[] = {"name", "layers"};
    struct gs_table *to = table(sheet, "streams", stream_columns, 3);
    for (size_t i = 0; i < info->stream_count; i++)
        row(sheet, to,
            (struct gs_cell[]){gs_cell_text(info->streams[i].name),
                               gs_cell_integer((int64_t)info->streams[i].width),
                               gs_cell_text(info->streams[i].dtype)});
    if (info->memory_count) to = table(sheet, "memories", memory_columns, 6);
    for (size_t i = 0; i < info->memory_count; i++) {
        const struct gs_trace_memory *memory = &info->memories[i];
        struct gs_cell cells[6] = {gs_cell_text(memory->name),
                                   gs_cell_text(memory->rule[0] ? memory->rule : NULL),
                                   gs_cell_integer((int64_t)memory->heads)};
        for (size_t field = 0; field < GS_MEMORY_FIELDS; field++)
            cells[3 + field] = gs_cell_text(memory->has[field] ? "yes" : "no");
        row(sheet, to, cells);
    }
    if (info->read_count) to = table(sheet, "reads", read_columns, 2);
    for (size_t i = 0; i < info->read_count; i++)
        row(sheet, to,
            (struct gs_cell[]){gs_cell_text(info->reads[i].name),
                               gs_cell_integer((int64_t)info->reads[i].layers)});
}

static void describe_trace(struct sheet *sheet, const char *path) {
    struct gs_trace *trace;
    sheet->status = gs_trace_open(path, &trace, sheet->error);
    if (sheet->status != GS_OK) return;
    trace_labels(sheet, gs_trace_info(trace));
    trace_tables(sheet, gs_trace_info(trace));
    gs_trace_close(trace);
}

/* Another HDF5 file: its root's members. */
static void describe_hdf5(struct sheet *sheet, const char *path) {
    static const char *const columns[] = {"name", "type", "shape"};
    struct gs_h5 *file;
    char **names = NULL;
    size_t count = 0;
    sheet->status = gs_h5_open(path, &file, sheet->error);
    if (sheet->status != GS_OK) return;
    sheet->status = gs_h5_members(file, "/", &names, &count, sheet->error);
    struct gs_table *to = table(sheet, "members", columns, 3);
    for (size_t i = 0; i < count; i++) {
        struct gs_h5_data *data = NULL;
        char shape[128] = "";
        struct gs_cell cells[3] = {gs_cell_text(names[i]), gs_cell_text("group"),
                                   gs_cell_text(NULL)};
        if (gs_h5_data_open(file, names[i], &data, NULL) == GS_OK) {
            const struct gs_h5_shape *of = gs_h5_data_shape(data);
            shape_text(of->dims, of->rank, shape, sizeof shape);
            cells[1] = gs_cell_text(of->type_name);
            cells[2] = gs_cell_text(shape);
        }
        row(sheet, to, cells);
        gs_h5_data_close(data);
    }
    gs_free_names(names, count);
    gs_h5_close(file, NULL);
}

/* ---- tokens, tokenizers, results ---- */

static void describe_shards(struct sheet *sheet, const char *path) {
    struct gs_tokens *tokens;
    size_t documents;
    sheet->status = gs_tokens_open(path, NULL, &tokens, sheet->error);
    if (sheet->status != GS_OK) return;
    gs_tokens_documents(tokens, &documents);
    whole_fact(sheet, "tokens", (int64_t)gs_tokens_count(tokens));
    whole_fact(sheet, "documents", (int64_t)documents);
    whole_fact(sheet, "vocab_size", (int64_t)gs_tokens_vocab(tokens));
    text_fact(sheet, "sha256", gs_tokens_sha256(tokens));
    gs_tokens_close(tokens);
}

static void describe_ids(struct sheet *sheet, const char *path) {
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
    whole_fact(sheet, "tokens", (int64_t)shard.count);
    whole_fact(sheet, "largest_id", largest);
    gs_file_unmap(&shard.file);
}

static void describe_tokenizer(struct sheet *sheet, const char *path) {
    struct gs_tokenizer *tokenizer;
    sheet->status = gs_tokenizer_load(path, &tokenizer, sheet->error);
    if (sheet->status != GS_OK) return;
    whole_fact(sheet, "pieces", (int64_t)gs_tokenizer_size(tokenizer));
    whole_fact(sheet, "bos", gs_tokenizer_bos(tokenizer));
    whole_fact(sheet, "eos", gs_tokenizer_eos(tokenizer));
    text_fact(sheet, "sha256", gs_tokenizer_sha256(tokenizer));
    gs_tokenizer_destroy(tokenizer);
}

static void describe_results(struct sheet *sheet, const char *path) {
    static const char *const value_columns[] = {"name", "value", "unit", "n", "status"};
    static const char *const table_columns[] = {"name", "columns", "rows"};
    struct gs_results *read;
    sheet->status = gs_results_read(path, &read, sheet->error);
    if (sheet->status != GS_OK) return;
    text_fact(sheet, "command", gs_results_command(read));
    struct gs_table *to = table(sheet, "values", value_columns, 5);
    for (size_t i = 0; i < gs_results_count(read); i++) {
        struct gs_value value;
        const char *name = gs_results_name_at(read, i);
        if (!gs_results_find(read, name, &value)) continue;
        row(sheet, to,
            (struct gs_cell[]){gs_cell_text(name), gs_cell_number(value.value),
                               gs_cell_text(value.unit), gs_cell_integer((int64_t)value.n),
                               gs_cell_text(value.status)});
    }
    to = table(sheet, "tables", table_columns, 3);
    for (size_t i = 0; i < gs_results_table_count(read); i++) {
        const struct gs_table *of = gs_results_table_at(read, i);
        row(sheet, to,
            (struct gs_cell[]){gs_cell_text(gs_table_name(of)),
                               gs_cell_integer((int64_t)gs_table_columns(of)),
                               gs_cell_integer((int64_t)gs_table_rows(of))});
    }
    gs_results_destroy(read);
}

/* JSON of no kind we know, or broken: say why. */
static void describe_json(struct sheet *sheet, const char *path) {
    struct gs_json *json;
    sheet->status = gs_json_read_file(path, &json, sheet->error);
    if (sheet->status != GS_OK) return;
    whole_fact(sheet, "members", (int64_t)gs_json_size(json));
    gs_json_destroy(json);
}

static void describe(struct sheet *sheet, const char *path, enum gs_file_kind kind) {
    switch (kind) {
    case GS_KIND_SAFETENSORS:
    case GS_KIND_PICKLED:
        describe_checkpoint(sheet, path);
        break;
    case GS_KIND_TRACE:
        describe_trace(sheet, path);
        break;
    case GS_KIND_HDF5:
        describe_hdf5(sheet, path);
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
    struct sheet sheet = {.results = gs_results_create("info"), .error = error};
    if (!sheet.results) return gs_fail_memory(error, 0, "results");
    sheet.facts = table(&sheet, "facts", columns, 2);
    text_fact(&sheet, "file", path);
    text_fact(&sheet, "kind", gs_file_kind_name(kind));
    if (sheet.status == GS_OK) describe(&sheet, path, kind);
    if (sheet.status != GS_OK) {
        gs_results_destroy(sheet.results);
        return sheet.status;
    }
    *results = sheet.results;
    return GS_OK;
}
