/* claims_file.h - what a file of claims names. Whether each can be judged, gpnscope verify says. */
#ifndef GS_PROBES_INSPECT_CLAIMS_FILE_H
#define GS_PROBES_INSPECT_CLAIMS_FILE_H

#include "core/base/json.h"
#include "core/base/status.h"

#define GS_CLAIMS_SCHEMA "gpnscope-claims"

/* The JSON of the file (gs_json_destroy), whose "claims" is an array of objects with names that do
 * not repeat. GS_FORMAT, GS_UNSUPPORTED for another version, naming the claim. */
enum gs_status gs_claims_file_read(const char *path, struct gs_json **json, struct gs_error *error);

#endif
