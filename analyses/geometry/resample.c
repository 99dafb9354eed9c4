#include "analyses/geometry/resample.h"

#include "analyses/geometry/sample.h"
#include "analyses/stats/basic_interval.h"
#include "core/kernels/blas.h"

#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <string.h>

struct context {
    const struct gs_geometry_sums *sums;
    double epsilon;
    bool single;
    const struct gs_progress *progress;
    size_t replicates;
    atomic_size_t *done;
    atomic_bool *stopped;
};

/* Where one replicate works, cut out of its scratch. */
struct workplace {
    double *comoment;                     /* (dims, dims) */
    double *apart;                        /* (blocks, dims): sqrt(w n) (block mean − mean) */
    double *mean;                         /* (dims) */
    double *prefix[GS_GEOMETRY_PREFIXES]; /* (dims) */
    double *rest;
};

static size_t scratch_doubles(size_t dims, size_t blocks) {
    return dims * dims + (blocks + 1 + GS_GEOMETRY_PREFIXES) * dims + gs_geometry_scratch(dims);
}

static struct workplace cut(double *scratch, size_t dims, size_t blocks) {
    struct workplace w = {.comoment = scratch};
    w.apart = w.comoment + dims * dims;
    w.mean = w.apart + blocks * dims;
    w.prefix[0] = w.mean + dims;
    for (int p = 1; p < GS_GEOMETRY_PREFIXES; p++) w.prefix[p] = w.prefix[p - 1] + dims;
    w.rest = w.prefix[GS_GEOMETRY_PREFIXES - 1] + dims;
    return w;
}

static void add_scaled(double *into, double factor, const double *from, size_t count) {
    for (size_t i = 0; i < count; i++) into[i] += factor * from[i];
}

/* Row counts, norms, means and running means of the blocks drawn, each as often as it was drawn. */
static void gather(const struct gs_geometry_sums *sums, const double *weights,
                   const struct workplace *w, struct gs_geometry_sample *sample) {
    size_t dims = sums->plan.dims;
    memset(w->mean, 0, (1 + GS_GEOMETRY_PREFIXES) * dims * sizeof(double));
    for (size_t b = 0; b < sums->plan.blocks; b++) {
        const struct gs_geometry_block *block = &sums->blocks[b];
        uint64_t times = (uint64_t)weights[b];
        for (uint64_t i = 0; i < times; i++) gs_running_merge(&sample->norm, &block->norm);
        sample->energy += weights[b] * block->energy;
        sample->n += times * block->n;
        add_scaled(w->mean, weights[b] * (double)block->n, block->mean, dims);
        for (int p = 0; p < GS_GEOMETRY_PREFIXES; p++) {
            add_scaled(w->prefix[p], weights[b], block->prefix[p], dims);
            sample->prefix_rows[p] += times * block->prefix_rows[p];
        }
    }
    for (size_t i = 0; i < dims; i++) w->mean[i] /= (double)sample->n;
}

/* Chan's formula for many parts at once: Σ w M_b + Σ w n_b (m_b − m)(m_b − m)ᵀ. */
static enum gs_status join(const struct gs_geometry_sums *sums, const double *weights,
                           const struct workplace *w) {
    size_t dims = sums->plan.dims, blocks = sums->plan.blocks;
    memset(w->comoment, 0, dims * dims * sizeof(double));
    for (size_t i = 0; i < dims; i++) {
        double *row = w->comoment + i * dims;
        for (size_t b = 0; b < blocks; b++) {
            if (!(weights[b] > 0)) continue;
            const float *part = sums->blocks[b].comoment + gs_packed(dims, i, i);
            for (size_t j = i; j < dims; j++) row[j] += weights[b] * (double)part[j - i];
        }
    }
    for (size_t b = 0; b < blocks; b++) {
        double factor = sqrt(weights[b] * (double)sums->blocks[b].n);
        for (size_t i = 0; i < dims; i++)
            w->apart[b * dims + i] = factor * (sums->blocks[b].mean[i] - w->mean[i]);
    }
    return gs_blas_dsyrk(GS_UPPER, GS_TRANSPOSED, dims, blocks, 1, w->apart, dims, 1, w->comoment,
                         dims, NULL);
}

static void tell(const struct context *c) {
    size_t done = atomic_fetch_add(c->done, 1) + 1;
    if (omp_get_thread_num() != 0) return; /* a report comes from one thread at a time */
    gs_progress_report(c->progress, (double)done, (double)c->replicates, "bootstrap");
    if (gs_progress_stop(c->progress)) atomic_store(c->stopped, true);
}

static void replicate(const void *context, const double *weights, size_t blocks, double *values,
                      double *scratch) {
    const struct context *c = context;
    size_t dims = c->sums->plan.dims;
    struct workplace w = cut(scratch, dims, blocks);
    struct gs_geometry_sample sample = {.dims = dims,
                                        .mean = w.mean,
                                        .comoment = w.comoment,
                                        .epsilon = c->epsilon,
                                        .single = c->single};
    for (int p = 0; p < GS_GEOMETRY_PREFIXES; p++) sample.prefix[p] = w.prefix[p];
    enum gs_status status = atomic_load(c->stopped) ? GS_INTERRUPTED : GS_OK;
    if (status == GS_OK) {
        gather(c->sums, weights, &w, &sample);
        status = join(c->sums, weights, &w);
    }
    if (status == GS_OK) status = gs_geometry_measure(&sample, w.rest, values, NULL, NULL);
    for (int i = 0; status != GS_OK && i < GS_GEOMETRY_MEASURES; i++) values[i] = (double)NAN;
    tell(c);
}

static const double ranges[GS_GEOMETRY_MEASURES][2] = {
#define RANGE(id, name, unit, low, high) {low, high},
    GS_GEOMETRY_LIST(RANGE)
#undef RANGE
};

enum gs_status gs_geometry_resample(const struct gs_geometry_sums *sums, double epsilon,
                                    bool single, const struct gs_bootstrap *plan,
                                    const double *estimates, struct gs_interval *intervals,
                                    double *kept, const struct gs_progress *progress,
                                    struct gs_error *error) {
    atomic_size_t done = 0;
    atomic_bool stopped = false;
    struct context context = {sums, epsilon, single, progress, plan->replicates, &done, &stopped};
    size_t scratch = scratch_doubles(sums->plan.dims, sums->plan.blocks);
    enum gs_status status = gs_bootstrap_run(plan, sums->plan.blocks, GS_GEOMETRY_MEASURES,
                                             replicate, &context, scratch, intervals, kept, error);
    if (status != GS_OK) return status;
    if (atomic_load(&stopped)) return gs_fail(error, GS_INTERRUPTED, "stopped on request");
    for (int i = 0; i < GS_GEOMETRY_MEASURES; i++)
        intervals[i] = gs_basic_interval(intervals[i], estimates[i], ranges[i][0], ranges[i][1]);
    return GS_OK;
}
