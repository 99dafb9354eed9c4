/* check.h - is a file whole and right, to its last value? */
#ifndef GS_PROBES_INSPECT_CHECK_H
#define GS_PROBES_INSPECT_CHECK_H

#include "core/base/progress.h"
#include "core/base/status.h"

#include <stddef.h>

/* Read everything in the file that `path` names, whatever its kind (file_kind.h). On success
 * `summary` says in a few words what was found good. The first fault is the error, with the status
 * that its reader gave. A trace that is not complete is a fault. */
enum gs_status gs_check_file(const char *path, const struct gs_progress *progress, char *summary,
                             size_t size, struct gs_error *error);

#endif
