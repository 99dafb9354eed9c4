#include "reports/page/folder.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/base/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DEEPEST = 8, YOUNG_SECONDS = 60, ENDING = sizeof ".gpnscope-XXXXXX" };

/* Removes a folder of ours; links are removed, never followed. */
static void remove_tree(const char *path, int depth) {
    char **names;
    size_t count;
    if (depth > DEEPEST || gs_folder_list(path, &names, &count, NULL) != GS_OK) return;
    for (size_t i = 0; i < count; i++) {
        struct stat info;
        char *entry = gs_path_join(path, names[i]);
        if (entry && lstat(entry, &info) == 0) {
            if (S_ISDIR(info.st_mode))
                remove_tree(entry, depth + 1);
            else
                unlink(entry);
        }
        gs_free(entry);
    }
    gs_free_names(names, count);
    rmdir(path);
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Nobody holds its lock and it is not of this minute: its process is gone. */
static void sweep_one(const char *path) {
    struct stat info;
    int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0) return;
    if (fstat(descriptor, &info) == 0 && time(NULL) - info.st_mtime > YOUNG_SECONDS &&
        flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        remove_tree(path, 0);
    close(descriptor);
}

static void sweep(const char *parent, const char *prefix) {
    char **names;
    size_t count;
    if (gs_folder_list(parent, &names, &count, NULL) != GS_OK) return;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(names[i], prefix, strlen(prefix)) != 0) continue;
        char *path = gs_path_join(parent, names[i]);
        if (path) sweep_one(path);
        gs_free(path);
    }
    gs_free_names(names, count);
}

/* `path` without the slashes at its end, which rename does not like; where it is a link, the folder
 * it leads to. */
static char *final_path(const char *path) {
    char *copy = gs_strdup(path);
    size_t length = copy ? strlen(copy) : 0;
    while (length > 1 && copy[length - 1] == '/') copy[--length] = '\0';
    char *target = copy ? gs_path_target(copy) : NULL;
    gs_free(copy);
    return target;
}

static enum gs_status build_beside(struct gs_folder *folder, const char *parent,
                                   struct gs_error *error) {
    const char *name = base_name(folder->path);
    size_t size = strlen(name) + ENDING + 1;
    char *hidden = gs_calloc(size, 1);
    if (!hidden) return gs_fail_memory(error, size, "a path");
    snprintf(hidden, size, ".%s.gpnscope-", name);
    sweep(parent, hidden);
    strcat(hidden, "XXXXXX");
    folder->temporary = gs_path_join(parent, hidden);
    gs_free(hidden);
    if (!folder->temporary) return gs_fail_memory(error, size, "a path");
    if (!mkdtemp(folder->temporary)) {
        enum gs_status status = gs_fail_errno(
            error, errno, "making a folder to build the output in", folder->temporary);
        gs_free(folder->temporary);
        folder->temporary = NULL;
        return status;
    }
    folder->lock = open(folder->temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->lock >= 0) flock(folder->lock, LOCK_EX | LOCK_NB);
    return GS_OK;
}

enum gs_status gs_folder_open(struct gs_folder *folder, const char *path, struct gs_error *error) {
    *folder = (struct gs_folder){.path = final_path(path), .lock = -1};
    char *parent = folder->path ? gs_path_folder(folder->path) : NULL;
    enum gs_status status =
        parent ? gs_folder_create(parent, error) : gs_fail_memory(error, strlen(path), "a path");
    if (status == GS_OK) status = build_beside(folder, parent, error);
    gs_free(parent);
    if (status != GS_OK) gs_folder_abandon(folder);
    return status;
}

/* mkdtemp makes folders private; an output is as public as the user's umask says. */
static void open_up(const char *path) {
    mode_t mask = umask(0);
    umask(mask);
    if (chmod(path, 0777 & ~mask) != 0) return; /* a private report is still a report */
}

/* Where names cannot be exchanged. */
static enum gs_status step_aside(struct gs_folder *folder, struct gs_error *error) {
    size_t size = strlen(folder->temporary) + sizeof "-old";
    char *old = gs_calloc(size, 1);
    if (!old) return gs_fail_memory(error, size, "a path");
    snprintf(old, size, "%s-old", folder->temporary);
    enum gs_status status = GS_OK;
    if (rename(folder->path, old) != 0)
        status = gs_fail_errno(error, errno, "moving the old output aside", folder->path);
    if (status == GS_OK && rename(folder->temporary, folder->path) != 0) {
        status = gs_fail_errno(error, errno, "putting the output in its place", folder->path);
        if (rename(old, folder->path) != 0) gs_error_next(error, "the old output is %s", old);
    }
    if (status == GS_OK) remove_tree(old, 0);
    gs_free(old);
    return status;
}

static enum gs_status replace(struct gs_folder *folder, struct gs_error *error) {
    if (!gs_path_exchange(folder->temporary, folder->path)) return step_aside(folder, error);
    remove_tree(folder->temporary, 0); /* which is the old output now */
    return GS_OK;
}

enum gs_status gs_folder_commit(struct gs_folder *folder, bool force, struct gs_error *error) {
    enum gs_status status = GS_OK;
    if (folder->lock >= 0 && fsync(folder->lock) != 0 && errno != EINVAL)
        return gs_fail_errno(error, errno, "flushing", folder->temporary);
    open_up(folder->temporary);
    if (gs_path_exists(folder->path)) {
        if (!force) {
            status = gs_fail(error, GS_EXISTS, "the output exists already");
            gs_error_where(error, "%s", folder->path);
        } else {
            status = replace(folder, error);
        }
    } else if (rename(folder->temporary, folder->path) != 0) {
        status = gs_fail_errno(error, errno, "putting the output in its place", folder->path);
    }
    if (status == GS_OK) {
        gs_free(folder->temporary);
        folder->temporary = NULL;
    }
    return status;
}

void gs_folder_abandon(struct gs_folder *folder) {
    if (folder->temporary) remove_tree(folder->temporary, 0);
    if (folder->lock >= 0) close(folder->lock);
    gs_free(folder->temporary);
    gs_free(folder->path);
    *folder = (struct gs_folder){.lock = -1};
}
