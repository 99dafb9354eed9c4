/* Configs of other libraries: which kind a model_type is. */
#include "core/models/kind.h"
#include "core/models/kinds.h"

#include <stdio.h>
#include <string.h>

static enum gs_status unknown_type(const char *type, struct gs_error *error) {
    char known[256] = "";
    for (size_t i = 0; i < gs_kinds_count(); i++) {
        const char *theirs = gs_kinds_at(i)->foreign_type;
        size_t used = strlen(known);
        if (theirs)
            snprintf(known + used, sizeof known - used, "%s\"%s\"", used ? ", " : "", theirs);
    }
    gs_fail(error, GS_UNSUPPORTED, "the config is of a model that is not known here");
    gs_error_expected(error, "{\"kind\": …, \"model\": {…}} or a model_type of %s", known);
    gs_error_found(error, "model_type \"%.100s\"", type);
    return GS_UNSUPPORTED;
}

enum gs_status gs_model_foreign_config(const struct gs_json *theirs, struct gs_json **config,
                                       struct gs_error *error) {
    const char *type = gs_json_string(gs_json_get(theirs, "model_type"));
    if (!type) return gs_fail(error, GS_CONFIG, "the config has no model_type");
    for (size_t i = 0; i < gs_kinds_count(); i++) {
        const struct gs_kind *kind = gs_kinds_at(i);
        if (!kind->foreign_type || strcmp(kind->foreign_type, type) != 0) continue;
        struct gs_json *model = NULL;
        enum gs_status status = kind->foreign_config(theirs, &model, error);
        if (status != GS_OK) return status;
        *config = gs_json_new_object();
        bool good = gs_json_set(*config, "kind", gs_json_new_string(kind->name));
        good = gs_json_set(*config, "model", model) && good;
        if (good) return GS_OK;
        gs_json_destroy(*config);
        *config = NULL;
        return gs_fail_memory(error, 0, "a config");
    }
    return unknown_type(type, error);
}
