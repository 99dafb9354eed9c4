/* The plan of the trace that an import becomes. */
#include "core/base/memory.h"
#include "probes/arrays/import_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *dtype_of(const struct gs_npy *array) {
    if (array->family == GS_NPY_RAW) return "bfloat16";
    return array->element == 2 ? "float16" : "float32";
}

static void plan_stream(struct gs_import *import, struct gs_import_array *array) {
    struct gs_trace_stream *stream = &import->streams[array->target = import->stream_count++];
    memcpy(stream->name, array->place.name, sizeof stream->name);
    snprintf(stream->dtype, sizeof stream->dtype, "%s", dtype_of(array->npy));
    stream->width = array->width;
}

/* Fields of one memory stand behind each other: the arrays are sorted. */
static enum gs_status plan_gate(struct gs_import *import, struct gs_import_array *array,
                                struct gs_error *error) {
    struct gs_trace_memory *memory =
        import->memory_count ? &import->memories[import->memory_count - 1] : NULL;
    if (!memory || strcmp(memory->name, array->place.name) != 0) {
        memory = &import->memories[import->memory_count++];
        memcpy(memory->name, array->place.name, sizeof memory->name);
        if (import->options->rule)
            snprintf(memory->rule, sizeof memory->rule, "%s", import->options->rule);
        memory->heads = array->width;
    }
    array->target = import->memory_count - 1;
    memory->has[array->place.field] = true;
    if (memory->heads == array->width) return GS_OK;
    gs_fail(error, GS_SHAPE, "the datasets of a memory have different numbers of heads");
    gs_error_expected(error, "%zu", memory->heads);
    gs_error_found(error, "%zu", array->width);
    gs_error_where(error, "%s", array->where);
    return GS_SHAPE;
}

static enum gs_status plan_arrays(struct gs_import *import, struct gs_error *error) {
    import->streams = gs_calloc(import->count, sizeof *import->streams);
    import->memories = gs_calloc(import->count, sizeof *import->memories);
    import->reads = gs_calloc(import->count, sizeof *import->reads);
    if (!import->streams || !import->memories || !import->reads)
        return gs_fail_memory(error, import->count * sizeof *import->memories, "datasets");
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < import->count; i++) {
        struct gs_import_array *array = &import->arrays[i];
        if (array->place.role == GS_ROLE_STREAM) plan_stream(import, array);
        if (array->place.role == GS_ROLE_GATE) status = plan_gate(import, array, error);
        if (array->place.role == GS_ROLE_SHARE) {
            struct gs_trace_read *read = &import->reads[array->target = import->read_count++];
            memcpy(read->name, array->place.name, sizeof read->name);
            read->layers = array->width;
        }
    }
    return status;
}

/* Rows of NaN at the head of the sequence. */
static size_t leading_nan(const struct gs_import *import, const struct gs_npy *nll,
                          size_t sequence) {
    size_t first = (size_t)import->start[sequence], end = (size_t)import->start[sequence + 1];
    size_t row = first;
    for (float value; row < end; row++) {
        gs_npy_f32(nll, row, 1, &value);
        if (!isnan(value)) break;
    }
    return row - first;
}

/* As many as every sequence that is long enough has; the writer refuses further ones. */
static size_t unpredicted(const struct gs_import *import, const struct gs_npy *nll) {
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < import->sequences; i++) {
        size_t count = leading_nan(import, nll, i);
        bool all = count == import->start[i + 1] - import->start[i];
        if (count < least && !all) least = count;
    }
    return least == SIZE_MAX ? (size_t)import->rows : least;
}

static enum gs_status read_names(struct gs_import *import, struct gs_error *error) {
    const struct gs_import_array *array = gs_import_find(import, GS_ROLE_NAME);
    if (!array) return GS_OK;
    if (array->npy->count != import->sequences) {
        gs_fail(error, GS_SHAPE, "not one name for each sequence");
        gs_error_expected(error, "%zu", import->sequences);
        gs_error_found(error, "%zu", array->npy->count);
        gs_error_where(error, "%s", array->where);
        return GS_SHAPE;
    }
    import->names = gs_calloc(import->sequences, sizeof *import->names);
    if (!import->names) return gs_fail_memory(error, import->sequences, "names of sequences");
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < import->sequences; i++)
        status = gs_npy_text(array->npy, i, array->where, &import->names[i], error);
    return status;
}

enum gs_status gs_import_plan(struct gs_import *import, struct gs_trace_plan *plan,
                              struct gs_error *error) {
    const struct gs_import_array *nll = gs_import_find(import, GS_ROLE_NLL);
    enum gs_status status = plan_arrays(import, error);
    if (status == GS_OK) status = read_names(import, error);
    if (status != GS_OK) return status;
    *plan = (struct gs_trace_plan){.sequences = import->sequences,
                                   .start = import->start,
                                   .names = (const char *const *)import->names,
                                   .token = gs_import_find(import, GS_ROLE_TOKEN) != NULL,
                                   .nll = nll != NULL,
                                   .nll_first = nll ? unpredicted(import, nll->npy) : 0,
                                   .stream_count = import->stream_count,
                                   .streams = import->streams,
                                   .memory_count = import->memory_count,
                                   .memories = import->memories,
                                   .read_count = import->read_count,
                                   .reads = import->reads,
                                   .deflate = import->options->deflate};
    plan->labels = (struct gs_trace_labels){
        .command = import->options->command, .step = -1, .seed = -1, .threads = -1};
    return GS_OK;
}
