/* A zip archive of stored entries, written from front to back (APPNOTE.TXT of PKWARE, 4.3). */
#include "core/base/memory.h"
#include "probes/arrays/npy_write.h"

#include <string.h>

enum {
    LOCAL_SIZE = 30 + 20,           /* header and its ZIP64 field, without the name */
    CENTRAL_SIZE = 46 + 28,         /* the same in the directory */
    VERSION = 45,                   /* that knows ZIP64 */
    DATE = (0 << 9) | (1 << 5) | 1, /* 1980-01-01 */
    UTF8_NAME = 1 << 11
};

struct entry {
    char *name;
    uint64_t place, size; /* of its local header; of its bytes */
    uint32_t checksum;
};

struct gs_npz_writer {
    FILE *stream;
    struct entry *entries;
    size_t count, capacity;
    uint64_t place; /* bytes written so far */
    uint32_t table[256];
};

/* CRC-32 of ISO 3309, reflected: polynomial 0xedb88320. */
static void fill_table(uint32_t table[256]) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t rest = i;
        for (int bit = 0; bit < 8; bit++) rest = rest & 1 ? rest >> 1 ^ 0xedb88320u : rest >> 1;
        table[i] = rest;
    }
}

struct gs_npz_writer *gs_npz_writer_create(FILE *stream) {
    struct gs_npz_writer *writer = gs_calloc(1, sizeof *writer);
    if (!writer) return NULL;
    writer->stream = stream;
    fill_table(writer->table);
    return writer;
}

void gs_npz_writer_destroy(struct gs_npz_writer *writer) {
    if (!writer) return;
    for (size_t i = 0; i < writer->count; i++) gs_free(writer->entries[i].name);
    gs_free(writer->entries);
    gs_free(writer);
}

/* `size` bytes of `value`, low ones first, at *bytes, which moves on. */
static void put(unsigned char **bytes, uint64_t value, size_t size) {
    for (size_t i = 0; i < size; i++) *(*bytes)++ = (unsigned char)(value >> 8 * i & 0xff);
}

static void put_raw(struct gs_npz_writer *writer, const void *bytes, size_t size) {
    fwrite(bytes, 1, size, writer->stream);
    writer->place += size;
}

/* Sizes stand in the ZIP64 field; here all bits are set to say so. */
static void put_sizes(unsigned char **bytes, const struct entry *entry) {
    put(bytes, entry->checksum, 4);
    put(bytes, UINT32_MAX, 4);
    put(bytes, UINT32_MAX, 4);
    put(bytes, strlen(entry->name), 2);
}

static void make_local(const struct entry *entry, unsigned char *bytes) {
    put(&bytes, 0x04034b50, 4);
    put(&bytes, VERSION, 2);
    put(&bytes, UTF8_NAME, 2);
    put(&bytes, 0, 4); /* stored; midnight */
    put(&bytes, DATE, 2);
    put_sizes(&bytes, entry);
    put(&bytes, 20, 2);
}

static void make_local_sizes(const struct entry *entry, unsigned char *bytes) {
    put(&bytes, 1, 2); /* ZIP64 */
    put(&bytes, 16, 2);
    put(&bytes, entry->size, 8);
    put(&bytes, entry->size, 8);
}

static void put_local(struct gs_npz_writer *writer, const struct entry *entry) {
    unsigned char bytes[LOCAL_SIZE];
    make_local(entry, bytes);
    make_local_sizes(entry, bytes + 30);
    put_raw(writer, bytes, 30);
    put_raw(writer, entry->name, strlen(entry->name));
    put_raw(writer, bytes + 30, 20);
}

static bool grow(struct gs_npz_writer *writer) {
    if (writer->count < writer->capacity) return true;
    size_t capacity = writer->capacity ? 2 * writer->capacity : 8;
    struct entry *entries = gs_calloc(capacity, sizeof *entries);
    if (!entries) return false;
    if (writer->count) memcpy(entries, writer->entries, writer->count * sizeof *entries);
    gs_free(writer->entries);
    writer->entries = entries;
    writer->capacity = capacity;
    return true;
}

enum gs_status gs_npz_begin(struct gs_npz_writer *writer, const char *name,
                            struct gs_error *error) {
    size_t room = strlen(name) + sizeof ".npy";
    char *copy = gs_calloc(room, 1);
    if (!copy || !grow(writer)) {
        gs_free(copy);
        return gs_fail_memory(error, room, "an entry of an archive");
    }
    snprintf(copy, room, "%s.npy", name);
    struct entry *entry = &writer->entries[writer->count++];
    *entry = (struct entry){.name = copy, .place = writer->place, .checksum = UINT32_MAX};
    put_local(writer, entry);
    return GS_OK;
}

void gs_npz_write(struct gs_npz_writer *writer, const void *bytes, size_t size) {
    struct entry *entry = &writer->entries[writer->count - 1];
    const unsigned char *byte = bytes;
    uint32_t rest = entry->checksum;
    for (size_t i = 0; i < size; i++) rest = rest >> 8 ^ writer->table[(rest ^ byte[i]) & 0xff];
    entry->checksum = rest;
    entry->size += size;
    put_raw(writer, bytes, size);
}

/* What was not known when the header was written goes there now. */
void gs_npz_end(struct gs_npz_writer *writer) {
    struct entry *entry = &writer->entries[writer->count - 1];
    uint64_t end = writer->place;
    entry->checksum = ~entry->checksum;
    fseeko(writer->stream, (off_t)entry->place, SEEK_SET);
    put_local(writer, entry);
    fseeko(writer->stream, (off_t)end, SEEK_SET);
    writer->place = end;
}

static void put_central(struct gs_npz_writer *writer, const struct entry *entry) {
    unsigned char bytes[CENTRAL_SIZE], *at = bytes;
    put(&at, 0x02014b50, 4);
    put(&at, 3 << 8 | VERSION, 2); /* made on Unix */
    put(&at, VERSION, 2);
    put(&at, UTF8_NAME, 2);
    put(&at, 0, 4);
    put(&at, DATE, 2);
    put_sizes(&at, entry);
    put(&at, 28, 2);
    put(&at, 0, 6);              /* no comment, first disk, binary */
    put(&at, 0100644u << 16, 4); /* a plain file that all may read */
    put(&at, UINT32_MAX, 4);
    put_raw(writer, bytes, 46);
    put_raw(writer, entry->name, strlen(entry->name));
    put(&at, 1, 2);
    put(&at, 24, 2);
    put(&at, entry->size, 8);
    put(&at, entry->size, 8);
    put(&at, entry->place, 8);
    put_raw(writer, bytes + 46, 28);
}

void gs_npz_finish(struct gs_npz_writer *writer) {
    uint64_t directory = writer->place;
    for (size_t i = 0; i < writer->count; i++) put_central(writer, &writer->entries[i]);
    uint64_t end = writer->place;
    unsigned char bytes[56 + 20 + 22], *at = bytes;
    put(&at, 0x06064b50, 4);
    put(&at, 44, 8);
    put(&at, 3 << 8 | VERSION, 2);
    put(&at, VERSION, 2);
    put(&at, 0, 8); /* one disk */
    put(&at, writer->count, 8);
    put(&at, writer->count, 8);
    put(&at, end - directory, 8);
    put(&at, directory, 8);
    put(&at, 0x07064b50, 4); /* where that stands */
    put(&at, 0, 4);
    put(&at, end, 8);
    put(&at, 1, 4);
    put(&at, 0x06054b50, 4);
    put(&at, 0, 4);
    put(&at, UINT16_MAX, 2); /* all of it above */
    put(&at, UINT16_MAX, 2);
    put(&at, UINT32_MAX, 4);
    put(&at, UINT32_MAX, 4);
    put(&at, 0, 2);
    put_raw(writer, bytes, sizeof bytes);
}
