/* Back through one head of the matrix memory. The gradient of the matrix is read and written in two
 * passes; the matrix itself is not there: struct gs_past says what it was made of. Rows are taken
 * in fours, so that what they share is loaded once and their sums are folded together. */
#include "core/kernels/per_isa.h"

/* Rows at once; vectors of columns of a strip, which passes without a branch. */
enum { FOUR = 4, STRIP = 8, HALF_STRIP = 4 };

/* As many floats from `at` on as rows are being read, one matrix further: heads follow each other,
 * and together they are larger than the nearer caches. */
GS_INLINE void fetch_further(const float *at, size_t floats, size_t size) {
    for (size_t i = 0; i < floats; i += 16) __builtin_prefetch(at + size + i, 1, 2);
}

/* What changes the gradient of the matrix in a step: dM_i becomes
 * decay (dM_i + q_i dread) - k_i dvalue. */
struct change {
    const float *dread, *dvalue, *diff; /* (dv) */
    float decay;
};

/* One row of the change in the columns from j on, S vectors; returns the lanes of dM_i . diff of
 * what was there before it. */
GS_INLINE lanes change_strip(size_t S, float *dM, size_t j, const struct change *c, lanes k,
                             lanes q) {
    lanes sum = fill(0);
#pragma GCC unroll 8
    for (size_t end = j + S * GS_LANES; j < end; j += GS_LANES) {
        lanes d = load(dM + j);
        sum += d * load(c->diff + j);
        store(dM + j, d * c->decay + load(c->dread + j) * q - load(c->dvalue + j) * k);
    }
    return sum;
}

/* R rows of the change; along[r] = dM_r . diff of what was there before it. */
GS_INLINE void change_rows(size_t R, float *dM, size_t dv, size_t size, const struct change *c,
                           const float *k, const float *q, float *along) {
    lanes sum[FOUR], key[FOUR], query[FOUR];
    for (size_t r = 0; r < FOUR; r++) sum[r] = fill(0);
    for (size_t r = 0; r < R; r++) {
        key[r] = fill(k[r]);
        query[r] = fill(q[r] * c->decay);
    }
    size_t j = 0;
    for (; j + STRIP * GS_LANES <= dv; j += STRIP * GS_LANES) {
        fetch_further(dM + j * R, R * STRIP * GS_LANES, size);
#pragma GCC unroll 4
        for (size_t r = 0; r < R; r++)
            sum[r] += change_strip(STRIP, dM + r * dv, j, c, key[r], query[r]);
    }
    for (; j + GS_LANES <= dv; j += GS_LANES)
        for (size_t r = 0; r < R; r++)
            sum[r] += change_strip(1, dM + r * dv, j, c, key[r], query[r]);
    quad sums = sum_four(sum);
    memcpy(along, &sums, R * sizeof *along);
    for (; j < dv; j++)
        for (size_t r = 0; r < R; r++) {
            float *at = dM + r * dv + j;
            along[r] += *at * c->diff[j];
            *at = c->decay * (*at + c->dread[j] * q[r]) - c->dvalue[j] * k[r];
        }
}

/* The columns j … end - 1 of R rows, with x and y. Unrolled further, it only moves registers. */
GS_INLINE void against_columns(size_t R, const float *M, size_t dv, size_t j, size_t end,
                               const float *x, const float *y, lanes first[FOUR],
                               lanes second[FOUR]) {
#pragma GCC unroll 1
    for (; j < end; j += GS_LANES) {
        lanes left = load(x + j), right = load(y + j);
        for (size_t r = 0; r < R; r++) {
            lanes m = load(M + r * dv + j);
            first[r] += m * left;
            second[r] += m * right;
        }
    }
}

/* a[r] = M_r . x and b[r] = M_r . y for R rows. */
GS_INLINE void against_rows(size_t R, const float *M, size_t dv, size_t size, const float *x,
                            const float *y, float *a, float *b) {
    lanes first[FOUR], second[FOUR];
    for (size_t r = 0; r < FOUR; r++) first[r] = second[r] = fill(0);
    size_t j = 0;
    for (; j + STRIP * GS_LANES <= dv; j += STRIP * GS_LANES) {
        if (size) fetch_further(M + j * R, R * STRIP * GS_LANES, size);
        against_columns(R, M, dv, j, j + STRIP * GS_LANES, x, y, first, second);
    }
    against_columns(R, M, dv, j, dv - dv % GS_LANES, x, y, first, second);
    j = dv - dv % GS_LANES;
    quad firsts = sum_four(first), seconds = sum_four(second);
    memcpy(a, &firsts, R * sizeof *a);
    memcpy(b, &seconds, R * sizeof *b);
    for (; j < dv; j++)
        for (size_t r = 0; r < R; r++) {
            a[r] += M[r * dv + j] * x[j];
            b[r] += M[r * dv + j] * y[j];
        }
}

GS_INLINE float dot_row(const float *x, const float *y, size_t n) {
    lanes sum = fill(0);
    for (size_t i = 0; i < n; i += GS_LANES) sum += load_row(x, i, n) * load_row(y, i, n);
    return sum_lanes(sum);
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

/* S vectors of columns, from i on, of what add_keys adds. */
GS_INLINE void add_strip(size_t S, const float *keys, size_t count, size_t dk, size_t i,
                         const float *left, const float *right, float *a, float *b) {
    lanes first[HALF_STRIP], second[HALF_STRIP];
    for (size_t s = 0; s < S; s++) {
        first[s] = load_row(a, i + s * GS_LANES, dk);
        second[s] = load_row(b, i + s * GS_LANES, dk);
    }
    for (size_t j = 0; j < count; j++)
        for (size_t s = 0; s < S; s++) {
            lanes key =
                S > 1 ? load(keys + j * dk + i + s * GS_LANES) : load_row(keys + j * dk, i, dk);
            first[s] += key * left[j];
            second[s] += key * right[j];
        }
    for (size_t s = 0; s < S; s++) {
        store_row(a, i + s * GS_LANES, dk, first[s]);
        store_row(b, i + s * GS_LANES, dk, second[s]);
    }
}

/* a += sum over j of left_j keys_j, b += sum over j of right_j keys_j; keys (count, dk). */
static void add_keys(const float *keys, size_t count, size_t dk, const float *left,
                     const float *right, float *a, float *b) {
    size_t i = 0;
    for (; i + HALF_STRIP * GS_LANES <= dk; i += HALF_STRIP * GS_LANES)
        add_strip(HALF_STRIP, keys, count, dk, i, left, right, a, b);
    for (; i < dk; i += GS_LANES) add_strip(1, keys, count, dk, i, left, right, a, b);
}

GS_INLINE void scale_row(float *x, float s, size_t n) {
    for (size_t i = 0; i < n; i += GS_LANES) store_row(x, i, n, load_row(x, i, n) * s);
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

/* Of the gradients of what a head read and of what it wrote with what it held: dread . read,
 * dread . diff, g . diff. */
struct dots {
    float read_read, read_diff, value_diff;
};

/* dvalue is dM'k and becomes strength g, g = dM'k + (q . k) dread. */
GS_INLINE void finish_value(const struct gs_head *head, const float *dread, size_t dk, size_t dv,
                            float *dvalue, struct dots *dots) {
    const float along = dot_row(head->q, head->k, dk);
    lanes read_read = fill(0), read_diff = fill(0), value_diff = fill(0);
    for (size_t i = 0; i < dv; i += GS_LANES) {
        const lanes back = load_row(dread, i, dv), diff = load_row(head->diff, i, dv);
        const lanes g = load_row(dvalue, i, dv) + back * along;
        read_read += back * load_row(head->read, i, dv);
        read_diff += back * diff;
        value_diff += g * diff;
        store_row(dvalue, i, dv, g * head->strength);
    }
    *dots = (struct dots){sum_lanes(read_read), sum_lanes(read_diff), sum_lanes(value_diff)};
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
    const struct change change = {dread, dvalue, head->diff, decay};
    struct dots dots;
    GS_KERNEL(memory_read)(gradient->dM, dk, dv, k, dvalue); /* dM'k */
    finish_value(head, dread, dk, dv, dvalue, &dots);
    *gradient->dstrength = dots.value_diff;
    size_t i = 0;
    for (; i + FOUR <= dk; i += FOUR)
        change_rows(FOUR, gradient->dM + i * dv, dv, dk * dv, &change, k + i, q + i, dkey + i);
    for (; i < dk; i++)
        change_rows(1, gradient->dM + i * dv, dv, dk * dv, &change, k + i, q + i, dkey + i);
    against_past(past, dk, dv, dvalue, dread, held, dq);
    for (i = 0; i < dk; i += GS_LANES) {
        lanes row = load_row(dkey, i, dk) + load_row(q, i, dk) * dots.read_diff; /* G diff */
        store_row(dkey, i, dk, row * strength - load_row(held, i, dk));
        store_row(dq, i, dk,
                  load_row(dq, i, dk) * decay + load_row(k, i, dk) * (strength * dots.read_diff));
    }
    double dlog = *gradient->overlap + (double)dots.read_read -
                  (double)strength * (double)*gradient->dstrength;
    *gradient->dlog_decay = (float)dlog;
    *gradient->overlap = dlog - (double)dot_row(k, held, dk);
}
