#include "analyses/retention/factors.h"

#include "analyses/retention/gate_check.h"
#include "core/base/memory.h"
#include "core/kernels/rows.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum gs_status gs_factors_create(struct gs_factors *f, const struct gs_rows *log_decay,
                                 const struct gs_rows *write_strength,
                                 enum gs_transition transition, size_t max_lag, size_t block,
                                 struct gs_error *error) {
    *f = (struct gs_factors){.log_decay = log_decay,
                             .write_strength = write_strength,
                             .transition = transition,
                             .heads = log_decay->width,
                             .max_lag = max_lag,
                             .block = block};
    size_t window, rows;
    if (!gs_add(max_lag, block, &f->capacity) || !gs_multiply(f->capacity, f->heads, &window))
        window = SIZE_MAX;
    if (!gs_multiply(block, f->heads, &rows)) rows = SIZE_MAX;
    f->decay = gs_calloc(window, sizeof *f->decay);
    f->key = gs_calloc(write_strength ? window : 0, sizeof *f->key);
    f->raw[0] = gs_calloc(rows, sizeof **f->raw);
    f->raw[1] = gs_calloc(rows, sizeof **f->raw);
    f->product = gs_calloc(rows, sizeof *f->product);
    f->gates = gs_calloc(f->heads, sizeof *f->gates);
    f->unit_decay = gs_calloc(f->heads, sizeof *f->unit_decay);
    f->unit_key = gs_calloc(f->heads, sizeof *f->unit_key);
    if (f->decay && f->key && f->raw[0] && f->raw[1] && f->product && f->gates && f->unit_decay &&
        f->unit_key)
        return GS_OK;
    return gs_fail_memory(error, window > SIZE_MAX / 16 ? SIZE_MAX : window * 16,
                          "gates of the lag window");
}

void gs_factors_release(struct gs_factors *f) {
    gs_free(f->decay);
    gs_free(f->key);
    gs_free(f->raw[0]);
    gs_free(f->raw[1]);
    gs_free(f->product);
    gs_free(f->gates);
    gs_free(f->unit_decay);
    gs_free(f->unit_key);
    *f = (struct gs_factors){0};
}

/* ---- reading ---- */

static double along_key(enum gs_transition transition, double alpha, double beta) {
    return transition == GS_TRANSITION_GPN ? alpha - beta : alpha * (1 - beta);
}

/* α and 1 − α by one call: each from the side where it keeps its digits. */
static double decay_of(double gamma, double *loss) {
    double alpha, below = -0.5;
    if (gamma > below) {
        *loss = -expm1(gamma);
        alpha = 1 - *loss;
    } else {
        alpha = exp(gamma);
        *loss = 1 - alpha;
    }
    return alpha;
}

/* Sums in places of their own: neighbouring heads are other threads'. */
static void take_head(struct gs_factors *f, size_t h, size_t count) {
    struct gs_gate_sums gates = f->gates[h];
    bool unit_decay = f->unit_decay[h], unit_key = f->unit_key[h];
    double *decay = f->decay + h * f->capacity + f->held;
    double *key = f->write_strength ? f->key + h * f->capacity + f->held : NULL;
    for (size_t r = 0; r < count; r++) {
        double gamma = (double)f->raw[0][r * f->heads + h], loss;
        decay[r] = decay_of(gamma, &loss);
        gates.log_decay += gamma;
        gates.loss += loss;
        unit_decay = unit_decay && gamma == 0;
        if (!key) continue;
        double beta = (double)f->raw[1][r * f->heads + h];
        key[r] = along_key(f->transition, decay[r], beta);
        unit_key = unit_key && gamma == 0 && beta == 0;
    }
    f->gates[h] = gates;
    f->unit_decay[h] = unit_decay;
    f->unit_key[h] = unit_key;
}

static void take_rows(struct gs_factors *f, size_t count) {
#pragma omp parallel for schedule(static) if (f->heads > 1 && count * f->heads > 1024)
    for (size_t h = 0; h < f->heads; h++) take_head(f, h, count);
    f->held += count;
}

/* Read on until the window is full or the sequence ends; then say how many starts it serves. */
static enum gs_status fill_window(struct gs_factors *f, struct gs_error *error) {
    while (f->held < f->capacity && f->first + 1 + f->held < f->length) {
        uint64_t row = f->first + 1 + f->held, left = f->length - row;
        size_t count = f->capacity - f->held < f->block ? f->capacity - f->held : f->block;
        if (left < count) count = (size_t)left;
        enum gs_status status =
            gs_rows_read(f->log_decay, f->sequence, row, count, f->raw[0], error);
        if (status == GS_OK && f->write_strength)
            status = gs_rows_read(f->write_strength, f->sequence, row, count, f->raw[1], error);
        if (status == GS_OK)
            status = gs_gate_check(f->raw[0], f->write_strength ? f->raw[1] : NULL, f->heads,
                                   f->sequence, row, count, error);
        if (status != GS_OK) return status;
        take_rows(f, count);
    }
    f->starts = f->held < f->block ? f->held : f->block;
    return GS_OK;
}

enum gs_status gs_factors_start(struct gs_factors *f, size_t sequence, struct gs_error *error) {
    f->sequence = sequence;
    f->first = 0;
    f->length = f->log_decay->length[sequence];
    f->held = f->starts = 0;
    for (size_t h = 0; h < f->heads; h++) {
        f->gates[h] = (struct gs_gate_sums){0};
        f->unit_decay[h] = f->unit_key[h] = true;
    }
    return fill_window(f, error);
}

enum gs_status gs_factors_next(struct gs_factors *f, struct gs_error *error) {
    size_t kept = f->held - f->starts;
    for (size_t h = 0; h < f->heads; h++) {
        double *decay = f->decay + h * f->capacity;
        memmove(decay, decay + f->starts, kept * sizeof *decay);
        if (!f->write_strength) continue;
        double *key = f->key + h * f->capacity;
        memmove(key, key + f->starts, kept * sizeof *key);
    }
    f->first += f->starts;
    f->held = kept;
    return fill_window(f, error);
}

/* ---- products ---- */

/* Products near the end of the range would be denormal, which is slow and counts for nothing.
 * False when none is left. */
static bool drop_tiny(double *product, size_t count) {
    bool left = false;
    for (size_t i = 0; i < count; i++) {
        if (fabs(product[i]) < 1e-250) product[i] = 0;
        left = left || product[i] != 0;
    }
    return left;
}

/* Starts that have a product of k factors in the window. */
static size_t starts_at(const struct gs_factors *f, size_t k) {
    return f->held - k + 1 < f->starts ? f->held - k + 1 : f->starts;
}

/* Every lag; four at a time while all starts have a product at each of them. */
static void add_head(const struct gs_factors *f, const double *factor, size_t max_lag,
                     double *product, double *curve) {
    enum { BETWEEN = 16, TOGETHER = 4 };
    const struct gs_row_kernels *kernels = gs_row_kernels();
    for (size_t i = 0; i < f->starts; i++) product[i] = 1;
    for (size_t k = 1; k <= max_lag && k <= f->held;) {
        size_t last = k + TOGETHER - 1, count = starts_at(f, k);
        if (last <= max_lag && last <= f->held && starts_at(f, last) == count) {
            double sums[TOGETHER];
            kernels->running_products(product, factor + k - 1, count, sums);
            for (size_t l = 0; l < TOGETHER; l++) curve[k - 1 + l] += sums[l];
            k += TOGETHER;
        } else {
            curve[k - 1] += kernels->running_product(product, factor + k - 1, count);
            k++;
        }
        if ((k - 1) % BETWEEN == 0 && !drop_tiny(product, count)) return;
    }
}

void gs_factors_add_products(struct gs_factors *f, double *values, size_t lags, double *curve) {
#pragma omp parallel for schedule(dynamic) if (f->heads > 1 && f->starts * f->max_lag > 4096)
    for (size_t h = 0; h < f->heads; h++) {
        add_head(f, values + h * f->capacity, f->max_lag, f->product + h * f->block,
                 curve + h * lags);
    }
}
