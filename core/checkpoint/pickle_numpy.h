/* pickle_numpy.h - numpy's arrays and scalars (and jax's arrays) out of a pickle's inert calls.
 *
 * An array is numpy.core.multiarray._reconstruct (numpy._core since 2.0) with the state (version,
 * shape, dtype, Fortran order?, bytes), or in protocol 5 numpy.core.numeric._frombuffer(bytes,
 * dtype, shape, order); a scalar is numpy.core.multiarray.scalar(dtype, bytes); jax wraps the first
 * into _reconstruct_array. Where protocol 2 has no bytes they are a text behind _codecs.encode.
 */
#ifndef GS_CORE_CHECKPOINT_PICKLE_NUMPY_H
#define GS_CORE_CHECKPOINT_PICKLE_NUMPY_H

#include "core/checkpoint/pickle.h"
#include "core/checkpoint/stored_tensor.h"

/* Is the value one of these? */
bool gs_numpy_recognise(const struct gs_pickle_value *value);

/* Read it. tensor->name is kept; the bytes stay in the pickle. `void_is_bfloat16`: elements of two
 * bytes whose type has lost its name are bfloat16 (else GS_UNSUPPORTED says how to say so). Errors
 * name the tensor, the caller adds the file. */
enum gs_status gs_numpy_read(const struct gs_pickle_value *value, bool void_is_bfloat16,
                             struct gs_stored_tensor *tensor, struct gs_error *error);

#endif
