#include "probes/trace/direct.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    MOST_BYTES = 1 << 30, /* of one call: Linux takes no more than 2 GiB */
    MOST_PARTS = 64       /* of one call: at least 16 everywhere, 1,024 on Linux */
};

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

/* Parts that stand one behind the other in the file. */
struct parts {
    struct iovec list[MOST_PARTS];
    int count;
    size_t bytes;
    uint64_t address;
};

/* All of them, whatever a call takes. */
static int write_parts(int file, struct parts *parts) {
    struct iovec *next = parts->list;
    while (parts->bytes > 0) {
        ssize_t done = pwritev(file, next, parts->count, (off_t)parts->address);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return done < 0 ? errno : EIO;
        parts->address += (uint64_t)done;
        parts->bytes -= (size_t)done;
        size_t left = (size_t)done;
        for (; parts->count > 0 && left >= next->iov_len; parts->count--) left -= next++->iov_len;
        if (left == 0) continue;
        next->iov_base = (unsigned char *)next->iov_base + left;
        next->iov_len -= left;
    }
    parts->count = 0;
    return 0;
}

static bool fits_behind(const struct parts *parts, uint64_t address, size_t bytes) {
    return parts->count < MOST_PARTS && address == parts->address + parts->bytes &&
           bytes <= MOST_BYTES && parts->bytes <= MOST_BYTES - bytes;
}

int gs_direct_write_chunks(const struct gs_direct *direct, size_t first, size_t rows,
                           const void *const *from) {
    struct parts parts = {.count = 0};
    for (size_t i = 0; rows > 0; i++) {
        size_t count = rows < direct->chunk_rows ? rows : direct->chunk_rows;
        size_t bytes = count * direct->row_bytes;
        uint64_t address = direct->address[first + i];
        if (parts.count && !fits_behind(&parts, address, bytes)) {
            int failed = write_parts(direct->file, &parts);
            if (failed) return failed;
        }
        if (parts.count == 0) parts.address = address;
        /* pwritev only reads */
        parts.list[parts.count++] = (struct iovec){(void *)(uintptr_t)from[i], bytes};
        parts.bytes += bytes;
        rows -= count;
    }
    return write_parts(direct->file, &parts);
}
