/* layers.h - what figures over layers share: streams or memories along the axis, in the order of
 * their table. */
#ifndef GS_REPORTS_FIGURES_LAYERS_H
#define GS_REPORTS_FIGURES_LAYERS_H

#include "reports/figures/parts.h"

/* What a layer is called below the axis: "layer07" is "7", every other name itself. */
void gs_layers_label(struct gs_plot *plot, const char *name);

/* The row of `table` (its first column a name) of that name; SIZE_MAX: none. */
size_t gs_layers_find(const struct gs_table *table, const char *name);

/* One block (place, value, low, high, label): `column` of `table`, with the interval's ends where
 * <table>_interval has them, at the places that the names have in `order`. `known`: is any
 * value there, any interval? */
struct gs_layers_known {
    bool value, interval;
};
struct gs_layers_known gs_layers_block(struct gs_plot *plot, const struct gs_results *results,
                                       const char *table, const char *column,
                                       const struct gs_table *order);

/* Room for the labels of `count` layers below the axis. */
void gs_layers_axis(struct gs_plot *plot, const struct gs_table *order);

/* "from 1.2 in layer 0 to 3.4 in final": the first and the last of a column that are known. */
bool gs_layers_say(struct gs_text *text, const struct gs_table *table, const char *column);

#endif
