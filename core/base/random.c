#include "core/base/random.h"

#include <math.h>

/* Vigna's splitmix64: the next output of a generator whose state is *x. */
static uint64_t splitmix64(uint64_t *x) {
    uint64_t z = (*x += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* FNV-1a, 64 bits: names a stream by a number. */
static uint64_t name_hash(const char *name) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (const unsigned char *byte = (const unsigned char *)name; *byte; byte++)
        hash = (hash ^ *byte) * 0x100000001b3u;
    return hash;
}

void gs_random_seed(struct gs_random *random, uint64_t seed, const char *stream) {
    uint64_t x = seed;
    x = splitmix64(&x) ^ name_hash(stream);
    /* Four outputs of splitmix64 are never all zero: it is a bijection of distinct states. */
    for (int i = 0; i < 4; i++) random->s[i] = splitmix64(&x);
}

static uint64_t rotate_left(uint64_t x, int bits) {
    return (x << bits) | (x >> (64 - bits));
}

uint64_t gs_random_bits(struct gs_random *random) {
    uint64_t *s = random->s;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double gs_random_uniform(struct gs_random *random) {
    return (double)(gs_random_bits(random) >> 11) * 0x1p-53;
}

uint64_t gs_random_below(struct gs_random *random, uint64_t bound) {
    /* 2^64 mod bound values at the low end would be too many by one: draw again. */
    uint64_t surplus = (0 - bound) % bound;
    uint64_t bits;
    do bits = gs_random_bits(random);
    while (bits < surplus);
    return bits % bound;
}

/* log(x), 0 < x < 1, from additions, products and one division alone, so that the bits do not
 * depend on the machine's libm: x = m 2^e with m in [sqrt(1/2), sqrt(2)),
 * log m = 2 artanh((m - 1)/(m + 1)). Relative error below 1e-15. */
static double portable_log(double x) {
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0.70710678118654752) {
        m *= 2;
        exponent--;
    }
    double s = (m - 1) / (m + 1);
    double square = s * s;
    double sum = 0;
    for (int k = 23; k >= 3; k -= 2) sum = (sum + 1.0 / k) * square;
    return 2 * (s + s * sum) + exponent * 0.69314718055994531;
}

double gs_random_normal(struct gs_random *random) {
    double u, v, q;
    do {
        u = 2 * gs_random_uniform(random) - 1;
        v = 2 * gs_random_uniform(random) - 1;
        q = u * u + v * v;
    } while (!(q < 1) || q == 0);
    return u * sqrt(-2 * portable_log(q) / q);
}
