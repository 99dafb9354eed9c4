/* weights.h - the parameters of a Gated DeltaNet as the products want them. */
#ifndef GS_CORE_MODELS_GDN_WEIGHTS_H
#define GS_CORE_MODELS_GDN_WEIGHTS_H

#include "core/models/gdn/config.h"
#include "core/models/parts/feed_forward.h"
#include "core/models/parts/linear.h"
#include "core/models/parts/output.h"

/* Columns of what a layer makes of rms(h): the inputs of the convolutions first, as they stand in a
 * state's past. */
struct gs_gdn_columns {
    size_t query, key, value, gate, decay, strength, count;
};
struct gs_gdn_columns gs_gdn_columns_find(const struct gs_gdn_config *config);

struct gs_gdn_layer_weights {
    struct gs_linear in, out;
    struct gs_feed_forward feed;
    float *taps; /* (4, channels): the convolutions' weights, a tap's together */
};

struct gs_gdn_weights {
    bool bf16;
    struct gs_gdn_tensors tensors;
    struct gs_gdn_layer_weights *layers;
    struct gs_output output;
};

/* Their room in a runner's plan; decode_rows: of a block of logits. */
void gs_gdn_weights_plan(const struct gs_gdn_config *config, bool train, size_t decode_rows,
                         struct gs_arena *arena, struct gs_gdn_weights *weights);
/* The parameters they hold, which must outlive them. Release with gs_gdn_weights_unbind, also when
 * this fails; zeroed is fine. */
enum gs_status gs_gdn_weights_bind(const struct gs_gdn_config *config,
                                   const struct gs_parameters *parameters, bool bf16,
                                   struct gs_gdn_weights *weights, struct gs_error *error);
void gs_gdn_weights_unbind(struct gs_gdn_weights *weights);
/* Pack again from the parameters. */
void gs_gdn_weights_refresh(const struct gs_gdn_config *config, struct gs_gdn_weights *weights);

/* The three convolutions of a layer, one after the other over its channels. */
struct gs_gdn_conv {
    const struct gs_tensor *weight; /* (its channels, 1, 4) */
    size_t column;
};
void gs_gdn_convs(const struct gs_gdn_config *config, const struct gs_gdn_layer *layer,
                  struct gs_gdn_conv convs[3]);

#endif
