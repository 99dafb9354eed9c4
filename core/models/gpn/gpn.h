/* gpn.h - the two kinds "gpn" and "gpn_m" (../shared/spec/model.md). */
#ifndef GS_CORE_MODELS_GPN_GPN_H
#define GS_CORE_MODELS_GPN_GPN_H

#include "core/models/kind.h"

extern const struct gs_kind gs_kind_gpn;
extern const struct gs_kind gs_kind_gpn_m;

#endif
