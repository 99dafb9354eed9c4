#include "core/models/transformer/transformer.h"

#include "core/base/memory.h"
#include "core/models/transformer/runner.h"

/* Its authors log no metrics of its own. */
static const struct gs_metric *metrics(void *runner, size_t *count) {
    (void)runner;
    static const struct gs_metric NONE = {"", 0};
    *count = 0;
    return &NONE;
}

const struct gs_kind gs_kind_transformer = {
    .name = "transformer",
    .recipe = {.cosine_from_start = true, .clip_epsilon = 1e-6},
    .configure = gs_transformer_configure,
    .infer = gs_transformer_infer,
    .config_destroy = gs_free,
    .config_json = gs_transformer_config_json,
    .describe = gs_transformer_describe,
    .declare = gs_transformer_declare,
    .own_name = gs_transformer_own_name,
    .runner_create = gs_transformer_runner_create,
    .runner_destroy = gs_transformer_runner_destroy,
    .runner_refresh = gs_transformer_runner_refresh,
    .forward = gs_transformer_forward,
    .backward = gs_transformer_backward,
    .decode = gs_transformer_decode,
    .decode_embedding = gs_transformer_decode_embedding,
    .metrics = metrics,
    .runner_bytes = gs_transformer_runner_bytes};
