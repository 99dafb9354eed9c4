/* layer_streams.h - the state channels of a model of layers (../shared/spec/baselines.md). */
#ifndef GS_CORE_MODELS_PARTS_LAYER_STREAMS_H
#define GS_CORE_MODELS_PARTS_LAYER_STREAMS_H

#include "core/models/kind.h"

/* The residual stream after each layer (layer00, layer01, ...: channels 0 ... layers - 1), and the
 * states after the last norm (final: channel `layers`), which the model predicts the next token
 * from; all `width` wide. Appends them to an empty list of channels, which must have room. */
void gs_layer_streams(struct gs_shape *shape, size_t layers, size_t width);
/* Name a channel after a layer, as those streams are. */
void gs_layer_name(struct gs_channel *channel, size_t layer);

#endif
