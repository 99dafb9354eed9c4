/* staged.h - several new files that take their places together: all, or none.
 *
 * Each is written under a hidden name beside its place. When all are whole, they are put in place;
 * what was there before goes only then. Internal to core/training.
 */
#ifndef GS_CORE_TRAINING_STAGED_H
#define GS_CORE_TRAINING_STAGED_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { GS_STAGED_MOST = 3 };

enum gs_staged_state {
    GS_STAGED_WAITING,  /* new under `beside` */
    GS_STAGED_PLACED,   /* new at `path`, where nothing was */
    GS_STAGED_SWAPPED,  /* new at `path`, old under `beside` */
    GS_STAGED_REPLACED, /* new at `path`, old under `old`, if links can be made */
    GS_STAGED_STUCK     /* old under `beside` or `old`, and could not be put back */
};

struct gs_staged_file {
    char *path, *beside, *old; /* owned */
    enum gs_staged_state state;
};

/* Start with {0}; release with gs_staged_close, which removes whatever did not take its place. */
struct gs_staged {
    struct gs_staged_file files[GS_STAGED_MOST];
    size_t count;
};

/* The path under which the new file for `path` is to be written, borrowed. GS_NO_MEMORY. */
enum gs_status gs_staged_add(struct gs_staged *staged, const char *path, const char **beside,
                             struct gs_error *error);
/* Put all in place, in the order they were added. When one cannot be, those before it are taken
 * back; what cannot even be put back is kept, and the error says under which name. */
enum gs_status gs_staged_commit(struct gs_staged *staged, struct gs_error *error);
/* An error about a hidden name becomes one about the file's place. */
void gs_staged_name_place(const struct gs_staged *staged, struct gs_error *error);
void gs_staged_close(struct gs_staged *staged);

#endif
