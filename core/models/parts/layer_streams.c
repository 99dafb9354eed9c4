#include "core/models/parts/layer_streams.h"

#include <stdio.h>

void gs_layer_name(struct gs_channel *channel, size_t layer) {
    snprintf(channel->name, sizeof channel->name, "layer%02zu", layer);
}

void gs_layer_streams(struct gs_shape *shape, size_t layers, size_t width) {
    for (size_t i = 0; i <= layers; i++) {
        struct gs_channel *channel = &shape->channels[i];
        channel->group = GS_CHANNEL_STATE;
        channel->width = width;
        channel->decoder = "the final norm and the output matrix";
        gs_layer_name(channel, i);
    }
    struct gs_channel *final = &shape->channels[layers];
    final->decoder = "the output matrix";
    snprintf(final->name, sizeof final->name, "final");
    shape->channel_count = layers + 1;
    shape->state_width = width;
    shape->first = 1;
    shape->decodable = layers;
}
