/* name_map.h - tensors of another origin under our names. */
#ifndef GS_CORE_CHECKPOINT_NAME_MAP_H
#define GS_CORE_CHECKPOINT_NAME_MAP_H

#include "core/base/json.h"
#include "core/checkpoint/tensor_tree.h"

/* The list becomes what the map names, in its order and under its keys: {"embedding": "wte.weight",
 * "decode_proj_k": {"name": "head.weight", "transpose": true}}. A tensor may stand behind several
 * names. *left_out: how many the map does not name. GS_CONFIG when the map is none, GS_MISSING with
 * the nearest name when it names what is not there. */
enum gs_status gs_name_map_apply(const struct gs_json *map, struct gs_tensor_list *list,
                                 size_t *left_out, struct gs_error *error);

#endif
