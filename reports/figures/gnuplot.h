/* gnuplot.h - the one place that starts gnuplot, as a child process with an argument vector; no
 * shell is ever involved. The script goes to its standard input, the picture comes from its
 * standard output, and only a whole one is written.
 */
#ifndef GS_REPORTS_FIGURES_GNUPLOT_H
#define GS_REPORTS_FIGURES_GNUPLOT_H

#include "core/base/status.h"

#include <stddef.h>

/* GS_OK when a gnuplot with the svg terminal is on the PATH; else GS_MISSING with what to do.
 * Starts gnuplot once; ask once and keep the answer. */
enum gs_status gs_gnuplot_probe(struct gs_error *error);

/* Run `script` (whole text) and write its standard output as `svg_path`, which is replaced when the
 * new picture is whole and on disk. Fails with GS_MISSING when gnuplot cannot be started,
 * GS_UNSUPPORTED when it ends with an error, is killed, or gives no whole SVG (the error holds
 * gnuplot's last message), and as gs_file_write does. What was at svg_path is then untouched. */
enum gs_status gs_gnuplot_run(const char *script, size_t size, const char *svg_path,
                              struct gs_error *error);

#endif
