/* hostile_bytes.h - pickles and archives written byte by byte, so that they may be wrong. */
#ifndef GS_TESTS_CORE_CHECKPOINT_HOSTILE_BYTES_H
#define GS_TESTS_CORE_CHECKPOINT_HOSTILE_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct bytes {
    unsigned char *at;
    size_t size, room;
};

void put(struct bytes *to, const void *bytes, size_t size);
void put_byte(struct bytes *to, unsigned char byte);
void put_count(struct bytes *to, uint64_t count, size_t width); /* little-endian */
void clear(struct bytes *bytes);

/* Opcodes of pickle. */
void put_text(struct bytes *to, const char *text);
void put_integer(struct bytes *to, int64_t number);
void put_global(struct bytes *to, const char *module, const char *name);
void put_tuple(struct bytes *to, const int64_t *numbers, size_t count);

/* numpy's array of float32 with this shape, `columns` in Fortran's order, over these bytes. */
void put_array(struct bytes *to, const int64_t *shape, size_t rank, int columns, size_t bytes);

/* A window of PyTorch's into the storage of that key, which is said to have so many elements. */
struct window {
    const char *type, *key;
    int64_t elements, offset;
    size_t rank;
    int64_t size[9], stride[9];
};
void put_window(struct bytes *to, const struct window *window);

/* A zip archive of stored entries. */
struct entry {
    const char *name;
    const void *bytes;
    size_t size;
};
void put_archive(struct bytes *to, const struct entry *entries, size_t count);

#endif
