/* partners.h - whose states the null curve pairs with whose. */
#ifndef GS_ANALYSES_HORIZON_PARTNERS_H
#define GS_ANALYSES_HORIZON_PARTNERS_H

#include "core/base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { GS_NO_PARTNER = -1 };

/* For each sequence another one of a different document, each taken at most once, drawn by `seed`:
 * documents in random order, their sequences in random order, everyone paired with the one that
 * stands as many places further on as the largest document has sequences. document[s] says which
 * document sequence s belongs to; NULL: each is a document of its own. A sequence that finds
 * nobody (one document holds more than half of all) gets GS_NO_PARTNER. partner (sequences) is the
 * caller's. GS_NO_MEMORY. */
enum gs_status gs_partners_draw(size_t sequences, const uint64_t *document, uint64_t seed,
                                int64_t *partner, struct gs_error *error);

#endif
