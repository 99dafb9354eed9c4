/* version.h - what the programs of this layer add to --version. */
#ifndef GS_PROBES_PROGRAMS_VERSION_H
#define GS_PROBES_PROGRAMS_VERSION_H

#include "probes/trace/hdf5_file.h"

#include <stdio.h>

static inline const char *gs_probes_version(void) {
    static char line[48];
    snprintf(line, sizeof line, "HDF5 %s", gs_h5_version());
    return line;
}

#endif
