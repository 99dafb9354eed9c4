/* side_by_side.h - results of one analysis of several parts of a whole, as one: the states of every
 * layer, every memory of a model.
 *
 * Names: value or table X of the part "layer00" of the kind "stream" is "stream.layer00.X" in the
 * whole, "null.X" is "null.stream.layer00.X", and so for ratio.X and difference.X. Characters of a
 * part's name that no table's name may have become '_'.
 */
#ifndef GS_CORE_RESULTS_SIDE_BY_SIDE_H
#define GS_CORE_RESULTS_SIDE_BY_SIDE_H

#include "core/results/results.h"

/* A view; `results` stay the caller's. */
struct gs_results_part {
    const char *name;
    const struct gs_results *results;
};

/* Everything of the parts into `results`: values and tables as details (files hold them all,
 * gs_results_print only counts them); a note once, behind the names of its parts unless all have
 * it; settings likewise, except one that says the part's own name. GS_EXISTS when a name is
 * taken; GS_NO_MEMORY. */
enum gs_status gs_results_take_parts(struct gs_results *results, const char *kind,
                                     const struct gs_results_part *parts, size_t count,
                                     struct gs_error *error);

/* Everything of one part, under its plain names. */
enum gs_status gs_results_take(struct gs_results *results, const struct gs_results *part,
                               struct gs_error *error);

/* Its values as details, and its tables. */
enum gs_status gs_results_take_details(struct gs_results *results, const struct gs_results *from,
                                       struct gs_error *error);

/* Table `name`, a row for each part: its name (column `kind`), then these of its values, null where
 * a part has none. Where any has an interval, table <name>_interval holds each with the ends of its
 * 95 % interval (X, X_low, X_high), a detail. */
enum gs_status gs_results_table_of_parts(struct gs_results *results, const char *name,
                                         const char *kind, const struct gs_results_part *parts,
                                         size_t count, const char *const *values,
                                         size_t value_count, struct gs_error *error);

/* What value or table `name` of a part is called in the whole (as long as no two parts have names
 * that differ in unusable characters alone). `text` has room for GS_PART_NAME. */
enum { GS_PART_NAME = 512 };
void gs_results_name_of_part(const char *kind, const char *part, const char *name, char *text);

#endif
