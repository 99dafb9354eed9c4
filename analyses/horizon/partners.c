#include "analyses/horizon/partners.h"

#include "core/base/memory.h"
#include "core/base/random.h"

#include <stdlib.h>

struct place {
    uint64_t key; /* the document's place in the draw, then its number */
    uint64_t document;
    uint64_t order; /* the sequence's place inside the document */
    size_t sequence;
};

static int by_draw(const void *left, const void *right) {
    const struct place *a = left, *b = right;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    if (a->document != b->document) return a->document < b->document ? -1 : 1;
    if (a->order != b->order) return a->order < b->order ? -1 : 1;
    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

/* A document's random place depends on seed and document alone, so that its sequences agree. */
static uint64_t document_key(uint64_t seed, uint64_t document) {
    struct gs_random random;
    gs_random_seed(&random, seed ^ (document * UINT64_C(0xD6E8FEB86659FD93)), "horizon/document");
    return gs_random_bits(&random);
}

static size_t largest_document(const struct place *places, size_t count) {
    size_t largest = 0, run = 0;
    for (size_t i = 0; i < count; i++) {
        run = i > 0 && places[i].document == places[i - 1].document ? run + 1 : 1;
        if (run > largest) largest = run;
    }
    return largest;
}

enum gs_status gs_partners_draw(size_t sequences, const uint64_t *document, uint64_t seed,
                                int64_t *partner, struct gs_error *error) {
    struct place *places = gs_calloc(sequences, sizeof *places);
    if (!places) return gs_fail_memory(error, sequences * sizeof *places, "null pairs");
    struct gs_random random;
    gs_random_seed(&random, seed, "horizon/sequence");
    for (size_t s = 0; s < sequences; s++) {
        uint64_t id = document ? document[s] : s;
        places[s] = (struct place){document_key(seed, id), id, gs_random_bits(&random), s};
    }
    qsort(places, sequences, sizeof *places, by_draw);
    size_t step = largest_document(places, sequences);
    for (size_t i = 0; i < sequences; i++) {
        const struct place *other = &places[(i + step) % sequences];
        partner[places[i].sequence] =
            other->document == places[i].document ? GS_NO_PARTNER : (int64_t)other->sequence;
    }
    gs_free(places);
    return GS_OK;
}
