/* Passes over the gates of memory heads; see gates.h. */
#include "core/kernels/gates.h"

#include "core/kernels/wide.h"

/* A vector of floats in float64. */
struct widened {
    wide low, high;
};

GS_INLINE void add_to(struct widened *sum, lanes value) {
    sum->low += widen_low(value);
    sum->high += widen_high(value);
}

GS_INLINE void add_to_memory(double *sum, const struct widened *more) {
    *(wide_memory *)sum += more->low;
    *(wide_memory *)(sum + HALF) += more->high;
}

/* ---- factors --------------------------------------------------------------------------------- */

/* Rows side by side: each waits for its own steps, and there are too many of them for the processor
 * to look far ahead. */
enum { ABREAST = 4 };

/* exp γ and 1 − exp γ for γ ≤ 0, as exp_lanes (lanes.h): with e^r − 1 apart, 1 − α keeps its
 * digits near 0. Below −87 α is 0. */
GS_INLINE void decay_of(const lanes gamma[ABREAST], size_t count, lanes alpha[ABREAST],
                        lanes loss[ABREAST]) {
    const lanes lowest = fill(-87.0f), magic = fill(12582912.0f); /* 1.5 * 2^23 rounds */
    lanes r[ABREAST], shifted[ABREAST], p[ABREAST];
    for (size_t i = 0; i < count; i++) {
        lanes x = select(gamma[i] >= lowest, gamma[i], lowest);
        shifted[i] = x * 1.44269504088896341f + magic;
        lanes n = shifted[i] - magic;
        r[i] = x - n * 0.693359375f;
        r[i] = r[i] - n * -2.12194440e-4f;
    }
    /* Estrin's order */
    for (size_t i = 0; i < count; i++) {
        lanes square = r[i] * r[i];
        lanes high = r[i] * 1.9875691500e-4f + 1.3981999507e-3f;
        lanes middle = r[i] * 8.3334519073e-3f + 4.1665795894e-2f;
        lanes low = r[i] * 1.6666665459e-1f + 5.0000001201e-1f;
        p[i] = ((high * square + middle) * square + low) * square + r[i];
    }
    for (size_t i = 0; i < count; i++) {
        lanes scale = (lanes)(((lanes_int)shifted[i] - (lanes_int)magic + 127) << 23);
        loss[i] = (1.0f - scale) - scale * p[i];
        alpha[i] = (lanes)((gamma[i] >= lowest) & (lanes_int)(scale * p[i] + scale));
    }
}

struct gate_sums {
    struct widened gammas, losses;
    lanes_int good;
    lanes most; /* β */
};

/* has_key, gated_delta and count are constants at every call. */
GS_INLINE void find_rows(const struct gs_gate_rows *g, size_t row, size_t count, bool has_key,
                         bool gated_delta, struct gate_sums *sums) {
    lanes gamma[ABREAST], alpha[ABREAST], loss[ABREAST];
    for (size_t i = 0; i < count; i++) gamma[i] = load(g->log_decay + (row + i) * g->stride);
    decay_of(gamma, count, alpha, loss);
    for (size_t i = 0; i < count; i++) {
        size_t to = (row + i) * GS_LANES;
        sums->good &= gamma[i] <= fill(0);
        add_to(&sums->gammas, gamma[i]);
        add_to(&sums->losses, loss[i]);
        store(g->decay + to, alpha[i]);
        if (!has_key) continue;
        lanes beta = load(g->strength + (row + i) * g->stride);
        sums->good &= (beta >= fill(0)) & (beta <= fill(1));
        sums->most = select(beta > sums->most, beta, sums->most);
        store(g->key + to, gated_delta ? alpha[i] - alpha[i] * beta : alpha[i] - beta);
    }
}

GS_INLINE bool find_factors(const struct gs_gate_rows *rows, bool has_key, bool gated_delta) {
    const struct gs_gate_rows copy = *rows, *const g = &copy; /* stores do not reach it */
    struct gate_sums sums = {.good = fill(0) == fill(0),
                             .most = has_key ? load(g->most_strength) : fill(0)};
    size_t row = 0;
    for (; row + ABREAST <= g->rows; row += ABREAST)
        find_rows(g, row, ABREAST, has_key, gated_delta, &sums);
    for (; row < g->rows; row++) find_rows(g, row, 1, has_key, gated_delta, &sums);
    add_to_memory(g->log_decay_sum, &sums.gammas);
    add_to_memory(g->loss_sum, &sums.losses);
    if (has_key) store(g->most_strength, sums.most);
    bool all = true;
    for (size_t l = 0; l < GS_LANES; l++) all = all && sums.good[l];
    return all;
}

static bool factors(const struct gs_gate_rows *g) {
    if (!g->strength) return find_factors(g, false, false);
    return g->gated_delta ? find_factors(g, true, true) : find_factors(g, true, false);
}

/* ---- products -------------------------------------------------------------------------------- */

/* Numbers below float32's smallest normal one are slow on some processors and count for nothing. */
#if defined(__x86_64__)
enum { FLUSH = 0x8040 };
static unsigned flush_tiny(void) {
    unsigned before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before | FLUSH);
    return before;
}
static void flush_as(unsigned before) {
    __builtin_ia32_ldmxcsr(before);
}
#else
static unsigned flush_tiny(void) {
    return 0;
}
static void flush_as(unsigned before) {
    (void)before;
}
#endif

enum { BLOCK = 8, LEVELS = 3, SUMMED = 64 }; /* 2^LEVELS = BLOCK; rows summed in float32 */

GS_INLINE lanes sum_of(const lanes v[BLOCK]) {
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

/* window[i] *= the window that ends `back` windows before it: of these, or of the ones before,
 * whose last `back` stand in `past` and are replaced by these ones'. */
GS_INLINE void lengthen(lanes window[BLOCK], size_t back, float *past) {
    lanes longer[BLOCK];
    for (size_t i = 0; i < BLOCK; i++)
        longer[i] = window[i] * (i < back ? load(past + i * GS_LANES) : window[i - back]);
    for (size_t i = 0; i < back; i++) store(past + i * GS_LANES, window[BLOCK - back + i]);
    for (size_t i = 0; i < BLOCK; i++) window[i] = longer[i];
}

/* Eight windows, each as long as they are `apart`, become eight times as long, in place; the sums
 * at 2, 4 and 8 times their length are added to `part`. `past`: (7) of the windows before. */
GS_INLINE void lengthen_thrice(float *rows, size_t apart, float *past, lanes part[LEVELS]) {
    lanes window[BLOCK];
    for (size_t i = 0; i < BLOCK; i++) window[i] = load(rows + i * apart * GS_LANES);
    lengthen(window, 1, past);
    part[0] += sum_of(window);
    lengthen(window, 2, past + GS_LANES);
    part[1] += sum_of(window);
    lengthen(window, 4, past + 3 * GS_LANES);
    part[2] += sum_of(window);
    for (size_t i = 0; i < BLOCK; i++) store(rows + i * apart * GS_LANES, window[i]);
}

/* sums (from, group) += part, for lags that are measured. */
GS_INLINE void add_sums(const struct gs_gate_products *p, size_t from, size_t count,
                        const lanes *part) {
    for (size_t l = 0; l < count && from + l < p->lags; l++) {
        struct widened sum = {{0}, {0}};
        add_to(&sum, part[l]);
        add_to_memory(p->sums + (from + l) * GS_LANES, &sum);
    }
}

/* Windows of 1 row become ones of 8: SUMMED rows. */
GS_INLINE void lengthen_first(const struct gs_gate_products *p, float *rows) {
    lanes part[1 + LEVELS];
    for (size_t l = 0; l <= LEVELS; l++) part[l] = fill(0);
    for (size_t r = 0; r < SUMMED; r += BLOCK) {
        lanes window[BLOCK];
        for (size_t i = 0; i < BLOCK; i++) window[i] = load(rows + (r + i) * GS_LANES);
        part[0] += sum_of(window);
        lengthen_thrice(rows + r * GS_LANES, 1, p->past, part + 1);
    }
    add_sums(p, 0, 1 + LEVELS, part);
}

/* Windows as long as they are `apart`, BLOCK · apart of them. */
GS_INLINE void lengthen_all(const struct gs_gate_products *p, float *rows, size_t apart,
                            size_t level) {
    float *past = p->past + (apart - 1) * GS_LANES;
    for (size_t first = 0; first < apart; first += BLOCK) {
        lanes part[LEVELS];
        for (size_t l = 0; l < LEVELS; l++) part[l] = fill(0);
        for (size_t i = first; i < first + BLOCK; i++)
            lengthen_thrice(rows + i * GS_LANES, apart, past + i * (BLOCK - 1) * GS_LANES, part);
        add_sums(p, level + 1, LEVELS, part);
    }
}

/* A ring's windows, of so many rows before, stand where these go. */
GS_INLINE void lengthen_far(const struct gs_gate_products *p, float *rows, float *ring,
                            size_t level) {
    for (size_t first = 0; first < GS_GATE_ROWS; first += SUMMED) {
        lanes part = fill(0);
        for (size_t r = first; r < first + SUMMED; r += BLOCK) {
            lanes longer[BLOCK];
            for (size_t i = 0; i < BLOCK; i++) {
                size_t at = (r + i) * GS_LANES;
                lanes window = load(rows + at);
                longer[i] = window * load(ring + at);
                store(ring + at, window);
                store(rows + at, longer[i]);
            }
            part += sum_of(longer);
        }
        add_sums(p, level + 1, 1, &part);
    }
}

/* A block's place in a ring, and on to the next one. */
GS_INLINE float *take_place(struct gs_gate_ring *ring) {
    float *at = ring->at, *next = at + GS_GATE_ROWS * GS_LANES;
    ring->at = next == ring->end ? ring->begin : next;
    return at;
}

/* Level by level as far as a block of rows goes in the cache, with three levels at a time in
 * registers: windows of 8 rows that are 8 rows apart are to each other what single rows are. */
static void multiply(struct gs_gate_products *p, float *factors, size_t rows) {
    unsigned before = flush_tiny();
    for (size_t r = 0; r < rows; r += GS_GATE_ROWS) {
        float *block = factors + r * GS_LANES;
        for (size_t i = 0; i < GS_GATE_ROWS; i += SUMMED) {
            lengthen_first(p, block + i * GS_LANES);
            if (p->lags > LEVELS + 1) lengthen_all(p, block + i * GS_LANES, BLOCK, LEVELS);
        }
        if (p->lags > 2 * LEVELS + 1) lengthen_all(p, block, SUMMED, 2 * LEVELS);
        for (size_t l = GS_GATE_FAR; l + 1 < p->lags; l++)
            lengthen_far(p, block, take_place(&p->ring[l]), l);
    }
    flush_as(before);
}

const struct gs_gate_kernels GS_KERNEL(gates) = {
    .group = GS_LANES, .factors = factors, .multiply = multiply};
