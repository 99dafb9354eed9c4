/* parts.h - what the figures share: tables by name, panels side by side, sentences about values. */
#ifndef GS_REPORTS_FIGURES_PARTS_H
#define GS_REPORTS_FIGURES_PARTS_H

#include "reports/figures/figure.h"

/* The table, or NULL when the results or the table are not there or it has no rows. */
const struct gs_table *gs_figure_table(const struct gs_results *results, const char *name);

/* One block of the data file with these columns of the table, a row each. Columns that are not
 * there are missing values. With `positive`, numbers ≤ 0 are missing in all but the first column
 * (a logarithmic axis has no place for them). True when any number past the first column is there.
 */
bool gs_figure_block(struct gs_plot *plot, const struct gs_table *table, const char *const *columns,
                     size_t count, bool positive);

/* Two panels: side by side, or one above the other in the narrow version. */
void gs_figure_two_panels(struct gs_plot *plot);
void gs_figure_end_panels(struct gs_plot *plot);

/* A round step (1, 2 or 5 times a power of ten) that leaves at most `ticks` steps in `range`. */
double gs_figure_tick_step(double range, int ticks);

/* "name" printed as a number, when it is known: adds `before`, the number, `after`. */
bool gs_figure_say(struct gs_text *text, const struct gs_results *results, const char *name,
                   const char *before, int digits, const char *after);

/* The heads of all memories: their numbers are the NN of "retention.head.NN.efold", or
 * "memory.NAME.retention.head.NN.efold" where there are several memories; before training "null."
 * stands before that. */
struct gs_figure_head {
    size_t head;
    bool of_several; /* one of several memories */
    struct gs_value efold;
    double place; /* the efold, the bound of a censored one, NaN when neither is known */
    bool censored;
};
/* Heads found, in ascending order of place (unknown ones last); an array for gs_free, NULL when
 * there are none or memory is short. */
struct gs_figure_head *gs_figure_heads(const struct gs_results *results, bool null, size_t *count);

#endif
