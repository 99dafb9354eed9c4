#include "core/models/kinds.h"

#include "core/models/gdn/gdn.h"
#include "core/models/gpn/gpn.h"
#include "core/models/transformer/transformer.h"

static const struct gs_kind *const KINDS[] = {&gs_kind_gpn, &gs_kind_gpn_m, &gs_kind_transformer,
                                              &gs_kind_gdn};

size_t gs_kinds_count(void) {
    return sizeof KINDS / sizeof KINDS[0];
}

const struct gs_kind *gs_kinds_at(size_t index) {
    return KINDS[index];
}
