/* folder_swap.h - an output that is a folder: filled beside its place, then renamed into it.
 *
 * The folder being filled is ".<name>.gpnscope-<process>-<number>" beside the target, locked by
 * its writer. One that nobody holds was left by a killed process and is swept by the next writer
 * for the same target. Only flat folders: files, no folders inside.
 */
#ifndef GS_CORE_TEXT_FOLDER_SWAP_H
#define GS_CORE_TEXT_FOLDER_SWAP_H

#include "core/base/status.h"

#include <stdbool.h>

struct gs_folder_swap;

/* Start. Missing parents of `path` are made. An existing target that is not an empty folder is
 * refused (GS_EXISTS) unless `force`; with `force`, it must be a folder in which every name
 * `belongs`, so that no folder of something else is ever replaced. */
enum gs_status gs_folder_swap_open(const char *path, bool force, bool (*belongs)(const char *name),
                                   struct gs_folder_swap **swap, struct gs_error *error);
/* The folder to fill, borrowed. */
const char *gs_folder_swap_path(const struct gs_folder_swap *swap);
/* Put it in its place; files in it must be closed and on disk. Once, at the end. */
enum gs_status gs_folder_swap_commit(struct gs_folder_swap *swap, struct gs_error *error);
/* Frees; removes what was not committed. NULL is fine. */
void gs_folder_swap_close(struct gs_folder_swap *swap);

#endif
