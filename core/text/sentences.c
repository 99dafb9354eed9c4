#include "core/text/sentences.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/text/documents.h"

#include <string.h>

struct gs_sentences {
    const char *const *paths; /* borrowed */
    size_t path_count, next_path;
    struct gs_documents *documents; /* of the path being read */
    const char *document;           /* what is left of its present document */
    size_t left;
    uint64_t stride, index;     /* every stride-th sentence is taken */
    uint64_t total, done_files; /* bytes, for progress */
    const struct gs_progress *progress;
};

static enum gs_status sum_sizes(struct gs_sentences *sentences, struct gs_error *error) {
    for (size_t i = 0; i < sentences->path_count; i++) {
        struct gs_mapped_file file;
        enum gs_status status = gs_file_map(sentences->paths[i], &file, error);
        if (status != GS_OK) return status;
        sentences->total += file.size;
        gs_file_unmap(&file);
    }
    sentences->stride = 1 + sentences->total / ((uint64_t)GS_SENTENCES_TOTAL + 1);
    return GS_OK;
}

enum gs_status gs_sentences_open(const char *const *paths, size_t count,
                                 const struct gs_progress *progress,
                                 struct gs_sentences **sentences, struct gs_error *error) {
    *sentences = NULL;
    struct gs_sentences *made = gs_calloc(1, sizeof *made);
    if (!made) return gs_fail_memory(error, sizeof *made, "training text");
    made->paths = paths;
    made->path_count = count;
    made->progress = progress;
    enum gs_status status = sum_sizes(made, error);
    if (status != GS_OK) {
        gs_sentences_close(made);
        return status;
    }
    *sentences = made;
    return GS_OK;
}

void gs_sentences_close(struct gs_sentences *sentences) {
    if (!sentences) return;
    gs_documents_close(sentences->documents);
    gs_free(sentences);
}

/* The next document of the present file or of those after it. */
static enum gs_status next_document(struct gs_sentences *sentences, bool *found,
                                    struct gs_error *error) {
    *found = false;
    for (;;) {
        if (!sentences->documents) {
            if (sentences->next_path == sentences->path_count) return GS_OK;
            const char *path = sentences->paths[sentences->next_path++];
            enum gs_docs docs = gs_docs_of_path(path);
            enum gs_status status = gs_documents_open(
                path, docs == GS_DOCS_JSONL ? docs : GS_DOCS_LINES, &sentences->documents, error);
            if (status != GS_OK) return status;
        }
        enum gs_status status = gs_documents_next(sentences->documents, &sentences->document,
                                                  &sentences->left, found, error);
        if (status != GS_OK || *found) return status;
        sentences->done_files += gs_documents_total(sentences->documents);
        gs_documents_close(sentences->documents);
        sentences->documents = NULL;
    }
}

/* How much of `bytes` makes one sentence of at most GS_SENTENCE_BYTES: up to the last space within
 * that, else up to the last border between two characters (continuation bytes are 10xxxxxx; four
 * of them in a row are no UTF-8, and any cut is as good as another). */
static size_t sentence_length(const char *bytes, size_t size) {
    if (size <= GS_SENTENCE_BYTES) return size;
    for (size_t cut = GS_SENTENCE_BYTES; cut > GS_SENTENCE_BYTES / 2; cut--)
        if (bytes[cut] == ' ' && bytes[cut - 1] != ' ') return cut;
    for (size_t cut = GS_SENTENCE_BYTES; cut > GS_SENTENCE_BYTES - 4; cut--)
        if (((unsigned char)bytes[cut] & 0xC0) != 0x80) return cut;
    return GS_SENTENCE_BYTES;
}

/* Cut one sentence off the present document; size 0 when only a line end was there. */
static void cut_sentence(struct gs_sentences *sentences, const char **bytes, size_t *size) {
    const char *start = sentences->document;
    size_t limit = sentences->left <= GS_SENTENCE_BYTES ? sentences->left : GS_SENTENCE_BYTES;
    const char *end = memchr(start, '\n', limit);
    size_t length = end ? (size_t)(end - start) : sentence_length(start, sentences->left);
    size_t used = end ? length + 1 : length;
    /* A cut before a space drops it: each sentence is given a space at its start anyway. */
    if (!end && used < sentences->left && start[used] == ' ') used++;
    sentences->document += used;
    sentences->left -= used;
    if (length > 0 && start[length - 1] == '\r') length--;
    *bytes = start;
    *size = length;
}

static enum gs_status watch(struct gs_sentences *sentences, struct gs_error *error) {
    enum { EVERY = 4096 };
    if (sentences->index % EVERY != 0) return GS_OK;
    uint64_t done = sentences->done_files;
    if (sentences->documents) done += gs_documents_read(sentences->documents);
    gs_progress_report(sentences->progress, (double)done, (double)sentences->total,
                       "reading training text");
    if (!gs_progress_stop(sentences->progress)) return GS_OK;
    return gs_fail(error, GS_INTERRUPTED, "stopped while reading the training text");
}

enum gs_status gs_sentences_next(struct gs_sentences *sentences, const char **bytes, size_t *size,
                                 bool *found, struct gs_error *error) {
    *found = false;
    for (;;) {
        if (sentences->left == 0) {
            bool more;
            enum gs_status status = next_document(sentences, &more, error);
            if (status != GS_OK || !more) return status;
        }
        cut_sentence(sentences, bytes, size);
        if (*size == 0) continue;
        enum gs_status status = watch(sentences, error);
        if (status != GS_OK) return status;
        if (sentences->index++ % sentences->stride != 0) continue;
        *found = true;
        return GS_OK;
    }
}
