/* pickle_torch.h - PyTorch's tensors out of a pickle's inert calls.
 *
 * torch._utils._rebuild_tensor_v2(storage, offset, size, stride, …), where the storage stands
 * outside under the id ("storage", torch.FloatStorage, key, place, elements); _rebuild_tensor_v3
 * says the dtype itself, since its storage is untyped; _rebuild_parameter wraps a tensor.
 */
#ifndef GS_CORE_CHECKPOINT_PICKLE_TORCH_H
#define GS_CORE_CHECKPOINT_PICKLE_TORCH_H

#include "core/checkpoint/pickle.h"
#include "core/checkpoint/stored_tensor.h"

/* Is the value one of these? */
bool gs_torch_recognise(const struct gs_pickle_value *value);

struct gs_torch_storage {
    const char *key; /* borrowed, no NUL at its end */
    size_t key_size;
    size_t size; /* bytes that the pickle says it has */
};

/* Read it: everything but its bytes, which are in the storage, from tensor->offset on. A tensor
 * that reaches beyond its storage, or has more elements than that (expand), is refused. */
enum gs_status gs_torch_read(const struct gs_pickle_value *value, struct gs_stored_tensor *tensor,
                             struct gs_torch_storage *storage, struct gs_error *error);

#endif
