/* float_formats.h - numbers as they stand in a file, little-endian and not aligned, as float32. */
#ifndef GS_CORE_CHECKPOINT_FLOAT_FORMATS_H
#define GS_CORE_CHECKPOINT_FLOAT_FORMATS_H

#include <stdint.h>

/* Unsigned integers of 2, 4 and 8 bytes, by copy. */
uint16_t gs_load_u16(const unsigned char *bytes);
uint32_t gs_load_u32(const unsigned char *bytes);
uint64_t gs_load_u64(const unsigned char *bytes);
void gs_store_u32(unsigned char *bytes, uint32_t value);
void gs_store_u64(unsigned char *bytes, uint64_t value);

float gs_float_from_bits(uint32_t bits);
uint32_t gs_bits_from_float(float value);
double gs_double_from_bits(uint64_t bits);

/* IEEE binary16 and bfloat16 to float32: exact, subnormals, infinities and NaN included. */
float gs_float_from_f16(uint16_t half);
float gs_float_from_bf16(uint16_t half);

#endif
