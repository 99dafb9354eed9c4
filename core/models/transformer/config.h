/* config.h - what a Transformer++ is made of: sizes, parameters by name, streams.
 * Names: ../shared/spec/baselines.md. */
#ifndef GS_CORE_MODELS_TRANSFORMER_CONFIG_H
#define GS_CORE_MODELS_TRANSFORMER_CONFIG_H

#include "core/models/kind.h"

struct gs_transformer_config {
    size_t vocab, width, layers, heads, ffn; /* V, d, L, H, f */
};

/* Width c of a head. */
static inline size_t gs_transformer_head(const struct gs_transformer_config *config) {
    return config->width / config->heads;
}

/* The parameters of a layer, as pointers into a gs_parameters with the declared names. */
struct gs_transformer_layer {
    const struct gs_tensor *attention_norm, *query, *key, *value, *out;
    const struct gs_tensor *ffn_norm, *ffn_in, *ffn_out;
};
struct gs_transformer_tensors {
    const struct gs_tensor *embedding, *norm;
    struct gs_transformer_layer *layers; /* (layers), released by gs_free */
};

/* gs_kind's members. */
enum gs_status gs_transformer_configure(const struct gs_json *json, void **config,
                                        struct gs_error *error);
enum gs_status gs_transformer_infer(const struct gs_tensor *tensors, size_t count, void **config,
                                    struct gs_error *error);
struct gs_json *gs_transformer_config_json(const void *config);
enum gs_status gs_transformer_describe(const void *config, struct gs_shape *shape,
                                       struct gs_error *error);
enum gs_status gs_transformer_declare(const void *config, struct gs_tensor **tensors, size_t *count,
                                      struct gs_error *error);
const char *gs_transformer_own_name(const void *config, const char *name);

/* Channels: the streams layer00 …, one a layer, then final. */
static inline size_t gs_transformer_final_channel(const struct gs_transformer_config *config) {
    return config->layers;
}

/* Look up every parameter. GS_NO_MEMORY is the only failure. */
enum gs_status gs_transformer_tensors_find(const struct gs_transformer_config *config,
                                           const struct gs_parameters *parameters,
                                           struct gs_transformer_tensors *tensors,
                                           struct gs_error *error);

#endif
