/* One head of the matrix memory, one step: M is read and written once, in strips of columns whose
 * sums stay in registers. */
#include "core/kernels/per_isa.h"

#include <stdbool.h>

/* Vectors of columns in a strip: of a step, and of a read, which has fewer sums to hold. */
enum { STRIP = 4, READ_STRIP = 8, LINE = 16 };

/* diff = v - M' k over columns j … of one strip of S vectors. Returns the sum of the new M's
 * squares, lane by lane, when they are wanted (a constant at each call, as S is), else 0. */
GS_INLINE lanes strip_step(size_t S, bool squares, float *M, size_t dk, size_t dv, const float *k,
                           const float *v, float decay, float strength, const float *q, float *diff,
                           float *read) {
    lanes sum[STRIP], write[STRIP], square[2] = {fill(0), fill(0)};
    for (size_t s = 0; s < S; s++) sum[s] = fill(0);
    for (size_t i = 0; i < dk; i++)
        for (size_t s = 0; s < S; s++) sum[s] += load(M + i * dv + s * GS_LANES) * k[i];
    for (size_t s = 0; s < S; s++) {
        lanes difference = load(v + s * GS_LANES) - sum[s];
        store(diff + s * GS_LANES, difference);
        write[s] = difference * strength;
        sum[s] = fill(0);
    }
    for (size_t i = 0; i < dk; i++) {
        const lanes key = fill(k[i]), query = fill(q[i]); /* before stores, not after each */
        for (size_t s = 0; s < S; s++) {
            float *at = M + i * dv + s * GS_LANES;
            lanes updated = load(at) * decay + write[s] * key;
            if (s * GS_LANES % LINE == 0)
                __builtin_prefetch(at + dk * dv, 1, 2); /* the next head's */
            store(at, updated);
            sum[s] += updated * query;
            if (squares) square[s % 2] += updated * updated;
        }
    }
    for (size_t s = 0; s < S; s++) store(read + s * GS_LANES, sum[s]);
    return square[0] + square[1];
}

/* The same for one column: one function, whatever is wanted, so that M has the same bits. */
static __attribute__((noinline)) float column_step(float *M, size_t dk, size_t dv, const float *k,
                                                   float v, float decay, float strength,
                                                   const float *q, float *diff, float *read) {
    float sum = 0, squares = 0;
    for (size_t i = 0; i < dk; i++) sum += M[i * dv] * k[i];
    *diff = v - sum;
    float write = *diff * strength;
    sum = 0;
    for (size_t i = 0; i < dk; i++) {
        M[i * dv] = M[i * dv] * decay + write * k[i];
        sum += M[i * dv] * q[i];
        squares += M[i * dv] * M[i * dv];
    }
    *read = sum;
    return squares;
}

GS_INLINE float head_step(bool squares, float *M, size_t dk, size_t dv, const float *k,
                          const float *v, float decay, float strength, const float *q, float *diff,
                          float *read) {
    lanes total = fill(0);
    float rest = 0;
    size_t j = 0;
    for (; j + STRIP * GS_LANES <= dv; j += STRIP * GS_LANES)
        total += strip_step(STRIP, squares, M + j, dk, dv, k, v + j, decay, strength, q, diff + j,
                            read + j);
    for (; j + GS_LANES <= dv; j += GS_LANES)
        total +=
            strip_step(1, squares, M + j, dk, dv, k, v + j, decay, strength, q, diff + j, read + j);
    for (; j < dv; j++)
        rest += column_step(M + j, dk, dv, k, v[j], decay, strength, q, diff + j, read + j);
    return squares ? sum_lanes(total) + rest : 0;
}

void GS_KERNEL(memory_step)(float *M, size_t dk, size_t dv, const float *k, const float *v,
                            float decay, float strength, const float *q, float *diff, float *read,
                            float *squares) {
    if (squares)
        *squares = head_step(true, M, dk, dv, k, v, decay, strength, q, diff, read);
    else
        head_step(false, M, dk, dv, k, v, decay, strength, q, diff, read);
}

/* out = M' x for S vectors of columns. */
GS_INLINE void strip_read(size_t S, const float *M, size_t dk, size_t dv, const float *x,
                          float *out) {
    lanes sum[READ_STRIP];
    for (size_t s = 0; s < S; s++) sum[s] = fill(0);
    for (size_t i = 0; i < dk; i++)
        for (size_t s = 0; s < S; s++) sum[s] += load(M + i * dv + s * GS_LANES) * x[i];
    for (size_t s = 0; s < S; s++) store(out + s * GS_LANES, sum[s]);
}

void GS_KERNEL(memory_read)(const float *M, size_t dk, size_t dv, const float *q, float *read) {
    size_t j = 0;
    for (; j + READ_STRIP * GS_LANES <= dv; j += READ_STRIP * GS_LANES)
        strip_read(READ_STRIP, M + j, dk, dv, q, read + j);
    for (; j + GS_LANES <= dv; j += GS_LANES) strip_read(1, M + j, dk, dv, q, read + j);
    for (; j < dv; j++) {
        float sum = 0;
        for (size_t i = 0; i < dk; i++) sum += M[i * dv + j] * q[i];
        read[j] = sum;
    }
}
