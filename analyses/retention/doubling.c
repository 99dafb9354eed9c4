#include "analyses/retention/doubling.h"

#include "analyses/retention/gate_check.h"
#include "core/base/memory.h"
#include "core/kernels/gates.h"

#include <omp.h>
#include <string.h>

enum { DECAY, KEY, CURVES, BLOCK = 1024 };

/* One curve of one group of heads. */
struct curve {
    struct gs_gate_products products;
    float *factors; /* (GS_GATE_ROWS, group) */
    float *room;    /* of all products */
};

struct group {
    struct curve curve[CURVES];
    double log_decay_sum[GS_GATE_GROUP], loss_sum[GS_GATE_GROUP];
    float most_strength[GS_GATE_GROUP]; /* in all sequences */
};

/* What one thread works in. */
struct bench {
    float *raw[2]; /* (block, heads) and a vector more: γ, β */
    struct group *groups;
};

struct doubling {
    struct gs_retention *retention;
    const struct gs_rows *rows[2]; /* γ; β or NULL */
    bool gated_delta;
    size_t curves, block, groups, width; /* heads of a group */
    const struct gs_progress *progress;
    double done;   /* rows */
    size_t failed; /* the first sequence that failed, and its error */
    struct gs_error *error;
};

/* ---- rooms ----------------------------------------------------------------------------------- */

static size_t window(size_t level) {
    return (size_t)1 << level;
}

static bool create_curve(const struct doubling *d, struct curve *c) {
    size_t lags = d->retention->lag_count, rows = GS_GATE_ROWS - 1;
    for (size_t l = GS_GATE_FAR; l + 1 < lags; l++) rows += window(l);
    c->factors = gs_calloc(GS_GATE_ROWS * d->width, sizeof *c->factors);
    c->room = gs_calloc(rows * d->width, sizeof *c->room);
    c->products.sums = gs_calloc(lags * d->width, sizeof *c->products.sums);
    if (!c->factors || !c->room || !c->products.sums) return false;
    c->products.past = c->room;
    float *next = c->room + (GS_GATE_ROWS - 1) * d->width;
    for (size_t l = GS_GATE_FAR; l + 1 < lags; l++) {
        float *end = next + window(l) * d->width;
        c->products.ring[l] = (struct gs_gate_ring){next, next, end};
        next = end;
    }
    return true;
}

static bool create_bench(const struct doubling *d, struct bench *b) {
    size_t numbers = d->block * d->retention->heads + GS_GATE_GROUP;
    b->raw[0] = gs_calloc(numbers, sizeof **b->raw);
    b->raw[1] = gs_calloc(numbers, sizeof **b->raw);
    b->groups = gs_calloc(d->groups, sizeof *b->groups);
    if (!b->raw[0] || !b->raw[1] || !b->groups) return false;
    for (size_t g = 0; g < d->groups; g++)
        for (size_t c = 0; c < d->curves; c++)
            if (!create_curve(d, &b->groups[g].curve[c])) return false;
    return true;
}

static void destroy_benches(const struct doubling *d, struct bench *benches, size_t count) {
    for (size_t i = 0; benches && i < count; i++) {
        for (size_t g = 0; benches[i].groups && g < d->groups; g++)
            for (size_t c = 0; c < d->curves; c++) {
                struct curve *curve = &benches[i].groups[g].curve[c];
                gs_free(curve->factors);
                gs_free(curve->room);
                gs_free(curve->products.sums);
            }
        gs_free(benches[i].groups);
        gs_free(benches[i].raw[0]);
        gs_free(benches[i].raw[1]);
    }
    gs_free(benches);
}

static enum gs_status create_benches(const struct doubling *d, size_t count, struct bench **benches,
                                     struct gs_error *error) {
    struct bench *all = gs_calloc(count, sizeof *all);
    bool good = all;
    for (size_t i = 0; good && i < count; i++) good = create_bench(d, &all[i]);
    *benches = all;
    if (good) return GS_OK;
    return gs_fail_memory(error, d->retention->max_lag * 2 * d->width * sizeof(float),
                          "gates of the lag window");
}

/* ---- one sequence ---------------------------------------------------------------------------- */

/* Nothing before the first row: factors of 0. */
static void start_curve(const struct doubling *d, struct curve *c, size_t lags) {
    struct gs_gate_products *p = &c->products;
    p->lags = lags;
    memset(p->past, 0, (GS_GATE_ROWS - 1) * d->width * sizeof *p->past);
    memset(p->sums, 0, lags * d->width * sizeof *p->sums);
    for (size_t l = GS_GATE_FAR; l + 1 < lags; l++) {
        p->ring[l].at = p->ring[l].begin;
        memset(p->ring[l].begin, 0, window(l) * d->width * sizeof(float));
    }
}

static void start_sequence(const struct doubling *d, struct bench *b, size_t lags) {
    for (size_t g = 0; g < d->groups; g++) {
        memset(b->groups[g].log_decay_sum, 0, sizeof b->groups[g].log_decay_sum);
        memset(b->groups[g].loss_sum, 0, sizeof b->groups[g].loss_sum);
        for (size_t c = 0; c < d->curves; c++) start_curve(d, &b->groups[g].curve[c], lags);
    }
}

static void multiply_curve(const struct doubling *d, struct curve *c, size_t rows) {
    memset(c->factors + rows * d->width, 0, (GS_GATE_ROWS - rows) * d->width * sizeof *c->factors);
    gs_gate_kernels()->multiply(&c->products, c->factors, GS_GATE_ROWS);
}

/* Rows of the block, GS_GATE_ROWS at most. False: a gate is not what a gate may be, or the numbers
 * behind the last row are not. */
static bool take_rows(const struct doubling *d, struct bench *b, size_t g, size_t first,
                      size_t rows) {
    struct group *group = &b->groups[g];
    size_t heads = d->retention->heads, at = first * heads + g * d->width;
    struct gs_gate_rows gates = {.log_decay = b->raw[0] + at,
                                 .strength = d->rows[1] ? b->raw[1] + at : NULL,
                                 .stride = heads,
                                 .rows = rows,
                                 .gated_delta = d->gated_delta,
                                 .log_decay_sum = group->log_decay_sum,
                                 .loss_sum = group->loss_sum,
                                 .most_strength = group->most_strength};
    gates.decay = group->curve[DECAY].factors;
    if (gates.strength) gates.key = group->curve[KEY].factors;
    bool good = gs_gate_kernels()->factors(&gates);
    for (size_t c = 0; c < d->curves; c++) multiply_curve(d, &group->curve[c], rows);
    return good;
}

static bool take_group(const struct doubling *d, struct bench *b, size_t g, size_t rows) {
    bool good = true;
    for (size_t first = 0; first < rows; first += GS_GATE_ROWS) {
        size_t left = rows - first, count = left < GS_GATE_ROWS ? left : GS_GATE_ROWS;
        good = take_rows(d, b, g, first, count) && good;
    }
    return good;
}

static enum gs_status read_both(const struct doubling *d, struct bench *b, size_t sequence,
                                uint64_t row, size_t count, struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (int i = 0; status == GS_OK && i < 2 && d->rows[i]; i++)
        status = gs_rows_read(d->rows[i], sequence, row, count, b->raw[i], error);
    return status;
}

static enum gs_status read_gates(const struct doubling *d, struct bench *b, size_t sequence,
                                 uint64_t row, size_t count, struct gs_error *error) {
    enum gs_status status;
    if (d->rows[0]->side_by_side && (!d->rows[1] || d->rows[1]->side_by_side))
        return read_both(d, b, sequence, row, count, error);
#pragma omp critical(gs_retention_reading)
    status = read_both(d, b, sequence, row, count, error);
    return status;
}

static void keep_sums(const struct doubling *d, const struct bench *b, size_t sequence,
                      size_t lags) {
    struct gs_retention *r = d->retention;
    for (size_t h = 0; h < r->heads; h++) {
        const struct group *group = &b->groups[h / d->width];
        size_t lane = h % d->width, place = sequence * r->heads + h;
        r->gates[place] = (struct gs_gate_sums){group->log_decay_sum[lane], group->loss_sum[lane]};
        for (size_t l = 0; l < lags; l++) {
            r->grid_sums[place * r->grid_count + l] =
                group->curve[DECAY].products.sums[l * d->width + lane];
            if (d->curves > KEY)
                r->grid_key[place * r->grid_count + l] =
                    group->curve[KEY].products.sums[l * d->width + lane];
        }
    }
}

/* The gate of the first row counts nowhere. */
static enum gs_status measure_sequence(const struct doubling *d, struct bench *b, size_t sequence,
                                       struct gs_error *error) {
    const struct gs_retention *r = d->retention;
    uint64_t length = d->rows[0]->length[sequence];
    size_t lags = 0;
    while (lags < r->lag_count && r->lags[lags] < length) lags++;
    start_sequence(d, b, lags);
    for (uint64_t row = 1; row < length; row += d->block) {
        size_t count = length - row < d->block ? (size_t)(length - row) : d->block;
        enum gs_status status = read_gates(d, b, sequence, row, count, error);
        if (status != GS_OK) return status;
        bool good = true;
#pragma omp parallel for schedule(static) reduction(&& : good) if (count * r->heads > 4096)
        for (size_t g = 0; g < d->groups; g++) good = take_group(d, b, g, count) && good;
        if (!good)
            status = gs_gate_check(b->raw[0], d->rows[1] ? b->raw[1] : NULL, r->heads, sequence,
                                   row, count, error);
        if (status != GS_OK) return status;
    }
    keep_sums(d, b, sequence, lags);
    return GS_OK;
}

/* ---- every sequence -------------------------------------------------------------------------- */

/* Of several failures that of the first sequence is told, however many threads there are. */
static void note_end(struct doubling *d, size_t sequence, enum gs_status status,
                     const struct gs_error *error) {
    if (status != GS_OK && sequence < d->failed) {
        d->failed = sequence;
        if (d->error) *d->error = *error;
    }
    d->done += (double)d->rows[0]->length[sequence];
    gs_progress_report(d->progress, d->done, (double)d->retention->rows, NULL);
}

static enum gs_status measure_all(struct doubling *d, struct bench *benches, size_t threads) {
    size_t sequences = d->retention->sequences;
    enum gs_status result = GS_OK;
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)threads) if (threads > 1)
    for (size_t s = 0; s < sequences; s++) {
        struct gs_error error;
        bool skip;
#pragma omp critical(gs_retention_noting)
        skip = s > d->failed || gs_progress_stop(d->progress);
        if (skip) continue;
        enum gs_status status =
            measure_sequence(d, &benches[threads > 1 ? omp_get_thread_num() : 0], s, &error);
#pragma omp critical(gs_retention_noting)
        {
            if (status != GS_OK && s < d->failed) result = status;
            note_end(d, s, status, &error);
        }
    }
    if (result == GS_OK && gs_progress_stop(d->progress))
        return gs_fail(d->error, GS_INTERRUPTED, "stopped on request");
    return result;
}

static void add_sequences(struct gs_retention *r, const double *sums, double *total) {
    for (size_t s = 0; s < r->sequences; s++)
        for (size_t h = 0; h < r->heads; h++)
            for (size_t l = 0; l < r->lag_count; l++)
                total[h * r->lag_count + l] += sums[(s * r->heads + h) * r->grid_count + l];
}

/* No γ is above 0: their sum is 0 only when all are. */
static void find_units(const struct doubling *d, const struct bench *benches, size_t threads) {
    struct gs_retention *r = d->retention;
    for (size_t h = 0; h < r->heads; h++) {
        for (size_t s = 0; s < r->sequences; s++)
            r->unit_decay[h] = r->unit_decay[h] && r->gates[s * r->heads + h].log_decay == 0;
        r->unit_key[h] = r->unit_decay[h];
        for (size_t i = 0; i < threads; i++)
            r->unit_key[h] =
                r->unit_key[h] && benches[i].groups[h / d->width].most_strength[h % d->width] <= 0;
    }
}

enum gs_status
gs_retention_by_doubling(struct gs_retention *retention, const struct gs_rows *log_decay,
                         const struct gs_rows *write_strength, enum gs_transition transition,
                         size_t block, const struct gs_progress *progress, struct gs_error *error) {
    struct doubling d = {.retention = retention,
                         .rows = {log_decay, write_strength},
                         .gated_delta = transition == GS_TRANSITION_GATED_DELTA,
                         .curves = write_strength ? CURVES : 1,
                         .width = gs_gate_kernels()->group,
                         .progress = progress,
                         .failed = SIZE_MAX,
                         .error = error};
    d.block = ((block ? block : BLOCK) + GS_GATE_ROWS - 1) / GS_GATE_ROWS * GS_GATE_ROWS;
    d.groups = (retention->heads + d.width - 1) / d.width;
    size_t threads = (size_t)omp_get_max_threads();
    if (retention->sequences < 2 * threads) threads = 1; /* groups go side by side */
    struct bench *benches;
    enum gs_status status = create_benches(&d, threads, &benches, error);
    if (status == GS_OK) status = measure_all(&d, benches, threads);
    if (status == GS_OK) {
        find_units(&d, benches, threads);
        add_sequences(retention, retention->grid_sums, retention->retention);
        if (d.curves > KEY) add_sequences(retention, retention->grid_key, retention->key);
    }
    destroy_benches(&d, benches, threads);
    return status;
}
