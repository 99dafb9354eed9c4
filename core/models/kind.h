/* kind.h - what a kind of model has to offer; included by the kinds and by model.c only.
 *
 * A new kind is one struct gs_kind in the list of kinds.c. Nothing else in the project learns of
 * it. `config` is the kind's own, made by configure or infer, released by config_destroy.
 */
#ifndef GS_CORE_MODELS_KIND_H
#define GS_CORE_MODELS_KIND_H

#include "core/models/model.h"

enum { GS_MAX_PARTS = 8 };

/* What model.h says about a model, whatever its kind. Filled by describe from a zeroed struct. */
struct gs_shape {
    size_t vocab;
    size_t state_width;     /* of a decodable state */
    size_t first;           /* positions that are not predicted */
    size_t decodable;       /* index of the decodable channel */
    size_t embedding_width; /* of the token embedding */
    const char *embedding;  /* name of the parameter (vocab, embedding_width); static */
    size_t channel_count;
    struct gs_channel *channels;              /* owned by the shape (gs_free) */
    size_t part_count;                        /* recurrent state */
    struct gs_state_part parts[GS_MAX_PARTS]; /* values NULL */
};

struct gs_kind {
    const char *name;
    const char *alias;       /* another name in use for it, or NULL */
    struct gs_recipe recipe; /* see gs_model_recipe */

    /* From the "model" object of a config, unknown keys refused. */
    enum gs_status (*configure)(const struct gs_json *json, void **config, struct gs_error *error);
    /* Another library's config.json of this kind (HuggingFace's, told by its model_type) as a
     * "model" object of ours. Keys that change what is computed are refused by name unless they
     * have the value that is computed here. NULL: there is none. */
    const char *foreign_type;
    enum gs_status (*foreign_config)(const struct gs_json *theirs, struct gs_json **model,
                                     struct gs_error *error);
    /* From names and shapes. *config stays NULL, with GS_OK, when the tensors are of another
     * kind; an error when they are of this kind but do not determine a config. */
    enum gs_status (*infer)(const struct gs_tensor *tensors, size_t count, void **config,
                            struct gs_error *error);
    void (*config_destroy)(void *config);
    /* The "model" object, all keys written out. NULL when memory is short. */
    struct gs_json *(*config_json)(const void *config);

    enum gs_status (*describe)(const void *config, struct gs_shape *shape, struct gs_error *error);
    /* The parameters in order: *tensors is released by gs_free. */
    enum gs_status (*declare)(const void *config, struct gs_tensor **tensors, size_t *count,
                              struct gs_error *error);
    /* See gs_model_own_name. */
    const char *(*own_name)(const void *config, const char *name);

    /* Running; `runner` is the kind's own. Tokens and lengths have been checked. */
    enum gs_status (*runner_create)(struct gs_model *model, const struct gs_runner_options *options,
                                    void **runner, struct gs_error *error);
    void (*runner_destroy)(void *runner);
    void (*runner_refresh)(void *runner);
    enum gs_status (*forward)(void *runner, struct gs_state *state, const uint32_t *tokens,
                              size_t steps, const struct gs_tap *tap, float *nll,
                              struct gs_error *error);
    enum gs_status (*backward)(void *runner, float scale, struct gs_parameters *gradients,
                               struct gs_state *state_gradient, struct gs_error *error);
    /* `channel` has a decoder. */
    void (*decode)(void *runner, size_t channel, const float *states, size_t rows, float *logits);
    void (*decode_embedding)(void *runner, const float *vectors, size_t rows, float *logits);
    const struct gs_metric *(*metrics)(void *runner, size_t *count);
    size_t (*runner_bytes)(const void *config, const struct gs_runner_options *options);
};

/* The kind's config of a model. */
const void *gs_model_kind_config(const struct gs_model *model);

#endif
