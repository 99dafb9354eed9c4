#include "analyses/split/dip.h"

#include <stdbool.h>

/* Distances are in counts (n · F), so that the arithmetic is exact in the counts. */
struct work {
    const double *x;
    size_t n;
    size_t *below; /* below[j]: the vertex before j of the convex minorant of points 0 … j */
    size_t *above; /* above[j]: the vertex after j of the concave majorant of points j … n − 1 */
    size_t *gcm, gcm_count; /* vertices of the minorant from `high` down to `low` */
    size_t *lcm, lcm_count; /* of the majorant from `low` up to `high` */
};

static void link_minorants(const struct work *w) {
    const double *x = w->x;
    w->below[0] = 0;
    for (size_t j = 1; j < w->n; j++) {
        size_t at = j - 1;
        while (at > 0) {
            size_t before = w->below[at];
            if ((x[j] - x[at]) * (double)(at - before) < (x[at] - x[before]) * (double)(j - at))
                break;
            at = before;
        }
        w->below[j] = at;
    }
}

static void link_majorants(const struct work *w) {
    const double *x = w->x;
    size_t last = w->n - 1;
    w->above[last] = last;
    for (size_t j = last; j-- > 0;) {
        size_t at = j + 1;
        while (at < last) {
            size_t after = w->above[at];
            if ((x[at] - x[j]) * (double)(after - at) < (x[after] - x[at]) * (double)(at - j))
                break;
            at = after;
        }
        w->above[j] = at;
    }
}

static void collect(struct work *w, size_t low, size_t high) {
    size_t count = 0;
    w->gcm[count++] = high;
    while (w->gcm[count - 1] > low) {
        w->gcm[count] = w->below[w->gcm[count - 1]];
        count++;
    }
    w->gcm_count = count;
    count = 0;
    w->lcm[count++] = low;
    while (w->lcm[count - 1] < high) {
        w->lcm[count] = w->above[w->lcm[count - 1]];
        count++;
    }
    w->lcm_count = count;
}

/* Height above the chord from a to b at place `at`: (at − a) counts risen, less the chord's. */
static double over_chord(const double *x, size_t a, size_t b, size_t at) {
    double width = x[b] - x[a];
    double chord = width > 0 ? (x[at] - x[a]) * (double)(b - a) / width : 0;
    return (double)at - (double)a - chord;
}

/* The largest distance between majorant and minorant on [low, high]; *g and *l become the places in
 * gcm and lcm that bound the stretch where it is. */
static double widest(const struct work *w, size_t *g, size_t *l) {
    if (w->gcm_count == 2 && w->lcm_count == 2) {
        *g = *l = 1;
        return 1;
    }
    double distance = 0;
    size_t i = w->gcm_count - 2, j = 1;
    *g = w->gcm_count - 1;
    *l = w->lcm_count - 1;
    do {
        size_t from_gcm = w->gcm[i], from_lcm = w->lcm[j];
        if (from_gcm > from_lcm) { /* a vertex of the majorant: the minorant there is a chord */
            double d = over_chord(w->x, w->gcm[i + 1], from_gcm, from_lcm) + 1;
            j++;
            if (d >= distance) {
                distance = d;
                *g = i + 1;
                *l = j - 1;
            }
        } else { /* a vertex of the minorant: the majorant there is a chord */
            double d = 1 - over_chord(w->x, w->lcm[j - 1], from_lcm, from_gcm);
            if (d >= distance) {
                distance = d;
                *g = i;
                *l = j;
            }
            if (i > 0) i--;
        }
        if (j > w->lcm_count - 1) j = w->lcm_count - 1;
    } while (w->gcm[i] != w->lcm[j]);
    return distance;
}

/* The largest distance of the sample from the minorant's pieces below `low`, and from the
 * majorant's above `high`: never less than 1, the height of a step. */
static double beside(const struct work *w, size_t g, size_t l) {
    double largest = 0;
    for (size_t i = g; i + 1 < w->gcm_count; i++) {
        size_t a = w->gcm[i + 1], b = w->gcm[i];
        if (largest < 1) largest = 1;
        for (size_t at = a; b - a > 1 && w->x[b] > w->x[a] && at <= b; at++) {
            double d = over_chord(w->x, a, b, at) + 1;
            if (d > largest) largest = d;
        }
    }
    for (size_t i = l; i + 1 < w->lcm_count; i++) {
        size_t a = w->lcm[i], b = w->lcm[i + 1];
        if (largest < 1) largest = 1;
        for (size_t at = a; b - a > 1 && w->x[b] > w->x[a] && at <= b; at++) {
            double d = 1 - over_chord(w->x, a, b, at);
            if (d > largest) largest = d;
        }
    }
    return largest;
}

double gs_dip(const double *sorted, size_t count, size_t *scratch) {
    if (count == 0) return 0;
    double dip = 1; /* twice n times the dip: a step's height at least */
    size_t low = 0, high = count - 1;
    struct work w = {.x = sorted,
                     .n = count,
                     .below = scratch,
                     .above = scratch + count,
                     .gcm = scratch + 2 * count,
                     .lcm = scratch + 3 * count};
    if (count > 1 && sorted[count - 1] > sorted[0]) {
        link_minorants(&w);
        link_majorants(&w);
        for (;;) {
            size_t g, l;
            collect(&w, low, high);
            if (widest(&w, &g, &l) < dip) break;
            double now = beside(&w, g, l);
            if (now > dip) dip = now;
            if (low == w.gcm[g] && high == w.lcm[l]) break;
            low = w.gcm[g];
            high = w.lcm[l];
        }
    }
    return dip / (2 * (double)count);
}
