/* One head of the matrix memory, one step: M is read and written once, in strips of columns whose
 * sums stay in registers. */
#include "core/kernels/per_isa.h"

/* Vectors of columns in a strip. */
enum { STRIP = 4 };

/* diff = v - M' k over columns j … of one strip of S vectors. */
GS_INLINE void strip_step(size_t S, float *M, size_t dk, size_t dv, const float *k, const float *v,
                          float decay, float strength, const float *q, float *diff, float *read) {
    lanes sum[STRIP], write[STRIP];
    for (size_t s = 0; s < S; s++) sum[s] = fill(0);
    for (size_t i = 0; i < dk; i++)
        for (size_t s = 0; s < S; s++) sum[s] += load(M + i * dv + s * GS_LANES) * k[i];
    for (size_t s = 0; s < S; s++) {
        lanes difference = load(v + s * GS_LANES) - sum[s];
        store(diff + s * GS_LANES, difference);
        write[s] = difference * strength;
        sum[s] = fill(0);
    }
    for (size_t i = 0; i < dk; i++)
        for (size_t s = 0; s < S; s++) {
            float *at = M + i * dv + s * GS_LANES;
            lanes updated = load(at) * decay + write[s] * k[i];
            store(at, updated);
            if (q) sum[s] += updated * q[i];
        }
    if (q)
        for (size_t s = 0; s < S; s++) store(read + s * GS_LANES, sum[s]);
}

/* The same for one column. */
static void column_step(float *M, size_t dk, size_t dv, const float *k, float v, float decay,
                        float strength, const float *q, float *diff, float *read) {
    float sum = 0;
    for (size_t i = 0; i < dk; i++) sum += M[i * dv] * k[i];
    *diff = v - sum;
    float write = *diff * strength;
    sum = 0;
    for (size_t i = 0; i < dk; i++) {
        M[i * dv] = M[i * dv] * decay + write * k[i];
        if (q) sum += M[i * dv] * q[i];
    }
    if (q) *read = sum;
}

void GS_KERNEL(memory_step)(float *M, size_t dk, size_t dv, const float *k, const float *v,
                            float decay, float strength, const float *q, float *diff, float *read) {
    size_t j = 0;
    for (; j + STRIP * GS_LANES <= dv; j += STRIP * GS_LANES)
        strip_step(STRIP, M + j, dk, dv, k, v + j, decay, strength, q, diff + j,
                   q ? read + j : NULL);
    for (; j + GS_LANES <= dv; j += GS_LANES)
        strip_step(1, M + j, dk, dv, k, v + j, decay, strength, q, diff + j, q ? read + j : NULL);
    for (; j < dv; j++)
        column_step(M + j, dk, dv, k, v[j], decay, strength, q, diff + j, q ? read + j : NULL);
}

void GS_KERNEL(memory_replay)(const float *M, size_t dk, size_t dv, const float *k,
                              const float *diff, float decay, float strength, float *next) {
    for (size_t i = 0; i < dk; i++) {
        const float *row = M + i * dv;
        float *out = next + i * dv;
        size_t j = 0;
        for (; j + GS_LANES <= dv; j += GS_LANES)
            store(out + j, load(row + j) * decay + load(diff + j) * strength * k[i]);
        for (; j < dv; j++) out[j] = row[j] * decay + diff[j] * strength * k[i];
    }
}

/* out = M' x for S vectors of columns. */
GS_INLINE void strip_read(size_t S, const float *M, size_t dk, size_t dv, const float *x,
                          float *out) {
    lanes sum[STRIP];
    for (size_t s = 0; s < S; s++) sum[s] = fill(0);
    for (size_t i = 0; i < dk; i++)
        for (size_t s = 0; s < S; s++) sum[s] += load(M + i * dv + s * GS_LANES) * x[i];
    for (size_t s = 0; s < S; s++) store(out + s * GS_LANES, sum[s]);
}

void GS_KERNEL(memory_read)(const float *M, size_t dk, size_t dv, const float *q, float *read) {
    size_t j = 0;
    for (; j + STRIP * GS_LANES <= dv; j += STRIP * GS_LANES)
        strip_read(STRIP, M + j, dk, dv, q, read + j);
    for (; j + GS_LANES <= dv; j += GS_LANES) strip_read(1, M + j, dk, dv, q, read + j);
    for (; j < dv; j++) {
        float sum = 0;
        for (size_t i = 0; i < dk; i++) sum += M[i * dv + j] * q[i];
        read[j] = sum;
    }
}

void GS_KERNEL(memory_read_backward)(const float *M, size_t dk, size_t dv, const float *q,
                                     const float *dread, float *dM, float *dq) {
    for (size_t i = 0; i < dk; i++) {
        const float *row = M + i * dv;
        float *drow = dM + i * dv;
        lanes along = fill(0);
        size_t j = 0;
        for (; j + GS_LANES <= dv; j += GS_LANES) {
            lanes d = load(dread + j);
            along += load(row + j) * d;
            store(drow + j, load(drow + j) + d * q[i]);
        }
        float sum = sum_lanes(along);
        for (; j < dv; j++) {
            sum += row[j] * dread[j];
            drow[j] += dread[j] * q[i];
        }
        dq[i] = sum;
    }
}

/* First pass over a strip of S vectors of columns: dM += q (x) dread, and what then stands against
 * the key: sum over i of k_i dM_i. */
GS_INLINE void strip_against_key(size_t S, float *dM, size_t dk, size_t dv, const float *k,
                                 const float *q, const float *dread, float *out) {
    lanes read[STRIP], sum[STRIP];
    for (size_t s = 0; s < S; s++) {
        read[s] = load(dread + s * GS_LANES);
        sum[s] = fill(0);
    }
    for (size_t i = 0; i < dk; i++)
        for (size_t s = 0; s < S; s++) {
            float *at = dM + i * dv + s * GS_LANES;
            lanes d = load(at) + read[s] * q[i];
            store(at, d);
            sum[s] += d * k[i];
        }
    for (size_t s = 0; s < S; s++) store(out + s * GS_LANES, sum[s]);
}

static void against_key(float *dM, size_t dk, size_t dv, const float *k, const float *q,
                        const float *dread, float *out) {
    size_t j = 0;
    for (; j + STRIP * GS_LANES <= dv; j += STRIP * GS_LANES)
        strip_against_key(STRIP, dM + j, dk, dv, k, q, dread + j, out + j);
    for (; j + GS_LANES <= dv; j += GS_LANES)
        strip_against_key(1, dM + j, dk, dv, k, q, dread + j, out + j);
    for (; j < dv; j++) {
        float sum = 0;
        for (size_t i = 0; i < dk; i++) {
            dM[i * dv + j] += dread[j] * q[i];
            sum += dM[i * dv + j] * k[i];
        }
        out[j] = sum;
    }
}

/* Sums over one row of M and dM. */
struct row_sums {
    float key;   /* dM_i . diff */
    float along; /* dM_i . M_i */
    float value; /* M_i . dv */
    float read;  /* M_i . dread */
};

/* Second pass, row i; dM_i becomes decay dM_i - k_i dv. */
GS_INLINE struct row_sums row_backward(const float *row, float *drow, size_t dv, const float *diff,
                                       const float *dvalue, const float *dread, float k,
                                       float decay) {
    lanes key = fill(0), along = fill(0), value = fill(0), read = fill(0);
    size_t j = 0;
    for (; j + GS_LANES <= dv; j += GS_LANES) {
        lanes d = load(drow + j), m = load(row + j), back = load(dvalue + j);
        key += d * load(diff + j);
        along += d * m;
        value += m * back;
        read += m * load(dread + j);
        store(drow + j, d * decay - back * k);
    }
    struct row_sums sums = {sum_lanes(key), sum_lanes(along), sum_lanes(value), sum_lanes(read)};
    for (; j < dv; j++) {
        sums.key += drow[j] * diff[j];
        sums.along += drow[j] * row[j];
        sums.value += row[j] * dvalue[j];
        sums.read += row[j] * dread[j];
        drow[j] = drow[j] * decay - dvalue[j] * k;
    }
    return sums;
}

/* M' = decay M + strength k (x) diff, diff = v - M'k, read = M' q. With G = dM' + q (x) dread:
 *   g = G'k, dstrength = g . diff, dv = strength g, d(M'k) = -dv,
 *   dk = strength G diff - M dv, ddecay = <G, M>, dM = decay G - k (x) dv,
 *   dq = M' dread = decay M dread + strength k (diff . dread). */
void GS_KERNEL(memory_step_backward)(const float *M, size_t dk, size_t dv,
                                     const struct gs_head *head,
                                     const struct gs_head_gradient *gradient) {
    const float decay = head->decay, strength = head->strength;
    float *dvalue = gradient->dv;
    against_key(gradient->dM, dk, dv, head->k, head->q, gradient->dread, dvalue);
    *gradient->dstrength = (float)GS_KERNEL(dot)(dvalue, head->diff, dv);
    for (size_t j = 0; j < dv; j++) dvalue[j] *= strength;
    const float written = strength * (float)GS_KERNEL(dot)(head->diff, gradient->dread, dv);
    float total = 0;
    for (size_t i = 0; i < dk; i++) {
        struct row_sums sums = row_backward(M + i * dv, gradient->dM + i * dv, dv, head->diff,
                                            dvalue, gradient->dread, head->k[i], decay);
        gradient->dk[i] = sums.key * strength - sums.value;
        gradient->dq[i] = sums.read * decay + head->k[i] * written;
        total += sums.along;
    }
    *gradient->ddecay = total;
}
