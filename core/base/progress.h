/* progress.h - how long work says how far it is, and learns that it should stop.
 *
 * A library function that may take long accepts a `const struct gs_progress *` (NULL: nobody
 * watches). It calls gs_progress_report now and then, and asks gs_progress_stop at points where it
 * can stop with nothing lost; then it returns GS_INTERRUPTED.
 */
#ifndef GS_CORE_BASE_PROGRESS_H
#define GS_CORE_BASE_PROGRESS_H

#include <stdbool.h>

struct gs_progress {
    void *context;
    /* done of total units; `note` is a short text such as "loss 4.12" or NULL. May be NULL. */
    void (*report)(void *context, double done, double total, const char *note);
    /* true when the user wants to stop. May be NULL. */
    bool (*stop)(void *context);
};

static inline void gs_progress_report(const struct gs_progress *progress, double done, double total,
                                      const char *note) {
    if (progress && progress->report) progress->report(progress->context, done, total, note);
}

static inline bool gs_progress_stop(const struct gs_progress *progress) {
    return progress && progress->stop && progress->stop(progress->context);
}

#endif
