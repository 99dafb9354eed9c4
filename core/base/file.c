#include "core/base/file.h"

#include "core/base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* ---- mapping ---- */

static const unsigned char nothing[1]; /* the bytes of an empty file: mmap cannot map 0 bytes */

static enum gs_status map_descriptor(int descriptor, const char *path, struct gs_mapped_file *file,
                                     struct gs_error *error) {
    struct stat info;
    if (fstat(descriptor, &info) != 0) return gs_fail_errno(error, errno, "cannot look at", path);
    if (!S_ISREG(info.st_mode)) {
        gs_fail(error, GS_IO, "cannot read this");
        gs_error_expected(error, "a file");
        gs_error_found(error, S_ISDIR(info.st_mode) ? "a folder" : "a device, pipe or socket");
        gs_error_where(error, "%s", path);
        return GS_IO;
    }
    if ((uintmax_t)info.st_size > SIZE_MAX) return gs_fail_errno(error, EFBIG, "cannot map", path);
    if (info.st_size == 0) {
        *file = (struct gs_mapped_file){nothing, 0};
        return GS_OK;
    }
    void *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (bytes == MAP_FAILED) return gs_fail_errno(error, errno, "cannot map", path);
    *file = (struct gs_mapped_file){bytes, (size_t)info.st_size};
    return GS_OK;
}

/* O_NONBLOCK: opening a named pipe must not wait for a writer. */
enum gs_status gs_file_map(const char *path, struct gs_mapped_file *file, struct gs_error *error) {
    *file = (struct gs_mapped_file){0};
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return gs_fail_errno(error, errno, "cannot open", path);
    enum gs_status status = map_descriptor(descriptor, path, file, error);
    close(descriptor);
    return status;
}

void gs_file_unmap(struct gs_mapped_file *file) {
    if (file->size) munmap((void *)(uintptr_t)file->bytes, file->size);
    *file = (struct gs_mapped_file){0};
}

void gs_file_release(const struct gs_mapped_file *file, size_t begin, size_t end) {
    long page = sysconf(_SC_PAGESIZE);
    if (page <= 0 || end > file->size || begin > end) return;
    begin -= begin % (size_t)page; /* the mapping begins at a page */
    end -= end % (size_t)page;
    if (begin >= end) return;
    /* a wish: refused, the pages stay */
    madvise((void *)(uintptr_t)(file->bytes + begin), end - begin, MADV_DONTNEED);
}

/* ---- paths ---- */

bool gs_path_exists(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0; /* a dangling link exists, too */
}

bool gs_path_is_folder(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool gs_path_same(const char *path, const char *other) {
    struct stat a, b;
    return stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

char *gs_path_join(const char *folder, const char *name) {
    while (name[0] == '.' && name[1] == '/' && name[2] != '/' && name[2]) name += 2;
    size_t length = strlen(folder);
    if (name[0] == '/' || length == 0 || strcmp(folder, ".") == 0) return gs_strdup(name);
    const char *slash = folder[length - 1] == '/' ? "" : "/";
    size_t size;
    if (!gs_add(length, strlen(name) + 2, &size)) return NULL;
    char *path = gs_calloc(size, 1);
    if (path) snprintf(path, size, "%s%s%s", folder, slash, name);
    return path;
}

char *gs_path_folder(const char *path) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--; /* "a/b/" lies in "a" */
    while (length > 0 && path[length - 1] != '/') length--;
    while (length > 1 && path[length - 1] == '/') length--;
    if (length == 0) return gs_strdup(".");
    char *folder = gs_strdup(path);
    if (folder) folder[length] = '\0';
    return folder;
}

/* ---- folders ---- */

static enum gs_status make_one_folder(const char *path, struct gs_error *error) {
    if (mkdir(path, 0777) == 0) return GS_OK;
    int reason = errno;
    if (gs_path_is_folder(path)) return GS_OK;
    if (reason == EEXIST) reason = ENOTDIR; /* a file stands there */
    return gs_fail_errno(error, reason, "cannot make the folder", path);
}

enum gs_status gs_folder_create(const char *path, struct gs_error *error) {
    char *part = gs_strdup(path);
    if (!part) return gs_fail_memory(error, strlen(path), "a path");
    enum gs_status status = GS_OK;
    for (char *slash = part + 1; part[0] && status == GS_OK; slash++) {
        slash = strchr(slash, '/');
        if (!slash) break;
        *slash = '\0';
        status = make_one_folder(part, error);
        *slash = '/';
    }
    if (status == GS_OK) status = make_one_folder(path, error);
    gs_free(part);
    return status;
}

struct name_list {
    char **names;
    size_t count, room;
};

static bool append_name(struct name_list *list, const char *name) {
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 16;
        char **names = gs_calloc(room, sizeof *names);
        if (!names) return false;
        if (list->count) memcpy(names, list->names, list->count * sizeof *names);
        gs_free(list->names);
        list->names = names;
        list->room = room;
    }
    char *copy = gs_strdup(name);
    if (!copy) return false;
    list->names[list->count++] = copy;
    return true;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static enum gs_status read_names(DIR *folder, const char *path, struct name_list *list,
                                 struct gs_error *error) {
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(folder);
        if (!entry && errno) return gs_fail_errno(error, errno, "cannot list the folder", path);
        if (!entry) return GS_OK;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (!append_name(list, entry->d_name))
            return gs_fail_memory(error, strlen(entry->d_name), "file names");
    }
}

enum gs_status gs_folder_list(const char *path, char ***names, size_t *count,
                              struct gs_error *error) {
    *names = NULL;
    *count = 0;
    DIR *folder = opendir(path);
    if (!folder) return gs_fail_errno(error, errno, "cannot list the folder", path);
    struct name_list list = {0};
    enum gs_status status = read_names(folder, path, &list, error);
    closedir(folder);
    if (status != GS_OK) {
        gs_free_names(list.names, list.count);
        return status;
    }
    if (list.count) qsort(list.names, list.count, sizeof *list.names, compare_names);
    *names = list.names;
    *count = list.count;
    return GS_OK;
}

void gs_free_names(char **names, size_t count) {
    for (size_t i = 0; i < count; i++) gs_free(names[i]);
    gs_free(names);
}

/* ---- room ---- */

enum gs_status gs_free_space(const char *path, uint64_t *bytes, struct gs_error *error) {
    char *place = gs_strdup(path);
    if (!place) return gs_fail_memory(error, strlen(path), "a path");
    struct statvfs info;
    int result;
    while ((result = statvfs(place, &info)) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
        char *parent = gs_path_folder(place);
        bool stuck = !parent || strcmp(parent, place) == 0;
        gs_free(place);
        place = parent;
        if (stuck) break;
    }
    enum gs_status status = GS_OK;
    if (!place)
        status = gs_fail_memory(error, strlen(path), "a path");
    else if (result != 0)
        status = gs_fail_errno(error, errno, "cannot ask for the free space", path);
    else
        *bytes = (uint64_t)info.f_bavail * (uint64_t)info.f_frsize;
    gs_free(place);
    return status;
}
