/* read_parameters.h - the parameters of a model out of a checkpoint's tensors. Internal to
 * core/checkpoint. */
#ifndef GS_CORE_CHECKPOINT_READ_PARAMETERS_H
#define GS_CORE_CHECKPOINT_READ_PARAMETERS_H

#include "core/checkpoint/tensor_file.h"
#include "core/models/model.h"

/* Every parameter must be there once with its shape and be finite; tensors that are none are
 * refused by name, objects among them only where a parameter is. `path` names the file. */
enum gs_status gs_checkpoint_read_parameters(const char *path, struct gs_tensor_file *file,
                                             const struct gs_model *model, struct gs_error *error);

/* The same of another list of the file's tensors, such as a moment of Adam's, into `target`, which
 * is like the model's parameters. `wrapper`: bytes of each name to leave out. */
enum gs_status gs_checkpoint_read_list(const char *path, struct gs_tensor_file *file,
                                       const struct gs_tensor_list *list, size_t wrapper,
                                       const struct gs_model *model, struct gs_parameters *target,
                                       struct gs_error *error);

#endif
