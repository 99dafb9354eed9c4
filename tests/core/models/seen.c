#include "tests/core/models/seen.h"

#include "core/base/memory.h"

#include <string.h>

static enum gs_status take(void *context, const struct gs_tap_block *block,
                           struct gs_error *error) {
    (void)error;
    struct seen *seen = context;
    size_t width = seen->channels[block->channel].width;
    for (size_t b = 0; b < block->batch; b++)
        for (size_t t = 0; t < block->steps; t++)
            memcpy(seen->values[block->channel] + (b * seen->steps + block->first_step + t) * width,
                   block->values + b * block->batch_stride + t * block->step_stride,
                   width * sizeof(float));
    return GS_OK;
}

void seen_open(struct seen *seen, const struct gs_model *model, size_t batch, size_t steps) {
    static const bool all[SEEN_CHANNELS] = {true, true, true, true, true, true, true, true,
                                            true, true, true, true, true, true, true, true};
    *seen = (struct seen){.steps = steps, .tap = {seen, all, take}};
    seen->channels = gs_model_channels(model, &seen->count);
    for (size_t i = 0; i < seen->count; i++)
        seen->values[i] = gs_calloc(batch * steps * seen->channels[i].width, sizeof(float));
}

void seen_close(struct seen *seen) {
    for (size_t i = 0; i < seen->count; i++) gs_free(seen->values[i]);
}

const char *seen_name(const struct gs_channel *channel) {
    switch (channel->group) {
    case GS_CHANNEL_STATE:
        return channel->name;
    case GS_CHANNEL_LOG_DECAY:
        return "log_decay";
    case GS_CHANNEL_WRITE_STRENGTH:
        return "write_strength";
    case GS_CHANNEL_MEMORY_NORM:
        return "norm";
    case GS_CHANNEL_READ_SHARE:
        return "share";
    }
    return "";
}
