/* each.h - one analysis of each stream, or each memory, of a trace, as results side by side
 * (core/results/side_by_side.h has the names).
 */
#ifndef GS_ANALYSES_STATS_EACH_H
#define GS_ANALYSES_STATS_EACH_H

#include "core/base/progress.h"
#include "core/results/side_by_side.h"
#include "probes/trace/reader.h"

#include <stdbool.h>

/* Is it of a model with layers: more than one stream, one of them called layer and a number? */
bool gs_has_layers(const struct gs_trace *trace);

/* What is measured. */
struct gs_each {
    const char *kind;  /* of the parts: "stream", "memory" */
    size_t count;      /* of the parts */
    const char **name; /* (count) of each, borrowed from the trace */
    size_t *index;     /* (count) of each in the trace */
};
/* All streams; all memories with log-decays. Release with gs_each_free, also after failure. */
enum gs_status gs_each_stream(const struct gs_trace *trace, struct gs_each *each,
                              struct gs_error *error);
enum gs_status gs_each_memory(const struct gs_trace *trace, struct gs_each *each,
                              struct gs_error *error);
void gs_each_free(struct gs_each *each);

/* How a part is measured: into results of its own, `progress` going on with that of the whole. */
struct gs_each_measure {
    enum gs_status (*measure)(const void *context, size_t index, const struct gs_progress *progress,
                              struct gs_results *results, struct gs_error *error);
    const void *context;
    const struct gs_progress *progress; /* NULL: nobody watches */
};

/* Results of each part: an array (count) of the caller's (gs_each_release). The first failure ends
 * it. GS_INTERRUPTED. */
enum gs_status gs_each_run(const struct gs_each *each, const struct gs_each_measure *how,
                           struct gs_results_part **parts, struct gs_error *error);
void gs_each_release(struct gs_results_part *parts, size_t count); /* NULL is fine */

/* The table of a comparison: its name, and the values that are its columns. */
struct gs_each_table {
    const char *name;
    const char *const *values;
    size_t count;
};

/* The parts into `results`: each behind its name, that of `main` (index in the trace; SIZE_MAX:
 * none) under plain names too, and the table. */
enum gs_status gs_each_results(const struct gs_each *each, const struct gs_results_part *parts,
                               size_t main, const struct gs_each_table *table,
                               struct gs_results *results, struct gs_error *error);

/* All of it for all streams of a trace; main by name, NULL: none. */
enum gs_status gs_each_stream_measured(struct gs_trace *trace, const char *main,
                                       const struct gs_each_measure *how,
                                       const struct gs_each_table *table,
                                       struct gs_results *results, struct gs_error *error);

#endif
