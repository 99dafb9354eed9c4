/* comparison.h - one model against another on the same predictions.
 *
 * Models share most of what makes a text hard, so the difference of two is known far better than
 * either: each observation gives its own difference, and the limits are over those. Observations
 * are documents where the data tells them, else windows; in LAMBADA, its examples.
 */
#ifndef GS_CORE_EVALUATION_COMPARISON_H
#define GS_CORE_EVALUATION_COMPARISON_H

#include "core/base/status.h"
#include "core/evaluation/lambada.h"
#include "core/evaluation/limits.h"
#include "core/evaluation/loss.h"

#include <stdbool.h>
#include <stddef.h>

struct gs_difference {
    double value; /* of the first minus that of the second */
    struct gs_limits limits;
    size_t n;       /* observations */
    bool documents; /* they are documents, not windows */
};

/* Loss in nats a token. GS_SHAPE when the two are not of the same tokens. */
enum gs_status gs_loss_difference(const struct gs_loss *first, const struct gs_loss *second,
                                  struct gs_difference *difference, struct gs_error *error);

/* Loss in nats a subword of the last words, and accuracy. GS_SHAPE when the two are not of the same
 * examples. */
enum gs_status gs_lambada_loss_difference(const struct gs_lambada *first,
                                          const struct gs_lambada *second,
                                          struct gs_difference *difference, struct gs_error *error);
enum gs_status gs_lambada_accuracy_difference(const struct gs_lambada *first,
                                              const struct gs_lambada *second,
                                              struct gs_difference *difference,
                                              struct gs_error *error);

#endif
