/* The machine that reads pickles: its stack, marks and memo, and the loop over opcodes. */
#include "core/checkpoint/pickle.h"

#include "core/base/memory.h"
#include "core/checkpoint/pickle_parts.h"

#include <stdlib.h>
#include <string.h>

enum { PROTO = 0x80, OLDEST = 2, NEWEST = 5 };

enum gs_status gs_pickle_fail(struct gs_pickle_machine *m, enum gs_status status,
                              const char *what) {
    gs_fail(m->error, status, "%s", what);
    gs_error_found(m->error, "opcode 0x%02x at byte %zu", (unsigned)*m->opcode,
                   (size_t)(m->opcode - m->begin));
    gs_error_where(m->error, "%s", m->where);
    return status;
}

/* ---- the stack ------------------------------------------------------------------------------ */

enum gs_status gs_pickle_push(struct gs_pickle_machine *m, struct gs_pickle_value *value) {
    if (!value) return GS_NO_MEMORY; /* said where it was made */
    if (!gs_pickle_grow(&m->stack, m->stack.count + 1))
        return gs_fail_memory(m->error, m->stack.room * sizeof value, "the stack of a pickle");
    m->stack.items[m->stack.count++] = value;
    return GS_OK;
}

static size_t floor_of(const struct gs_pickle_machine *m) {
    return m->mark_count ? m->marks[m->mark_count - 1] : 0;
}

enum gs_status gs_pickle_pop(struct gs_pickle_machine *m, struct gs_pickle_value **value) {
    if (m->stack.count <= floor_of(m))
        return gs_pickle_fail(m, GS_FORMAT, "the pickle takes more than it has put down");
    *value = m->stack.items[--m->stack.count];
    return GS_OK;
}

enum gs_status gs_pickle_pop_mark(struct gs_pickle_machine *m, struct gs_pickle_value ***items,
                                  size_t *count) {
    if (m->mark_count == 0)
        return gs_pickle_fail(m, GS_FORMAT, "the pickle goes back to a mark it has not set");
    size_t height = m->marks[--m->mark_count];
    *items = m->stack.items ? m->stack.items + height : NULL;
    *count = m->stack.count - height;
    m->stack.count = height;
    return GS_OK;
}

/* ---- the memo ------------------------------------------------------------------------------- */

/* Writers number what they remember, and each such thing takes a byte at least. */
enum gs_status gs_pickle_remember(struct gs_pickle_machine *m, uint64_t index) {
    if (m->stack.count <= floor_of(m))
        return gs_pickle_fail(m, GS_FORMAT, "the pickle remembers what it has not put down");
    if (index >= (uint64_t)(m->end - m->begin))
        return gs_pickle_fail(m, GS_FORMAT,
                              "the pickle numbers what it remembers beyond its own length");
    size_t at = (size_t)index;
    if (at >= m->memo.count) {
        if (!gs_pickle_grow(&m->memo, at + 1))
            return gs_fail_memory(m->error, (at + 1) * sizeof *m->memo.items, "a pickle's memo");
        memset(m->memo.items + m->memo.count, 0, (at + 1 - m->memo.count) * sizeof *m->memo.items);
        m->memo.count = at + 1;
    }
    m->memo.items[at] = m->stack.items[m->stack.count - 1];
    return GS_OK;
}

enum gs_status gs_pickle_recall(struct gs_pickle_machine *m, uint64_t index) {
    if (index >= m->memo.count || !m->memo.items[index])
        return gs_pickle_fail(m, GS_FORMAT, "the pickle recalls what it has not remembered");
    return gs_pickle_push(m, m->memo.items[index]);
}

/* ---- its bytes ------------------------------------------------------------------------------ */

enum gs_status gs_pickle_take(struct gs_pickle_machine *m, uint64_t size,
                              const unsigned char **bytes) {
    uint64_t left = (uint64_t)(m->end - m->at);
    if (size > left) {
        gs_pickle_fail(m, GS_FORMAT, "the pickle ends within an opcode");
        gs_error_expected(m->error, "%llu bytes more", (unsigned long long)size);
        gs_error_next(m->error, "the file may be cut off: copy it again");
        return GS_FORMAT;
    }
    *bytes = m->at;
    m->at += size;
    return GS_OK;
}

enum gs_status gs_pickle_take_count(struct gs_pickle_machine *m, size_t width, uint64_t *count) {
    const unsigned char *bytes;
    enum gs_status status = gs_pickle_take(m, width, &bytes);
    *count = 0;
    for (size_t i = 0; i < width && status == GS_OK; i++) *count |= (uint64_t)bytes[i] << (8 * i);
    return status;
}

/* ---- the loop ------------------------------------------------------------------------------- */

bool gs_pickle_recognise(const unsigned char *bytes, size_t size) {
    return size >= 2 && bytes[0] == PROTO && bytes[1] >= OLDEST && bytes[1] <= NEWEST;
}

static enum gs_status run(struct gs_pickle_machine *m) {
    while (!m->stopped) {
        if (m->at == m->end) {
            gs_pickle_fail(m, GS_FORMAT, "the pickle ends before its STOP");
            gs_error_next(m->error, "the file may be cut off: copy it again");
            return GS_FORMAT;
        }
        m->opcode = m->at++;
        enum gs_status status = gs_pickle_step(m, *m->opcode);
        if (status != GS_OK) return status;
    }
    return GS_OK;
}

static struct gs_pickle *create(void) {
    struct gs_pickle *pickle = gs_calloc(1, sizeof *pickle);
    if (!pickle) return NULL;
    pickle->none.type = GS_PICKLE_NONE;
    pickle->yes.type = pickle->no.type = GS_PICKLE_BOOL;
    pickle->yes.as.integer = 1;
    pickle->empty_tuple.type = GS_PICKLE_TUPLE;
    return pickle;
}

enum gs_status gs_pickle_parse(const unsigned char *bytes, size_t size, const char *where,
                               struct gs_pickle **pickle, size_t *used, struct gs_error *error) {
    *pickle = NULL;
    if (!gs_pickle_recognise(bytes, size)) {
        gs_fail(error, GS_FORMAT, "not a pickle of protocol %d to %d", OLDEST, NEWEST);
        gs_error_expected(error, "0x80 and the protocol as first bytes");
        if (size >= 2) gs_error_found(error, "0x%02x 0x%02x", bytes[0], bytes[1]);
        gs_error_where(error, "%s", where);
        gs_error_next(error, "write it with pickle.dump(…, protocol=4)");
        return GS_FORMAT;
    }
    struct gs_pickle_machine m = {.pickle = create(),
                                  .begin = bytes,
                                  .at = bytes,
                                  .end = bytes + size,
                                  .opcode = bytes,
                                  .where = where,
                                  .error = error};
    if (!m.pickle) return gs_fail_memory(error, sizeof *m.pickle, "a pickle");
    enum gs_status status = run(&m);
    free(m.stack.items);
    free(m.memo.items);
    free(m.marks);
    if (status != GS_OK) {
        gs_pickle_destroy(m.pickle);
        return status;
    }
    if (used) *used = (size_t)(m.at - m.begin);
    *pickle = m.pickle;
    return GS_OK;
}
