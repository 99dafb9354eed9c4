#include "core/evaluation/by_document.h"

#include "core/base/memory.h"

/* The last document that begins at or before `position`; `starts` rise from 0 on. */
static size_t find_document(const uint64_t *starts, size_t count, uint64_t position) {
    size_t low = 0, high = count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (starts[middle] <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

enum gs_status gs_by_document_begin(struct gs_by_document *by, struct gs_loss *loss,
                                    const struct gs_tokens *tokens, struct gs_error *error) {
    *by = (struct gs_by_document){0};
    by->starts = gs_tokens_documents(tokens, &by->count);
    if (by->count == 0) return GS_OK;
    const struct gs_windows *windows = &loss->windows;
    by->first = by->at = find_document(by->starts, by->count, windows->first);
    size_t last = find_document(by->starts, by->count, windows->first + windows->used - 1);
    loss->documents = last - by->first + 1;
    loss->by_document = gs_calloc(loss->documents, sizeof *loss->by_document);
    loss->document_tokens = gs_calloc(loss->documents, sizeof *loss->document_tokens);
    if (loss->by_document && loss->document_tokens) return GS_OK;
    return gs_fail_memory(error, loss->documents * sizeof *loss->by_document, "sums of documents");
}

void gs_by_document_add(struct gs_by_document *by, struct gs_loss *loss, uint64_t position,
                        double nll) {
    if (by->count == 0) return;
    while (by->at + 1 < by->count && by->starts[by->at + 1] <= position) by->at++;
    if (by->starts[by->at] > position) by->at = find_document(by->starts, by->count, position);
    loss->by_document[by->at - by->first] += nll;
    loss->document_tokens[by->at - by->first] += 1;
}

void gs_by_document_finish(struct gs_loss *loss) {
    size_t kept = 0;
    for (size_t i = 0; i < loss->documents; i++) {
        if (!(loss->document_tokens[i] > 0)) continue;
        loss->by_document[kept] = loss->by_document[i];
        loss->document_tokens[kept++] = loss->document_tokens[i];
    }
    loss->documents = kept;
}
