/* direct.h - rows of a dataset straight between memory and the file, without the library between.
 *
 * For datasets whose rows stand in the file as they stand in memory: contiguous, or in chunks of
 * whole rows without filters. Safe from many threads at once.
 */
#ifndef GS_PROBES_TRACE_DIRECT_H
#define GS_PROBES_TRACE_DIRECT_H

#include <stddef.h>
#include <stdint.h>

struct gs_direct {
    int file; /* descriptor, borrowed */
    size_t row_bytes;
    size_t chunk_rows;       /* all rows for a contiguous dataset */
    const uint64_t *address; /* of each chunk in the file */
};

/* Rows first … first + rows - 1, which must exist. 0, or an errno: EIO where the file ends before
 * them. */
int gs_direct_read(const struct gs_direct *direct, size_t first, size_t rows, void *to);
int gs_direct_write(const struct gs_direct *direct, size_t first, size_t rows, const void *from);
/* Chunks first … of `rows` rows in all, chunk i from `from[i]`: as few calls as their places in the
 * file allow. */
int gs_direct_write_chunks(const struct gs_direct *direct, size_t first, size_t rows,
                           const void *const *from);

#endif
