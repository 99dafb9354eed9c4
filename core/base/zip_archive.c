#include "core/base/zip_archive.h"

#include "core/base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

enum { MOST_SHRUNK = 1032 }; /* deflate: 258 bytes in two bits */

struct entry {
    const char *name; /* the library's */
    size_t size, packed;
    uint16_t method;
};

struct gs_zip {
    zip_t *archive;
    char *path;
    struct entry *entries;
    size_t count;
};

bool gs_zip_recognise(const unsigned char *bytes, size_t size) {
    return size >= 22 && bytes[0] == 'P' && bytes[1] == 'K' &&
           ((bytes[2] == 3 && bytes[3] == 4) || (bytes[2] == 5 && bytes[3] == 6));
}

static enum gs_status fail_archive(struct gs_error *error, const char *path, zip_error_t *reason) {
    enum gs_status status = zip_error_code_zip(reason) == ZIP_ER_MEMORY ? GS_NO_MEMORY : GS_FORMAT;
    gs_fail(error, status, "a zip archive that cannot be read: %s", zip_error_strerror(reason));
    gs_error_expected(error, "a whole archive");
    gs_error_where(error, "%s", path);
    return status;
}

static enum gs_status fail_entry(struct gs_error *error, enum gs_status status,
                                 const struct gs_zip *zip, const char *name, const char *what) {
    gs_fail(error, status, "%s", what);
    gs_error_where(error, "%s, entry \"%s\"", zip->path, name);
    return status;
}

/* ---- the directory ---- */

static enum gs_status check_size(const struct gs_zip *zip, const struct entry *entry,
                                 struct gs_error *error) {
    size_t most = SIZE_MAX;
    if (entry->method == ZIP_CM_STORE)
        most = entry->packed;
    else if (!gs_multiply(entry->packed, MOST_SHRUNK, &most))
        most = SIZE_MAX;
    if (entry->size <= most && (entry->method != ZIP_CM_STORE || entry->size == most)) return GS_OK;
    fail_entry(error, GS_FORMAT, zip, entry->name, "a size that its bytes cannot unpack to");
    gs_error_expected(error, "%s%zu bytes", entry->method == ZIP_CM_STORE ? "" : "at most ", most);
    gs_error_found(error, "%zu", entry->size);
    return GS_FORMAT;
}

static enum gs_status read_entry(const struct gs_zip *zip, size_t index, struct entry *entry,
                                 struct gs_error *error) {
    const zip_uint64_t needed =
        ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    zip_stat_t stat;
    zip_stat_init(&stat);
    if (zip_stat_index(zip->archive, index, 0, &stat) != 0)
        return fail_archive(error, zip->path, zip_get_error(zip->archive));
    if ((stat.valid & needed) != needed || !stat.name[0] || stat.size > SIZE_MAX ||
        stat.comp_size > SIZE_MAX)
        return fail_entry(error, GS_FORMAT, zip, "", "an entry without a name or size");
    *entry = (struct entry){stat.name, (size_t)stat.size, (size_t)stat.comp_size, stat.comp_method};
    if ((stat.valid & ZIP_STAT_ENCRYPTION_METHOD) && stat.encryption_method != ZIP_EM_NONE)
        return fail_entry(error, GS_UNSUPPORTED, zip, entry->name, "an encrypted entry");
    if (entry->method != ZIP_CM_STORE && entry->method != ZIP_CM_DEFLATE) {
        fail_entry(error, GS_UNSUPPORTED, zip, entry->name, "packed by an unknown method");
        gs_error_expected(error, "stored, or deflated");
        gs_error_found(error, "method %d", (int)entry->method);
        return GS_UNSUPPORTED;
    }
    return check_size(zip, entry, error);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum gs_status check_names(const struct gs_zip *zip, struct gs_error *error) {
    const char **names = gs_calloc(zip->count, sizeof *names);
    if (!names) return gs_fail_memory(error, zip->count * sizeof *names, "names");
    for (size_t i = 0; i < zip->count; i++) names[i] = zip->entries[i].name;
    qsort(names, zip->count, sizeof *names, compare_names);
    enum gs_status status = GS_OK;
    for (size_t i = 1; status == GS_OK && i < zip->count; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            status = fail_entry(error, GS_FORMAT, zip, names[i], "a name that stands twice");
    gs_free(names);
    return status;
}

static enum gs_status read_directory(struct gs_zip *zip, size_t file_size, struct gs_error *error) {
    zip_int64_t count = zip_get_num_entries(zip->archive, 0);
    size_t packed = 0;
    zip->count = count > 0 ? (size_t)count : 0;
    zip->entries = gs_calloc(zip->count, sizeof *zip->entries);
    if (!zip->entries) return gs_fail_memory(error, zip->count * sizeof(struct entry), "entries");
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < zip->count; i++) {
        status = read_entry(zip, i, &zip->entries[i], error);
        bool fits = status == GS_OK && gs_add(packed, zip->entries[i].packed, &packed);
        if (status == GS_OK && !(fits && packed <= file_size))
            status = fail_entry(error, GS_FORMAT, zip, zip->entries[i].name,
                                "entries that share bytes: together they are larger than the file");
    }
    return status == GS_OK ? check_names(zip, error) : status;
}

/* ---- opening ---- */

static uint64_t load(const unsigned char *bytes, size_t width) {
    uint64_t number = 0;
    while (width-- > 0) number = number << 8 | bytes[width];
    return number;
}

/* Entries that the end record at `at` tells of: its own number, or, where a locator of ZIP64 stands
 * in front of it, the larger record's. 0 when the directory or that record would not be in front of
 * it in the file: then these bytes are other data by chance, or the library says what is wrong. */
static uint64_t told_entries(const unsigned char *bytes, size_t size, size_t at) {
    enum { LOCATOR = 20, RECORD = 56 };
    bool inside = load(bytes + at + 12, 4) + load(bytes + at + 16, 4) <= at;
    if (at < LOCATOR || memcmp(bytes + at - LOCATOR, "PK\6\7", 4) != 0)
        return inside ? load(bytes + at + 10, 2) : 0;
    uint64_t record = load(bytes + at - LOCATOR + 8, 8);
    if (size < RECORD || record > size - RECORD) return 0;
    return load(bytes + record + 32, 8);
}

/* The library takes memory for as many entries as it is told of, before it looks whether they are
 * there. It takes the end record for any that stands in the last 64 kilobytes. */
static enum gs_status check_count(const unsigned char *bytes, size_t size, const char *path,
                                  struct gs_error *error) {
    enum { END = 22, MOST_COMMENT = 65535, ENTRY = 46 }; /* the least bytes of each */
    size_t first = size > END + MOST_COMMENT ? size - END - MOST_COMMENT : 0;
    for (size_t at = first; at + END <= size; at++) {
        if (bytes[at] != 'P' || memcmp(bytes + at, "PK\5\6", 4) != 0) continue;
        uint64_t told = told_entries(bytes, size, at);
        if (told <= size / ENTRY) continue;
        gs_fail(error, GS_FORMAT, "an archive that tells of more entries than it can hold");
        gs_error_expected(error, "at most %zu", size / ENTRY);
        gs_error_found(error, "%llu", (unsigned long long)told);
        gs_error_where(error, "%s", path);
        return GS_FORMAT;
    }
    return GS_OK;
}

static enum gs_status open_archive(struct gs_zip *zip, const unsigned char *bytes, size_t size,
                                   struct gs_error *error) {
    zip_error_t reason;
    zip_error_init(&reason);
    zip_source_t *source = zip_source_buffer_create(bytes, size, 0, &reason);
    if (source) zip->archive = zip_open_from_source(source, ZIP_RDONLY, &reason);
    enum gs_status status = zip->archive ? GS_OK : fail_archive(error, zip->path, &reason);
    if (source && !zip->archive) zip_source_free(source);
    zip_error_fini(&reason);
    return status;
}

enum gs_status gs_zip_open(const unsigned char *bytes, size_t size, const char *path,
                           struct gs_zip **zip, struct gs_error *error) {
    *zip = NULL;
    if (!gs_zip_recognise(bytes, size)) {
        gs_fail(error, GS_FORMAT, "not a zip archive");
        gs_error_expected(error, "the letters PK at byte 0, and at least 22 bytes");
        gs_error_where(error, "%s", path);
        return GS_FORMAT;
    }
    struct gs_zip *opened = gs_calloc(1, sizeof *opened);
    if (!opened || !(opened->path = gs_strdup(path))) {
        gs_free(opened);
        return gs_fail_memory(error, sizeof *opened, "an archive");
    }
    enum gs_status status = check_count(bytes, size, path, error);
    if (status == GS_OK) status = open_archive(opened, bytes, size, error);
    if (status == GS_OK) status = read_directory(opened, size, error);
    if (status != GS_OK) {
        gs_zip_close(opened);
        return status;
    }
    *zip = opened;
    return GS_OK;
}

void gs_zip_close(struct gs_zip *zip) {
    if (!zip) return;
    if (zip->archive) zip_discard(zip->archive);
    gs_free(zip->entries);
    gs_free(zip->path);
    gs_free(zip);
}

/* ---- entries ---- */

size_t gs_zip_count(const struct gs_zip *zip) {
    return zip->count;
}

const char *gs_zip_name(const struct gs_zip *zip, size_t index) {
    return zip->entries[index].name;
}

size_t gs_zip_size(const struct gs_zip *zip, size_t index) {
    return zip->entries[index].size;
}

size_t gs_zip_find(const struct gs_zip *zip, const char *name) {
    for (size_t i = 0; i < zip->count; i++)
        if (strcmp(zip->entries[i].name, name) == 0) return i;
    return SIZE_MAX;
}

static bool read_bytes(zip_file_t *file, unsigned char *bytes, size_t size) {
    size_t done = 0;
    while (done < size) {
        zip_int64_t got = zip_fread(file, bytes + done, size - done);
        if (got <= 0) return false;
        done += (size_t)got;
    }
    return true;
}

/* Behind the last byte the library compares length and checksum. */
static bool at_end(zip_file_t *file) {
    unsigned char more;
    return zip_fread(file, &more, 1) == 0;
}

static enum gs_status fail_read(const struct gs_zip *zip, size_t index, zip_file_t *file,
                                struct gs_error *error) {
    zip_error_t *reason = file ? zip_file_get_error(file) : zip_get_error(zip->archive);
    bool said = zip_error_code_zip(reason) != ZIP_ER_OK;
    gs_fail(error, GS_FORMAT, "an entry that cannot be unpacked: %s",
            said ? zip_error_strerror(reason) : "it has another length than the archive says");
    gs_error_where(error, "%s, entry \"%s\"", zip->path, zip->entries[index].name);
    return GS_FORMAT;
}

enum gs_status gs_zip_read(struct gs_zip *zip, size_t index, void *bytes, struct gs_error *error) {
    zip_file_t *file = zip_fopen_index(zip->archive, index, 0);
    bool good = file && read_bytes(file, bytes, zip->entries[index].size) && at_end(file);
    enum gs_status status = good ? GS_OK : fail_read(zip, index, file, error);
    if (file) zip_fclose(file);
    return status;
}

enum gs_status gs_zip_peek(struct gs_zip *zip, size_t index, void *bytes, size_t size, size_t *got,
                           struct gs_error *error) {
    size_t whole = zip->entries[index].size;
    *got = size < whole ? size : whole;
    zip_file_t *file = zip_fopen_index(zip->archive, index, 0);
    bool good = file && read_bytes(file, bytes, *got);
    enum gs_status status = good ? GS_OK : fail_read(zip, index, file, error);
    if (file) zip_fclose(file);
    return status;
}

enum gs_status gs_zip_load(struct gs_zip *zip, size_t index, unsigned char **bytes,
                           struct gs_error *error) {
    *bytes = gs_calloc(zip->entries[index].size, 1);
    if (!*bytes) return gs_fail_memory(error, zip->entries[index].size, "an entry of an archive");
    enum gs_status status = gs_zip_read(zip, index, *bytes, error);
    if (status == GS_OK) return GS_OK;
    gs_free(*bytes);
    *bytes = NULL;
    return status;
}
