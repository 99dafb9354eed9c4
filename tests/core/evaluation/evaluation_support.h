/* evaluation_support.h - a model with random weights, and its predictions computed plainly. */
#ifndef GS_TESTS_CORE_EVALUATION_EVALUATION_SUPPORT_H
#define GS_TESTS_CORE_EVALUATION_EVALUATION_SUPPORT_H

#include "core/models/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `kind` ("gpn", "gpn_m", "transformer", "gdn") with `vocab` tokens and random values in every
 * parameter, large enough that its predictions differ much. gs_model_destroy. */
struct gs_model *gs_test_model(const char *kind, size_t vocab, uint64_t seed);

/* The second way: run one sequence alone, keep its decodable states, and decode each on its own.
 * log_probability (count, vocab) of token t + first at row t, in double. gs_free. */
double *gs_test_log_probabilities(struct gs_model *model, const uint32_t *ids, size_t count,
                                  bool bf16);

#endif
