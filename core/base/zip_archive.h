/* zip_archive.h - the entries of a zip archive (.npz, .pt), read. The one place that knows libzip.
 *
 * An archive is data of others. What is refused by name, before memory is asked for: more entries
 * than the file has room for, names that stand twice, entries that share bytes (together larger
 * than the file), encrypted ones, other methods than stored and deflate, and sizes that deflate
 * cannot reach (it shrinks 1032 times at most). So an entry takes no more memory than 1032 times
 * its bytes in the file. The checksum of every entry that is read is checked.
 */
#ifndef GS_CORE_BASE_ZIP_ARCHIVE_H
#define GS_CORE_BASE_ZIP_ARCHIVE_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct gs_zip;

/* Do the bytes begin as an archive does, an empty one included? */
bool gs_zip_recognise(const unsigned char *bytes, size_t size);

/* Open the archive that these bytes are; they are borrowed until gs_zip_close. `path` names it in
 * errors. */
enum gs_status gs_zip_open(const unsigned char *bytes, size_t size, const char *path,
                           struct gs_zip **zip, struct gs_error *error);
void gs_zip_close(struct gs_zip *zip); /* NULL is fine */

/* Entries in the order of the archive's directory. A name that ends in '/' is a folder's. */
size_t gs_zip_count(const struct gs_zip *zip);
const char *gs_zip_name(const struct gs_zip *zip, size_t index); /* borrowed, not empty */
size_t gs_zip_size(const struct gs_zip *zip, size_t index);      /* bytes when unpacked */
/* SIZE_MAX when there is none of that name. */
size_t gs_zip_find(const struct gs_zip *zip, const char *name);

/* All of an entry into `bytes`, which has room for gs_zip_size of it. */
enum gs_status gs_zip_read(struct gs_zip *zip, size_t index, void *bytes, struct gs_error *error);
/* The first bytes of an entry, at most `size`: *got of them. The checksum is not looked at. */
enum gs_status gs_zip_peek(struct gs_zip *zip, size_t index, void *bytes, size_t size, size_t *got,
                           struct gs_error *error);
/* All of it into a new buffer (gs_free). */
enum gs_status gs_zip_load(struct gs_zip *zip, size_t index, unsigned char **bytes,
                           struct gs_error *error);

#endif
