#include "analyses/stats/rows.h"

#include <string.h>

static enum gs_status read_array(const struct gs_rows *rows, uint64_t first, size_t count,
                                 float *values, struct gs_error *error) {
    (void)error;
    memcpy(values, rows->array + (size_t)first * rows->width, count * rows->width * sizeof *values);
    return GS_OK;
}

struct gs_rows gs_rows_of_array(const float *array, size_t width, size_t sequences,
                                const uint64_t *start, const uint64_t *length) {
    return (struct gs_rows){.sequences = sequences,
                            .width = width,
                            .start = start,
                            .length = length,
                            .read = read_array,
                            .side_by_side = true,
                            .array = array};
}

enum gs_status gs_rows_read(const struct gs_rows *rows, size_t sequence, uint64_t from,
                            size_t count, float *values, struct gs_error *error) {
    if (count == 0) return GS_OK;
    return rows->read(rows, rows->start[sequence] + from, count, values, error);
}

uint64_t gs_rows_total(const struct gs_rows *rows) {
    uint64_t total = 0;
    for (size_t s = 0; s < rows->sequences; s++) total += rows->length[s];
    return total;
}

uint64_t gs_rows_longest(const struct gs_rows *rows) {
    uint64_t longest = 0;
    for (size_t s = 0; s < rows->sequences; s++)
        if (rows->length[s] > longest) longest = rows->length[s];
    return longest;
}
