#include "tests/fuzz/corpus.h"

#include "core/base/file.h"
#include "core/base/memory.h"

#include <stdlib.h>
#include <string.h>

static enum gs_status grow(struct gs_corpus *corpus, struct gs_error *error) {
    if (corpus->count < corpus->room) return GS_OK;
    size_t room = corpus->room ? 2 * corpus->room : 64;
    void *inputs = realloc(corpus->inputs, room * sizeof *corpus->inputs);
    if (inputs) corpus->inputs = inputs;
    void *names = realloc(corpus->names, room * sizeof *corpus->names);
    if (names) corpus->names = names;
    if (!inputs || !names) return gs_fail_memory(error, room, "inputs");
    corpus->room = room;
    return GS_OK;
}

static enum gs_status add_file(struct gs_corpus *corpus, const char *path, struct gs_error *error) {
    struct gs_mapped_file file;
    enum gs_status status = grow(corpus, error);
    if (status == GS_OK) status = gs_file_map(path, &file, error);
    if (status != GS_OK) return status;
    struct gs_input input = {malloc(file.size ? file.size : 1), file.size};
    char *name = gs_strdup(path);
    if (input.bytes && file.size) memcpy(input.bytes, file.bytes, file.size);
    gs_file_unmap(&file);
    corpus->inputs[corpus->count] = input;
    corpus->names[corpus->count++] = name;
    return input.bytes && name ? GS_OK : gs_fail_memory(error, input.size, "an input");
}

enum gs_status gs_corpus_add(struct gs_corpus *corpus, const char *path, struct gs_error *error) {
    if (!gs_path_is_folder(path)) return add_file(corpus, path, error);
    char **names;
    size_t count;
    enum gs_status status = gs_folder_list(path, &names, &count, error);
    if (status != GS_OK) return status;
    for (size_t i = 0; i < count && status == GS_OK; i++) {
        char *file = gs_path_join(path, names[i]);
        status = file ? gs_corpus_add(corpus, file, error) : gs_fail_memory(error, 1, "a path");
        gs_free(file);
    }
    gs_free_names(names, count);
    return status;
}

void gs_corpus_clear(struct gs_corpus *corpus) {
    for (size_t i = 0; i < corpus->count; i++) {
        free(corpus->inputs[i].bytes);
        gs_free(corpus->names[i]);
    }
    free(corpus->inputs);
    free(corpus->names);
    *corpus = (struct gs_corpus){0};
}
