#include "analyses/split/heads.h"

#include "core/base/memory.h"
#include "core/results/results.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void gs_split_heads_clear(struct gs_split_heads *heads) {
    if (!heads) return;
    gs_free(heads->heads);
    *heads = (struct gs_split_heads){0};
}

static enum gs_status make_room(struct gs_split_heads *heads, struct gs_error *error) {
    if (heads->count < heads->room) return GS_OK;
    size_t room = heads->room ? 2 * heads->room : 64;
    struct gs_split_head *larger = gs_calloc(room, sizeof *larger);
    if (!larger) return gs_fail_memory(error, room * sizeof *larger, "heads");
    if (heads->count) memcpy(larger, heads->heads, heads->count * sizeof *larger);
    gs_free(heads->heads);
    heads->heads = larger;
    heads->room = room;
    return GS_OK;
}

enum gs_status gs_split_heads_add(struct gs_split_heads *heads, size_t seed, double efold,
                                  bool censored, struct gs_error *error) {
    if (!isfinite(efold) || efold < 0 || (censored && !(efold > 0))) {
        gs_fail(error, GS_NUMERIC, "an efold that cannot be");
        gs_error_expected(error, "a finite number of tokens, 0 or more%s",
                          censored ? " (a bound: more)" : "");
        gs_error_found(error, "%g", efold);
        gs_error_where(error, "head %zu, seed %zu", heads->count, seed);
        return GS_NUMERIC;
    }
    enum gs_status status = make_room(heads, error);
    if (status != GS_OK) return status;
    heads->heads[heads->count++] =
        (struct gs_split_head){log(fmax(efold, GS_SPLIT_SHORTEST)), censored, seed};
    if (heads->seeds <= seed) heads->seeds = seed + 1;
    return GS_OK;
}

/* What `value` says about a head: known, censored, or nothing. */
static enum gs_status add_value(struct gs_split_heads *heads, size_t seed,
                                const struct gs_value *value, double longest,
                                struct gs_error *error) {
    const char *status = value->status ? value->status : "ok";
    if (strcmp(status, "ok") == 0)
        return gs_split_heads_add(heads, seed, value->value, false, error);
    bool censored = strcmp(status, "censored") == 0 && value->has_bound;
    if (censored || (strcmp(status, "none") == 0 && longest > 0))
        return gs_split_heads_add(heads, seed, censored ? value->bound : longest, true, error);
    heads->unknown++;
    return GS_OK;
}

enum gs_status gs_split_heads_of_results(struct gs_split_heads *heads,
                                         const struct gs_results *results, const char *prefix,
                                         struct gs_error *error) {
    char name[256];
    struct gs_value value;
    snprintf(name, sizeof name, "%sretention.max_lag", prefix);
    double longest = gs_results_find(results, name, &value) ? value.value : 0;
    size_t seed = heads->seeds, h = 0;
    enum gs_status status = GS_OK;
    for (; status == GS_OK; h++) {
        snprintf(name, sizeof name, "%sretention.head.%02zu.efold", prefix, h);
        if (!gs_results_find(results, name, &value)) break;
        status = add_value(heads, seed, &value, longest, error);
    }
    if (status != GS_OK) return status;
    if (h == 0) {
        gs_fail(error, GS_MISSING, "there is no head to split");
        gs_error_expected(error, "values named %sretention.head.NN.efold", prefix);
        gs_error_next(error, "make them with gpnscope retention");
        return GS_MISSING;
    }
    heads->seeds = seed + 1;
    return GS_OK;
}
