/* recipe.h - how a run's steps are to be taken: what the config says, and the kind's own where it
 * says nothing (gs_model_recipe). */
#ifndef GS_CORE_TRAINING_RECIPE_H
#define GS_CORE_TRAINING_RECIPE_H

#include "core/models/model.h"
#include "core/text/tokens.h"
#include "core/training/adamw.h"
#include "core/training/config.h"
#include "core/training/resume.h"
#include "core/training/schedule.h"

/* `model` may be an outline in all of these. */
struct gs_schedule gs_training_schedule(const struct gs_training_config *config,
                                        const struct gs_model *model);
struct gs_adamw_options gs_training_adamw_options(const struct gs_training_config *config,
                                                  const struct gs_model *model);
/* Everything that shapes the steps, for a resume file. Borrows from config and tokens. */
struct gs_run_identity gs_training_identity(const struct gs_training_config *config,
                                            const struct gs_model *model,
                                            const struct gs_tokens *tokens);

#endif
