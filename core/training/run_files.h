/* run_files.h - the files of a training run: their names, and what an earlier run left.
 *
 *     <checkpoint>/<name>_<step>.safetensors          the model after so many steps
 *     <checkpoint>/<name>_final.safetensors           where the run ended
 *     <checkpoint>/<name>_<step>.resume.safetensors   all that going on from there needs
 *     <log>/<name>_train_log.csv                      loss, rate and norms
 *     <log>/<name>_train_speed.csv                    tokens a second and time left
 */
#ifndef GS_CORE_TRAINING_RUN_FILES_H
#define GS_CORE_TRAINING_RUN_FILES_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct gs_run_files {
    const char *checkpoint; /* folder, borrowed */
    const char *log;        /* folder, borrowed */
    const char *name;       /* of the run, borrowed */
};

enum gs_run_file { GS_RUN_MODEL, GS_RUN_RESUME };
enum { GS_RUN_FINAL = -1 }; /* as a step: the final one */

/* New strings (gs_free); NULL when memory is short. */
char *gs_run_file_path(const struct gs_run_files *files, enum gs_run_file what, long long step);
char *gs_run_log_path(const struct gs_run_files *files);
char *gs_run_speed_path(const struct gs_run_files *files);

/* Make both folders. */
enum gs_status gs_run_files_prepare(const struct gs_run_files *files, struct gs_error *error);

/* Checkpoints of this run's name, of step `first` and later, that an earlier run left and a new one
 * would mix with; with `first` 0 the tables, too. Check refuses them unless `force` (GS_EXISTS,
 * naming one). Remove removes them, but not the `keep_count` files `keep` (NULL with 0), which are
 * the new run's and named by the functions above: call it when those stand. */
enum gs_status gs_run_files_check(const struct gs_run_files *files, long long first, bool force,
                                  struct gs_error *error);
enum gs_status gs_run_files_remove(const struct gs_run_files *files, long long first,
                                   const char *const *keep, size_t keep_count,
                                   struct gs_error *error);

/* Remove checkpoints in the middle (their models and resume files) but those of the newest `keep`
 * steps. The untrained and the final one stay, and so do the models of the `stay_count` steps
 * `stay` (NULL with 0). Call when the newest is safely on disk. */
void gs_run_files_prune(const struct gs_run_files *files, size_t keep, const size_t *stay,
                        size_t stay_count);

/* Remove the temporary files that a killed run of this name left. Call with the log open: then no
 * other process writes this run. */
void gs_run_files_sweep(const struct gs_run_files *files);

/* Is `path` a checkpoint file of this run, by whatever way it leads there? */
bool gs_run_files_own(const struct gs_run_files *files, const char *path);

/* The resume file of the latest step; GS_MISSING when there is none. *path is new (gs_free). */
enum gs_status gs_run_files_latest(const struct gs_run_files *files, char **path,
                                   struct gs_error *error);

#endif
