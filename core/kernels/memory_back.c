/* Back through one head of the matrix memory. The gradient of the matrix is read and written in two
 * passes; the matrix itself is not there: struct gs_past says what it was made of. Rows are taken
 * in fours, so that what they share is loaded once and their sums are folded together. */
#include "core/kernels/per_isa.h"

/* Rows at once. */
enum { FOUR = 4 };

/* As many floats from `at` on as rows are being read, one matrix further: heads follow each other,
 * and together they are larger than the nearer caches. */
GS_INLINE void fetch_further(const float *at, size_t floats, size_t size) {
    for (size_t i = 0; i < floats; i += 16) __builtin_prefetch(at + size + i, 1, 2);
}

/* What changes the gradient of the matrix in a step: dM_i becomes
 * decay (dM_i + q_i dread) - k_i dvalue. */
struct change {
    const float *dread, *dvalue; /* (dv) */
    float decay;
};

/* R rows of the change; along[r] = dM_r . diff of what was there before it. */
GS_INLINE void change_rows(size_t R, float *dM, size_t dv, size_t size, const struct change *c,
                           const float *k, const float *q, const float *diff, float *along) {
    lanes sum[FOUR];
    for (size_t r = 0; r < FOUR; r++) sum[r] = fill(0);
    fetch_further(dM, R * dv, size);
    size_t j = 0;
    for (; j + GS_LANES <= dv; j += GS_LANES) {
        lanes difference = load(diff + j), back = load(c->dvalue + j);
        lanes read = load(c->dread + j) * c->decay;
        for (size_t r = 0; r < R; r++) {
            float *at = dM + r * dv + j;
            lanes d = load(at);
            sum[r] += d * difference;
            store(at, d * c->decay + read * q[r] - back * k[r]);
        }
    }
    quad sums = sum_four(sum);
    for (size_t r = 0; r < R; r++) {
        along[r] = sums[r];
        for (size_t i = j; i < dv; i++) {
            float *at = dM + r * dv + i;
            along[r] += *at * diff[i];
            *at = c->decay * (*at + c->dread[i] * q[r]) - c->dvalue[i] * k[r];
        }
    }
}

/* a[r] = M_r . x and b[r] = M_r . y for R rows. */
GS_INLINE void against_rows(size_t R, const float *M, size_t dv, size_t size, const float *x,
                            const float *y, float *a, float *b) {
    lanes first[FOUR], second[FOUR];
    for (size_t r = 0; r < FOUR; r++) first[r] = second[r] = fill(0);
    if (size) fetch_further(M, R * dv, size);
    size_t j = 0;
    for (; j + GS_LANES <= dv; j += GS_LANES) {
        lanes left = load(x + j), right = load(y + j);
        for (size_t r = 0; r < R; r++) {
            lanes m = load(M + r * dv + j);
            first[r] += m * left;
            second[r] += m * right;
        }
    }
    quad firsts = sum_four(first), seconds = sum_four(second);
    for (size_t r = 0; r < R; r++) {
        a[r] = firsts[r];
        b[r] = seconds[r];
        for (size_t i = j; i < dv; i++) {
            a[r] += M[r * dv + i] * x[i];
            b[r] += M[r * dv + i] * y[i];
        }
    }
}

GS_INLINE float dot_row(const float *x, const float *y, size_t n) {
    lanes sum = fill(0);
    for (size_t i = 0; i < n; i += GS_LANES) sum += load_row(x, i, n) * load_row(y, i, n);
    return sum_lanes(sum);
}

/* y += x * s */
GS_INLINE void add_scaled(const float *x, float s, size_t n, float *y) {
    for (size_t i = 0; i < n; i += GS_LANES)
        store_row(y, i, n, load_row(y, i, n) + load_row(x, i, n) * s);
}

GS_INLINE void scale_row(float *x, float s, size_t n) {
    for (size_t i = 0; i < n; i += GS_LANES) store_row(x, i, n, load_row(x, i, n) * s);
}

/* Writes that are taken together. */
enum { SOME = 32 };

/* left[j] = weight_j diffs_j . x and right[j] = weight_j diffs_j . y for the writes first … last -
 * 1, where weight_j is the strength times the decays after it. `after` holds the product of the
 * decays from `last` on, and then from `first` on. */
static void write_weights(const struct gs_past *past, size_t first, size_t last, size_t dv,
                          const float *x, const float *y, float *after, float *left, float *right) {
    size_t j = first;
    for (; j + FOUR <= last; j += FOUR)
        against_rows(FOUR, past->diffs + j * dv, dv, 0, x, y, left + j - first, right + j - first);
    for (; j < last; j++)
        against_rows(1, past->diffs + j * dv, dv, 0, x, y, left + j - first, right + j - first);
    while (j-- > first) {
        float weight = *after * past->strengths[j];
        left[j - first] *= weight;
        right[j - first] *= weight;
        *after *= past->decays[j];
    }
}

/* a += sum over j of left_j keys_j, b += sum over j of right_j keys_j; keys (count, dk). */
static void add_keys(const float *keys, size_t count, size_t dk, const float *left,
                     const float *right, float *a, float *b) {
    for (size_t i = 0; i < dk; i += GS_LANES) {
        lanes first = load_row(a, i, dk), second = load_row(b, i, dk);
        for (size_t j = 0; j < count; j++) {
            lanes key = load_row(keys + j * dk, i, dk);
            first += key * left[j];
            second += key * right[j];
        }
        store_row(a, i, dk, first);
        store_row(b, i, dk, second);
    }
}

/* a = M x, b = M y, of the memory that `past` makes; a, b (dk), x, y (dv). */
static void against_past(const struct gs_past *past, size_t dk, size_t dv, const float *x,
                         const float *y, float *a, float *b) {
    float scale = 1, after = 1;
    for (size_t j = 0; j < past->writes; j++) scale *= past->decays[j];
    size_t i = 0;
    for (; i + FOUR <= dk; i += FOUR)
        against_rows(FOUR, past->start + i * dv, dv, dk * dv, x, y, a + i, b + i);
    for (; i < dk; i++) against_rows(1, past->start + i * dv, dv, dk * dv, x, y, a + i, b + i);
    scale_row(a, scale, dk);
    scale_row(b, scale, dk);
    for (size_t last = past->writes; last > 0;) {
        float left[SOME], right[SOME];
        size_t first = last > SOME ? last - SOME : 0;
        write_weights(past, first, last, dv, x, y, &after, left, right);
        add_keys(past->keys + first * dk, last - first, dk, left, right, a, b);
        last = first;
    }
}

void GS_KERNEL(memory_read_backward)(const struct gs_past *past, size_t dk, size_t dv,
                                     const float *q, const float *read, const float *dread,
                                     float *dM, double *overlap, float *dq, float *work) {
    against_past(past, dk, dv, dread, dread, dq, work);
    for (size_t i = 0; i < dk; i++)
        for (size_t j = 0; j < dv; j += GS_LANES)
            store_row(dM + i * dv, j, dv,
                      load_row(dM + i * dv, j, dv) + load_row(dread, j, dv) * q[i]);
    *overlap += (double)dot_row(dread, read, dv);
}

/* M' = decay M + strength k (x) diff, diff = v - M'k, read = M' q. With G = dM' + q (x) dread:
 *   g = G'k, dstrength = g . diff, dv = strength g, d(M'k) = -dv,
 *   dk = strength G diff - M dv, dM = decay G - k (x) dv,
 *   dq = M' dread = decay M dread + strength k (diff . dread),
 *   <G, M'> = <dM', M'> + dread . read = decay <G, M> + strength k'G diff,
 *   <dM, M> = decay <G, M> - k'M dv. */
void GS_KERNEL(memory_step_backward)(const struct gs_past *past, size_t dk, size_t dv,
                                     const struct gs_head *head,
                                     const struct gs_head_gradient *gradient) {
    const float decay = head->decay, strength = head->strength, *k = head->k, *q = head->q;
    float *dvalue = gradient->dv, *dkey = gradient->dk, *dq = gradient->dq, *held = gradient->work;
    const float *dread = gradient->dread;
    const float stands = dot_row(head->diff, dread, dv);
    GS_KERNEL(memory_read)(gradient->dM, dk, dv, k, dvalue); /* dM'k */
    add_scaled(dread, dot_row(q, k, dk), dv, dvalue);
    *gradient->dstrength = dot_row(dvalue, head->diff, dv);
    scale_row(dvalue, strength, dv);
    const struct change change = {dread, dvalue, decay};
    size_t i = 0;
    for (; i + FOUR <= dk; i += FOUR)
        change_rows(FOUR, gradient->dM + i * dv, dv, dk * dv, &change, k + i, q + i, head->diff,
                    dkey + i);
    for (; i < dk; i++)
        change_rows(1, gradient->dM + i * dv, dv, dk * dv, &change, k + i, q + i, head->diff,
                    dkey + i);
    against_past(past, dk, dv, dvalue, dread, held, dq);
    for (i = 0; i < dk; i += GS_LANES) {
        lanes row = load_row(dkey, i, dk) + load_row(q, i, dk) * stands; /* G diff */
        store_row(dkey, i, dk, row * strength - load_row(held, i, dk));
        store_row(dq, i, dk,
                  load_row(dq, i, dk) * decay + load_row(k, i, dk) * (strength * stands));
    }
    double read = (double)dot_row(gradient->dread, head->read, dv);
    double dlog = *gradient->overlap + read - (double)strength * (double)*gradient->dstrength;
    *gradient->dlog_decay = (float)dlog;
    *gradient->overlap = dlog - (double)dot_row(k, held, dk);
}
