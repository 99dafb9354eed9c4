#include "analyses/geometry/geometry.h"

#include "analyses/geometry/resample.h"
#include "analyses/geometry/sample.h"
#include "analyses/geometry/sums.h"
#include "core/base/memory.h"

#include <float.h>
#include <math.h>

enum { CHUNK_FLOATS = 1 << 23 }; /* read at a time, at most: 32 MiB */

size_t gs_geometry_replicates(size_t dims) {
    enum { MOST = 1000, FEWEST = 200 };
    double ratio = 320 / (double)(dims ? dims : 1);
    double wanted = MOST * ratio * ratio * ratio;
    if (wanted > MOST) return MOST;
    return wanted < FEWEST ? FEWEST : (size_t)wanted;
}

/* float64 products take twice as long: so where rows are too few to be worth saving, and where the
 * covariance is singular (n ≤ d) and rounding would show as eigenvalues. */
static enum gs_moments_product choose_product(uint64_t rows, size_t dims) {
    double work = (double)rows * (double)dims * (double)dims;
    return rows <= 2 * (uint64_t)dims || work <= 2e10 ? GS_PRODUCT_FLOAT64 : GS_PRODUCT_FLOAT32;
}

/* ---- one pass ------------------------------------------------------------------------------- */

struct pass {
    const struct gs_rows *rows;
    const struct gs_geometry_options *options;
    size_t *which;     /* sequences with a row used */
    uint64_t *lengths; /* rows used of each of them */
    struct gs_geometry_sums *sums;
    size_t chunk_rows; /* read at a time */
};

static void pass_destroy(struct pass *pass) {
    gs_geometry_sums_destroy(pass->sums);
    gs_free(pass->which);
    gs_free(pass->lengths);
}

static enum gs_status nothing_left(const struct pass *pass, struct gs_error *error) {
    gs_fail(error, GS_RANGE, "no state is left to measure");
    gs_error_expected(error, "a sequence of more than %llu rows",
                      (unsigned long long)pass->options->skip_first);
    gs_error_found(error, "%zu sequences, the longest of %llu rows", pass->rows->sequences,
                   (unsigned long long)gs_rows_longest(pass->rows));
    gs_error_next(error, "skip fewer rows at the head of each sequence, or record longer ones");
    return GS_RANGE;
}

static enum gs_status find_sequences(struct pass *pass, struct gs_geometry *g,
                                     struct gs_error *error) {
    const struct gs_rows *rows = pass->rows;
    uint64_t skip = pass->options->skip_first;
    pass->which = gs_calloc(rows->sequences, sizeof *pass->which);
    pass->lengths = gs_calloc(rows->sequences, sizeof *pass->lengths);
    if (!pass->which || !pass->lengths)
        return gs_fail_memory(error, rows->sequences * sizeof *pass->which, "sequences");
    for (size_t i = 0; i < rows->sequences; i++) {
        uint64_t length = rows->length[i];
        g->skipped += length < skip ? length : skip;
        if (length <= skip) continue;
        pass->which[g->sequences] = i;
        pass->lengths[g->sequences++] = length - skip;
        g->rows += length - skip;
    }
    return g->rows ? GS_OK : nothing_left(pass, error);
}

static enum gs_status prepare(struct pass *pass, struct gs_geometry *g, struct gs_error *error) {
    enum gs_status status = find_sequences(pass, g, error);
    if (status != GS_OK) return status;
    g->product =
        pass->options->product_given ? pass->options->product : choose_product(g->rows, g->dims);
    g->replicates = pass->options->replicates_given ? pass->options->replicates
                                                    : gs_geometry_replicates(g->dims);
    g->blocks = g->replicates ? gs_geometry_block_count(g->dims, g->sequences) : 1;
    struct gs_geometry_plan plan = {g->dims,    g->sequences, pass->lengths,
                                    g->product, g->blocks,    g->blocks > 1};
    status = gs_geometry_sums_create(&plan, &pass->sums, error);
    if (status != GS_OK) return status;
    pass->chunk_rows = CHUNK_FLOATS / g->dims ? CHUNK_FLOATS / g->dims : 1;
    return GS_OK;
}

static enum gs_status read_sequence(struct pass *pass, size_t i, double *done, double total,
                                    struct gs_error *error) {
    uint64_t skip = pass->options->skip_first;
    for (uint64_t at = 0; at < pass->lengths[i];) {
        size_t count;
        float *room = gs_geometry_sums_room(pass->sums, &count);
        if (count > pass->chunk_rows) count = pass->chunk_rows;
        enum gs_status status =
            gs_rows_read(pass->rows, pass->which[i], skip + at, count, room, error);
        if (status == GS_OK) status = gs_geometry_sums_put(pass->sums, count, error);
        if (status != GS_OK) return status;
        at += count;
        *done += (double)count;
        gs_progress_report(pass->options->progress, *done, total, "states");
        if (gs_progress_stop(pass->options->progress))
            return gs_fail(error, GS_INTERRUPTED, "stopped on request");
    }
    return GS_OK;
}

/* ---- from sums to measures --------------------------------------------------------------------
 */

static void count_dead(const struct gs_moments *moments, struct gs_geometry *g) {
    for (size_t i = 0; i < g->dims; i++) g->dead += !(moments->high[i] > moments->low[i]);
}

static enum gs_status follow_running(const struct gs_geometry_sums *sums, struct gs_geometry *g,
                                     struct gs_error *error) {
    g->running = gs_calloc(sums->stretch_count, sizeof *g->running);
    double *sum = gs_calloc(g->dims, sizeof *sum);
    if (!g->running || !sum) {
        gs_free(sum);
        return gs_fail_memory(error, g->dims * sizeof *sum, "running means");
    }
    uint64_t rows = 0;
    for (size_t s = 0; s < sums->stretch_count; s++) {
        for (size_t i = 0; i < g->dims; i++) sum[i] += sums->stretches[s].sum[i];
        rows += sums->stretches[s].rows;
        g->running[g->running_count++] = (struct gs_running_cosine){
            sums->limit[s], rows, gs_geometry_cosine(sum, sums->total->mean, g->dims)};
    }
    gs_free(sum);
    return GS_OK;
}

/* Sums over all blocks of what is kept per block. */
static void gather(const struct gs_geometry_sums *sums, struct gs_geometry_sample *sample,
                   double *prefix[GS_GEOMETRY_PREFIXES]) {
    for (size_t b = 0; b < sums->plan.blocks; b++) {
        const struct gs_geometry_block *block = &sums->blocks[b];
        gs_running_merge(&sample->norm, &block->norm);
        sample->energy += block->energy;
        for (int p = 0; p < GS_GEOMETRY_PREFIXES; p++) {
            sample->prefix_rows[p] += block->prefix_rows[p];
            for (size_t i = 0; i < sample->dims; i++) prefix[p][i] += block->prefix[p][i];
        }
    }
}

static enum gs_status measure(const struct gs_geometry_sums *sums, double epsilon,
                              struct gs_geometry *g, struct gs_error *error) {
    size_t d = g->dims, doubles = d * d + GS_GEOMETRY_PREFIXES * d + gs_geometry_scratch(d);
    double *work = gs_calloc(doubles, sizeof *work);
    if (!work) return gs_fail_memory(error, doubles * sizeof *work, "a covariance");
    double *prefix[GS_GEOMETRY_PREFIXES];
    struct gs_geometry_sample sample = {
        .dims = d, .n = g->rows, .mean = sums->total->mean, .comoment = work, .epsilon = epsilon};
    for (int p = 0; p < GS_GEOMETRY_PREFIXES; p++)
        sample.prefix[p] = prefix[p] = work + d * d + (size_t)p * d;
    gather(sums, &sample, prefix);
    for (size_t i = 0; i < d; i++)
        for (size_t j = i; j < d; j++) work[i * d + j] = sums->total->comoment[gs_packed(d, i, j)];
    struct gs_geometry_detail detail = {
        .eigenvalues = g->eigenvalues, .deviations = g->deviations, .histogram = g->histogram};
    enum gs_status status = gs_geometry_measure(&sample, work + d * d + GS_GEOMETRY_PREFIXES * d,
                                                g->values, &detail, error);
    g->clipped = detail.clipped;
    g->correlation = detail.correlation;
    gs_free(work);
    return status;
}

/* float32 moves an eigenvalue by some 2e-7 of the largest: a hundredth of the least of these. */
static bool float32_would_do(const struct gs_geometry *g) {
    enum { FEWEST = 256 }; /* dimensions below which there is no time to be saved */
    return g->dims >= FEWEST && g->eigenvalues[g->dims - 1] > 2e-5 * g->eigenvalues[0];
}

static enum gs_status finish(struct pass *pass, struct gs_geometry *g, struct gs_error *error) {
    double epsilon = g->product == GS_PRODUCT_FLOAT64 ? DBL_EPSILON : FLT_EPSILON;
    enum gs_status status = measure(pass->sums, epsilon, g, error);
    if (status == GS_OK) status = follow_running(pass->sums, g, error);
    if (status != GS_OK) return status;
    count_dead(pass->sums->total, g);
    g->batch_cosines = gs_geometry_batch_cosines(pass->sums);
    g->effective_rows = gs_geometry_effective_rows(pass->sums);
    /* Blocks keep their moments in float32, so that is what replicates round to. */
    struct gs_bootstrap plan = {.seed = pass->options->seed, .replicates = g->replicates};
    g->single = !pass->options->wide_replicates && float32_would_do(g);
    g->seed = plan.seed;
    if (g->blocks > 1 && g->replicates > 1) {
        g->kept = gs_calloc(GS_GEOMETRY_MEASURES * g->replicates, sizeof *g->kept);
        if (!g->kept)
            return gs_fail_memory(error, GS_GEOMETRY_MEASURES * g->replicates * sizeof *g->kept,
                                  "bootstrap replicates");
    }
    return gs_geometry_resample(pass->sums, FLT_EPSILON, g->single, &plan, g->values, g->intervals,
                                g->kept, pass->options->progress, error);
}

enum gs_status gs_geometry_of_rows(const struct gs_rows *rows,
                                   const struct gs_geometry_options *options,
                                   struct gs_geometry **geometry, struct gs_error *error) {
    struct pass pass = {.rows = rows, .options = options};
    struct gs_geometry *g = gs_calloc(1, sizeof *g);
    if (!g) return gs_fail_memory(error, sizeof *g, "the geometry");
    g->dims = rows->width;
    g->eigenvalues = gs_calloc(g->dims, sizeof *g->eigenvalues);
    g->deviations = gs_calloc(g->dims, sizeof *g->deviations);
    enum gs_status status = GS_OK;
    if (!g->eigenvalues || !g->deviations)
        status = gs_fail_memory(error, g->dims * sizeof *g->eigenvalues, "eigenvalues");
    if (status == GS_OK) status = prepare(&pass, g, error);
    double done = 0;
    for (size_t i = 0; status == GS_OK && i < g->sequences; i++)
        status = read_sequence(&pass, i, &done, (double)g->rows, error);
    if (status == GS_OK) status = finish(&pass, g, error);
    pass_destroy(&pass);
    if (status == GS_OK)
        *geometry = g;
    else
        gs_geometry_destroy(g);
    return status;
}

void gs_geometry_destroy(struct gs_geometry *geometry) {
    if (!geometry) return;
    gs_free(geometry->eigenvalues);
    gs_free(geometry->deviations);
    gs_free(geometry->running);
    gs_free(geometry->kept);
    gs_free(geometry);
}

/* ---- reasons -------------------------------------------------------------------------------- */

static bool is_measured(const struct gs_geometry *g, enum gs_geometry_measure which) {
    return !isnan(g->values[which]);
}

static const char *no_running(const struct gs_geometry *g, int prefix) {
    uint64_t longest = g->running_count ? g->running[g->running_count - 1].place : 0;
    if (longest < gs_geometry_prefix_rows[prefix])
        return prefix ? "no sequence has 100 rows" : "no sequence has 10 rows";
    return "a mean is the zero vector";
}

const char *gs_geometry_reason(const struct gs_geometry *g, enum gs_geometry_measure which) {
    if (is_measured(g, which)) return NULL;
    switch (which) {
    case GS_GEOMETRY_MEAN_NORM_RATIO:
    case GS_GEOMETRY_MEAN_ENERGY:
    case GS_GEOMETRY_STABLE_RANK_UNCENTERED:
        return "all states are zero vectors";
    case GS_GEOMETRY_RUNNING_T10:
        return no_running(g, 0);
    case GS_GEOMETRY_RUNNING_T100:
        return no_running(g, 1);
    default:
        break;
    }
    if (g->rows < 2) return "one row has no deviation";
    if (which == GS_GEOMETRY_CORR_MEAN_ABS || which == GS_GEOMETRY_CORR_MAX_ABS)
        return "fewer than two dimensions vary; a constant one has no correlation";
    if (g->dead == g->dims) return "no dimension varies";
    if (which == GS_GEOMETRY_PARTICIPATION_CORRECTED)
        return "too few rows: the corrected sum of squared eigenvalues is not positive";
    return "no variance that can be told from rounding";
}

const char *gs_geometry_interval_reason(const struct gs_geometry *g,
                                        enum gs_geometry_measure which) {
    if (g->intervals[which].known) return NULL;
    if (!is_measured(g, which)) return gs_geometry_reason(g, which);
    if (g->replicates == 0) return "no bootstrap was asked for";
    if (g->replicates < 2) return "one replicate gives no interval";
    if (g->blocks < 2) return "an interval needs at least 2 sequences";
    return "too many bootstrap replicates had no value";
}
