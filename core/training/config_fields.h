/* config_fields.h - the keys of a training config in one table. Internal to config. */
#ifndef GS_CORE_TRAINING_CONFIG_FIELDS_H
#define GS_CORE_TRAINING_CONFIG_FIELDS_H

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/training/config.h"

/* Read every known key of `object` into `config` (paths stay as they are written), refuse every
 * other one. `optional_dirs`: dirs.checkpoint and dirs.log need not be there. */
enum gs_status gs_training_fields_read(const struct gs_json *object, const char *where,
                                       bool optional_dirs, struct gs_training_config *config,
                                       struct gs_error *error);

#endif
