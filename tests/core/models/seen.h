/* seen.h - a tap that copies everything, for the tests of the models. */
#ifndef GS_TESTS_CORE_MODELS_SEEN_H
#define GS_TESTS_CORE_MODELS_SEEN_H

#include "core/models/model.h"

enum { SEEN_CHANNELS = 16 };

/* Every channel's values, (batch, steps, width). */
struct seen {
    const struct gs_channel *channels; /* the model's */
    size_t count, steps;
    float *values[SEEN_CHANNELS];
    struct gs_tap tap; /* give this to a forward */
};

/* Room for `batch` sequences of `steps`; release with seen_close. The struct may not move. */
void seen_open(struct seen *seen, const struct gs_model *model, size_t batch, size_t steps);
void seen_close(struct seen *seen);

/* Name of a channel's dataset in the known answers: the stream's name, "log_decay", … */
const char *seen_name(const struct gs_channel *channel);

#endif
