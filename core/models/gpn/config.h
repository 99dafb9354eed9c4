/* config.h - what a GPN or GPN+M is made of: sizes, parameters by name, streams and memories.
 *
 * Both kinds are one model; without a memory, heads is 0. Names: ../shared/spec/model.md.
 */
#ifndef GS_CORE_MODELS_GPN_CONFIG_H
#define GS_CORE_MODELS_GPN_CONFIG_H

#include "core/models/kind.h"

struct gs_gpn_config {
    size_t vocab, width, embedding, ffn; /* V, d, e, f */
    size_t heads, key, value;            /* H, dk, dv; 0 without memory */
    size_t layers;
    bool decoder_bias;
};

/* The parameters of one layer and of the model, as pointers into a gs_parameters with the declared
 * names. Those of the memory are NULL when there is none. */
struct gs_gpn_layer {
    struct gs_tensor *ffn_norm, *ffn_in, *ffn_out;
    struct gs_tensor *gate_norm, *gate, *gate_bias;
    struct gs_tensor *read_norm, *query, *query_bias, *read_gate, *read_out_norm, *read_out;
};
struct gs_gpn_tensors {
    struct gs_tensor *embedding;
    struct gs_tensor *decode_norm, *decode, *decode_bias; /* bias NULL when not in use */
    struct gs_tensor *fuse_norm, *fuse;
    struct gs_tensor *ground_norm, *ground_gate, *ground_bias;
    struct gs_tensor *write_norm, *key, *key_bias, *value, *strength, *decay, *a_log, *dt_bias;
    struct gs_gpn_layer *layers; /* (layers), released by gs_free */
};

/* gs_kind's members for the two kinds. */
enum gs_status gs_gpn_configure(const struct gs_json *json, void **config, struct gs_error *error);
enum gs_status gs_gpn_m_configure(const struct gs_json *json, void **config,
                                  struct gs_error *error);
enum gs_status gs_gpn_infer(const struct gs_tensor *tensors, size_t count, void **config,
                            struct gs_error *error);
enum gs_status gs_gpn_m_infer(const struct gs_tensor *tensors, size_t count, void **config,
                              struct gs_error *error);
struct gs_json *gs_gpn_config_json(const void *config);
enum gs_status gs_gpn_describe(const void *config, struct gs_shape *shape, struct gs_error *error);
enum gs_status gs_gpn_declare(const void *config, struct gs_tensor **tensors, size_t *count,
                              struct gs_error *error);
const char *gs_gpn_own_name(const void *config, const char *name);

/* Channels in this order; those of the memory only with heads. */
enum gs_gpn_channel {
    GS_GPN_PREDICTED,
    GS_GPN_GROUNDED,
    GS_GPN_LOG_DECAY,
    GS_GPN_WRITE_STRENGTH,
    GS_GPN_NORM,
    GS_GPN_SHARE,
    GS_GPN_CHANNELS
};

/* Look up every parameter. GS_NO_MEMORY is the only failure. */
enum gs_status gs_gpn_tensors_find(const struct gs_gpn_config *config,
                                   const struct gs_parameters *parameters,
                                   struct gs_gpn_tensors *tensors, struct gs_error *error);

#endif
