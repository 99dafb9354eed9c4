#include "analyses/split/valley.h"

#include <math.h>

double gs_binomial_at_most(size_t k, size_t n, double p) {
    if (k >= n) return 1;
    double total = 0, log_p = log(p), log_q = log1p(-p), all = lgamma((double)n + 1);
    for (size_t i = 0; i <= k; i++) {
        double j = (double)i, rest = (double)(n - i);
        total += exp(all - lgamma(j + 1) - lgamma(rest + 1) + j * log_p + rest * log_q);
    }
    return fmin(total, 1);
}

static double beside(size_t inside, size_t neighbour, double width, double neighbour_width) {
    return gs_binomial_at_most(inside, inside + neighbour, width / (width + neighbour_width));
}

struct gs_split_valley gs_split_valley_of(const struct gs_split_sample *s) {
    double fast = log(GS_SPLIT_FAST), slow = log(GS_SPLIT_SLOW);
    double end = fmin(log(GS_SPLIT_REACH), s->bound);
    struct gs_split_valley v = {.right_end = exp(end), .p = 1};
    for (size_t i = 0; i < s->exact; i++) {
        double x = s->x[i];
        if (x < 0 || x > end) continue;
        if (x <= fast)
            v.left++;
        else if (x < slow)
            v.inside++;
        else
            v.right++;
    }
    if (end > slow)
        v.p = fmax(beside(v.inside, v.left, slow - fast, fast),
                   beside(v.inside, v.right, slow - fast, end - slow));
    return v;
}

struct gs_split_gap gs_split_widest_gap(const struct gs_split_sample *s) {
    struct gs_split_gap gap = {.known = false, .log_ratio = (double)NAN, .at = (double)NAN};
    size_t all = s->exact + s->censored, least = (all + 4) / 5;
    if (least < 2) least = 2;
    for (size_t i = least; i < s->exact && i + least <= all; i++) {
        double width = s->x[i] - s->x[i - 1];
        if (gap.known && !(width > gap.log_ratio)) continue;
        gap = (struct gs_split_gap){true, width, s->x[i - 1] + width / 2};
    }
    return gap;
}
