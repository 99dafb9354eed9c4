#include "core/training/run_table.h"

#include "core/base/file.h"
#include "core/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

struct gs_run_table {
    FILE *stream;
    char *path;
};

/* ---- one process at a time ------------------------------------------------------------------- */

static enum gs_status fail_locked(const char *path, struct gs_error *error) {
    gs_fail(error, GS_EXISTS, "another process is training this run");
    gs_error_where(error, "%s", path);
    gs_error_next(error, "wait for it, stop it, or give another folder with -o");
    return GS_EXISTS;
}

enum gs_status gs_run_table_check_free(const char *path, struct gs_error *error) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return GS_OK; /* whatever it is, opening the table will say so */
    bool locked = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(descriptor);
    return locked ? fail_locked(path, error) : GS_OK;
}

/* ---- what stays of an earlier table ---------------------------------------------------------- */

static enum gs_status fail_columns(const char *path, const char *header, struct gs_error *error) {
    gs_fail(error, GS_FORMAT, "the log to go on with has other columns");
    gs_error_expected(error, "%.*s", (int)strcspn(header, "\r\n"), header);
    gs_error_where(error, "%s: line 1", path);
    gs_error_next(error, "move the log away; the run then begins a new one");
    return GS_FORMAT;
}

/* Length of the part that stays: the header and whole rows up to `keep`. */
static enum gs_status kept_size(const struct gs_mapped_file *file, const char *path,
                                const char *header, size_t keep, size_t *size,
                                struct gs_error *error) {
    const char *text = (const char *)file->bytes, *end = text + file->size;
    const char *line = memchr(text, '\n', file->size);
    size_t columns = strcspn(header, "\r\n");
    if (!line || file->size < columns || memcmp(text, header, columns) != 0 ||
        (text[columns] != '\n' && text[columns] != '\r'))
        return fail_columns(path, header, error);
    for (line++; line < end;) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        char digits[24] = "";
        size_t length = next ? (size_t)(next - line) : 0;
        memcpy(digits, line, length < sizeof digits - 1 ? length : sizeof digits - 1);
        if (!next || strtoull(digits, NULL, 10) > keep) break;
        line = next + 1;
    }
    *size = (size_t)(line - text);
    return GS_OK;
}

/* Write the beginning of the table to `place`, from what is at `path`. */
static enum gs_status begin(const char *path, const char *place, const char *header, size_t keep,
                            struct gs_error *error) {
    if (keep == 0 || !gs_path_exists(path))
        return gs_file_write(place, true, header, strlen(header), error);
    struct gs_mapped_file old = {0};
    size_t size = 0;
    enum gs_status status = gs_file_map(path, &old, error);
    if (status == GS_OK) status = kept_size(&old, path, header, keep, &size, error);
    if (status == GS_OK) status = gs_file_write(place, true, old.bytes, size, error);
    gs_file_unmap(&old);
    return status;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* The stream stays with the file when that is renamed. */
static enum gs_status open_stream(struct gs_run_table *table, const char *place,
                                  struct gs_error *error) {
    table->stream = fopen(place, "ab");
    if (!table->stream) return gs_fail_errno(error, errno, "opening the log", table->path);
    bool locked = flock(fileno(table->stream), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    return locked ? fail_locked(table->path, error) : GS_OK;
}

enum gs_status gs_run_table_open(const char *path, size_t keep, const char *header,
                                 struct gs_staged *staged, struct gs_run_table **table,
                                 struct gs_error *error) {
    const char *place = path;
    struct gs_run_table *made = gs_calloc(1, sizeof *made);
    if (made) made->path = gs_strdup(path);
    enum gs_status status =
        made && made->path ? GS_OK : gs_fail_memory(error, strlen(path), "a log");
    if (status == GS_OK) status = gs_run_table_check_free(path, error);
    if (status == GS_OK && staged) status = gs_staged_add(staged, path, &place, error);
    if (status == GS_OK) status = begin(path, place, header, keep, error);
    if (status == GS_OK) status = open_stream(made, place, error);
    if (status != GS_OK) {
        gs_run_table_close(made);
        return status;
    }
    *table = made;
    return GS_OK;
}

enum gs_status gs_run_table_add(struct gs_run_table *table, const char *line,
                                struct gs_error *error) {
    errno = 0;
    fputs(line, table->stream);
    if (fflush(table->stream) == 0 && !ferror(table->stream)) return GS_OK;
    return gs_fail_errno(error, errno ? errno : EIO, "writing the log", table->path);
}

enum gs_status gs_run_table_sync(struct gs_run_table *table, struct gs_error *error) {
    /* EINVAL: something that cannot be synced */
    if (fsync(fileno(table->stream)) == 0 || errno == EINVAL) return GS_OK;
    return gs_fail_errno(error, errno, "writing the log to disk", table->path);
}

void gs_run_table_close(struct gs_run_table *table) {
    if (!table) return;
    if (table->stream) fclose(table->stream);
    gs_free(table->path);
    gs_free(table);
}
