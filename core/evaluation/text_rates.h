/* text_rates.h - a loss per byte and per word of text beside per token, so that models with
 * different tokenizers can be compared.
 *
 *     per byte = Σ nll / Σ bytes       per word = Σ nll / Σ words
 *     perplexity per byte = exp(per byte), bits per byte = per byte / ln 2, and so on
 *
 * over exactly the tokens that were predicted: both sums leave out what a model does not predict
 * and what no window holds. Bytes and words of a token: core/text/token_text.h. Special tokens such
 * as EOS have neither, but what predicting them cost counts: that a document ends is part of what a
 * model has to say, whatever its tokenizer. How many there are is part of the result.
 */
#ifndef GS_CORE_EVALUATION_TEXT_RATES_H
#define GS_CORE_EVALUATION_TEXT_RATES_H

#include "core/base/status.h"
#include "core/evaluation/limits.h"
#include "core/evaluation/loss.h"
#include "core/text/token_text.h"
#include "core/text/tokenizer.h"
#include "core/text/tokens.h"

struct gs_text_rate {
    double nats; /* per unit; NaN when there is no unit */
    struct gs_limits limits;
};

struct gs_text_rates {
    struct gs_text_amount amount; /* of the predicted tokens; with unknown > 0 rates are NaN */
    struct gs_text_rate byte, word;
};

/* Of a loss that was computed on `tokens`. GS_RANGE or GS_FORMAT when the tokenizer is not the one
 * of the tokens, as far as that can be seen. */
enum gs_status gs_evaluate_text_rates(const struct gs_loss *loss, const struct gs_tokens *tokens,
                                      const struct gs_tokenizer *tokenizer,
                                      struct gs_text_rates *rates, struct gs_error *error);

#endif
