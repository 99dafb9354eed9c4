#define _GNU_SOURCE /* sync_file_range, where there is one */
#include "probes/trace/hdf5_file.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "probes/trace/chunk_index.h"
#include "probes/trace/direct.h"
#include "probes/trace/global_heap.h"
#include "probes/trace/narrow.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    READ_CACHE = 16 * 1024 * 1024,
    TEXT_LIMIT = 16 * 1024 * 1024,        /* bytes of a fixed text; a longer one is damage */
    MOST_USER_BLOCK = 1024 * 1024 * 1024, /* bytes in front of the file that are looked behind */
    DEFLATE_LIMIT = 1100                  /* deflate shrinks by 1032 at most */
};

struct gs_h5 {
    hid_t id;
    hid_t links; /* link access: no external link is followed */
    char *path;
    bool external_met;
    bool writable;
    bool failed;      /* a write went wrong: the library's state is not to be trusted any more */
    int descriptor;   /* the library's own; -1 where it has none that we can use */
    uint64_t base;    /* addresses in the file count from here: the size of a user block */
    size_t half_node; /* K of chunk indexes; 0 where addresses and sizes are not 8 bytes each */
};

struct gs_h5_data {
    struct gs_h5 *file; /* borrowed */
    hid_t id;
    char *path;
    struct gs_h5_shape shape;
    enum { PLAIN, HALF, BRAIN } narrow; /* the two 16-bit floats */
    bool native;                        /* elements stand in the file as in memory */
    bool is_direct;                     /* rows can be read and written without the library */
    struct gs_direct direct;
    uint64_t *address; /* (chunks) of direct */
};

/* ---- the library and its errors ---- */

/* The conversion of a text of variable length to opaque bytes: its reference into the heap. */
static herr_t keep_reference(hid_t from, hid_t to, H5T_cdata_t *data, size_t count, size_t stride,
                             size_t background_stride, void *buffer, void *background,
                             hid_t transfer) {
    (void)from, (void)to, (void)count, (void)stride, (void)background_stride;
    (void)buffer, (void)background, (void)transfer;
    data->need_bkg = H5T_BKG_NO;
    return 0;
}

static void register_references(void) {
    hid_t text = H5Tcopy(H5T_C_S1), reference = H5Tcreate(H5T_OPAQUE, GS_HEAP_REFERENCE);
    H5Tset_size(text, H5T_VARIABLE);
    H5Tregister(H5T_PERS_SOFT, "heap reference", text, reference, keep_reference);
    H5Tclose(reference);
    H5Tclose(text);
}

/* In a library that is made for threads each has its own stack of errors, which it prints. */
static void stop_printing(void) {
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* Printing off, exit handler off, no filter plug-ins from the environment. */
static void start_library(void) {
    static bool started;
    if (started) return;
    started = true;
    H5dont_atexit();
    H5open();
    stop_printing();
    H5PLset_loading_state(0);
    register_references();
}

const char *gs_h5_version(void) {
    static char text[32];
    unsigned major = 0, minor = 0, release = 0;
    start_library();
    H5get_libversion(&major, &minor, &release);
    snprintf(text, sizeof text, "%u.%u.%u", major, minor, release);
    return text;
}

struct complaint {
    char text[192]; /* the innermost description: the cause */
    int errno_value;
    bool lock, newer;
};

static herr_t note_complaint(unsigned depth, const H5E_error2_t *entry, void *context) {
    struct complaint *complaint = context;
    const char *text = entry->desc ? entry->desc : "";
    if (depth == 0) snprintf(complaint->text, sizeof complaint->text, "%s", text);
    const char *number = strstr(text, "errno = ");
    if (number && complaint->errno_value == 0)
        complaint->errno_value = (int)strtol(number + strlen("errno = "), NULL, 10);
    if (strstr(text, "lock file")) complaint->lock = true;
    if (strstr(text, "bad version number") || strstr(text, "bad superblock version"))
        complaint->newer = true;
    return 0;
}

/* What HDF5's stack says now. Every further call of the library, a close included, wipes it. */
static struct complaint current_complaint(void) {
    struct complaint complaint = {.text = ""};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, note_complaint, &complaint);
    return complaint;
}

/* An error from a complaint: "<doing>: <cause>", in file, dataset or attribute. `object` may be
 * NULL. The status is GS_IO where the system gave an errno, else `otherwise`. */
static enum gs_status fail_as(struct gs_error *error, enum gs_status otherwise,
                              const struct gs_h5 *file, const char *object, const char *doing,
                              const struct complaint *complaint) {
    int number = complaint->errno_value;
    enum gs_status status = otherwise;
    H5Eclear2(H5E_DEFAULT);
    if (number != 0) {
        status = number == ENOENT ? GS_MISSING : number == EEXIST ? GS_EXISTS : GS_IO;
        gs_fail(error, status, "%s: %s (errno %d)", doing, strerror(number), number);
    } else
        gs_fail(error, status, "%s: %s", doing,
                complaint->text[0] ? complaint->text : "HDF5 failed");
    if (object)
        gs_error_where(error, "%s, %s", file->path, object);
    else
        gs_error_where(error, "%s", file->path);
    if (complaint->lock)
        gs_error_next(error, "HDF5 could not lock the file: another process may be writing it; on "
                             "a file system without locks set HDF5_USE_FILE_LOCKING=FALSE");
    if (complaint->newer)
        gs_error_next(error,
                      "a newer HDF5 than %s may have written it: write it with h5py.File(..., "
                      "libver=(\"earliest\", \"v110\"))",
                      gs_h5_version());
    return status;
}

/* The same right after the call that failed. */
static enum gs_status fail_h5(struct gs_error *error, enum gs_status otherwise,
                              const struct gs_h5 *file, const char *object, const char *doing) {
    struct complaint complaint = current_complaint();
    return fail_as(error, otherwise, file, object, doing, &complaint);
}

/* An error of our own about one object. */
static enum gs_status fail_object(struct gs_error *error, enum gs_status status,
                                  const struct gs_h5 *file, const char *object, const char *what) {
    gs_fail(error, status, "%s", what);
    gs_error_where(error, "%s, %s", file->path, object);
    return status;
}

/* ---- files ---- */

/* At byte 0 or, behind a user block, 512, 1024, 2048, … */
bool gs_h5_recognise(const char *path) {
    static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    unsigned char bytes[8];
    FILE *stream = fopen(path, "rb");
    if (!stream) return false;
    bool same = false, more = true;
    for (off_t place = 0; more && !same; place = place ? 2 * place : 512) {
        more = place < MOST_USER_BLOCK && fseeko(stream, place, SEEK_SET) == 0 &&
               fread(bytes, 1, sizeof bytes, stream) == sizeof bytes;
        same = more && memcmp(bytes, signature, sizeof bytes) == 0;
    }
    fclose(stream);
    return same;
}

/* Called before an external link is followed; a negative answer stops HDF5. */
static herr_t refuse_external(const char *parent_file, const char *parent_group,
                              const char *child_file, const char *child_object, unsigned *flags,
                              hid_t access, void *context) {
    (void)parent_file, (void)parent_group, (void)child_file, (void)child_object, (void)flags,
        (void)access;
    ((struct gs_h5 *)context)->external_met = true;
    return -1;
}

/* Frees our side; the library's handles are closed or given up before. */
static void file_free(struct gs_h5 *file) {
    if (file->links >= 0) H5Pclose(file->links);
    gs_free(file->path);
    gs_free(file);
}

static struct gs_h5 *file_create(const char *path) {
    start_library();
    struct gs_h5 *file = gs_calloc(1, sizeof *file);
    if (!file) return NULL;
    file->id = H5I_INVALID_HID;
    file->descriptor = -1;
    file->path = gs_strdup(path);
    file->links = H5Pcreate(H5P_LINK_ACCESS);
    if (!file->path || file->links < 0 || H5Pset_elink_cb(file->links, refuse_external, file) < 0) {
        file_free(file);
        return NULL;
    }
    return file;
}

/* The descriptor of an opened file, and how its chunk indexes are laid out. */
static void look_inside(struct gs_h5 *file) {
    size_t address_size = 0, size_size = 0;
    unsigned half_node = 0;
    void *handle = NULL;
    hsize_t user_block = 0;
    hid_t access = H5Fget_access_plist(file->id), creation = H5Fget_create_plist(file->id);
    if (access >= 0 && H5Pget_driver(access) == H5FD_SEC2 &&
        H5Fget_vfd_handle(file->id, access, &handle) >= 0 && handle)
        file->descriptor = *(const int *)handle;
    if (creation >= 0 && H5Pget_sizes(creation, &address_size, &size_size) >= 0 &&
        address_size == 8 && size_size == 8 && H5Pget_istore_k(creation, &half_node) >= 0)
        file->half_node = half_node;
    if (creation >= 0 && H5Pget_userblock(creation, &user_block) >= 0) file->base = user_block;
    if (creation >= 0) H5Pclose(creation);
    if (access >= 0) H5Pclose(access);
    H5Eclear2(H5E_DEFAULT);
}

/* What fopen says about a file that HDF5 could not open: its words are better. */
static enum gs_status fail_open(struct gs_error *error, const struct gs_h5 *file) {
    if (gs_path_is_folder(file->path))
        return gs_fail_errno(error, EISDIR, "opening an HDF5 file", file->path);
    FILE *stream = fopen(file->path, "rb");
    if (!stream) return gs_fail_errno(error, errno, "opening an HDF5 file", file->path);
    fclose(stream);
    if (!gs_h5_recognise(file->path)) {
        H5Eclear2(H5E_DEFAULT);
        gs_fail(error, GS_FORMAT, "not an HDF5 file");
        gs_error_expected(error, "the HDF5 signature at byte 0, or behind a user block");
        gs_error_where(error, "%s", file->path);
        return GS_FORMAT;
    }
    return fail_h5(error, GS_FORMAT, file, NULL, "opening an HDF5 file");
}

enum gs_status gs_h5_open(const char *path, struct gs_h5 **file, struct gs_error *error) {
    *file = NULL;
    struct gs_h5 *opened = file_create(path);
    if (!opened) return gs_fail_memory(error, sizeof *opened, "an HDF5 file");
    if (gs_h5_recognise(path)) opened->id = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (opened->id < 0) {
        enum gs_status status = fail_open(error, opened);
        file_free(opened);
        return status;
    }
    look_inside(opened);
    *file = opened;
    return GS_OK;
}

/* Metadata goes to the file at a flush and at no other time, so that a kill between two flushes
 * leaves what the last one wrote. */
static herr_t keep_metadata(hid_t access) {
    H5AC_cache_config_t config;
    config.version = H5AC__CURR_CACHE_CONFIG_VERSION;
    if (H5Pget_mdc_config(access, &config) < 0) return -1;
    config.evictions_enabled = false;
    config.incr_mode = H5C_incr__off;
    config.flash_incr_mode = H5C_flash_incr__off;
    config.decr_mode = H5C_decr__off;
    return H5Pset_mdc_config(access, &config);
}

/* How files to be written are opened. */
static hid_t write_access(void) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access < 0 || keep_metadata(access) >= 0) return access;
    H5Pclose(access);
    return H5I_INVALID_HID;
}

enum gs_status gs_h5_create(const char *path, struct gs_h5 **file, struct gs_error *error) {
    *file = NULL;
    struct gs_h5 *created = file_create(path);
    if (!created) return gs_fail_memory(error, sizeof *created, "an HDF5 file");
    hid_t access = write_access();
    bool there = gs_path_exists(path);
    if (access >= 0) created->id = H5Fcreate(path, H5F_ACC_EXCL, H5P_DEFAULT, access);
    if (created->id < 0) {
        enum gs_status status = fail_h5(error, GS_IO, created, NULL, "creating an HDF5 file");
        if (!there && access >= 0) unlink(path); /* it may have been made, and then not written */
        if (access >= 0) H5Pclose(access);
        file_free(created);
        return status;
    }
    H5Pclose(access);
    look_inside(created);
    created->writable = true;
    *file = created;
    return GS_OK;
}

enum gs_status gs_h5_open_to_write(const char *path, struct gs_h5 **file, struct gs_error *error) {
    *file = NULL;
    struct gs_h5 *opened = file_create(path);
    if (!opened) return gs_fail_memory(error, sizeof *opened, "an HDF5 file");
    hid_t access = write_access();
    if (access >= 0 && gs_h5_recognise(path)) opened->id = H5Fopen(path, H5F_ACC_RDWR, access);
    if (opened->id < 0) {
        enum gs_status status = fail_open(error, opened);
        if (access >= 0) H5Pclose(access);
        file_free(opened);
        return status;
    }
    H5Pclose(access);
    look_inside(opened);
    opened->writable = true;
    /* A kill between the chunk index and the superblock leaves chunks behind the end that the file
     * says it has; the library would refuse to touch them, or put others in their place. */
    if (H5Fincrement_filesize(opened->id, 0) < 0) {
        enum gs_status status =
            fail_h5(error, GS_IO, opened, NULL, "opening an HDF5 file to write");
        gs_h5_close(opened, NULL);
        return status;
    }
    *file = opened;
    return GS_OK;
}

enum gs_status gs_h5_flush(struct gs_h5 *file, struct gs_error *error) {
    if (H5Fflush(file->id, H5F_SCOPE_LOCAL) >= 0) return GS_OK;
    file->failed = true;
    return fail_h5(error, GS_IO, file, NULL, "flushing an HDF5 file");
}

static uint64_t file_end(const struct gs_h5 *file) {
    struct stat status;
    return fstat(file->descriptor, &status) == 0 ? (uint64_t)status.st_size : 0;
}

enum gs_status gs_h5_reserve(const struct gs_h5 *file, struct gs_error *error) {
#ifdef FALLOC_FL_KEEP_SIZE
    uint64_t end = file_end(file);
    int failed;
    if (end == 0) return GS_OK;
    do failed = fallocate(file->descriptor, FALLOC_FL_KEEP_SIZE, 0, (off_t)end) == 0 ? 0 : errno;
    while (failed == EINTR);
    if (failed == ENOSPC || failed == EDQUOT)
        return gs_fail_errno(error, failed, "taking the disk's space for it", file->path);
#else
    (void)file, (void)error;
#endif
    return GS_OK;
}

void gs_h5_start_writing(const struct gs_h5 *file) {
#ifdef SYNC_FILE_RANGE_WRITE
    if (file->descriptor >= 0) sync_file_range(file->descriptor, 0, 0, SYNC_FILE_RANGE_WRITE);
#else
    (void)file;
#endif
}

enum gs_status gs_h5_close(struct gs_h5 *file, struct gs_error *error) {
    if (!file) return GS_OK;
    enum gs_status status = GS_OK;
    if (!file->failed && H5Fclose(file->id) < 0)
        status = fail_h5(error, GS_IO, file, NULL, "closing an HDF5 file");
    file_free(file);
    return status;
}

const char *gs_h5_path(const struct gs_h5 *file) {
    return file->path;
}

enum gs_status gs_h5_show_as(struct gs_h5 *file, const char *path, struct gs_error *error) {
    char *copy = gs_strdup(path);
    if (!copy) return gs_fail_memory(error, strlen(path), "a path");
    gs_free(file->path);
    file->path = copy;
    return GS_OK;
}

/* ---- what is there ---- */

static enum gs_status fail_external(struct gs_error *error, const struct gs_h5 *file,
                                    const char *path) {
    H5Eclear2(H5E_DEFAULT);
    fail_object(error, GS_UNSUPPORTED, file, path, "an external link");
    gs_error_expected(error, "all data inside the file");
    gs_error_next(error, "copy the linked data into the file, for example with h5repack");
    return GS_UNSUPPORTED;
}

/* Is there a link at `prefix`, and may it be followed? */
static enum gs_status look_link(struct gs_h5 *file, const char *prefix, bool *there, bool *soft,
                                struct gs_error *error) {
    htri_t exists = H5Lexists(file->id, prefix, file->links);
    if (exists < 0) {
        if (file->external_met) return fail_external(error, file, prefix);
        return fail_h5(error, GS_FORMAT, file, prefix, "looking up a name");
    }
    *there = exists > 0;
    if (!*there) return GS_OK;
    H5L_info_t info;
    if (H5Lget_info(file->id, prefix, &info, file->links) < 0)
        return fail_h5(error, GS_FORMAT, file, prefix, "looking up a name");
    if (info.type == H5L_TYPE_EXTERNAL) return fail_external(error, file, prefix);
    *soft = info.type == H5L_TYPE_SOFT;
    return GS_OK;
}

static enum gs_status look_object(struct gs_h5 *file, const char *path, bool soft,
                                  enum gs_h5_object *object, struct gs_error *error) {
    hid_t id = H5Oopen(file->id, path, file->links);
    if (id < 0) {
        if (file->external_met) return fail_external(error, file, path);
        if (!soft) return fail_h5(error, GS_FORMAT, file, path, "opening an object");
        H5Eclear2(H5E_DEFAULT); /* a soft link to nothing */
        *object = GS_H5_ABSENT;
        return GS_OK;
    }
    H5I_type_t type = H5Iget_type(id);
    *object = type == H5I_GROUP ? GS_H5_GROUP : type == H5I_DATASET ? GS_H5_DATASET : GS_H5_STRANGE;
    H5Oclose(id);
    return GS_OK;
}

static bool is_root(const char *path) {
    return strspn(path, "/") == strlen(path);
}

enum gs_status gs_h5_look(struct gs_h5 *file, const char *path, enum gs_h5_object *object,
                          struct gs_error *error) {
    file->external_met = false;
    *object = GS_H5_ABSENT;
    if (is_root(path)) {
        *object = GS_H5_GROUP;
        return GS_OK;
    }
    char *prefix = gs_strdup(path);
    if (!prefix) return gs_fail_memory(error, strlen(path), "a name");
    enum gs_status status = GS_OK;
    bool there = true, soft = false;
    size_t length = strlen(path);
    for (size_t end = strspn(path, "/"); status == GS_OK && there && end < length;) {
        end += strcspn(path + end, "/");
        memcpy(prefix, path, end);
        prefix[end] = '\0';
        status = look_link(file, prefix, &there, &soft, error);
        /* A member of a dataset cannot be asked for: the parent must be a group. */
        if (status == GS_OK && there) status = look_object(file, prefix, soft, object, error);
        end += strspn(path + end, "/");
        if (end < length && *object != GS_H5_GROUP) there = false;
    }
    gs_free(prefix);
    if (!there) *object = GS_H5_ABSENT;
    return status;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *member_name(hid_t group, hsize_t index) {
    ssize_t length =
        H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, index, NULL, 0, H5P_DEFAULT);
    if (length < 0) return NULL;
    char *name = gs_calloc((size_t)length + 1, 1);
    if (name && H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, index, name,
                                   (size_t)length + 1, H5P_DEFAULT) < 0) {
        gs_free(name);
        return NULL;
    }
    return name;
}

enum gs_status gs_h5_members(struct gs_h5 *file, const char *group, char ***names, size_t *count,
                             struct gs_error *error) {
    *names = NULL;
    *count = 0;
    H5G_info_t info;
    file->external_met = false;
    hid_t id = H5Gopen2(file->id, group, H5P_DEFAULT);
    if (id < 0 || H5Gget_info(id, &info) < 0) {
        enum gs_status status = fail_h5(error, GS_FORMAT, file, group, "opening a group");
        if (id >= 0) H5Gclose(id);
        return status;
    }
    char **list = gs_calloc((size_t)info.nlinks, sizeof *list);
    size_t filled = 0;
    while (list && filled < info.nlinks && (list[filled] = member_name(id, filled))) filled++;
    H5Gclose(id);
    if (!list || filled < info.nlinks) {
        gs_free_names(list, filled);
        return fail_h5(error, GS_FORMAT, file, group, "listing a group");
    }
    qsort(list, filled, sizeof *list, compare_names);
    *names = list;
    *count = filled;
    return GS_OK;
}

/* Link creation that makes missing parents, with UTF-8 names. */
static hid_t with_parents(void) {
    hid_t list = H5Pcreate(H5P_LINK_CREATE);
    if (list >= 0 && (H5Pset_create_intermediate_group(list, 1) < 0 ||
                      H5Pset_char_encoding(list, H5T_CSET_UTF8) < 0)) {
        H5Pclose(list);
        return H5I_INVALID_HID;
    }
    return list;
}

enum gs_status gs_h5_group_create(struct gs_h5 *file, const char *path, struct gs_error *error) {
    enum gs_h5_object object;
    enum gs_status status = gs_h5_look(file, path, &object, error);
    if (status != GS_OK || object == GS_H5_GROUP) return status;
    hid_t links = with_parents();
    hid_t id = links < 0 ? links : H5Gcreate2(file->id, path, links, H5P_DEFAULT, H5P_DEFAULT);
    if (id < 0) status = fail_h5(error, GS_IO, file, path, "making a group");
    if (id >= 0) H5Gclose(id);
    if (links >= 0) H5Pclose(links);
    return status;
}

/* ---- attributes ---- */

struct attribute {
    hid_t id, type, space;
    H5T_class_t family;
    hssize_t count; /* elements; 0 for a null space */
};

static void attribute_close(struct attribute *attribute) {
    if (attribute->space >= 0) H5Sclose(attribute->space);
    if (attribute->type >= 0) H5Tclose(attribute->type);
    if (attribute->id >= 0) H5Aclose(attribute->id);
}

/* id stays negative when the attribute is absent. */
static enum gs_status attribute_open(struct gs_h5 *file, const char *object, const char *name,
                                     struct attribute *attribute, struct gs_error *error) {
    *attribute =
        (struct attribute){H5I_INVALID_HID, H5I_INVALID_HID, H5I_INVALID_HID, H5T_NO_CLASS, 0};
    htri_t exists = H5Aexists_by_name(file->id, object, name, file->links);
    if (exists < 0) return fail_h5(error, GS_FORMAT, file, object, "looking for an attribute");
    if (exists == 0) return GS_OK;
    attribute->id = H5Aopen_by_name(file->id, object, name, H5P_DEFAULT, file->links);
    if (attribute->id >= 0) attribute->type = H5Aget_type(attribute->id);
    if (attribute->id >= 0) attribute->space = H5Aget_space(attribute->id);
    if (attribute->type < 0 || attribute->space < 0) {
        attribute_close(attribute);
        attribute->id = H5I_INVALID_HID;
        return fail_h5(error, GS_FORMAT, file, object, "opening an attribute");
    }
    attribute->family = H5Tget_class(attribute->type);
    attribute->count = H5Sget_simple_extent_type(attribute->space) == H5S_NULL
                           ? 0
                           : H5Sget_simple_extent_npoints(attribute->space);
    return GS_OK;
}

static enum gs_status fail_attribute(struct gs_error *error, const struct gs_h5 *file,
                                     const char *object, const char *name, const char *expected) {
    enum gs_status status = fail_h5(error, GS_FORMAT, file, object, "reading an attribute");
    if (error) {
        gs_fail(error, GS_FORMAT, "attribute \"%s\" has the wrong type or shape", name);
        gs_error_expected(error, "%s", expected);
        gs_error_where(error, "%s, %s", file->path, object);
    }
    return status == GS_IO ? GS_IO : GS_FORMAT;
}

/* Strings that are padded by spaces or NUL, as text of its own. */
static char *unpad(const char *bytes, size_t size, H5T_str_t padding) {
    size_t length = 0;
    while (length < size && bytes[length]) length++;
    if (padding == H5T_STR_SPACEPAD)
        while (length > 0 && bytes[length - 1] == ' ') length--;
    char *text = gs_calloc(length + 1, 1);
    if (text) memcpy(text, bytes, length);
    return text;
}

typedef bool read_element(hid_t type, void *buffer, const void *context);

/* The library may be let at a text of variable length. In a file that we write it may not be on
 * disk yet, and is our own. */
static bool is_sound(const struct gs_h5 *file, read_element *read, const void *context) {
    if (file->writable) return true;
    unsigned char reference[GS_HEAP_REFERENCE] = {0};
    size_t address_size = 0, size_size = 0;
    hid_t creation = H5Fget_create_plist(file->id);
    bool good = creation >= 0 && H5Pget_sizes(creation, &address_size, &size_size) >= 0;
    if (creation >= 0) H5Pclose(creation);
    hid_t type = H5Tcreate(H5T_OPAQUE, sizeof reference);
    good = good && type >= 0 && read(type, reference, context);
    if (type >= 0) H5Tclose(type);
    return good &&
           gs_heap_text_is_sound(file->path, file->base, reference, address_size, size_size);
}

/* Read one string element through `read`, which fills a buffer of `type`'s size. */
static char *read_string(const struct gs_h5 *file, hid_t type, read_element *read,
                         const void *context) {
    if (H5Tis_variable_str(type) > 0) {
        if (!is_sound(file, read, context)) return NULL;
        char *library_text = NULL;
        if (!read(type, &library_text, context)) return NULL;
        char *text = gs_strdup(library_text ? library_text : "");
        if (library_text) H5free_memory(library_text);
        return text;
    }
    size_t size = H5Tget_size(type);
    if (size > TEXT_LIMIT) return NULL;
    char *bytes = gs_calloc(size + 1, 1);
    char *text = NULL;
    if (bytes && read(type, bytes, context)) text = unpad(bytes, size, H5Tget_strpad(type));
    gs_free(bytes);
    return text;
}

static bool read_text_attribute(hid_t type, void *buffer, const void *context) {
    return H5Aread(((const struct attribute *)context)->id, type, buffer) >= 0;
}

enum gs_status gs_h5_text(struct gs_h5 *file, const char *object, const char *name, char **text,
                          struct gs_error *error) {
    *text = NULL;
    struct attribute attribute;
    enum gs_status status = attribute_open(file, object, name, &attribute, error);
    if (status != GS_OK || attribute.id < 0) return status;
    if (attribute.count > 0) {
        if (attribute.family == H5T_STRING && attribute.count == 1)
            *text = read_string(file, attribute.type, read_text_attribute, &attribute);
        if (!*text)
            status = fail_attribute(error, file, object, name,
                                    H5Tis_variable_str(attribute.type) > 0
                                        ? "one text that stands whole in the file"
                                        : "one text");
    }
    attribute_close(&attribute);
    return status;
}

/* A number in whichever class; false when it is none. Whole numbers stay exact. */
static bool attribute_value(const struct attribute *attribute, int64_t *whole, double *real,
                            bool *is_whole) {
    hid_t type = attribute->type, base = H5I_INVALID_HID;
    if (attribute->count != 1) return false;
    if (attribute->family == H5T_ENUM) /* h5py's booleans */
        type = base = H5Tget_super(attribute->type);
    bool integer = H5Tget_class(type) == H5T_INTEGER, good = false;
    if (attribute->family == H5T_ENUM) {
        int8_t small = 0;
        good = H5Tget_size(type) == 1 && H5Aread(attribute->id, attribute->type, &small) >= 0;
        *whole = small;
    } else if (integer)
        good = H5Aread(attribute->id, H5T_NATIVE_INT64, whole) >= 0;
    else if (attribute->family == H5T_FLOAT)
        good = H5Aread(attribute->id, H5T_NATIVE_DOUBLE, real) >= 0;
    *is_whole = integer;
    if (base >= 0) H5Tclose(base);
    return good;
}

enum gs_status gs_h5_integer(struct gs_h5 *file, const char *object, const char *name,
                             int64_t *number, bool *found, struct gs_error *error) {
    struct attribute attribute;
    *found = false;
    enum gs_status status = attribute_open(file, object, name, &attribute, error);
    if (status != GS_OK || attribute.id < 0) return status;
    int64_t whole = 0;
    double real = 0;
    bool is_whole = false, good = attribute_value(&attribute, &whole, &real, &is_whole);
    if (good && !is_whole) {
        good = fabs(real) <= 0x1p53 && floor(real) == real;
        if (good) whole = (int64_t)real;
    }
    if (good) {
        *number = whole;
        *found = true;
    } else
        status = fail_attribute(error, file, object, name, "one whole number");
    attribute_close(&attribute);
    return status;
}

enum gs_status gs_h5_number(struct gs_h5 *file, const char *object, const char *name,
                            double *number, bool *found, struct gs_error *error) {
    struct attribute attribute;
    *found = false;
    enum gs_status status = attribute_open(file, object, name, &attribute, error);
    if (status != GS_OK || attribute.id < 0) return status;
    int64_t whole = 0;
    double real = 0;
    bool is_whole = false;
    if (attribute_value(&attribute, &whole, &real, &is_whole)) {
        *number = is_whole ? (double)whole : real;
        *found = true;
    } else
        status = fail_attribute(error, file, object, name, "one number");
    attribute_close(&attribute);
    return status;
}

/* Write a scalar attribute. An old number of the same type is written over in place; anything else
 * is deleted first (HDF5 1.10 confuses variable texts that are written over). */
static enum gs_status set_attribute(struct gs_h5 *file, const char *object, const char *name,
                                    hid_t type, const void *value, struct gs_error *error) {
    struct attribute old;
    enum gs_status status = attribute_open(file, object, name, &old, error);
    if (status != GS_OK) return status;
    bool in_place =
        old.id >= 0 && old.count == 1 && old.family != H5T_STRING && H5Tequal(old.type, type) > 0;
    bool good = true;
    if (in_place)
        good = H5Awrite(old.id, type, value) >= 0;
    else if (old.id >= 0)
        good = H5Adelete_by_name(file->id, object, name, H5P_DEFAULT) >= 0;
    struct complaint complaint = current_complaint();
    attribute_close(&old);
    if (good && !in_place) {
        hid_t space = H5Screate(H5S_SCALAR);
        hid_t id = H5Acreate_by_name(file->id, object, name, type, space, H5P_DEFAULT, H5P_DEFAULT,
                                     H5P_DEFAULT);
        good = id >= 0 && H5Awrite(id, type, value) >= 0;
        complaint = current_complaint();
        if (id >= 0) H5Aclose(id);
        if (space >= 0) H5Sclose(space);
    }
    if (good) return GS_OK;
    file->failed = true;
    char doing[128];
    snprintf(doing, sizeof doing, "writing attribute \"%s\"", name);
    return fail_as(error, GS_IO, file, object, doing, &complaint);
}

/* UTF-8 text of a fixed size, or variable for H5T_VARIABLE. */
static hid_t text_type(size_t size) {
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type < 0) return type;
    if (H5Tset_size(type, size) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0 ||
        (size != H5T_VARIABLE && H5Tset_strpad(type, H5T_STR_NULLPAD) < 0)) {
        H5Tclose(type);
        return H5I_INVALID_HID;
    }
    return type;
}

enum gs_status gs_h5_set_text(struct gs_h5 *file, const char *object, const char *name,
                              const char *text, struct gs_error *error) {
    hid_t type = text_type(H5T_VARIABLE);
    if (type < 0) return fail_h5(error, GS_IO, file, object, "writing an attribute");
    enum gs_status status = set_attribute(file, object, name, type, &text, error);
    H5Tclose(type);
    return status;
}

enum gs_status gs_h5_set_integer(struct gs_h5 *file, const char *object, const char *name,
                                 int64_t number, struct gs_error *error) {
    return set_attribute(file, object, name, H5T_NATIVE_INT64, &number, error);
}

enum gs_status gs_h5_set_number(struct gs_h5 *file, const char *object, const char *name,
                                double number, struct gs_error *error) {
    return set_attribute(file, object, name, H5T_NATIVE_DOUBLE, &number, error);
}

/* ---- types ---- */

/* IEEE binary16, of which HDF5 1.10 has no predefined type: the layout h5py writes. */
static hid_t half_type(void) {
    hid_t type = H5Tcopy(H5T_IEEE_F32LE);
    if (type < 0) return type;
    if (H5Tset_fields(type, 15, 10, 5, 0, 10) < 0 || H5Tset_size(type, 2) < 0 ||
        H5Tset_ebias(type, 15) < 0) {
        H5Tclose(type);
        return H5I_INVALID_HID;
    }
    return type;
}

/* A type for the file (`order`), owned by the caller. */
static hid_t element_type(enum gs_h5_type type, H5T_order_t order) {
    hid_t id = H5I_INVALID_HID;
    switch (type) {
    case GS_H5_F16:
        id = half_type();
        break;
    case GS_H5_F32:
        id = H5Tcopy(H5T_IEEE_F32LE);
        break;
    case GS_H5_F64:
        id = H5Tcopy(H5T_IEEE_F64LE);
        break;
    case GS_H5_U16:
        id = H5Tcopy(H5T_STD_U16LE);
        break;
    case GS_H5_U32:
        id = H5Tcopy(H5T_STD_U32LE);
        break;
    case GS_H5_U64:
        id = H5Tcopy(H5T_STD_U64LE);
        break;
    case GS_H5_I64:
        id = H5Tcopy(H5T_STD_I64LE);
        break;
    }
    if (id >= 0 && H5Tset_order(id, order) < 0) {
        H5Tclose(id);
        return H5I_INVALID_HID;
    }
    return id;
}

static bool has_fields(hid_t type, size_t sign, size_t exponent, size_t exponent_size,
                       size_t fraction_size, size_t bias) {
    size_t spos = 0, epos = 0, esize = 0, mpos = 0, msize = 0;
    return H5Tget_fields(type, &spos, &epos, &esize, &mpos, &msize) >= 0 && spos == sign &&
           epos == exponent && esize == exponent_size && mpos == 0 && msize == fraction_size &&
           H5Tget_ebias(type) == bias;
}

static void describe_float(struct gs_h5_data *data, hid_t type) {
    struct gs_h5_shape *shape = &data->shape;
    shape->family = GS_H5_FLOAT;
    if (shape->bytes == 2 && has_fields(type, 15, 10, 5, 10, 15))
        data->narrow = HALF;
    else if (shape->bytes == 2 && has_fields(type, 15, 7, 8, 7, 127))
        data->narrow = BRAIN;
    snprintf(shape->type_name, sizeof shape->type_name, "%s%u",
             data->narrow == BRAIN ? "bfloat" : "float", (unsigned)(shape->bytes * 8) & 0x3ffu);
}

/* Would a read or write of the native kind change no byte? */
static bool is_native(const struct gs_h5_data *data, hid_t type) {
    if (data->narrow != PLAIN) return H5Tget_order(type) == H5Tget_order(H5T_NATIVE_INT);
    const hid_t natives[] = {H5T_NATIVE_FLOAT, H5T_NATIVE_UINT16, H5T_NATIVE_UINT32,
                             H5T_NATIVE_UINT64};
    for (size_t i = 0; i < sizeof natives / sizeof *natives; i++)
        if (H5Tequal(type, natives[i]) > 0) return true;
    return false;
}

static void describe_type(struct gs_h5_data *data, hid_t type) {
    struct gs_h5_shape *shape = &data->shape;
    shape->family = GS_H5_OTHER;
    shape->bytes = H5Tget_size(type);
    snprintf(shape->type_name, sizeof shape->type_name, "other");
    switch (H5Tget_class(type)) {
    case H5T_FLOAT:
        describe_float(data, type);
        break;
    case H5T_INTEGER:
        if (shape->bytes > 8) break;
        shape->family = GS_H5_INTEGER;
        shape->is_signed = H5Tget_sign(type) == H5T_SGN_2;
        snprintf(shape->type_name, sizeof shape->type_name, "%sint%u", shape->is_signed ? "" : "u",
                 (unsigned)(shape->bytes * 8) & 0x7fu);
        break;
    case H5T_STRING:
        shape->family = GS_H5_TEXT;
        snprintf(shape->type_name, sizeof shape->type_name, "text");
        break;
    default:
        break;
    }
    data->native = is_native(data, type);
}

static enum gs_status describe_space(struct gs_h5_data *data, hid_t space, struct gs_error *error) {
    struct gs_h5_shape *shape = &data->shape;
    hsize_t dims[GS_H5_MAX_RANK] = {0};
    int rank = H5Sget_simple_extent_ndims(space);
    if (rank < 0) return fail_h5(error, GS_FORMAT, data->file, data->path, "reading a shape");
    if (rank > GS_H5_MAX_RANK) {
        fail_object(error, GS_SHAPE, data->file, data->path, "a dataset of too many axes");
        gs_error_expected(error, "at most %d", (int)GS_H5_MAX_RANK);
        gs_error_found(error, "%d", rank);
        return GS_SHAPE;
    }
    H5Sget_simple_extent_dims(space, dims, NULL);
    shape->rank = (size_t)rank;
    shape->row = shape->count = H5Sget_simple_extent_type(space) == H5S_NULL ? 0 : 1;
    bool fits = true;
    for (size_t axis = 0; axis < shape->rank; axis++) {
        shape->dims[axis] = (size_t)dims[axis];
        fits = fits && gs_multiply(shape->count, shape->dims[axis], &shape->count);
        if (axis > 0) fits = fits && gs_multiply(shape->row, shape->dims[axis], &shape->row);
    }
    size_t bytes;
    if (fits && gs_multiply(shape->count, shape->bytes > 8 ? shape->bytes : 8, &bytes))
        return GS_OK;
    return fail_object(error, GS_SHAPE, data->file, data->path,
                       "a dataset whose size in bytes does not fit into 64 bits");
}

/* ---- what is refused ---- */

/* Filters of the HDF5 registry that people meet, for those files that do not carry the name. */
static const char *filter_name(H5Z_filter_t id, const char *stored) {
    switch (id) {
    case 32000:
        return "lzf";
    case 32001:
        return "blosc";
    case 32004:
        return "lz4";
    case 32008:
        return "bitshuffle";
    case 32013:
        return "zfp";
    case 32015:
        return "zstd";
    case 32026:
        return "blosc2";
    default:
        return stored[0] ? stored : "without a name";
    }
}

static bool filter_known(H5Z_filter_t id) {
    bool built_in = id == H5Z_FILTER_DEFLATE || id == H5Z_FILTER_SHUFFLE ||
                    id == H5Z_FILTER_FLETCHER32 || id == H5Z_FILTER_SZIP || id == H5Z_FILTER_NBIT ||
                    id == H5Z_FILTER_SCALEOFFSET;
    return built_in && H5Zfilter_avail(id) > 0;
}

static enum gs_status check_filters(struct gs_h5_data *data, hid_t creation,
                                    struct gs_error *error) {
    int count = H5Pget_nfilters(creation);
    for (int i = 0; i < count; i++) {
        unsigned flags = 0, config = 0;
        size_t values = 0;
        char stored[64] = "";
        H5Z_filter_t id = H5Pget_filter2(creation, (unsigned)i, &flags, &values, NULL,
                                         sizeof stored, stored, &config);
        stored[sizeof stored - 1] = '\0';
        if (id >= 0 && filter_known(id)) continue;
        H5Eclear2(H5E_DEFAULT);
        gs_fail(error, GS_UNSUPPORTED, "compressed with the filter \"%s\" (number %d)",
                filter_name(id, stored), (int)id);
        gs_error_expected(error, "no filter, or those of HDF5 itself (shuffle, deflate)");
        gs_error_where(error, "%s, %s", data->file->path, data->path);
        gs_error_next(error, "write the dataset again with compression \"gzip\" or none");
        return GS_UNSUPPORTED;
    }
    return GS_OK;
}

/* Chunks on an axis: enough to cover it. */
static hsize_t chunks_over(size_t length, hsize_t chunk) {
    return chunk == 0 ? 0 : (length + chunk - 1) / chunk;
}

/* Could the file hold so many elements? Damaged shapes are found before memory is asked for. */
static bool could_hold(const struct gs_h5_data *data, size_t elements) {
    hsize_t size = 0;
    size_t bytes;
    if (H5Fget_filesize(data->file->id, &size) < 0) return false;
    return gs_multiply(elements, data->shape.bytes, &bytes) && bytes / DEFLATE_LIMIT <= size;
}

/* Was everything stored, or would HDF5 make some of it up? Asks the library. */
static bool has_holes(const struct gs_h5_data *data, H5D_layout_t layout, const hsize_t *chunk) {
    if (layout != H5D_CHUNKED) return H5Dget_storage_size(data->id) == 0;
    hsize_t stored = 0, expected = 1;
    for (size_t axis = 0; axis < data->shape.rank; axis++)
        expected *= chunks_over(data->shape.dims[axis], chunk[axis]);
    hid_t space = H5Dget_space(data->id);
    bool counted = space >= 0 && H5Dget_num_chunks(data->id, space, &stored) >= 0;
    if (space >= 0) H5Sclose(space);
    return !counted || stored < expected;
}

/* Where everything stands: rows in one piece or in chunks of whole rows, of native elements. */
static void make_direct(struct gs_h5_data *data, uint64_t *address, size_t chunk_rows) {
    gs_free(data->address);
    data->address = address;
    data->is_direct = address != NULL && data->native && data->shape.rank > 0;
    data->direct = (struct gs_direct){.file = data->file->descriptor,
                                      .row_bytes = data->shape.row * data->shape.bytes,
                                      .chunk_rows = chunk_rows,
                                      .address = address};
}

/* A contiguous dataset that stands whole in the file. */
static void locate_contiguous(struct gs_h5_data *data) {
    haddr_t place = H5Dget_offset(data->id);
    uint64_t end = file_end(data->file), bytes = (uint64_t)data->shape.count * data->shape.bytes;
    if (place == HADDR_UNDEF || place > end || bytes > end - place) return;
    uint64_t *address = gs_calloc(1, sizeof *address);
    if (!address) return;
    *address = place;
    make_direct(data, address, data->shape.dims[0] ? data->shape.dims[0] : 1);
}

static bool holds_whole_rows(const struct gs_h5_data *data, const hsize_t *chunk) {
    for (size_t axis = 1; axis < data->shape.rank; axis++)
        if (chunk[axis] != data->shape.dims[axis]) return false;
    return true;
}

#if H5_VERSION_GE(1, 12, 0) /* where the name without a number means another structure */
typedef H5O_info1_t object_info;
#else
typedef H5O_info_t object_info;
#endif

/* The chunks' places, and whether some are missing, from the file's bytes. */
static enum gs_chunk_answer locate_chunks(struct gs_h5_data *data, const hsize_t *chunk,
                                          bool filtered) {
    object_info object;
    struct gs_chunk_index index;
    uint64_t sizes[GS_H5_MAX_RANK];
    for (size_t axis = 0; axis < data->shape.rank; axis++) {
        if (chunk[axis] == 0) return GS_CHUNKS_STRANGE;
        sizes[axis] = chunk[axis];
    }
    if (data->file->descriptor < 0 || data->file->half_node == 0 ||
        H5Oget_info2(data->id, &object, H5O_INFO_BASIC) < 0)
        return GS_CHUNKS_STRANGE;
    struct gs_chunk_question question = {.file = data->file->descriptor,
                                         .base = data->file->base,
                                         .end = file_end(data->file) - data->file->base,
                                         .header = object.addr,
                                         .half_node = data->file->half_node,
                                         .rank = data->shape.rank,
                                         .dims = data->shape.dims,
                                         .chunk = sizes,
                                         .element = data->shape.bytes,
                                         .filtered = filtered};
    enum gs_chunk_answer answer = gs_chunk_index_read(&question, &index);
    if (answer != GS_CHUNKS_FOUND) return answer;
    data->shape.holes = index.stored < index.expected;
    for (size_t i = 0; index.address && i < index.expected; i++)
        if (index.address[i]) index.address[i] += data->file->base;
    bool plain = !filtered && !data->shape.holes && holds_whole_rows(data, chunk);
    if (plain)
        make_direct(data, index.address, data->shape.chunk_rows);
    else
        gs_free(index.address);
    return answer;
}

/* Sets holes and, where it can be, direct. In a file that is being written the index on disk is
 * behind until it is flushed (gs_h5_data_locate). */
static enum gs_status locate(struct gs_h5_data *data, H5D_layout_t layout, const hsize_t *chunk,
                             bool filtered, struct gs_error *error) {
    if (data->shape.count == 0) return GS_OK;
    data->shape.holes = true;
    if (!could_hold(data, data->shape.count)) return GS_OK;
    enum gs_chunk_answer answer = GS_CHUNKS_STRANGE;
    if (layout == H5D_CHUNKED && !data->file->writable)
        answer = locate_chunks(data, chunk, filtered);
    if (answer == GS_CHUNKS_DAMAGED)
        return fail_object(error, GS_FORMAT, data->file, data->path,
                           "a damaged index: where its chunks stand cannot be known");
    if (answer == GS_CHUNKS_STRANGE) data->shape.holes = has_holes(data, layout, chunk);
    bool settled = !data->file->writable && data->file->descriptor >= 0;
    if (layout == H5D_CONTIGUOUS && settled && !data->shape.holes) locate_contiguous(data);
    return GS_OK;
}

void gs_h5_data_locate(struct gs_h5_data *data) {
    hsize_t chunk[GS_H5_MAX_RANK + 1] = {0};
    bool holes = data->shape.holes;
    hid_t creation = H5Dget_create_plist(data->id);
    if (creation >= 0 && H5Pget_layout(creation) == H5D_CHUNKED &&
        H5Pget_chunk(creation, GS_H5_MAX_RANK, chunk) >= 0 && data->shape.count > 0)
        locate_chunks(data, chunk, H5Pget_nfilters(creation) > 0);
    if (creation >= 0) H5Pclose(creation);
    data->shape.holes = holes;
    H5Eclear2(H5E_DEFAULT);
}

static enum gs_status check_layout(struct gs_h5_data *data, hid_t creation,
                                   struct gs_error *error) {
    H5D_layout_t layout = H5Pget_layout(creation);
    if (layout == H5D_VIRTUAL || H5Pget_external_count(creation) > 0) {
        fail_object(error, GS_UNSUPPORTED, data->file, data->path,
                    layout == H5D_VIRTUAL ? "a virtual dataset" : "a dataset in external storage");
        gs_error_expected(error, "all data inside the file");
        return GS_UNSUPPORTED;
    }
    hsize_t chunk[GS_H5_MAX_RANK + 1] = {0};
    if (layout == H5D_CHUNKED && H5Pget_chunk(creation, GS_H5_MAX_RANK, chunk) >= 0)
        data->shape.chunk_rows = (size_t)chunk[0];
    if (!could_hold(data, data->shape.row))
        return fail_object(error, GS_FORMAT, data->file, data->path,
                           "a row is larger than the whole file can hold");
    enum gs_status status = layout == H5D_CHUNKED ? check_filters(data, creation, error) : GS_OK;
    if (status != GS_OK) return status;
    return locate(data, layout, chunk, H5Pget_nfilters(creation) > 0, error);
}

/* ---- opening and creating datasets ---- */

static struct gs_h5_data *data_alloc(struct gs_h5 *file, const char *path) {
    struct gs_h5_data *data = gs_calloc(1, sizeof *data);
    if (!data) return NULL;
    data->file = file;
    data->id = H5I_INVALID_HID;
    data->path = gs_strdup(path);
    if (data->path) return data;
    gs_free(data);
    return NULL;
}

void gs_h5_data_close(struct gs_h5_data *data) {
    if (!data) return;
    if (data->id >= 0 && !data->file->failed) H5Dclose(data->id);
    gs_free(data->address);
    gs_free(data->path);
    gs_free(data);
}

const struct gs_h5_shape *gs_h5_data_shape(const struct gs_h5_data *data) {
    return &data->shape;
}

bool gs_h5_data_is_direct(const struct gs_h5_data *data) {
    return data->is_direct;
}

static enum gs_status describe(struct gs_h5_data *data, struct gs_error *error) {
    hid_t type = H5Dget_type(data->id);
    hid_t space = H5Dget_space(data->id);
    hid_t creation = H5Dget_create_plist(data->id);
    enum gs_status status = GS_OK;
    if (type < 0 || space < 0 || creation < 0)
        status = fail_h5(error, GS_FORMAT, data->file, data->path, "opening a dataset");
    if (status == GS_OK) {
        describe_type(data, type);
        status = describe_space(data, space, error);
    }
    if (status == GS_OK) status = check_layout(data, creation, error);
    if (creation >= 0) H5Pclose(creation);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    return status;
}

static enum gs_status find_dataset(struct gs_h5 *file, const char *path, struct gs_error *error) {
    enum gs_h5_object object;
    enum gs_status status = gs_h5_look(file, path, &object, error);
    if (status != GS_OK || object == GS_H5_DATASET) return status;
    if (object == GS_H5_ABSENT)
        return fail_object(error, GS_MISSING, file, path, "no such dataset");
    fail_object(error, GS_FORMAT, file, path, "not a dataset");
    gs_error_found(error, "%s", object == GS_H5_GROUP ? "a group" : "a named type");
    return GS_FORMAT;
}

/* Writes go straight to the file: the caller hands over whole chunks. */
static hid_t without_cache(void) {
    hid_t list = H5Pcreate(H5P_DATASET_ACCESS);
    if (list >= 0 && H5Pset_chunk_cache(list, 0, 0, H5D_CHUNK_CACHE_W0_DEFAULT) < 0) {
        H5Pclose(list);
        return H5I_INVALID_HID;
    }
    return list;
}

/* Rows are read in pieces that need not end where chunks do. */
static hid_t with_cache(void) {
    hid_t list = H5Pcreate(H5P_DATASET_ACCESS);
    if (list >= 0 && H5Pset_chunk_cache(list, 521, READ_CACHE, H5D_CHUNK_CACHE_W0_DEFAULT) < 0) {
        H5Pclose(list);
        return H5I_INVALID_HID;
    }
    return list;
}

enum gs_status gs_h5_data_open(struct gs_h5 *file, const char *path, struct gs_h5_data **data,
                               struct gs_error *error) {
    *data = NULL;
    enum gs_status status = find_dataset(file, path, error);
    if (status != GS_OK) return status;
    struct gs_h5_data *opened = data_alloc(file, path);
    if (!opened) return gs_fail_memory(error, sizeof *opened, "a dataset");
    hid_t access = file->writable ? without_cache() : with_cache();
    if (access >= 0) opened->id = H5Dopen2(file->id, path, access);
    struct complaint complaint = current_complaint();
    if (access >= 0) H5Pclose(access);
    if (opened->id < 0)
        status = fail_as(error, GS_FORMAT, file, path, "opening a dataset", &complaint);
    else
        status = describe(opened, error);
    if (status != GS_OK) {
        gs_h5_data_close(opened);
        return status;
    }
    *data = opened;
    return GS_OK;
}

/* Layout, filters and allocation of a new dataset. All chunks are there from the start (with
 * deflate as packed zeros), so that no node of the chunk index ever splits. */
static hid_t creation_list(const struct gs_h5_spec *spec) {
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (list < 0) return list;
    bool good = true, empty = spec->rank == 0;
    hsize_t chunk[GS_H5_MAX_RANK] = {0};
    for (size_t axis = 0; axis < spec->rank; axis++) {
        chunk[axis] = spec->dims[axis];
        if (spec->dims[axis] == 0) empty = true;
    }
    bool chunked = spec->chunk_rows > 0 && !empty;
    if (chunked) {
        if (spec->chunk_rows < chunk[0]) chunk[0] = spec->chunk_rows;
        good = H5Pset_chunk(list, (int)spec->rank, chunk) >= 0;
    }
    good = good && H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY) >= 0;
    if (chunked && spec->deflate > 0)
        good = good && H5Pset_shuffle(list) >= 0 &&
               H5Pset_deflate(list, (unsigned)spec->deflate) >= 0 &&
               H5Pset_fill_time(list, H5D_FILL_TIME_ALLOC) >= 0;
    else /* what the file system gives for a hole is zero */
        good = good && H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) >= 0;
    if (good) return list;
    H5Pclose(list);
    return H5I_INVALID_HID;
}

static hid_t create_dataset(struct gs_h5 *file, const char *path, hid_t type, size_t rank,
                            const size_t *shape, hid_t creation, struct complaint *complaint) {
    hsize_t dims[GS_H5_MAX_RANK] = {0};
    for (size_t axis = 0; axis < rank; axis++) dims[axis] = shape[axis];
    hid_t space = rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple((int)rank, dims, NULL);
    hid_t links = with_parents(), access = without_cache();
    hid_t id = H5I_INVALID_HID;
    if (space >= 0 && links >= 0 && access >= 0)
        id = H5Dcreate2(file->id, path, type, space, links, creation, access);
    *complaint = current_complaint();
    if (access >= 0) H5Pclose(access);
    if (links >= 0) H5Pclose(links);
    if (space >= 0) H5Sclose(space);
    return id;
}

enum gs_status gs_h5_data_create(struct gs_h5 *file, const char *path,
                                 const struct gs_h5_spec *spec, struct gs_h5_data **data,
                                 struct gs_error *error) {
    *data = NULL;
    struct gs_h5_data *created = data_alloc(file, path);
    if (!created) return gs_fail_memory(error, sizeof *created, "a dataset");
    hid_t type = element_type(spec->type, spec->big_endian ? H5T_ORDER_BE : H5T_ORDER_LE);
    hid_t creation = creation_list(spec);
    struct complaint complaint = current_complaint();
    if (type >= 0 && creation >= 0)
        created->id =
            create_dataset(file, path, type, spec->rank, spec->dims, creation, &complaint);
    if (creation >= 0) H5Pclose(creation);
    if (type >= 0) H5Tclose(type);
    enum gs_status status = created->id < 0
                                ? fail_as(error, GS_IO, file, path, "making a dataset", &complaint)
                                : describe(created, error);
    if (status != GS_OK) {
        gs_h5_data_close(created);
        return status;
    }
    *data = created;
    return GS_OK;
}

/* ---- rows ---- */

/* Is [first, first + rows) inside? A scalar is one row. */
static enum gs_status check_rows(const struct gs_h5_data *data, size_t first, size_t rows,
                                 struct gs_error *error) {
    size_t all = data->shape.rank == 0 ? data->shape.count : data->shape.dims[0];
    if (first <= all && rows <= all - first) return GS_OK;
    fail_object(error, GS_RANGE, data->file, data->path, "rows outside the dataset");
    gs_error_expected(error, "rows below %zu", all);
    gs_error_found(error, "%zu rows from row %zu on", rows, first);
    return GS_RANGE;
}

struct selection {
    hid_t memory, file;
};

static void selection_close(struct selection *selection) {
    if (selection->memory > 0) H5Sclose(selection->memory);
    if (selection->file > 0) H5Sclose(selection->file);
}

/* Rows as dataspaces; H5S_ALL for a scalar. */
static bool select_rows(const struct gs_h5_data *data, size_t first, size_t rows,
                        struct selection *selection) {
    *selection = (struct selection){H5S_ALL, H5S_ALL};
    if (data->shape.rank == 0) return true;
    hsize_t start[GS_H5_MAX_RANK] = {first}, count[GS_H5_MAX_RANK] = {rows};
    for (size_t axis = 1; axis < data->shape.rank; axis++) count[axis] = data->shape.dims[axis];
    selection->memory = H5Screate_simple((int)data->shape.rank, count, NULL);
    selection->file = H5Dget_space(data->id);
    return selection->memory > 0 && selection->file > 0 &&
           H5Sselect_hyperslab(selection->file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0;
}

static enum gs_status fail_direct(const struct gs_h5_data *data, size_t first, size_t rows,
                                  bool writing, int number, struct gs_error *error) {
    gs_fail(error, GS_IO, "%s %zu rows from row %zu on: %s (errno %d)",
            writing ? "writing" : "reading", rows, first, strerror(number), number);
    gs_error_where(error, "%s, %s", data->file->path, data->path);
    return GS_IO;
}

/* Bounds are checked. */
static enum gs_status read_direct(const struct gs_h5_data *data, size_t first, size_t rows,
                                  void *to, struct gs_error *error) {
    int failed = gs_direct_read(&data->direct, first, rows, to);
    return failed ? fail_direct(data, first, rows, false, failed, error) : GS_OK;
}

/* Bounds are checked; `memory` is the type of `values`. Nothing is done for no elements. */
static enum gs_status transfer(const struct gs_h5_data *data, size_t first, size_t rows,
                               hid_t memory, void *to, const void *from, struct gs_error *error) {
    enum gs_status status = check_rows(data, first, rows, error);
    if (status != GS_OK || rows == 0 || data->shape.row == 0) return status;
    struct selection selection;
    stop_printing(); /* any thread may come here */
    bool good = select_rows(data, first, rows, &selection);
    if (good && to)
        good = H5Dread(data->id, memory, selection.memory, selection.file, H5P_DEFAULT, to) >= 0;
    else if (good)
        good = H5Dwrite(data->id, memory, selection.memory, selection.file, H5P_DEFAULT, from) >= 0;
    struct complaint complaint = current_complaint();
    selection_close(&selection);
    if (good) return GS_OK;
    if (from) data->file->failed = true;
    char doing[96];
    snprintf(doing, sizeof doing, "%s %zu rows from row %zu on", to ? "reading" : "writing", rows,
             first);
    return fail_as(error, to ? GS_FORMAT : GS_IO, data->file, data->path, doing, &complaint);
}

/* Is `type` what stands in the file? */
static bool is_type_of(const struct gs_h5_data *data, enum gs_h5_type type) {
    const struct gs_h5_shape *shape = &data->shape;
    switch (type) {
    case GS_H5_F16:
        return data->narrow == HALF;
    case GS_H5_F32:
        return shape->family == GS_H5_FLOAT && shape->bytes == 4;
    case GS_H5_U16:
        return shape->family == GS_H5_INTEGER && shape->bytes == 2;
    case GS_H5_U32:
        return shape->family == GS_H5_INTEGER && shape->bytes == 4;
    case GS_H5_F64:
    case GS_H5_U64:
    case GS_H5_I64:
        break;
    }
    return false;
}

static bool writes_directly(const struct gs_h5_data *data, enum gs_h5_type type) {
    return data->is_direct && data->file->writable && is_type_of(data, type);
}

/* After a direct write of these rows: `failed` is 0 or an errno. */
static enum gs_status wrote_direct(const struct gs_h5_data *data, size_t first, size_t rows,
                                   int failed, struct gs_error *error) {
    if (failed == 0) return GS_OK;
#pragma omp atomic write
    data->file->failed = true;
    return fail_direct(data, first, rows, true, failed, error);
}

static enum gs_status write_direct(const struct gs_h5_data *data, size_t first, size_t rows,
                                   const void *values, struct gs_error *error) {
    enum gs_status status = check_rows(data, first, rows, error);
    if (status != GS_OK) return status;
    return wrote_direct(data, first, rows, gs_direct_write(&data->direct, first, rows, values),
                        error);
}

enum gs_status gs_h5_data_write(struct gs_h5_data *data, size_t first, size_t rows,
                                enum gs_h5_type type, const void *values, struct gs_error *error) {
    if (writes_directly(data, type)) return write_direct(data, first, rows, values, error);
    hid_t memory = element_type(type, H5Tget_order(H5T_NATIVE_INT));
    if (memory < 0) return fail_h5(error, GS_IO, data->file, data->path, "writing rows");
    enum gs_status status = transfer(data, first, rows, memory, NULL, values, error);
    H5Tclose(memory);
    return status;
}

enum gs_status gs_h5_data_write_chunks(struct gs_h5_data *data, size_t first, size_t count,
                                       enum gs_h5_type type, const void *const *values,
                                       struct gs_error *error) {
    const bool chunked = data->shape.chunk_rows > 0;
    const size_t chunk = chunked ? data->shape.chunk_rows : 1, all = data->shape.dims[0];
    const size_t begin = first * chunk, end = (first + count) * chunk;
    const size_t rows = (end < all ? end : all) - begin;
    if (chunked && writes_directly(data, type))
        return wrote_direct(data, begin, rows,
                            gs_direct_write_chunks(&data->direct, first, rows, values), error);
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < count; i++) {
        size_t left = rows - i * chunk;
        status = gs_h5_data_write(data, begin + i * chunk, left < chunk ? left : chunk, type,
                                  values[i], error);
    }
    return status;
}

static enum gs_status want_family(const struct gs_h5_data *data, enum gs_h5_family family,
                                  const char *expected, struct gs_error *error) {
    if (data->shape.family == family) return GS_OK;
    fail_object(error, GS_FORMAT, data->file, data->path, "a dataset of the wrong type");
    gs_error_expected(error, "%s", expected);
    gs_error_found(error, "%s", data->shape.type_name);
    return GS_FORMAT;
}

/* Room for `rows` rows of `size` bytes an element. */
static void *row_buffer(const struct gs_h5_data *data, size_t rows, size_t size,
                        struct gs_error *error) {
    size_t count;
    void *buffer = gs_multiply(rows, data->shape.row, &count) ? gs_calloc(count, size) : NULL;
    if (!buffer) gs_fail_memory(error, rows, "rows of a dataset");
    return buffer;
}

/* The bits of 16-bit floats in native order. */
static enum gs_status read_bits(const struct gs_h5_data *data, size_t first, size_t rows,
                                uint16_t *bits, struct gs_error *error) {
    if (data->is_direct) return read_direct(data, first, rows, bits, error);
    hid_t own = H5Dget_type(data->id), type = own < 0 ? own : H5Tcopy(own); /* own is read-only */
    if (own >= 0) H5Tclose(own);
    if (type < 0 || H5Tset_order(type, H5Tget_order(H5T_NATIVE_INT)) < 0) {
        enum gs_status status = fail_h5(error, GS_FORMAT, data->file, data->path, "reading rows");
        if (type >= 0) H5Tclose(type);
        return status;
    }
    enum gs_status status = transfer(data, first, rows, type, bits, NULL, error);
    H5Tclose(type);
    return status;
}

static enum gs_status read_narrow(struct gs_h5_data *data, size_t first, size_t rows, float *values,
                                  struct gs_error *error) {
    uint16_t *bits = row_buffer(data, rows, sizeof *bits, error);
    if (!bits) return GS_NO_MEMORY;
    enum gs_status status = read_bits(data, first, rows, bits, error);
    if (status == GS_OK)
        (data->narrow == HALF ? gs_f16_to_f32s : gs_bf16_to_f32s)(bits, rows * data->shape.row,
                                                                  values);
    gs_free(bits);
    return status;
}

/* By way of double: the compiler's narrowing is right, HDF5's is not always. */
static enum gs_status read_wide(struct gs_h5_data *data, size_t first, size_t rows, float *values,
                                struct gs_error *error) {
    double *wide = row_buffer(data, rows, sizeof *wide, error);
    if (!wide) return GS_NO_MEMORY;
    enum gs_status status = transfer(data, first, rows, H5T_NATIVE_DOUBLE, wide, NULL, error);
    if (status == GS_OK)
        for (size_t i = 0; i < rows * data->shape.row; i++)
            values[i] = fabs(wide[i]) >= 0x1.ffffffp127 ? (wide[i] > 0 ? INFINITY : -INFINITY)
                                                        : (float)wide[i];
    gs_free(wide);
    return status;
}

enum gs_status gs_h5_data_f32(struct gs_h5_data *data, size_t first, size_t rows, float *values,
                              struct gs_error *error) {
    enum gs_status status = want_family(data, GS_H5_FLOAT, "floating point numbers", error);
    if (status == GS_OK) status = check_rows(data, first, rows, error);
    if (status != GS_OK) return status;
    if (data->narrow != PLAIN) return read_narrow(data, first, rows, values, error);
    if (data->shape.bytes > 4) return read_wide(data, first, rows, values, error);
    if (data->is_direct) return read_direct(data, first, rows, values, error);
    return transfer(data, first, rows, H5T_NATIVE_FLOAT, values, NULL, error);
}

enum gs_status gs_h5_data_f64(struct gs_h5_data *data, size_t first, size_t rows, double *values,
                              struct gs_error *error) {
    if (data->shape.family != GS_H5_INTEGER) {
        enum gs_status status = want_family(data, GS_H5_FLOAT, "numbers", error);
        if (status != GS_OK) return status;
    }
    enum gs_status status = check_rows(data, first, rows, error);
    if (status != GS_OK) return status;
    if (data->narrow == PLAIN)
        return transfer(data, first, rows, H5T_NATIVE_DOUBLE, values, NULL, error);
    float *narrow = row_buffer(data, rows, sizeof *narrow, error);
    if (!narrow) return GS_NO_MEMORY;
    status = read_narrow(data, first, rows, narrow, error);
    for (size_t i = 0; status == GS_OK && i < rows * data->shape.row; i++)
        values[i] = (double)narrow[i];
    gs_free(narrow);
    return status;
}

/* ---- integers: HDF5 clips what does not fit in silence, so everything goes through 64 bits ----
 */

static enum gs_status fail_integer(struct gs_error *error, const struct gs_h5_data *data,
                                   size_t first, size_t index, bool negative, uint64_t bits,
                                   uint64_t limit) {
    gs_fail(error, GS_RANGE, "a whole number out of range");
    gs_error_expected(error, "0 … %llu", (unsigned long long)limit);
    if (negative)
        gs_error_found(error, "%lld", (long long)bits);
    else
        gs_error_found(error, "%llu", (unsigned long long)bits);
    gs_error_where(error, "%s, %s, row %zu", data->file->path, data->path,
                   first + index / (data->shape.row ? data->shape.row : 1));
    return GS_RANGE;
}

/* All elements as 64 bits, none negative, none above `limit`. */
static enum gs_status read_integers(struct gs_h5_data *data, size_t first, size_t rows,
                                    uint64_t limit, uint64_t *values, struct gs_error *error) {
    bool is_signed = data->shape.is_signed;
    hid_t memory = is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64;
    enum gs_status status = transfer(data, first, rows, memory, values, NULL, error);
    if (status != GS_OK) return status;
    for (size_t i = 0; i < rows * data->shape.row; i++) {
        bool negative = is_signed && values[i] > INT64_MAX;
        if (negative || values[i] > limit)
            return fail_integer(error, data, first, i, negative, values[i], limit);
    }
    return GS_OK;
}

/* Can the file's type hold nothing that `bytes` unsigned bytes cannot? */
static bool fits_directly(const struct gs_h5_data *data, size_t bytes) {
    return !data->shape.is_signed && data->shape.bytes <= bytes;
}

static enum gs_status want_integers(const struct gs_h5_data *data, size_t first, size_t rows,
                                    struct gs_error *error) {
    enum gs_status status = want_family(data, GS_H5_INTEGER, "whole numbers", error);
    return status == GS_OK ? check_rows(data, first, rows, error) : status;
}

enum gs_status gs_h5_data_u64(struct gs_h5_data *data, size_t first, size_t rows, uint64_t *values,
                              struct gs_error *error) {
    enum gs_status status = want_integers(data, first, rows, error);
    if (status != GS_OK) return status;
    return read_integers(data, first, rows, UINT64_MAX, values, error);
}

enum gs_status gs_h5_data_u32(struct gs_h5_data *data, size_t first, size_t rows, uint32_t *values,
                              struct gs_error *error) {
    enum gs_status status = want_integers(data, first, rows, error);
    if (status != GS_OK) return status;
    if (data->is_direct && data->shape.bytes == sizeof *values)
        return read_direct(data, first, rows, values, error);
    if (fits_directly(data, sizeof *values))
        return transfer(data, first, rows, H5T_NATIVE_UINT32, values, NULL, error);
    uint64_t *wide = row_buffer(data, rows, sizeof *wide, error);
    if (!wide) return GS_NO_MEMORY;
    status = read_integers(data, first, rows, UINT32_MAX, wide, error);
    for (size_t i = 0; status == GS_OK && i < rows * data->shape.row; i++)
        values[i] = (uint32_t)wide[i];
    gs_free(wide);
    return status;
}

enum gs_status gs_h5_data_u16(struct gs_h5_data *data, size_t first, size_t rows, uint16_t *values,
                              struct gs_error *error) {
    enum gs_status status = want_integers(data, first, rows, error);
    if (status != GS_OK) return status;
    if (data->is_direct && data->shape.bytes == sizeof *values)
        return read_direct(data, first, rows, values, error);
    if (fits_directly(data, sizeof *values))
        return transfer(data, first, rows, H5T_NATIVE_UINT16, values, NULL, error);
    uint64_t *wide = row_buffer(data, rows, sizeof *wide, error);
    if (!wide) return GS_NO_MEMORY;
    status = read_integers(data, first, rows, UINT16_MAX, wide, error);
    for (size_t i = 0; status == GS_OK && i < rows * data->shape.row; i++)
        values[i] = (uint16_t)wide[i];
    gs_free(wide);
    return status;
}

/* ---- text ---- */

struct text_place {
    const struct gs_h5_data *data;
    size_t index;
};

static bool read_text_element(hid_t type, void *buffer, const void *context) {
    const struct text_place *place = context;
    return transfer(place->data, place->index, 1, type, buffer, NULL, NULL) == GS_OK;
}

enum gs_status gs_h5_data_text(struct gs_h5_data *data, size_t index, char **text,
                               struct gs_error *error) {
    *text = NULL;
    enum gs_status status = want_family(data, GS_H5_TEXT, "text", error);
    if (status == GS_OK) status = check_rows(data, index, 1, error);
    if (status != GS_OK) return status;
    struct text_place place = {data, index};
    hid_t type = data->shape.row == 1 ? H5Dget_type(data->id) : H5I_INVALID_HID;
    if (type >= 0 && H5Tis_variable_str(type) == 0 && H5Tget_size(type) > TEXT_LIMIT) {
        H5Tclose(type);
        return fail_object(error, GS_FORMAT, data->file, data->path,
                           "texts of more than 16 MiB each");
    }
    if (type >= 0) {
        *text = read_string(data->file, type, read_text_element, &place);
        H5Tclose(type);
    }
    return *text ? GS_OK : fail_h5(error, GS_FORMAT, data->file, data->path, "reading a text");
}

enum gs_status gs_h5_write_texts(struct gs_h5 *file, const char *path, const char *const *texts,
                                 size_t count, bool variable, struct gs_error *error) {
    size_t longest = 1, bytes;
    for (size_t i = 0; i < count; i++)
        if (strlen(texts[i]) > longest) longest = strlen(texts[i]);
    hid_t type = text_type(variable ? H5T_VARIABLE : longest);
    char *fixed = NULL;
    if (!variable) {
        fixed = gs_multiply(longest, count, &bytes) ? gs_calloc(bytes, 1) : NULL;
        for (size_t i = 0; fixed && i < count; i++)
            memcpy(fixed + i * longest, texts[i], strlen(texts[i]));
    }
    const void *buffer = variable ? (const void *)texts : fixed;
    struct complaint complaint = current_complaint();
    hid_t id = H5I_INVALID_HID;
    if (type >= 0 && buffer)
        id = create_dataset(file, path, type, 1, &count, H5P_DEFAULT, &complaint);
    bool good = id >= 0;
    if (good && count > 0) {
        good = H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer) >= 0;
        complaint = current_complaint();
    }
    enum gs_status status =
        good ? GS_OK : fail_as(error, GS_IO, file, path, "writing texts", &complaint);
    if (id >= 0) H5Dclose(id);
    if (type >= 0) H5Tclose(type);
    gs_free(fixed);
    return status;
}

/* ---- whole datasets ---- */

static size_t all_rows(const struct gs_h5_data *data) {
    return data->shape.rank == 0 ? data->shape.count : data->shape.dims[0];
}

/* Open `path` and make room for all of it. */
static enum gs_status open_whole(struct gs_h5 *file, const char *path, size_t size,
                                 struct gs_h5_data **data, void **values, struct gs_error *error) {
    *values = NULL;
    enum gs_status status = gs_h5_data_open(file, path, data, error);
    if (status != GS_OK) return status;
    if ((*data)->shape.holes)
        status =
            fail_object(error, GS_FORMAT, file, path, "a dataset of which some was never stored");
    if (status == GS_OK && !(*values = gs_calloc((*data)->shape.count, size)))
        status = gs_fail_memory(error, (*data)->shape.count, "elements of a dataset");
    if (status != GS_OK) gs_h5_data_close(*data);
    return status;
}

/* Hand out or give back what open_whole made. */
static enum gs_status close_whole(struct gs_h5_data *data, void **values, enum gs_status status,
                                  size_t *rank, size_t *shape) {
    if (rank) *rank = data->shape.rank;
    if (shape) memcpy(shape, data->shape.dims, sizeof data->shape.dims);
    gs_h5_data_close(data);
    if (status != GS_OK) {
        gs_free(*values);
        *values = NULL;
    }
    return status;
}

enum gs_status gs_h5_read_f32(struct gs_h5 *file, const char *path, float **values, size_t *rank,
                              size_t *shape, struct gs_error *error) {
    struct gs_h5_data *data;
    void *room;
    *values = NULL;
    enum gs_status status = open_whole(file, path, sizeof **values, &data, &room, error);
    if (status != GS_OK) return status;
    status = gs_h5_data_f32(data, 0, all_rows(data), room, error);
    status = close_whole(data, &room, status, rank, shape);
    *values = room;
    return status;
}

enum gs_status gs_h5_read_f64(struct gs_h5 *file, const char *path, double **values, size_t *rank,
                              size_t *shape, struct gs_error *error) {
    struct gs_h5_data *data;
    void *room;
    *values = NULL;
    enum gs_status status = open_whole(file, path, sizeof **values, &data, &room, error);
    if (status != GS_OK) return status;
    status = gs_h5_data_f64(data, 0, all_rows(data), room, error);
    status = close_whole(data, &room, status, rank, shape);
    *values = room;
    return status;
}

enum gs_status gs_h5_read_u32(struct gs_h5 *file, const char *path, uint32_t **values, size_t *rank,
                              size_t *shape, struct gs_error *error) {
    struct gs_h5_data *data;
    void *room;
    *values = NULL;
    enum gs_status status = open_whole(file, path, sizeof **values, &data, &room, error);
    if (status != GS_OK) return status;
    status = gs_h5_data_u32(data, 0, all_rows(data), room, error);
    status = close_whole(data, &room, status, rank, shape);
    *values = room;
    return status;
}

enum gs_status gs_h5_read_u64(struct gs_h5 *file, const char *path, uint64_t **values, size_t *rank,
                              size_t *shape, struct gs_error *error) {
    struct gs_h5_data *data;
    void *room;
    *values = NULL;
    enum gs_status status = open_whole(file, path, sizeof **values, &data, &room, error);
    if (status != GS_OK) return status;
    status = gs_h5_data_u64(data, 0, all_rows(data), room, error);
    status = close_whole(data, &room, status, rank, shape);
    *values = room;
    return status;
}

enum gs_status gs_h5_write(struct gs_h5 *file, const char *path, enum gs_h5_type type, size_t rank,
                           const size_t *shape, const void *values, struct gs_error *error) {
    struct gs_h5_spec spec = {.type = type, .rank = rank};
    for (size_t axis = 0; axis < rank && axis < GS_H5_MAX_RANK; axis++)
        spec.dims[axis] = shape[axis];
    struct gs_h5_data *data;
    enum gs_status status = gs_h5_data_create(file, path, &spec, &data, error);
    if (status != GS_OK) return status;
    status = gs_h5_data_write(data, 0, all_rows(data), type, values, error);
    gs_h5_data_close(data);
    return status;
}
