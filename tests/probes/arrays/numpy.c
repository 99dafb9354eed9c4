/* Arrays that numpy saves (write_numpy.py), element by element against what numpy says they are.
 * Skipped where there is no Python with numpy. */
#include "core/base/file.h"
#include "core/base/memory.h"
#include "probes/arrays/array_file.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 300 };
static struct gs_error error;

static void compare(const char *name, const struct gs_npy *array,
                    const struct gs_mapped_file *raw) {
    double *values = gs_calloc(array->count, sizeof *values);
    gs_npy_f64(array, 0, array->count, values);
    assert_int_equal(raw->size, array->count * sizeof(double));
    for (size_t i = 0; i < array->count; i++) {
        double expected;
        memcpy(&expected, raw->bytes + i * sizeof expected, sizeof expected);
        if (values[i] == expected) continue;
        print_error("%s, element %zu: %.17g, expected %.17g\n", name, i, values[i], expected);
        fail();
    }
    if (array->family != GS_NPY_INTEGER) { /* rounds as the compiler does */
        float *narrow = gs_calloc(array->count, sizeof *narrow);
        gs_npy_f32(array, 0, array->count, narrow);
        for (size_t i = 0; i < array->count; i++) assert_true(narrow[i] == (float)values[i]);
        gs_free(narrow);
    }
    gs_free(values);
}

static void every_type_order_and_shape(void **state) {
    (void)state;
    char command[2048];
    char **names;
    size_t count, arrays = 0;
    const char *python = getenv("GS_PYTHON") ? getenv("GS_PYTHON") : "python3";
    snprintf(command, sizeof command, "'%s' -c 'import numpy' >/dev/null 2>&1", python);
    if (system(command) != 0) {
        print_message("skipped: no Python with numpy (GS_PYTHON names one)\n");
        skip();
    }
    const char *folder = gs_scratch_path("arrays");
    gs_assert_ok(gs_folder_create(folder, &error), &error);
    snprintf(command, sizeof command, "'%s' '%s' '%s'", python,
             gs_source_path("tests/probes/arrays/write_numpy.py"), folder);
    assert_int_equal(system(command), 0);
    gs_assert_ok(gs_folder_list(folder, &names, &count, &error), &error);
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(names[i]);
        struct gs_array_file *file;
        struct gs_mapped_file raw;
        if (strcmp(names[i] + length - 4, ".npy") != 0) continue;
        char *npy = gs_path_join(folder, names[i]), *path = gs_strdup(npy);
        memcpy(path + strlen(path) - 4, ".raw", 4);
        gs_assert_ok(gs_array_file_open(npy, &file, &error), &error);
        gs_assert_ok(gs_file_map(path, &raw, &error), &error);
        compare(names[i], gs_array_file_at(file, 0), &raw);
        gs_file_unmap(&raw);
        gs_array_file_close(file);
        gs_free(npy);
        gs_free(path);
        arrays++;
    }
    assert_true(arrays >= LEAST);
    gs_free_names(names, count);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_type_order_and_shape)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
