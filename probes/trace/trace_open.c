/* Opening a trace: attributes, sequences, and the shape and type of every dataset. */
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "probes/trace/layers.h"
#include "probes/trace/trace_file.h"
#include "probes/trace/values.h"

#include <stdio.h>
#include <string.h>

/* ---- the root's attributes ---- */

static enum gs_status check_format(struct gs_trace *trace, struct gs_error *error) {
    char *format;
    bool found;
    enum gs_status status = gs_h5_text(trace->h5, "/", "format", &format, error);
    if (status != GS_OK) return status;
    if (!format || strcmp(format, "gpn-trace") != 0) {
        gs_fail(error, GS_FORMAT, "not a trace");
        gs_error_expected(error, "the attribute format = \"gpn-trace\"");
        gs_error_found(error, "%s", format ? format : "no such attribute");
        gs_error_where(error, "%s", trace->path);
        gs_free(format);
        return GS_FORMAT;
    }
    gs_free(format);
    status = gs_h5_integer(trace->h5, "/", "version", &trace->info.version, &found, error);
    if (status != GS_OK || (found && trace->info.version == GS_TRACE_VERSION)) return status;
    status = found ? GS_UNSUPPORTED : GS_FORMAT;
    gs_fail(error, status, found ? "a trace of an unknown version" : "a trace without a version");
    gs_error_expected(error, "the attribute version = %d", (int)GS_TRACE_VERSION);
    if (found) gs_error_found(error, "%lld", (long long)trace->info.version);
    gs_error_where(error, "%s", trace->path);
    return status;
}

static enum gs_status read_texts(struct gs_trace *trace, struct gs_error *error) {
    struct gs_trace_info *info = &trace->info;
    const struct {
        const char *name;
        const char **place;
    } texts[GS_TRACE_TEXTS] = {
        {"model", &info->model},
        {"config", &info->config},
        {"creator", &info->creator},
        {"command", &info->command},
        {"created", &info->created},
        {"checkpoint_sha256", &info->checkpoint_sha256},
        {"tokenizer_sha256", &info->tokenizer_sha256},
        {"source_sha256", &info->source_sha256},
        {"blas_core", &info->blas_core},
        {"weights", &info->weights},
    };
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < GS_TRACE_TEXTS; i++) {
        status = gs_h5_text(trace->h5, "/", texts[i].name, &trace->texts[i], error);
        *texts[i].place = trace->texts[i];
    }
    return status;
}

static enum gs_status read_numbers(struct gs_trace *trace, bool *complete_said, bool *complete,
                                   struct gs_error *error) {
    struct gs_trace_info *info = &trace->info;
    int64_t flag = 1;
    bool found;
    info->step = info->seed = info->threads = -1;
    enum gs_status status = gs_h5_integer(trace->h5, "/", "step", &info->step, &found, error);
    if (status == GS_OK) status = gs_h5_integer(trace->h5, "/", "seed", &info->seed, &found, error);
    if (status == GS_OK)
        status = gs_h5_integer(trace->h5, "/", "threads", &info->threads, &found, error);
    if (status == GS_OK)
        status = gs_h5_integer(trace->h5, "/", "complete", &flag, complete_said, error);
    *complete = flag != 0;
    return status;
}

/* vocab_size of the config, where there is one. */
static enum gs_status read_vocab(struct gs_trace *trace, struct gs_error *error) {
    const char *config = trace->info.config;
    struct gs_json *json;
    if (!config || !config[0]) return GS_OK;
    enum gs_status status = gs_json_parse(config, strlen(config), "attribute config", &json, error);
    if (status != GS_OK) {
        gs_error_where(error, "%s, attribute config", trace->path);
        return status;
    }
    const struct gs_json *model = gs_json_get(json, "model");
    const struct gs_json *vocab = gs_json_get(model ? model : json, "vocab_size");
    int64_t size = 0;
    if (vocab && (!gs_json_integer(vocab, &size) || size < 1)) {
        status = gs_fail(error, GS_CONFIG, "vocab_size is no positive whole number");
        gs_error_where(error, "%s, attribute config", trace->path);
    }
    trace->info.vocab = (size_t)size;
    gs_json_destroy(json);
    return status;
}

/* ---- datasets ---- */

static enum gs_status fail_shape(const struct gs_trace *trace, const char *dataset,
                                 const struct gs_h5_shape *shape, const char *expected,
                                 struct gs_error *error) {
    char found[128] = "a scalar";
    size_t used = 0;
    for (size_t axis = 0; axis < shape->rank && used < sizeof found - 24; axis++)
        used += (size_t)snprintf(found + used, sizeof found - used, "%s%zu", axis ? " × " : "",
                                 shape->dims[axis]);
    gs_fail(error, GS_SHAPE, "a dataset of the wrong shape");
    gs_error_expected(error, "%s", expected);
    gs_error_found(error, "%s", found);
    gs_error_where(error, "%s, %s", trace->path, dataset);
    return GS_SHAPE;
}

static enum gs_status fail_type(const struct gs_trace *trace, const char *dataset,
                                const char *expected, const char *found, struct gs_error *error) {
    gs_fail(error, GS_FORMAT, "a dataset of the wrong type");
    gs_error_expected(error, "%s", expected);
    gs_error_found(error, "%s", found);
    gs_error_where(error, "%s, %s", trace->path, dataset);
    return GS_FORMAT;
}

/* As many rows as start says, in `rank` axes, none of them without length. */
static enum gs_status check_rows(const struct gs_trace *trace, const char *dataset,
                                 const struct gs_h5_shape *shape, size_t rank,
                                 struct gs_error *error) {
    char expected[96];
    uint64_t rows = trace->info.rows;
    snprintf(expected, sizeof expected, "%llu rows (the last of /sequence/start)%s",
             (unsigned long long)rows, rank == 2 ? " of at least one column" : "");
    bool good = shape->rank == rank && shape->dims[0] == rows && (rank == 1 || shape->dims[1] > 0);
    if (!good) return fail_shape(trace, dataset, shape, expected, error);
    if (!shape->holes || !trace->info.complete) return GS_OK;
    gs_fail(error, GS_FORMAT, "a finished trace lacks rows: some were never stored");
    gs_error_where(error, "%s, %s", trace->path, dataset);
    return GS_FORMAT;
}

/* Open and check one of the datasets of rows. *data stays with the trace, also on failure. */
static enum gs_status open_rows(struct gs_trace *trace, const char *dataset, size_t rank,
                                struct gs_h5_data **data, struct gs_error *error) {
    enum gs_status status = gs_h5_data_open(trace->h5, dataset, data, error);
    if (status != GS_OK) return status;
    return check_rows(trace, dataset, gs_h5_data_shape(*data), rank, error);
}

static enum gs_status exists(struct gs_trace *trace, const char *path, bool *there,
                             struct gs_error *error) {
    enum gs_h5_object object;
    enum gs_status status = gs_h5_look(trace->h5, path, &object, error);
    *there = object != GS_H5_ABSENT;
    return status;
}

/* ---- sequences ---- */

static enum gs_status read_start(struct gs_trace *trace, struct gs_error *error) {
    size_t rank, shape[GS_H5_MAX_RANK];
    const char *dataset = "sequence/start";
    enum gs_status status = gs_h5_read_u64(trace->h5, dataset, &trace->start, &rank, shape, error);
    if (status != GS_OK) return status;
    if (rank != 1 || shape[0] < 2) {
        struct gs_h5_shape found = {.rank = rank};
        memcpy(found.dims, shape, sizeof found.dims);
        return fail_shape(trace, dataset, &found, "one axis of sequences + 1 rows, at least 2",
                          error);
    }
    trace->info.sequences = shape[0] - 1;
    for (size_t i = 0; i < shape[0]; i++) {
        uint64_t least = i ? trace->start[i - 1] : 0;
        if (i == 0 ? trace->start[i] == 0 : trace->start[i] >= least) continue;
        gs_fail(error, GS_FORMAT, "sequences do not follow each other");
        gs_error_expected(error, "%s %llu", i ? "at least" : "exactly", (unsigned long long)least);
        gs_error_found(error, "%llu", (unsigned long long)trace->start[i]);
        gs_error_where(error, "%s, %s, row %zu", trace->path, dataset, i);
        return GS_FORMAT;
    }
    trace->info.start = trace->start;
    trace->info.rows = trace->start[trace->info.sequences];
    return GS_OK;
}

static enum gs_status assume_all_written(struct gs_trace *trace, struct gs_error *error) {
    size_t count = trace->info.sequences;
    trace->rows_written = gs_calloc(count, sizeof *trace->rows_written);
    if (!trace->rows_written) return gs_fail_memory(error, count * 8, "sequences");
    for (size_t i = 0; i < count; i++)
        trace->rows_written[i] = trace->start[i + 1] - trace->start[i];
    return GS_OK;
}

/* No more than the sequence has; in a finished file, no less. */
static enum gs_status check_rows_written(const struct gs_trace *trace, bool complete,
                                         struct gs_error *error) {
    for (size_t i = 0; i < trace->info.sequences; i++) {
        uint64_t length = trace->start[i + 1] - trace->start[i], rows = trace->rows_written[i];
        if (rows <= length && (rows == length || !complete)) continue;
        gs_fail(error, GS_FORMAT,
                rows > length ? "rows beyond the sequence's end"
                              : "complete, but rows are missing");
        gs_error_expected(error, "%s%llu", rows > length ? "at most " : "",
                          (unsigned long long)length);
        gs_error_found(error, "%llu", (unsigned long long)rows);
        gs_error_where(error, "%s, sequence/rows_written, row %zu", trace->path, i);
        return GS_FORMAT;
    }
    return GS_OK;
}

static enum gs_status read_rows_written(struct gs_trace *trace, bool complete_said, bool complete,
                                        struct gs_error *error) {
    size_t rank = 1, shape[GS_H5_MAX_RANK] = {0};
    const char *dataset = "sequence/rows_written";
    bool there;
    enum gs_status status = exists(trace, dataset, &there, error);
    if (status != GS_OK) return status;
    status = there ? gs_h5_read_u64(trace->h5, dataset, &trace->rows_written, &rank, shape, error)
                   : assume_all_written(trace, error);
    if (status != GS_OK) return status;
    if (there && (rank != 1 || shape[0] != trace->info.sequences)) {
        struct gs_h5_shape found = {.rank = rank};
        memcpy(found.dims, shape, sizeof found.dims);
        return fail_shape(trace, dataset, &found, "one row for each sequence", error);
    }
    status = check_rows_written(trace, complete_said && complete, error);
    trace->info.rows_written = trace->rows_written;
    trace->info.complete = complete && check_rows_written(trace, true, NULL) == GS_OK;
    return status;
}

static enum gs_status open_names(struct gs_trace *trace, struct gs_error *error) {
    const char *dataset = "sequence/name";
    enum gs_status status = exists(trace, dataset, &trace->info.has_names, error);
    if (status != GS_OK || !trace->info.has_names) return status;
    status = gs_h5_data_open(trace->h5, dataset, &trace->names, error);
    if (status != GS_OK) return status;
    const struct gs_h5_shape *shape = gs_h5_data_shape(trace->names);
    if (shape->family != GS_H5_TEXT)
        return fail_type(trace, dataset, "text", shape->type_name, error);
    if (shape->rank != 1 || shape->dims[0] != trace->info.sequences)
        return fail_shape(trace, dataset, shape, "one text for each sequence", error);
    return GS_OK;
}

/* ---- token and nll ---- */

static enum gs_status open_token(struct gs_trace *trace, struct gs_error *error) {
    enum gs_status status = exists(trace, "token", &trace->info.has_token, error);
    if (status != GS_OK || !trace->info.has_token) return status;
    status = open_rows(trace, "token", 1, &trace->token, error);
    if (status != GS_OK) return status;
    const struct gs_h5_shape *shape = gs_h5_data_shape(trace->token);
    if (shape->family == GS_H5_INTEGER) return GS_OK;
    return fail_type(trace, "token", "whole numbers (uint32)", shape->type_name, error);
}

static enum gs_status want_floats(const struct gs_trace *trace, const char *dataset,
                                  const struct gs_h5_data *data, struct gs_error *error) {
    const struct gs_h5_shape *shape = gs_h5_data_shape(data);
    if (shape->family == GS_H5_FLOAT) return GS_OK;
    return fail_type(trace, dataset, "floating point numbers", shape->type_name, error);
}

static enum gs_status open_nll(struct gs_trace *trace, struct gs_error *error) {
    enum gs_status status = exists(trace, "nll", &trace->info.has_nll, error);
    if (status != GS_OK || !trace->info.has_nll) return status;
    status = open_rows(trace, "nll", 1, &trace->nll, error);
    if (status == GS_OK) status = want_floats(trace, "nll", trace->nll, error);
    if (status != GS_OK) return status;
    int64_t first = 0;
    bool found;
    status = gs_h5_integer(trace->h5, "nll", "first", &first, &found, error);
    if (status == GS_OK && first < 0) {
        status = gs_fail(error, GS_FORMAT, "a negative count of rows that nothing predicts");
        gs_error_found(error, "first = %lld", (long long)first);
        gs_error_where(error, "%s, nll", trace->path);
    }
    trace->info.nll_first = (size_t)first;
    return status;
}

/* ---- streams ---- */

/* The members of a group that may be absent, layers in their order. Free with gs_free_names. */
static enum gs_status list_group(struct gs_trace *trace, const char *group, char ***names,
                                 size_t *count, struct gs_error *error) {
    enum gs_h5_object object;
    *names = NULL;
    *count = 0;
    enum gs_status status = gs_h5_look(trace->h5, group, &object, error);
    if (status != GS_OK || object == GS_H5_ABSENT) return status;
    if (object != GS_H5_GROUP) return fail_type(trace, group, "a group", "a dataset", error);
    status = gs_h5_members(trace->h5, group, names, count, error);
    for (size_t i = 0; status == GS_OK && i < *count; i++) {
        if (strlen((*names)[i]) < GS_TRACE_NAME) continue;
        status = gs_fail(error, GS_FORMAT, "a name of more than %d bytes", GS_TRACE_NAME - 1);
        gs_error_where(error, "%s, %s", trace->path, group);
    }
    if (status == GS_OK) gs_layers_order(*names, *count);
    return status;
}

/* Floats as they are; uint16 only where the attribute dtype says that it is bfloat16. */
static enum gs_status stream_type(struct gs_trace *trace, const char *dataset,
                                  const struct gs_h5_shape *shape, struct gs_trace_stream *stream,
                                  struct gs_error *error) {
    char *dtype;
    enum gs_status status = gs_h5_text(trace->h5, dataset, "dtype", &dtype, error);
    if (status != GS_OK) return status;
    bool brain = dtype && strcmp(dtype, "bfloat16") == 0;
    bool bits = shape->family == GS_H5_INTEGER && shape->bytes == 2 && !shape->is_signed;
    if (shape->family == GS_H5_FLOAT && !brain)
        snprintf(stream->dtype, sizeof stream->dtype, "%s", shape->type_name);
    else if (brain && (bits || strcmp(shape->type_name, "bfloat16") == 0))
        snprintf(stream->dtype, sizeof stream->dtype, "bfloat16");
    else
        status = fail_type(trace, dataset,
                           brain ? "uint16, as its attribute dtype = \"bfloat16\" demands"
                                 : "floats, or uint16 with the attribute dtype = \"bfloat16\"",
                           shape->type_name, error);
    gs_free(dtype);
    return status;
}

static enum gs_status open_stream(struct gs_trace *trace, const char *name, size_t index,
                                  struct gs_error *error) {
    struct gs_trace_stream *stream = &trace->streams[index];
    char dataset[GS_TRACE_NAME + 16];
    snprintf(dataset, sizeof dataset, "state/%s", name);
    snprintf(stream->name, sizeof stream->name, "%s", name);
    enum gs_status status = open_rows(trace, dataset, 2, &trace->states[index], error);
    if (status != GS_OK) return status;
    const struct gs_h5_shape *shape = gs_h5_data_shape(trace->states[index]);
    stream->width = shape->dims[1];
    return stream_type(trace, dataset, shape, stream, error);
}

static enum gs_status open_streams(struct gs_trace *trace, struct gs_error *error) {
    char **names;
    size_t count;
    enum gs_status status = list_group(trace, "state", &names, &count, error);
    if (status == GS_OK && count == 0) {
        status = gs_fail(error, GS_MISSING, "no state stream");
        gs_error_expected(error, "at least one dataset in the group state");
        gs_error_where(error, "%s, state", trace->path);
    }
    if (status == GS_OK) {
        trace->streams = gs_calloc(count, sizeof *trace->streams);
        trace->states = gs_calloc(count, sizeof *trace->states);
        if (!trace->streams || !trace->states) status = gs_fail_memory(error, count, "streams");
    }
    if (status == GS_OK) trace->info.stream_count = count;
    for (size_t i = 0; status == GS_OK && i < count; i++)
        status = open_stream(trace, names[i], i, error);
    gs_free_names(names, count);
    trace->info.streams = trace->streams;
    return status;
}

/* ---- memories and reads ---- */

static enum gs_status open_field(struct gs_trace *trace, size_t index, enum gs_memory_field field,
                                 struct gs_error *error) {
    struct gs_trace_memory *memory = &trace->memories[index];
    struct gs_h5_data **data = &trace->gates[index * GS_MEMORY_FIELDS + field];
    char dataset[GS_TRACE_NAME + 32];
    snprintf(dataset, sizeof dataset, "memory/%s/%s", memory->name, gs_memory_field_name(field));
    enum gs_status status = exists(trace, dataset, &memory->has[field], error);
    if (status != GS_OK || !memory->has[field]) return status;
    status = open_rows(trace, dataset, 2, data, error);
    if (status == GS_OK) status = want_floats(trace, dataset, *data, error);
    if (status != GS_OK) return status;
    const struct gs_h5_shape *shape = gs_h5_data_shape(*data);
    if (memory->heads == 0) memory->heads = shape->dims[1];
    if (memory->heads == shape->dims[1]) return GS_OK;
    return fail_shape(trace, dataset, shape, "as many heads as the memory's other datasets", error);
}

static enum gs_status open_memory(struct gs_trace *trace, const char *name, size_t index,
                                  struct gs_error *error) {
    struct gs_trace_memory *memory = &trace->memories[index];
    char group[GS_TRACE_NAME + 16], *rule = NULL;
    enum gs_h5_object object;
    snprintf(memory->name, sizeof memory->name, "%s", name);
    snprintf(group, sizeof group, "memory/%s", name);
    enum gs_status status = gs_h5_look(trace->h5, group, &object, error);
    if (status == GS_OK && object != GS_H5_GROUP)
        return fail_type(trace, group, "a group", "something else", error);
    if (status == GS_OK) status = gs_h5_text(trace->h5, group, "rule", &rule, error);
    if (rule && strlen(rule) >= sizeof memory->rule) {
        status = gs_fail(error, GS_FORMAT, "an unknown rule of a memory");
        gs_error_expected(error, "\"gpn\" or \"gated_delta\"");
        gs_error_where(error, "%s, %s", trace->path, group);
    }
    if (status == GS_OK && rule) snprintf(memory->rule, sizeof memory->rule, "%s", rule);
    gs_free(rule);
    for (int field = 0; status == GS_OK && field < GS_MEMORY_FIELDS; field++)
        status = open_field(trace, index, (enum gs_memory_field)field, error);
    return status;
}

static enum gs_status open_memories(struct gs_trace *trace, struct gs_error *error) {
    char **names;
    size_t count;
    enum gs_status status = list_group(trace, "memory", &names, &count, error);
    if (status == GS_OK) {
        trace->memories = gs_calloc(count, sizeof *trace->memories);
        trace->gates = gs_calloc(count * GS_MEMORY_FIELDS, sizeof *trace->gates);
        if (!trace->memories || !trace->gates) status = gs_fail_memory(error, count, "memories");
    }
    if (status == GS_OK) trace->info.memory_count = count;
    for (size_t i = 0; status == GS_OK && i < count; i++)
        status = open_memory(trace, names[i], i, error);
    gs_free_names(names, count);
    trace->info.memories = trace->memories;
    return status;
}

static enum gs_status open_read(struct gs_trace *trace, const char *name, size_t index,
                                struct gs_error *error) {
    char dataset[GS_TRACE_NAME + 16];
    snprintf(dataset, sizeof dataset, "read/%s/share", name);
    snprintf(trace->reads[index].name, GS_TRACE_NAME, "%s", name);
    enum gs_status status = open_rows(trace, dataset, 2, &trace->shares[index], error);
    if (status == GS_OK) status = want_floats(trace, dataset, trace->shares[index], error);
    if (status == GS_OK)
        trace->reads[index].layers = gs_h5_data_shape(trace->shares[index])->dims[1];
    return status;
}

static enum gs_status open_reads(struct gs_trace *trace, struct gs_error *error) {
    char **names;
    size_t count;
    enum gs_status status = list_group(trace, "read", &names, &count, error);
    if (status == GS_OK) {
        trace->reads = gs_calloc(count, sizeof *trace->reads);
        trace->shares = gs_calloc(count, sizeof *trace->shares);
        if (!trace->reads || !trace->shares) status = gs_fail_memory(error, count, "reads");
    }
    if (status == GS_OK) trace->info.read_count = count;
    for (size_t i = 0; status == GS_OK && i < count; i++)
        status = open_read(trace, names[i], i, error);
    gs_free_names(names, count);
    trace->info.reads = trace->reads;
    return status;
}

/* ---- all of it ---- */

static enum gs_status read_structure(struct gs_trace *trace, struct gs_error *error) {
    bool complete_said = false, complete = true;
    enum gs_status status = check_format(trace, error);
    if (status == GS_OK) status = read_texts(trace, error);
    if (status == GS_OK) status = read_numbers(trace, &complete_said, &complete, error);
    if (status == GS_OK) status = read_vocab(trace, error);
    if (status == GS_OK) status = read_start(trace, error);
    if (status == GS_OK) status = read_rows_written(trace, complete_said, complete, error);
    if (status == GS_OK) status = open_names(trace, error);
    if (status == GS_OK) status = open_token(trace, error);
    if (status == GS_OK) status = open_nll(trace, error);
    if (status == GS_OK) status = open_streams(trace, error);
    if (status == GS_OK) status = open_memories(trace, error);
    if (status == GS_OK) status = open_reads(trace, error);
    return status;
}

enum gs_status gs_trace_open(const char *path, struct gs_trace **trace, struct gs_error *error) {
    *trace = NULL;
    struct gs_trace *opened = gs_calloc(1, sizeof *opened);
    if (!opened || !(opened->path = gs_strdup(path))) {
        gs_free(opened);
        return gs_fail_memory(error, sizeof *opened, "a trace");
    }
    opened->info.path = opened->path;
    enum gs_status status = gs_h5_open(path, &opened->h5, error);
    if (status == GS_OK) status = read_structure(opened, error);
    if (status != GS_OK) {
        gs_trace_close(opened);
        return status;
    }
    *trace = opened;
    return GS_OK;
}

static void close_all(struct gs_h5_data **data, size_t count) {
    for (size_t i = 0; data && i < count; i++) gs_h5_data_close(data[i]);
    gs_free(data);
}

void gs_trace_close(struct gs_trace *trace) {
    if (!trace) return;
    close_all(trace->states, trace->info.stream_count);
    close_all(trace->gates, trace->info.memory_count * GS_MEMORY_FIELDS);
    close_all(trace->shares, trace->info.read_count);
    gs_h5_data_close(trace->token);
    gs_h5_data_close(trace->nll);
    gs_h5_data_close(trace->names);
    gs_h5_close(trace->h5, NULL);
    gs_free(trace->streams);
    gs_free(trace->memories);
    gs_free(trace->reads);
    gs_free(trace->start);
    gs_free(trace->rows_written);
    for (size_t i = 0; i < GS_TRACE_TEXTS; i++) gs_free(trace->texts[i]);
    gs_free(trace->path);
    gs_free(trace);
}
