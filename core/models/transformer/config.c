#include "core/models/transformer/config.h"

#include "core/base/memory.h"
#include "core/models/fields.h"
#include "core/models/parts/layer_streams.h"

#include <stdio.h>
#include <string.h>

#define AT(member) offsetof(struct gs_transformer_config, member)

static const struct gs_field FIELDS[] = {
    {"vocab_size", GS_FIELD_SIZE, AT(vocab), true}, {"hidden_dim", GS_FIELD_SIZE, AT(width), true},
    {"n_layers", GS_FIELD_SIZE, AT(layers), true},  {"n_heads", GS_FIELD_SIZE, AT(heads), true},
    {"ffn_dim", GS_FIELD_SIZE, AT(ffn), true},
};
enum { FIELD_COUNT = 5, MOST_LAYERS = 1024, MODEL_TENSORS = 2, LAYER_TENSORS = 8 };

/* Rotation turns pairs, so a head's width must be even. */
static enum gs_status check(const struct gs_transformer_config *c, struct gs_error *error) {
    const bool heads = c->width % c->heads == 0 && c->width / c->heads % 2 == 0;
    if (c->layers <= MOST_LAYERS && heads) return GS_OK;
    gs_fail(error, GS_CONFIG, "model.%s has an unusable value", heads ? "n_layers" : "n_heads");
    if (heads)
        gs_error_expected(error, "at most %d", MOST_LAYERS);
    else
        gs_error_expected(error, "heads of the same even width, hidden_dim %zu in all", c->width);
    gs_error_found(error, "%zu", heads ? c->layers : c->heads);
    return GS_CONFIG;
}

enum gs_status gs_transformer_configure(const struct gs_json *json, void **config,
                                        struct gs_error *error) {
    *config = NULL;
    struct gs_transformer_config c = {0};
    enum gs_status status = gs_fields_read(json, "model", FIELDS, FIELD_COUNT, &c, error);
    if (status == GS_OK) status = check(&c, error);
    if (status != GS_OK) return status;
    struct gs_transformer_config *copy = gs_calloc(1, sizeof *copy);
    if (!copy) return gs_fail_memory(error, sizeof *copy, "a config");
    *copy = c;
    *config = copy;
    return GS_OK;
}

struct gs_json *gs_transformer_config_json(const void *config) {
    return gs_fields_json(FIELDS, FIELD_COUNT, config);
}

/* W_q is (d, d) whatever the heads: shapes never determine a config. */
enum gs_status gs_transformer_infer(const struct gs_tensor *tensors, size_t count, void **config,
                                    struct gs_error *error) {
    *config = NULL;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(tensors[i].name, "blocks.0.attn.W_q.weight") != 0) continue;
        gs_fail(error, GS_CONFIG, "a transformer's number of heads does not follow from shapes");
        gs_error_next(error, "give kind and model in a config.json beside the checkpoint");
        return GS_CONFIG;
    }
    return GS_OK;
}

/* ---- streams ------------------------------------------------------------------------------ */

enum gs_status gs_transformer_describe(const void *config, struct gs_shape *shape,
                                       struct gs_error *error) {
    const struct gs_transformer_config *c = config;
    const size_t channels = c->layers + 1;
    shape->channels = gs_calloc(channels, sizeof *shape->channels);
    if (!shape->channels)
        return gs_fail_memory(error, channels * sizeof *shape->channels, "channels");
    gs_layer_streams(shape, c->layers, c->width);
    shape->vocab = c->vocab;
    shape->embedding_width = c->width;
    shape->embedding = "embedding.weight";
    return GS_OK;
}

/* ---- parameters --------------------------------------------------------------------------- */

static const struct {
    const char *name;
    size_t member; /* of struct gs_transformer_layer */
} LAYER[LAYER_TENSORS] = {
    {"attn.norm.weight", offsetof(struct gs_transformer_layer, attention_norm)},
    {"attn.W_q.weight", offsetof(struct gs_transformer_layer, query)},
    {"attn.W_k.weight", offsetof(struct gs_transformer_layer, key)},
    {"attn.W_v.weight", offsetof(struct gs_transformer_layer, value)},
    {"attn.W_o.weight", offsetof(struct gs_transformer_layer, out)},
    {"ffn.norm.weight", offsetof(struct gs_transformer_layer, ffn_norm)},
    {"ffn.w1.weight", offsetof(struct gs_transformer_layer, ffn_in)},
    {"ffn.w2.weight", offsetof(struct gs_transformer_layer, ffn_out)},
};

static void layer_name(size_t layer, size_t tensor, char name[GS_PARAMETER_NAME]) {
    snprintf(name, GS_PARAMETER_NAME, "blocks.%zu.%s", layer, LAYER[tensor].name);
}

/* (out, in) as torch has it; in = 0 for a vector. */
static void fill(struct gs_tensor *tensor, const char *name, size_t out, size_t in,
                 enum gs_init init) {
    snprintf(tensor->name, sizeof tensor->name, "%s", name);
    tensor->rank = in ? 2 : 1;
    tensor->shape[0] = out;
    if (in) tensor->shape[1] = in;
    tensor->fan_in = in;
    tensor->init = init;
    tensor->decay = in != 0;
}

static void declare_layer(const struct gs_transformer_config *c, size_t layer,
                          struct gs_tensor *tensors) {
    const size_t d = c->width, f = c->ffn;
    const size_t shapes[LAYER_TENSORS][2] = {{d, 0}, {d, d}, {d, d},     {d, d},
                                             {d, d}, {d, 0}, {2 * f, d}, {d, f}};
    for (size_t i = 0; i < LAYER_TENSORS; i++) {
        char name[GS_PARAMETER_NAME];
        layer_name(layer, i, name);
        fill(&tensors[i], name, shapes[i][0], shapes[i][1],
             shapes[i][1] ? GS_INIT_UNIFORM : GS_INIT_ONE);
    }
}

enum gs_status gs_transformer_declare(const void *config, struct gs_tensor **tensors, size_t *count,
                                      struct gs_error *error) {
    const struct gs_transformer_config *c = config;
    *count = MODEL_TENSORS + c->layers * LAYER_TENSORS;
    *tensors = gs_calloc(*count, sizeof **tensors);
    if (!*tensors) return gs_fail_memory(error, *count * sizeof **tensors, "parameters");
    fill(*tensors, "embedding.weight", c->vocab, c->width, GS_INIT_NORMAL_002);
    for (size_t i = 0; i < c->layers; i++) declare_layer(c, i, *tensors + 1 + i * LAYER_TENSORS);
    fill(*tensors + *count - 1, "norm.weight", c->width, 0, GS_INIT_ONE);
    return GS_OK;
}

const char *gs_transformer_own_name(const void *config, const char *name) {
    (void)config;
    return name;
}

enum gs_status gs_transformer_tensors_find(const struct gs_transformer_config *c,
                                           const struct gs_parameters *parameters,
                                           struct gs_transformer_tensors *tensors,
                                           struct gs_error *error) {
    tensors->embedding = gs_parameters_find(parameters, "embedding.weight");
    tensors->norm = gs_parameters_find(parameters, "norm.weight");
    tensors->layers = gs_calloc(c->layers, sizeof *tensors->layers);
    if (!tensors->layers)
        return gs_fail_memory(error, c->layers * sizeof *tensors->layers, "layers");
    for (size_t i = 0; i < c->layers; i++)
        for (size_t j = 0; j < LAYER_TENSORS; j++) {
            char name[GS_PARAMETER_NAME];
            layer_name(i, j, name);
            const struct gs_tensor *found = gs_parameters_find(parameters, name);
            memcpy((char *)&tensors->layers[i] + LAYER[j].member, &found, sizeof found);
        }
    return GS_OK;
}
