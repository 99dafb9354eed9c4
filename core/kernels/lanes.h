/* lanes.h - compiler vectors as wide as the instruction set a kernel file is compiled for.
 *
 * Included only by the files that are compiled once per instruction set. GS_ISA is the suffix
 * ("avx2"), GS_LANES the floats in a vector.
 */
#ifndef GS_CORE_KERNELS_LANES_H
#define GS_CORE_KERNELS_LANES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GS_PASTE2(a, b) a##_##b
#define GS_PASTE(a, b) GS_PASTE2(a, b)
/* The name of a kernel in this instruction set: gs_product_avx2 … */
#define GS_KERNEL(name) GS_PASTE(gs_##name, GS_ISA)

#define GS_INLINE static inline __attribute__((always_inline, unused))

typedef float lanes __attribute__((vector_size(4 * GS_LANES)));
typedef int32_t lanes_int __attribute__((vector_size(4 * GS_LANES)));
/* The same in memory: any alignment of a float, may alias float arrays. */
typedef float lanes_memory __attribute__((vector_size(4 * GS_LANES), aligned(4), may_alias));

GS_INLINE lanes load(const float *from) {
    return *(const lanes_memory *)from;
}
GS_INLINE void store(float *to, lanes value) {
    *(lanes_memory *)to = value;
}
GS_INLINE lanes fill(float value) {
    return value - (lanes){0};
}

/* Says that a vector is to be in a register from here on: gcc would rather load it anew beside each
 * multiply-add that takes it, and loads are what a core that is shared runs out of first. No
 * instruction comes of it. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define GS_IN_REGISTER(vector) __asm__("" : "+v"(vector))
#else
#define GS_IN_REGISTER(vector) (void)(vector)
#endif

/* What is left of a row of n values from i on: the first min(n - i, GS_LANES) values, the rest
 * zero; and back. A partial vector so goes through the same operations as a whole one. */
GS_INLINE lanes load_row(const float *row, size_t i, size_t n) {
    if (__builtin_expect(n - i >= GS_LANES, 1)) return load(row + i);
    float buffer[GS_LANES] = {0};
    memcpy(buffer, row + i, (n - i) * sizeof(float));
    return load(buffer);
}
GS_INLINE void store_row(float *row, size_t i, size_t n, lanes value) {
    if (__builtin_expect(n - i >= GS_LANES, 1)) {
        store(row + i, value);
        return;
    }
    float buffer[GS_LANES];
    store(buffer, value);
    memcpy(row + i, buffer, (n - i) * sizeof(float));
}

GS_INLINE lanes select(lanes_int mask, lanes yes, lanes no) {
    return (lanes)((mask & (lanes_int)yes) | (~mask & (lanes_int)no));
}

/* Four floats; shuffles of two vectors are spelt differently by the compilers. */
typedef float quad __attribute__((vector_size(16)));
typedef float quad_memory __attribute__((vector_size(16), aligned(4), may_alias));
#if defined(__clang__)
#define GS_SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
typedef int32_t quad_int __attribute__((vector_size(16)));
#define GS_SHUFFLE(a, b, i, j, k, l) __builtin_shuffle(a, b, (quad_int){i, j, k, l})
#endif

/* The sum of quarters of a vector, lane by lane. */
GS_INLINE quad fold_lanes(lanes value) {
    float buffer[GS_LANES];
    store(buffer, value);
    quad sum = *(const quad_memory *)buffer;
    for (size_t i = 4; i < GS_LANES; i += 4) sum += *(const quad_memory *)(buffer + i);
    return sum;
}

/* The sum of all lanes in a fixed order. */
GS_INLINE float sum_lanes(lanes value) {
    quad sum = fold_lanes(value);
    sum += GS_SHUFFLE(sum, sum, 2, 3, 0, 1);
    return sum[0] + sum[1];
}

/* The sums of the lanes of four vectors, in a fixed order, at once. */
GS_INLINE quad sum_four(const lanes value[4]) {
    quad a = fold_lanes(value[0]), b = fold_lanes(value[1]);
    quad c = fold_lanes(value[2]), d = fold_lanes(value[3]);
    quad ab = GS_SHUFFLE(a, b, 0, 4, 1, 5) + GS_SHUFFLE(a, b, 2, 6, 3, 7);
    quad cd = GS_SHUFFLE(c, d, 0, 4, 1, 5) + GS_SHUFFLE(c, d, 2, 6, 3, 7);
    return GS_SHUFFLE(ab, cd, 0, 1, 4, 5) + GS_SHUFFLE(ab, cd, 2, 3, 6, 7);
}

/* exp to about one unit in the last place: 2^n e^r with r in ±ln2/2 by its Taylor-like minimax
 * polynomial; the scale comes in two factors so that results near both ends of the range, and
 * denormal ones, are right. NaN stays NaN; below -104 it is 0, above 88.73 Inf. */
GS_INLINE lanes exp_lanes(lanes x) {
    const lanes high = fill(89.0f), low = fill(-104.0f);
    x = select(x > high, high, x);
    x = select(x < low, low, x);
    const lanes magic = fill(12582912.0f); /* 1.5 * 2^23: adding it rounds to an integer */
    lanes shifted = x * 1.44269504088896341f + magic;
    lanes n = shifted - magic;
    lanes r = x - n * 0.693359375f;
    r = r - n * -2.12194440e-4f;
    lanes p = fill(1.9875691500e-4f);
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    lanes_int whole = (lanes_int)shifted - (lanes_int)magic;
    lanes_int half = whole >> 1;
    lanes first = (lanes)((half + 127) << 23);
    lanes second = (lanes)((whole - half + 127) << 23);
    return p * first * second;
}

GS_INLINE lanes sigmoid_lanes(lanes x) {
    return 1.0f / (1.0f + exp_lanes(-x));
}

#endif
