#include "core/models/gpn/config.h"

#include "core/base/memory.h"
#include "core/models/fields.h"

#include <stdio.h>
#include <string.h>

#define AT(member) offsetof(struct gs_gpn_config, member)

static const struct gs_field FIELDS[] = {
    {"vocab_size", GS_FIELD_SIZE, AT(vocab), true},
    {"d_state", GS_FIELD_SIZE, AT(width), true},
    {"d_emb", GS_FIELD_SIZE, AT(embedding), true},
    {"d_ffn", GS_FIELD_SIZE, AT(ffn), true},
    {"n_layers", GS_FIELD_SIZE, AT(layers), false},
    {"use_decoder_bias", GS_FIELD_BOOL, AT(decoder_bias), false},
    {"n_heads", GS_FIELD_SIZE, AT(heads), true},
    {"d_key", GS_FIELD_SIZE, AT(key), true},
    {"d_val", GS_FIELD_SIZE, AT(value), true},
};
enum { PLAIN_FIELDS = 6, MEMORY_FIELDS = 9, MOST_LAYERS = 1024 };

/* Every layer has a dozen named tensors, which are listed before anything can be compared with a
 * file. */
static enum gs_status check_layers(const struct gs_gpn_config *c, struct gs_error *error) {
    if (c->layers <= MOST_LAYERS) return GS_OK;
    gs_fail(error, GS_CONFIG, "model.n_layers has an unusable value");
    gs_error_expected(error, "at most %d", MOST_LAYERS);
    gs_error_found(error, "%zu", c->layers);
    return GS_CONFIG;
}

static enum gs_status configure(const struct gs_json *json, size_t fields, void **config,
                                struct gs_error *error) {
    struct gs_gpn_config *c = gs_calloc(1, sizeof *c);
    if (!c) return gs_fail_memory(error, sizeof *c, "a config");
    c->layers = 1;
    enum gs_status status = gs_fields_read(json, "model", FIELDS, fields, c, error);
    if (status == GS_OK) status = check_layers(c, error);
    if (status != GS_OK) {
        gs_free(c);
        c = NULL;
    }
    *config = c;
    return status;
}

enum gs_status gs_gpn_configure(const struct gs_json *json, void **config, struct gs_error *error) {
    return configure(json, PLAIN_FIELDS, config, error);
}

enum gs_status gs_gpn_m_configure(const struct gs_json *json, void **config,
                                  struct gs_error *error) {
    return configure(json, MEMORY_FIELDS, config, error);
}

struct gs_json *gs_gpn_config_json(const void *config) {
    const struct gs_gpn_config *c = config;
    return gs_fields_json(FIELDS, c->heads ? MEMORY_FIELDS : PLAIN_FIELDS, c);
}

/* ---- from names and shapes ---------------------------------------------------------------- */

/* What both kinds share; false when the tensors are not a GPN's. */
static bool infer_shared(const struct gs_tensor *tensors, size_t count, struct gs_gpn_config *c) {
    const struct gs_tensor *embedding = gs_tensor_find(tensors, count, "embedding", 2);
    const struct gs_tensor *decode = gs_tensor_find(tensors, count, "decode_proj_k", 2);
    const struct gs_tensor *ffn = gs_tensor_find(tensors, count, "ffn_w2_k", 2);
    if (!ffn) ffn = gs_tensor_find(tensors, count, "L0_ffn_w2_k", 2);
    if (!embedding || !decode || !ffn) return false;
    c->vocab = embedding->shape[0];
    c->embedding = embedding->shape[1];
    c->width = decode->shape[0];
    c->ffn = ffn->shape[0];
    c->decoder_bias = gs_tensor_find(tensors, count, "decode_bias", 1) != NULL;
    c->layers = gs_tensor_layers(tensors, count, "L", "_ffn_norm_w", MOST_LAYERS);
    if (!c->layers) c->layers = 1;
    return c->vocab && c->embedding && c->width && c->ffn;
}

static enum gs_status take(const struct gs_gpn_config *c, void **config, struct gs_error *error) {
    enum gs_status status = check_layers(c, error);
    if (status != GS_OK) return status;
    struct gs_gpn_config *copy = gs_calloc(1, sizeof *copy);
    if (!copy) return gs_fail_memory(error, sizeof *copy, "a config");
    *copy = *c;
    *config = copy;
    return GS_OK;
}

enum gs_status gs_gpn_infer(const struct gs_tensor *tensors, size_t count, void **config,
                            struct gs_error *error) {
    struct gs_gpn_config c = {0};
    *config = NULL;
    if (gs_tensor_find(tensors, count, "write_A_log", 1) || !infer_shared(tensors, count, &c))
        return GS_OK;
    return take(&c, config, error);
}

enum gs_status gs_gpn_m_infer(const struct gs_tensor *tensors, size_t count, void **config,
                              struct gs_error *error) {
    struct gs_gpn_config c = {0};
    *config = NULL;
    const struct gs_tensor *heads = gs_tensor_find(tensors, count, "write_A_log", 1);
    const struct gs_tensor *key = gs_tensor_find(tensors, count, "write_W_k_k", 2);
    const struct gs_tensor *value = gs_tensor_find(tensors, count, "write_W_v_k", 2);
    if (!heads || !key || !value || !infer_shared(tensors, count, &c)) return GS_OK;
    c.heads = heads->shape[0];
    if (!c.heads || key->shape[1] % c.heads || value->shape[1] % c.heads || !key->shape[1] ||
        !value->shape[1]) {
        gs_fail(error, GS_CONFIG, "the memory's sizes do not follow from the shapes");
        gs_error_expected(error, "write_W_k_k and write_W_v_k with a multiple of write_A_log's "
                                 "size as columns");
        gs_error_found(error, "%zu and %zu columns for %zu heads", key->shape[1], value->shape[1],
                       c.heads);
        gs_error_next(error, "give the config in a config.json beside the checkpoint");
        return GS_CONFIG;
    }
    c.key = key->shape[1] / c.heads;
    c.value = value->shape[1] / c.heads;
    return take(&c, config, error);
}

/* ---- streams and memories ----------------------------------------------------------------- */

static void channel(struct gs_shape *shape, enum gs_channel_group group, const char *name,
                    const char *rule, size_t width) {
    struct gs_channel *c = &shape->channels[shape->channel_count++];
    c->group = group;
    snprintf(c->name, sizeof c->name, "%s", name);
    snprintf(c->rule, sizeof c->rule, "%s", rule);
    c->width = width;
}

static void part(struct gs_shape *shape, const char *name, size_t width) {
    struct gs_state_part *p = &shape->parts[shape->part_count++];
    snprintf(p->name, sizeof p->name, "%s", name);
    p->width = width;
}

enum gs_status gs_gpn_describe(const void *config, struct gs_shape *shape, struct gs_error *error) {
    const struct gs_gpn_config *c = config;
    shape->channels = gs_calloc(GS_GPN_CHANNELS, sizeof *shape->channels);
    if (!shape->channels)
        return gs_fail_memory(error, GS_GPN_CHANNELS * sizeof *shape->channels, "channels");
    shape->vocab = c->vocab;
    shape->state_width = c->width;
    shape->first = 0;
    shape->decodable = GS_GPN_PREDICTED;
    shape->embedding_width = c->embedding;
    shape->embedding = "embedding";
    channel(shape, GS_CHANNEL_STATE, "predicted", "", c->width);
    shape->channels[GS_GPN_PREDICTED].decoder = "the model's decoder";
    channel(shape, GS_CHANNEL_STATE, "grounded", "", c->width);
    part(shape, "s", c->width);
    if (!c->heads) return GS_OK;
    channel(shape, GS_CHANNEL_LOG_DECAY, "memory", "gpn", c->heads);
    channel(shape, GS_CHANNEL_WRITE_STRENGTH, "memory", "gpn", c->heads);
    channel(shape, GS_CHANNEL_MEMORY_NORM, "memory", "gpn", c->heads);
    channel(shape, GS_CHANNEL_READ_SHARE, "memory", "", c->layers);
    part(shape, "s_prev", c->width);
    part(shape, "M", c->heads * c->key * c->value);
    return GS_OK;
}

/* ---- parameters --------------------------------------------------------------------------- */

struct declaration {
    struct gs_tensor *tensors;
    size_t count;
};

static void declare(struct declaration *list, const char *prefix, const char *name, size_t rows,
                    size_t columns, enum gs_init init) {
    struct gs_tensor *tensor = &list->tensors[list->count++];
    snprintf(tensor->name, sizeof tensor->name, "%s%s", prefix, name);
    tensor->rank = columns ? 2 : 1;
    tensor->shape[0] = rows;
    if (columns) tensor->shape[1] = columns;
    tensor->fan_in = rows;
    tensor->init = init;
    tensor->decay = columns != 0; /* write_A_log and write_dt_bias have one dimension */
}

static void declare_vector(struct declaration *list, const char *prefix, const char *name,
                           size_t size, enum gs_init init) {
    declare(list, prefix, name, size, 0, init);
}

/* A memory-less model of one layer uses the authors' unprefixed names. */
static const char *layer_prefix(const struct gs_gpn_config *c, size_t layer, char buffer[32]) {
    buffer[0] = '\0';
    if (c->heads || c->layers > 1) snprintf(buffer, 32, "L%zu_", layer);
    return buffer;
}

static void declare_write(struct declaration *list, const struct gs_gpn_config *c) {
    size_t d = c->width, keys = c->heads * c->key, values = c->heads * c->value;
    declare_vector(list, "", "write_norm_w", d, GS_INIT_ONE);
    declare(list, "", "write_W_k_k", d, keys, GS_INIT_LECUN);
    declare_vector(list, "", "write_W_k_b", keys, GS_INIT_ZERO);
    declare(list, "", "write_W_v_k", d, values, GS_INIT_LECUN);
    declare(list, "", "write_W_beta_k", d, c->heads, GS_INIT_LECUN);
    declare_vector(list, "", "write_A_log", c->heads, GS_INIT_A_LOG);
    declare_vector(list, "", "write_dt_bias", c->heads, GS_INIT_DT_BIAS);
    declare(list, "", "write_W_a_k", d, c->heads, GS_INIT_LECUN);
}

static void declare_layer(struct declaration *list, const struct gs_gpn_config *c, size_t layer) {
    char buffer[32];
    const char *p = layer_prefix(c, layer, buffer);
    size_t d = c->width, keys = c->heads * c->key, values = c->heads * c->value;
    declare_vector(list, p, "ffn_norm_w", d, GS_INIT_ONE);
    declare(list, p, "ffn_w1_k", d, 2 * c->ffn, GS_INIT_LECUN);
    declare(list, p, "ffn_w2_k", c->ffn, d, GS_INIT_ZERO);
    declare_vector(list, p, "pg_norm_w", d, GS_INIT_ONE);
    declare(list, p, "pg_gate_k", d, d, GS_INIT_ZERO);
    declare_vector(list, p, "pg_gate_b", d, GS_INIT_ZERO);
    if (!c->heads) return;
    declare_vector(list, p, "read_norm_w", d, GS_INIT_ONE);
    declare(list, p, "read_W_q_k", d, keys, GS_INIT_LECUN);
    declare_vector(list, p, "read_W_q_b", keys, GS_INIT_ZERO);
    declare(list, p, "read_W_gate_k", d, values, GS_INIT_LECUN);
    declare_vector(list, p, "read_out_norm_w", values, GS_INIT_ONE);
    declare(list, p, "read_W_o_k", values, d, GS_INIT_NORMAL_002);
}

enum { SHARED_TENSORS = 9, WRITE_TENSORS = 8, LAYER_TENSORS = 12 };

/* The largest product of two sizes is checked where the tensors are allocated; here only the
 * sums of this file could wrap, and sizes are below 2^31. */
enum gs_status gs_gpn_declare(const void *config, struct gs_tensor **tensors, size_t *count,
                              struct gs_error *error) {
    const struct gs_gpn_config *c = config;
    size_t most = SHARED_TENSORS + WRITE_TENSORS;
    size_t layers;
    if (gs_multiply(c->layers, LAYER_TENSORS, &layers)) most += layers;
    struct declaration list = {gs_calloc(most, sizeof *list.tensors), 0};
    if (!list.tensors) return gs_fail_memory(error, most * sizeof *list.tensors, "parameters");
    declare(&list, "", "embedding", c->vocab, c->embedding, GS_INIT_NORMAL_002);
    declare_vector(&list, "", "decode_norm_w", c->width, GS_INIT_ONE);
    declare(&list, "", "decode_proj_k", c->width, c->embedding, GS_INIT_LECUN);
    if (c->decoder_bias) declare_vector(&list, "", "decode_bias", c->embedding, GS_INIT_ZERO);
    declare_vector(&list, "", "fuse_norm_w", c->embedding, GS_INIT_ONE);
    declare(&list, "", "fuse_proj_k", c->embedding, c->width, GS_INIT_LECUN);
    declare_vector(&list, "", "fg_norm_w", c->width, GS_INIT_ONE);
    declare(&list, "", "fg_gate_k", c->width, c->width, GS_INIT_ZERO);
    declare_vector(&list, "", "fg_gate_b", c->width, GS_INIT_ZERO);
    if (c->heads) declare_write(&list, c);
    for (size_t i = 0; i < c->layers; i++) declare_layer(&list, c, i);
    *tensors = list.tensors;
    *count = list.count;
    return GS_OK;
}

/* A memory-less model of one layer may come with or without the prefix. */
const char *gs_gpn_own_name(const void *config, const char *name) {
    const struct gs_gpn_config *c = config;
    if (!c->heads && c->layers == 1 && strncmp(name, "L0_", 3) == 0) return name + 3;
    return name;
}

static void find_layer(const struct gs_gpn_config *c, const struct gs_parameters *parameters,
                       size_t layer, struct gs_gpn_layer *out) {
    static const char *const NAMES[LAYER_TENSORS] = {
        "ffn_norm_w", "ffn_w1_k",      "ffn_w2_k",        "pg_norm_w",
        "pg_gate_k",  "pg_gate_b",     "read_norm_w",     "read_W_q_k",
        "read_W_q_b", "read_W_gate_k", "read_out_norm_w", "read_W_o_k"};
    struct gs_tensor **const members[LAYER_TENSORS] = {
        &out->ffn_norm,   &out->ffn_in,    &out->ffn_out,       &out->gate_norm,
        &out->gate,       &out->gate_bias, &out->read_norm,     &out->query,
        &out->query_bias, &out->read_gate, &out->read_out_norm, &out->read_out};
    char buffer[32], name[GS_PARAMETER_NAME];
    const char *prefix = layer_prefix(c, layer, buffer);
    for (size_t i = 0; i < LAYER_TENSORS; i++) {
        snprintf(name, sizeof name, "%s%s", prefix, NAMES[i]);
        *members[i] = gs_parameters_find(parameters, name);
    }
}

enum gs_status gs_gpn_tensors_find(const struct gs_gpn_config *c, const struct gs_parameters *p,
                                   struct gs_gpn_tensors *t, struct gs_error *error) {
    *t = (struct gs_gpn_tensors){
        .embedding = gs_parameters_find(p, "embedding"),
        .decode_norm = gs_parameters_find(p, "decode_norm_w"),
        .decode = gs_parameters_find(p, "decode_proj_k"),
        .decode_bias = gs_parameters_find(p, "decode_bias"),
        .fuse_norm = gs_parameters_find(p, "fuse_norm_w"),
        .fuse = gs_parameters_find(p, "fuse_proj_k"),
        .ground_norm = gs_parameters_find(p, "fg_norm_w"),
        .ground_gate = gs_parameters_find(p, "fg_gate_k"),
        .ground_bias = gs_parameters_find(p, "fg_gate_b"),
        .write_norm = gs_parameters_find(p, "write_norm_w"),
        .key = gs_parameters_find(p, "write_W_k_k"),
        .key_bias = gs_parameters_find(p, "write_W_k_b"),
        .value = gs_parameters_find(p, "write_W_v_k"),
        .strength = gs_parameters_find(p, "write_W_beta_k"),
        .decay = gs_parameters_find(p, "write_W_a_k"),
        .a_log = gs_parameters_find(p, "write_A_log"),
        .dt_bias = gs_parameters_find(p, "write_dt_bias"),
    };
    t->layers = gs_calloc(c->layers, sizeof *t->layers);
    if (!t->layers) return gs_fail_memory(error, c->layers * sizeof *t->layers, "layers");
    for (size_t i = 0; i < c->layers; i++) find_layer(c, p, i, &t->layers[i]);
    return GS_OK;
}
