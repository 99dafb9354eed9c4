#include "probes/arrays/array_file.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/base/zip_archive.h"

#include <stdio.h>
#include <string.h>

struct array {
    char *name, *where;
    struct gs_npy npy;
    size_t entry;             /* in the archive */
    unsigned char *bytes;     /* unpacked; NULL when not loaded, or mapped */
    struct gs_error *refused; /* why it is not read; NULL: it is */
};

struct gs_array_file {
    char *path;
    struct gs_mapped_file mapped; /* cleared when the bytes are the caller's */
    struct gs_zip *zip;           /* NULL for one array */
    struct array *arrays;
    size_t count;
};

/* Length of the name without ".npy"; 0 when it has no such end, or nothing in front of it. */
static size_t stem(const char *name) {
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".npy") == 0 ? length - 4 : 0;
}

bool gs_array_archive(const unsigned char *bytes, size_t size) {
    struct gs_zip *zip;
    if (gs_zip_open(bytes, size, "", &zip, NULL) != GS_OK) return false;
    size_t arrays = 0, count = gs_zip_count(zip);
    for (size_t i = 0; i < count; i++)
        if (stem(gs_zip_name(zip, i))) arrays++;
    gs_zip_close(zip);
    return arrays > 0 && arrays == count;
}

/* ---- opening ---- */

static enum gs_status name_array(struct gs_array_file *file, struct array *array, const char *name,
                                 size_t length, struct gs_error *error) {
    size_t room = strlen(file->path) + length + 16;
    array->name = gs_calloc(length + 1, 1);
    array->where = gs_calloc(room, 1);
    if (!array->name || !array->where) return gs_fail_memory(error, room, "a name");
    memcpy(array->name, name, length);
    snprintf(array->where, room, length ? "%s, array %s" : "%s", file->path, array->name);
    return GS_OK;
}

static enum gs_status open_single(struct gs_array_file *file, const unsigned char *bytes,
                                  size_t size, struct gs_error *error) {
    file->arrays = gs_calloc(1, sizeof *file->arrays);
    if (!file->arrays) return gs_fail_memory(error, sizeof *file->arrays, "an array");
    file->count = 1;
    enum gs_status status = name_array(file, &file->arrays[0], "", 0, error);
    if (status != GS_OK) return status;
    return gs_npy_read(bytes, size, file->arrays[0].where, &file->arrays[0].npy, error);
}

/* An array of a kind that is not read may stand beside others. */
static void refuse(struct array *array) {
    struct gs_npy nothing = {.family = GS_NPY_OTHER};
    memcpy(nothing.descr, array->npy.descr, sizeof nothing.descr);
    if (!nothing.descr[0]) snprintf(nothing.descr, sizeof nothing.descr, "fields");
    array->npy = nothing;
}

/* The header of an entry of the archive. */
static enum gs_status open_entry(struct gs_array_file *file, size_t index, unsigned char *room,
                                 size_t room_size, struct gs_error *error) {
    struct array *array = &file->arrays[index];
    const char *name = gs_zip_name(file->zip, index);
    size_t length = stem(name), got;
    if (length == 0) {
        gs_fail(error, GS_UNSUPPORTED, "an archive that holds something else than arrays");
        gs_error_expected(error, "names that end in .npy");
        gs_error_found(error, "%s", name);
        gs_error_where(error, "%s", file->path);
        return GS_UNSUPPORTED;
    }
    array->entry = index;
    enum gs_status status = name_array(file, array, name, length, error);
    if (status == GS_OK) status = gs_zip_peek(file->zip, index, room, room_size, &got, error);
    if (status != GS_OK) return status;
    array->refused = gs_calloc(1, sizeof *array->refused);
    if (!array->refused) return gs_fail_memory(error, sizeof *array->refused, "an error");
    status = gs_npy_header(room, got, gs_zip_size(file->zip, index), array->where, &array->npy,
                           array->refused);
    if (status == GS_UNSUPPORTED) {
        refuse(array);
        return GS_OK;
    }
    if (status != GS_OK && error) *error = *array->refused;
    gs_free(array->refused);
    array->refused = NULL;
    return status;
}

static enum gs_status open_archive(struct gs_array_file *file, const unsigned char *bytes,
                                   size_t size, struct gs_error *error) {
    const size_t room_size = GS_NPY_MAX_HEADER + 12;
    enum gs_status status = gs_zip_open(bytes, size, file->path, &file->zip, error);
    if (status != GS_OK) return status;
    size_t count = gs_zip_count(file->zip);
    file->arrays = gs_calloc(count, sizeof *file->arrays);
    unsigned char *room = gs_calloc(room_size, 1);
    if (!file->arrays || !room)
        status = gs_fail_memory(error, count * sizeof *file->arrays, "arrays");
    else
        file->count = count;
    for (size_t i = 0; status == GS_OK && i < count; i++)
        status = open_entry(file, i, room, room_size, error);
    gs_free(room);
    return status;
}

static enum gs_status open_bytes(struct gs_array_file *file, const unsigned char *bytes,
                                 size_t size, struct gs_error *error) {
    if (gs_zip_recognise(bytes, size)) return open_archive(file, bytes, size, error);
    return open_single(file, bytes, size, error);
}

static struct gs_array_file *file_create(const char *path) {
    struct gs_array_file *file = gs_calloc(1, sizeof *file);
    if (file && !(file->path = gs_strdup(path))) {
        gs_free(file);
        return NULL;
    }
    return file;
}

static enum gs_status finish(struct gs_array_file *opened, enum gs_status status,
                             struct gs_array_file **file) {
    if (status == GS_OK)
        *file = opened;
    else
        gs_array_file_close(opened);
    return status;
}

enum gs_status gs_array_file_of_bytes(const unsigned char *bytes, size_t size, const char *path,
                                      struct gs_array_file **file, struct gs_error *error) {
    *file = NULL;
    struct gs_array_file *opened = file_create(path);
    if (!opened) return gs_fail_memory(error, sizeof *opened, "a file of arrays");
    return finish(opened, open_bytes(opened, bytes, size, error), file);
}

enum gs_status gs_array_file_open(const char *path, struct gs_array_file **file,
                                  struct gs_error *error) {
    *file = NULL;
    struct gs_array_file *opened = file_create(path);
    if (!opened) return gs_fail_memory(error, sizeof *opened, "a file of arrays");
    enum gs_status status = gs_file_map(path, &opened->mapped, error);
    if (status == GS_OK)
        status = open_bytes(opened, opened->mapped.bytes, opened->mapped.size, error);
    return finish(opened, status, file);
}

void gs_array_file_close(struct gs_array_file *file) {
    if (!file) return;
    for (size_t i = 0; i < file->count; i++) {
        gs_free(file->arrays[i].name);
        gs_free(file->arrays[i].where);
        gs_free(file->arrays[i].bytes);
        gs_free(file->arrays[i].refused);
    }
    gs_free(file->arrays);
    gs_zip_close(file->zip);
    gs_file_unmap(&file->mapped);
    gs_free(file->path);
    gs_free(file);
}

/* ---- arrays ---- */

const char *gs_array_file_path(const struct gs_array_file *file) {
    return file->path;
}

size_t gs_array_file_count(const struct gs_array_file *file) {
    return file->count;
}

const char *gs_array_file_name(const struct gs_array_file *file, size_t index) {
    return file->arrays[index].name;
}

const char *gs_array_file_where(const struct gs_array_file *file, size_t index) {
    return file->arrays[index].where;
}

const struct gs_npy *gs_array_file_at(const struct gs_array_file *file, size_t index) {
    return &file->arrays[index].npy;
}

enum gs_status gs_array_file_load(struct gs_array_file *file, size_t index,
                                  struct gs_error *error) {
    struct array *array = &file->arrays[index];
    if (array->refused) {
        if (error) *error = *array->refused;
        return array->refused->status;
    }
    if (array->npy.data) return GS_OK;
    enum gs_status status = gs_zip_load(file->zip, array->entry, &array->bytes, error);
    if (status == GS_OK) array->npy.data = array->bytes + array->npy.header;
    return status;
}

void gs_array_file_unload(struct gs_array_file *file, size_t index) {
    struct array *array = &file->arrays[index];
    if (!array->bytes) return;
    gs_free(array->bytes);
    array->bytes = NULL;
    array->npy.data = NULL;
}
