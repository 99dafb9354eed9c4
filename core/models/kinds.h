/* kinds.h - the list of kinds. */
#ifndef GS_CORE_MODELS_KINDS_H
#define GS_CORE_MODELS_KINDS_H

#include "core/models/kind.h"

size_t gs_kinds_count(void);
const struct gs_kind *gs_kinds_at(size_t index); /* index < gs_kinds_count() */

#endif
