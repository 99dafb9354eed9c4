/* folder.h - an output folder that appears whole or not at all. */
#ifndef GS_REPORTS_PAGE_FOLDER_H
#define GS_REPORTS_PAGE_FOLDER_H

#include "core/base/status.h"

#include <stdbool.h>

struct gs_folder {
    char *path;      /* where it will be */
    char *temporary; /* where it is built; NULL when not open */
    int lock;        /* descriptor that holds it, -1 when not open */
};

/* Start a folder that becomes `path`. Leftovers of killed processes beside it are swept. Parent
 * folders are made. */
enum gs_status gs_folder_open(struct gs_folder *folder, const char *path, struct gs_error *error);
/* Put it in its place. With `force` what stands there is replaced: the old folder is moved aside
 * first and removed last. */
enum gs_status gs_folder_commit(struct gs_folder *folder, bool force, struct gs_error *error);
/* Remove what was built; fine after commit, and on a cleared struct with lock -1. */
void gs_folder_abandon(struct gs_folder *folder);

#endif
