/* child.h - a program that takes a text and gives one: no shell, and no file on the way. For
 * gnuplot.c alone. */
#ifndef GS_REPORTS_FIGURES_CHILD_H
#define GS_REPORTS_FIGURES_CHILD_H

#include "reports/figures/text.h"

#include <stddef.h>

/* A program found on the PATH, its argument vector and environment, both ended by NULL. */
struct gs_child {
    char *const *arguments;
    char *const *environment;
};

/* Runs it with `size` bytes on its standard input, and takes its standard output and its messages
 * (both may fill up while it still reads). Waits for its end and gives waitpid's status. Returns 0,
 * or errno when it could not be started or waited for. */
int gs_child_run(const struct gs_child *child, const char *input, size_t size,
                 struct gs_text *output, struct gs_text *messages, int *wait_status);

#endif
