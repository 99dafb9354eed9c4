#include "analyses/verify/runs.h"

#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/memory.h"
#include "core/base/numbers.h"
#include "core/checkpoint/safetensors.h"

#include <string.h>

static bool ends_in(const char *name, const char *end) {
    size_t length = strlen(name), size = strlen(end);
    return length >= size && strcmp(name + length - size, end) == 0;
}

/* A file that says another step need not be hashed: models may be large. */
static bool may_be(const char *path, int64_t step) {
    struct gs_safetensors *file;
    uint64_t said;
    if (gs_safetensors_open(path, &file, NULL) != GS_OK) return false;
    const char *text = gs_safetensors_metadata(file, "gpnscope.step");
    bool other = step >= 0 && text && gs_size_parse(text, &said) && said != (uint64_t)step;
    gs_safetensors_close(file);
    return !other;
}

static bool is_it(const char *path, const struct gs_trace_info *trace) {
    char found[GS_SHA256_TEXT];
    return may_be(path, trace->step) && gs_sha256_path(path, found, NULL) == GS_OK &&
           strcmp(found, trace->checkpoint_sha256) == 0;
}

enum gs_status gs_verify_find_checkpoint(const struct gs_trace_info *trace, char **checkpoint,
                                         struct gs_error *error) {
    char **names;
    size_t count;
    *checkpoint = NULL;
    if (!trace->checkpoint_sha256 || !trace->checkpoint_sha256[0]) return GS_OK;
    char *folder = gs_path_folder(trace->path);
    if (!folder) return gs_fail_memory(error, strlen(trace->path), "a path");
    if (gs_folder_list(folder, &names, &count, NULL) == GS_OK) {
        for (size_t i = 0; !*checkpoint && i < count; i++) {
            if (!ends_in(names[i], ".safetensors") || ends_in(names[i], ".resume.safetensors"))
                continue;
            char *path = gs_path_join(folder, names[i]);
            if (path && is_it(path, trace))
                *checkpoint = path;
            else
                gs_free(path);
        }
        gs_free_names(names, count);
    }
    gs_free(folder);
    return GS_OK;
}
