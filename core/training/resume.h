/* resume.h - the file from which a run goes on as if it had never stopped: parameters, Adam's
 * moments, and where the run was. One safetensors file (tensors p.<name>, m.<name>, v.<name>), so
 * that it is written whole or not at all.
 */
#ifndef GS_CORE_TRAINING_RESUME_H
#define GS_CORE_TRAINING_RESUME_H

#include "core/base/hash.h"
#include "core/base/status.h"
#include "core/models/model.h"
#include "core/training/adamw.h"

#include <stddef.h>
#include <stdint.h>

/* What shapes a run's steps beside its model and data. */
enum { GS_RUN_SETTINGS = 14, GS_RUN_CHANGES = 512 };
struct gs_run_setting {
    const char *key; /* as in the config: "optimizer.learning_rate"; NULL: no setting */
    double value;
    const char *text; /* stands for the value where it is a word; static; or NULL */
};

/* Where a run is. */
struct gs_run_position {
    size_t step;             /* steps done */
    uint64_t micro_batch;    /* the next one of the data (the authors' data_position) */
    size_t skipped;          /* steps without an update so far */
    size_t skipped_in_a_row; /* just now */
    size_t logged_step;      /* step of the last row of the log */
    double loss, grad_norm;  /* sums since that row */
    double *metrics; /* the same for each of the model's; owned by whoever made the struct */
    size_t metric_count;
    char changed[GS_RUN_CHANGES]; /* from loading: settings that differ from the file's, as text */
};

struct gs_run_identity {
    /* what must be the same for the data position to mean the same */
    const char *tokens_sha256, *data; /* of the data's tokens; the path they came from */
    uint64_t tokens;                  /* in the data */
    size_t batch_size, window;
    /* what may be another, since it only makes the steps to come other ones; but it is said */
    struct gs_run_setting settings[GS_RUN_SETTINGS];
};

enum gs_status gs_resume_save(const char *path, const struct gs_model *model,
                              const struct gs_adamw *adamw, const struct gs_run_position *position,
                              const struct gs_run_identity *identity, struct gs_error *error);

/* Fill model, moments and position (its metrics: metric_count of them must be in the file). The
 * model's config, and the identity, must be those of the file: GS_CONFIG with both. Nothing is
 * promised about what was filled when this fails. */
enum gs_status gs_resume_load(const char *path, struct gs_model *model, struct gs_adamw *adamw,
                              struct gs_run_position *position,
                              const struct gs_run_identity *identity, struct gs_error *error);

/* The step of a resume file, without reading its tensors. */
enum gs_status gs_resume_step(const char *path, long long *step, struct gs_error *error);

#endif
