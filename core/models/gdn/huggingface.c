/* Source of keys, defaults and the width of the feed-forward: fla's GatedDeltaNetConfig,
 * GatedDeltaNet and GatedMLP. */
#include "core/models/gdn/huggingface.h"

#include "core/base/memory.h"

#include <math.h>
#include <string.h>

/* Their keys that are ours under another name. */
static const struct {
    const char *theirs, *ours;
} TAKEN[] = {
    {"vocab_size", "vocab_size"}, {"hidden_size", "hidden_dim"}, {"num_hidden_layers", "n_layers"},
    {"num_heads", "n_heads"},     {"head_dim", "head_dim"},      {"expand_v", "expand_v"},
};

/* Their keys that change what is computed, with the one value that is computed here, which is also
 * what their absence means. What is listed nowhere here changes nothing. */
static const struct {
    const char *key, *value;
} FIXED[] = {
    {"use_gate", "true"},        {"use_short_conv", "true"},       {"conv_size", "4"},
    {"conv_bias", "false"},      {"allow_neg_eigval", "false"},    {"norm_eps", "1e-6"},
    {"hidden_act", "\"swish\""}, {"tie_word_embeddings", "false"}, {"attn", "null"},
};

static enum gs_status refuse(const char *key, const char *expected, const struct gs_json *found,
                             enum gs_status status, const char *what, struct gs_error *error) {
    char *text = found ? gs_json_text(found, 0) : NULL;
    gs_fail(error, status, "%s", what);
    gs_error_expected(error, "%s %s", key, expected);
    gs_error_found(error, "%.150s", text ? text : "nothing");
    gs_error_where(error, "%s", key);
    gs_free(text);
    return status;
}

static bool is_same(const struct gs_json *found, const struct gs_json *wanted) {
    double a, b;
    bool left, right;
    if (gs_json_number(found, &a) && gs_json_number(wanted, &b)) return fabs(a - b) <= 1e-9 * b;
    if (gs_json_truth(found, &left) && gs_json_truth(wanted, &right)) return left == right;
    const char *text = gs_json_string(found), *other = gs_json_string(wanted);
    if (text && other) return strcmp(text, other) == 0;
    return gs_json_type(found) == GS_JSON_NULL && gs_json_type(wanted) == GS_JSON_NULL;
}

static enum gs_status check_fixed(const struct gs_json *theirs, struct gs_error *error) {
    for (size_t i = 0; i < sizeof FIXED / sizeof FIXED[0]; i++) {
        const struct gs_json *found = gs_json_get(theirs, FIXED[i].key);
        struct gs_json *wanted = NULL;
        if (!found) continue;
        enum gs_status status =
            gs_json_parse(FIXED[i].value, strlen(FIXED[i].value), FIXED[i].key, &wanted, error);
        if (status != GS_OK) return status;
        bool same = is_same(found, wanted);
        gs_json_destroy(wanted);
        if (!same)
            return refuse(FIXED[i].key, FIXED[i].value, found, GS_UNSUPPORTED,
                          "the config asks for a variant that is not computed here", error);
    }
    return GS_OK;
}

/* Grouped values: fewer key heads than value heads. */
static enum gs_status check_groups(const struct gs_json *theirs, struct gs_error *error) {
    const struct gs_json *values = gs_json_get(theirs, "num_v_heads");
    if (!values || gs_json_type(values) == GS_JSON_NULL ||
        is_same(values, gs_json_get(theirs, "num_heads")))
        return GS_OK;
    return refuse("num_v_heads", "null, or as many as num_heads", values, GS_UNSUPPORTED,
                  "the config asks for a variant that is not computed here", error);
}

/* Width of the feed-forward: intermediate_size, or by hidden_ratio the next multiple of 256. */
static enum gs_status read_width(const struct gs_json *theirs, int64_t *width,
                                 struct gs_error *error) {
    const struct gs_json *given = gs_json_get(theirs, "intermediate_size");
    const struct gs_json *ratio_given = gs_json_get(theirs, "hidden_ratio");
    double hidden, ratio = 4;
    if (given && gs_json_type(given) != GS_JSON_NULL) {
        if (gs_json_integer(given, width)) return GS_OK;
        return refuse("intermediate_size", "a whole number or null", given, GS_CONFIG,
                      "the config has an unusable value", error);
    }
    bool has_ratio = ratio_given && gs_json_type(ratio_given) != GS_JSON_NULL;
    if (has_ratio && (!gs_json_number(ratio_given, &ratio) || !(ratio > 0 && ratio < 1e6)))
        return refuse("hidden_ratio", "a number above 0, or null", ratio_given, GS_CONFIG,
                      "the config has an unusable value", error);
    if (!gs_json_number(gs_json_get(theirs, "hidden_size"), &hidden) ||
        !(hidden > 0 && hidden < 1e9))
        return refuse("hidden_size", "a whole number", gs_json_get(theirs, "hidden_size"),
                      GS_CONFIG, "the config has an unusable value", error);
    *width = 256 * (int64_t)ceil(floor(hidden * ratio * 2 / 3) / 256);
    return GS_OK;
}

static enum gs_status take(const struct gs_json *theirs, struct gs_json *model,
                           struct gs_error *error) {
    for (size_t i = 0; i < sizeof TAKEN / sizeof TAKEN[0]; i++) {
        const struct gs_json *value = gs_json_get(theirs, TAKEN[i].theirs);
        if (!value)
            return refuse(TAKEN[i].theirs, "as its models are saved with", NULL, GS_CONFIG,
                          "the config lacks a key", error);
        if (!gs_json_set(model, TAKEN[i].ours, gs_json_copy(value)))
            return gs_fail_memory(error, 0, "a config");
    }
    int64_t width;
    enum gs_status status = read_width(theirs, &width, error);
    if (status == GS_OK && !gs_json_set(model, "ffn_dim", gs_json_new_integer(width)))
        status = gs_fail_memory(error, 0, "a config");
    return status;
}

enum gs_status gs_gdn_from_huggingface(const struct gs_json *theirs, struct gs_json **model,
                                       struct gs_error *error) {
    enum gs_status status = check_fixed(theirs, error);
    if (status == GS_OK) status = check_groups(theirs, error);
    if (status != GS_OK) return status;
    struct gs_json *made = gs_json_new_object();
    status = made ? take(theirs, made, error) : gs_fail_memory(error, 0, "a config");
    if (status != GS_OK) {
        gs_json_destroy(made);
        return status;
    }
    *model = made;
    return GS_OK;
}
