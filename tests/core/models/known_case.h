/* known_case.h - a case of the known answers in ../shared/reference, for the tests of the models.
 */
#ifndef GS_TESTS_CORE_MODELS_KNOWN_CASE_H
#define GS_TESTS_CORE_MODELS_KNOWN_CASE_H

#include "core/models/model.h"
#include "probes/trace/hdf5_file.h"

struct known {
    const char *name;
    struct gs_model *model;
    struct gs_h5 *answers;
    uint32_t *tokens; /* (batch, steps) */
    size_t batch, steps;
    bool bf16; /* weights rounded */
};

/* False where the shared folder is absent. Release with close_case. */
bool open_case(const char *name, struct known *known);
void close_case(struct known *known);

/* `count` values are those of a dataset, within `tolerance` of its largest. */
void compare(const struct known *known, const char *dataset, const float *values, size_t count,
             double tolerance);

#endif
