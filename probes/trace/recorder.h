/* recorder.h - a tap on a running model that copies what it is shown into a trace.
 *
 * It knows channels (core/models/tap.h), not kinds of model: state channels become streams, gates
 * memories, shares reads.
 */
#ifndef GS_PROBES_TRACE_RECORDER_H
#define GS_PROBES_TRACE_RECORDER_H

#include "core/base/status.h"
#include "core/models/tap.h"
#include "probes/trace/writer.h"

#include <stddef.h>

struct gs_recorder;

struct gs_recorder_choice {
    const char *streams; /* comma-separated state channels; NULL or "": all of them */
    const char *dtype;   /* "float32", "float16" or "bfloat16" for the states; NULL: float32 */
};

/* For a model with these channels (borrowed). GS_USAGE naming the streams that exist when one is
 * unknown, twice, or none is left. */
enum gs_status gs_recorder_create(const struct gs_channel *channels, size_t count,
                                  const struct gs_recorder_choice *choice,
                                  struct gs_recorder **recorder, struct gs_error *error);
void gs_recorder_destroy(struct gs_recorder *recorder); /* NULL is fine */

/* Set the plan's streams, memories and reads (borrowed from the recorder). */
void gs_recorder_plan(const struct gs_recorder *recorder, struct gs_trace_plan *plan);

/* Rows go to `writer` (borrowed), made from that plan. */
void gs_recorder_attach(struct gs_recorder *recorder, struct gs_trace_writer *writer);
/* The window that runs next: row b of its batch is sequence `first` + b of the trace, of which
 * lengths[b] steps are recorded (NULL: all steps of all). Borrowed until the window is through. */
void gs_recorder_window(struct gs_recorder *recorder, size_t first, const size_t *lengths);
/* For gs_runner_forward. Borrowed. */
const struct gs_tap *gs_recorder_tap(const struct gs_recorder *recorder);

#endif
