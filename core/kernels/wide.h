/* wide.h - float64 beside the vectors of floats (lanes.h): half a vector of floats widens to one
 * vector of doubles. Included only by files that are compiled once per instruction set.
 *
 * Floats are widened element by element in the source: gcc 12 makes one instruction of that, but
 * four of __builtin_convertvector. */
#ifndef GS_CORE_KERNELS_WIDE_H
#define GS_CORE_KERNELS_WIDE_H

#include "core/kernels/lanes.h"

enum { HALF = GS_LANES / 2 };

typedef float half __attribute__((vector_size(2 * GS_LANES)));
typedef float half_memory __attribute__((vector_size(2 * GS_LANES), aligned(4), may_alias));
typedef double wide __attribute__((vector_size(4 * GS_LANES)));
typedef double wide_memory __attribute__((vector_size(4 * GS_LANES), aligned(8), may_alias));

#define GS_WIDE2(v, i) (double)(v)[i], (double)(v)[(i) + 1]
#define GS_WIDE4(v, i) GS_WIDE2(v, i), GS_WIDE2(v, (i) + 2)
#if GS_LANES == 16
#define GS_WIDE(v, i)                                                                              \
    (wide) {                                                                                       \
        GS_WIDE4(v, i), GS_WIDE4(v, (i) + 4)                                                       \
    }
#elif GS_LANES == 8
#define GS_WIDE(v, i)                                                                              \
    (wide) {                                                                                       \
        GS_WIDE4(v, i)                                                                             \
    }
#else
#define GS_WIDE(v, i)                                                                              \
    (wide) {                                                                                       \
        GS_WIDE2(v, i)                                                                             \
    }
#endif

GS_INLINE wide widen(const float *from) {
    half value = *(const half_memory *)from;
    return GS_WIDE(value, 0);
}
GS_INLINE wide widen_low(lanes value) {
    return GS_WIDE(value, 0);
}
GS_INLINE wide widen_high(lanes value) {
    return GS_WIDE(value, HALF);
}
GS_INLINE wide load_wide(const double *from) {
    return *(const wide_memory *)from;
}
GS_INLINE void store_wide(double *to, wide value) {
    *(wide_memory *)to = value;
}

#endif
