/* The parameters of a Gated DeltaNet: fla's names, in the order of its modules. */
#include "core/models/gdn/config.h"

#include "core/base/memory.h"

#include <stdio.h>

/* One parameter of a layer: its name, and its shape by sizes of the config. */
enum size { ONE, WIDTH, KEYS, VALUES, HEADS, VALUE, FFN, TAPS };
struct declared {
    const char *name;
    size_t member; /* offset in struct gs_gdn_layer */
    size_t rank;
    enum size shape[3];
    enum gs_init init;
};

#define AT(member) offsetof(struct gs_gdn_layer, member)
static const struct declared LAYER[] = {
    {"attn_norm.weight", AT(norm), 1, {WIDTH}, GS_INIT_ONE},
    {"attn.q_proj.weight", AT(query), 2, {KEYS, WIDTH}, GS_INIT_NORMAL_002},
    {"attn.k_proj.weight", AT(key), 2, {KEYS, WIDTH}, GS_INIT_NORMAL_002},
    {"attn.v_proj.weight", AT(value), 2, {VALUES, WIDTH}, GS_INIT_NORMAL_002},
    {"attn.a_proj.weight", AT(decay), 2, {HEADS, WIDTH}, GS_INIT_NORMAL_002},
    {"attn.b_proj.weight", AT(strength), 2, {HEADS, WIDTH}, GS_INIT_NORMAL_002},
    {"attn.A_log", AT(a_log), 1, {HEADS}, GS_INIT_A_LOG},
    {"attn.dt_bias", AT(dt_bias), 1, {HEADS}, GS_INIT_DT_BIAS},
    {"attn.q_conv1d.weight", AT(query_conv), 3, {KEYS, ONE, TAPS}, GS_INIT_NORMAL_002},
    {"attn.k_conv1d.weight", AT(key_conv), 3, {KEYS, ONE, TAPS}, GS_INIT_NORMAL_002},
    {"attn.v_conv1d.weight", AT(value_conv), 3, {VALUES, ONE, TAPS}, GS_INIT_NORMAL_002},
    {"attn.g_proj.weight", AT(gate), 2, {VALUES, WIDTH}, GS_INIT_NORMAL_002},
    {"attn.o_norm.weight", AT(read_norm), 1, {VALUE}, GS_INIT_ONE},
    {"attn.o_proj.weight", AT(out), 2, {WIDTH, VALUES}, GS_INIT_NORMAL_002},
    {"mlp_norm.weight", AT(ffn_norm), 1, {WIDTH}, GS_INIT_ONE},
    {"mlp.gate_proj.weight", AT(ffn_gate), 2, {FFN, WIDTH}, GS_INIT_NORMAL_002},
    {"mlp.up_proj.weight", AT(ffn_up), 2, {FFN, WIDTH}, GS_INIT_NORMAL_002},
    {"mlp.down_proj.weight", AT(ffn_down), 2, {WIDTH, FFN}, GS_INIT_NORMAL_002},
};
enum { LAYER_TENSORS = sizeof LAYER / sizeof LAYER[0], OTHER_TENSORS = 3 };

static const char EMBEDDING[] = "model.embeddings.weight", NORM[] = "model.norm.weight",
                  OUTPUT[] = "lm_head.weight";

static size_t size_of(const struct gs_gdn_config *c, enum size size) {
    const size_t sizes[] = {[ONE] = 1,
                            [WIDTH] = c->width,
                            [KEYS] = c->heads * c->key,
                            [VALUES] = c->heads * c->value,
                            [HEADS] = c->heads,
                            [VALUE] = c->value,
                            [FFN] = c->ffn,
                            [TAPS] = 4};
    return sizes[size];
}

static void layer_name(char name[GS_PARAMETER_NAME], size_t layer, const char *rest) {
    snprintf(name, GS_PARAMETER_NAME, "model.layers.%zu.%s", layer, rest);
}

static void declare_layer(const struct gs_gdn_config *c, size_t layer, struct gs_tensor *tensors) {
    for (size_t i = 0; i < LAYER_TENSORS; i++) {
        const struct declared *from = &LAYER[i];
        struct gs_tensor *tensor = &tensors[i];
        layer_name(tensor->name, layer, from->name);
        tensor->rank = from->rank;
        for (size_t k = 0; k < from->rank; k++) tensor->shape[k] = size_of(c, from->shape[k]);
        tensor->fan_in = tensor->shape[from->rank - 1];
        tensor->init = from->init;
        tensor->decay = from->rank > 1; /* A_log and dt_bias have one dimension */
    }
}

static struct gs_tensor outer(const char *name, size_t rank, size_t rows, size_t columns,
                              enum gs_init init) {
    struct gs_tensor tensor = {.rank = rank,
                               .shape = {rows, columns},
                               .fan_in = rank > 1 ? columns : rows,
                               .init = init,
                               .decay = rank > 1};
    snprintf(tensor.name, sizeof tensor.name, "%s", name);
    return tensor;
}

enum gs_status gs_gdn_declare(const void *config, struct gs_tensor **tensors, size_t *count,
                              struct gs_error *error) {
    const struct gs_gdn_config *c = config;
    const size_t all = OTHER_TENSORS + c->layers * LAYER_TENSORS;
    struct gs_tensor *list = gs_calloc(all, sizeof *list);
    if (!list) return gs_fail_memory(error, all * sizeof *list, "parameters");
    list[0] = outer(EMBEDDING, 2, c->vocab, c->width, GS_INIT_NORMAL_002);
    for (size_t i = 0; i < c->layers; i++) declare_layer(c, i, list + 1 + i * LAYER_TENSORS);
    list[all - 2] = outer(NORM, 1, c->width, 0, GS_INIT_ONE);
    list[all - 1] = outer(OUTPUT, 2, c->vocab, c->width, GS_INIT_UNIFORM);
    *tensors = list;
    *count = all;
    return GS_OK;
}

enum gs_status gs_gdn_tensors_find(const struct gs_gdn_config *c, const struct gs_parameters *p,
                                   struct gs_gdn_tensors *t, struct gs_error *error) {
    *t = (struct gs_gdn_tensors){.embedding = gs_parameters_find(p, EMBEDDING),
                                 .norm = gs_parameters_find(p, NORM),
                                 .output = gs_parameters_find(p, OUTPUT)};
    t->layers = gs_calloc(c->layers, sizeof *t->layers);
    if (!t->layers) return gs_fail_memory(error, c->layers * sizeof *t->layers, "layers");
    for (size_t layer = 0; layer < c->layers; layer++)
        for (size_t i = 0; i < LAYER_TENSORS; i++) {
            char name[GS_PARAMETER_NAME];
            layer_name(name, layer, LAYER[i].name);
            struct gs_tensor **member =
                (struct gs_tensor **)((char *)&t->layers[layer] + LAYER[i].member);
            *member = gs_parameters_find(p, name);
        }
    return GS_OK;
}
