/* plot.h - one picture being made: gnuplot commands and a data file, in one house style.
 *
 * Commands are written by us and hold no text of any input; numbers and labels go into the data
 * file, whose blocks are counted here so that a script can say `index`. A figure that has nothing
 * to show says why in `empty` and is not drawn.
 */
#ifndef GS_REPORTS_FIGURES_PLOT_H
#define GS_REPORTS_FIGURES_PLOT_H

#include "core/results/results.h"
#include "reports/figures/text.h"

#include <stdbool.h>
#include <stddef.h>

/* Okabe and Ito's colours, which stay apart for colour-blind readers; lines also differ in dashes
 * or marks, so that a black-and-white print can be read. */
#define GS_BLUE "'#0072B2'"
#define GS_ORANGE "'#D55E00'"
#define GS_GREEN "'#009E73'"
#define GS_PURPLE "'#AA4499'"
#define GS_SKY "'#56B4E9'"
#define GS_GREY "'#6E7781'"
#define GS_INK "'#24292F'"
#define GS_PALE "'#B8D8EA'"

struct gs_plot {
    struct gs_text script; /* after the preamble; the data file is the variable `data`, and
                              `narrow` is 1 in the version for phones */
    struct gs_text data;
    size_t blocks;     /* blocks ended so far: the next block's index */
    size_t block_rows; /* rows of the block at hand */
    bool row_begun;    /* a field was written to the current row */
    const char *empty; /* a static sentence: why there is nothing to draw; NULL: draw */
};

void gs_plot_free(struct gs_plot *plot);

/* One command line (a newline is added). */
void gs_plot_command(struct gs_plot *plot, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Fields of the data file. NaN and Inf are written as missing. */
void gs_plot_number(struct gs_plot *plot, double number);
void gs_plot_label(struct gs_plot *plot, const char *text, size_t longest);
void gs_plot_row(struct gs_plot *plot);   /* ends a row */
void gs_plot_curve(struct gs_plot *plot); /* ends a curve within the block */
/* Ends the block. gnuplot does not count a block without rows, which would move all that follow: an
 * empty one gets a row of missing values. */
void gs_plot_block(struct gs_plot *plot);

/* A number of a table, NaN for null, text, or a column that is not there (SIZE_MAX). */
double gs_plot_cell(const struct gs_table *table, size_t row, size_t column);

struct gs_plot_size {
    int width, height; /* pixels at 100 % */
    bool narrow;
};
/* Draw to `path` (an .svg), which is replaced when the new picture is whole. The data lie beside it
 * under a hidden name of their own while gnuplot runs. Errors: gs_gnuplot_run's. Not to be called
 * with an empty plot. */
enum gs_status gs_plot_draw(const struct gs_plot *plot, const struct gs_plot_size *size,
                            const char *path, struct gs_error *error);

#endif
