#include "probes/trace/column.h"

#include "core/base/memory.h"

#include <string.h>

struct chunk {
    size_t index;                 /* in the grid */
    size_t filled;                /* rows that arrived */
    unsigned char *bytes, *there; /* there: one for each row that arrived; behind the bytes */
};

struct gs_column {
    struct gs_h5_data *data;
    enum gs_h5_type type;
    char *path;
    size_t element, rows, width, chunk_rows;
    struct chunk *held; /* chunks not yet full, then `spare` buffers that wait for reuse */
    size_t held_count, spare_count, capacity;
};

static size_t bytes_of(enum gs_h5_type type) {
    switch (type) {
    case GS_H5_F16:
    case GS_H5_U16:
        return 2;
    case GS_H5_F32:
    case GS_H5_U32:
        return 4;
    case GS_H5_F64:
    case GS_H5_U64:
    case GS_H5_I64:
        break;
    }
    return 8;
}

/* Without a dataset yet. NULL when memory is short. */
static struct gs_column *alloc_column(const char *path, enum gs_h5_type type) {
    struct gs_column *column = gs_calloc(1, sizeof *column);
    if (!column) return NULL;
    column->path = gs_strdup(path);
    column->type = type;
    column->element = bytes_of(type);
    if (column->path) return column;
    gs_free(column);
    return NULL;
}

/* The dataset is open, or `status` says why not. */
static enum gs_status finish_column(struct gs_column *column, enum gs_status status,
                                    struct gs_column **result) {
    if (status != GS_OK) {
        gs_column_destroy(column);
        return status;
    }
    const struct gs_h5_shape *shape = gs_h5_data_shape(column->data);
    column->rows = shape->dims[0];
    column->width = shape->row ? shape->row : 1;
    column->chunk_rows = shape->chunk_rows ? shape->chunk_rows : 1;
    *result = column;
    return GS_OK;
}

enum gs_status gs_column_create(struct gs_h5 *file, const char *path, enum gs_h5_type type,
                                size_t rows, size_t width, size_t chunk_rows, int deflate,
                                struct gs_column **column, struct gs_error *error) {
    *column = NULL;
    struct gs_column *created = alloc_column(path, type);
    if (!created) return gs_fail_memory(error, sizeof *created, "a dataset of the trace");
    struct gs_h5_spec spec = {.type = type, .rank = width ? 2 : 1, .dims = {rows, width}};
    spec.chunk_rows = chunk_rows;
    spec.deflate = deflate;
    return finish_column(created, gs_h5_data_create(file, path, &spec, &created->data, error),
                         column);
}

enum gs_status gs_column_open(struct gs_h5 *file, const char *path, enum gs_h5_type type,
                              struct gs_column **column, struct gs_error *error) {
    *column = NULL;
    struct gs_column *opened = alloc_column(path, type);
    if (!opened) return gs_fail_memory(error, sizeof *opened, "a dataset of the trace");
    return finish_column(opened, gs_h5_data_open(file, path, &opened->data, error), column);
}

static size_t row_bytes(const struct gs_column *column) {
    return column->width * column->element;
}

void gs_column_locate(struct gs_column *column) {
    gs_h5_data_locate(column->data);
}

void gs_column_destroy(struct gs_column *column) {
    if (!column) return;
    for (size_t i = 0; i < column->held_count + column->spare_count; i++)
        gs_free(column->held[i].bytes);
    gs_free(column->held);
    gs_h5_data_close(column->data);
    gs_free(column->path);
    gs_free(column);
}

size_t gs_column_element(const struct gs_column *column) {
    return column->element;
}

size_t gs_column_width(const struct gs_column *column) {
    return column->width;
}

size_t gs_column_chunk_rows(const struct gs_column *column) {
    return column->chunk_rows;
}

const char *gs_column_path(const struct gs_column *column) {
    return column->path;
}

/* Rows of a chunk: fewer at the end of the dataset. */
static size_t chunk_size(const struct gs_column *column, size_t index) {
    size_t left = column->rows - index * column->chunk_rows;
    return left < column->chunk_rows ? left : column->chunk_rows;
}

static struct chunk *find_held(const struct gs_column *column, size_t index) {
    for (size_t i = 0; i < column->held_count; i++)
        if (column->held[i].index == index) return &column->held[i];
    return NULL;
}

static bool grow(struct gs_column *column) {
    size_t used = column->held_count + column->spare_count;
    if (used < column->capacity) return true;
    size_t capacity = column->capacity ? column->capacity * 2 : 8;
    struct chunk *held = gs_calloc(capacity, sizeof *held);
    if (!held) return false;
    if (used) memcpy(held, column->held, used * sizeof *held);
    gs_free(column->held);
    column->held = held;
    column->capacity = capacity;
    return true;
}

/* A buffer for chunk `index`, a spare one if there is. */
static struct chunk *hold(struct gs_column *column, size_t index) {
    size_t bytes = column->chunk_rows * column->width * column->element;
    struct chunk *chunk;
    if (column->spare_count > 0) { /* the first spare stands right behind the held */
        chunk = &column->held[column->held_count];
        memset(chunk->there, 0, column->chunk_rows);
        column->spare_count--;
    } else {
        if (!grow(column)) return NULL;
        chunk = &column->held[column->held_count];
        chunk->bytes = gs_calloc(bytes + column->chunk_rows, 1);
        if (!chunk->bytes) return NULL;
        chunk->there = chunk->bytes + bytes;
    }
    column->held_count++;
    chunk->index = index;
    chunk->filled = 0;
    return chunk;
}

/* The chunk's buffer becomes a spare. */
static void let_go(struct gs_column *column, struct chunk *chunk) {
    struct chunk last = column->held[column->held_count - 1];
    column->held[column->held_count - 1] = *chunk;
    *chunk = last;
    column->held_count--;
    column->spare_count++;
}

void *gs_column_room(struct gs_column *column, size_t row, size_t rows, size_t *granted) {
    size_t index = row / column->chunk_rows, inside = row % column->chunk_rows;
    struct chunk *chunk = find_held(column, index);
    if (!chunk) chunk = hold(column, index);
    if (!chunk) return NULL;
    size_t left = chunk_size(column, index) - inside;
    *granted = rows < left ? rows : left;
    return chunk->bytes + inside * column->width * column->element;
}

static enum gs_status write_chunk(const struct gs_column *column, const struct chunk *chunk,
                                  struct gs_error *error) {
    return gs_h5_data_write(column->data, chunk->index * column->chunk_rows,
                            chunk_size(column, chunk->index), column->type, chunk->bytes, error);
}

void gs_column_filled(struct gs_column *column, size_t row, size_t rows) {
    struct chunk *chunk = find_held(column, row / column->chunk_rows);
    memset(chunk->there + row % column->chunk_rows, 1, rows);
    chunk->filled += rows;
}

static bool is_full(const struct gs_column *column, const struct chunk *chunk) {
    return chunk->filled == chunk_size(column, chunk->index);
}

/* One after the other: file systems let one thread at a time write to a file, and others that try
 * only cost. */
enum gs_status gs_column_write_full(struct gs_column *column, uint64_t *written,
                                    struct gs_error *error) {
    for (size_t i = column->held_count; i > 0; i--) {
        struct chunk *chunk = &column->held[i - 1];
        if (!is_full(column, chunk)) continue;
        enum gs_status status = write_chunk(column, chunk, error);
        if (status != GS_OK) return status;
        *written += chunk->filled * row_bytes(column);
        let_go(column, chunk);
    }
    return GS_OK;
}

size_t gs_column_first_held(const struct gs_column *column, size_t first, size_t end) {
    size_t found = end;
    for (size_t i = 0; i < column->held_count; i++) {
        size_t from = column->held[i].index * column->chunk_rows;
        size_t to = from + chunk_size(column, column->held[i].index);
        if (to <= first || from >= found) continue;
        found = from > first ? from : first;
    }
    return found;
}

enum gs_status gs_column_drain(struct gs_column *column, uint64_t *written,
                               struct gs_error *error) {
    while (column->held_count > 0) {
        struct chunk *chunk = &column->held[column->held_count - 1];
        size_t rows = chunk_size(column, chunk->index);
        for (size_t row = 0; row < rows; row++)
            if (!chunk->there[row])
                memset(chunk->bytes + row * row_bytes(column), 0, row_bytes(column));
        enum gs_status status = write_chunk(column, chunk, error);
        if (status != GS_OK) return status;
        *written += rows * row_bytes(column);
        let_go(column, chunk);
    }
    return GS_OK;
}
