/* safetensors.h - the safetensors file: 8 bytes of header length, JSON header, tensor bytes.
 *
 * Format: huggingface/safetensors. Everything is checked before anything is read: header length
 * against file and limit, offsets against file and each other (gaps and overlaps are refused),
 * dtype and shape against byte counts, names for duplicates, NUL and length.
 */
#ifndef GS_CORE_CHECKPOINT_SAFETENSORS_H
#define GS_CORE_CHECKPOINT_SAFETENSORS_H

#include "core/base/status.h"
#include "core/models/parameters.h"

#include <stdbool.h>
#include <stddef.h>

enum { GS_SAFETENSORS_MAX_HEADER = 100 * 1000 * 1000 }; /* bytes, as the reference library */

enum gs_dtype { GS_F32, GS_F16, GS_BF16, GS_F64, GS_OTHER };

struct gs_safetensors; /* an open, mapped file */

/* Do the bytes begin as a safetensors file does, with the length of a header that fits and its
 * brace? Asked before other formats: a header of 1,152 bytes begins as a pickle does, 0x80 0x04. */
bool gs_safetensors_recognise(const unsigned char *bytes, size_t size);

enum gs_status gs_safetensors_open(const char *path, struct gs_safetensors **file,
                                   struct gs_error *error);
/* The same of bytes that are in memory, borrowed until it is closed; `path` names them in errors.
 */
enum gs_status gs_safetensors_open_bytes(const unsigned char *bytes, size_t size, const char *path,
                                         struct gs_safetensors **file, struct gs_error *error);
void gs_safetensors_close(struct gs_safetensors *file); /* NULL is fine */

/* One entry. `bytes` is borrowed from the mapping, little-endian, not aligned: read by copy. */
struct gs_safetensors_entry {
    const char *name;
    enum gs_dtype dtype;
    const char *dtype_name; /* as in the file */
    size_t rank;
    size_t shape[8]; /* a rank over 8 is refused at open */
    size_t count;    /* elements */
    const unsigned char *bytes;
    size_t size; /* bytes */
};
size_t gs_safetensors_count(const struct gs_safetensors *file);
/* In the order of their bytes in the file. Borrowed. */
const struct gs_safetensors_entry *gs_safetensors_at(const struct gs_safetensors *file,
                                                     size_t index);
const struct gs_safetensors_entry *gs_safetensors_find(const struct gs_safetensors *file,
                                                       const char *name);
/* A string of __metadata__, NULL when absent. Borrowed. */
const char *gs_safetensors_metadata(const struct gs_safetensors *file, const char *key);

/* Widen an entry's elements to float32 (F32, F16, BF16, F64; others GS_UNSUPPORTED). */
enum gs_status gs_safetensors_read(const struct gs_safetensors *file,
                                   const struct gs_safetensors_entry *entry, float *values,
                                   struct gs_error *error);

/* Write float32 tensors with metadata pairs (key, value alternating, NULL-terminated list) to
 * `path` by temporary file and rename; tensor bytes start 8-byte aligned. */
enum gs_status gs_safetensors_write(const char *path, bool force,
                                    const struct gs_parameters *parameters,
                                    const char *const *metadata, struct gs_error *error);

#endif
