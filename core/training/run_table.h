/* run_table.h - a CSV file that grows with a run and survives its end at any moment.
 *
 * Rows begin with their step. A row is handed to the system as soon as it is added; whoever goes on
 * with an earlier table says up to which step its rows count, and rows beyond it, or cut short by a
 * kill, are dropped. While a table is open its file is locked, so that two processes never write
 * one run. Internal to core/training.
 */
#ifndef GS_CORE_TRAINING_RUN_TABLE_H
#define GS_CORE_TRAINING_RUN_TABLE_H

#include "core/base/status.h"
#include "core/training/staged.h"

#include <stddef.h>

struct gs_run_table;

/* GS_EXISTS when another process has the table open. Where files cannot be locked, nobody has. */
enum gs_status gs_run_table_check_free(const char *path, struct gs_error *error);

/* Begin the table at `path`, replacing what is there; with `keep` > 0, rows up to step `keep` of an
 * earlier one stay (GS_FORMAT when its columns are others). `header`: the first line, with its
 * line end. Where `staged` is not NULL, the table takes its place with the others of it, and what
 * is there is only read until then. Close with gs_run_table_close. */
enum gs_status gs_run_table_open(const char *path, size_t keep, const char *header,
                                 struct gs_staged *staged, struct gs_run_table **table,
                                 struct gs_error *error);
/* Add a line, which has its line end, and hand it to the system. */
enum gs_status gs_run_table_add(struct gs_run_table *table, const char *line,
                                struct gs_error *error);
/* Wait until all rows are on the disk itself. */
enum gs_status gs_run_table_sync(struct gs_run_table *table, struct gs_error *error);
/* NULL is fine. */
void gs_run_table_close(struct gs_run_table *table);

#endif
