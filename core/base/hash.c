#include "core/base/hash.h"

#include "core/base/file.h"
#include "core/base/memory.h"

#include <openssl/evp.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 1 << 16 };

struct gs_sha256 {
    EVP_MD_CTX *context;
};

struct gs_sha256 *gs_sha256_create(void) {
    struct gs_sha256 *hash = gs_calloc(1, sizeof *hash);
    if (!hash) return NULL;
    hash->context = EVP_MD_CTX_new();
    if (!hash->context || !EVP_DigestInit_ex(hash->context, EVP_sha256(), NULL)) {
        gs_sha256_destroy(hash);
        return NULL;
    }
    return hash;
}

void gs_sha256_update(struct gs_sha256 *hash, const void *bytes, size_t size) {
    EVP_DigestUpdate(hash->context, bytes, size);
}

void gs_sha256_finish(struct gs_sha256 *hash, char text[GS_SHA256_TEXT]) {
    static const char digits[] = "0123456789abcdef";
    unsigned char digest[EVP_MAX_MD_SIZE] = {0};
    unsigned length = 0;
    EVP_DigestFinal_ex(hash->context, digest, &length);
    for (size_t i = 0; i < 32; i++) {
        text[2 * i] = digits[digest[i] >> 4];
        text[2 * i + 1] = digits[digest[i] & 15];
    }
    text[64] = '\0';
}

void gs_sha256_destroy(struct gs_sha256 *hash) {
    if (!hash) return;
    EVP_MD_CTX_free(hash->context);
    gs_free(hash);
}

/* Read, not mapped: a file that shrinks meanwhile is an error and no SIGBUS. */
static enum gs_status hash_stream(struct gs_sha256 *hash, int descriptor, const char *path,
                                  const atomic_bool *stop, struct gs_error *error) {
    unsigned char *block = gs_calloc(BLOCK, 1);
    if (!block) return gs_fail_memory(error, BLOCK, "a read buffer");
    enum gs_status status = GS_OK;
    while (status == GS_OK) {
        if (stop && atomic_load(stop)) status = gs_fail(error, GS_INTERRUPTED, "stopped");
        ssize_t got = read(descriptor, block, BLOCK);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) status = gs_fail_errno(error, errno, "cannot read", path);
        if (got <= 0) break;
        gs_sha256_update(hash, block, (size_t)got);
    }
    gs_free(block);
    return status;
}

/* O_NONBLOCK: opening a named pipe must not wait for a writer. */
static enum gs_status open_regular(const char *path, int *descriptor, struct stat *info,
                                   struct gs_error *error) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return gs_fail_errno(error, errno, "cannot open", path);
    if (fstat(fd, info) != 0) {
        int reason = errno;
        close(fd);
        return gs_fail_errno(error, reason, "cannot look at", path);
    }
    if (!S_ISREG(info->st_mode)) {
        close(fd);
        gs_fail(error, GS_IO, "cannot hash this");
        gs_error_expected(error, "a file or a folder");
        gs_error_where(error, "%s", path);
        return GS_IO;
    }
    *descriptor = fd;
    return GS_OK;
}

static enum gs_status hash_file(struct gs_sha256 *hash, const char *path, const atomic_bool *stop,
                                struct gs_error *error) {
    int descriptor = -1;
    struct stat info;
    enum gs_status status = open_regular(path, &descriptor, &info, error);
    if (status != GS_OK) return status;
    status = hash_stream(hash, descriptor, path, stop, error);
    close(descriptor);
    return status;
}

/* For each file of the folder: name, NUL, the file's own digest, newline. */
static enum gs_status hash_member(struct gs_sha256 *hash, const char *folder, const char *name,
                                  struct gs_error *error) {
    if (name[0] == '.') return GS_OK; /* hidden: an unfinished output or an editor's */
    char *path = gs_path_join(folder, name);
    if (!path) return gs_fail_memory(error, strlen(folder), "a path");
    enum gs_status status = GS_OK;
    char text[GS_SHA256_TEXT];
    if (!gs_path_is_folder(path) && (status = gs_sha256_path(path, text, error)) == GS_OK) {
        gs_sha256_update(hash, name, strlen(name) + 1);
        gs_sha256_update(hash, text, GS_SHA256_TEXT - 1);
        gs_sha256_update(hash, "\n", 1);
    }
    gs_free(path);
    return status;
}

static enum gs_status hash_folder(struct gs_sha256 *hash, const char *path,
                                  struct gs_error *error) {
    char **names;
    size_t count;
    enum gs_status status = gs_folder_list(path, &names, &count, error);
    if (status != GS_OK) return status;
    for (size_t i = 0; i < count && status == GS_OK; i++)
        status = hash_member(hash, path, names[i], error);
    gs_free_names(names, count);
    return status;
}

static enum gs_status hash_path(const char *path, const atomic_bool *stop,
                                char text[GS_SHA256_TEXT], struct gs_error *error) {
    struct gs_sha256 *hash = gs_sha256_create();
    if (!hash) return gs_fail_memory(error, sizeof *hash, "a SHA-256");
    enum gs_status status = gs_path_is_folder(path) ? hash_folder(hash, path, error)
                                                    : hash_file(hash, path, stop, error);
    if (status == GS_OK) gs_sha256_finish(hash, text);
    gs_sha256_destroy(hash);
    return status;
}

enum gs_status gs_sha256_path(const char *path, char text[GS_SHA256_TEXT], struct gs_error *error) {
    return hash_path(path, NULL, text, error);
}

/* ---- meanwhile ---- */

struct gs_sha256_job {
    char *path;
    pthread_t thread;
    bool threaded; /* else join does the work */
    atomic_bool stop;
    enum gs_status status;
    char text[GS_SHA256_TEXT];
    struct gs_error error;
};

static void *run_job(void *context) {
    struct gs_sha256_job *job = context;
    job->status = hash_path(job->path, &job->stop, job->text, &job->error);
    return NULL;
}

/* Signals are the main thread's. */
static bool start_thread(struct gs_sha256_job *job) {
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return false;
    bool good = pthread_create(&job->thread, NULL, run_job, job) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return good;
}

static void free_job(struct gs_sha256_job *job) {
    gs_free(job->path);
    gs_free(job);
}

enum gs_status gs_sha256_start(const char *path, struct gs_sha256_job **job,
                               struct gs_error *error) {
    struct gs_sha256_job *made = gs_calloc(1, sizeof *made);
    if (made) made->path = gs_strdup(path);
    if (!made || !made->path) {
        gs_free(made);
        return gs_fail_memory(error, sizeof *made, "a SHA-256");
    }
    made->threaded = start_thread(made);
    *job = made;
    return GS_OK;
}

enum gs_status gs_sha256_join(struct gs_sha256_job *job, char text[GS_SHA256_TEXT],
                              struct gs_error *error) {
    if (job->threaded)
        pthread_join(job->thread, NULL);
    else
        run_job(job);
    enum gs_status status = job->status;
    if (status == GS_OK) memcpy(text, job->text, GS_SHA256_TEXT);
    if (status != GS_OK && error) *error = job->error;
    free_job(job);
    return status;
}

void gs_sha256_cancel(struct gs_sha256_job *job) {
    if (!job) return;
    atomic_store(&job->stop, true);
    if (job->threaded) pthread_join(job->thread, NULL);
    free_job(job);
}
