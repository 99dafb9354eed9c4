/* gates.h - passes over the gates of memory heads: factors, and their products over windows of 1,
 * 2, 4, … rows (retention); kernels.h has the rules. A group is as many heads as a vector holds;
 * what is computed for a head depends on that head alone, in a fixed order.
 */
#ifndef GS_CORE_KERNELS_GATES_H
#define GS_CORE_KERNELS_GATES_H

#include <stdbool.h>
#include <stddef.h>

enum {
    GS_GATE_FAR = 9,     /* the first level with a ring of its own */
    GS_GATE_ROWS = 512,  /* 2^GS_GATE_FAR: rows are multiplied so many at a time */
    GS_GATE_LEVELS = 64, /* more lags than a size_t has powers of two are not needed */
    GS_GATE_GROUP = 16   /* the largest group */
};

/* Rows of γ, and of β or NULL, `stride` floats apart, of a group of heads. A whole vector is read
 * of every row: the last one must have so much room behind it. */
struct gs_gate_rows {
    const float *log_decay, *strength;
    size_t stride, rows;
    bool gated_delta;   /* along the key α (1 − β), else α − β */
    float *decay, *key; /* (rows, group) become α and the factor along the key */
    /* (group) each: += Σ γ, += Σ (1 − α); the largest β so far */
    double *log_decay_sum, *loss_sum;
    float *most_strength;
};

struct gs_gate_ring {
    float *begin, *at, *end; /* at: where the next rows go */
};

/* Running products of one group's factors. Ring l, from GS_GATE_FAR on while 2^(l + 1) is a lag,
 * holds the products of 2^l factors that end at the last 2^l rows (2^l, group); the shorter ones
 * stand in `past`. Zeros stand for rows before the first. */
struct gs_gate_products {
    size_t lags; /* 1, 2, … 2^(lags − 1) */
    struct gs_gate_ring ring[GS_GATE_LEVELS];
    float *past;  /* (GS_GATE_ROWS − 1, group) */
    double *sums; /* (lags, group) */
};

struct gs_gate_kernels {
    size_t group;
    /* α = exp γ with the digits that float32 has, 1 − α likewise. False when a γ is above 0 or
     * NaN, or a β outside [0, 1]. */
    bool (*factors)(const struct gs_gate_rows *rows);
    /* `rows` more rows of factors (a multiple of GS_GATE_ROWS): sums[l] += Σ of the products of the
     * 2^l factors up to each row, summed 64 rows at a time in float32. A factor of 0 stands for a
     * row that is not there. Products below about 1e-38 count as 0. The factors are worked in. */
    void (*multiply)(struct gs_gate_products *products, float *factors, size_t rows);
};

/* The table in use: the one of gs_kernels; and the one for gs_kernels_at(index), or NULL. */
const struct gs_gate_kernels *gs_gate_kernels(void);
const struct gs_gate_kernels *gs_gate_kernels_at(size_t index);

#endif
