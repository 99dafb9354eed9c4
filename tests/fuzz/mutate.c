#include "tests/fuzz/mutate.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct draft {
    unsigned char *bytes;
    size_t size, room;
    struct gs_random *random;
};

static size_t below(const struct draft *draft, size_t end) {
    return end ? (size_t)gs_random_below(draft->random, end) : 0;
}

/* Mostly short, at times anything up to `most`. */
static size_t some(const struct draft *draft, size_t most) {
    size_t end = below(draft, 4) ? 16 : most;
    return 1 + below(draft, end < most ? end : most);
}

static void open_gap(struct draft *draft, size_t at, size_t length) {
    memmove(draft->bytes + at + length, draft->bytes + at, draft->size - at);
    draft->size += length;
}

static void insert(struct draft *draft, const struct draft *from) {
    if (draft->size == draft->room || !from->size) return;
    size_t most = draft->room - draft->size, source = below(draft, from->size);
    size_t length = some(draft, from->size - source), at = below(draft, draft->size + 1);
    unsigned char piece[4096];
    if (length > most) length = most;
    if (length > sizeof piece) length = sizeof piece;
    memcpy(piece, from->bytes + source, length); /* `from` may be the draft itself */
    open_gap(draft, at, length);
    memcpy(draft->bytes + at, piece, length);
}

static void insert_noise(struct draft *draft) {
    size_t length = some(draft, 64), at = below(draft, draft->size + 1);
    if (length > draft->room - draft->size) return;
    open_gap(draft, at, length);
    unsigned char same = (unsigned char)below(draft, 256);
    bool noise = below(draft, 2);
    for (size_t i = 0; i < length; i++)
        draft->bytes[at + i] = noise ? (unsigned char)below(draft, 256) : same;
}

static void overwrite(struct draft *draft, const struct draft *from) {
    if (!draft->size || !from->size) return;
    size_t at = below(draft, draft->size), source = below(draft, from->size);
    size_t most = draft->size - at < from->size - source ? draft->size - at : from->size - source;
    memmove(draft->bytes + at, from->bytes + source, some(draft, most));
}

static void take_out(struct draft *draft) {
    if (!draft->size) return;
    size_t at = below(draft, draft->size), length = some(draft, draft->size - at);
    memmove(draft->bytes + at, draft->bytes + at + length, draft->size - at - length);
    draft->size -= length;
}

/* Ends of types, sizes near the input's, powers of two, small steps from what is there. */
static uint64_t number(const struct draft *draft, uint64_t was) {
    switch (below(draft, 6)) {
    case 0:
        return below(draft, 17);
    case 1:
        return 0 - (uint64_t)below(draft, 17);
    case 2:
        return ((uint64_t)1 << below(draft, 64)) - below(draft, 2);
    case 3:
        return draft->size + below(draft, 9) - 4;
    case 4:
        return was + below(draft, 33) - 16;
    default:
        return was << below(draft, 8) | below(draft, 256);
    }
}

static void set_number(struct draft *draft) {
    size_t width = (size_t)1 << below(draft, 4);
    if (draft->size < width) return;
    unsigned char *at = draft->bytes + below(draft, draft->size - width + 1);
    bool big_endian = below(draft, 4) == 0;
    uint64_t was = 0;
    for (size_t i = 0; i < width; i++)
        was |= (uint64_t)at[big_endian ? width - 1 - i : i] << (8 * i);
    uint64_t now = number(draft, was);
    for (size_t i = 0; i < width; i++)
        at[big_endian ? width - 1 - i : i] = (unsigned char)(now >> (8 * i));
}

/* A run of digits becomes another number, of its own length. */
static void set_decimal(struct draft *draft) {
    size_t start = below(draft, draft->size), at = start;
    while (at < draft->size && (draft->bytes[at] < '0' || draft->bytes[at] > '9')) at++;
    size_t end = at;
    while (end < draft->size && draft->bytes[end] >= '0' && draft->bytes[end] <= '9') end++;
    if (at == end) return;
    char text[32];
    int length = snprintf(text, sizeof text, below(draft, 3) ? "%llu" : "-%llu",
                          (unsigned long long)number(draft, below(draft, 100000)));
    size_t room = draft->room - draft->size + (end - at);
    if ((size_t)length > room) return;
    memmove(draft->bytes + at + length, draft->bytes + end, draft->size - end);
    memcpy(draft->bytes + at, text, (size_t)length);
    draft->size = draft->size - (end - at) + (size_t)length;
}

static void change(struct draft *draft, const struct draft *other) {
    size_t at = below(draft, draft->size);
    switch (below(draft, 12)) {
    case 0:
    case 1:
        if (draft->size) draft->bytes[at] ^= (unsigned char)(1u << below(draft, 8));
        return;
    case 2:
        if (draft->size) draft->bytes[at] = (unsigned char)below(draft, 256);
        return;
    case 3:
    case 4:
    case 5:
        set_number(draft);
        return;
    case 6:
        insert_noise(draft);
        return;
    case 7:
        take_out(draft);
        return;
    case 8:
        insert(draft, below(draft, 2) ? other : draft);
        return;
    case 9:
        overwrite(draft, below(draft, 2) ? other : draft);
        return;
    case 10:
        set_decimal(draft);
        return;
    default:
        if (below(draft, 3) == 0) draft->size = at;
        return;
    }
}

size_t gs_mutate(const struct gs_input *from, const struct gs_input *other, unsigned char *to,
                 size_t room, struct gs_random *random) {
    struct draft draft = {to, from->size < room ? from->size : room, room, random};
    const struct draft second = {other->bytes, other->size, other->size, random};
    if (draft.size) memcpy(to, from->bytes, draft.size);
    for (size_t changes = 1 + below(&draft, 8); changes > 0; changes--) change(&draft, &second);
    return draft.size;
}
