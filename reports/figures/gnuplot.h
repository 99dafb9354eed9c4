/* gnuplot.h - the one place that starts gnuplot, as a child process with an argument vector; no
 * shell is ever involved. The script comes from a file on the child's standard input, the picture
 * leaves through its standard output into a file.
 */
#ifndef GS_REPORTS_FIGURES_GNUPLOT_H
#define GS_REPORTS_FIGURES_GNUPLOT_H

#include "core/base/status.h"

#include <stddef.h>

/* GS_OK when a gnuplot with the svg terminal is on the PATH; else GS_MISSING with what to do.
 * Starts gnuplot once; ask once and keep the answer. */
enum gs_status gs_gnuplot_probe(struct gs_error *error);

/* Run `script` (whole text) and keep its standard output as `svg_path`, which is replaced. Files
 * beside svg_path: <svg_path>.script and <svg_path>.messages while gnuplot runs, removed
 * afterwards. Fails with GS_MISSING when gnuplot cannot be started and GS_IO when it ends with an
 * error, is killed, or writes no whole SVG; the error holds gnuplot's last message, and no picture
 * is left. */
enum gs_status gs_gnuplot_run(const char *script, size_t size, const char *svg_path,
                              struct gs_error *error);

#endif
