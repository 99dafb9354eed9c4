#include "probes/trace/narrow.h"

#include <string.h>

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* value / 2^shift, rounded to the nearest whole number, ties to even; 1 <= shift <= 31. */
static uint32_t shift_to_even(uint32_t value, unsigned shift) {
    uint32_t half = 1u << (shift - 1);
    uint32_t odd = (value >> shift) & 1u;
    return (value + (half - 1u) + odd) >> shift;
}

uint16_t gs_f16_from_f32(float value) {
    uint32_t bits = bits_of(value);
    uint32_t sign = (bits >> 16) & 0x8000u;
    uint32_t magnitude = bits & 0x7fffffffu;
    uint32_t narrow;
    if (magnitude > 0x7f800000u) /* NaN: the quiet bit keeps it from turning into infinity */
        narrow = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
    else if (magnitude >= 0x47800000u) /* 2^16 and above, infinity included */
        narrow = 0x7c00u;
    else if (magnitude >= 0x38800000u) /* normal: rebias by 127 - 15; a carry may reach infinity */
        narrow = shift_to_even(magnitude - (112u << 23), 13);
    else if (magnitude >= 0x33000000u) { /* subnormal: fraction with its leading one, in 2^-24 */
        uint32_t fraction = (magnitude & 0x7fffffu) | 0x800000u;
        narrow = shift_to_even(fraction, 126u - (magnitude >> 23));
    } else /* below 2^-25: nearer to zero than to anything else */
        narrow = 0;
    return (uint16_t)(sign | narrow);
}

/* Without a branch, so that rows go through vectors. Exponent and fraction move into place; a
 * product by 2^112 rebiases the exponent, exactly, of subnormals, too. */
float gs_f16_to_f32(uint16_t bits) {
    uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
    uint32_t magnitude = (uint32_t)(bits & 0x7fffu) << 13;
    uint32_t special = magnitude >= 0x0f800000u ? 0x7f800000u : 0u; /* infinity and NaN */
    return float_of(sign | special | bits_of(float_of(magnitude) * 0x1p112f));
}

uint16_t gs_bf16_from_f32(float value) {
    uint32_t bits = bits_of(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(bits >> 16 | 0x40u);
    /* Rounding may carry into the exponent and so reach infinity, as it should; the sign bit is
     * never carried into, for infinity has no fraction to round. */
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

float gs_bf16_to_f32(uint16_t bits) {
    return float_of((uint32_t)bits << 16);
}

void gs_f16_from_f32s(const float *values, size_t count, uint16_t *bits) {
    for (size_t i = 0; i < count; i++) bits[i] = gs_f16_from_f32(values[i]);
}

void gs_f16_to_f32s(const uint16_t *bits, size_t count, float *values) {
    for (size_t i = 0; i < count; i++) values[i] = gs_f16_to_f32(bits[i]);
}

void gs_bf16_from_f32s(const float *values, size_t count, uint16_t *bits) {
    for (size_t i = 0; i < count; i++) bits[i] = gs_bf16_from_f32(values[i]);
}

void gs_bf16_to_f32s(const uint16_t *bits, size_t count, float *values) {
    for (size_t i = 0; i < count; i++) values[i] = gs_bf16_to_f32(bits[i]);
}
