/* compare.h - two files of a kind, number by number. */
#ifndef GS_PROBES_INSPECT_COMPARE_H
#define GS_PROBES_INSPECT_COMPARE_H

#include "core/base/progress.h"
#include "core/base/status.h"
#include "core/results/results.h"

#include <stdbool.h>

/* Two numbers are close when |a - b| <= absolute + relative * max(|a|, |b|), which is the same
 * whichever file comes first. NaN is close to nothing, an infinity to itself. */
struct gs_tolerances {
    double relative, absolute;
};

/* Two checkpoints (of any format), two traces, two files of results, or two of numpy's arrays, told
 * apart by content; GS_UNSUPPORTED naming both kinds for anything else. What the file says is not
 * there is equal to the same in the other: an nll that nothing predicts, a value that is null.
 *
 * Results of command "diff": values diff.parts (tensors, datasets, columns compared), diff.beyond
 * (how many of them are not close everywhere, or not in both files with one shape),
 * diff.max_absolute and diff.max_relative (to the larger of the two numbers; over all parts); the
 * table "parts" with name, verdict ("same", "close", "beyond", "shape", "only in the first", "only
 * in the second"), elements, beyond (elements that are not close), max_absolute, max_relative,
 * place, first and second (the numbers at the largest absolute difference, NaN counting as the
 * largest); those beyond come first. Notes name configs that differ, which decide nothing.
 * *results is the caller's. `*close` says whether all of it is close. */
enum gs_status gs_compare_files(const char *first, const char *second,
                                const struct gs_tolerances *tolerances, struct gs_results **results,
                                bool *close, const struct gs_progress *progress,
                                struct gs_error *error);

#endif
