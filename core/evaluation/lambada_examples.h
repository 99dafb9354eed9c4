/* lambada_examples.h - LAMBADA as token ids: where the last word begins.
 *
 * The last word is what follows the text's last space (../shared/spec/model.md, last section). The
 * model must be asked for the tokens of the real text, so the whole text is encoded, and the last
 * word's subwords are those behind the prefix's encoding. A piece begins with the space before it,
 * so the two encodings part exactly there; should a tokenizer join the end of the prefix with the
 * space (after two spaces, for example), they part earlier, and the last word's subwords begin at
 * the first id in which they differ. Such examples are counted.
 */
#ifndef GS_CORE_EVALUATION_LAMBADA_EXAMPLES_H
#define GS_CORE_EVALUATION_LAMBADA_EXAMPLES_H

#include "core/base/status.h"
#include "core/text/tokenizer.h"

#include <stddef.h>
#include <stdint.h>

struct gs_lambada_example {
    const uint32_t *ids; /* the whole text, inside gs_lambada_examples.ids */
    size_t count;
    size_t border; /* ids[border] is the first subword of the last word; border < count */
};

struct gs_lambada_examples {
    size_t count;
    struct gs_lambada_example *examples; /* in the order of the file */
    size_t longest;                      /* most ids in an example */
    size_t words;                        /* last-word subwords in all */
    size_t early;   /* examples whose border is not the end of the prefix's encoding */
    size_t skipped; /* empty texts */
    uint32_t *ids;
};

/* JSON Lines with `text`. GS_FORMAT naming file and line for a text without a space or that ends in
 * one, or when there is no example. Clear with gs_lambada_examples_clear in any case. */
enum gs_status gs_lambada_examples_read(const char *path, const struct gs_tokenizer *tokenizer,
                                        struct gs_lambada_examples *examples,
                                        struct gs_error *error);
void gs_lambada_examples_clear(struct gs_lambada_examples *examples);

#endif
