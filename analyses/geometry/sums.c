#include "analyses/geometry/sums.h"

#include "analyses/geometry/sample.h"
#include "core/base/memory.h"
#include "core/kernels/rows.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { SHARE = 128, SERIAL = 1 << 15 }; /* fewer numbers than SERIAL are not worth a team */

size_t gs_geometry_block_count(size_t dims, size_t sequences) {
    size_t most = (size_t)GS_GEOMETRY_BLOCK_BYTES / (gs_packed_count(dims) * sizeof(float));
    if (most > GS_GEOMETRY_MOST_BLOCKS) most = GS_GEOMETRY_MOST_BLOCKS;
    if (most < GS_GEOMETRY_FEWEST_BLOCKS) most = GS_GEOMETRY_FEWEST_BLOCKS;
    return sequences < most ? sequences : most;
}

/* ---- making --------------------------------------------------------------------------------- */

/* 1, 2, … 9, 10, 20, … 90, 100, 200, … and the longest sequence's length. */
static enum gs_status cut_stretches(struct gs_geometry_sums *s, struct gs_error *error) {
    uint64_t longest = 0;
    for (size_t i = 0; i < s->plan.sequences; i++)
        if (s->plan.lengths[i] > longest) longest = s->plan.lengths[i];
    enum { MOST = 200 }; /* 9 a decade, 20 decades in 64 bits */
    s->limit = gs_calloc(MOST, sizeof *s->limit);
    s->stretches = gs_calloc(MOST, sizeof *s->stretches);
    if (!s->limit || !s->stretches)
        return gs_fail_memory(error, MOST * sizeof *s->stretches, "running means");
    for (uint64_t step = 1, at = 1; at < longest; at += step) {
        s->limit[s->stretch_count++] = at;
        if (at / step == 10) step = at;
    }
    s->limit[s->stretch_count++] = longest;
    return GS_OK;
}

static double *zeros(size_t count, bool *short_of_memory) {
    double *values = gs_calloc(count, sizeof *values);
    if (!values) *short_of_memory = true;
    return values;
}

static bool create_blocks(struct gs_geometry_sums *s) {
    bool lacking = false;
    size_t dims = s->plan.dims;
    s->blocks = gs_calloc(s->plan.blocks, sizeof *s->blocks);
    if (!s->blocks) return false;
    for (size_t i = 0; i < s->plan.blocks; i++) {
        struct gs_geometry_block *block = &s->blocks[i];
        block->mean = zeros((1 + GS_GEOMETRY_PREFIXES) * dims, &lacking);
        if (lacking) return false;
        for (size_t p = 0; p < GS_GEOMETRY_PREFIXES; p++)
            block->prefix[p] = block->mean + (1 + p) * dims;
        if (!s->plan.keep) continue;
        block->comoment = gs_calloc(gs_packed_count(dims), sizeof *block->comoment);
        if (!block->comoment) return false;
    }
    return true;
}

static bool create_totals(struct gs_geometry_sums *s) {
    bool lacking = false;
    size_t dims = s->plan.dims;
    for (size_t i = 0; i < s->stretch_count; i++) s->stretches[i].sum = zeros(dims, &lacking);
    for (size_t i = 0; i < GS_GEOMETRY_BATCHES; i++) s->batches[i].sum = zeros(dims, &lacking);
    s->sequence_sum = zeros(dims, &lacking);
    s->between_mean = zeros(dims, &lacking);
    s->segment = zeros(dims, &lacking);
    s->put = zeros(dims, &lacking);
    return !lacking;
}

static enum gs_status create(struct gs_geometry_sums *s, struct gs_error *error) {
    enum gs_status status = gs_moments_create(s->plan.dims, &s->total, error);
    if (status == GS_OK) status = gs_moments_create(s->plan.dims, &s->current, error);
    if (status == GS_OK)
        status = gs_moments_builder_create(s->plan.dims, s->plan.product, &s->builder, error);
    if (status == GS_OK) status = cut_stretches(s, error);
    if (status != GS_OK) return status;
    if (create_blocks(s) && create_totals(s)) return GS_OK;
    size_t floats = s->plan.keep ? gs_packed_count(s->plan.dims) : 0;
    return gs_fail_memory(error, s->plan.blocks * floats * sizeof(float),
                          "the second moments of bootstrap blocks");
}

enum gs_status gs_geometry_sums_create(const struct gs_geometry_plan *plan,
                                       struct gs_geometry_sums **sums, struct gs_error *error) {
    struct gs_geometry_sums *s = gs_calloc(1, sizeof *s);
    if (!s) return gs_fail_memory(error, sizeof *s, "sums");
    s->plan = *plan;
    for (size_t i = 0; i < plan->sequences; i++) s->rows_planned += plan->lengths[i];
    enum gs_status status = create(s, error);
    if (status != GS_OK) {
        gs_geometry_sums_destroy(s);
        return status;
    }
    *sums = s;
    return GS_OK;
}

void gs_geometry_sums_destroy(struct gs_geometry_sums *sums) {
    if (!sums) return;
    gs_moments_destroy(sums->total);
    gs_moments_destroy(sums->current);
    gs_moments_builder_destroy(sums->builder);
    for (size_t i = 0; sums->blocks && i < sums->plan.blocks; i++) {
        gs_free(sums->blocks[i].comoment);
        gs_free(sums->blocks[i].mean);
    }
    for (size_t i = 0; sums->stretches && i < sums->stretch_count; i++)
        gs_free(sums->stretches[i].sum);
    for (size_t i = 0; i < GS_GEOMETRY_BATCHES; i++) gs_free(sums->batches[i].sum);
    gs_free(sums->blocks);
    gs_free(sums->stretches);
    gs_free(sums->limit);
    gs_free(sums->sequence_sum);
    gs_free(sums->between_mean);
    gs_free(sums->segment);
    gs_free(sums->put);
    gs_free(sums->squares);
    gs_free(sums);
}

/* ---- adding --------------------------------------------------------------------------------- */

static enum gs_status make_room(struct gs_geometry_sums *s, size_t count, struct gs_error *error) {
    if (count <= s->squares_capacity) return GS_OK;
    gs_free(s->squares);
    s->squares_capacity = 0;
    s->squares = gs_calloc(count, sizeof *s->squares);
    if (!s->squares) return gs_fail_memory(error, count * sizeof *s->squares, "norms");
    s->squares_capacity = count;
    return GS_OK;
}

/* Squares of rows, of which `squares` has room for `count`, and sums of columns, in one go. */
static void sum_rows(const float *rows, size_t count, size_t dims, double *squares, double *sum) {
    const struct gs_row_kernels *kernels = gs_row_kernels();
    size_t shares = (dims + SHARE - 1) / SHARE;
    memset(sum, 0, dims * sizeof *sum);
#pragma omp parallel if (count * dims > SERIAL)
    {
#pragma omp for schedule(static) nowait
        for (size_t r = 0; r < count; r++)
            squares[r] = kernels->wide_squares(rows + r * dims, dims);
#pragma omp for schedule(dynamic, 1)
        for (size_t i = 0; i < shares; i++) {
            size_t first = i * SHARE, columns = dims - first < SHARE ? dims - first : SHARE;
            kernels->column_sums(rows + first, dims, count, columns, sum + first);
        }
    }
}

static void add_norms(struct gs_geometry_sums *s, const double *squares, size_t count) {
    struct gs_geometry_block *block = &s->blocks[s->block];
    for (size_t r = 0; r < count; r++) {
        gs_running_add(&block->norm, sqrt(squares[r]));
        block->energy += squares[r];
    }
}

static void add_vector(double *into, const double *from, size_t dims) {
    for (size_t i = 0; i < dims; i++) into[i] += from[i];
}

/* Which of `parts` equal parts of `whole` things number `index` belongs to. Parts are at most 64
 * and things are rows of a file, so the product fits. */
static size_t share_of(uint64_t index, uint64_t whole, size_t parts) {
    return (size_t)(index * parts / whole);
}

static size_t batch_now(const struct gs_geometry_sums *s) {
    return s->plan.sequences >= GS_GEOMETRY_BATCHES
               ? share_of(s->sequence, s->plan.sequences, GS_GEOMETRY_BATCHES)
               : share_of(s->row, s->rows_planned, GS_GEOMETRY_BATCHES);
}

/* Rows from here on that share stretch and batch. */
static size_t segment_rows(const struct gs_geometry_sums *s, size_t stretch, size_t count) {
    uint64_t left = s->limit[stretch] - s->place;
    if (left < count) count = (size_t)left;
    if (s->plan.sequences >= GS_GEOMETRY_BATCHES) return count;
    size_t batch = batch_now(s), rows = 1;
    while (rows < count && share_of(s->row + rows, s->rows_planned, GS_GEOMETRY_BATCHES) == batch)
        rows++;
    return rows;
}

static void add_segment(struct gs_geometry_sums *s, const float *rows, size_t stretch,
                        size_t count) {
    size_t dims = s->plan.dims, batch = batch_now(s);
    struct gs_geometry_block *block = &s->blocks[s->block];
    sum_rows(rows, count, dims, s->squares, s->segment);
    add_norms(s, s->squares, count);
    add_vector(s->put, s->segment, dims);
    add_vector(s->stretches[stretch].sum, s->segment, dims);
    s->stretches[stretch].rows += count;
    add_vector(s->batches[batch].sum, s->segment, dims);
    s->batches[batch].rows += count;
    add_vector(s->sequence_sum, s->segment, dims);
    for (size_t p = 0; p < GS_GEOMETRY_PREFIXES; p++) {
        /* Where no sequence is that long there is no such mean. */
        if (s->limit[stretch] > gs_geometry_prefix_rows[p]) continue;
        if (s->limit[s->stretch_count - 1] < gs_geometry_prefix_rows[p]) continue;
        add_vector(block->prefix[p], s->segment, dims);
        block->prefix_rows[p] += count;
    }
    s->place += count;
    s->row += count;
}

static void add_segments(struct gs_geometry_sums *s, const float *rows, size_t count) {
    size_t stretch = 0;
    while (count > 0) {
        while (s->limit[stretch] <= s->place) stretch++;
        size_t taken = segment_rows(s, stretch, count);
        add_segment(s, rows, stretch, taken);
        rows += taken * s->plan.dims;
        count -= taken;
    }
}

static void end_sequence(struct gs_geometry_sums *s) {
    double rows = (double)s->place, before = s->between_rows, square = 0;
    s->between_rows += rows;
    for (size_t i = 0; i < s->plan.dims; i++) {
        double difference = s->sequence_sum[i] / rows - s->between_mean[i];
        s->between_mean[i] += difference * (rows / s->between_rows);
        square += difference * difference;
        s->sequence_sum[i] = 0;
    }
    s->between_squares += square * (before * rows / s->between_rows);
    s->place = 0;
    s->sequence++;
}

static enum gs_status end_block(struct gs_geometry_sums *s, struct gs_error *error) {
    enum gs_status status = gs_moments_builder_flush(s->builder, s->current, error);
    if (status != GS_OK) return status;
    struct gs_geometry_block *block = &s->blocks[s->block];
    block->n = s->current->n;
    memcpy(block->mean, s->current->mean, s->plan.dims * sizeof *block->mean);
    size_t places = gs_packed_count(s->plan.dims);
    for (size_t i = 0; block->comoment && i < places; i++)
        block->comoment[i] = (float)s->current->comoment[i];
    gs_moments_merge(s->total, s->current);
    gs_moments_reset(s->current);
    s->block++;
    return GS_OK;
}

float *gs_geometry_sums_room(struct gs_geometry_sums *sums, size_t *rows) {
    float *room = gs_moments_builder_room(sums->builder, rows);
    uint64_t left = sums->plan.lengths[sums->sequence] - sums->place;
    if (*rows > left) *rows = (size_t)left;
    return room;
}

enum gs_status gs_geometry_sums_put(struct gs_geometry_sums *sums, size_t count,
                                    struct gs_error *error) {
    size_t room;
    const float *rows = gs_geometry_sums_room(sums, &room);
    enum gs_status status = make_room(sums, count, error);
    if (status != GS_OK) return status;
    memset(sums->put, 0, sums->plan.dims * sizeof *sums->put);
    add_segments(sums, rows, count);
    status = gs_moments_builder_put(sums->builder, sums->current, count, sums->put, error);
    if (status != GS_OK || sums->place < sums->plan.lengths[sums->sequence]) return status;
    end_sequence(sums);
    bool last = sums->sequence == sums->plan.sequences;
    if (last || share_of(sums->sequence, sums->plan.sequences, sums->plan.blocks) > sums->block)
        status = end_block(sums, error);
    return status;
}

/* ---- what follows from the sums -------------------------------------------------------------- */

struct gs_running gs_geometry_batch_cosines(const struct gs_geometry_sums *sums) {
    struct gs_running cosines = {0};
    for (size_t i = 0; i < GS_GEOMETRY_BATCHES; i++)
        for (size_t j = i + 1; j < GS_GEOMETRY_BATCHES; j++)
            gs_running_add(&cosines, gs_geometry_cosine(sums->batches[i].sum, sums->batches[j].sum,
                                                        sums->plan.dims));
    return cosines;
}

double gs_geometry_effective_rows(const struct gs_geometry_sums *sums) {
    double n = (double)sums->total->n, rows = 0;
    size_t dims = sums->plan.dims;
    if (sums->plan.sequences < 2 || sums->total->n < 2) return (double)NAN;
    for (size_t i = 0; i < dims; i++) rows += sums->total->comoment[gs_packed(dims, i, i)];
    double row_variance = rows / (n - 1);
    double sequence_variance = sums->between_squares / (double)(sums->plan.sequences - 1);
    if (!(row_variance > 0)) return (double)NAN;
    if (!(sequence_variance > row_variance)) return n;
    return n * row_variance / sequence_variance;
}
