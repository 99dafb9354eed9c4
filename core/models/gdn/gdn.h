/* gdn.h - the kind "gdn": Gated DeltaNet (../shared/spec/baselines.md). */
#ifndef GS_CORE_MODELS_GDN_GDN_H
#define GS_CORE_MODELS_GDN_GDN_H

#include "core/models/kind.h"

extern const struct gs_kind gs_kind_gdn;

#endif
