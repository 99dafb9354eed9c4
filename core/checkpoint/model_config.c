#include "core/checkpoint/model_config.h"

#include <stdio.h>
#include <string.h>

/* Put the source in front of what an error says about the place inside it. */
static void say_where(struct gs_error *error, const char *where) {
    if (!error) return;
    char inside[sizeof error->where];
    snprintf(inside, sizeof inside, "%s", error->where);
    if (inside[0])
        gs_error_where(error, "%s: %s", where, inside);
    else
        gs_error_where(error, "%s", where);
}

/* Append "kind: reason" as far as there is room. */
static void add_reason(char *reasons, size_t size, const char *kind, const struct gs_error *error) {
    const char *parts[] = {reasons[0] ? "; " : "",
                           kind,
                           ": ",
                           error->what,
                           error->found[0] ? ", found " : "",
                           error->found,
                           error->expected[0] ? ", expected " : "",
                           error->expected};
    size_t used = strlen(reasons);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        for (const char *from = parts[i]; *from && used + 1 < size; from++) reasons[used++] = *from;
    reasons[used] = 0;
}

/* How a model is made of its object: whole, for a file of `most` values, or as an outline. */
typedef enum gs_status (*gs_make_model)(const char *kind, const struct gs_json *object, size_t most,
                                        struct gs_model **model, struct gs_error *error);

static enum gs_status make_outline(const char *kind, const struct gs_json *object, size_t most,
                                   struct gs_model **model, struct gs_error *error) {
    (void)most;
    return gs_model_outline(kind, object, model, error);
}

/* Try the model object on every kind. */
static enum gs_status find_kind(const struct gs_json *object, const char *where, size_t most,
                                gs_make_model make, struct gs_model **model,
                                struct gs_error *error) {
    struct gs_model *fitting = NULL;
    char names[256] = "", reasons[sizeof error->found] = "";
    size_t count = 0;
    for (size_t i = 0; i < gs_kind_count(); i++) {
        struct gs_model *tried = NULL;
        struct gs_error reason = {0};
        if (make(gs_kind_name(i), object, most, &tried, &reason) != GS_OK) {
            add_reason(reasons, sizeof reasons, gs_kind_name(i), &reason);
            continue;
        }
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", count ? ", " : "", gs_kind_name(i));
        gs_model_destroy(fitting);
        fitting = tried;
        count++;
    }
    if (count == 1) {
        *model = fitting;
        return GS_OK;
    }
    gs_model_destroy(fitting);
    gs_fail(error, GS_CONFIG,
            count ? "the config has no \"kind\", and several kinds fit its model object"
                  : "the config has no \"kind\", and no kind accepts its model object");
    gs_error_found(error, "%s", count ? names : reasons);
    gs_error_where(error, "%s", where);
    gs_error_next(error, "add \"kind\" to the config");
    return GS_CONFIG;
}

/* The kinds other than `kind` that accept the model object, for whoever confused two. */
static void say_other_kinds(const char *kind, const struct gs_json *object,
                            struct gs_error *error) {
    char names[256] = "";
    for (size_t i = 0; i < gs_kind_count() && error; i++) {
        struct gs_model *tried = NULL;
        const char *name = gs_kind_name(i);
        if (strcmp(name, kind) == 0 || gs_model_outline(name, object, &tried, NULL) != GS_OK)
            continue;
        gs_model_destroy(tried);
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s\"%s\"", used ? " or " : "", name);
    }
    if (names[0]) gs_error_next(error, "the model object is one of kind %s", names);
}

static enum gs_status from_config(const struct gs_json *config, const char *where, size_t most,
                                  gs_make_model make, struct gs_model **model,
                                  struct gs_error *error);

/* A HuggingFace config.json. */
static enum gs_status from_foreign(const struct gs_json *theirs, const char *where, size_t most,
                                   gs_make_model make, struct gs_model **model,
                                   struct gs_error *error) {
    struct gs_json *config = NULL;
    enum gs_status status = gs_model_foreign_config(theirs, &config, error);
    if (status != GS_OK) {
        say_where(error, where);
        return status;
    }
    status = from_config(config, where, most, make, model, error);
    gs_json_destroy(config);
    return status;
}

static enum gs_status from_config(const struct gs_json *config, const char *where, size_t most,
                                  gs_make_model make, struct gs_model **model,
                                  struct gs_error *error) {
    if (gs_json_type(config) != GS_JSON_OBJECT) {
        gs_fail(error, GS_CONFIG, "the config is not a JSON object");
        gs_error_found(error, "%s", gs_json_type_name(gs_json_type(config)));
        gs_error_where(error, "%s", where);
        return GS_CONFIG;
    }
    const struct gs_json *object = gs_json_get(config, "model");
    if (!object && gs_json_string(gs_json_get(config, "model_type")))
        return from_foreign(config, where, most, make, model, error);
    if (gs_json_type(object) != GS_JSON_OBJECT) {
        gs_fail(error, GS_CONFIG, "the config has no \"model\" object");
        gs_error_expected(error, "{\"kind\": …, \"model\": {…}}");
        gs_error_found(error, "%s",
                       object ? gs_json_type_name(gs_json_type(object)) : "no such member");
        gs_error_where(error, "%s", where);
        return GS_CONFIG;
    }
    const struct gs_json *kind = gs_json_get(config, "kind");
    if (!kind) return find_kind(object, where, most, make, model, error);
    if (!gs_json_string(kind)) {
        gs_fail(error, GS_CONFIG, "\"kind\" is not a string");
        gs_error_found(error, "%s", gs_json_type_name(gs_json_type(kind)));
        gs_error_where(error, "%s", where);
        return GS_CONFIG;
    }
    enum gs_status status = make(gs_json_string(kind), object, most, model, error);
    if (status == GS_CONFIG) say_other_kinds(gs_json_string(kind), object, error);
    if (status != GS_OK) say_where(error, where);
    return status;
}

enum gs_status gs_model_from_config_within(const struct gs_json *config, const char *where,
                                           size_t most, struct gs_model **model,
                                           struct gs_error *error) {
    return from_config(config, where, most, gs_model_create_within, model, error);
}

enum gs_status gs_model_outline_from_config(const struct gs_json *config, const char *where,
                                            struct gs_model **model, struct gs_error *error) {
    return from_config(config, where, SIZE_MAX, make_outline, model, error);
}

enum gs_status gs_model_from_config(const struct gs_json *config, const char *where,
                                    struct gs_model **model, struct gs_error *error) {
    return gs_model_from_config_within(config, where, SIZE_MAX, model, error);
}
