/* Values of a pickle: where they live, and looking into them. */
#include "core/base/memory.h"
#include "core/checkpoint/pickle_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- making --------------------------------------------------------------------------------- */

struct gs_pickle_value *gs_pickle_new(struct gs_pickle_machine *m, enum gs_pickle_type type) {
    struct gs_pickle_block *block = m->pickle->blocks;
    if (!block || block->count == GS_PICKLE_BLOCK) {
        block = gs_calloc(1, sizeof *block);
        if (!block) {
            gs_fail_memory(m->error, sizeof *block, "values of a pickle");
            return NULL;
        }
        block->before = m->pickle->blocks;
        m->pickle->blocks = block;
    }
    struct gs_pickle_value *value = &block->values[block->count++];
    value->type = (uint8_t)type;
    return value;
}

/* Plain realloc: zeroing what is about to be written would double the work. */
static bool resize(struct gs_pickle_value ***items, size_t room) {
    size_t bytes;
    if (!gs_multiply(room, sizeof **items, &bytes)) return false;
    struct gs_pickle_value **moved = realloc(*items, bytes);
    if (!moved) return false;
    *items = moved;
    return true;
}

bool gs_pickle_grow(struct gs_pickle_stack *stack, size_t needed) {
    if (needed <= stack->room) return true;
    size_t room = stack->room < 32 ? 64 : 2 * stack->room;
    if (room < needed) room = needed;
    if (!resize(&stack->items, room)) return false;
    stack->room = room;
    return true;
}

enum gs_status gs_pickle_append(struct gs_pickle_machine *m, struct gs_pickle_value *container,
                                struct gs_pickle_value *const *items, size_t count) {
    if (count == 0) return GS_OK;
    size_t have = container->as.container.count, needed = have + count;
    if (needed > UINT32_MAX / 2)
        return gs_pickle_fail(m, GS_UNSUPPORTED, "a container of the pickle has too many items");
    if (needed > container->room) {
        size_t room = have == 0 ? needed : needed + have; /* once filled it mostly stays */
        if (!resize(&container->as.container.items, room))
            return gs_fail_memory(m->error, room * sizeof *items, "a container of a pickle");
        container->room = (uint32_t)room;
    }
    memcpy(container->as.container.items + have, items, count * sizeof *items);
    container->as.container.count = needed;
    return GS_OK;
}

static bool has_items(const struct gs_pickle_value *value) {
    return value && value->type >= GS_PICKLE_LIST && value->type <= GS_PICKLE_DICT;
}

void gs_pickle_destroy(struct gs_pickle *pickle) {
    if (!pickle) return;
    while (pickle->blocks) {
        struct gs_pickle_block *block = pickle->blocks;
        pickle->blocks = block->before;
        for (size_t i = 0; i < block->count; i++)
            if (has_items(&block->values[i])) free(block->values[i].as.container.items);
        gs_free(block);
    }
    gs_free(pickle);
}

/* ---- looking in ----------------------------------------------------------------------------- */

const struct gs_pickle_value *gs_pickle_root(const struct gs_pickle *pickle) {
    return pickle->root;
}

enum gs_pickle_type gs_pickle_type(const struct gs_pickle_value *value) {
    return value ? (enum gs_pickle_type)value->type : GS_PICKLE_NONE;
}

bool gs_pickle_integer(const struct gs_pickle_value *value, int64_t *number) {
    if (gs_pickle_type(value) != GS_PICKLE_INTEGER) return false;
    *number = value->as.integer;
    return true;
}

bool gs_pickle_is_nonzero(const struct gs_pickle_value *value) {
    enum gs_pickle_type type = gs_pickle_type(value);
    return (type == GS_PICKLE_REAL && value->as.real != 0) ||
           (type == GS_PICKLE_INTEGER && value->as.integer != 0);
}

bool gs_pickle_truth(const struct gs_pickle_value *value, bool *truth) {
    if (gs_pickle_type(value) != GS_PICKLE_BOOL) return false;
    *truth = value->as.integer != 0;
    return true;
}

const unsigned char *gs_pickle_bytes(const struct gs_pickle_value *value, size_t *size) {
    enum gs_pickle_type type = gs_pickle_type(value);
    *size = 0;
    if (type != GS_PICKLE_TEXT && type != GS_PICKLE_BYTES && type != GS_PICKLE_LONG) return NULL;
    *size = value->as.text.size;
    return value->as.text.bytes;
}

/* Python 2 wrote names as bytes. */
bool gs_pickle_text_is(const struct gs_pickle_value *value, const char *text) {
    size_t size;
    const unsigned char *bytes = gs_pickle_bytes(value, &size);
    return bytes && size == strlen(text) && memcmp(bytes, text, size) == 0;
}

size_t gs_pickle_count(const struct gs_pickle_value *value) {
    return has_items(value) ? value->as.container.count : 0;
}

const struct gs_pickle_value *gs_pickle_at(const struct gs_pickle_value *value, size_t index) {
    return index < gs_pickle_count(value) ? value->as.container.items[index] : NULL;
}

const struct gs_pickle_value *gs_pickle_get(const struct gs_pickle_value *dict, const char *key) {
    if (gs_pickle_type(dict) != GS_PICKLE_DICT) return NULL;
    for (size_t i = gs_pickle_count(dict); i >= 2; i -= 2)
        if (gs_pickle_text_is(gs_pickle_at(dict, i - 2), key)) return gs_pickle_at(dict, i - 1);
    return NULL;
}

/* The global itself, or what a call calls. */
static const struct gs_pickle_value *global_of(const struct gs_pickle_value *value) {
    if (gs_pickle_type(value) == GS_PICKLE_CALL) value = value->as.call.callee;
    return gs_pickle_type(value) == GS_PICKLE_GLOBAL ? value : NULL;
}

bool gs_pickle_is(const struct gs_pickle_value *value, const char *module, const char *name) {
    const struct gs_pickle_value *global = global_of(value);
    return global && gs_pickle_text_is(global->as.global.name, name) &&
           (!module || gs_pickle_text_is(global->as.global.module, module));
}

bool gs_pickle_module_begins(const struct gs_pickle_value *value, const char *prefix) {
    const struct gs_pickle_value *global = global_of(value);
    size_t size = 0, length = strlen(prefix);
    const unsigned char *module = global ? gs_pickle_bytes(global->as.global.module, &size) : NULL;
    return module && size >= length && memcmp(module, prefix, length) == 0;
}

const struct gs_pickle_value *gs_pickle_arguments(const struct gs_pickle_value *call) {
    return gs_pickle_type(call) == GS_PICKLE_CALL ? call->as.call.arguments : NULL;
}

const struct gs_pickle_value *gs_pickle_state(const struct gs_pickle_value *call) {
    return gs_pickle_type(call) == GS_PICKLE_CALL ? call->as.call.state : NULL;
}

const struct gs_pickle_value *gs_pickle_id(const struct gs_pickle_value *value) {
    return gs_pickle_type(value) == GS_PICKLE_PERSISTENT ? value->as.id : NULL;
}

unsigned gs_pickle_visited(const struct gs_pickle_value *value) {
    return value ? value->mark : 0;
}

void gs_pickle_visit(const struct gs_pickle_value *value, unsigned mark) {
    /* the walk's mark is no part of what the value says */
    if (value) ((struct gs_pickle_value *)value)->mark = (uint8_t)mark;
}

char *gs_pickle_describe(const struct gs_pickle_value *value, char *buffer, size_t size) {
    static const char *const names[] = {"None",     "a boolean",
                                        "a number", "a number of more than 64 bits",
                                        "a number", "a text",
                                        "bytes",    "a list",
                                        "a tuple",  "a set",
                                        "a dict",   "the name",
                                        "a call",   "a reference to outside of the pickle"};
    const struct gs_pickle_value *global = global_of(value);
    if (!global) {
        snprintf(buffer, size, "%s", names[gs_pickle_type(value)]);
        return buffer;
    }
    size_t module_size, name_size;
    const unsigned char *module = gs_pickle_bytes(global->as.global.module, &module_size);
    const unsigned char *name = gs_pickle_bytes(global->as.global.name, &name_size);
    snprintf(buffer, size, "%s %.*s.%.*s", global == value ? "the name" : "an object of",
             module_size < 80 ? (int)module_size : 80, (const char *)module,
             name_size < 80 ? (int)name_size : 80, (const char *)name);
    return buffer;
}
