/* pickle_parts.h - what the reader of pickles is made of. Internal to core/checkpoint/pickle*. */
#ifndef GS_CORE_CHECKPOINT_PICKLE_PARTS_H
#define GS_CORE_CHECKPOINT_PICKLE_PARTS_H

#include "core/checkpoint/pickle.h"

struct gs_pickle_value {
    uint8_t type;  /* enum gs_pickle_type */
    uint8_t mark;  /* of a walk */
    uint32_t room; /* items that fit before the array must grow */
    union {
        int64_t integer; /* BOOL: 0 or 1 */
        double real;
        struct {
            const unsigned char *bytes;
            size_t size;
        } text;
        struct {
            struct gs_pickle_value **items;
            size_t count;
        } container;
        struct {
            const struct gs_pickle_value *module, *name;
        } global;
        struct {
            const struct gs_pickle_value *callee, *arguments, *state;
        } call;
        const struct gs_pickle_value *id;
    } as;
};

enum { GS_PICKLE_BLOCK = 1024 };
struct gs_pickle_block {
    struct gs_pickle_block *before;
    size_t count;
    struct gs_pickle_value values[GS_PICKLE_BLOCK];
};

/* A growing array of values. */
struct gs_pickle_stack {
    struct gs_pickle_value **items;
    size_t count, room;
};

struct gs_pickle {
    struct gs_pickle_block *blocks; /* the newest; values never move */
    struct gs_pickle_value none, yes, no, empty_tuple;
    const struct gs_pickle_value *root;
};

/* The machine while it runs. */
struct gs_pickle_machine {
    struct gs_pickle *pickle;
    const unsigned char *begin, *at, *end;
    const unsigned char *opcode; /* the one at work */
    const char *where;
    struct gs_pickle_stack stack, memo;
    size_t *marks; /* heights of the stack */
    size_t mark_count, mark_room;
    bool stopped;
    struct gs_error *error;
};

/* A new value; NULL (with the error said) when memory is short. */
struct gs_pickle_value *gs_pickle_new(struct gs_pickle_machine *m, enum gs_pickle_type type);
/* Append to a container. */
enum gs_status gs_pickle_append(struct gs_pickle_machine *m, struct gs_pickle_value *container,
                                struct gs_pickle_value *const *items, size_t count);
bool gs_pickle_grow(struct gs_pickle_stack *stack, size_t needed);

/* The machine's own. */
enum gs_status gs_pickle_fail(struct gs_pickle_machine *m, enum gs_status status, const char *what);
enum gs_status gs_pickle_push(struct gs_pickle_machine *m, struct gs_pickle_value *value);
/* The topmost value above the last mark. */
enum gs_status gs_pickle_pop(struct gs_pickle_machine *m, struct gs_pickle_value **value);
/* What stands above the last mark, and the mark taken away. The items are borrowed from the stack
 * until the next push. */
enum gs_status gs_pickle_pop_mark(struct gs_pickle_machine *m, struct gs_pickle_value ***items,
                                  size_t *count);
/* `size` bytes behind the opcode. */
enum gs_status gs_pickle_take(struct gs_pickle_machine *m, uint64_t size,
                              const unsigned char **bytes);
/* A little-endian count of `width` bytes behind the opcode. */
enum gs_status gs_pickle_take_count(struct gs_pickle_machine *m, size_t width, uint64_t *count);
enum gs_status gs_pickle_remember(struct gs_pickle_machine *m, uint64_t index);
enum gs_status gs_pickle_recall(struct gs_pickle_machine *m, uint64_t index);

/* One opcode; pickle_opcodes.c. */
enum gs_status gs_pickle_step(struct gs_pickle_machine *m, unsigned char opcode);

#endif
