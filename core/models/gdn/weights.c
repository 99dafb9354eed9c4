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

static enum gs_status create_layer(const struct gs_gdn_config *c, const struct gs_gdn_weights *w,
                                   size_t i, struct gs_error *error) {
    const struct gs_gdn_layer *t = &w->tensors.layers[i];
    struct gs_gdn_layer_weights *layer = &w->layers[i];
    const struct gs_tensor *const in[] = {t->query, t->key,   t->value,
                                          t->gate,  t->decay, t->strength};
    const struct gs_tensor *const feed[] = {t->ffn_gate, t->ffn_up}, *const out = t->out;
    enum gs_status status = gs_linear_create_direct(in, 6, w->train, w->bf16, &layer->in, error);
    if (status == GS_OK)
        status = gs_linear_create_direct(&out, 1, w->train, w->bf16, &layer->out, error);
    if (status == GS_OK)
        status = gs_feed_forward_create(t->ffn_norm, feed, 2, t->ffn_down, w->train, w->bf16,
                                        &layer->feed, error);
    if (status != GS_OK) return status;
    const size_t floats = GS_CONV_WIDTH * gs_gdn_channels(c);
    layer->taps = gs_calloc(floats, sizeof(float));
    return layer->taps ? GS_OK : gs_fail_memory(error, floats * sizeof(float), "convolutions");
}

enum gs_status gs_gdn_weights_create(const struct gs_gdn_config *c,
                                     const struct gs_parameters *parameters, bool train, bool bf16,
                                     struct gs_gdn_weights *w, struct gs_error *error) {
    *w = (struct gs_gdn_weights){.train = train, .bf16 = bf16};
    enum gs_status status = gs_gdn_tensors_find(c, parameters, &w->tensors, error);
    if (status != GS_OK) return status;
    w->layers = gs_calloc(c->layers, sizeof *w->layers);
    if (!w->layers) return gs_fail_memory(error, c->layers * sizeof *w->layers, "weights");
    for (size_t i = 0; i < c->layers && status == GS_OK; i++) status = create_layer(c, w, i, error);
    if (status != GS_OK) return status;
    return gs_output_create(w->tensors.output, train, bf16, &w->output, error);
}

void gs_gdn_weights_destroy(const struct gs_gdn_config *c, struct gs_gdn_weights *w) {
    for (size_t i = 0; i < c->layers && w->layers; i++) {
        gs_linear_destroy(&w->layers[i].in);
        gs_linear_destroy(&w->layers[i].out);
        gs_feed_forward_destroy(&w->layers[i].feed);
        gs_free(w->layers[i].taps);
    }
    gs_free(w->layers);
    gs_free(w->tensors.layers);
    gs_output_destroy(&w->output);
}

size_t gs_gdn_weights_floats(const struct gs_gdn_config *c, bool train) {
    const size_t in = gs_linear_direct_floats(c->width, gs_gdn_columns_find(c).count, train);
    const size_t out = gs_linear_direct_floats(c->heads * c->value, c->width, train);
    const size_t feed = gs_feed_forward_floats(c->width, c->ffn, train);
    return c->layers * (in + out + feed + GS_CONV_WIDTH * gs_gdn_channels(c)) +
           gs_output_floats(c->vocab, c->width, train);
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
