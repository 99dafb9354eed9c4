#include "analyses/split/shapes.h"

#include <math.h>

static const double half_log_two_pi = 0.91893853320467274;
static const double deviation_floor = 0.1;

bool gs_split_measurable(const struct gs_split_sample *s) {
    return s->exact >= 2 && s->x[s->exact - 1] > s->x[0];
}

/* ---- one normal ---- */

static double log_density(struct gs_normal n, double x) {
    double z = (x - n.mean) / n.deviation;
    return -0.5 * z * z - log(n.deviation) - half_log_two_pi;
}

double gs_split_log_tail(struct gs_normal n, double bound) {
    double z = (bound - n.mean) / n.deviation;
    if (z < 25) return log(0.5 * erfc(z * 0.70710678118654752));
    return -0.5 * z * z - half_log_two_pi - log(z + 1 / z); /* erfc underflows from 37 on */
}

/* E[x | x > bound] and E[(x − mean)² | x > bound], by the ratio of density to tail. */
static void beyond(struct gs_normal n, double bound, double *mean, double *square) {
    double z = (bound - n.mean) / n.deviation;
    double hazard = exp(log_density(n, bound) + log(n.deviation) - gs_split_log_tail(n, bound));
    *mean = n.mean + n.deviation * hazard;
    *square = n.deviation * n.deviation * (1 + z * hazard);
}

static double deviation_of_known(const struct gs_split_sample *s, double *mean) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < s->exact; i++) sum += s->x[i];
    *mean = sum / (double)s->exact;
    for (size_t i = 0; i < s->exact; i++) squares += (s->x[i] - *mean) * (s->x[i] - *mean);
    return sqrt(squares / (double)s->exact);
}

/* One EM step: the known as they are, the censored by their expectations. */
static struct gs_normal step_of_one(const struct gs_split_sample *s, struct gs_normal n,
                                    double floor) {
    double tail_mean, tail_square, sum = 0, squares = 0;
    double count = (double)(s->exact + s->censored), censored = (double)s->censored;
    beyond(n, s->bound, &tail_mean, &tail_square);
    for (size_t i = 0; i < s->exact; i++) {
        double d = s->x[i] - n.mean;
        sum += d;
        squares += d * d;
    }
    sum += censored * (tail_mean - n.mean);
    squares += censored * tail_square;
    double shift = sum / count;
    double deviation = sqrt(fmax(squares / count - shift * shift, 0));
    return (struct gs_normal){n.mean + shift, fmax(deviation, floor)};
}

double gs_split_fit_normal(const struct gs_split_sample *s, struct gs_normal *normal) {
    enum { STEPS = 2000 };
    normal->deviation = deviation_of_known(s, &normal->mean);
    double floor = deviation_floor * normal->deviation;
    for (int step = 0; s->censored && step < STEPS; step++) {
        struct gs_normal next = step_of_one(s, *normal, floor);
        double moved = fabs(next.mean - normal->mean) + fabs(next.deviation - normal->deviation);
        *normal = next;
        if (moved < 1e-9 * next.deviation) break;
    }
    double total = 0;
    for (size_t i = 0; i < s->exact; i++) total += log_density(*normal, s->x[i]);
    if (s->censored) total += (double)s->censored * gs_split_log_tail(*normal, s->bound);
    return total;
}

/* ---- even ---- */

/* With k of n beyond the bound c, the likelihood (high − low)^−(n−k) ((high − c)/(high − low))^k is
 * largest at high − low = (c − low) n / (n − k). */
double gs_split_fit_even(const struct gs_split_sample *s, struct gs_even *even) {
    double known = (double)s->exact, all = (double)(s->exact + s->censored);
    even->low = s->x[0];
    even->high = s->x[s->exact - 1];
    if (s->censored) even->high = even->low + (s->bound - even->low) * all / known;
    double width = even->high - even->low;
    double total = -known * log(width);
    if (s->censored) total += (double)s->censored * log((even->high - s->bound) / width);
    return total;
}

/* ---- two normals ---- */

/* Sums over one component: weight, first and second moment about a common origin. */
struct moments {
    double weight, first, second;
};

static struct gs_normal from_moments(struct moments m, double origin, double floor) {
    double mean = m.first / m.weight;
    double variance = m.second / m.weight - mean * mean;
    return (struct gs_normal){origin + mean, fmax(sqrt(fmax(variance, 0)), floor)};
}

static void add(struct moments *m, double weight, double x, double square) {
    m->weight += weight;
    m->first += weight * x;
    m->second += weight * square;
}

/* log of (share · density of fast) / ((1 − share) · density of slow) as a square polynomial in
 * x − origin: one exp a head is all that a step costs. */
struct odds {
    double c0, c1, c2;
};

static struct odds odds_of(const struct gs_two_normals *t, double origin) {
    double a = 0.5 / (t->fast.deviation * t->fast.deviation);
    double b = 0.5 / (t->slow.deviation * t->slow.deviation);
    double u = t->fast.mean - origin, v = t->slow.mean - origin;
    return (struct odds){log(t->share / (1 - t->share)) +
                             log(t->slow.deviation / t->fast.deviation) - a * u * u + b * v * v,
                         2 * (a * u - b * v), b - a};
}

static void add_censored(const struct gs_split_sample *s, const struct gs_two_normals *t,
                         double origin, struct moments *fast, struct moments *slow) {
    double tails[2] = {gs_split_log_tail(t->fast, s->bound), gs_split_log_tail(t->slow, s->bound)};
    double odds = log(t->share / (1 - t->share)) + tails[0] - tails[1];
    double weight = (double)s->censored / (1 + exp(-odds)), mean, square;
    beyond(t->fast, s->bound, &mean, &square);
    double at = t->fast.mean - origin, off = mean - t->fast.mean;
    add(fast, weight, at + off, at * at + 2 * at * off + square);
    beyond(t->slow, s->bound, &mean, &square);
    at = t->slow.mean - origin;
    off = mean - t->slow.mean;
    add(slow, (double)s->censored - weight, at + off, at * at + 2 * at * off + square);
}

static const double smallest_share = 1e-6;
/* Moves of all parameters together, in deviations: the likelihood is then at its top to within 0.01
 * (measured against 1e-6: means of 200 samples agree to that). */
static const double still = 1e-3;

/* One EM step; returns how far the parameters moved, in deviations. */
static double step_of_two(const struct gs_split_sample *s, struct gs_two_normals *t, double origin,
                          double floor) {
    struct odds o = odds_of(t, origin);
    struct moments fast = {0}, slow = {0};
    for (size_t i = 0; i < s->exact; i++) {
        double x = s->x[i] - origin;
        double weight = 1 / (1 + exp(-(o.c0 + x * (o.c1 + x * o.c2))));
        add(&fast, weight, x, x * x);
        add(&slow, 1 - weight, x, x * x);
    }
    if (s->censored) add_censored(s, t, origin, &fast, &slow);
    double all = fast.weight + slow.weight;
    if (!(fast.weight > smallest_share * all) || !(slow.weight > smallest_share * all)) return 0;
    struct gs_two_normals next = {fast.weight / all, from_moments(fast, origin, floor),
                                  from_moments(slow, origin, floor)};
    double moved = fabs(next.share - t->share) +
                   fabs(next.fast.mean - t->fast.mean) / next.fast.deviation +
                   fabs(next.slow.mean - t->slow.mean) / next.slow.deviation +
                   fabs(next.fast.deviation / t->fast.deviation - 1) +
                   fabs(next.slow.deviation / t->slow.deviation - 1);
    *t = next;
    return moved;
}

double gs_split_likelihood_of_two(const struct gs_split_sample *s, const struct gs_two_normals *t) {
    double total = 0, a = log(t->share), b = log(1 - t->share);
    for (size_t i = 0; i < s->exact; i++) {
        double p = a + log_density(t->fast, s->x[i]), q = b + log_density(t->slow, s->x[i]);
        total += fmax(p, q) + log1p(exp(-fabs(p - q)));
    }
    if (!s->censored) return total;
    double p = a + gs_split_log_tail(t->fast, s->bound),
           q = b + gs_split_log_tail(t->slow, s->bound);
    return total + (double)s->censored * (fmax(p, q) + log1p(exp(-fabs(p - q))));
}

/* The sample cut before place k: moments of either side; the censored lie at the bound. */
static struct gs_two_normals cut_at(const struct gs_split_sample *s, size_t k, double origin,
                                    double floor) {
    struct moments fast = {0}, slow = {0};
    for (size_t i = 0; i < s->exact; i++) {
        double x = s->x[i] - origin;
        add(i < k ? &fast : &slow, 1, x, x * x);
    }
    double at = s->bound - origin;
    if (s->censored) add(&slow, (double)s->censored, at, at * at);
    return (struct gs_two_normals){fast.weight / (fast.weight + slow.weight),
                                   from_moments(fast, origin, floor),
                                   from_moments(slow, origin, floor)};
}

double gs_split_fit_two(const struct gs_split_sample *s, struct gs_two_normals *two) {
    enum { STARTS = 5, FIRST = 12, MOST = 300 };
    static const double cuts[STARTS] = {0.15, 0.3, 0.45, 0.6, 0.8};
    double origin, floor = deviation_floor * deviation_of_known(s, &origin);
    double best = -(double)INFINITY;
    for (int start = 0; start < STARTS; start++) {
        size_t k = (size_t)(cuts[start] * (double)s->exact);
        if (k < 1) k = 1;
        if (k >= s->exact) k = s->exact - 1;
        struct gs_two_normals t = cut_at(s, k, origin, floor);
        for (int step = 0; step < FIRST; step++)
            if (step_of_two(s, &t, origin, floor) < still) break;
        double likelihood = gs_split_likelihood_of_two(s, &t);
        if (likelihood > best) {
            best = likelihood;
            *two = t;
        }
    }
    for (int step = 0; step < MOST; step++)
        if (step_of_two(s, two, origin, floor) < still) break;
    if (two->fast.mean > two->slow.mean)
        *two = (struct gs_two_normals){1 - two->share, two->slow, two->fast};
    return gs_split_likelihood_of_two(s, two);
}
