/* Output files: a temporary beside the final place, fsync, rename.
 *
 * The writer holds a lock on its temporary. One that nobody holds was left by a killed process and
 * is swept by the next output to the same place. */
#include "core/base/file.h"

#include "core/base/memory.h"
#include "core/base/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    NAME_KEPT = 180,    /* of the name, so that the temporary's name stays below 255 bytes */
    YOUNG_SECONDS = 60, /* a temporary this young may be between its making and its lock */
    ATTEMPTS = 100
};

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char mark[] = ".gpnscope-";

/* What all temporaries of `path` begin with: ".name.gpnscope-". */
static void temporary_prefix(const char *path, char *prefix, size_t size) {
    snprintf(prefix, size, ".%.*s%s", NAME_KEPT, base_name(path), mark);
}

bool gs_output_is_temporary(const char *name) {
    return name[0] == '.' && strstr(name, mark);
}

static void sweep_one(const char *path) {
    struct stat info;
    int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (descriptor < 0) return;
    bool stale = fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) &&
                 time(NULL) - info.st_mtime > YOUNG_SECONDS &&
                 flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    if (stale) unlink(path);
    close(descriptor);
}

/* Housekeeping: what cannot be swept is left alone. */
static void sweep(const char *path, const char *folder) {
    char prefix[NAME_KEPT + 32];
    temporary_prefix(path, prefix, sizeof prefix);
    char **names;
    size_t count;
    if (gs_folder_list(folder, &names, &count, NULL) != GS_OK) return;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(names[i], prefix, strlen(prefix)) != 0) continue;
        char *temporary = gs_path_join(folder, names[i]);
        if (temporary) sweep_one(temporary);
        gs_free(temporary);
    }
    gs_free_names(names, count);
}

enum gs_status gs_output_check(const char *path, bool force, struct gs_error *error) {
    struct stat info;
    if (!path[0] || path[strlen(path) - 1] == '/') {
        gs_fail(error, GS_IO, "cannot write to this");
        gs_error_expected(error, "the path of a file");
        gs_error_where(error, "\"%s\"", path);
        return GS_IO;
    }
    if (lstat(path, &info) != 0) return GS_OK;
    if (S_ISLNK(info.st_mode) && stat(path, &info) != 0 && !force) info.st_mode = S_IFREG;
    if (!S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode)) {
        gs_fail(error, GS_IO, "cannot write to this");
        gs_error_expected(error, "the path of a file");
        gs_error_found(error, S_ISDIR(info.st_mode) ? "a folder" : "a device, pipe or socket");
        gs_error_where(error, "%s", path);
        return GS_IO;
    }
    if (force) return GS_OK;
    gs_fail(error, GS_EXISTS, "the output exists already");
    gs_error_where(error, "%s", path);
    gs_error_next(error, "choose another path, or overwrite it with --force");
    return GS_EXISTS;
}

/* Made with O_EXCL under a name of its own; the mode is the one fopen would give. */
static int make_temporary(struct gs_output *out, const char *folder) {
    char prefix[NAME_KEPT + 32], name[NAME_KEPT + 96];
    temporary_prefix(out->path, prefix, sizeof prefix);
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        snprintf(name, sizeof name, "%s%ld-%u", prefix, (long)getpid(), attempt);
        out->temporary = gs_path_join(folder, name);
        if (!out->temporary) {
            errno = ENOMEM;
            return -1;
        }
        int descriptor = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0) return descriptor;
        gs_free(out->temporary);
        out->temporary = NULL;
        if (errno != EEXIST) return -1;
    }
    return -1;
}

static enum gs_status open_temporary(struct gs_output *out, const char *folder,
                                     struct gs_error *error) {
    int descriptor = make_temporary(out, folder);
    if (descriptor < 0) return gs_fail_errno(error, errno, "cannot write", out->path);
    flock(descriptor, LOCK_EX | LOCK_NB); /* where locks do not work, nothing is swept either */
    struct stat old;
    if (stat(out->path, &old) == 0) fchmod(descriptor, old.st_mode & 0777);
    out->stream = fdopen(descriptor, "wb");
    if (out->stream) return GS_OK;
    int reason = errno;
    close(descriptor);
    return gs_fail_errno(error, reason, "cannot write", out->path);
}

enum gs_status gs_output_open(struct gs_output *out, const char *path, bool force,
                              struct gs_error *error) {
    *out = (struct gs_output){.force = force};
    enum gs_status status = gs_output_check(path, force, error);
    if (status != GS_OK) return status;
    out->path = gs_path_target(path);
    char *folder = out->path ? gs_path_folder(out->path) : NULL;
    if (folder) {
        sweep(out->path, folder);
        status = open_temporary(out, folder, error);
    } else {
        status = gs_fail_memory(error, strlen(path), "a path");
    }
    gs_free(folder);
    if (status != GS_OK) gs_output_abandon(out);
    return status;
}

/* Without force, somebody else's file of that name that appeared meanwhile is kept: link fails
 * where rename would replace. File systems without links get a look and a rename. */
static enum gs_status put_in_place(struct gs_output *out, struct gs_error *error) {
    if (!out->force) {
        if (link(out->temporary, out->path) == 0) {
            unlink(out->temporary);
            return GS_OK;
        }
        enum gs_status status = gs_output_check(out->path, false, error);
        if (status != GS_OK) return status;
    }
    if (rename(out->temporary, out->path) != 0)
        return gs_fail_errno(error, errno, "cannot put the file in its place", out->path);
    return GS_OK;
}

/* Why an earlier write failed, whose errno is long gone: another one fails for the same reason. The
 * file is lost anyway. */
static int reason_of_failure(int descriptor) {
    errno = 0;
    return write(descriptor, "", 1) < 0 && errno ? errno : EIO;
}

static enum gs_status write_out(struct gs_output *out, struct gs_error *error) {
    int reason = 0;
    bool failed = ferror(out->stream) != 0;
    if (fflush(out->stream) != 0)
        reason = errno;
    else if (failed)
        reason = reason_of_failure(fileno(out->stream));
    if (reason) return gs_fail_errno(error, reason, "cannot write", out->path);
    /* EINVAL: something that cannot be synced. */
    if (fsync(fileno(out->stream)) != 0 && errno != EINVAL)
        return gs_fail_errno(error, errno, "cannot write to disk", out->path);
    return GS_OK;
}

enum gs_status gs_output_commit(struct gs_output *out, struct gs_error *error) {
    if (!out->stream) return gs_fail(error, GS_IO, "an output that is not open");
    enum gs_status status = write_out(out, error);
    if (status == GS_OK) status = put_in_place(out, error);
    if (status == GS_OK) {
        gs_free(out->temporary);
        out->temporary = NULL; /* nothing to remove any more */
        gs_path_folder_sync(out->path);
    }
    gs_output_abandon(out);
    return status;
}

void gs_output_abandon(struct gs_output *out) {
    if (out->stream) fclose(out->stream);
    if (out->temporary) unlink(out->temporary);
    gs_free(out->temporary);
    gs_free(out->path);
    *out = (struct gs_output){0};
}

enum gs_status gs_file_write(const char *path, bool force, const void *bytes, size_t size,
                             struct gs_error *error) {
    struct gs_output out;
    enum gs_status status = gs_output_open(&out, path, force, error);
    if (status != GS_OK) return status;
    errno = 0;
    if (size && fwrite(bytes, 1, size, out.stream) != size) {
        status = gs_fail_errno(error, errno ? errno : EIO, "cannot write", path);
        gs_output_abandon(&out);
        return status;
    }
    return gs_output_commit(&out, error);
}
