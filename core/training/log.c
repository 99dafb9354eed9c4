#include "core/training/log.h"

#include "core/base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER = 340 }; /* of a row: the longest double with six places, and a comma */

struct gs_training_log {
    struct gs_run_table *table;
    char *line; /* room for a row */
    size_t size;
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

enum gs_status gs_training_log_open(const char *path, size_t keep, const char *const *metrics,
                                    size_t metric_count, struct gs_staged *staged,
                                    struct gs_training_log **log, struct gs_error *error) {
    struct gs_training_log *made = gs_calloc(1, sizeof *made);
    char *header = header_line(metrics, metric_count);
    enum gs_status status = GS_OK;
    if (made) {
        made->metric_count = metric_count;
        made->size = (metric_count + 4) * NUMBER;
        made->line = gs_calloc(made->size, 1);
    }
    if (!made || !header || !made->line) status = gs_fail_memory(error, strlen(path), "a log");
    if (status == GS_OK)
        status = gs_run_table_open(path, keep, header, staged, &made->table, error);
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
    char *line = log->line;
    size_t used = (size_t)snprintf(line, log->size, "%zu,%.6f,%.2e,%.4f", step, plain(loss), rate,
                                   plain(grad_norm));
    for (size_t i = 0; i < log->metric_count; i++)
        used += (size_t)snprintf(line + used, log->size - used, ",%.6f", plain(metrics[i]));
    snprintf(line + used, log->size - used, "\n");
    return gs_run_table_add(log->table, line, error);
}

enum gs_status gs_training_log_sync(struct gs_training_log *log, struct gs_error *error) {
    return gs_run_table_sync(log->table, error);
}

void gs_training_log_close(struct gs_training_log *log) {
    if (!log) return;
    gs_run_table_close(log->table);
    gs_free(log->line);
    gs_free(log);
}

enum gs_status gs_training_speed_open(const char *path, size_t keep, struct gs_staged *staged,
                                      struct gs_run_table **table, struct gs_error *error) {
    return gs_run_table_open(path, keep, "step,loss,tokens,tokens_per_second,seconds_left\n",
                             staged, table, error);
}

enum gs_status gs_training_speed_row(struct gs_run_table *table,
                                     const struct gs_training_speed *speed,
                                     struct gs_error *error) {
    char line[4 * NUMBER];
    snprintf(line, sizeof line, "%zu,%.4f,%" PRIu64 ",%.0f,%.0f\n", speed->step, plain(speed->loss),
             speed->tokens, speed->tokens_a_second, speed->seconds_left);
    return gs_run_table_add(table, line, error);
}
