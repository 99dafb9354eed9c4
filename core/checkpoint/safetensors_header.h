/* safetensors_header.h - the header of a safetensors file, read and checked. Internal. */
#ifndef GS_CORE_CHECKPOINT_SAFETENSORS_HEADER_H
#define GS_CORE_CHECKPOINT_SAFETENSORS_HEADER_H

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/checkpoint/safetensors.h"

/* Find and parse the JSON of the header. `bytes`, `size`: the whole file. On success *header is
 * owned by the caller and *data_start is where the tensor bytes begin. */
enum gs_status gs_safetensors_parse_header(const unsigned char *bytes, size_t size,
                                           const char *path, struct gs_json **header,
                                           size_t *data_start, struct gs_error *error);

/* One entry out of its JSON: dtype, shape, data_offsets; everything against everything but the
 * other entries. Borrows names from the JSON and bytes from `data` (data_size bytes). */
enum gs_status gs_safetensors_read_entry(const char *name, const struct gs_json *json,
                                         const unsigned char *data, size_t data_size,
                                         const char *path, struct gs_safetensors_entry *entry,
                                         struct gs_error *error);

#endif
