/* loop.h - a training run: from a config to checkpoints and a log.
 *
 * Windows are consecutive over the data, as the authors' dataset cuts them: micro-batch m is
 * windows m * batch_size … of seq_len tokens (one more for models that do not predict the first),
 * each from a state of zero. A step averages the gradients of grad_accum micro-batches, clips by
 * the global norm and updates with AdamW at the schedule's rate of that step.
 *
 * Same config, data and seed: same bits of every output, on any number of threads. A run that was
 * stopped and resumed equals one that was not, bit for bit.
 */
#ifndef GS_CORE_TRAINING_LOOP_H
#define GS_CORE_TRAINING_LOOP_H

#include "core/base/progress.h"
#include "core/base/status.h"
#include "core/models/model.h"
#include "core/training/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gs_training; /* a run made ready */

enum { GS_TRAINING_PATIENCE = 5 }; /* steps in a row without a finite gradient that end a run */

struct gs_training_plan {
    const char *kind;        /* borrowed from the model */
    size_t parameters;       /* values */
    size_t memory;           /* bytes: the most that the process will hold, predicted */
    uint64_t tokens;         /* in the data */
    size_t window;           /* tokens of a window */
    uint64_t tokens_a_step;  /* grad_accum * batch_size * window */
    size_t first_step;       /* steps done before this run */
    size_t last_step;        /* step at which it ends */
    size_t wanted_step;      /* step at which it would end if there were data enough */
    const char *from;        /* checkpoint or resume file it starts from; NULL: initialised */
    const char *changed;     /* settings that differ from the earlier run's, as text; or empty */
    bool restarted;          /* to be resumed, but nothing was saved yet: it begins anew */
    const char *log, *final; /* paths it will write */
};

struct gs_training_report {
    size_t step;             /* steps done in all */
    size_t skipped;          /* of these, without an update: gradient not finite */
    double loss;             /* of the last step */
    uint64_t tokens_used;    /* in all steps from 0 on */
    uint64_t tokens_dropped; /* left over where the data ended; 0 when they did not end */
    bool exhausted;          /* the data ended before the steps did */
    double seconds;          /* of this run's steps */
    double tokens_a_second;
};

/* Everything that can be wrong is found here, before the first step: data, outputs of an earlier
 * run (refused; `force` removes them, `resume` goes on from the latest, or from the start where an
 * earlier run was killed before its first checkpoint), model, memory. Nothing is
 * written yet. Free with gs_training_close (NULL is fine). `config` is borrowed.
 * Errors, besides those of files: GS_EXISTS, GS_CONFIG, GS_RANGE (data shorter than one step, ids
 * beyond the vocabulary), GS_NO_MEMORY (the run would not fit: before anything large is allocated,
 * with the setting that would). */
enum gs_status gs_training_open(const struct gs_training_config *config, bool force, bool resume,
                                struct gs_training **training, struct gs_error *error);
void gs_training_close(struct gs_training *training);

const struct gs_training_plan *gs_training_get_plan(const struct gs_training *training);
const struct gs_model *gs_training_get_model(const struct gs_training *training);

/* Run to the end: write <name>_0 when the run starts at step 0, a row every log_every steps, a
 * checkpoint every save_every steps and <name>_final at the end. May be called once. `report` is
 * filled also on failure. A step whose gradient norm is not finite changes no weight and is
 * counted; GS_TRAINING_PATIENCE of them in a row end the run with GS_NUMERIC behind a checkpoint.
 * When progress says stop, the step at hand is finished and saved: GS_INTERRUPTED. */
enum gs_status gs_training_run(struct gs_training *training, const struct gs_progress *progress,
                               struct gs_training_report *report, struct gs_error *error);

#endif
