/* What each opcode of a pickle does (CPython's Lib/pickle.py and pickletools.py). */
#include "core/checkpoint/float_formats.h"
#include "core/checkpoint/pickle_parts.h"

#include <stdlib.h>
#include <string.h>

typedef struct gs_pickle_machine machine;
typedef struct gs_pickle_value value;

/* ---- numbers -------------------------------------------------------------------------------- */

static enum gs_status push_integer(machine *m, int64_t number) {
    value *made = gs_pickle_new(m, GS_PICKLE_INTEGER);
    if (made) made->as.integer = number;
    return gs_pickle_push(m, made);
}

static enum gs_status op_integer(machine *m, size_t width) {
    uint64_t number;
    enum gs_status status = gs_pickle_take_count(m, width, &number);
    if (status != GS_OK) return status;
    return push_integer(m, width == 4 ? (int64_t)(int32_t)(uint32_t)number : (int64_t)number);
}

/* Two's complement, lowest byte first. */
static enum gs_status op_long(machine *m, size_t width) {
    uint64_t size, number = 0;
    const unsigned char *bytes;
    enum gs_status status = gs_pickle_take_count(m, width, &size);
    if (status == GS_OK) status = gs_pickle_take(m, size, &bytes);
    if (status != GS_OK) return status;
    if (size <= 8) {
        bool negative = size > 0 && bytes[size - 1] & 0x80;
        for (size_t i = 0; i < 8; i++)
            number |= (uint64_t)(i < size ? bytes[i] : negative ? 0xff : 0) << (8 * i);
        int64_t signed_number;
        memcpy(&signed_number, &number, sizeof number);
        return push_integer(m, signed_number);
    }
    value *made = gs_pickle_new(m, GS_PICKLE_LONG);
    if (made) {
        made->as.text.bytes = bytes;
        made->as.text.size = (size_t)size;
    }
    return gs_pickle_push(m, made);
}

static enum gs_status op_real(machine *m) {
    const unsigned char *bytes;
    enum gs_status status = gs_pickle_take(m, 8, &bytes);
    if (status != GS_OK) return status;
    uint64_t bits = 0;
    for (size_t i = 0; i < 8; i++) bits = bits << 8 | bytes[i]; /* this one is big-endian */
    value *made = gs_pickle_new(m, GS_PICKLE_REAL);
    if (made) made->as.real = gs_double_from_bits(bits);
    return gs_pickle_push(m, made);
}

/* ---- texts ---------------------------------------------------------------------------------- */

static value *new_text(machine *m, enum gs_pickle_type type, const unsigned char *bytes,
                       size_t size) {
    value *made = gs_pickle_new(m, type);
    if (!made) return NULL;
    made->as.text.bytes = bytes;
    made->as.text.size = size;
    return made;
}

static enum gs_status op_text(machine *m, enum gs_pickle_type type, size_t width) {
    uint64_t size;
    const unsigned char *bytes;
    enum gs_status status = gs_pickle_take_count(m, width, &size);
    if (status == GS_OK) status = gs_pickle_take(m, size, &bytes);
    if (status != GS_OK) return status;
    return gs_pickle_push(m, new_text(m, type, bytes, (size_t)size));
}

/* ---- containers ----------------------------------------------------------------------------- */

static enum gs_status op_tuple(machine *m, size_t count) {
    value *items[3] = {NULL}, *made;
    enum gs_status status = GS_OK;
    for (size_t i = count; i > 0 && status == GS_OK; i--) status = gs_pickle_pop(m, &items[i - 1]);
    if (status != GS_OK) return status;
    if (!(made = gs_pickle_new(m, GS_PICKLE_TUPLE))) return GS_NO_MEMORY;
    status = gs_pickle_append(m, made, items, count);
    return status == GS_OK ? gs_pickle_push(m, made) : status;
}

static enum gs_status op_of_mark(machine *m, enum gs_pickle_type type) {
    value **items, *made;
    size_t count;
    enum gs_status status = gs_pickle_pop_mark(m, &items, &count);
    if (status != GS_OK) return status;
    if (type == GS_PICKLE_DICT && count % 2)
        return gs_pickle_fail(m, GS_FORMAT, "the pickle sets a key without a value");
    if (!(made = gs_pickle_new(m, type))) return GS_NO_MEMORY;
    status = gs_pickle_append(m, made, items, count);
    return status == GS_OK ? gs_pickle_push(m, made) : status;
}

/* Into the container under them. An object that is none (of a class of its own) drops them. */
static enum gs_status add_to_top(machine *m, enum gs_pickle_type type, value *const *items,
                                 size_t count) {
    value *container;
    enum gs_status status = gs_pickle_pop(m, &container);
    if (status != GS_OK) return status;
    if (type == GS_PICKLE_DICT && count % 2)
        return gs_pickle_fail(m, GS_FORMAT, "the pickle sets a key without a value");
    if (container->type == (uint8_t)type)
        status = gs_pickle_append(m, container, items, count);
    else if (container->type != GS_PICKLE_CALL)
        status = gs_pickle_fail(m, GS_FORMAT, "the pickle adds items to what holds none");
    if (status != GS_OK) return status;
    m->stack.count++; /* it stays where it was */
    return GS_OK;
}

static enum gs_status op_add_marked(machine *m, enum gs_pickle_type type) {
    value **items;
    size_t count;
    enum gs_status status = gs_pickle_pop_mark(m, &items, &count);
    if (status != GS_OK) return status;
    /* the container's own place is just below: it is popped and put back, the items stay above */
    return add_to_top(m, type, items, count);
}

static enum gs_status op_append(machine *m) {
    value *item;
    enum gs_status status = gs_pickle_pop(m, &item);
    return status == GS_OK ? add_to_top(m, GS_PICKLE_LIST, &item, 1) : status;
}

static enum gs_status op_set_item(machine *m) {
    value *pair[2];
    enum gs_status status = gs_pickle_pop(m, &pair[1]);
    if (status == GS_OK) status = gs_pickle_pop(m, &pair[0]);
    return status == GS_OK ? add_to_top(m, GS_PICKLE_DICT, pair, 2) : status;
}

/* ---- globals and calls ---------------------------------------------------------------------- */

static enum gs_status push_global(machine *m, const value *module, const value *name) {
    value *made = gs_pickle_new(m, GS_PICKLE_GLOBAL);
    if (!made) return GS_NO_MEMORY;
    made->as.global.module = module;
    made->as.global.name = name;
    return gs_pickle_push(m, made);
}

static enum gs_status take_line(machine *m, value **text) {
    const unsigned char *end = memchr(m->at, '\n', (size_t)(m->end - m->at));
    if (!end) return gs_pickle_fail(m, GS_FORMAT, "the pickle ends within a name");
    *text = new_text(m, GS_PICKLE_TEXT, m->at, (size_t)(end - m->at));
    m->at = end + 1;
    return *text ? GS_OK : GS_NO_MEMORY;
}

static enum gs_status op_global(machine *m) {
    value *module = NULL, *name = NULL;
    enum gs_status status = take_line(m, &module);
    if (status == GS_OK) status = take_line(m, &name);
    return status == GS_OK ? push_global(m, module, name) : status;
}

static enum gs_status op_stack_global(machine *m) {
    value *module, *name;
    enum gs_status status = gs_pickle_pop(m, &name);
    if (status == GS_OK) status = gs_pickle_pop(m, &module);
    if (status != GS_OK) return status;
    if (module->type != GS_PICKLE_TEXT || name->type != GS_PICKLE_TEXT)
        return gs_pickle_fail(m, GS_FORMAT, "the pickle names a global by what is no text");
    return push_global(m, module, name);
}

static bool makes_dict(const value *callee) {
    return gs_pickle_is(callee, "collections", "OrderedDict") ||
           gs_pickle_is(callee, "collections", "defaultdict");
}

static enum gs_status push_call(machine *m, const value *callee, const value *arguments) {
    if (callee->type == GS_PICKLE_GLOBAL && makes_dict(callee))
        return gs_pickle_push(m, gs_pickle_new(m, GS_PICKLE_DICT));
    value *made = gs_pickle_new(m, GS_PICKLE_CALL);
    if (!made) return GS_NO_MEMORY;
    made->as.call.callee = callee;
    made->as.call.arguments = arguments;
    return gs_pickle_push(m, made);
}

static enum gs_status op_call(machine *m, bool keywords) {
    value *callee, *arguments, *ignored;
    enum gs_status status = keywords ? gs_pickle_pop(m, &ignored) : GS_OK;
    if (status == GS_OK) status = gs_pickle_pop(m, &arguments);
    if (status == GS_OK) status = gs_pickle_pop(m, &callee);
    return status == GS_OK ? push_call(m, callee, arguments) : status;
}

/* The state of an object; a dict's attributes are of no use here. */
static enum gs_status op_build(machine *m) {
    value *state, *object;
    enum gs_status status = gs_pickle_pop(m, &state);
    if (status == GS_OK) status = gs_pickle_pop(m, &object);
    if (status != GS_OK) return status;
    if (object->type == GS_PICKLE_CALL) object->as.call.state = state;
    return gs_pickle_push(m, object);
}

static enum gs_status op_persistent(machine *m) {
    value *id, *made;
    enum gs_status status = gs_pickle_pop(m, &id);
    if (status != GS_OK) return status;
    if ((made = gs_pickle_new(m, GS_PICKLE_PERSISTENT))) made->as.id = id;
    return gs_pickle_push(m, made);
}

/* ---- the stack itself ----------------------------------------------------------------------- */

static enum gs_status op_mark(machine *m) {
    if (m->mark_count == m->mark_room) {
        size_t room = m->mark_room ? 2 * m->mark_room : 64;
        size_t *moved = realloc(m->marks, room * sizeof *moved);
        if (!moved) return gs_fail_memory(m->error, room * sizeof *moved, "a pickle's marks");
        m->marks = moved;
        m->mark_room = room;
    }
    m->marks[m->mark_count++] = m->stack.count;
    return GS_OK;
}

/* A POP right behind a MARK takes the mark. */
static enum gs_status op_pop(machine *m) {
    value *dropped, **items;
    size_t count;
    if (m->mark_count && m->marks[m->mark_count - 1] == m->stack.count)
        return gs_pickle_pop_mark(m, &items, &count);
    return gs_pickle_pop(m, &dropped);
}

static enum gs_status op_dup(machine *m) {
    value *top;
    enum gs_status status = gs_pickle_pop(m, &top);
    if (status == GS_OK) status = gs_pickle_push(m, top);
    return status == GS_OK ? gs_pickle_push(m, top) : status;
}

static enum gs_status op_memo(machine *m, size_t width, bool put) {
    uint64_t index;
    enum gs_status status = gs_pickle_take_count(m, width, &index);
    if (status != GS_OK) return status;
    return put ? gs_pickle_remember(m, index) : gs_pickle_recall(m, index);
}

static enum gs_status op_proto(machine *m) {
    uint64_t protocol;
    enum gs_status status = gs_pickle_take_count(m, 1, &protocol);
    if (status == GS_OK && protocol > 5)
        return gs_pickle_fail(m, GS_UNSUPPORTED, "a protocol of pickle that is not known here");
    return status;
}

/* A frame announces how many bytes come in one piece. */
static enum gs_status op_frame(machine *m) {
    uint64_t size;
    enum gs_status status = gs_pickle_take_count(m, 8, &size);
    if (status != GS_OK || size <= (uint64_t)(m->end - m->at)) return status;
    gs_pickle_fail(m, GS_FORMAT, "a frame of the pickle reaches beyond its end");
    gs_error_next(m->error, "the file may be cut off: copy it again");
    return GS_FORMAT;
}

static enum gs_status op_stop(machine *m) {
    value *root;
    if (m->mark_count)
        return gs_pickle_fail(m, GS_FORMAT, "the pickle stops within an unfinished container");
    enum gs_status status = gs_pickle_pop(m, &root);
    if (status != GS_OK) return status;
    if (m->stack.count)
        return gs_pickle_fail(m, GS_FORMAT, "the pickle stops with values left over");
    m->pickle->root = root;
    m->stopped = true;
    return GS_OK;
}

static enum gs_status op_unknown(machine *m, unsigned char opcode) {
    switch (opcode) {
    case 0x82: /* EXT1, EXT2, EXT4 */
    case 0x83:
    case 0x84:
        return gs_pickle_fail(m, GS_UNSUPPORTED,
                              "the pickle names a class by a number of Python's copyreg");
    case 0x97: /* NEXT_BUFFER */
        return gs_pickle_fail(m, GS_UNSUPPORTED, "the pickle keeps its buffers in another file");
    case 'F':
    case 'I':
    case 'L':
    case 'P':
    case 'S':
    case 'V':
    case 'g':
    case 'i':
    case 'o':
    case 'p':
        gs_pickle_fail(m, GS_UNSUPPORTED, "an opcode of the old text protocol of pickle");
        gs_error_next(m->error, "write it with pickle.dump(…, protocol=4)");
        return GS_UNSUPPORTED;
    default:
        return gs_pickle_fail(m, GS_FORMAT, "an opcode that pickles do not have");
    }
}

/* ---- all of them, in the order of protocols ---------------------------------------------------
 */

static enum gs_status step_containers(machine *m, unsigned char opcode) {
    switch (opcode) {
    case ')':
        return gs_pickle_push(m, &m->pickle->empty_tuple);
    case ']':
        return gs_pickle_push(m, gs_pickle_new(m, GS_PICKLE_LIST));
    case '}':
        return gs_pickle_push(m, gs_pickle_new(m, GS_PICKLE_DICT));
    case 0x8f: /* EMPTY_SET */
        return gs_pickle_push(m, gs_pickle_new(m, GS_PICKLE_SET));
    case 't':
        return op_of_mark(m, GS_PICKLE_TUPLE);
    case 'l':
        return op_of_mark(m, GS_PICKLE_LIST);
    case 'd':
        return op_of_mark(m, GS_PICKLE_DICT);
    case 0x91: /* FROZENSET */
        return op_of_mark(m, GS_PICKLE_SET);
    case 0x85: /* TUPLE1 … TUPLE3 */
    case 0x86:
    case 0x87:
        return op_tuple(m, (size_t)opcode - 0x84);
    case 'a':
        return op_append(m);
    case 's':
        return op_set_item(m);
    case 'e':
        return op_add_marked(m, GS_PICKLE_LIST);
    case 'u':
        return op_add_marked(m, GS_PICKLE_DICT);
    case 0x90: /* ADDITEMS */
        return op_add_marked(m, GS_PICKLE_SET);
    default:
        return op_unknown(m, opcode);
    }
}

static enum gs_status step_stack(machine *m, unsigned char opcode) {
    switch (opcode) {
    case '(':
        return op_mark(m);
    case '0':
        return op_pop(m);
    case '1': { /* POP_MARK */
        value **items;
        size_t count;
        return gs_pickle_pop_mark(m, &items, &count);
    }
    case '2':
        return op_dup(m);
    case 'q':
        return op_memo(m, 1, true);
    case 'r':
        return op_memo(m, 4, true);
    case 0x94: /* MEMOIZE */
        return gs_pickle_remember(m, m->memo.count);
    case 'h':
        return op_memo(m, 1, false);
    case 'j':
        return op_memo(m, 4, false);
    case 0x80:
        return op_proto(m);
    case 0x95:
        return op_frame(m);
    case 0x98: /* READONLY_BUFFER: the value under it, which nobody writes here */
        return m->stack.count ? GS_OK : gs_pickle_fail(m, GS_FORMAT, "there is no buffer");
    case '.':
        return op_stop(m);
    default:
        return step_containers(m, opcode);
    }
}

static enum gs_status step_objects(machine *m, unsigned char opcode) {
    switch (opcode) {
    case 'c':
        return op_global(m);
    case 0x93:
        return op_stack_global(m);
    case 'R':  /* REDUCE */
    case 0x81: /* NEWOBJ */
        return op_call(m, false);
    case 0x92: /* NEWOBJ_EX */
        return op_call(m, true);
    case 'b':
        return op_build(m);
    case 'Q':
        return op_persistent(m);
    default:
        return step_stack(m, opcode);
    }
}

enum gs_status gs_pickle_step(machine *m, unsigned char opcode) {
    switch (opcode) {
    case 'N':
        return gs_pickle_push(m, &m->pickle->none);
    case 0x88:
        return gs_pickle_push(m, &m->pickle->yes);
    case 0x89:
        return gs_pickle_push(m, &m->pickle->no);
    case 'K':
        return op_integer(m, 1);
    case 'M':
        return op_integer(m, 2);
    case 'J':
        return op_integer(m, 4);
    case 0x8a: /* LONG1 */
        return op_long(m, 1);
    case 0x8b: /* LONG4 */
        return op_long(m, 4);
    case 'G':
        return op_real(m);
    case 0x8c: /* SHORT_BINUNICODE */
        return op_text(m, GS_PICKLE_TEXT, 1);
    case 'X':
        return op_text(m, GS_PICKLE_TEXT, 4);
    case 0x8d: /* BINUNICODE8 */
        return op_text(m, GS_PICKLE_TEXT, 8);
    case 'U': /* SHORT_BINSTRING, BINSTRING: the bytes of Python 2 */
    case 'C':
        return op_text(m, GS_PICKLE_BYTES, 1);
    case 'T':
    case 'B':
        return op_text(m, GS_PICKLE_BYTES, 4);
    case 0x8e: /* BINBYTES8 */
    case 0x96: /* BYTEARRAY8 */
        return op_text(m, GS_PICKLE_BYTES, 8);
    default:
        return step_objects(m, opcode);
    }
}
