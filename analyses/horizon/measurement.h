/* measurement.h - one horizon being measured. Inside horizon only. */
#ifndef GS_ANALYSES_HORIZON_MEASUREMENT_H
#define GS_ANALYSES_HORIZON_MEASUREMENT_H

#include "analyses/horizon/chosen_lags.h"
#include "analyses/horizon/horizon.h"
#include "analyses/horizon/pair_sums.h"
#include "analyses/horizon/row_block.h"
#include "analyses/horizon/unit_rows.h"

enum {
    GS_CENTERINGS = GS_CURVE_NULL,
    GS_OTHERS = GS_CURVES - GS_CURVE_NULL,
    GS_MEAN_SHARE = 32 /* rows that one thread adds up at a time */
};

struct gs_measurement {
    const struct gs_rows *rows;
    const struct gs_horizon_plan *plan;
    struct gs_horizon *horizon;
    double *global_mean, *sequence_mean; /* (width) */
    size_t piece, threads;               /* rows of `raw` that are read at a time for means */
    double *share_sums;                  /* (shares of a piece, width) */
    float *shift;                        /* (whole panels) sequence − global mean */
    float *parts[2];                     /* of the global mean, and … */
    struct gs_centre centre;             /* … as the blocks want it */
    /* chosen lags */
    struct gs_row_block blocks[2], *own, *other;
    struct gs_chosen_lags *chosen;
    /* all lags, and sequences whose rows are delicate */
    size_t block;
    float *raw; /* rows as read: (piece, width), or a share of each thread's */
    struct gs_unit_rows window[GS_CENTERINGS]; /* the own sequence */
    struct gs_unit_rows others[GS_OTHERS]; /* one block of the partner: raw, minus global mean */
    struct gs_pair_sums *sums;
    const struct gs_progress *progress;
    double done, total; /* rows */
};

/* Progress, and GS_INTERRUPTED when somebody wants to stop. */
enum gs_status gs_measurement_read(struct gs_measurement *m, size_t rows_read,
                                   struct gs_error *error);
/* Means of all rows, of one sequence; errors as gs_horizon_measure. */
enum gs_status gs_measurement_global_mean(struct gs_measurement *m, struct gs_error *error);
enum gs_status gs_measurement_sequence_mean(struct gs_measurement *m, size_t sequence,
                                            struct gs_error *error);
/* How far late rows go: to the own end, and with a partner as far as it has rows within reach. */
uint64_t gs_measurement_end(const struct gs_measurement *m, size_t sequence, int64_t partner);

/* All curves of one sequence and its partner (negative: none) with unit vectors of every centring.
 */
enum gs_status gs_measurement_by_units(struct gs_measurement *m, size_t sequence, int64_t partner,
                                       struct gs_error *error);
/* The same at chosen lags with one set of dots for all centrings. *delicate: nothing was added,
 * since that would have cost digits. */
enum gs_status gs_measurement_by_dots(struct gs_measurement *m, size_t sequence, int64_t partner,
                                      bool *delicate, struct gs_error *error);

#endif
