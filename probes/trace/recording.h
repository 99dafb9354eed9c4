/* recording.h - a stream of tokens through a model, window by window (core/text/windows.h), into a
 * trace.
 *
 * Each window is one sequence of the trace and starts from a reset state. Windows run side by side
 * in batches, which changes no bit of what is recorded.
 */
#ifndef GS_PROBES_TRACE_RECORDING_H
#define GS_PROBES_TRACE_RECORDING_H

#include "core/base/progress.h"
#include "core/base/status.h"
#include "core/models/model.h"
#include "core/text/tokens.h"
#include "core/text/windows.h"
#include "probes/trace/recorder.h"

struct gs_recording {
    size_t length;    /* tokens of a window; 0: as gs_windows_plan chooses */
    size_t skip;      /* windows left out at the head of the stream */
    size_t sequences; /* windows to record; 0: all whole ones */
    size_t batch;     /* windows side by side, at least 1 */
    bool bf16;        /* weights rounded to bfloat16 */
    struct gs_recorder_choice choice;
    int deflate;                   /* 0 … 9 */
    bool resume;                   /* go on with the trace that is there, if there is one */
    bool flush_each_batch;         /* not only when 64 MiB or two seconds have gathered */
    struct gs_trace_labels labels; /* model, config, source and weights are filled in */
};

/* What a run used. */
struct gs_recorded {
    struct gs_windows windows;
    size_t bytes;       /* of the file, as planned, without deflate */
    double nll_sum;     /* nats, over all predicted tokens */
    uint64_t nll_count; /* how many those are; a resumed run's own */
    size_t first;       /* sequences that were there already */
};

/* Run and record. Every token is checked against the model's vocabulary before the file is made.
 * On GS_INTERRUPTED and on a failed write the file stays, incomplete, with the rows that were
 * flushed; on any other failure there is no file. recorded may be NULL. */
enum gs_status gs_record(struct gs_model *model, const struct gs_tokens *tokens,
                         const struct gs_recording *recording, const char *path, bool force,
                         const struct gs_progress *progress, struct gs_recorded *recorded,
                         struct gs_error *error);

#endif
