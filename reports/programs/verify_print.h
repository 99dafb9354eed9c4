/* verify_print.h - the table of a verification for people. */
#ifndef GS_REPORTS_PROGRAMS_VERIFY_PRINT_H
#define GS_REPORTS_PROGRAMS_VERIFY_PRINT_H

#include "analyses/verify/verify.h"
#include "core/results/results.h"

#include <stdio.h>

/* Claims × runs, then k of n; the reasons of what is open; the pooled split test and the likeness
 * of the runs; notes. From results of gs_verify_run_all. GS_IO. */
enum gs_status gs_verify_print(const struct gs_results *results, const struct gs_verify_runs *runs,
                               FILE *stream, struct gs_error *error);

#endif
