#include "core/evaluation/comparison.h"

#include "core/base/memory.h"

#include <string.h>

static enum gs_status fail_other(const char *what, size_t first, size_t second,
                                 struct gs_error *error) {
    gs_fail(error, GS_SHAPE, "two models can be compared on the same %s only", what);
    gs_error_expected(error, "%zu", first);
    gs_error_found(error, "%zu", second);
    return GS_SHAPE;
}

/* Σ (first − second) / Σ units with the limits of the ratio estimator (limits.h). */
static enum gs_status ratio_difference(const double *first, const double *second,
                                       const double *units, size_t n,
                                       struct gs_difference *difference, struct gs_error *error) {
    double *rests = gs_calloc(n, sizeof *rests), sum = 0, total = 0;
    if (!rests) return gs_fail_memory(error, n * sizeof *rests, "differences");
    for (size_t i = 0; i < n; i++) {
        rests[i] = first[i] - second[i];
        sum += rests[i];
        total += units[i];
    }
    difference->value = sum / total;
    difference->limits = gs_ratio_limits(rests, units, n);
    difference->n = n;
    gs_free(rests);
    return GS_OK;
}

/* Every window weighs the same, so this is the mean of their differences. */
static void window_difference(const struct gs_loss *first, const struct gs_loss *second,
                              struct gs_difference *difference) {
    const double width = (double)(first->windows.length - first->first);
    const uint64_t n = first->windows.count;
    double sum = 0, squares = 0;
    for (uint64_t i = 0; i < n; i++) sum += (first->by_window[i] - second->by_window[i]) / width;
    const double mean = sum / (double)n;
    for (uint64_t i = 0; i < n; i++) {
        double rest = (first->by_window[i] - second->by_window[i]) / width - mean;
        squares += rest * rest;
    }
    *difference = (struct gs_difference){
        .value = mean, .limits = gs_mean_limits(mean, squares, n), .n = (size_t)n};
}

enum gs_status gs_loss_difference(const struct gs_loss *first, const struct gs_loss *second,
                                  struct gs_difference *difference, struct gs_error *error) {
    const struct gs_windows *a = &first->windows, *b = &second->windows;
    *difference = (struct gs_difference){0};
    if (a->length != b->length) return fail_other("length of windows", a->length, b->length, error);
    if (a->first != b->first)
        return fail_other("first token", (size_t)a->first, (size_t)b->first, error);
    if (first->tokens != second->tokens || first->first != second->first)
        return fail_other("predicted tokens", (size_t)first->tokens, (size_t)second->tokens, error);
    if (first->documents != second->documents)
        return fail_other("documents", first->documents, second->documents, error);
    if (first->documents < 2) {
        window_difference(first, second, difference);
        return GS_OK;
    }
    difference->documents = true;
    return ratio_difference(first->by_document, second->by_document, first->document_tokens,
                            first->documents, difference, error);
}

static enum gs_status check_examples(const struct gs_lambada *first,
                                     const struct gs_lambada *second, struct gs_error *error) {
    if (first->examples == second->examples && first->words == second->words &&
        memcmp(first->subwords, second->subwords, first->examples * sizeof *first->subwords) == 0)
        return GS_OK;
    return fail_other("examples", first->examples, second->examples, error);
}

enum gs_status gs_lambada_loss_difference(const struct gs_lambada *first,
                                          const struct gs_lambada *second,
                                          struct gs_difference *difference,
                                          struct gs_error *error) {
    *difference = (struct gs_difference){0};
    enum gs_status status = check_examples(first, second, error);
    if (status != GS_OK) return status;
    return ratio_difference(first->nll, second->nll, first->subwords, first->examples, difference,
                            error);
}

enum gs_status gs_lambada_accuracy_difference(const struct gs_lambada *first,
                                              const struct gs_lambada *second,
                                              struct gs_difference *difference,
                                              struct gs_error *error) {
    *difference = (struct gs_difference){0};
    enum gs_status status = check_examples(first, second, error);
    if (status != GS_OK) return status;
    const double mean = first->accuracy - second->accuracy;
    double squares = 0;
    for (size_t i = 0; i < first->examples; i++) {
        double rest = (double)first->hit[i] - (double)second->hit[i] - mean;
        squares += rest * rest;
    }
    difference->value = mean;
    difference->limits = gs_mean_limits(mean, squares, first->examples);
    difference->n = first->examples;
    return GS_OK;
}
