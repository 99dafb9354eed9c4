/* loss.h - the loss of a model on a token stream, in all and by position in the window.
 *
 * Windows are consecutive and do not overlap (core/text/windows.h); each starts from the state 0,
 * so early positions know little and the mean depends on the length. Every position that the model
 * predicts (and that is asked for) counts once: loss = mean of -log p(x_t | those before in the
 * window), nats. Limits are over windows (core/evaluation/limits.h).
 */
#ifndef GS_CORE_EVALUATION_LOSS_H
#define GS_CORE_EVALUATION_LOSS_H

#include "core/base/progress.h"
#include "core/base/status.h"
#include "core/evaluation/limits.h"
#include "core/models/model.h"
#include "core/text/tokens.h"
#include "core/text/windows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GS_EVALUATION_BATCH = 16 };

struct gs_loss_options {
    size_t length;      /* of a window; 0: GS_WINDOW_DEFAULT, or all tokens where they are fewer */
    uint64_t skip;      /* windows passed over */
    uint64_t sequences; /* windows read; 0: all that are left */
    size_t batch;       /* windows side by side; 0: GS_EVALUATION_BATCH. No bit depends on it. */
    bool bf16;          /* weights rounded to bfloat16 (gs_runner_options) */
    size_t first;       /* positions at the head of a window that do not count, where that is more
                           than the model leaves out itself: for comparing with one that does */
};

struct gs_loss {
    struct gs_windows windows;
    size_t first; /* positions at the head of a window that do not count */
    double loss;  /* nats a token */
    struct gs_limits limits;
    double perplexity;   /* exp(loss) */
    uint64_t tokens;     /* predicted: windows × (length − first) */
    double sum;          /* of all losses, nats */
    double *by_position; /* (length): mean over the windows; NaN below `first` */
    double *squares;     /* (length): Σ over the windows of (loss − mean)² at a position */
    double *by_window;   /* (windows): sum of its losses */
    size_t documents;    /* that hold tokens that count; 0: the data does not tell its documents */
    double *by_document; /* (documents): sum of the losses of its tokens */
    double *document_tokens; /* (documents): how many of them count */
};

/* GS_RANGE when the data holds no such windows, an id is not in the model's vocabulary, or nothing
 * is predicted in a window of that length; GS_NUMERIC naming window and position when a loss is not
 * finite; GS_INTERRUPTED. Free with gs_loss_destroy (NULL is fine). */
enum gs_status gs_evaluate_loss(struct gs_model *model, const struct gs_tokens *tokens,
                                const struct gs_loss_options *options,
                                const struct gs_progress *progress, struct gs_loss **loss,
                                struct gs_error *error);
void gs_loss_destroy(struct gs_loss *loss);

#endif
