/* model_config.h - a model from the JSON that describes it, in a checkpoint or a training config.
 */
#ifndef GS_CORE_CHECKPOINT_MODEL_CONFIG_H
#define GS_CORE_CHECKPOINT_MODEL_CONFIG_H

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/models/model.h"

/* A model with zero parameters from {"kind": …, "model": {…}}; other members are not looked at.
 * Without "model", one with a "model_type" is HuggingFace's (gs_model_foreign_config).
 * Without "kind" it is the one kind that accepts the model object; GS_CONFIG when none does (with
 * each kind's reason) or several do. `where` names the source in errors. Free the model with
 * gs_model_destroy. */
enum gs_status gs_model_from_config(const struct gs_json *config, const char *where,
                                    struct gs_model **model, struct gs_error *error);

/* The same for a file that holds `most` values: see gs_model_create_within. */
enum gs_status gs_model_from_config_within(const struct gs_json *config, const char *where,
                                           size_t most, struct gs_model **model,
                                           struct gs_error *error);

/* The same without any values: see gs_model_outline. */
enum gs_status gs_model_outline_from_config(const struct gs_json *config, const char *where,
                                            struct gs_model **model, struct gs_error *error);

#endif
