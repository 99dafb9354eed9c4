#include "core/text/encode_documents.h"

#include "core/base/memory.h"

#include <string.h>

enum { BATCH_BYTES = 1024 * 1024, BATCH_DOCUMENTS = 1024 };

/* Short documents are copied and encoded many at a time; one that would not fit is encoded where
 * it lies. */
struct batch {
    const struct gs_tokenizer *tokenizer;
    const struct gs_document_sink *sink;
    uint32_t eos;
    char *bytes; /* (BATCH_BYTES) */
    size_t used;
    struct gs_text *texts; /* (BATCH_DOCUMENTS) */
    size_t count;
    size_t *ends;       /* (BATCH_DOCUMENTS) */
    uint32_t *document; /* one document's ids and EOS */
    size_t capacity;
};

static enum gs_status give(struct batch *batch, const uint32_t *ids, size_t count, size_t bytes,
                           struct gs_error *error) {
    if (count + 1 > batch->capacity) {
        gs_free(batch->document);
        batch->capacity = count + count / 2 + 1;
        batch->document = gs_calloc(batch->capacity, sizeof *ids);
        if (!batch->document) {
            batch->capacity = 0;
            return gs_fail_memory(error, (count + count / 2 + 1) * sizeof *ids, "token ids");
        }
    }
    if (count > 0) memcpy(batch->document, ids, count * sizeof *ids);
    batch->document[count] = batch->eos;
    return batch->sink->take(batch->sink->context, batch->document, count + 1, bytes, error);
}

static enum gs_status encode(struct batch *batch, const struct gs_text *texts, size_t count,
                             struct gs_error *error) {
    uint32_t *ids = NULL;
    enum gs_status status =
        gs_tokenizer_encode_all(batch->tokenizer, texts, count, &ids, batch->ends, error);
    for (size_t i = 0, start = 0; i < count && status == GS_OK; start = batch->ends[i], i++)
        status = give(batch, ids + start, batch->ends[i] - start, texts[i].size, error);
    gs_free(ids);
    return status;
}

static enum gs_status flush(struct batch *batch, struct gs_error *error) {
    enum gs_status status = encode(batch, batch->texts, batch->count, error);
    batch->count = 0;
    batch->used = 0;
    return status;
}

static enum gs_status add(struct batch *batch, struct gs_text text, struct gs_error *error) {
    if (batch->count == BATCH_DOCUMENTS || text.size > BATCH_BYTES - batch->used) {
        enum gs_status status = flush(batch, error);
        if (status != GS_OK) return status;
    }
    if (text.size > BATCH_BYTES) return encode(batch, &text, 1, error);
    char *copy = batch->bytes + batch->used;
    memcpy(copy, text.bytes, text.size);
    batch->used += text.size;
    batch->texts[batch->count++] = (struct gs_text){copy, text.size};
    return GS_OK;
}

static enum gs_status run(struct batch *batch, struct gs_documents *documents,
                          const struct gs_encode_progress *progress, struct gs_error *error) {
    for (;;) {
        struct gs_text text;
        bool found;
        enum gs_status status =
            gs_documents_next(documents, &text.bytes, &text.size, &found, error);
        if (status == GS_OK && !found) return flush(batch, error);
        if (status == GS_OK) status = add(batch, text, error);
        if (status != GS_OK) return status;
        if (!progress) continue;
        gs_progress_report(progress->progress,
                           (double)(progress->done + gs_documents_read(documents)),
                           (double)progress->total, "encoding");
        if (gs_progress_stop(progress->progress))
            return gs_fail(error, GS_INTERRUPTED, "stopped while encoding text");
    }
}

enum gs_status gs_encode_documents(struct gs_documents *documents,
                                   const struct gs_tokenizer *tokenizer,
                                   const struct gs_document_sink *sink,
                                   const struct gs_encode_progress *progress,
                                   struct gs_error *error) {
    if (gs_tokenizer_eos(tokenizer) < 0) {
        gs_fail(error, GS_UNSUPPORTED, "the tokenizer has no end-of-sequence piece");
        gs_error_expected(error, "a piece such as </s>, which ends each document");
        return GS_UNSUPPORTED;
    }
    struct batch batch = {.tokenizer = tokenizer,
                          .sink = sink,
                          .eos = (uint32_t)gs_tokenizer_eos(tokenizer),
                          .bytes = gs_calloc(BATCH_BYTES, 1),
                          .texts = gs_calloc(BATCH_DOCUMENTS, sizeof *batch.texts),
                          .ends = gs_calloc(BATCH_DOCUMENTS, sizeof *batch.ends)};
    enum gs_status status;
    if (batch.bytes && batch.texts && batch.ends)
        status = run(&batch, documents, progress, error);
    else
        status = gs_fail_memory(error, BATCH_BYTES, "documents");
    gs_free(batch.bytes);
    gs_free(batch.texts);
    gs_free(batch.ends);
    gs_free(batch.document);
    return status;
}
