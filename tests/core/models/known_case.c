#include "tests/core/models/known_case.h"

#include "tests/support/support.h"

#include "core/base/memory.h"
#include "core/checkpoint/checkpoint.h"

#include <stdio.h>
#include <string.h>

bool open_case(const char *name, struct known *known) {
    char path[128];
    struct gs_error error = {0};
    size_t rank, shape[GS_H5_MAX_RANK];
    snprintf(path, sizeof path, "reference/%s/params.safetensors", name);
    const char *checkpoint = gs_shared_path(path);
    if (!checkpoint) return false;
    snprintf(path, sizeof path, "reference/%s/expected.h5", name);
    *known = (struct known){.name = name, .bf16 = strstr(name, "bf16") != NULL};
    gs_assert_ok(gs_checkpoint_load(checkpoint, &known->model, NULL, &error), &error);
    gs_assert_ok(gs_h5_open(gs_shared_path(path), &known->answers, &error), &error);
    gs_assert_ok(gs_h5_read_u32(known->answers, "tokens", &known->tokens, &rank, shape, &error),
                 &error);
    known->batch = shape[0];
    known->steps = shape[1];
    return true;
}

void close_case(struct known *known) {
    struct gs_error error = {0};
    gs_free(known->tokens);
    gs_model_destroy(known->model);
    gs_assert_ok(gs_h5_close(known->answers, &error), &error);
}

void compare(const struct known *known, const char *dataset, const float *values, size_t count,
             double tolerance) {
    struct gs_error error = {0};
    float *expected;
    size_t rank, shape[GS_H5_MAX_RANK], size = 1;
    gs_assert_ok(gs_h5_read_f32(known->answers, dataset, &expected, &rank, shape, &error), &error);
    for (size_t i = 0; i < rank; i++) size *= shape[i];
    assert_int_equal(size, count);
    char name[160];
    snprintf(name, sizeof name, "%s: %s", known->name, dataset);
    gs_assert_close(name, values, expected, count, tolerance);
    gs_free(expected);
}
