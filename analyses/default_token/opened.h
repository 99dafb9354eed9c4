/* opened.h - what the analysis of a trace opens beside it, and that all of it belongs together. */
#ifndef GS_ANALYSES_DEFAULT_TOKEN_OPENED_H
#define GS_ANALYSES_DEFAULT_TOKEN_OPENED_H

#include "analyses/default_token/default_token.h"
#include "core/text/tokenizer.h"

struct gs_default_opened {
    struct gs_trace *trace; /* the caller's */
    const struct gs_trace_info *info;
    struct gs_model *model;
    struct gs_runner *runner;
    struct gs_tokenizer *tokenizer; /* NULL: none was given */
    uint64_t *counts;               /* (vocab); NULL: nothing can be counted */
};

/* Loads, checks, counts; sources and notes go into `results`. Errors as gs_default_token_of_trace
 * says. Release with gs_default_close, also after failure. */
enum gs_status gs_default_open(struct gs_trace *trace, const struct gs_default_inputs *inputs,
                               struct gs_default_opened *opened, struct gs_results *results,
                               struct gs_error *error);
void gs_default_close(struct gs_default_opened *opened);

#endif
