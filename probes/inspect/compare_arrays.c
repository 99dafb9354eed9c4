/* numpy's arrays as named arrays. */
#include "core/base/memory.h"
#include "probes/arrays/array_file.h"
#include "probes/inspect/compare_parts.h"
#include "probes/inspect/text_number.h"

static enum gs_status read_texts(const struct gs_npy *array, const char *where, size_t first,
                                 size_t count, double *values, struct gs_error *error) {
    for (size_t i = 0; i < count; i++) {
        char *text;
        enum gs_status status = gs_npy_text(array, first + i, where, &text, error);
        if (status != GS_OK) return status;
        values[i] = gs_text_number(text);
        gs_free(text);
    }
    return GS_OK;
}

static enum gs_status read_part(struct gs_side *side, const struct gs_part *part, size_t first,
                                size_t rows, double *values, unsigned char *none,
                                struct gs_error *error) {
    (void)none;
    struct gs_array_file *file = side->context;
    size_t row = gs_part_row(part), count = gs_array_file_count(file);
    for (size_t i = 0; i < count; i++) /* one array in memory at a time */
        if (i != part->source) gs_array_file_unload(file, i);
    enum gs_status status = gs_array_file_load(file, part->source, error);
    if (status != GS_OK) return status;
    const struct gs_npy *array = gs_array_file_at(file, part->source);
    if (part->text)
        return read_texts(array, gs_array_file_where(file, part->source), first * row, rows * row,
                          values, error);
    gs_npy_f64(array, first * row, rows * row, values);
    return GS_OK;
}

static void close_arrays(struct gs_side *side) {
    gs_array_file_close(side->context);
}

enum gs_status gs_side_arrays(struct gs_side *side, const char *path, struct gs_error *error) {
    struct gs_array_file *file;
    enum gs_status status = gs_array_file_open(path, &file, error);
    if (status != GS_OK) return status;
    side->context = file;
    side->read = read_part;
    side->close = close_arrays;
    for (size_t i = 0; status == GS_OK && i < gs_array_file_count(file); i++) {
        const struct gs_npy *array = gs_array_file_at(file, i);
        if (array->family == GS_NPY_OTHER) {
            gs_fail(error, GS_UNSUPPORTED, "numbers that cannot be compared here");
            gs_error_expected(error, "f2, f4, f8, integers, or text");
            gs_error_found(error, "%s", array->descr);
            gs_error_where(error, "%s", gs_array_file_where(file, i));
            return GS_UNSUPPORTED;
        }
        status =
            gs_side_add(side, gs_array_file_name(file, i), array->rank, array->shape, i, error);
        if (status == GS_OK) side->parts[i].text = array->family == GS_NPY_TEXT;
    }
    return status;
}
