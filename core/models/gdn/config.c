#include "core/models/gdn/config.h"

#include "core/base/memory.h"
#include "core/models/fields.h"
#include "core/models/parts/layer_streams.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define AT(member) offsetof(struct gs_gdn_config, member)

static const struct gs_field FIELDS[] = {
    {"vocab_size", GS_FIELD_SIZE, AT(vocab), true}, {"hidden_dim", GS_FIELD_SIZE, AT(width), true},
    {"n_layers", GS_FIELD_SIZE, AT(layers), true},  {"n_heads", GS_FIELD_SIZE, AT(heads), true},
    {"head_dim", GS_FIELD_SIZE, AT(key), true},     {"ffn_dim", GS_FIELD_SIZE, AT(ffn), true},
    {"expand_v", GS_FIELD_REAL, AT(expand), false},
};
enum { FIELD_COUNT = 7, MOST_LAYERS = 1024 };

static enum gs_status unusable(const char *key, const char *expected, double found,
                               struct gs_error *error) {
    gs_fail(error, GS_CONFIG, "model.%s has an unusable value", key);
    gs_error_expected(error, "%s", expected);
    gs_error_found(error, "%.10g", found);
    return GS_CONFIG;
}

/* The width of values, which is made of two fields, and what would wrap in the sums of this file.
 */
static enum gs_status check(struct gs_gdn_config *c, struct gs_error *error) {
    const double value = (double)c->key * c->expand;
    if (c->layers > MOST_LAYERS)
        return unusable("n_layers", "at most 1024", (double)c->layers, error);
    if (fabs(value - round(value)) > 1e-6 || value < 0.5)
        return unusable("expand_v", "a whole number when multiplied by head_dim", c->expand, error);
    if ((double)c->heads * fmax(value, (double)c->key) > 2147483647.0)
        return unusable("n_heads", "at most 2147483647 keys and values in all", (double)c->heads,
                        error);
    c->value = (size_t)(value + 0.5);
    return GS_OK;
}

static enum gs_status take(const struct gs_gdn_config *c, void **config, struct gs_error *error) {
    struct gs_gdn_config *copy = gs_calloc(1, sizeof *copy);
    if (!copy) return gs_fail_memory(error, sizeof *copy, "a config");
    *copy = *c;
    *config = copy;
    return GS_OK;
}

enum gs_status gs_gdn_configure(const struct gs_json *json, void **config, struct gs_error *error) {
    struct gs_gdn_config c = {.expand = 2};
    *config = NULL;
    enum gs_status status = gs_fields_read(json, "model", FIELDS, FIELD_COUNT, &c, error);
    if (status == GS_OK) status = check(&c, error);
    return status == GS_OK ? take(&c, config, error) : status;
}

struct gs_json *gs_gdn_config_json(const void *config) {
    return gs_fields_json(FIELDS, FIELD_COUNT, config);
}

/* ---- from names and shapes ---------------------------------------------------------------- */

enum gs_status gs_gdn_infer(const struct gs_tensor *tensors, size_t count, void **config,
                            struct gs_error *error) {
    *config = NULL;
    const struct gs_tensor *embedding =
        gs_tensor_find(tensors, count, "model.embeddings.weight", 2);
    const struct gs_tensor *heads = gs_tensor_find(tensors, count, "model.layers.0.attn.A_log", 1);
    const struct gs_tensor *key =
        gs_tensor_find(tensors, count, "model.layers.0.attn.k_proj.weight", 2);
    const struct gs_tensor *value =
        gs_tensor_find(tensors, count, "model.layers.0.attn.v_proj.weight", 2);
    const struct gs_tensor *ffn =
        gs_tensor_find(tensors, count, "model.layers.0.mlp.gate_proj.weight", 2);
    if (!embedding || !heads || !key || !value || !ffn) return GS_OK;
    struct gs_gdn_config c = {
        .vocab = embedding->shape[0],
        .width = embedding->shape[1],
        .layers = gs_tensor_layers(tensors, count, "model.layers.", ".attn.A_log", MOST_LAYERS),
        .ffn = ffn->shape[0],
        .heads = heads->shape[0]};
    if (!c.vocab || !c.width || !c.ffn || !c.heads || !key->shape[0] || !value->shape[0] ||
        key->shape[0] % c.heads || value->shape[0] % c.heads) {
        gs_fail(error, GS_CONFIG, "the heads' sizes do not follow from the shapes");
        gs_error_expected(error, "k_proj and v_proj with a multiple of A_log's size as rows");
        gs_error_found(error, "%zu and %zu rows for %zu heads", key->shape[0], value->shape[0],
                       c.heads);
        gs_error_next(error, "give the config in a config.json beside the checkpoint");
        return GS_CONFIG;
    }
    c.key = key->shape[0] / c.heads;
    c.expand = (double)(value->shape[0] / c.heads) / (double)c.key;
    enum gs_status status = check(&c, error);
    return status == GS_OK ? take(&c, config, error) : status;
}

/* ---- streams and memories ----------------------------------------------------------------- */

static void memory_channels(struct gs_shape *shape, const struct gs_gdn_config *c, size_t layer) {
    static const enum gs_channel_group GROUPS[GS_GDN_GATES] = {
        GS_CHANNEL_LOG_DECAY, GS_CHANNEL_WRITE_STRENGTH, GS_CHANNEL_MEMORY_NORM};
    for (size_t i = 0; i < GS_GDN_GATES; i++) {
        struct gs_channel *made = &shape->channels[shape->channel_count++];
        made->group = GROUPS[i];
        made->width = c->heads;
        gs_layer_name(made, layer);
        snprintf(made->rule, sizeof made->rule, "gated_delta");
    }
}

static void part(struct gs_shape *shape, const char *name, size_t width) {
    struct gs_state_part *p = &shape->parts[shape->part_count++];
    snprintf(p->name, sizeof p->name, "%s", name);
    p->width = width;
}

enum gs_status gs_gdn_describe(const void *config, struct gs_shape *shape, struct gs_error *error) {
    const struct gs_gdn_config *c = config;
    const size_t channels = 1 + c->layers * (1 + GS_GDN_GATES);
    shape->channels = gs_calloc(channels, sizeof *shape->channels);
    if (!shape->channels)
        return gs_fail_memory(error, channels * sizeof *shape->channels, "channels");
    gs_layer_streams(shape, c->layers, c->width);
    shape->vocab = c->vocab;
    shape->embedding_width = c->width;
    shape->embedding = "model.embeddings.weight";
    for (size_t i = 0; i < c->layers; i++) memory_channels(shape, c, i);
    part(shape, "S", c->layers * c->heads * c->key * c->value);
    part(shape, "conv", c->layers * 3 * gs_gdn_channels(c));
    return GS_OK;
}

const char *gs_gdn_own_name(const void *config, const char *name) {
    (void)config;
    return name;
}
