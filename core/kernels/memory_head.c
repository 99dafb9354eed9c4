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

/* Row i of the write's backward: dM_i w, dM_i . M_i and M_i dpred, and the new dM_i. */
GS_INLINE void row_write_backward(const float *row, float *drow, size_t dv, const float *diff,
                                  const float *dvalue, float k, float decay, float strength,
                                  float *dkey, float *ddecay) {
    lanes key = fill(0), along = fill(0), pred = fill(0);
    size_t j = 0;
    for (; j + GS_LANES <= dv; j += GS_LANES) {
        lanes d = load(drow + j), m = load(row + j), back = load(dvalue + j);
        key += d * load(diff + j);
        along += d * m;
        pred += m * back;
        store(drow + j, d * decay - back * k);
    }
    float keys = sum_lanes(key), total = sum_lanes(along), preds = sum_lanes(pred);
    for (; j < dv; j++) {
        keys += drow[j] * diff[j];
        total += drow[j] * row[j];
        preds += row[j] * dvalue[j];
        drow[j] = drow[j] * decay - dvalue[j] * k;
    }
    *dkey = keys * strength - preds;
    *ddecay += total;
}

/* M' = decay M + k (x) (strength diff), diff = v - M'k. With G = dM':
 *   ddiff' = G'k, dstrength = ddiff'.diff, dv = strength ddiff', dpred = -dv,
 *   dk = G (strength diff) + M dpred, ddecay = <G, M>, dM = decay G + k (x) dpred. */
void GS_KERNEL(memory_write_backward)(const float *M, size_t dk, size_t dv, const float *k,
                                      const float *diff, float decay, float strength, float *dM,
                                      float *dkey, float *dvalue, float *ddecay, float *dstrength,
                                      float *work) {
    GS_KERNEL(memory_read)(dM, dk, dv, k, work);
    *dstrength = (float)GS_KERNEL(dot)(work, diff, dv);
    for (size_t j = 0; j < dv; j++) dvalue[j] = strength * work[j];
    *ddecay = 0;
    for (size_t i = 0; i < dk; i++)
        row_write_backward(M + i * dv, dM + i * dv, dv, diff, dvalue, k[i], decay, strength,
                           dkey + i, ddecay);
}
