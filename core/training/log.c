#include "core/training/log.h"

#include "core/base/file.h"
#include "core/base/memory.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gs_training_log {
    FILE *stream;
    char *path;
    size_t metric_count;
};

/* The first line, with its end. NULL when memory is short. */
static char *header_line(const char *const *metrics, size_t count) {
    size_t size = 64;
    for (size_t i = 0; i < count; i++) size += strlen(metrics[i]) + 1;
    char *line = gs_calloc(size, 1);
    if (!line) return NULL;
    size_t used = (size_t)snprintf(line, size, "step,loss,lr,grad_norm");
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(line + used, size - used, ",%s", metrics[i]);
    snprintf(line + used, size - used, "\n");
    return line;
}

static enum gs_status fail_columns(const char *path, const char *header, struct gs_error *error) {
    gs_fail(error, GS_FORMAT, "the log to go on with has other columns");
    gs_error_expected(error, "%.*s", (int)strcspn(header, "\r\n"), header);
    gs_error_where(error, "%s: line 1", path);
    gs_error_next(error, "move the log away; the run then begins a new one");
    return GS_FORMAT;
}

/* Length of the part of an earlier table that stays: its header and its whole rows up to `keep`. */
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

/* Replace what is at `path` by the beginning of the table. */
static enum gs_status begin(const char *path, const char *header, size_t keep,
                            struct gs_error *error) {
    if (keep == 0 || !gs_path_exists(path))
        return gs_file_write(path, true, header, strlen(header), error);
    struct gs_mapped_file old = {0};
    size_t size = 0;
    enum gs_status status = gs_file_map(path, &old, error);
    if (status == GS_OK) status = kept_size(&old, path, header, keep, &size, error);
    if (status == GS_OK) status = gs_file_write(path, true, old.bytes, size, error);
    gs_file_unmap(&old);
    return status;
}

enum gs_status gs_training_log_open(const char *path, size_t keep, const char *const *metrics,
                                    size_t metric_count, struct gs_training_log **log,
                                    struct gs_error *error) {
    struct gs_training_log *made = gs_calloc(1, sizeof *made);
    char *header = header_line(metrics, metric_count);
    enum gs_status status = GS_OK;
    if (made) made->path = gs_strdup(path);
    if (!made || !header || !made->path) status = gs_fail_memory(error, strlen(path), "a log");
    if (status == GS_OK) status = begin(path, header, keep, error);
    if (status == GS_OK) {
        made->metric_count = metric_count;
        made->stream = fopen(path, "ab");
        if (!made->stream) status = gs_fail_errno(error, errno, "opening the log", path);
    }
    gs_free(header);
    if (status != GS_OK) {
        gs_training_log_close(made);
        return status;
    }
    *log = made;
    return GS_OK;
}

/* printf gives NaN a sign; a table has none for it. */
static double plain(double value) {
    return isnan(value) ? fabs(value) : value;
}

enum gs_status gs_training_log_row(struct gs_training_log *log, size_t step, double loss,
                                   double rate, double grad_norm, const double *metrics,
                                   struct gs_error *error) {
    errno = 0;
    fprintf(log->stream, "%zu,%.6f,%.2e,%.4f", step, plain(loss), rate, plain(grad_norm));
    for (size_t i = 0; i < log->metric_count; i++) fprintf(log->stream, ",%.6f", plain(metrics[i]));
    fputc('\n', log->stream);
    if (fflush(log->stream) == 0 && !ferror(log->stream)) return GS_OK;
    return gs_fail_errno(error, errno ? errno : EIO, "writing the log", log->path);
}

void gs_training_log_close(struct gs_training_log *log) {
    if (!log) return;
    if (log->stream) fclose(log->stream);
    gs_free(log->path);
    gs_free(log);
}
