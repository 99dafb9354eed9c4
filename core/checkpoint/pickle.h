/* pickle.h - a Python pickle read as data: nothing is imported, called or executed.
 *
 * Format: CPython's pickletools, protocols 2 to 5. An interpreter of our own makes numbers, texts,
 * bytes, lists, tuples, sets and dicts. Whatever a pickle would import is a GLOBAL, a pair of
 * names; whatever it would call is a CALL, a global beside its arguments and state. Both are inert:
 * who needs an array reads one out of such a call (pickle_numpy.h, pickle_torch.h), and to all
 * others it is an object with a name. OrderedDict and defaultdict are dicts.
 *
 * Values may refer to each other in any way, also in circles: nothing here follows them, and who
 * does must bound his way. Nothing recurses. Memory: at most 128 bytes for each byte of opcodes,
 * texts and bytes are borrowed; time is linear.
 */
#ifndef GS_CORE_CHECKPOINT_PICKLE_H
#define GS_CORE_CHECKPOINT_PICKLE_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gs_pickle;
struct gs_pickle_value; /* borrowed from its pickle */

enum gs_pickle_type {
    GS_PICKLE_NONE,
    GS_PICKLE_BOOL,
    GS_PICKLE_INTEGER,
    GS_PICKLE_LONG, /* an integer of more than 64 bits: its bytes, lowest first */
    GS_PICKLE_REAL,
    GS_PICKLE_TEXT,
    GS_PICKLE_BYTES,
    GS_PICKLE_LIST,
    GS_PICKLE_TUPLE,
    GS_PICKLE_SET,
    GS_PICKLE_DICT,
    GS_PICKLE_GLOBAL,
    GS_PICKLE_CALL,
    GS_PICKLE_PERSISTENT /* what stands outside, by an id */
};

/* Does a pickle of protocol 2 to 5 begin here? */
bool gs_pickle_recognise(const unsigned char *bytes, size_t size);

/* Read the pickle at the start of these bytes, which are borrowed until gs_pickle_destroy. `where`
 * names them in errors. *used, when not NULL, is how many bytes it takes, its STOP included.
 * GS_FORMAT for what is cut off or wrong, GS_UNSUPPORTED for opcodes that ask for what is not in
 * the file, both with opcode and byte. */
enum gs_status gs_pickle_parse(const unsigned char *bytes, size_t size, const char *where,
                               struct gs_pickle **pickle, size_t *used, struct gs_error *error);
void gs_pickle_destroy(struct gs_pickle *pickle); /* NULL is fine */

const struct gs_pickle_value *gs_pickle_root(const struct gs_pickle *pickle);

/* Looking in. NULL is a legal value everywhere and has the type NONE; a question that does not fit
 * the type gets false, NULL or 0. */
enum gs_pickle_type gs_pickle_type(const struct gs_pickle_value *value);
/* In words: "a dict", "an object of torch.nn.Linear". Returns `buffer`. */
char *gs_pickle_describe(const struct gs_pickle_value *value, char *buffer, size_t size);
bool gs_pickle_integer(const struct gs_pickle_value *value, int64_t *number);
/* A number other than 0. */
bool gs_pickle_is_nonzero(const struct gs_pickle_value *value);
bool gs_pickle_truth(const struct gs_pickle_value *value, bool *truth);
/* Of a TEXT (UTF-8, not checked), BYTES or LONG; no NUL at its end. */
const unsigned char *gs_pickle_bytes(const struct gs_pickle_value *value, size_t *size);
bool gs_pickle_text_is(const struct gs_pickle_value *value, const char *text);
/* Items of a list, tuple or set; keys and values in turn of a dict. */
size_t gs_pickle_count(const struct gs_pickle_value *value);
const struct gs_pickle_value *gs_pickle_at(const struct gs_pickle_value *value, size_t index);
/* The value behind a text key of a dict, the last one of that name; NULL when there is none. */
const struct gs_pickle_value *gs_pickle_get(const struct gs_pickle_value *dict, const char *key);
/* GLOBAL: is it module.name? `module` NULL: any. A CALL is asked for what it calls. */
bool gs_pickle_is(const struct gs_pickle_value *value, const char *module, const char *name);
/* The module's or global's name begins so (of a GLOBAL or a CALL). */
bool gs_pickle_module_begins(const struct gs_pickle_value *value, const char *prefix);
/* CALL: what it is called with (a tuple, mostly), and what BUILD gave it (NULL: nothing). */
const struct gs_pickle_value *gs_pickle_arguments(const struct gs_pickle_value *call);
const struct gs_pickle_value *gs_pickle_state(const struct gs_pickle_value *call);
/* PERSISTENT: its id. */
const struct gs_pickle_value *gs_pickle_id(const struct gs_pickle_value *value);

/* A mark for who walks through values: 0 at first; bounds walks that would meet a value again. */
unsigned gs_pickle_visited(const struct gs_pickle_value *value);
void gs_pickle_visit(const struct gs_pickle_value *value, unsigned mark);

#endif
