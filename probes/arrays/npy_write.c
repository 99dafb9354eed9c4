#include "probes/arrays/npy_write.h"

#include <string.h>

size_t gs_npy_make_header(const char *descr, size_t rank, const size_t *shape,
                          unsigned char bytes[GS_NPY_MOST_HEADER]) {
    char *text = (char *)bytes + 10;
    size_t room = GS_NPY_MOST_HEADER - 10;
    size_t used =
        (size_t)snprintf(text, room, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (size_t axis = 0; axis < rank; axis++)
        used += (size_t)snprintf(text + used, room - used, "%s%zu%s", axis ? ", " : "", shape[axis],
                                 rank == 1 ? "," : "");
    used += (size_t)snprintf(text + used, room - used, "), }");
    size_t size = (10 + used + 1 + 63) / 64 * 64;
    memset(text + used, ' ', size - 10 - used - 1);
    bytes[size - 1] = '\n';
    static const unsigned char preamble[8] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    memcpy(bytes, preamble, sizeof preamble);
    bytes[8] = (unsigned char)((size - 10) & 0xff);
    bytes[9] = (unsigned char)((size - 10) >> 8);
    return size;
}
