/* config.h - what a Gated DeltaNet is made of: sizes, parameters by name, streams and memories.
 * Names: ../shared/spec/baselines.md. */
#ifndef GS_CORE_MODELS_GDN_CONFIG_H
#define GS_CORE_MODELS_GDN_CONFIG_H

#include "core/models/kind.h"

struct gs_gdn_config {
    size_t vocab, width, layers, ffn; /* V, d, L, f */
    size_t heads, key, value;         /* H, dk, dv */
    double expand;                    /* dv / dk */
};

/* The parameters of a layer, as pointers into a gs_parameters with the declared names. */
struct gs_gdn_layer {
    struct gs_tensor *norm, *query, *key, *value, *gate; /* projections of rms(h; norm) */
    struct gs_tensor *strength, *decay, *a_log, *dt_bias;
    struct gs_tensor *query_conv, *key_conv, *value_conv; /* (channels, 1, 4) */
    struct gs_tensor *read_norm, *out;                    /* per head; back to h */
    struct gs_tensor *ffn_norm, *ffn_gate, *ffn_up, *ffn_down;
};
struct gs_gdn_tensors {
    struct gs_tensor *embedding, *norm, *output;
    struct gs_gdn_layer *layers; /* (layers), released by gs_free */
};

/* gs_kind's members. */
enum gs_status gs_gdn_configure(const struct gs_json *json, void **config, struct gs_error *error);
enum gs_status gs_gdn_infer(const struct gs_tensor *tensors, size_t count, void **config,
                            struct gs_error *error);
struct gs_json *gs_gdn_config_json(const void *config);
enum gs_status gs_gdn_describe(const void *config, struct gs_shape *shape, struct gs_error *error);
enum gs_status gs_gdn_declare(const void *config, struct gs_tensor **tensors, size_t *count,
                              struct gs_error *error);
const char *gs_gdn_own_name(const void *config, const char *name);

/* Channels: the streams layer00 …, final; then of each layer's memory these three. */
enum gs_gdn_gate { GS_GDN_LOG_DECAY, GS_GDN_WRITE_STRENGTH, GS_GDN_NORM, GS_GDN_GATES };
static inline size_t gs_gdn_final_channel(const struct gs_gdn_config *config) {
    return config->layers;
}
static inline size_t gs_gdn_gate_channel(const struct gs_gdn_config *config, size_t layer,
                                         enum gs_gdn_gate gate) {
    return config->layers + 1 + layer * GS_GDN_GATES + gate;
}
/* Parts of the state: the memories (layers, H, dk, dv), and of each layer the last three inputs of
 * its convolutions (layers, 3, channels). */
enum { GS_GDN_MEMORY, GS_GDN_PAST };
static inline size_t gs_gdn_channels(const struct gs_gdn_config *config) {
    return config->heads * (2 * config->key + config->value);
}

/* Look up every parameter. GS_NO_MEMORY is the only failure. */
enum gs_status gs_gdn_tensors_find(const struct gs_gdn_config *config,
                                   const struct gs_parameters *parameters,
                                   struct gs_gdn_tensors *tensors, struct gs_error *error);

#endif
