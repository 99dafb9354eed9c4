/* Between rows of all heads and the arrays of each head, and attention over these. */
#include "core/models/transformer/runner.h"

#include "core/kernels/kernels.h"

#include <math.h>
#include <string.h>

/* Where a head's array of a sequence begins. */
static size_t unit_place(const struct gs_transformer_runner *r, size_t sequence, size_t head) {
    return (sequence * r->config->heads + head) * r->room * r->stride;
}

static float query_scale(const struct gs_transformer_runner *r) {
    return (float)(1.0 / sqrt((double)r->head));
}

/* Attention reads whole blocks: nothing of an earlier window may stand behind a sequence's end. */
static void clear_behind(const struct gs_transformer_runner *r,
                         const struct gs_transformer_tape *tape, size_t sequence) {
    const size_t behind = gs_attention_rows(r->run) - r->run;
    float *const arrays[] = {tape->q, tape->k, tape->v};
    for (size_t h = 0; h < r->config->heads; h++)
        for (size_t i = 0; i < 3; i++)
            memset(arrays[i] + unit_place(r, sequence, h) + r->run * r->stride, 0,
                   behind * r->stride * sizeof(float));
}

void gs_transformer_split(const struct gs_transformer_runner *r,
                          const struct gs_transformer_tape *tape, size_t first, size_t last,
                          const float *projected) {
    const struct gs_attention_kernels *k = gs_attention_kernels();
    const size_t d = r->config->width, c = r->head, half = c / 2;
    for (size_t row = first; row < last; row++, projected += 3 * d) {
        const size_t sequence = row / r->run, t = row % r->run;
        const float *cosines = r->cosines + t * half, *sines = r->sines + t * half;
        for (size_t h = 0; h < r->config->heads; h++) {
            const size_t place = unit_place(r, sequence, h) + t * r->stride;
            const float *from = projected + h * c;
            k->rotate(from, cosines, sines, half, query_scale(r), false, tape->q + place);
            k->rotate(from + d, cosines, sines, half, 1.0f, false, tape->k + place);
            memcpy(tape->v + place, from + 2 * d, c * sizeof(float));
        }
        if (t + 1 == r->run) clear_behind(r, tape, sequence);
    }
}

static struct gs_attention attention_of(const struct gs_transformer_runner *r,
                                        const struct gs_transformer_tape *tape, size_t sequence,
                                        size_t head, float *work) {
    const size_t place = unit_place(r, sequence, head);
    return (struct gs_attention){.head = r->head,
                                 .width = r->width,
                                 .stride = r->stride,
                                 .q = tape->q + place,
                                 .k = tape->k + place,
                                 .v = tape->v + place,
                                 .work = work};
}

/* One block of queries of one head, to its columns of the rows. */
static void attend_block(const struct gs_transformer_runner *r,
                         const struct gs_transformer_tape *tape, size_t sequence, size_t head,
                         size_t first) {
    enum { QUERIES = GS_ATTENTION_QUERIES };
    const size_t d = r->config->width, c = r->head;
    float *mixed = gs_transformer_work(r), *log_sum = mixed + QUERIES * r->width;
    const struct gs_attention a = attention_of(r, tape, sequence, head, log_sum + QUERIES);
    gs_attention_kernels()->forward(&a, first, mixed, log_sum);
    memcpy(tape->log_sum + (sequence * r->config->heads + head) * r->room + first, log_sum,
           QUERIES * sizeof *log_sum);
    float *to = tape->mixed + (sequence * r->run + first) * d + head * c;
    for (size_t i = 0; i < QUERIES && first + i < r->run; i++)
        memcpy(to + i * d, mixed + i * r->width, c * sizeof *to);
}

/* The last blocks of a sequence have the most keys: they begin first, so that threads end together.
 */
void gs_transformer_attend(const struct gs_transformer_runner *r,
                           const struct gs_transformer_tape *tape, size_t count) {
    const size_t blocks = gs_attention_rows(r->run) / GS_ATTENTION_QUERIES;
    const size_t units = count * r->config->heads;
#pragma omp for schedule(dynamic)
    for (size_t i = 0; i < units * blocks; i++) {
        const size_t unit = i / blocks, block = blocks - 1 - i % blocks;
        attend_block(r, tape, unit / r->config->heads, unit % r->config->heads,
                     block * GS_ATTENTION_QUERIES);
    }
}

/* ---- back --------------------------------------------------------------------------------- */

/* A head's share of the rows' gradients: d_o (room, stride) with its zeros, and d_o . o. */
static void gather(const struct gs_transformer_runner *r, const struct gs_transformer_tape *tape,
                   size_t sequence, size_t head, size_t rows, float *d_o, float *along) {
    const size_t d = r->config->width, c = r->head;
    const size_t place = sequence * r->run * d + head * c;
    const float *from = r->back.d_mixed + place, *mixed = tape->mixed + place;
    memset(d_o, 0, rows * r->stride * sizeof *d_o);
    memset(along, 0, rows * sizeof *along);
    for (size_t t = 0; t < r->run; t++) {
        memcpy(d_o + t * r->stride, from + t * d, c * sizeof *d_o);
        along[t] = (float)gs_kernels()->dot(from + t * d, mixed + t * d, c);
    }
}

static void scatter(const struct gs_transformer_runner *r, size_t sequence, size_t head,
                    const float *dq, const float *dk, const float *dv) {
    const struct gs_attention_kernels *k = gs_attention_kernels();
    const size_t d = r->config->width, c = r->head, half = c / 2;
    float *to = r->back.d_in + sequence * r->run * 3 * d + head * c;
    for (size_t t = 0; t < r->run; t++, to += 3 * d) {
        const float *cosines = r->cosines + t * half, *sines = r->sines + t * half;
        k->rotate(dq + t * r->stride, cosines, sines, half, query_scale(r), true, to);
        k->rotate(dk + t * r->stride, cosines, sines, half, 1.0f, true, to + d);
        memcpy(to + 2 * d, dv + t * r->stride, c * sizeof *to);
    }
}

static void unit_back(const struct gs_transformer_runner *r, const struct gs_transformer_tape *tape,
                      size_t sequence, size_t head) {
    const size_t rows = gs_attention_rows(r->run), floats = rows * r->stride;
    float *d_o = gs_transformer_work(r), *dq = d_o + floats, *dk = dq + floats, *dv = dk + floats;
    float *along = dv + floats;
    const struct gs_attention a = attention_of(r, tape, sequence, head, along + rows);
    gather(r, tape, sequence, head, rows, d_o, along);
    memset(dk, 0, 2 * floats * sizeof *dk);
    struct gs_attention_gradient g = {.d_o = d_o,
                                      .log_sum = tape->log_sum +
                                                 (sequence * r->config->heads + head) * r->room,
                                      .along = along,
                                      .dk = dk,
                                      .dv = dv};
    for (size_t first = 0; first < rows; first += GS_ATTENTION_QUERIES) {
        g.dq = dq + first * r->stride;
        gs_attention_kernels()->backward(&a, first, &g);
    }
    scatter(r, sequence, head, dq, dk, dv);
}

void gs_transformer_attend_back(const struct gs_transformer_runner *r,
                                const struct gs_transformer_tape *tape, size_t count) {
    const size_t heads = r->config->heads;
#pragma omp for schedule(dynamic)
    for (size_t unit = 0; unit < count * heads; unit++)
        unit_back(r, tape, unit / heads, unit % heads);
}
