/* naive_run.h - a whole training run again: the model's own gradients of one sequence at a time,
 * everything else anew and in double. */
#ifndef GS_TESTS_CORE_TRAINING_NAIVE_RUN_H
#define GS_TESTS_CORE_TRAINING_NAIVE_RUN_H

#include <stddef.h>

/* Run the small config with `sets` into `folder`, and naively with the gradient cut every `cut`
 * predicted tokens: last loss and final weights must agree. */
void naive_compare(const char *folder, const char *const *sets, size_t cut);

#endif
