#include "core/base/replace.h"

#include "core/base/file.h"
#include "core/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

bool gs_path_exchange(const char *a, const char *b) {
#if defined(__linux__) && defined(SYS_renameat2)
    enum { EXCHANGE = 2 }; /* RENAME_EXCHANGE */
    return syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, EXCHANGE) == 0;
#else
    (void)a, (void)b;
    errno = ENOSYS;
    return false;
#endif
}

char *gs_path_target(const char *path) {
    struct stat info;
    if (lstat(path, &info) != 0 || !S_ISLNK(info.st_mode)) return gs_strdup(path);
    char *target = realpath(path, NULL);
    if (!target) return gs_strdup(path);
    char *copy = gs_strdup(target);
    free(target);
    return copy;
}

void gs_folder_sync(const char *folder) {
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    fsync(descriptor);
    close(descriptor);
}

void gs_path_folder_sync(const char *path) {
    char *folder = gs_path_folder(path);
    if (folder) gs_folder_sync(folder);
    gs_free(folder);
}
