/* which_model.h - which model a checkpoint file holds: its config, wherever that stands. Internal
 * to core/checkpoint. */
#ifndef GS_CORE_CHECKPOINT_WHICH_MODEL_H
#define GS_CORE_CHECKPOINT_WHICH_MODEL_H

#include "core/base/status.h"
#include "core/checkpoint/tensor_file.h"
#include "core/models/model.h"

#define GS_CHECKPOINT_CONFIG "gpnscope.config" /* key of the config in the metadata */

/* A model of that kind and size with parameters of zero; *source as in struct gs_checkpoint_info.
 * `given`, when not NULL, is the config that counts, and *source its name. */
struct gs_given_config {
    const struct gs_json *config;
    const char *name; /* of its source, for errors */
};
enum gs_status gs_which_model(const char *path, const struct gs_tensor_file *file,
                              const struct gs_given_config *given, struct gs_model **model,
                              const char **source, struct gs_error *error);

/* Length of the prefix that a wrapper has put in front of every name ("module."); 0: none. */
size_t gs_wrapper_of(const struct gs_tensor_file *file, const struct gs_model *model);

#endif
