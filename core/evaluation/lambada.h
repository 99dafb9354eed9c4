/* lambada.h - predicting the last word of a passage, as the paper does (../shared/spec/model.md,
 * last section).
 *
 * Each text starts from the state 0, without BOS. Accuracy: the most probable token after the
 * prefix is the first subword of the last word (the lowest id wins a tie). Perplexity: exp of the
 * mean cross-entropy over the subwords of all last words.
 */
#ifndef GS_CORE_EVALUATION_LAMBADA_H
#define GS_CORE_EVALUATION_LAMBADA_H

#include "core/base/progress.h"
#include "core/base/status.h"
#include "core/evaluation/lambada_examples.h"
#include "core/evaluation/limits.h"
#include "core/models/model.h"

#include <stdbool.h>
#include <stddef.h>

struct gs_lambada_options {
    size_t batch; /* texts side by side; 0: GS_EVALUATION_BATCH. No bit depends on it. */
    bool bf16;    /* weights rounded to bfloat16 (gs_runner_options) */
};

struct gs_lambada {
    size_t examples;
    size_t correct;
    size_t words;            /* last-word subwords */
    double accuracy;         /* correct / examples */
    double loss;             /* nats a subword */
    double perplexity;       /* exp(loss) */
    struct gs_limits limits; /* of the loss, over examples (limits.h) */
    double *nll;             /* (examples): sum over the last word's subwords */
    bool *hit;               /* (examples): the first subword was predicted */
    double *subwords;        /* (examples): of the last word */
};

/* GS_RANGE when an id is not in the model's vocabulary, or an example is too short for a model that
 * does not predict its first positions; GS_NUMERIC naming the example; GS_INTERRUPTED. Free with
 * gs_lambada_destroy (NULL is fine). */
enum gs_status gs_evaluate_lambada(struct gs_model *model,
                                   const struct gs_lambada_examples *examples,
                                   const struct gs_lambada_options *options,
                                   const struct gs_progress *progress, struct gs_lambada **lambada,
                                   struct gs_error *error);
void gs_lambada_destroy(struct gs_lambada *lambada);

#endif
