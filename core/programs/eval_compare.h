/* eval_compare.h - between the files that compare checkpoints. Not for others. */
#ifndef GS_CORE_PROGRAMS_EVAL_COMPARE_H
#define GS_CORE_PROGRAMS_EVAL_COMPARE_H

#include "core/evaluation/comparison.h"
#include "core/programs/eval_parts.h"

/* One of the models that are compared. */
struct gs_competitor {
    const char *path;
    const char *kind; /* borrowed from the list of kinds */
    size_t vocab, parameters, first;
    char sha256[GS_SHA256_TEXT];
    struct gs_loss *loss; /* one of these two */
    struct gs_lambada *lambada;
};

/* eval_compare_lambada.c: of all checkpoints; fills competitors[].lambada. */
enum gs_status gs_eval_compare_lambada(struct gs_eval *eval, struct gs_competitor *competitors,
                                       struct gs_error *error);

/* eval_compare.c, for both. */

/* Loads checkpoint `index` into eval->model, in place of the one before. */
enum gs_status gs_eval_take(struct gs_eval *eval, size_t index, struct gs_error *error);
/* A new table "differences". */
enum gs_status gs_eval_differences(struct gs_eval *eval, struct gs_table **table,
                                   struct gs_error *error);
/* Its row of one pair, and the same as the value "<name>.NN.MM". */
enum gs_status gs_eval_difference(struct gs_eval *eval, struct gs_table *table, const char *name,
                                  const char *unit, size_t first, size_t second,
                                  const struct gs_difference *difference, struct gs_error *error);

#endif
