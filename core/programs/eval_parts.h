/* eval_parts.h - between the files of `gpnscope eval`. Not for others. */
#ifndef GS_CORE_PROGRAMS_EVAL_PARTS_H
#define GS_CORE_PROGRAMS_EVAL_PARTS_H

#include "core/checkpoint/checkpoint.h"
#include "core/evaluation/limits.h"
#include "core/programs/command.h"
#include "core/results/results.h"

struct gs_eval {
    const struct gs_call *call;
    size_t length, skip, sequences, batch; /* as the options */
    const char *tokenizer, *lambada;       /* paths, or NULL */
    bool bf16;
    struct gs_model *model;
    struct gs_checkpoint_info info;
    struct gs_results *results;
};

/* eval_loss.c: the loss on call->files[1]; eval_lambada.c: the last words of `lambada`. */
enum gs_status gs_eval_loss(struct gs_eval *eval, struct gs_error *error);
enum gs_status gs_eval_lambada(struct gs_eval *eval, struct gs_error *error);

/* eval_values.c: what both report. */

/* A value with its limits, where they are known. One that is not finite has `reason` (may be NULL).
 */
enum gs_status gs_eval_value(struct gs_results *results, const char *name, const char *unit,
                             double value, struct gs_limits limits, uint64_t n, const char *reason,
                             struct gs_error *error);
/* exp of a value with its limits. Of a large loss it may not be a number that can be written. */
enum gs_status gs_eval_perplexity(struct gs_results *results, const char *name, double loss,
                                  struct gs_limits limits, uint64_t n, const char *reason,
                                  struct gs_error *error);
enum gs_status gs_eval_note(struct gs_results *results, struct gs_error *error, const char *format,
                            ...) __attribute__((format(printf, 3, 4)));

#endif
