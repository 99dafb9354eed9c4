#include "analyses/horizon/chosen_lags.h"

#include "core/base/memory.h"
#include "core/kernels/rows.h"

#include <omp.h>
#include <string.h>

/* Panels are summed in GROUPS fixed groups, each by one thread, and the groups in order: threads
 * move no bits. */
enum { GROUPS = 16, SUMS = 2 * GS_CURVES, SIDES = 2 };

/* What one thread works in. */
struct bench {
    float *turned[SIDES]; /* (panel, row_stride) */
};

struct gs_chosen_lags {
    const struct gs_horizon *horizon;
    size_t past, block, panels, capacity;
    size_t row_stride, dots_stride; /* of turned panels, of dots: an odd number of cache lines */
    double centre_square;           /* g·g */
    size_t first[GS_BANDS], last[GS_BANDS];
    struct bench *benches; /* (threads) */
    size_t threads;
    float *dots;     /* (GROUPS, SIDES, lag_count, block): own, other */
    double *sums;    /* (GROUPS, bands, curves) */
    double *running; /* (RUNNING, capacity + 1) prefix sums over rows, see add_up */
};

/* What is summed over rows before a late row: weights (as counts of vectors with a length, and with
 * their offsets) of the three centrings. */
enum {
    RAW_COUNT,
    SEQUENCE_COUNT,
    GLOBAL_COUNT,
    RAW_WEIGHT,
    RAW_ALONG,
    SEQUENCE_WEIGHT,
    SEQUENCE_OFFSET,
    RUNNING
};

static bool bench_create(struct bench *b, const struct gs_chosen_lags *s) {
    size_t panel = gs_row_kernels()->panel;
    b->turned[0] = gs_calloc(panel * s->row_stride, sizeof **b->turned);
    b->turned[1] = gs_calloc(panel * s->row_stride, sizeof **b->turned);
    return b->turned[0] && b->turned[1];
}

static bool benches_create(struct gs_chosen_lags *s) {
    s->threads = (size_t)omp_get_max_threads();
    s->benches = gs_calloc(s->threads, sizeof *s->benches);
    for (size_t i = 0; s->benches && i < s->threads; i++)
        if (!bench_create(&s->benches[i], s)) return false;
    return s->benches != NULL;
}

static void benches_destroy(struct gs_chosen_lags *s) {
    for (size_t i = 0; s->benches && i < s->threads; i++) {
        gs_free(s->benches[i].turned[0]);
        gs_free(s->benches[i].turned[1]);
    }
    gs_free(s->benches);
}

/* Strides of a power of two would put all columns of a row into one set of the cache. */
static size_t odd_lines(size_t floats) {
    enum { LINE = 16 };
    size_t lines = (floats + LINE - 1) / LINE;
    return (lines | 1) * LINE;
}

enum gs_status gs_chosen_lags_create(const struct gs_horizon *horizon,
                                     const struct gs_row_block *rows, double centre_square,
                                     struct gs_chosen_lags **lags, struct gs_error *error) {
    struct gs_chosen_lags *s = gs_calloc(1, sizeof *s);
    if (!s) return gs_fail_memory(error, sizeof *s, "sums over pairs");
    *s = (struct gs_chosen_lags){.horizon = horizon,
                                 .past = rows->past,
                                 .block = rows->block,
                                 .panels = rows->panels,
                                 .capacity = rows->capacity,
                                 .centre_square = centre_square};
    for (int band = 0; band < GS_BANDS; band++) {
        s->last[band] = horizon->max_lag;
        s->first[band] = band == GS_BAND_WHOLE ? 1 : horizon->max_lag - horizon->max_lag / 2;
    }
    s->row_stride = odd_lines(s->capacity);
    s->dots_stride = odd_lines(s->block);
    size_t dots = (size_t)GROUPS * SIDES * horizon->lag_count * s->dots_stride;
    s->dots = gs_calloc(dots, sizeof *s->dots);
    s->sums = gs_calloc(GROUPS * SUMS, sizeof *s->sums);
    s->running = gs_calloc(RUNNING * (s->capacity + 1), sizeof *s->running);
    if (!s->dots || !s->sums || !s->running || !benches_create(s)) {
        gs_chosen_lags_destroy(s);
        return gs_fail_memory(error, dots * sizeof(float), "sums over pairs");
    }
    *lags = s;
    return GS_OK;
}

void gs_chosen_lags_destroy(struct gs_chosen_lags *lags) {
    if (!lags) return;
    benches_destroy(lags);
    gs_free(lags->dots);
    gs_free(lags->sums);
    gs_free(lags->running);
    gs_free(lags);
}

/* ---- dots ------------------------------------------------------------------------------------ */

/* One block and its rows before. */
struct stretch {
    const struct gs_row_block *own, *other;
    size_t count, past; /* late rows; rows before them that exist */
};

static float *dots_of(const struct gs_chosen_lags *s, size_t group, size_t side) {
    return s->dots + (group * SIDES + side) * s->horizon->lag_count * s->dots_stride;
}

static void panel_dots(const struct gs_chosen_lags *s, const struct stretch *t,
                       const struct bench *b, size_t group, size_t panel) {
    const struct gs_row_kernels *kernels = gs_row_kernels();
    size_t width = kernels->panel, vector = width / 2,
           before = (t->past + vector - 1) / vector * vector;
    kernels->turn(gs_row_block_panel(t->own, panel, -(ptrdiff_t)before), before + t->count,
                  b->turned[0] + s->past - before, s->row_stride);
    if (t->other)
        kernels->turn(gs_row_block_panel(t->other, panel, 0), t->count, b->turned[1] + s->past,
                      s->row_stride);
    struct gs_lag_panel dots = {.early = b->turned[0] + s->past,
                                .other = t->other ? b->turned[1] + s->past : NULL,
                                .stride = s->row_stride,
                                .dots_stride = s->dots_stride,
                                .columns = width,
                                .count = t->count,
                                .lags = s->horizon->lags,
                                .lag_count = s->horizon->lag_count,
                                .past = t->past,
                                .own_dots = dots_of(s, group, 0),
                                .other_dots = dots_of(s, group, 1)};
    kernels->lag_dots(&dots);
}

static void panel_bands(const struct gs_chosen_lags *s, const struct stretch *t, size_t group,
                        size_t panel) {
    struct gs_band_panel bands = {.early = gs_row_block_panel(t->own, panel, 0),
                                  .past = t->past,
                                  .count = t->count,
                                  .sums = s->sums + group * SUMS};
    for (int c = 0; c < GS_CURVE_NULL; c++) bands.weights[c] = t->own->weight[c] + s->past;
    for (int band = 0; band < GS_BANDS; band++) {
        bands.first[band] = s->first[band];
        bands.last[band] = s->last[band];
    }
    if (t->other) {
        bands.other = gs_row_block_panel(t->other, panel, 0);
        bands.other_weights[0] = t->other->weight[GS_CURVE_RAW] + s->past;
        bands.other_weights[1] = t->other->weight[GS_CURVE_CENTERED_GLOBAL] + s->past;
    }
    gs_row_kernels()->bands(&bands);
}

static void multiply(struct gs_chosen_lags *s, const struct stretch *t) {
    memset(s->sums, 0, GROUPS * SUMS * sizeof *s->sums);
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)s->threads)
    for (size_t g = 0; g < GROUPS; g++) {
        const struct bench *b = &s->benches[omp_get_thread_num()];
        memset(dots_of(s, g, 0), 0,
               SIDES * s->horizon->lag_count * s->dots_stride * sizeof *s->dots);
        for (size_t p = s->panels * g / GROUPS; p < s->panels * (g + 1) / GROUPS; p++) {
            panel_dots(s, t, b, g, p);
            panel_bands(s, t, g, p);
        }
    }
}

/* ---- cosines --------------------------------------------------------------------------------- */

static double dot_at(const struct gs_chosen_lags *s, size_t side, size_t lag, size_t row) {
    double sum = 0;
    for (size_t g = 0; g < GROUPS; g++)
        sum += (double)dots_of(s, g, side)[lag * s->dots_stride + row];
    return sum;
}

static void add_lag(const struct gs_chosen_lags *s, const struct stretch *t, double shift_square,
                    size_t l, double *cosines, double *pairs) {
    size_t lag = s->horizon->lags[l];
    double sum[GS_CURVES] = {0}, count[GS_CURVES] = {0};
    const struct gs_row_block *own = t->own, *other = t->other;
    for (size_t i = lag > t->past ? lag - t->past : 0; i < t->count; i++) {
        size_t late = s->past + i, early = late - lag;
        double dot = dot_at(s, 0, l, i), weight[GS_CURVES], value[GS_CURVES];
        for (int c = 0; c < GS_CURVE_NULL; c++)
            weight[c] = (double)own->weight[c][early] * (double)own->weight[c][late];
        value[GS_CURVE_RAW] = dot + own->along[early] + own->along[late] + s->centre_square;
        value[GS_CURVE_CENTERED_SEQUENCE] =
            dot - own->offset[early] - own->offset[late] + shift_square;
        value[GS_CURVE_CENTERED_GLOBAL] = dot;
        weight[GS_CURVE_NULL] = weight[GS_CURVE_NULL_CENTERED_GLOBAL] = 0;
        value[GS_CURVE_NULL] = value[GS_CURVE_NULL_CENTERED_GLOBAL] = 0;
        if (other) {
            double across = dot_at(s, 1, l, i);
            weight[GS_CURVE_NULL] = (double)own->weight[GS_CURVE_RAW][early] *
                                    (double)other->weight[GS_CURVE_RAW][late];
            weight[GS_CURVE_NULL_CENTERED_GLOBAL] =
                (double)own->weight[GS_CURVE_CENTERED_GLOBAL][early] *
                (double)other->weight[GS_CURVE_CENTERED_GLOBAL][late];
            value[GS_CURVE_NULL] =
                across + own->along[early] + other->along[late] + s->centre_square;
            value[GS_CURVE_NULL_CENTERED_GLOBAL] = across;
        }
        for (int c = 0; c < GS_CURVES; c++) {
            sum[c] += weight[c] * value[c];
            count[c] += weight[c] > 0;
        }
    }
    for (int c = 0; c < GS_CURVES; c++) {
        cosines[(size_t)c * s->horizon->columns + l] += sum[c];
        pairs[(size_t)c * s->horizon->columns + l] += count[c];
    }
}

/* ---- bands ----------------------------------------------------------------------------------- */

/* Entry i of each running sum holds what the rows before row i − past of the block add up to. */
static void add_up(const struct gs_chosen_lags *s, const struct stretch *t) {
    double sum[RUNNING] = {0};
    const struct gs_row_block *own = t->own;
    for (size_t i = 0; i < t->past + t->count; i++) {
        size_t row = s->past - t->past + i;
        double weight[GS_CURVE_NULL];
        for (int c = 0; c < GS_CURVE_NULL; c++) {
            weight[c] = (double)own->weight[c][row];
            sum[RAW_COUNT + c] += weight[c] > 0;
        }
        sum[RAW_WEIGHT] += weight[GS_CURVE_RAW];
        sum[RAW_ALONG] += weight[GS_CURVE_RAW] * own->along[row];
        sum[SEQUENCE_WEIGHT] += weight[GS_CURVE_CENTERED_SEQUENCE];
        sum[SEQUENCE_OFFSET] += weight[GS_CURVE_CENTERED_SEQUENCE] * own->offset[row];
        for (size_t r = 0; r < RUNNING; r++) s->running[r * (s->capacity + 1) + i + 1] = sum[r];
    }
}

static void add_band(const struct gs_chosen_lags *s, const struct stretch *t, double shift_square,
                     size_t band, double *cosines, double *pairs) {
    const struct gs_row_block *own = t->own, *other = t->other;
    double sum[GS_CURVES] = {0}, count[GS_CURVES] = {0}, gg = s->centre_square;
    for (size_t g = 0; g < GROUPS; g++)
        for (size_t c = 0; c < GS_CURVES; c++) sum[c] += s->sums[g * SUMS + band * GS_CURVES + c];
    for (size_t i = s->first[band] > t->past ? s->first[band] - t->past : 0; i < t->count; i++) {
        size_t place = t->past + i, late = s->past + i;
        size_t top = place - s->first[band] + 1;
        size_t base = place > s->last[band] ? place - s->last[band] : 0;
        double in[RUNNING];
        for (size_t r = 0; r < RUNNING; r++) {
            const double *running = s->running + r * (s->capacity + 1);
            in[r] = running[top] - running[base];
        }
        double raw = (double)own->weight[GS_CURVE_RAW][late];
        double sequence = (double)own->weight[GS_CURVE_CENTERED_SEQUENCE][late];
        sum[GS_CURVE_RAW] += raw * ((own->along[late] + gg) * in[RAW_WEIGHT] + in[RAW_ALONG]);
        sum[GS_CURVE_CENTERED_SEQUENCE] +=
            sequence *
            ((shift_square - own->offset[late]) * in[SEQUENCE_WEIGHT] - in[SEQUENCE_OFFSET]);
        for (int c = 0; c < GS_CURVE_NULL; c++)
            if (own->weight[c][late] > 0) count[c] += in[RAW_COUNT + c];
        if (!other) continue;
        double null = (double)other->weight[GS_CURVE_RAW][late];
        sum[GS_CURVE_NULL] += null * ((other->along[late] + gg) * in[RAW_WEIGHT] + in[RAW_ALONG]);
        if (null > 0) count[GS_CURVE_NULL] += in[RAW_COUNT];
        if (other->weight[GS_CURVE_CENTERED_GLOBAL][late] > 0)
            count[GS_CURVE_NULL_CENTERED_GLOBAL] += in[GLOBAL_COUNT];
    }
    for (size_t c = 0; c < GS_CURVES; c++) {
        size_t place = c * s->horizon->columns + s->horizon->lag_count + band;
        cosines[place] += sum[c];
        pairs[place] += count[c];
    }
}

void gs_chosen_lags_add(struct gs_chosen_lags *s, const struct gs_row_block *own,
                        const struct gs_row_block *other, size_t count, double shift_square,
                        double *cosines, double *pairs) {
    if (s->horizon->max_lag == 0) return;
    struct stretch t = {own, other, count, own->first < s->past ? (size_t)own->first : s->past};
    multiply(s, &t);
    add_up(s, &t);
    size_t tasks = s->horizon->lag_count + GS_BANDS;
#pragma omp parallel for schedule(dynamic, 1)
    for (size_t task = 0; task < tasks; task++) {
        if (task < GS_BANDS)
            add_band(s, &t, shift_square, task, cosines, pairs);
        else
            add_lag(s, &t, shift_square, task - GS_BANDS, cosines, pairs);
    }
}
