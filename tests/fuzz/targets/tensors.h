/* tensors.h - everything that a checkpoint of any format is asked for, without a model. */
#ifndef GS_TESTS_FUZZ_TARGETS_TENSORS_H
#define GS_TESTS_FUZZ_TARGETS_TENSORS_H

#include "core/checkpoint/tensor_file.h"
#include "tests/fuzz/target.h"

/* Open, read every tensor, look for a training state, close. */
void gs_fuzz_tensors(const uint8_t *bytes, size_t size,
                     const struct gs_tensor_file_options *options);

#endif
