#include "analyses/split/draws.h"

#include <math.h>

void gs_split_draw_even(const void *context, struct gs_random *random, double *x, size_t count) {
    const struct gs_even *even = context;
    for (size_t i = 0; i < count; i++)
        x[i] = even->low + (even->high - even->low) * gs_random_uniform(random);
}

static double draw_normal(struct gs_normal normal, struct gs_random *random) {
    return normal.mean + normal.deviation * gs_random_normal(random);
}

void gs_split_draw_normal(const void *context, struct gs_random *random, double *x, size_t count) {
    const struct gs_normal *normal = context;
    for (size_t i = 0; i < count; i++) x[i] = draw_normal(*normal, random);
}

void gs_split_draw_reference(const void *context, struct gs_random *random, double *x,
                             size_t count) {
    const struct gs_split_reference *reference = context;
    const struct gs_normal fast = {log(2), 0.35}, slow = {log(60), 1.2};
    for (size_t i = 0; i < count; i++)
        x[i] = draw_normal(i % reference->per_seed < reference->fast ? fast : slow, random);
}

static double quartile(const struct gs_split_sample *s, double q) {
    double place = q * (double)(s->exact - 1);
    size_t below = (size_t)place;
    if (below + 1 >= s->exact) return s->x[s->exact - 1];
    return s->x[below] + (place - (double)below) * (s->x[below + 1] - s->x[below]);
}

struct gs_split_like gs_split_like_of(const struct gs_split_sample *s) {
    struct gs_split_like like = {.sample = s, .shrink = 1};
    if (s->exact < 2) return like;
    double sum = 0, squares = 0, n = (double)s->exact;
    for (size_t i = 0; i < s->exact; i++) sum += s->x[i];
    like.mean = sum / n;
    for (size_t i = 0; i < s->exact; i++) squares += (s->x[i] - like.mean) * (s->x[i] - like.mean);
    double deviation = sqrt(squares / n);
    double robust = (quartile(s, 0.75) - quartile(s, 0.25)) / 1.34;
    double spread = robust > 0 ? fmin(deviation, robust) : deviation;
    like.bandwidth = 0.9 * spread * pow(n, -0.2);
    if (deviation > 0) like.shrink = 1 / sqrt(1 + pow(like.bandwidth / deviation, 2));
    return like;
}

void gs_split_draw_like(const void *context, struct gs_random *random, double *x, size_t count) {
    const struct gs_split_like *like = context;
    const struct gs_split_sample *s = like->sample;
    for (size_t i = 0; i < count; i++) {
        size_t k = (size_t)gs_random_below(random, s->exact + s->censored);
        double moved = like->bandwidth * gs_random_normal(random);
        x[i] = k < s->exact ? like->mean + like->shrink * (s->x[k] - like->mean + moved) : s->bound;
    }
}
