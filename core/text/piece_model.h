/* piece_model.h - a look at a SentencePiece model file before SentencePiece sees it.
 *
 * The file is a protocol buffer (sentencepiece_model.proto: field 1 pieces, 2 trainer_spec,
 * 3 normalizer_spec). A file cut between two pieces is still a legal protocol buffer, and
 * SentencePiece would load the half vocabulary without a word; so what must stand at the end is
 * asked for here, and the few settings that the encoding depends on are read.
 */
#ifndef GS_CORE_TEXT_PIECE_MODEL_H
#define GS_CORE_TEXT_PIECE_MODEL_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gs_piece_model {
    size_t pieces;
    bool bpe;                      /* trainer_spec.model_type */
    bool whitespace_suffix;        /* trainer_spec.treat_whitespace_as_suffix */
    bool charsmap;                 /* the normalizer rewrites characters */
    bool add_dummy_prefix;         /* a space is put before the text */
    bool remove_extra_whitespaces; /* runs of spaces become one, none at the ends */
    bool escape_whitespaces;       /* a space is U+2581 in a piece */
};

/* GS_FORMAT when `bytes` is not a whole model; `path` names it in the error. */
enum gs_status gs_piece_model_read(const unsigned char *bytes, size_t size, const char *path,
                                   struct gs_piece_model *model, struct gs_error *error);

#endif
