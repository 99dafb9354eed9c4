#include "tests/core/checkpoint/hostile_bytes.h"

#include "tests/support/support.h"

#include <stdlib.h>
#include <string.h>

void put(struct bytes *to, const void *bytes, size_t size) {
    if (to->size + size > to->room) {
        to->room = 2 * (to->size + size) + 64;
        to->at = realloc(to->at, to->room);
        assert_non_null(to->at);
    }
    if (size) memcpy(to->at + to->size, bytes, size);
    to->size += size;
}

void put_byte(struct bytes *to, unsigned char byte) {
    put(to, &byte, 1);
}

void put_count(struct bytes *to, uint64_t count, size_t width) {
    for (size_t i = 0; i < width; i++) put_byte(to, (unsigned char)(count >> (8 * i)));
}

void clear(struct bytes *bytes) {
    free(bytes->at);
    *bytes = (struct bytes){0};
}

void put_text(struct bytes *to, const char *text) {
    put_byte(to, 'X');
    put_count(to, strlen(text), 4);
    put(to, text, strlen(text));
}

void put_integer(struct bytes *to, int64_t number) {
    put(to, "\x8a\x08", 2);
    put_count(to, (uint64_t)number, 8);
}

void put_global(struct bytes *to, const char *module, const char *name) {
    put_byte(to, 'c');
    put(to, module, strlen(module));
    put_byte(to, '\n');
    put(to, name, strlen(name));
    put_byte(to, '\n');
}

void put_tuple(struct bytes *to, const int64_t *numbers, size_t count) {
    put_byte(to, '(');
    for (size_t i = 0; i < count; i++) put_integer(to, numbers[i]);
    put_byte(to, 't');
}

void put_array(struct bytes *to, const int64_t *shape, size_t rank, int columns, size_t bytes) {
    put_global(to, "numpy.core.multiarray", "_reconstruct");
    put(to, ")R(K\x01", 5);
    put_tuple(to, shape, rank);
    put_global(to, "numpy", "dtype");
    put(to,
        "U\x02"
        "f4\x85R(K\x03U\x01<tb",
        14);
    put_byte(to, columns ? 0x88 : 0x89);
    put_byte(to, 'B');
    put_count(to, bytes, 4);
    for (size_t i = 0; i < bytes; i++) put_byte(to, 0);
    put(to, "tb", 2);
}

void put_window(struct bytes *to, const struct window *window) {
    put_global(to, "torch._utils", "_rebuild_tensor_v2");
    put(to, "((", 2);
    put_text(to, "storage");
    put_global(to, "torch", window->type);
    put_text(to, window->key);
    put_text(to, "cpu");
    put_integer(to, window->elements);
    put(to, "tQ", 2);
    put_integer(to, window->offset);
    put_tuple(to, window->size, window->rank);
    put_tuple(to, window->stride, window->rank);
    put(to, "\x89NtR", 4);
}

static uint32_t crc32_of(const unsigned char *bytes, size_t size) {
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    return ~crc;
}

/* What stands in both headers of an entry. */
static void put_common(struct bytes *to, const struct entry *entry) {
    put_count(to, 20, 2);
    put_count(to, 0, 4); /* flags, stored */
    put_count(to, 0x210000, 4);
    put_count(to, crc32_of(entry->bytes, entry->size), 4);
    put_count(to, entry->size, 4);
    put_count(to, entry->size, 4);
    put_count(to, strlen(entry->name), 2);
    put_count(to, 0, 2);
}

void put_archive(struct bytes *to, const struct entry *entries, size_t count) {
    size_t starts[16];
    assert_true(count <= 16);
    for (size_t i = 0; i < count; i++) {
        starts[i] = to->size;
        put(to, "PK\x03\x04", 4);
        put_common(to, &entries[i]);
        put(to, entries[i].name, strlen(entries[i].name));
        put(to, entries[i].bytes, entries[i].size);
    }
    const size_t directory = to->size;
    for (size_t i = 0; i < count; i++) {
        put(to, "PK\x01\x02", 4);
        put_count(to, 20, 2);
        put_common(to, &entries[i]);
        put_count(to, 0, 6);
        put_count(to, 0, 4);
        put_count(to, starts[i], 4);
        put(to, entries[i].name, strlen(entries[i].name));
    }
    const size_t size = to->size - directory;
    put(to, "PK\x05\x06\0\0\0\0", 8);
    put_count(to, count, 2);
    put_count(to, count, 2);
    put_count(to, size, 4);
    put_count(to, directory, 4);
    put_count(to, 0, 2);
}
