/* file.h - files in whole, mapped, or written so that a kill leaves the old or the new one. */
#ifndef GS_CORE_BASE_FILE_H
#define GS_CORE_BASE_FILE_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A read-only view of a whole file. An empty file has size 0 and bytes non-NULL. */
struct gs_mapped_file {
    const unsigned char *bytes;
    size_t size;
};

/* Map `path` (a regular file; a folder or device is refused by name). Release with
 * gs_file_unmap, which clears the struct and accepts an already cleared one. */
enum gs_status gs_file_map(const char *path, struct gs_mapped_file *file, struct gs_error *error);
void gs_file_unmap(struct gs_mapped_file *file);
/* The bytes that end at offset `end` have been read: their pages need not stay in this process's
 * memory. They can still be read; a page that goes on behind `end` stays. Without this a process
 * that reads a file once looks as large as the file. */
void gs_file_release(const struct gs_mapped_file *file, size_t begin, size_t end);

bool gs_path_exists(const char *path);
bool gs_path_is_folder(const char *path);
/* Both exist and are the same file or folder, whatever their names. */
bool gs_path_same(const char *path, const char *other);

/* "folder/name" as a new string (gs_free), "./" in front of `name` left out. In the folder "." and
 * where it is absolute `name` stands alone. NULL: no memory. */
char *gs_path_join(const char *folder, const char *name);
/* The folder part of `path` ("." when there is none), a new string (gs_free). */
char *gs_path_folder(const char *path);

/* Make `path` and missing parents; an existing folder is fine. */
enum gs_status gs_folder_create(const char *path, struct gs_error *error);

/* Names (not paths) in a folder in byte order, without "." and "..". Free each name and the array
 * with gs_free_names. */
enum gs_status gs_folder_list(const char *path, char ***names, size_t *count,
                              struct gs_error *error);
void gs_free_names(char **names, size_t count);

/* Bytes that an unprivileged process may still write on the file system that holds `path` (or its
 * nearest existing parent). */
enum gs_status gs_free_space(const char *path, uint64_t *bytes, struct gs_error *error);

/* An output file being written beside its final place. Usage:
 *     gs_output_open(&out, path, force, error); fwrite(..., out.stream); gs_output_commit(&out,
 * error) and gs_output_abandon(&out) on every failing way out (fine after commit, too). Commit
 * flushes, fsyncs and renames; until then `path` is untouched, so that it may be the file being
 * read. An existing path is refused unless force; what is no regular file is refused always; a
 * link is followed. Temporaries that a killed process left beside `path` are swept. */
struct gs_output {
    FILE *stream;
    char *path;
    char *temporary;
    bool force;
};
enum gs_status gs_output_open(struct gs_output *out, const char *path, bool force,
                              struct gs_error *error);
enum gs_status gs_output_commit(struct gs_output *out, struct gs_error *error);
void gs_output_abandon(struct gs_output *out);

/* GS_EXISTS when an output to `path` would be refused by gs_output_open; for use before long work.
 */
enum gs_status gs_output_check(const char *path, bool force, struct gs_error *error);

/* Is this the name (no path) of a temporary: of an output being written, or that a killed process
 * left? */
bool gs_output_is_temporary(const char *name);

/* The whole of `bytes` to `path` through a gs_output. */
enum gs_status gs_file_write(const char *path, bool force, const void *bytes, size_t size,
                             struct gs_error *error);

#endif
