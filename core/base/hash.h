/* hash.h - SHA-256, which names checkpoints, tokenizers and data (OpenSSL's libcrypto). */
#ifndef GS_CORE_BASE_HASH_H
#define GS_CORE_BASE_HASH_H

#include "core/base/status.h"

enum { GS_SHA256_TEXT = 65 }; /* 64 lower-case hex digits and NUL */

struct gs_sha256; /* a running hash */

/* NULL when memory is short. destroy(NULL) is fine. */
struct gs_sha256 *gs_sha256_create(void);
void gs_sha256_update(struct gs_sha256 *hash, const void *bytes, size_t size);
/* Writes the digest of all bytes so far; the hash is finished and may only be destroyed. */
void gs_sha256_finish(struct gs_sha256 *hash, char text[GS_SHA256_TEXT]);
void gs_sha256_destroy(struct gs_sha256 *hash);

/* The digest of a file's bytes. For a folder: of its files in byte order of their names, of each
 * the name, NUL, its digest in hex and a newline; hidden files and folders inside do not count. */
enum gs_status gs_sha256_path(const char *path, char text[GS_SHA256_TEXT], struct gs_error *error);

/* The same on a thread of its own, while the caller does something else. *job is the caller's: it
 * ends in gs_sha256_join or gs_sha256_cancel. A path that cannot be read is an error of join.
 * GS_NO_MEMORY. */
struct gs_sha256_job;
enum gs_status gs_sha256_start(const char *path, struct gs_sha256_job **job,
                               struct gs_error *error);
/* Waits for the digest. The job is gone whatever is returned. */
enum gs_status gs_sha256_join(struct gs_sha256_job *job, char text[GS_SHA256_TEXT],
                              struct gs_error *error);
/* Nobody wants it any more: stops within a block. NULL is fine. */
void gs_sha256_cancel(struct gs_sha256_job *job);

#endif
