/* small_run.h - a training run of a moment, for tests: a tiny GPN+M on random tokens. */
#ifndef GS_TESTS_CORE_TRAINING_SMALL_RUN_H
#define GS_TESTS_CORE_TRAINING_SMALL_RUN_H

#include "tests/support/support.h"

#include "core/training/loop.h"

enum { SMALL_TOKENS = 300, SMALL_VOCAB = 13 }; /* of the data; a run of 8 steps reads 192 */

/* The run's config as a file in the scratch folder, its data (tokens.bin) beside it. Borrowed. */
const char *small_config(void);
const uint32_t *small_tokens(void);

/* Read the config with `sets` (NULL ends them) and `folder` of the scratch folder as output. */
struct gs_training_config *small_configure(const char *folder, const char *const *sets);

/* Open and run it; report and progress may be NULL. */
enum gs_status small_train(const char *folder, const char *const *sets, bool force, bool resume,
                           const struct gs_progress *progress, struct gs_training_report *report,
                           struct gs_error *error);
/* The same, which must go well. */
void small_train_ok(const char *folder, const char *const *sets);

/* The model <folder>/run_<label>.safetensors; free with gs_model_destroy. */
struct gs_model *small_model(const char *folder, const char *label);
void small_assert_same_weights(const char *folder, const char *label, const char *other_folder,
                               const char *other_label);
void small_assert_same_file(const char *path, const char *other);
bool small_same_weights(const char *folder, const char *label, const char *other_folder,
                        const char *other_label);

#endif
