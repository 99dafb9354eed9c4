#include "core/models/gdn/weights.h"

#include "core/base/memory.h"
#include "core/kernels/delta.h"

struct gs_gdn_columns gs_gdn_columns_find(const struct gs_gdn_config *c) {
    const size_t keys = c->heads * c->key, values = c->heads * c->value;
    struct gs_gdn_columns at = {.query = 0, .key = keys, .value = 2 * keys};
    at.gate = at.value + values;
    at.decay = at.gate + values;
    at.strength = at.decay + c->heads;
    at.count = at.strength + c->heads;
    return at;
}

void gs_gdn_convs(const struct gs_gdn_config *c, const struct gs_gdn_layer *layer,
                  struct gs_gdn_conv convs[3]) {
    const struct gs_gdn_columns at = gs_gdn_columns_find(c);
    convs[0] = (struct gs_gdn_conv){layer->query_conv, at.query};
    convs[1] = (struct gs_gdn_conv){layer->key_conv, at.key};
    convs[2] = (struct gs_gdn_conv){layer->value_conv, at.value};
}

void gs_gdn_weights_plan(const struct gs_gdn_config *c, bool train, size_t decode_rows,
                         struct gs_arena *arena, struct gs_gdn_weights *w) {
    const size_t columns = gs_gdn_columns_find(c).count;
    w->layers = gs_arena_take(arena, c->layers, 1, 1, sizeof *w->layers);
    for (size_t i = 0; i < c->layers; i++) {
        struct gs_gdn_layer_weights counted, *layer = w->layers ? &w->layers[i] : &counted;
        gs_linear_plan(c->width, columns, train, arena, &layer->in);
        gs_linear_plan(c->heads * c->value, c->width, train, arena, &layer->out);
        gs_feed_forward_plan(c->width, c->ffn, train, arena, &layer->feed);
        layer->taps = gs_arena_floats(arena, GS_CONV_WIDTH, gs_gdn_channels(c), 1);
    }
    gs_output_plan(c->vocab, c->width, train, decode_rows, arena, &w->output);
}

enum gs_status gs_gdn_weights_bind(const struct gs_gdn_config *c,
                                   const struct gs_parameters *parameters, bool bf16,
                                   struct gs_gdn_weights *w, struct gs_error *error) {
    w->bf16 = bf16;
    enum gs_status status = gs_gdn_tensors_find(c, parameters, &w->tensors, error);
    for (size_t i = 0; i < c->layers && status == GS_OK; i++) {
        const struct gs_gdn_layer *t = &w->tensors.layers[i];
        const struct gs_tensor *const in[] = {t->query, t->key,   t->value,
                                              t->gate,  t->decay, t->strength};
        const struct gs_tensor *const feed[] = {t->ffn_gate, t->ffn_up}, *const out = t->out;
        gs_linear_bind(in, 6, bf16, &w->layers[i].in);
        gs_linear_bind(&out, 1, bf16, &w->layers[i].out);
        gs_feed_forward_bind(t->ffn_norm, feed, 2, t->ffn_down, bf16, &w->layers[i].feed);
    }
    if (status == GS_OK) gs_output_bind(w->tensors.output, bf16, &w->output);
    return status;
}

void gs_gdn_weights_unbind(struct gs_gdn_weights *w) {
    gs_free(w->tensors.layers);
    w->tensors.layers = NULL;
}

static void refresh_taps(const struct gs_gdn_config *c, const struct gs_gdn_layer *layer, bool bf16,
                         float *taps) {
    const size_t channels = gs_gdn_channels(c);
    struct gs_gdn_conv convs[3];
    gs_gdn_convs(c, layer, convs);
    for (size_t k = 0; k < 3; k++)
        for (size_t j = 0; j < convs[k].weight->shape[0]; j++)
            for (size_t tap = 0; tap < GS_CONV_WIDTH; tap++) {
                const float value = convs[k].weight->values[j * GS_CONV_WIDTH + tap];
                taps[tap * channels + convs[k].column + j] = bf16 ? gs_round_bf16(value) : value;
            }
}

void gs_gdn_weights_refresh(const struct gs_gdn_config *c, struct gs_gdn_weights *w) {
    for (size_t i = 0; i < c->layers; i++) {
        gs_linear_refresh(&w->layers[i].in);
        gs_linear_refresh(&w->layers[i].out);
        gs_feed_forward_refresh(&w->layers[i].feed);
        refresh_taps(c, &w->tensors.layers[i], w->bf16, w->layers[i].taps);
    }
    gs_output_refresh(&w->output);
}
