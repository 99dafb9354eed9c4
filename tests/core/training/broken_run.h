/* broken_run.h - a run of the real program that tests stop, kill and starve: some hundred
 * milliseconds of a small GPN+M. */
#ifndef GS_TESTS_CORE_TRAINING_BROKEN_RUN_H
#define GS_TESTS_CORE_TRAINING_BROKEN_RUN_H

#include "tests/core/training/child.h"

enum { BROKEN_STEPS = 60, BROKEN_MOST_ACCUM = 2000 };

/* Before the first test: scratch files in memory where the system offers it. These runs save
 * without end, and a disk that is asked to sync each time would take minutes. */
void broken_work_in_memory(void);

/* Config and data in the scratch folder, enough for one step of BROKEN_MOST_ACCUM micro-batches.
 * Borrowed. */
const char *broken_config(void);

/* `CONFIG -o FOLDER` and further arguments (up to a NULL) to the end. */
void broken_run(const char *folder, const struct child_limits *limits, struct child_end *end, ...);
/* The same, which must end with 0. */
void broken_run_ok(const char *folder, ...);

/* Final model, its resume file and the log are the same bytes in both folders; the table of speed
 * has the log's steps; no temporary file is left. */
void broken_assert_same(const char *folder, const char *other);
/* Every checkpoint in the folder can be opened. */
void broken_assert_whole(const char *folder);

/* Wait until the file has `lines` lines; fails after half a minute. */
void broken_await_lines(const char *path, size_t lines);

#endif
