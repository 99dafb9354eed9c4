/* describe.h - what a file holds, as a table of facts and tables of its parts. */
#ifndef GS_PROBES_INSPECT_DESCRIBE_H
#define GS_PROBES_INSPECT_DESCRIBE_H

#include "core/base/status.h"
#include "core/results/results.h"

/* Results of command "info" for the file that `path` names, whatever its kind (file_kind.h). The
 * table "facts" (name, value) begins with the kind; checkpoints and configs add "tensors" (name,
 * shape, count, and norm, the Euclidean one, where there are values), traces add "streams",
 * "memories" and "reads", results their values' names. *results is the caller's. */
enum gs_status gs_describe_file(const char *path, struct gs_results **results,
                                struct gs_error *error);

#endif
