/* corpus.h - the inputs that are there: files, and files in folders. */
#ifndef GS_TESTS_FUZZ_CORPUS_H
#define GS_TESTS_FUZZ_CORPUS_H

#include "core/base/status.h"
#include "tests/fuzz/mutate.h"

struct gs_corpus {
    struct gs_input *inputs;
    char **names; /* paths */
    size_t count, room;
};

/* Add the file, or those in the folder, in byte order. */
enum gs_status gs_corpus_add(struct gs_corpus *corpus, const char *path, struct gs_error *error);
void gs_corpus_clear(struct gs_corpus *corpus);

#endif
