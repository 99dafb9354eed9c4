#include "analyses/horizon/pair_sums.h"

#include "core/base/memory.h"
#include "core/kernels/blas.h"

#include <string.h>

/* Every task (a curve and a lag, a curve and a block distance, a curve and a band) is summed by one
 * thread in the order of rows; that is why threads move no bits. */
struct gs_pair_sums {
    const struct gs_horizon *horizon;
    size_t block;
    bool all_lags;
    size_t distances;  /* all lags: block distances 0 … distances − 1 reach max_lag */
    double *window;    /* (GS_CURVES, GS_BANDS, width) sum of the early rows within the band */
    double *in_window; /* (GS_CURVES, GS_BANDS) how many are valid */
    float *products;   /* (GS_CURVES · distances, block, block) */
    double *diagonal; /* (GS_CURVES · distances, 2, 2 · block) cosines, pairs by lag in the block */
};

enum gs_status gs_pair_sums_create(const struct gs_horizon *horizon, bool all_lags, size_t block,
                                   struct gs_pair_sums **sums, struct gs_error *error) {
    struct gs_pair_sums *s = gs_calloc(1, sizeof *s);
    if (!s) return gs_fail_memory(error, sizeof *s, "sums over pairs");
    *s = (struct gs_pair_sums){.horizon = horizon, .block = block, .all_lags = all_lags};
    s->distances = horizon->max_lag / block + (horizon->max_lag % block != 0) + 1;
    size_t tasks = all_lags ? GS_CURVES * s->distances : 0;
    s->window = gs_calloc(GS_CURVES * GS_BANDS * horizon->width, sizeof *s->window);
    s->in_window = gs_calloc(GS_CURVES * GS_BANDS, sizeof *s->in_window);
    s->products = gs_calloc(tasks * block * block, sizeof *s->products);
    s->diagonal = gs_calloc(tasks * 4 * block, sizeof *s->diagonal);
    if (!s->window || !s->in_window || !s->products || !s->diagonal) {
        gs_pair_sums_destroy(s);
        return gs_fail_memory(error, tasks * block * block * sizeof(float), "sums over pairs");
    }
    *sums = s;
    return GS_OK;
}

void gs_pair_sums_destroy(struct gs_pair_sums *sums) {
    if (!sums) return;
    gs_free(sums->window);
    gs_free(sums->in_window);
    gs_free(sums->products);
    gs_free(sums->diagonal);
    gs_free(sums);
}

void gs_pair_sums_reset(struct gs_pair_sums *sums) {
    memset(sums->window, 0, GS_CURVES * GS_BANDS * sums->horizon->width * sizeof *sums->window);
    memset(sums->in_window, 0, GS_CURVES * GS_BANDS * sizeof *sums->in_window);
}

/* Waking threads costs more than a small block's work. */
static bool worth_threads(const struct gs_pair_sums *s) {
    return s->block * s->horizon->width >= 4096;
}

static bool any_valid(const struct gs_unit_rows *rows, size_t first, size_t count) {
    return memchr(rows->valid + first, 1, count) != NULL;
}

/* ---- one lag ---- */

static void add_lag(const struct gs_pair_side *side, size_t first, size_t block, size_t lag,
                    double *cosine, double *pairs) {
    size_t width = side->early->width, count = 0;
    double sum = 0;
    for (size_t i = lag > first ? lag - first : 0; i < block; i++) {
        size_t late = side->late_first + i;
        size_t early = (first + i - lag) % side->early->capacity;
        if (!side->late->valid[late] || !side->early->valid[early]) continue;
        sum += gs_unit_dot(gs_unit_row(side->late, late), gs_unit_row(side->early, early), width);
        count++;
    }
    *cosine += sum;
    *pairs += (double)count;
}

static void add_chosen_lag(const struct gs_pair_sums *s, const struct gs_pair_side *sides,
                           size_t first, size_t task, double *cosines, double *pairs) {
    const struct gs_horizon *h = s->horizon;
    size_t curve = task / h->lag_count, l = task % h->lag_count;
    const struct gs_pair_side *side = &sides[curve];
    if (!side->early || !any_valid(side->late, side->late_first, s->block)) return;
    size_t place = curve * h->columns + l;
    add_lag(side, first, s->block, h->lags[l], &cosines[place], &pairs[place]);
}

/* ---- a band of lags ---- */

static void band_range(const struct gs_horizon *h, enum gs_band band, size_t *least, size_t *most) {
    *most = h->max_lag;
    *least = band == GS_BAND_WHOLE ? 1 : h->max_lag - h->max_lag / 2;
}

static void window_change(const struct gs_unit_rows *early, size_t row, double sign, double *window,
                          double *count) {
    size_t slot = row % early->capacity;
    if (!early->valid[slot]) return;
    const float *unit = gs_unit_row(early, slot);
    for (size_t c = 0; c < early->width; c++) window[c] += sign * (double)unit[c];
    *count += sign;
}

/* The sum over a band is the late row times the sum of the early rows in it, a window that moves
 * with the late row: every lag counts although few are measured alone. */
static void add_band(const struct gs_pair_side *side, size_t first, size_t block, size_t least,
                     size_t most, double *window, double *in_window, double *cosine,
                     double *pairs) {
    double sum = 0, count = 0;
    for (size_t i = 0; i < block; i++) {
        size_t t = first + i, late = side->late_first + i;
        if (t >= least) window_change(side->early, t - least, 1, window, in_window);
        if (t > most) window_change(side->early, t - most - 1, -1, window, in_window);
        if (!side->late->valid[late]) continue;
        sum += gs_unit_dot_wide(gs_unit_row(side->late, late), window, side->early->width);
        count += *in_window;
    }
    *cosine += sum;
    *pairs += count;
}

static void add_band_task(struct gs_pair_sums *s, const struct gs_pair_side *sides, size_t first,
                          size_t task, double *cosines, double *pairs) {
    const struct gs_horizon *h = s->horizon;
    size_t curve = task / GS_BANDS, band = task % GS_BANDS, least, most;
    if (!sides[curve].early) return;
    band_range(h, (enum gs_band)band, &least, &most);
    size_t place = curve * h->columns + h->lag_count + band;
    add_band(&sides[curve], first, s->block, least, most, s->window + task * h->width,
             &s->in_window[task], &cosines[place], &pairs[place]);
}

/* ---- all lags ---- */

/* Sums along the diagonals of the (late, early) products: entry i − j + block of `cosines`. Slots
 * that are not valid hold zeros, so only the count must look. */
static void sum_diagonals(const float *products, const unsigned char *late,
                          const unsigned char *early, size_t block, double *cosines,
                          double *pairs) {
    for (size_t d = 0; d < 2 * block; d++) cosines[d] = pairs[d] = 0;
    for (size_t i = 0; i < block; i++) {
        if (!late[i]) continue;
        const float *row = products + i * block;
        double *sum = cosines + i + block, *count = pairs + i + block;
        for (size_t j = 0; j < block; j++) sum[-(ptrdiff_t)j] += (double)row[j];
        for (size_t j = 0; j < block; j++) count[-(ptrdiff_t)j] += early[j];
    }
}

/* products and diagonal of late block `first` against the early block `distance` blocks before. */
static enum gs_status block_products(struct gs_pair_sums *s, const struct gs_pair_side *side,
                                     size_t first, size_t distance, size_t task,
                                     struct gs_error *error) {
    size_t block = s->block, width = side->early->width;
    size_t early = (first - distance * block) % side->early->capacity;
    float *products = s->products + task * block * block;
    double *diagonal = s->diagonal + task * 4 * block;
    enum gs_status status = gs_blas_sgemm(
        GS_PLAIN, GS_TRANSPOSED, block, block, width, 1, gs_unit_row(side->late, side->late_first),
        width, gs_unit_row(side->early, early), width, 0, products, block, error);
    if (status == GS_OK)
        sum_diagonals(products, side->late->valid + side->late_first, side->early->valid + early,
                      block, diagonal, diagonal + 2 * block);
    return status;
}

static void take_diagonals(const struct gs_pair_sums *s, size_t distance, size_t task,
                           double *cosines, double *pairs) {
    const double *diagonal = s->diagonal + task * 4 * s->block;
    for (size_t d = 1; d < 2 * s->block; d++) {
        if (distance * s->block + d <= s->block) continue; /* lag 0 and before */
        size_t lag = distance * s->block + d - s->block;
        if (lag > s->horizon->max_lag) break;
        cosines[lag - 1] += diagonal[d];
        pairs[lag - 1] += diagonal[2 * s->block + d];
    }
}

static bool has_products(const struct gs_pair_sums *s, const struct gs_pair_side *side,
                         size_t first, size_t distance) {
    return side->early && distance * s->block <= first &&
           any_valid(side->late, side->late_first, s->block);
}

static enum gs_status add_products(struct gs_pair_sums *s, const struct gs_pair_side *sides,
                                   size_t first, size_t task, struct gs_error *error) {
    const struct gs_pair_side *side = &sides[task / s->distances];
    size_t distance = task % s->distances;
    if (!has_products(s, side, first, distance)) return GS_OK;
    return block_products(s, side, first, distance, task, error);
}

static void take_all_diagonals(const struct gs_pair_sums *s, const struct gs_pair_side *sides,
                               size_t first, double *cosines, double *pairs) {
    for (size_t task = 0; task < GS_CURVES * s->distances; task++) {
        size_t curve = task / s->distances, distance = task % s->distances;
        if (!has_products(s, &sides[curve], first, distance)) continue;
        take_diagonals(s, distance, task, cosines + curve * s->horizon->columns,
                       pairs + curve * s->horizon->columns);
    }
}

/* One parallel region a block: bands first, as they take longest. */
enum gs_status gs_pair_sums_add(struct gs_pair_sums *s, const struct gs_pair_side sides[GS_CURVES],
                                size_t first, double *cosines, double *pairs,
                                struct gs_error *error) {
    if (s->horizon->max_lag == 0) return GS_OK;
    const size_t bands = (size_t)GS_CURVES * GS_BANDS;
    size_t tasks = bands + GS_CURVES * (s->all_lags ? s->distances : s->horizon->lag_count);
    enum gs_status failed = GS_OK;
#pragma omp parallel for schedule(dynamic) if (worth_threads(s))
    for (size_t task = 0; task < tasks; task++) {
        enum gs_status status = GS_OK;
        struct gs_error mine;
        if (task < bands)
            add_band_task(s, sides, first, task, cosines, pairs);
        else if (!s->all_lags)
            add_chosen_lag(s, sides, first, task - bands, cosines, pairs);
        else
            status = add_products(s, sides, first, task - bands, &mine);
        if (status == GS_OK) continue;
#pragma omp critical(gs_pair_sums_failed)
        {
            failed = status;
            if (error) *error = mine;
        }
    }
    if (failed == GS_OK && s->all_lags) take_all_diagonals(s, sides, first, cosines, pairs);
    return failed;
}
