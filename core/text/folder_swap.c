#include "core/text/folder_swap.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/base/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    NAME_KEPT = 180,    /* of the name, so that the whole stays below 255 bytes */
    YOUNG_SECONDS = 60, /* a folder this young may be between its making and its lock */
    ATTEMPTS = 100
};

struct gs_folder_swap {
    char *path;   /* the target, without slashes at its end */
    char *folder; /* the folder that holds the target */
    char *work;   /* the folder being filled; NULL when there is none to remove */
    int lock;     /* descriptor of `work`, -1 when none */
    bool force;
    bool (*belongs)(const char *name);
};

static void prefix_of(const char *path, char *prefix, size_t size) {
    const char *slash = strrchr(path, '/');
    snprintf(prefix, size, ".%.*s.gpnscope-", NAME_KEPT, slash ? slash + 1 : path);
}

/* A flat folder and its files; what cannot be removed is left alone. */
static void remove_flat(const char *path) {
    char **names;
    size_t count;
    if (gs_folder_list(path, &names, &count, NULL) != GS_OK) return;
    for (size_t i = 0; i < count; i++) {
        char *file = gs_path_join(path, names[i]);
        if (file) unlink(file);
        gs_free(file);
    }
    gs_free_names(names, count);
    rmdir(path);
}

/* ---- leftovers of killed processes ---- */

static void sweep_one(const char *path) {
    struct stat info;
    int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0) return;
    bool stale = fstat(descriptor, &info) == 0 && time(NULL) - info.st_mtime > YOUNG_SECONDS &&
                 flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    if (stale) remove_flat(path);
    close(descriptor);
}

static void sweep(const struct gs_folder_swap *swap) {
    char prefix[NAME_KEPT + 32];
    prefix_of(swap->path, prefix, sizeof prefix);
    char **names;
    size_t count;
    if (gs_folder_list(swap->folder, &names, &count, NULL) != GS_OK) return;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(names[i], prefix, strlen(prefix)) != 0) continue;
        char *path = gs_path_join(swap->folder, names[i]);
        if (path) sweep_one(path);
        gs_free(path);
    }
    gs_free_names(names, count);
}

/* ---- opening ---- */

static enum gs_status refuse(enum gs_status status, const char *path, const char *found,
                             struct gs_error *error) {
    gs_fail(error, status, "the output exists already and is not one to be replaced");
    gs_error_expected(error, "a folder that an earlier run of this command wrote");
    gs_error_found(error, "%s", found);
    gs_error_where(error, "%s", path);
    gs_error_next(error, "choose another path");
    return status;
}

/* An empty folder is as good as none. */
static enum gs_status check_contents(const struct gs_folder_swap *swap, struct gs_error *error) {
    char **names;
    size_t count;
    enum gs_status status = gs_folder_list(swap->path, &names, &count, error);
    if (status != GS_OK) return status;
    if (count > 0 && !swap->force) {
        status = gs_fail(error, GS_EXISTS, "the output exists already");
        gs_error_where(error, "%s", swap->path);
        gs_error_next(error, "choose another path, or overwrite it with --force");
    }
    for (size_t i = 0; i < count && status == GS_OK; i++)
        if (!swap->belongs(names[i])) status = refuse(GS_EXISTS, swap->path, names[i], error);
    gs_free_names(names, count);
    return status;
}

static enum gs_status check_target(const struct gs_folder_swap *swap, struct gs_error *error) {
    struct stat info;
    if (lstat(swap->path, &info) != 0) return GS_OK;
    if (S_ISDIR(info.st_mode)) return check_contents(swap, error);
    return refuse(GS_EXISTS, swap->path, S_ISLNK(info.st_mode) ? "a link" : "a file", error);
}

static enum gs_status make_work(struct gs_folder_swap *swap, struct gs_error *error) {
    char prefix[NAME_KEPT + 32], name[NAME_KEPT + 96];
    prefix_of(swap->path, prefix, sizeof prefix);
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        snprintf(name, sizeof name, "%s%ld-%u", prefix, (long)getpid(), attempt);
        char *work = gs_path_join(swap->folder, name);
        if (!work) return gs_fail_memory(error, sizeof name, "a path");
        if (mkdir(work, 0777) == 0) {
            swap->work = work;
            swap->lock = open(work, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            if (swap->lock >= 0) flock(swap->lock, LOCK_EX | LOCK_NB);
            return GS_OK;
        }
        int reason = errno;
        gs_free(work);
        if (reason != EEXIST)
            return gs_fail_errno(error, reason, "cannot make the folder", swap->path);
    }
    return gs_fail_errno(error, EEXIST, "cannot make a folder beside", swap->path);
}

static enum gs_status name_target(struct gs_folder_swap *swap, const char *path,
                                  struct gs_error *error) {
    swap->path = gs_strdup(path);
    if (!swap->path) return gs_fail_memory(error, strlen(path), "a path");
    size_t length = strlen(swap->path);
    while (length > 1 && swap->path[length - 1] == '/') swap->path[--length] = '\0';
    if (length == 0) return gs_fail_errno(error, ENOENT, "cannot make a folder without a name", "");
    swap->folder = gs_path_folder(swap->path);
    if (!swap->folder) return gs_fail_memory(error, length, "a path");
    return GS_OK;
}

enum gs_status gs_folder_swap_open(const char *path, bool force, bool (*belongs)(const char *name),
                                   struct gs_folder_swap **swap, struct gs_error *error) {
    *swap = NULL;
    struct gs_folder_swap *made = gs_calloc(1, sizeof *made);
    if (!made) return gs_fail_memory(error, sizeof *made, "an output folder");
    made->force = force;
    made->belongs = belongs;
    made->lock = -1;
    enum gs_status status = name_target(made, path, error);
    if (status == GS_OK) status = check_target(made, error);
    if (status == GS_OK) status = gs_folder_create(made->folder, error);
    if (status == GS_OK) {
        sweep(made);
        status = make_work(made, error);
    }
    if (status == GS_OK)
        *swap = made;
    else
        gs_folder_swap_close(made);
    return status;
}

const char *gs_folder_swap_path(const struct gs_folder_swap *swap) {
    return swap->work;
}

void gs_folder_swap_close(struct gs_folder_swap *swap) {
    if (!swap) return;
    if (swap->work) remove_flat(swap->work);
    if (swap->lock >= 0) close(swap->lock);
    gs_free(swap->work);
    gs_free(swap->folder);
    gs_free(swap->path);
    gs_free(swap);
}

/* ---- taking the place ---- */

/* Where names cannot be exchanged, the old folder steps aside first; should the process be killed
 * between the two renames, it lies whole under its temporary name. */
static enum gs_status step_aside(struct gs_folder_swap *swap, struct gs_error *error) {
    char name[64];
    snprintf(name, sizeof name, "-old-%ld", (long)getpid());
    size_t size = strlen(swap->path) + sizeof name;
    char *old = gs_calloc(size, 1);
    if (!old) return gs_fail_memory(error, size, "a path");
    snprintf(old, size, "%s%s", swap->path, name);
    enum gs_status status = GS_OK;
    if (rename(swap->path, old) != 0 || rename(swap->work, swap->path) != 0) {
        status = gs_fail_errno(error, errno, "cannot replace the folder", swap->path);
        if (gs_path_exists(old) && rename(old, swap->path) != 0)
            gs_error_next(error, "what was there is %s", old);
    } else {
        remove_flat(old);
    }
    gs_free(old);
    return status;
}

/* After an exchange, `work` names the old folder, which closing removes. */
static enum gs_status replace(struct gs_folder_swap *swap, struct gs_error *error) {
    enum gs_status status = check_target(swap, error);
    if (status != GS_OK || gs_path_exchange(swap->work, swap->path)) return status;
    status = step_aside(swap, error);
    if (status != GS_OK) return status;
    gs_free(swap->work);
    swap->work = NULL;
    return GS_OK;
}

/* The rename succeeds where nothing stands, or an empty folder. */
static enum gs_status put_in_place(struct gs_folder_swap *swap, struct gs_error *error) {
    if (rename(swap->work, swap->path) != 0) {
        int reason = errno;
        if (reason == ENOTEMPTY || reason == EEXIST) return replace(swap, error);
        return gs_fail_errno(error, reason, "cannot put the folder in its place", swap->path);
    }
    gs_free(swap->work);
    swap->work = NULL;
    return GS_OK;
}

enum gs_status gs_folder_swap_commit(struct gs_folder_swap *swap, struct gs_error *error) {
    gs_folder_sync(swap->work);
    enum gs_status status = put_in_place(swap, error);
    if (status == GS_OK) gs_folder_sync(swap->folder);
    return status;
}
