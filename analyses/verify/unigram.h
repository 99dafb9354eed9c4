/* unigram.h - the unigram distribution that a model's mean state stands for. */
#ifndef GS_ANALYSES_VERIFY_UNIGRAM_H
#define GS_ANALYSES_VERIFY_UNIGRAM_H

#include "core/base/progress.h"
#include "probes/trace/reader.h"

enum { GS_UNIGRAM_TOP = 10 };

/* A model's unigram fit: the logits of the mean of all its states, and the tokens with the largest
 * ones. */
struct gs_unigram {
    size_t vocab, top; /* top: GS_UNIGRAM_TOP, or vocab where that is less */
    double *logits;    /* (vocab) */
    uint32_t best[GS_UNIGRAM_TOP];
};

/* Of one stream that the model decodes, by its checkpoint. Errors as
 * gs_default_token_of_trace has them; release with gs_unigram_free. */
enum gs_status gs_unigram_of_trace(struct gs_trace *trace, const char *checkpoint,
                                   const struct gs_progress *progress, struct gs_unigram *unigram,
                                   struct gs_error *error);
void gs_unigram_free(struct gs_unigram *unigram);

/* The cosine of two fits' logits, each less its mean over the vocabulary (a constant added to all
 * logits says nothing), which is Pearson's correlation over tokens; and the Jaccard index of their
 * top tokens, shared over all. NaN when the vocabularies differ or the logits are all alike. */
double gs_unigram_cosine(const struct gs_unigram *a, const struct gs_unigram *b);
double gs_unigram_overlap(const struct gs_unigram *a, const struct gs_unigram *b);

#endif
