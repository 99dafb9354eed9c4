/* check_arrays.h - are numpy's arrays whole, and their numbers ones that a trace may hold? */
#ifndef GS_PROBES_INSPECT_CHECK_ARRAYS_H
#define GS_PROBES_INSPECT_CHECK_ARRAYS_H

#include "core/base/progress.h"
#include "core/base/status.h"

#include <stddef.h>

/* Every array of a .npy or .npz: header, length, checksum, and, of floats, NaN and Inf, named with
 * the element's place (NaN is fine in nll: there nothing was predicted). `summary` says what was
 * found good. */
enum gs_status gs_check_arrays(const char *path, const struct gs_progress *progress, char *summary,
                               size_t size, struct gs_error *error);

#endif
