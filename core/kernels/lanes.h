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

/* The sum of all lanes in a fixed (pairwise) order. */
GS_INLINE float sum_lanes(lanes value) {
    float buffer[GS_LANES];
    store(buffer, value);
    for (size_t width = GS_LANES / 2; width; width /= 2)
        for (size_t i = 0; i < width; i++) buffer[i] += buffer[i + width];
    return buffer[0];
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
