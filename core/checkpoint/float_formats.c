#include "core/checkpoint/float_formats.h"

#include <math.h>
#include <string.h>

uint16_t gs_load_u16(const unsigned char *bytes) {
    return (uint16_t)((unsigned)bytes[0] | (unsigned)bytes[1] << 8);
}

uint32_t gs_load_u32(const unsigned char *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

uint64_t gs_load_u64(const unsigned char *bytes) {
    return (uint64_t)gs_load_u32(bytes) | (uint64_t)gs_load_u32(bytes + 4) << 32;
}

void gs_store_u32(unsigned char *bytes, uint32_t value) {
    for (int i = 0; i < 4; i++) bytes[i] = (unsigned char)(value >> (8 * i));
}

void gs_store_u64(unsigned char *bytes, uint64_t value) {
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(value >> (8 * i));
}

float gs_float_from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint32_t gs_bits_from_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

double gs_double_from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float gs_float_from_f16(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t exponent = (half >> 10) & 0x1fu;
    uint32_t fraction = half & 0x3ffu;
    if (exponent == 0x1f) return gs_float_from_bits(sign | 0x7f800000u | fraction << 13);
    if (exponent == 0) { /* zero or subnormal: fraction * 2^-24, exact in float32 */
        float magnitude = ldexpf((float)fraction, -24);
        return sign ? -magnitude : magnitude;
    }
    return gs_float_from_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

float gs_float_from_bf16(uint16_t half) {
    return gs_float_from_bits((uint32_t)half << 16);
}
