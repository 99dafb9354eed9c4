/* encode_documents.h - documents in, their ids out, one after the other, on all threads. */
#ifndef GS_CORE_TEXT_ENCODE_DOCUMENTS_H
#define GS_CORE_TEXT_ENCODE_DOCUMENTS_H

#include "core/base/progress.h"
#include "core/text/documents.h"
#include "core/text/tokenizer.h"

/* Who takes the documents: called in their order from one thread. `ids` (ending in EOS) are
 * borrowed for the call; `bytes` is how long the document's text was. */
struct gs_document_sink {
    void *context;
    enum gs_status (*take)(void *context, const uint32_t *ids, size_t count, size_t bytes,
                           struct gs_error *error);
};

/* Encode all that is left of `documents`. Progress is given in bytes: `done` were read before this
 * file, of `total` in all. GS_UNSUPPORTED when the tokenizer has no EOS, GS_INTERRUPTED. */
struct gs_encode_progress {
    const struct gs_progress *progress; /* NULL: nobody watches */
    uint64_t done, total;
};
enum gs_status gs_encode_documents(struct gs_documents *documents,
                                   const struct gs_tokenizer *tokenizer,
                                   const struct gs_document_sink *sink,
                                   const struct gs_encode_progress *progress,
                                   struct gs_error *error);

#endif
