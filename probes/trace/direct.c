#include "probes/trace/direct.h"

#include <errno.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 30 }; /* of one call: Linux takes no more than 2 GiB */

static int read_all(int file, unsigned char *to, size_t bytes, uint64_t address) {
    while (bytes > 0) {
        ssize_t done = pread(file, to, bytes < MOST_BYTES ? bytes : MOST_BYTES, (off_t)address);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return done < 0 ? errno : EIO;
        to += done;
        address += (uint64_t)done;
        bytes -= (size_t)done;
    }
    return 0;
}

static int write_all(int file, const unsigned char *from, size_t bytes, uint64_t address) {
    while (bytes > 0) {
        ssize_t done = pwrite(file, from, bytes < MOST_BYTES ? bytes : MOST_BYTES, (off_t)address);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return done < 0 ? errno : EIO;
        from += done;
        address += (uint64_t)done;
        bytes -= (size_t)done;
    }
    return 0;
}

/* The part of rows first … that is in first's chunk, and where it stands. */
static size_t part_of(const struct gs_direct *direct, size_t first, size_t rows,
                      uint64_t *address) {
    size_t chunk = first / direct->chunk_rows, inside = first % direct->chunk_rows;
    size_t left = direct->chunk_rows - inside;
    *address = direct->address[chunk] + (uint64_t)inside * direct->row_bytes;
    return rows < left ? rows : left;
}

int gs_direct_read(const struct gs_direct *direct, size_t first, size_t rows, void *to) {
    unsigned char *bytes = to;
    int failed = 0;
    while (failed == 0 && rows > 0) {
        uint64_t address;
        size_t count = part_of(direct, first, rows, &address);
        failed = read_all(direct->file, bytes, count * direct->row_bytes, address);
        bytes += count * direct->row_bytes;
        first += count;
        rows -= count;
    }
    return failed;
}

int gs_direct_write(const struct gs_direct *direct, size_t first, size_t rows, const void *from) {
    const unsigned char *bytes = from;
    int failed = 0;
    while (failed == 0 && rows > 0) {
        uint64_t address;
        size_t count = part_of(direct, first, rows, &address);
        failed = write_all(direct->file, bytes, count * direct->row_bytes, address);
        bytes += count * direct->row_bytes;
        first += count;
        rows -= count;
    }
    return failed;
}
