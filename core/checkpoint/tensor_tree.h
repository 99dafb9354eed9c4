/* tensor_tree.h - the tensors in what somebody pickled: which of it they are, and their names. */
#ifndef GS_CORE_CHECKPOINT_TENSOR_TREE_H
#define GS_CORE_CHECKPOINT_TENSOR_TREE_H

#include "core/checkpoint/pickle.h"
#include "core/checkpoint/stored_tensor.h"
#include "core/checkpoint/torch_file.h"

/* How a pickle's values become tensors. */
struct gs_tensor_source {
    const struct gs_pickle *pickle;
    struct gs_torch_file *torch; /* where storages are; NULL: it has none outside */
    bool void_is_bfloat16;       /* see gs_numpy_read */
    size_t most, elements;       /* as many may be read in all; have been so far */
};

/* Is the value an array or tensor? */
bool gs_tensor_recognise(const struct gs_pickle_value *value);

/* Read one that is; `name` is borrowed. The elements of all that were read may be no more than
 * source->most: else a small file could stand for a large model (GS_UNSUPPORTED). */
enum gs_status gs_tensor_of(struct gs_tensor_source *source, const struct gs_pickle_value *value,
                            const char *name, struct gs_stored_tensor *tensor,
                            struct gs_error *error);
/* A whole number, of Python's or of a tensor with one element; false when it is none. */
bool gs_tensor_whole(struct gs_tensor_source *source, const struct gs_pickle_value *value,
                     int64_t *number);

/* The value as a dict: itself, or what a FrozenDict holds; NULL when it is none. */
const struct gs_pickle_value *gs_tensor_dict(const struct gs_pickle_value *value);

/* Part of a checkpoint that holds the parameters: the dict behind "params", "model", "state_dict",
 * … or the whole. NULL when the root is no dict. */
const struct gs_pickle_value *gs_tensor_tree_parameters(const struct gs_pickle_value *root);

enum { GS_MOST_TENSORS = 100000, GS_TENSOR_DEPTH = 16, GS_TENSOR_NAME = 1024 };

struct gs_tensor_list {
    struct gs_stored_tensor *tensors;
    size_t count, room;
};
/* All tensors below `tree`, in its order; the names of nested dicts, lists and tuples are joined by
 * '.', and names and tensors are the list's. Objects that are none are listed as what they are (not
 * is_tensor); numbers, texts and None are left out. Refused: a name that stands twice, more than
 * GS_MOST_TENSORS, deeper than GS_TENSOR_DEPTH, and a dict that holds itself or stands twice. */
enum gs_status gs_tensor_tree_list(struct gs_tensor_source *source,
                                   const struct gs_pickle_value *tree, struct gs_tensor_list *list,
                                   struct gs_error *error);
/* A copy of the tensor under a copy of the name; room for so many more. */
enum gs_status gs_tensor_list_add(struct gs_tensor_list *list,
                                  const struct gs_stored_tensor *tensor, const char *name,
                                  struct gs_error *error);
enum gs_status gs_tensor_list_reserve(struct gs_tensor_list *list, size_t count,
                                      struct gs_error *error);
void gs_tensor_list_clear(struct gs_tensor_list *list);

#endif
