#include "core/training/staged.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/base/replace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* "folder/.name.gpnscope-<process>-<ending>" of "folder/name": a temporary as those of
 * core/base/output.c, which is swept with them when the process is killed. */
static char *hidden_name(const char *path, const char *ending) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t size = strlen(path) + strlen(ending) + 64;
    char *hidden = gs_calloc(size, 1);
    if (hidden)
        snprintf(hidden, size, "%.*s.%s.gpnscope-%ld-%s", (int)(name - path), path, name,
                 (long)getpid(), ending);
    return hidden;
}

enum gs_status gs_staged_add(struct gs_staged *staged, const char *path, const char **beside,
                             struct gs_error *error) {
    enum gs_status status = gs_output_check(path, true, error);
    if (status != GS_OK) return status;
    if (staged->count == GS_STAGED_MOST)
        return gs_fail(error, GS_RANGE, "more than %d files to be put in place", GS_STAGED_MOST);
    struct gs_staged_file *file = &staged->files[staged->count++];
    file->path = gs_path_target(path);
    file->beside = file->path ? hidden_name(file->path, "new") : NULL;
    file->old = file->path ? hidden_name(file->path, "old") : NULL;
    *beside = file->beside;
    return file->beside && file->old ? GS_OK : gs_fail_memory(error, strlen(path), "a path");
}

/* errno, or 0. Where names cannot be exchanged, the old file gets a second name first. */
static int put_in_place(struct gs_staged_file *file) {
    if (gs_path_exchange(file->beside, file->path)) {
        file->state = GS_STAGED_SWAPPED;
        return 0;
    }
    if (errno == ENOENT) {
        if (rename(file->beside, file->path) != 0) return errno;
        file->state = GS_STAGED_PLACED;
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP) return errno;
    bool linked = link(file->path, file->old) == 0;
    if (rename(file->beside, file->path) != 0) {
        int reason = errno;
        if (linked) unlink(file->old);
        return reason;
    }
    file->state = GS_STAGED_REPLACED;
    return 0;
}

static void put_back(struct gs_staged_file *file, struct gs_error *error) {
    bool back = true;
    if (file->state == GS_STAGED_PLACED)
        back = unlink(file->path) == 0;
    else if (file->state == GS_STAGED_SWAPPED)
        back = gs_path_exchange(file->beside, file->path);
    else if (file->state == GS_STAGED_REPLACED)
        back = rename(file->old, file->path) == 0;
    bool had_old = file->state != GS_STAGED_PLACED;
    file->state = back || !had_old ? GS_STAGED_WAITING : GS_STAGED_STUCK;
    if (file->state == GS_STAGED_STUCK)
        gs_error_next(error,
                      "the earlier files could not be put back: they are kept beside their "
                      "places, under hidden names that end in .gpnscope-%ld-new or -old",
                      (long)getpid());
}

enum gs_status gs_staged_commit(struct gs_staged *staged, struct gs_error *error) {
    for (size_t i = 0; i < staged->count; i++) {
        int reason = put_in_place(&staged->files[i]);
        if (!reason) continue;
        enum gs_status status =
            gs_fail_errno(error, reason, "cannot put the file in its place", staged->files[i].path);
        while (i > 0) put_back(&staged->files[--i], error);
        return status;
    }
    for (size_t i = 0; i < staged->count; i++) gs_path_folder_sync(staged->files[i].path);
    return GS_OK;
}

void gs_staged_name_place(const struct gs_staged *staged, struct gs_error *error) {
    for (size_t i = 0; error && i < staged->count; i++) {
        const struct gs_staged_file *file = &staged->files[i];
        if (file->beside && strncmp(error->where, file->beside, strlen(file->beside)) == 0)
            gs_error_where(error, "%s", file->path);
    }
}

void gs_staged_close(struct gs_staged *staged) {
    for (size_t i = 0; i < staged->count; i++) {
        struct gs_staged_file *file = &staged->files[i];
        if (file->beside && file->state != GS_STAGED_STUCK) unlink(file->beside);
        if (file->old && file->state == GS_STAGED_REPLACED) unlink(file->old);
        gs_free(file->path);
        gs_free(file->beside);
        gs_free(file->old);
    }
    *staged = (struct gs_staged){0};
}
