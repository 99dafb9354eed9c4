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

#endif
