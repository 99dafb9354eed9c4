/* config.h - the config of a training run: the authors' JSON with a few keys of our own.
 *
 * Source: the authors' BaseTrainConfig (../shared/spec/model.md, "Config keys"). Ours are kind,
 * init, training.truncate_bptt, optimizer.schedule, optimizer.clip_epsilon, logging.keep and
 * logging.save_at.
 * Unknown keys are refused with the nearest known one; every value is checked for type and range.
 * Paths in the file are relative to its own folder.
 */
#ifndef GS_CORE_TRAINING_CONFIG_H
#define GS_CORE_TRAINING_CONFIG_H

#include "core/base/json.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gs_training_config {
    char *source;           /* the config's own path */
    char *name;             /* of the run; stands in every output's name */
    struct gs_json *object; /* the whole JSON after all overrides; has "model", maybe "kind" */

    /* paths, ready to open; NULL when not given */
    char *data, *checkpoint, *log;
    char *init;   /* a checkpoint to start from */
    char *resume; /* training.resume: a checkpoint of an earlier run to go on from */

    size_t batch_size;      /* windows side by side */
    size_t seq_len;         /* predicted tokens of a window */
    size_t grad_accum;      /* micro-batches averaged into one step */
    size_t total_steps;     /* length of the schedule */
    size_t run_steps;       /* steps of this run; total_steps unless given */
    size_t recompute_every; /* training.checkpoint_every; 0: keep all activations */
    size_t truncate_bptt;   /* 0: the gradient runs through the whole window */
    uint64_t seed;
    bool bf16;

    double learning_rate, adam_beta1, adam_beta2, weight_decay;
    double min_lr_ratio, grad_clip_norm;
    size_t warmup_steps;
    char *schedule;      /* a name of core/training/schedule.h; NULL: the kind's own */
    double clip_epsilon; /* NaN: the kind's own */

    size_t log_every, save_every; /* steps */
    size_t keep;                  /* logging.keep: the newest so many checkpoints stay; 0: all */
    size_t *save_at;              /* logging.save_at: models of these steps are saved and stay */
    size_t save_at_count;

    bool ignore_memory; /* not from the file: do not ask whether the run fits */
};

/* What a command line may add to the file. */
struct gs_training_overrides {
    const char *const *sets; /* "a.b=value": value as JSON, or as plain text when it is none */
    size_t set_count;
    const char *output;   /* stands for dirs.checkpoint and dirs.log; NULL: as in the file */
    const uint64_t *seed; /* stands for training.seed; NULL: as in the file */
    size_t steps;         /* stands for training.run_steps; 0: as in the file */
    bool ignore_memory;   /* goes into the config as it is */
};

/* Read and check. `overrides` may be NULL. training.ce_chunk_size and training.compile of the
 * authors' other trainers are accepted and checked for type; they do not change what is computed
 * here. The model object is checked by gs_model_create, not here. *config is owned by the caller.
 * Errors: GS_CONFIG with file, key, expected and found; those of reading JSON. */
enum gs_status gs_training_config_read(const char *path,
                                       const struct gs_training_overrides *overrides,
                                       struct gs_training_config **config, struct gs_error *error);
void gs_training_config_destroy(struct gs_training_config *config); /* NULL is fine */

#endif
