/* roles.h - which dataset of a trace an array of somebody's becomes, told by its name.
 *
 * The names are the trace's own paths; what can be meant only one way may stand alone:
 *
 *   state/NAME            a stream; and every other float array of two or three axes whose name
 *                         has no '/'
 *   token                 also tokens, ids, input_ids
 *   nll
 *   start                 where each sequence begins: sequence/start
 *   name                  of each sequence: sequence/name
 *   memory/NAME/FIELD     log_decay, write_strength or norm; FIELD alone is of the memory "memory"
 *   read/NAME/share       share alone is of the read "memory"
 *
 * Anything else has no place, and is passed over.
 */
#ifndef GS_PROBES_ARRAYS_ROLES_H
#define GS_PROBES_ARRAYS_ROLES_H

#include "core/base/status.h"
#include "probes/arrays/npy.h"
#include "probes/trace/reader.h"

enum gs_array_role {
    GS_ROLE_NONE,
    GS_ROLE_STREAM,
    GS_ROLE_TOKEN,
    GS_ROLE_NLL,
    GS_ROLE_START,
    GS_ROLE_NAME,
    GS_ROLE_GATE,
    GS_ROLE_SHARE
};

struct gs_array_place {
    enum gs_array_role role;
    char name[GS_TRACE_NAME];   /* of the stream, memory or read */
    enum gs_memory_field field; /* of a GATE */
};

/* The place of an array of that name and type. GS_FORMAT when a part of the name is too long for a
 * trace, or no part at all. `where` names the array in errors. */
enum gs_status gs_array_place_of(const char *name, const struct gs_npy *array, const char *where,
                                 struct gs_array_place *place, struct gs_error *error);

/* Axes that an array of that role has when its rows are one axis: 1 or 2. It may have one more. */
size_t gs_role_rank(enum gs_array_role role);

#endif
