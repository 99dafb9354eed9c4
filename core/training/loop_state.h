/* loop_state.h - what a training run holds. Internal to core/training. */
#ifndef GS_CORE_TRAINING_LOOP_STATE_H
#define GS_CORE_TRAINING_LOOP_STATE_H

#include "core/text/tokens.h"
#include "core/training/adamw.h"
#include "core/training/log.h"
#include "core/training/loop.h"
#include "core/training/micro_batch.h"
#include "core/training/resume.h"
#include "core/training/run_files.h"
#include "core/training/run_table.h"
#include "core/training/schedule.h"

struct gs_training {
    const struct gs_training_config *config; /* borrowed */
    bool force;
    struct gs_run_files files;
    char *resume_path; /* NULL: a new run */
    char *log_path, *speed_path, *final_path;
    struct gs_training_log *log; /* these two are open while it runs */
    struct gs_run_table *speed;
    size_t safe_step; /* up to which everything is on disk */

    struct gs_model *model;
    struct gs_tokens *tokens;
    struct gs_parameters *gradients;
    struct gs_adamw *adamw;
    struct gs_micro_batch *micro_batch;
    struct gs_schedule schedule;
    struct gs_run_identity identity;
    struct gs_run_position position;
    double *step_metrics; /* of the step at hand */

    struct gs_training_plan plan;
};

#endif
