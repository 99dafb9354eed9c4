/* sheet.h - facts and tables about a file, being filled. For the files of probes/inspect alone.
 *
 * After a failure further calls do nothing, so that a description reads without checks.
 */
#ifndef GS_PROBES_INSPECT_SHEET_H
#define GS_PROBES_INSPECT_SHEET_H

#include "core/base/status.h"
#include "core/results/results.h"

#include <stddef.h>
#include <stdint.h>

struct gs_sheet {
    struct gs_results *results;
    struct gs_table *facts; /* name, value */
    enum gs_status status;
    struct gs_error *error;
};

void gs_sheet_fact(struct gs_sheet *sheet, const char *name, struct gs_cell value);
/* A text that may be absent: NULL and "" are left out. */
void gs_sheet_text(struct gs_sheet *sheet, const char *name, const char *text);
void gs_sheet_whole(struct gs_sheet *sheet, const char *name, int64_t number);
/* NULL after a failure, which gs_sheet_row accepts. */
struct gs_table *gs_sheet_table(struct gs_sheet *sheet, const char *name,
                                const char *const *columns, size_t count);
void gs_sheet_row(struct gs_sheet *sheet, struct gs_table *to, const struct gs_cell *cells);

/* "2 x 3", "scalar". */
void gs_sheet_shape(const size_t *shape, size_t rank, char *text, size_t size);

/* What kinds of files hold; describe.h says what is in the tables. */
void gs_describe_arrays(struct gs_sheet *sheet, const char *path);
void gs_describe_trace(struct gs_sheet *sheet, const char *path);
void gs_describe_hdf5(struct gs_sheet *sheet, const char *path);
void gs_describe_claims(struct gs_sheet *sheet, const char *path);

#endif
