/* default_token.h - what a model says when it knows nothing: its mean state, decoded.
 *
 * Three decodings, which differ and are labelled (s̄ is the mean state of all rows used):
 *   mean_state    logits of s̄
 *   mean_logits   mean over rows of the logits
 *   mean_probs    mean over rows of the probabilities
 * Each with its top tokens and Spearman's correlation (average ranks) with unigram counts over the
 * tokens that occur: a token with count 0 has no measured frequency, it is left out and counted.
 * And with how many of its top tokens are among as many most frequent ones (ties by id).
 *
 * Controls:
 *   mean_embedding    the unweighted mean of the vocabulary's input embeddings put to the output
 *                     matrix: shared top tokens; cosine with the vector that the model itself puts
 *                     there for s̄ (gs_decoder_invert)
 *   random_direction  states in random directions of norm ‖s̄‖, a distribution of draws
 *   shuffled_counts   the counts dealt out anew among the tokens that occur, a distribution
 *
 * Intervals: basic bootstrap (basic_interval.h) over sequences or runs of neighbouring ones, at
 * most GS_DEFAULT_BLOCKS; of a count of tokens the replicates' own percentiles. One pass; memory
 * O(blocks · vocab + embedding width · vocab).
 */
#ifndef GS_ANALYSES_DEFAULT_TOKEN_DEFAULT_TOKEN_H
#define GS_ANALYSES_DEFAULT_TOKEN_DEFAULT_TOKEN_H

#include "analyses/default_token/decoder.h"
#include "analyses/stats/bootstrap.h"
#include "analyses/stats/rows.h"
#include "core/base/progress.h"
#include "core/results/results.h"

#include <stdbool.h>
#include <stdint.h>

enum gs_decoding {
    GS_DECODING_MEAN_STATE,
    GS_DECODING_MEAN_LOGITS,
    GS_DECODING_MEAN_PROBS,
    GS_DECODINGS
};
const char *gs_decoding_name(enum gs_decoding decoding); /* "mean_state", …; static */

enum { GS_DEFAULT_BLOCKS = 64 };

struct gs_default_options {
    size_t top;          /* tokens shown and compared; cut to the vocabulary */
    uint64_t skip_first; /* rows at the head of each sequence that are left out */
    size_t replicates;   /* of the bootstrap; 0: no intervals */
    size_t draws;        /* of each random control; 1 to GS_DEFAULT_MOST_DRAWS, else GS_RANGE */
    uint64_t seed;
    const struct gs_progress *progress; /* NULL: nobody watches */
};
enum { GS_DEFAULT_TOP = 10, GS_DEFAULT_REPLICATES = 200, GS_DEFAULT_DRAWS = 500 };
/* Their results are kept (five numbers each), and each decodes a state and shuffles the counts. */
enum { GS_DEFAULT_MOST_DRAWS = 1000000 };

/* One decoding: scores rank the tokens (logits, or log of the mean probability). */
struct gs_default_decoding {
    double *score;       /* (vocab) */
    double *probability; /* (vocab) softmax of the logits, or the mean probability */
    uint32_t *best;      /* (top) ids, most probable first; ties by id */
    double spearman;     /* NaN without counts, or where fewer than two tokens differ */
    struct gs_interval interval;
    /* (replicates) of spearman and frequent, in the order drawn; NULL without intervals */
    double *spearman_replicates, *frequent_replicates;
    double shuffled_share; /* shuffles as far from 0: (1 + those) / (1 + draws) */
    size_t frequent;       /* of best, how many are among the token's `frequent` … */
    struct gs_interval frequent_interval; /* … unknown where there are none */
};

/* A number over draws: their mean and the range that holds the middle 95 % of them. */
struct gs_drawn {
    double mean, low, high; /* NaN when it has no meaning */
};

struct gs_default_token {
    size_t vocab, width, top, sequences, blocks, replicates, draws;
    uint64_t rows, seed;
    double mean_norm;        /* ‖s̄‖ */
    double effective_blocks; /* gs_effective_blocks of the blocks' rows */
    struct gs_default_decoding decodings[GS_DECODINGS];
    /* counts */
    bool has_counts;
    uint64_t counted;         /* Σ counts */
    size_t occurring, absent; /* tokens with a count, and without */
    uint32_t *frequent; /* (top) the most frequent, ties by id; NULL: fewer than `top` occur */
    /* controls, against the mean_state decoding */
    struct gs_default_decoding embedding; /* no interval */
    size_t embedding_overlap;             /* shared top tokens */
    double embedding_cosine;              /* NaN: see embedding_reason */
    const char *embedding_reason;         /* static */
    double embedding_residual;            /* of gs_decoder_invert */
    double embedding_logit_correlation;   /* Pearson's, of the two rows of logits */
    struct gs_drawn random_spearman, random_overlap, shuffled_spearman;
    double random_share; /* draws with a Spearman at least as far from 0, as shuffled_share */
};

/* Measure. counts (vocab) may be NULL: no Spearman. *token is the caller's
 * (gs_default_token_destroy; NULL is fine). GS_SHAPE when rows and decoder differ in width;
 * GS_RANGE when no row is left; errors of the rows and the decoder; GS_INTERRUPTED. */
enum gs_status gs_default_token_measure(const struct gs_rows *rows,
                                        const struct gs_decoder *decoder, const uint64_t *counts,
                                        const struct gs_default_options *options,
                                        struct gs_default_token **token, struct gs_error *error);
void gs_default_token_destroy(struct gs_default_token *token);

/* What a token is called in tables; NULL: it has no name. Borrowed. */
struct gs_pieces {
    const char *(*piece)(const void *context, uint32_t id);
    const void *context;
};

/* Values default.…, tables default_tokens (decoding, rank, id, piece, probability),
 * default_control_tokens (control, …), controls (control, statistic, value, low, high, draws), and
 * notes. pieces may be NULL. */
enum gs_status gs_default_token_report(const struct gs_default_token *token,
                                       const struct gs_pieces *pieces, struct gs_results *results,
                                       struct gs_error *error);

/* What the analysis of a trace needs beside it, as paths. */
struct gs_default_inputs {
    const char *checkpoint;
    const char *tokenizer; /* NULL: pieces are null */
    const char *counts;    /* NULL: the trace's own tokens, said in a note */
};

/* The whole for one stream of a trace: by its name, or the one that the model predicts from (NULL).
 * What its states are decoded through is said as setting and note. GS_CONFIG when the trace was
 * made with another checkpoint, vocabulary or tokenizer (a trace that records none of it is
 * believed), or the model does not decode the stream; GS_SHAPE when the widths differ. */
enum gs_status gs_default_token_of_trace(struct gs_trace *trace, const char *stream,
                                         const struct gs_default_inputs *inputs,
                                         const struct gs_default_options *options,
                                         struct gs_results *results, struct gs_error *error);

/* Every stream of the trace that the model decodes, by itself ("stream.<name>.<value>",
 * core/results/side_by_side.h), and the tables default_by_stream and default_token_by_stream
 * (stream, decoder, id, piece, probability: the most probable token of the mean state). with_main:
 * values of the stream that the model predicts from also stand under their plain names. */
enum gs_status gs_default_token_of_streams(struct gs_trace *trace, bool with_main,
                                           const struct gs_default_inputs *inputs,
                                           const struct gs_default_options *options,
                                           struct gs_results *results, struct gs_error *error);

#endif
