/* transformer.h - the kind "transformer", a Transformer++ (../shared/spec/baselines.md). */
#ifndef GS_CORE_MODELS_TRANSFORMER_TRANSFORMER_H
#define GS_CORE_MODELS_TRANSFORMER_TRANSFORMER_H

#include "core/models/kind.h"

extern const struct gs_kind gs_kind_transformer;

#endif
