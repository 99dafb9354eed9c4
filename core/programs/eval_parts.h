/* eval_parts.h - between the files of `gpnscope eval`. Not for others. */
#ifndef GS_CORE_PROGRAMS_EVAL_PARTS_H
#define GS_CORE_PROGRAMS_EVAL_PARTS_H

#include "core/checkpoint/checkpoint.h"
#include "core/evaluation/limits.h"
#include "core/evaluation/loss.h"
#include "core/programs/command.h"
#include "core/results/results.h"
#include "core/text/tokenizer.h"
#include "core/text/tokens.h"

struct gs_eval {
    const struct gs_call *call;
    const char *const *checkpoints; /* paths; more than one: they are compared */
    size_t checkpoint_count;
    const char *data;                      /* path; NULL with lambada */
    size_t length, skip, sequences, batch; /* as the options */
    const char *tokenizer, *lambada;       /* paths, or NULL */
    bool bf16;
    struct gs_model *model; /* of the one checkpoint, or of the one at hand */
    struct gs_checkpoint_info info;
    struct gs_results *results;
};

/* eval_loss.c: the loss on `data`; eval_lambada.c: the last words of `lambada`. */
enum gs_status gs_eval_loss(struct gs_eval *eval, struct gs_error *error);
enum gs_status gs_eval_lambada(struct gs_eval *eval, struct gs_error *error);
/* eval_compare.c: the same of several checkpoints, side by side. */
enum gs_status gs_eval_compare(struct gs_eval *eval, struct gs_error *error);

/* eval_lambada.c: how its numbers are to be read. */
struct gs_lambada_examples;
enum gs_status gs_eval_lambada_notes(struct gs_results *results,
                                     const struct gs_lambada_examples *examples,
                                     struct gs_error *error);

/* eval_loss.c: what comes before a loss and behind it. */

/* The data, and the tokenizer (NULL where none was given) when it may be theirs. */
enum gs_status gs_eval_open(const struct gs_eval *eval, size_t vocab, struct gs_tokens **tokens,
                            struct gs_tokenizer **tokenizer, struct gs_error *error);
struct gs_loss_options gs_eval_loss_options(const struct gs_eval *eval);
/* What was read and what was not, with a note. */
enum gs_status gs_eval_windows(struct gs_results *results, const struct gs_loss *loss,
                               struct gs_error *error);
enum gs_status gs_eval_note_tokenizer(struct gs_eval *eval, const struct gs_tokens *tokens,
                                      const struct gs_tokenizer *tokenizer, struct gs_error *error);

/* eval_values.c: what all report. */

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
