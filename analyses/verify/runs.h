/* runs.h - traces as runs: which are seeds, which are steps of one, and which do not belong there.
 *
 * Traces of one seed at several steps are one run: the latest is its end, which the claims are held
 * against; the one of step 0 is its untrained model, unless another is given; all are its
 * emergence. A trace that records no seed is a run by itself.
 *
 * Refused, with both paths (GS_CONFIG): the same checkpoint twice (one seed is not two), two traces
 * of one seed at the same step, other text (tokens where both traces hold them, the source's hash
 * otherwise), another tokenizer, another kind or size of model. What a trace does not record is
 * taken on trust. Settings of the training other than the seed are not recorded in traces.
 */
#ifndef GS_ANALYSES_VERIFY_RUNS_H
#define GS_ANALYSES_VERIFY_RUNS_H

#include "probes/trace/reader.h"

struct gs_verify_inputs {
    const char *const *traces; /* (trace_count) paths */
    size_t trace_count;
    const char *const *checkpoints;      /* (trace_count), or NULL: looked for beside the traces */
    const char *const *nulls;            /* paths of untrained traces, one for each run, or NULL */
    const char *const *null_checkpoints; /* (null_count), or NULL: looked for beside them */
    size_t null_count;
    const char *stream; /* NULL: the usual one */
};

struct gs_verify_trace {
    struct gs_trace *trace;
    size_t stream;
    char *checkpoint; /* NULL: none was given, and none was found */
};

struct gs_verify_run {
    char *name;    /* its folder's where it has several traces, else its file's; unique */
    int64_t seed;  /* -1: not recorded */
    size_t *steps; /* (count) traces by ascending step; the last is the end */
    size_t count;
    size_t null; /* the untrained model's trace, or SIZE_MAX */
};

struct gs_verify_runs {
    struct gs_verify_trace *traces; /* (trace_count) as given, then the untrained ones given */
    size_t trace_count;
    struct gs_verify_run *runs; /* (run_count) in the order of their first traces */
    size_t run_count;
};

/* Open, check, group. Errors: those of the traces; GS_CONFIG as above, and for an untrained trace
 * of another seed than its run or of a step after 0; GS_USAGE when there are not as many untrained
 * traces as runs. *runs is the caller's (gs_verify_runs_close, also after failure). */
enum gs_status gs_verify_runs_open(const struct gs_verify_inputs *inputs,
                                   struct gs_verify_runs *runs, struct gs_error *error);
void gs_verify_runs_close(struct gs_verify_runs *runs);

/* The trace that a run ends with. */
static inline size_t gs_verify_end(const struct gs_verify_run *run) {
    return run->steps[run->count - 1];
}

/* The .safetensors file in the folder of `trace` that has the SHA-256 that the trace records
 * (gs_free); NULL when there is none, or none is recorded. Unreadable files are passed over.
 * GS_NO_MEMORY. */
enum gs_status gs_verify_find_checkpoint(const struct gs_trace_info *trace, char **checkpoint,
                                         struct gs_error *error);

/* Does `other` belong with `first`? The refusals above but for the seeds and steps. */
enum gs_status gs_verify_check_pair(struct gs_trace *first, struct gs_trace *other,
                                    struct gs_error *error);

#endif
