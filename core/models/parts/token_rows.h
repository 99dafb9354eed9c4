/* token_rows.h - token ids to rows of the embedding, and their gradients back. */
#ifndef GS_CORE_MODELS_PARTS_TOKEN_ROWS_H
#define GS_CORE_MODELS_PARTS_TOKEN_ROWS_H

#include "core/models/parameters.h"

/* h (rows, d) = the embedding's (V, d) rows of the tokens, rounded to bfloat16 when asked. */
void gs_token_rows(const struct gs_tensor *embedding, bool bf16, const uint32_t *tokens,
                   size_t rows, float *h);
/* gradient (V, d) row of each token += dh's. In the order of the rows whatever the threads; called
 * by all threads of a region, does not wait. */
void gs_token_rows_back(const uint32_t *tokens, size_t rows, size_t width, const float *dh,
                        float *gradient);

#endif
