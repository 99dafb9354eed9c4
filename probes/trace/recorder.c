#include "probes/trace/recorder.h"

#include "core/base/memory.h"
#include "core/base/names.h"

#include <stdio.h>
#include <string.h>

/* Where a channel's values go. */
struct target {
    size_t index; /* stream, memory or read */
    enum gs_memory_field field;
};

struct gs_recorder {
    const struct gs_channel *channels; /* borrowed */
    size_t channel_count;
    bool *wanted;           /* (channels) */
    struct target *targets; /* (channels) */
    struct gs_trace_stream *streams;
    struct gs_trace_memory *memories;
    struct gs_trace_read *reads;
    size_t stream_count, memory_count, read_count;
    struct gs_tap tap;
    struct gs_trace_writer *writer;
    size_t first_sequence;
    const size_t *lengths;
    size_t *counts; /* (count_limit) steps of a block that count, for each sequence */
    size_t count_limit;
};

/* ---- choosing ---- */

/* Is `name` one of the comma-separated words? */
static bool in_list(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *word = list; *word;) {
        size_t size = strcspn(word, ",");
        if (size == length && memcmp(word, name, size) == 0) return true;
        word += size + (word[size] == ',');
    }
    return false;
}

/* "no stream X; did you mean Y?", with the names that exist. */
static enum gs_status fail_stream(const struct gs_recorder *recorder, const char *name,
                                  struct gs_error *error) {
    const char *candidates[64];
    char list[200] = "";
    size_t count = 0, used = 0;
    for (size_t i = 0; i < recorder->channel_count && count < 64; i++) {
        const struct gs_channel *channel = &recorder->channels[i];
        if (channel->group != GS_CHANNEL_STATE) continue;
        if (used + GS_CHANNEL_NAME + 8 < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", count ? ", " : "",
                                     channel->name);
        candidates[count++] = channel->name;
    }
    gs_fail(error, GS_USAGE, "the model has no state stream \"%s\"", name);
    gs_error_expected(error, "some of %s", list);
    const char *near = gs_nearest_name(name, candidates, count);
    if (near) gs_error_next(error, "did you mean %s?", near);
    return GS_USAGE;
}

/* Every word names a state channel of the model. */
static enum gs_status check_list(const struct gs_recorder *recorder, const char *list,
                                 struct gs_error *error) {
    char name[GS_CHANNEL_NAME];
    for (const char *word = list; *word;) {
        size_t size = strcspn(word, ",");
        snprintf(name, sizeof name, "%.*s", size < sizeof name ? (int)size : 0, word);
        bool known = false;
        for (size_t i = 0; i < recorder->channel_count; i++)
            if (recorder->channels[i].group == GS_CHANNEL_STATE &&
                strcmp(recorder->channels[i].name, name) == 0)
                known = true;
        if (!known) return fail_stream(recorder, name, error);
        word += size + (word[size] == ',');
    }
    return GS_OK;
}

/* ---- channels to datasets ---- */

static void add_stream(struct gs_recorder *recorder, size_t channel, const char *dtype) {
    struct gs_trace_stream *stream = &recorder->streams[recorder->stream_count];
    snprintf(stream->name, sizeof stream->name, "%s", recorder->channels[channel].name);
    snprintf(stream->dtype, sizeof stream->dtype, "%s", dtype);
    stream->width = recorder->channels[channel].width;
    recorder->targets[channel].index = recorder->stream_count++;
}

static void add_field(struct gs_recorder *recorder, size_t index, enum gs_memory_field field) {
    const struct gs_channel *channel = &recorder->channels[index];
    size_t m = 0;
    while (m < recorder->memory_count && strcmp(recorder->memories[m].name, channel->name) != 0)
        m++;
    struct gs_trace_memory *memory = &recorder->memories[m];
    if (m == recorder->memory_count) {
        snprintf(memory->name, sizeof memory->name, "%s", channel->name);
        memory->heads = channel->width;
        recorder->memory_count++;
    }
    if (channel->rule[0]) snprintf(memory->rule, sizeof memory->rule, "%s", channel->rule);
    memory->has[field] = true;
    recorder->targets[index] = (struct target){m, field};
}

static void add_read(struct gs_recorder *recorder, size_t channel) {
    struct gs_trace_read *read = &recorder->reads[recorder->read_count];
    snprintf(read->name, sizeof read->name, "%s", recorder->channels[channel].name);
    read->layers = recorder->channels[channel].width;
    recorder->targets[channel].index = recorder->read_count++;
}

static void add_channel(struct gs_recorder *recorder, size_t index, const char *list,
                        const char *dtype) {
    const struct gs_channel *channel = &recorder->channels[index];
    recorder->wanted[index] = true;
    switch (channel->group) {
    case GS_CHANNEL_STATE:
        if (list && list[0] && !in_list(list, channel->name))
            recorder->wanted[index] = false;
        else
            add_stream(recorder, index, dtype);
        break;
    case GS_CHANNEL_LOG_DECAY:
        add_field(recorder, index, GS_MEMORY_LOG_DECAY);
        break;
    case GS_CHANNEL_WRITE_STRENGTH:
        add_field(recorder, index, GS_MEMORY_WRITE_STRENGTH);
        break;
    case GS_CHANNEL_MEMORY_NORM:
        add_field(recorder, index, GS_MEMORY_NORM);
        break;
    case GS_CHANNEL_READ_SHARE:
        add_read(recorder, index);
        break;
    }
}

/* ---- the tap ---- */

static enum gs_status put(struct gs_recorder *recorder, size_t channel,
                          const struct gs_trace_block *block, struct gs_error *error) {
    struct target target = recorder->targets[channel];
    switch (recorder->channels[channel].group) {
    case GS_CHANNEL_STATE:
        return gs_trace_append_state_block(recorder->writer, target.index, block, error);
    case GS_CHANNEL_READ_SHARE:
        return gs_trace_append_share_block(recorder->writer, target.index, block, error);
    case GS_CHANNEL_LOG_DECAY:
    case GS_CHANNEL_WRITE_STRENGTH:
    case GS_CHANNEL_MEMORY_NORM:
        break;
    }
    return gs_trace_append_memory_block(recorder->writer, target.index, target.field, block, error);
}

/* How many of the block's steps count for each sequence: recorder->counts. */
static bool count_steps(struct gs_recorder *recorder, const struct gs_tap_block *block) {
    if (recorder->count_limit < block->batch) {
        gs_free(recorder->counts);
        recorder->counts = gs_calloc(block->batch, sizeof *recorder->counts);
        recorder->count_limit = recorder->counts ? block->batch : 0;
        if (!recorder->counts) return false;
    }
    for (size_t b = 0; b < block->batch; b++) {
        size_t length = recorder->lengths[b];
        length = length > block->first_step ? length - block->first_step : 0;
        recorder->counts[b] = length < block->steps ? length : block->steps;
    }
    return true;
}

static enum gs_status take(void *context, const struct gs_tap_block *block,
                           struct gs_error *error) {
    struct gs_recorder *recorder = context;
    if (!recorder->wanted[block->channel]) return GS_OK;
    if (recorder->lengths && !count_steps(recorder, block))
        return gs_fail_memory(error, block->batch * sizeof *recorder->counts, "counts of steps");
    struct gs_trace_block rows = {.first = recorder->first_sequence,
                                  .batch = block->batch,
                                  .rows = block->steps,
                                  .counts = recorder->lengths ? recorder->counts : NULL,
                                  .values = block->values,
                                  .batch_stride = block->batch_stride,
                                  .stride = block->step_stride};
    return put(recorder, block->channel, &rows, error);
}

/* ---- making and using ---- */

static bool allocate(struct gs_recorder *recorder, size_t count) {
    recorder->wanted = gs_calloc(count, sizeof *recorder->wanted);
    recorder->targets = gs_calloc(count, sizeof *recorder->targets);
    recorder->streams = gs_calloc(count, sizeof *recorder->streams);
    recorder->memories = gs_calloc(count, sizeof *recorder->memories);
    recorder->reads = gs_calloc(count, sizeof *recorder->reads);
    return recorder->wanted && recorder->targets && recorder->streams && recorder->memories &&
           recorder->reads;
}

enum gs_status gs_recorder_create(const struct gs_channel *channels, size_t count,
                                  const struct gs_recorder_choice *choice,
                                  struct gs_recorder **recorder, struct gs_error *error) {
    *recorder = NULL;
    struct gs_recorder *created = gs_calloc(1, sizeof *created);
    if (!created || !allocate(created, count)) {
        gs_recorder_destroy(created);
        return gs_fail_memory(error, count * sizeof *created->streams, "a recorder");
    }
    created->channels = channels;
    created->channel_count = count;
    created->tap = (struct gs_tap){created, created->wanted, take};
    enum gs_status status = choice->streams ? check_list(created, choice->streams, error) : GS_OK;
    for (size_t i = 0; i < count; i++)
        add_channel(created, i, choice->streams, choice->dtype ? choice->dtype : "float32");
    if (status == GS_OK && created->stream_count == 0)
        status = gs_fail(error, GS_USAGE, "no state stream to record");
    if (status != GS_OK) {
        gs_recorder_destroy(created);
        return status;
    }
    *recorder = created;
    return GS_OK;
}

void gs_recorder_destroy(struct gs_recorder *recorder) {
    if (!recorder) return;
    gs_free(recorder->wanted);
    gs_free(recorder->targets);
    gs_free(recorder->streams);
    gs_free(recorder->memories);
    gs_free(recorder->reads);
    gs_free(recorder->counts);
    gs_free(recorder);
}

void gs_recorder_plan(const struct gs_recorder *recorder, struct gs_trace_plan *plan) {
    plan->streams = recorder->streams;
    plan->stream_count = recorder->stream_count;
    plan->memories = recorder->memories;
    plan->memory_count = recorder->memory_count;
    plan->reads = recorder->reads;
    plan->read_count = recorder->read_count;
}

void gs_recorder_attach(struct gs_recorder *recorder, struct gs_trace_writer *writer) {
    recorder->writer = writer;
}

void gs_recorder_window(struct gs_recorder *recorder, size_t first, const size_t *lengths) {
    recorder->first_sequence = first;
    recorder->lengths = lengths;
}

const struct gs_tap *gs_recorder_tap(const struct gs_recorder *recorder) {
    return &recorder->tap;
}
