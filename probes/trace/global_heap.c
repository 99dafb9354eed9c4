#include "probes/trace/global_heap.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

struct collection {
    FILE *stream;
    uint64_t address, size;
    size_t size_size; /* bytes of a size in this file */
};

static uint64_t little_endian(const unsigned char *bytes, size_t count) {
    uint64_t number = 0;
    for (size_t i = count; i > 0; i--) number = number << 8 | bytes[i - 1];
    return number;
}

static uint64_t aligned(uint64_t size) {
    return (size + 7) / 8 * 8;
}

/* Both heads are four to eight bytes and a size, filled up to a multiple of eight. */
static uint64_t head_size(const struct collection *heap) {
    return aligned(8 + heap->size_size);
}

static bool read_at(const struct collection *heap, uint64_t offset, unsigned char *bytes,
                    size_t count) {
    return fseeko(heap->stream, (off_t)(heap->address + offset), SEEK_SET) == 0 &&
           fread(bytes, 1, count, heap->stream) == count;
}

static bool open_collection(struct collection *heap) {
    unsigned char head[16];
    if (fseeko(heap->stream, 0, SEEK_END) != 0) return false;
    off_t end = ftello(heap->stream);
    if (end < 0 || heap->address > (uint64_t)end) return false;
    if (!read_at(heap, 0, head, 8 + heap->size_size) || memcmp(head, "GCOL\1", 5) != 0)
        return false;
    heap->size = little_endian(head + 8, heap->size_size);
    return heap->size >= head_size(heap) && heap->size <= (uint64_t)end - heap->address;
}

/* Walks over every object, as the library does. */
static bool holds(const struct collection *heap, uint64_t index, uint64_t length) {
    bool found = false;
    for (uint64_t at = head_size(heap); heap->size - at >= head_size(heap);) {
        unsigned char head[16];
        if (!read_at(heap, at, head, 8 + heap->size_size)) return false;
        uint64_t number = little_endian(head, 2), left = heap->size - at;
        uint64_t size = little_endian(head + 8, heap->size_size);
        if (size > left) return false;
        /* object 0 is the free space, whose size takes in its head */
        uint64_t room = number == 0 ? size : head_size(heap) + aligned(size);
        if (room < head_size(heap) || room > left) return false;
        if (number != 0 && number == index) {
            if (found || size != length) return false;
            found = true;
        }
        at += room;
    }
    return found;
}

bool gs_heap_text_is_sound(const char *path, uint64_t base,
                           const unsigned char reference[GS_HEAP_REFERENCE], size_t address_size,
                           size_t size_size) {
    if (address_size > 8 || size_size > 8) return false;
    uint64_t length = little_endian(reference, 4);
    uint64_t address = little_endian(reference + 4, address_size);
    uint64_t index = little_endian(reference + 4 + address_size, 4);
    if (address == 0) return length == 0; /* no text */
    if (address > UINT64_MAX - base) return false;
    struct collection heap = {fopen(path, "rb"), base + address, 0, size_size};
    if (!heap.stream) return false;
    bool sound = open_collection(&heap) && holds(&heap, index, length);
    fclose(heap.stream);
    return sound;
}
