/* narrow.h - float32 to the two 16-bit floats of a trace and back, bit by bit.
 *
 * Narrowing rounds to the nearest value, ties to even, subnormals included; what lies beyond the
 * largest value by half a step or more becomes infinity; NaN stays NaN (quiet, its upper payload
 * bits kept). Widening is exact. No library's conversion is relied on (../shared/spec/trace.md).
 */
#ifndef GS_PROBES_TRACE_NARROW_H
#define GS_PROBES_TRACE_NARROW_H

#include <stddef.h>
#include <stdint.h>

/* IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits. */
uint16_t gs_f16_from_f32(float value);
float gs_f16_to_f32(uint16_t bits);

/* bfloat16: the upper half of a float32. */
uint16_t gs_bf16_from_f32(float value);
float gs_bf16_to_f32(uint16_t bits);

/* The same for `count` values. Source and result must not overlap. */
void gs_f16_from_f32s(const float *values, size_t count, uint16_t *bits);
void gs_f16_to_f32s(const uint16_t *bits, size_t count, float *values);
void gs_bf16_from_f32s(const float *values, size_t count, uint16_t *bits);
void gs_bf16_to_f32s(const uint16_t *bits, size_t count, float *values);

#endif
