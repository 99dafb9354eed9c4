/* controls.h - what the default token has to be told apart from. */
#ifndef GS_ANALYSES_DEFAULT_TOKEN_CONTROLS_H
#define GS_ANALYSES_DEFAULT_TOKEN_CONTROLS_H

#include "analyses/default_token/decoding.h"

/* Fills the controls of `token`, whose decodings are there. Random numbers: one stream a draw,
 * named by control and number, so that neither threads nor other draws move it. */
enum gs_status gs_default_controls(const struct gs_decoder *decoder,
                                   const struct gs_counted *counted,
                                   const struct gs_default_options *options,
                                   struct gs_default_token *token, struct gs_error *error);

#endif
