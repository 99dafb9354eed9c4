#include "core/training/recipe.h"

#include <math.h>

static enum gs_cosine cosine_of(const struct gs_training_config *config,
                                const struct gs_model *model) {
    enum gs_cosine cosine =
        gs_model_recipe(model).cosine_from_start ? GS_COSINE_FROM_START : GS_COSINE_AFTER_WARMUP;
    if (config->schedule) gs_cosine_named(config->schedule, &cosine);
    return cosine;
}

struct gs_schedule gs_training_schedule(const struct gs_training_config *config,
                                        const struct gs_model *model) {
    return (struct gs_schedule){.cosine = cosine_of(config, model),
                                .peak = config->learning_rate,
                                .min_ratio = config->min_lr_ratio,
                                .warmup_steps = config->warmup_steps,
                                .total_steps = config->total_steps};
}

struct gs_adamw_options gs_training_adamw_options(const struct gs_training_config *config,
                                                  const struct gs_model *model) {
    bool open = isnan(config->clip_epsilon);
    return (struct gs_adamw_options){.beta1 = config->adam_beta1,
                                     .beta2 = config->adam_beta2,
                                     .epsilon = 1e-8,
                                     .weight_decay = config->weight_decay,
                                     .clip_norm = config->grad_clip_norm,
                                     .clip_epsilon = open ? gs_model_recipe(model).clip_epsilon
                                                          : config->clip_epsilon};
}

struct gs_run_identity gs_training_identity(const struct gs_training_config *config,
                                            const struct gs_model *model,
                                            const struct gs_tokens *tokens) {
    const struct gs_schedule schedule = gs_training_schedule(config, model);
    const struct gs_adamw_options adamw = gs_training_adamw_options(config, model);
    return (struct gs_run_identity){
        .tokens_sha256 = gs_tokens_sha256(tokens),
        .data = config->data,
        .tokens = gs_tokens_count(tokens),
        .batch_size = config->batch_size,
        .window = config->seq_len + gs_model_first(model),
        .settings = {{"training.grad_accum", (double)config->grad_accum, NULL},
                     {"training.total_steps", (double)schedule.total_steps, NULL},
                     {"training.truncate_bptt", (double)config->truncate_bptt, NULL},
                     {"training.bf16", (double)config->bf16, NULL},
                     {"training.seed", (double)config->seed, NULL},
                     {"optimizer.learning_rate", schedule.peak, NULL},
                     {"optimizer.adam_beta1", adamw.beta1, NULL},
                     {"optimizer.adam_beta2", adamw.beta2, NULL},
                     {"optimizer.weight_decay", adamw.weight_decay, NULL},
                     {"optimizer.min_lr_ratio", schedule.min_ratio, NULL},
                     {"optimizer.warmup_steps", (double)schedule.warmup_steps, NULL},
                     {"optimizer.grad_clip_norm", adamw.clip_norm, NULL},
                     {"optimizer.clip_epsilon", adamw.clip_epsilon, NULL},
                     {"optimizer.schedule", 0, gs_cosine_name(schedule.cosine)}}};
}
