/* by_document.h - losses summed by the document that a token belongs to. Internal to
 * core/evaluation. */
#ifndef GS_CORE_EVALUATION_BY_DOCUMENT_H
#define GS_CORE_EVALUATION_BY_DOCUMENT_H

#include "core/base/status.h"
#include "core/evaluation/loss.h"

struct gs_by_document {
    const uint64_t *starts; /* of the stream's documents; borrowed */
    size_t count;           /* of them; 0: not known, and nothing is summed */
    size_t first, at;       /* the first one that the windows touch, and the last one added to */
};

/* Room in `loss` for the documents that its windows touch; none where `tokens` does not know its
 * documents. by_document and document_tokens are released by gs_loss_destroy. */
enum gs_status gs_by_document_begin(struct gs_by_document *by, struct gs_loss *loss,
                                    const struct gs_tokens *tokens, struct gs_error *error);
/* The loss of the token at `position` of the stream. Quick when positions rise. */
void gs_by_document_add(struct gs_by_document *by, struct gs_loss *loss, uint64_t position,
                        double nll);
/* Drop the documents of which no token counts. */
void gs_by_document_finish(struct gs_loss *loss);

#endif
