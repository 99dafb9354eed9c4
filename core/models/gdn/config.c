#include "core/models/gdn/config.h"

#include "core/base/memory.h"
#include "core/models/fields.h"

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

static const struct gs_tensor *find(const struct gs_tensor *tensors, size_t count, const char *name,
                                    size_t rank) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(tensors[i].name, name) == 0 && tensors[i].rank == rank) return &tensors[i];
    return NULL;
}

static size_t count_layers(const struct gs_tensor *tensors, size_t count) {
    size_t layers = 0;
    for (; layers <= MOST_LAYERS; layers++) {
        char name[GS_PARAMETER_NAME];
        snprintf(name, sizeof name, "model.layers.%zu.attn.A_log", layers);
        if (!find(tensors, count, name, 1)) break;
    }
    return layers;
}

enum gs_status gs_gdn_infer(const struct gs_tensor *tensors, size_t count, void **config,
                            struct gs_error *error) {
    *config = NULL;
    const struct gs_tensor *embedding = find(tensors, count, "model.embeddings.weight", 2);
    const struct gs_tensor *heads = find(tensors, count, "model.layers.0.attn.A_log", 1);
    const struct gs_tensor *key = find(tensors, count, "model.layers.0.attn.k_proj.weight", 2);
    const struct gs_tensor *value = find(tensors, count, "model.layers.0.attn.v_proj.weight", 2);
    const struct gs_tensor *ffn = find(tensors, count, "model.layers.0.mlp.gate_proj.weight", 2);
    if (!embedding || !heads || !key || !value || !ffn) return GS_OK;
    struct gs_gdn_config c = {.vocab = embedding->shape[0],
                              .width = embedding->shape[1],
                              .layers = count_layers(tensors, count),
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

static struct gs_channel *channel(struct gs_shape *shape, enum gs_channel_group group,
                                  size_t width) {
    struct gs_channel *c = &shape->channels[shape->channel_count++];
    c->group = group;
    c->width = width;
    return c;
}

static void name_layer(struct gs_channel *channel, size_t layer) {
    snprintf(channel->name, sizeof channel->name, "layer%02zu", layer);
}

static void memory_channels(struct gs_shape *shape, const struct gs_gdn_config *c, size_t layer) {
    static const enum gs_channel_group GROUPS[GS_GDN_GATES] = {
        GS_CHANNEL_LOG_DECAY, GS_CHANNEL_WRITE_STRENGTH, GS_CHANNEL_MEMORY_NORM};
    for (size_t i = 0; i < GS_GDN_GATES; i++) {
        struct gs_channel *made = channel(shape, GROUPS[i], c->heads);
        name_layer(made, layer);
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
    shape->vocab = c->vocab;
    shape->state_width = c->width;
    shape->first = 1;
    shape->decodable = gs_gdn_final_channel(c);
    shape->embedding_width = c->width;
    shape->embedding = "model.embeddings.weight";
    for (size_t i = 0; i < c->layers; i++) {
        struct gs_channel *made = channel(shape, GS_CHANNEL_STATE, c->width);
        name_layer(made, i);
        made->decoder = "the final norm and the output matrix";
    }
    struct gs_channel *final = channel(shape, GS_CHANNEL_STATE, c->width);
    snprintf(final->name, sizeof final->name, "final");
    final->decoder = "the output matrix";
    for (size_t i = 0; i < c->layers; i++) memory_channels(shape, c, i);
    part(shape, "S", c->layers * c->heads * c->key * c->value);
    part(shape, "conv", c->layers * 3 * gs_gdn_channels(c));
    return GS_OK;
}

const char *gs_gdn_own_name(const void *config, const char *name) {
    (void)config;
    return name;
}
