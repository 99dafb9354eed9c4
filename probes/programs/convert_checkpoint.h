/* convert_checkpoint.h - checkpoints of others as ours: the part of gpnscope convert that knows
 * them. */
#ifndef GS_PROBES_PROGRAMS_CONVERT_CHECKPOINT_H
#define GS_PROBES_PROGRAMS_CONVERT_CHECKPOINT_H

#include "core/programs/command.h"

#include <stdbool.h>

struct gs_convert_checkpoint_options {
    const char *config;    /* a file with the model's config; NULL: from the checkpoint */
    const char *map;       /* a file with a name map; NULL: names as they are */
    const char *run;       /* a training config: a run to go on with comes of it; NULL: the model */
    bool void_is_bfloat16; /* see core/checkpoint/checkpoint.h */
};

/* call->files[0] into call->output. */
enum gs_status gs_convert_checkpoint(const struct gs_call *call,
                                     const struct gs_convert_checkpoint_options *options,
                                     struct gs_error *error);

#endif
