/* The 16-bit floats against the definition: the nearest multiple of a quantum, computed in double,
 * where all of it is exact. */
#include "probes/trace/narrow.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

struct format {
    int fraction, least, most; /* fraction bits; exponents of the smallest and largest normal */
    uint16_t (*narrow)(float);
    float (*widen)(uint16_t);
};
static const struct format half = {10, -14, 15, gs_f16_from_f32, gs_f16_to_f32};
static const struct format brain = {7, -126, 127, gs_bf16_from_f32, gs_bf16_to_f32};

/* What the bits mean, from the definition. */
static double meaning(const struct format *format, uint16_t bits) {
    int width = 15 - format->fraction;
    int exponent = (bits >> format->fraction) & ((1 << width) - 1);
    int fraction = bits & ((1 << format->fraction) - 1);
    double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == (1 << width) - 1) return fraction ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * ldexp(fraction, format->least - format->fraction);
    return sign * ldexp((1 << format->fraction) + fraction,
                        format->least - 1 + exponent - format->fraction);
}

/* The value that rounding must give. rint rounds ties to even. */
static double rounded(const struct format *format, double value) {
    int exponent;
    if (value == 0 || !isfinite(value)) return value;
    frexp(value, &exponent);
    exponent -= 1;
    if (exponent < format->least) exponent = format->least;
    double quantum = ldexp(1, exponent - format->fraction);
    double result = rint(value / quantum) * quantum;
    if (fabs(result) >= ldexp(1, format->most + 1)) return copysign(INFINITY, value);
    return result;
}

static void check(const struct format *format, uint32_t bits) {
    float value = float_of(bits);
    uint16_t narrow = format->narrow(value);
    double got = meaning(format, narrow), expected = rounded(format, (double)value);
    bool same =
        isnan(expected) ? isnan(got) : got == expected && !signbit(got) == !signbit(expected);
    if (same) return;
    print_error("bits %08x (%.9g): %04x (%.9g), expected %.9g\n", bits, (double)value, narrow, got,
                expected);
    fail();
}

static void widening_is_exact(const struct format *format) {
    for (uint32_t bits = 0; bits < 65536; bits++) {
        double expected = meaning(format, (uint16_t)bits);
        float got = format->widen((uint16_t)bits);
        if (isnan(expected)) { /* sign and payload are kept; a signalling one becomes quiet */
            unsigned shift = 23u - (unsigned)format->fraction;
            uint32_t payload = bits & ((1u << format->fraction) - 1);
            assert_int_equal(bits_of(got), (bits & 0x8000u) << 16 | 0x7f800000u | payload << shift);
            assert_int_equal(format->narrow(got), bits | 1u << (format->fraction - 1));
        } else {
            assert_true((double)got == expected);
            assert_int_equal(signbit(got) != 0, (bits & 0x8000) != 0);
            assert_int_equal(format->narrow(got), bits); /* and comes back */
        }
    }
}

/* Rounding is monotone, so it is right everywhere when it is right at each value, at each midpoint
 * between neighbours, and one float below and above these. */
static void rounding_at_all_borders(const struct format *format) {
    uint32_t top = (uint32_t)((1 << (15 - format->fraction)) - 1) << format->fraction;
    for (uint32_t bits = 0; bits < top; bits++) {
        double low = meaning(format, (uint16_t)bits), high = meaning(format, (uint16_t)(bits + 1));
        if (isinf(high)) high = ldexp(1, format->most + 1);
        float middle = (float)((low + high) / 2);
        if ((double)middle != (low + high) / 2) continue; /* finer than float32 */
        for (int side = -1; side <= 1; side++)
            for (uint32_t sign = 0; sign < 2; sign++) {
                uint32_t at = bits_of(middle) + (uint32_t)side;
                check(format, at | sign << 31);
                at = bits_of((float)low) + (uint32_t)side;
                if (low != 0 || side >= 0) check(format, at | sign << 31);
            }
    }
}

static void rounding_everywhere(const struct format *format) {
    for (uint64_t bits = 0; bits < (uint64_t)1 << 32; bits += 977) check(format, (uint32_t)bits);
    for (uint32_t low = 0; low < 64; low++) { /* the ends of the range of float32 */
        check(format, low), check(format, 0x7f7fffffu - low), check(format, 0x7f800000u + low);
        check(format, 0x80000000u + low), check(format, 0xffffffffu - low);
    }
}

static void half_widens(void **state) {
    (void)state;
    widening_is_exact(&half);
}

static void half_rounds(void **state) {
    (void)state;
    rounding_at_all_borders(&half);
    rounding_everywhere(&half);
}

static void brain_widens(void **state) {
    (void)state;
    widening_is_exact(&brain);
}

static void brain_rounds(void **state) {
    (void)state;
    rounding_at_all_borders(&brain);
    rounding_everywhere(&brain);
}

static void known_values(void **state) {
    (void)state;
    assert_int_equal(gs_f16_from_f32(1.0f), 0x3c00);
    assert_int_equal(gs_f16_from_f32(65504.0f), 0x7bff);
    assert_int_equal(gs_f16_from_f32(65519.996f), 0x7bff);
    assert_int_equal(gs_f16_from_f32(65520.0f), 0x7c00); /* a tie with the next, which is even */
    assert_int_equal(gs_f16_from_f32(0x1p-24f), 0x0001);
    assert_int_equal(gs_f16_from_f32(0x1p-25f), 0x0000); /* a tie: to even */
    assert_int_equal(gs_f16_from_f32(0x1.000002p-25f), 0x0001);
    assert_int_equal(gs_f16_from_f32(-0.0f), 0x8000);
    assert_int_equal(gs_bf16_from_f32(1.0f), 0x3f80);
    assert_int_equal(gs_bf16_from_f32(0x1.01p0f), 0x3f80); /* ties: to even, down and up */
    assert_int_equal(gs_bf16_from_f32(0x1.03p0f), 0x3f82);
    assert_int_equal(gs_bf16_from_f32(3.4e38f), 0x7f80);
    assert_true(isnan(gs_bf16_to_f32(gs_bf16_from_f32(float_of(0x7f800001u)))));
    assert_true(isnan(gs_f16_to_f32(gs_f16_from_f32(float_of(0xff800001u)))));
}

/* Whole rows go through vectors: every value at every place in them. */
static void rows_do_the_same(void **state) {
    (void)state;
    enum { ALL = 65536 };
    static uint16_t bits[ALL], narrow[ALL];
    static float wide[ALL];
    for (uint32_t i = 0; i < ALL; i++) bits[i] = (uint16_t)i;
    for (size_t shift = 0; shift < 9; shift++) {
        size_t count = ALL - shift;
        gs_f16_to_f32s(bits + shift, count, wide);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(bits_of(wide[i]), bits_of(gs_f16_to_f32(bits[i + shift])));
        gs_f16_from_f32s(wide, count, narrow);
        for (size_t i = 0; i < count; i++) assert_int_equal(narrow[i], gs_f16_from_f32(wide[i]));
        gs_bf16_to_f32s(bits + shift, count, wide);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(bits_of(wide[i]), bits_of(gs_bf16_to_f32(bits[i + shift])));
        gs_bf16_from_f32s(wide, count, narrow);
        for (size_t i = 0; i < count; i++) assert_int_equal(narrow[i], gs_bf16_from_f32(wide[i]));
    }
}

static void arrays_do_the_same(void **state) {
    (void)state;
    float values[5] = {0.1f, -2.5f, 70000.0f, 1e-7f, 3.14159f}, back[5];
    uint16_t bits[5];
    gs_f16_from_f32s(values, 5, bits);
    gs_f16_to_f32s(bits, 5, back);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(bits[i], gs_f16_from_f32(values[i]));
        assert_true(back[i] == gs_f16_to_f32(bits[i]));
    }
    gs_bf16_from_f32s(values, 5, bits);
    gs_bf16_to_f32s(bits, 5, back);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(bits[i], gs_bf16_from_f32(values[i]));
        assert_true(back[i] == gs_bf16_to_f32(bits[i]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_widens),      cmocka_unit_test(half_rounds),
        cmocka_unit_test(brain_widens),     cmocka_unit_test(brain_rounds),
        cmocka_unit_test(known_values),     cmocka_unit_test(arrays_do_the_same),
        cmocka_unit_test(rows_do_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
