/* replace.h - what putting a new file or folder in an old one's place takes. */
#ifndef GS_CORE_BASE_REPLACE_H
#define GS_CORE_BASE_REPLACE_H

#include <stdbool.h>

/* Two files or folders of one file system, both existing, change their names in one step: there is
 * no moment in which either name is missing. False, with errno and nothing changed, when it failed
 * or where the system or the file system cannot (EINVAL, ENOSYS, ENOTSUP). */
bool gs_path_exchange(const char *a, const char *b);

/* Where an output to `path` goes: a link that leads somewhere stays, and what it leads to is
 * replaced; any other path is its own. A new string (gs_free), NULL when memory is short. */
char *gs_path_target(const char *path);

/* A new name is on disk only when its folder is. Not every file system can sync a folder, so
 * failing to is no failure. */
void gs_folder_sync(const char *folder);
/* The same of the folder in which the file `path` stands. */
void gs_path_folder_sync(const char *path);

#endif
