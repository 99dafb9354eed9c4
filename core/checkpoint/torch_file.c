#include "core/checkpoint/torch_file.h"

#include "core/base/memory.h"
#include "core/base/zip_archive.h"
#include "core/checkpoint/pickle_torch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PACKED = 64, SMALL = 1 << 20 }; /* times; bytes that are always fine */

struct piece {
    const char *name; /* of the entry; the archive's */
    size_t index;
};

struct gs_torch_file {
    struct gs_zip *zip;
    char *path, *folder; /* the one that all entries stand in, with its '/' */
    unsigned char *pickle_bytes;
    struct gs_pickle *pickle;
    bool big_endian;
    size_t count;
    struct piece *pieces;   /* by name */
    unsigned char **loaded; /* by index in the archive */
};

void gs_torch_file_close(struct gs_torch_file *file) {
    if (!file) return;
    for (size_t i = 0; file->loaded && i < file->count; i++) gs_free(file->loaded[i]);
    gs_pickle_destroy(file->pickle);
    gs_free(file->pickle_bytes);
    gs_free(file->pieces);
    gs_free(file->loaded);
    gs_free(file->folder);
    gs_zip_close(file->zip);
    gs_free(file->path);
    gs_free(file);
}

const struct gs_pickle *gs_torch_file_pickle(const struct gs_torch_file *file) {
    return file->pickle;
}

size_t gs_torch_file_size(const struct gs_torch_file *file) {
    size_t size = 0;
    for (size_t i = 0; i < file->count; i++)
        if (!gs_add(size, gs_zip_size(file->zip, i), &size)) return SIZE_MAX;
    return size;
}

/* ---- opening -------------------------------------------------------------------------------- */

static enum gs_status fail_archive(const struct gs_torch_file *file, enum gs_status status,
                                   const char *what, const char *entry, struct gs_error *error) {
    gs_fail(error, status, "%s", what);
    if (entry) gs_error_found(error, "entry \"%.200s\"", entry);
    gs_error_where(error, "%s", file->path);
    return status;
}

/* Nothing is ever unpacked to a disk; but names that lead out of an archive come from no writer. */
static bool leads_out(const char *name) {
    if (name[0] == '/' || strchr(name, '\\')) return true;
    for (const char *part = name; part; part = strchr(part, '/')) {
        if (*part == '/') part++;
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0')) return true;
    }
    return false;
}

/* torch.save packs nothing; what somebody packed again is about as large as it was. Zeros that fill
 * a memory are no checkpoint. */
static enum gs_status check_unpacked(const struct gs_torch_file *file, size_t packed,
                                     struct gs_error *error) {
    size_t most, unpacked = gs_torch_file_size(file);
    if (!gs_multiply(packed, MOST_PACKED, &most) || !gs_add(most, SMALL, &most)) most = SIZE_MAX;
    if (unpacked <= most) return GS_OK;
    fail_archive(file, GS_UNSUPPORTED, "the archive unpacks to far more than its size", NULL,
                 error);
    gs_error_expected(error, "at most %zu bytes, %d times its size", most, MOST_PACKED);
    gs_error_found(error, "%zu", unpacked);
    gs_error_next(error, "save it again with torch.save");
    return GS_UNSUPPORTED;
}

static int compare_pieces(const void *a, const void *b) {
    return strcmp(((const struct piece *)a)->name, ((const struct piece *)b)->name);
}

static enum gs_status list_pieces(struct gs_torch_file *file, struct gs_error *error) {
    file->count = gs_zip_count(file->zip);
    file->pieces = gs_calloc(file->count, sizeof *file->pieces);
    file->loaded = gs_calloc(file->count, sizeof *file->loaded);
    if (!file->pieces || !file->loaded)
        return gs_fail_memory(error, file->count * sizeof *file->pieces, "an archive's entries");
    for (size_t i = 0; i < file->count; i++) {
        const char *name = gs_zip_name(file->zip, i);
        if (leads_out(name))
            return fail_archive(file, GS_FORMAT, "an entry's name leads out of the archive", name,
                                error);
        file->pieces[i] = (struct piece){name, i};
    }
    if (file->count) qsort(file->pieces, file->count, sizeof *file->pieces, compare_pieces);
    return GS_OK;
}

/* The entry folder + name; SIZE_MAX when there is none. */
static size_t find_piece(const struct gs_torch_file *file, const char *name, size_t size) {
    char whole[1200];
    int length = snprintf(whole, sizeof whole, "%s%.*s", file->folder, (int)size, name);
    if (length < 0 || (size_t)length >= sizeof whole || !file->count) return SIZE_MAX;
    struct piece key = {whole, 0};
    struct piece *found =
        bsearch(&key, file->pieces, file->count, sizeof *file->pieces, compare_pieces);
    return found ? found->index : SIZE_MAX;
}

/* The entry's name behind its folder's, when it is the pickle. */
static const char *pickle_name(const char *name) {
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
    return strcmp(last, "data.pkl") == 0 && strlen(name) <= 1000 ? last : NULL;
}

bool gs_torch_file_recognise(const unsigned char *bytes, size_t size) {
    struct gs_zip *zip;
    bool found = false;
    if (!gs_zip_recognise(bytes, size) || gs_zip_open(bytes, size, "", &zip, NULL) != GS_OK)
        return false;
    for (size_t i = 0; i < gs_zip_count(zip) && !found; i++)
        found = pickle_name(gs_zip_name(zip, i)) != NULL;
    gs_zip_close(zip);
    return found;
}

static enum gs_status find_folder(struct gs_torch_file *file, struct gs_error *error) {
    for (size_t i = 0; i < file->count; i++) {
        const char *name = gs_zip_name(file->zip, i), *last = pickle_name(name);
        if (!last) continue;
        file->folder = gs_strdup(name);
        if (!file->folder) return gs_fail_memory(error, strlen(name), "a name");
        file->folder[last - name] = '\0';
        return GS_OK;
    }
    fail_archive(file, GS_UNSUPPORTED, "a zip archive that torch.save has not written", NULL,
                 error);
    gs_error_expected(error, "an entry data.pkl in a folder");
    gs_error_found(error, "%zu entries, the first \"%.150s\"", file->count,
                   file->count ? gs_zip_name(file->zip, 0) : "");
    return GS_UNSUPPORTED;
}

static enum gs_status read_byte_order(struct gs_torch_file *file, struct gs_error *error) {
    char text[16] = "little";
    size_t index = find_piece(file, "byteorder", 9);
    if (index == SIZE_MAX) return GS_OK; /* older writers */
    size_t size = gs_zip_size(file->zip, index);
    if (size >= sizeof text)
        return fail_archive(file, GS_FORMAT, "the byte order is none", "byteorder", error);
    memset(text, 0, sizeof text);
    enum gs_status status = gs_zip_read(file->zip, index, text, error);
    if (status != GS_OK) return status;
    file->big_endian = strcmp(text, "big") == 0;
    if (file->big_endian || strcmp(text, "little") == 0) return GS_OK;
    return fail_archive(file, GS_FORMAT, "the byte order is none", "byteorder", error);
}

static enum gs_status read_pickle(struct gs_torch_file *file, struct gs_error *error) {
    char where[600];
    size_t index = find_piece(file, "data.pkl", 8);
    snprintf(where, sizeof where, "%.400s, entry \"%.150sdata.pkl\"", file->path, file->folder);
    enum gs_status status = gs_zip_load(file->zip, index, &file->pickle_bytes, error);
    if (status != GS_OK) return status;
    return gs_pickle_parse(file->pickle_bytes, gs_zip_size(file->zip, index), where, &file->pickle,
                           NULL, error);
}

enum gs_status gs_torch_file_open(const unsigned char *bytes, size_t size, const char *path,
                                  struct gs_torch_file **file, struct gs_error *error) {
    struct gs_torch_file *opened = gs_calloc(1, sizeof *opened);
    if (!opened) return gs_fail_memory(error, sizeof *opened, "a file of PyTorch");
    enum gs_status status = GS_OK;
    opened->path = gs_strdup(path);
    if (!opened->path) status = gs_fail_memory(error, strlen(path), "a path");
    if (status == GS_OK) status = gs_zip_open(bytes, size, path, &opened->zip, error);
    if (status == GS_OK) status = list_pieces(opened, error);
    if (status == GS_OK) status = check_unpacked(opened, size, error);
    if (status == GS_OK) status = find_folder(opened, error);
    if (status == GS_OK) status = read_byte_order(opened, error);
    if (status == GS_OK) status = read_pickle(opened, error);
    if (status != GS_OK) {
        gs_torch_file_close(opened);
        return status;
    }
    *file = opened;
    return GS_OK;
}

/* ---- tensors -------------------------------------------------------------------------------- */

enum gs_status gs_torch_file_tensor(const struct gs_torch_file *file,
                                    const struct gs_pickle_value *value,
                                    struct gs_stored_tensor *tensor, struct gs_error *error) {
    struct gs_torch_storage storage;
    char name[80];
    enum gs_status status = gs_torch_read(value, tensor, &storage, error);
    if (status != GS_OK) return status;
    tensor->big_endian = file->big_endian;
    tensor->bytes = NULL;
    if (tensor->count == 0) tensor->offset = 0;
    snprintf(name, sizeof name, "data/%.*s", (int)storage.key_size, storage.key);
    tensor->storage = find_piece(file, name, strlen(name));
    size_t there = tensor->storage == SIZE_MAX ? 0 : gs_zip_size(file->zip, tensor->storage);
    if (tensor->storage != SIZE_MAX && there >= storage.size) return GS_OK;
    gs_fail(error, GS_FORMAT, "the archive lacks the storage of a tensor, or has less of it");
    gs_error_expected(error, "an entry \"%.150s%s\" of %zu bytes", file->folder, name,
                      storage.size);
    gs_error_found(error, tensor->storage == SIZE_MAX ? "none" : "%zu bytes", there);
    gs_error_where(error, "tensor \"%.200s\"", tensor->name ? tensor->name : "");
    return GS_FORMAT;
}

enum gs_status gs_torch_file_load(struct gs_torch_file *file, struct gs_stored_tensor *tensor,
                                  struct gs_error *error) {
    unsigned char **piece = &file->loaded[tensor->storage];
    enum gs_status status = GS_OK;
    if (!*piece) status = gs_zip_load(file->zip, tensor->storage, piece, error);
    if (status == GS_OK) tensor->bytes = *piece + tensor->offset;
    return status;
}

/* ---- what came before ------------------------------------------------------------------------ */

/* A pickle of this number stands in front of those of the format before the archives. */
static const unsigned char magic[] = {0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19};

static bool begins_with_magic(const unsigned char *bytes, size_t size) {
    return size > 4 + sizeof magic && bytes[0] == 0x80 && bytes[2] == 0x8a &&
           bytes[3] == sizeof magic && memcmp(bytes + 4, magic, sizeof magic) == 0;
}

enum gs_status gs_torch_refuse_old(const unsigned char *bytes, size_t size, const char *path,
                                   struct gs_error *error) {
    bool is_tar = size > 262 && memcmp(bytes + 257, "ustar", 5) == 0;
    if (!is_tar && !begins_with_magic(bytes, size)) return GS_OK;
    gs_fail(error, GS_UNSUPPORTED, "a PyTorch file of the format before version 1.6");
    gs_error_expected(error, "the zip archive that torch.save writes since then");
    gs_error_found(error, is_tar ? "a tar archive" : "PyTorch's old magic number");
    gs_error_where(error, "%s", path);
    gs_error_next(error, "in Python: torch.save(torch.load(OLD, weights_only=True), NEW)");
    return GS_UNSUPPORTED;
}
