/* huggingface.h - the config.json of flash-linear-attention's GatedDeltaNet. */
#ifndef GS_CORE_MODELS_GDN_HUGGINGFACE_H
#define GS_CORE_MODELS_GDN_HUGGINGFACE_H

#include "core/base/json.h"
#include "core/base/status.h"

#define GS_GDN_MODEL_TYPE "gated_deltanet"

/* struct gs_kind's foreign_config. *model is owned by the caller. */
enum gs_status gs_gdn_from_huggingface(const struct gs_json *theirs, struct gs_json **model,
                                       struct gs_error *error);

#endif
