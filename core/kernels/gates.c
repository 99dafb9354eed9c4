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

/* exp γ and 1 − exp γ for γ ≤ 0, as exp_lanes (lanes.h): with e^r − 1 apart, 1 − α keeps its
 * digits near 0. Below −87 α is 0. */
GS_INLINE lanes decay_of(lanes gamma, lanes *loss) {
    const lanes lowest = fill(-87.0f), magic = fill(12582912.0f); /* 1.5 * 2^23 rounds */
    const lanes_int there = gamma >= lowest;
    lanes x = select(there, gamma, lowest);
    lanes shifted = x * 1.44269504088896341f + magic;
    lanes n = shifted - magic;
    lanes r = x - n * 0.693359375f;
    r = r - n * -2.12194440e-4f;
    /* Estrin's order, since a row waits for its own steps alone */
    lanes square = r * r;
    lanes high = r * 1.9875691500e-4f + 1.3981999507e-3f;
    lanes middle = r * 8.3334519073e-3f + 4.1665795894e-2f;
    lanes low = r * 1.6666665459e-1f + 5.0000001201e-1f;
    lanes p = ((high * square + middle) * square + low) * square + r;
    lanes scale = (lanes)(((lanes_int)shifted - (lanes_int)magic + 127) << 23);
    *loss = (1.0f - scale) - scale * p;
    return (lanes)(there & (lanes_int)(scale * p + scale));
}

/* has_key and gated_delta are constants at every call. */
GS_INLINE bool find_factors(const struct gs_gate_rows *rows, bool has_key, bool gated_delta) {
    const struct gs_gate_rows copy = *rows, *const g = &copy; /* stores do not reach it */
    struct widened gammas = {{0}, {0}}, losses = {{0}, {0}};
    lanes_int good = fill(0) == fill(0);
    lanes most = has_key ? load(g->most_strength) : fill(0);
    for (size_t r = 0; r < g->rows; r++) {
        lanes gamma = load(g->log_decay + r * g->stride), loss;
        lanes alpha = decay_of(gamma, &loss);
        good &= gamma <= fill(0);
        add_to(&gammas, gamma);
        add_to(&losses, loss);
        store(g->decay + r * GS_LANES, alpha);
        if (!has_key) continue;
        lanes beta = load(g->strength + r * g->stride);
        good &= (beta >= fill(0)) & (beta <= fill(1));
        most = select(beta > most, beta, most);
        store(g->key + r * GS_LANES, gated_delta ? alpha - alpha * beta : alpha - beta);
    }
    add_to_memory(g->log_decay_sum, &gammas);
    add_to_memory(g->loss_sum, &losses);
    if (has_key) store(g->most_strength, most);
    bool all = true;
    for (size_t l = 0; l < GS_LANES; l++) all = all && good[l];
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

enum { BLOCK = 8, FIRST = 3 };

GS_INLINE lanes sum_of(const lanes v[BLOCK]) {
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

/* window[i] *= the window that ends `back` rows before it: of this block, or of the one before,
 * whose last `back` ones stand in `past` and are replaced by this one's. */
GS_INLINE void lengthen(lanes window[BLOCK], size_t back, float *past) {
    lanes longer[BLOCK];
    for (size_t i = 0; i < BLOCK; i++)
        longer[i] = window[i] * (i < back ? load(past + i * GS_LANES) : window[i - back]);
    for (size_t i = 0; i < back; i++) store(past + i * GS_LANES, window[BLOCK - back + i]);
    for (size_t i = 0; i < BLOCK; i++) window[i] = longer[i];
}

/* The same for windows of at least a block: those of so many rows before stand where these go. */
GS_INLINE void lengthen_far(const lanes window[BLOCK], float *ring, lanes longer[BLOCK]) {
    for (size_t i = 0; i < BLOCK; i++) {
        longer[i] = window[i] * load(ring + i * GS_LANES);
        store(ring + i * GS_LANES, window[i]);
    }
}

/* A block's place in a ring, and on to the next one. */
GS_INLINE float *take_place(struct gs_gate_ring *ring) {
    float *at = ring->at, *next = at + BLOCK * GS_LANES;
    ring->at = next == ring->end ? ring->begin : next;
    return at;
}

static void add_sums(double *sums, lanes *part, size_t lags) {
    for (size_t l = 0; l < lags; l++) {
        struct widened sum = {{0}, {0}};
        add_to(&sum, part[l]);
        add_to_memory(sums + l * GS_LANES, &sum);
        part[l] = fill(0);
    }
}

static void multiply(struct gs_gate_products *p, const float *factors, size_t rows) {
    lanes part[GS_GATE_LEVELS], window[BLOCK];
    size_t lags = p->lags;
    unsigned before = flush_tiny();
    for (size_t l = 0; l < GS_GATE_LEVELS; l++) part[l] = fill(0);
    for (size_t r = 0; r < rows; r += BLOCK) {
        for (size_t i = 0; i < BLOCK; i++) window[i] = load(factors + (r + i) * GS_LANES);
        part[0] += sum_of(window);
        lengthen(window, 1, p->past);
        part[1] += sum_of(window);
        lengthen(window, 2, p->past + GS_LANES);
        part[2] += sum_of(window);
        lengthen(window, 4, p->past + 3 * GS_LANES);
        part[3] += sum_of(window);
        size_t l = FIRST;
        for (; l + 2 < lags; l += 2) { /* there and back, so that no register is copied */
            lanes longer[BLOCK];
            lengthen_far(window, take_place(&p->ring[l]), longer);
            part[l + 1] += sum_of(longer);
            lengthen_far(longer, take_place(&p->ring[l + 1]), window);
            part[l + 2] += sum_of(window);
        }
        if (l + 1 < lags) {
            lanes longer[BLOCK];
            lengthen_far(window, take_place(&p->ring[l]), longer);
            part[l + 1] += sum_of(longer);
        }
        if ((r + BLOCK) % GS_GATE_ROWS == 0) add_sums(p->sums, part, lags);
    }
    flush_as(before);
}

const struct gs_gate_kernels GS_KERNEL(gates) = {
    .group = GS_LANES, .factors = factors, .multiply = multiply};
