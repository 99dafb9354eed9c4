#include "probes/trace/column.h"

#include "core/base/memory.h"

#include <string.h>

enum { RUN = 64 }; /* chunks written at a time */

struct chunk {
    struct chunk *next, *previous; /* in its list */
    size_t index;                  /* in the grid */
    size_t filled;                 /* rows that arrived */
    unsigned char *bytes, *there;  /* there: one for each row that arrived; behind the bytes */
};

struct gs_column {
    struct gs_h5_data *data;
    enum gs_h5_type type;
    char *path;
    size_t element, rows, width, chunk_rows;
    struct chunk growing, full; /* chunks with rows that are not in the file; each list is a ring,
                                   which begins and ends here */
    struct chunk **at;          /* (chunks of the grid) the same, by index */
    struct chunk spare;         /* buffers that wait for reuse */
    size_t full_rows;           /* of the full ones */
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

/* ---- lists ---- */

static void make_list(struct chunk *list) {
    list->next = list->previous = list;
}

static void append(struct chunk *list, struct chunk *chunk) {
    chunk->next = list;
    chunk->previous = list->previous;
    chunk->previous->next = list->previous = chunk;
}

static struct chunk *detach(struct chunk *chunk) {
    chunk->previous->next = chunk->next;
    chunk->next->previous = chunk->previous;
    return chunk;
}

static bool is_empty(const struct chunk *list) {
    return list->next == list;
}

static void free_list(struct chunk *list) {
    while (!is_empty(list)) {
        struct chunk *chunk = detach(list->next);
        gs_free(chunk->bytes);
        gs_free(chunk);
    }
}

/* ---- making ---- */

/* Without a dataset yet. NULL when memory is short. */
static struct gs_column *alloc_column(const char *path, enum gs_h5_type type) {
    struct gs_column *column = gs_calloc(1, sizeof *column);
    if (!column) return NULL;
    column->path = gs_strdup(path);
    column->type = type;
    column->element = bytes_of(type);
    make_list(&column->growing);
    make_list(&column->full);
    make_list(&column->spare);
    if (column->path) return column;
    gs_free(column);
    return NULL;
}

static enum gs_status take_shape(struct gs_column *column, struct gs_error *error) {
    const struct gs_h5_shape *shape = gs_h5_data_shape(column->data);
    column->rows = shape->dims[0];
    column->width = shape->row ? shape->row : 1;
    column->chunk_rows = shape->chunk_rows ? shape->chunk_rows : 1;
    size_t chunks = column->rows / column->chunk_rows + 2; /* one that is never there ends a run */
    column->at = gs_calloc(chunks, sizeof *column->at);
    return column->at ? GS_OK : gs_fail_memory(error, chunks * sizeof *column->at, "chunks");
}

/* The dataset is open, or `status` says why not. */
static enum gs_status finish_column(struct gs_column *column, enum gs_status status,
                                    struct gs_column **result, struct gs_error *error) {
    if (status == GS_OK) status = take_shape(column, error);
    if (status == GS_OK)
        *result = column;
    else
        gs_column_destroy(column);
    return status;
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
                         column, error);
}

enum gs_status gs_column_open(struct gs_h5 *file, const char *path, enum gs_h5_type type,
                              struct gs_column **column, struct gs_error *error) {
    *column = NULL;
    struct gs_column *opened = alloc_column(path, type);
    if (!opened) return gs_fail_memory(error, sizeof *opened, "a dataset of the trace");
    return finish_column(opened, gs_h5_data_open(file, path, &opened->data, error), column, error);
}

static size_t row_bytes(const struct gs_column *column) {
    return column->width * column->element;
}

void gs_column_locate(struct gs_column *column) {
    gs_h5_data_locate(column->data);
}

void gs_column_destroy(struct gs_column *column) {
    if (!column) return;
    free_list(&column->growing);
    free_list(&column->full);
    free_list(&column->spare);
    gs_free(column->at);
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

/* A buffer that no chunk has yet. NULL when memory is short. */
static struct chunk *alloc_chunk(const struct gs_column *column) {
    size_t bytes = column->chunk_rows * row_bytes(column);
    struct chunk *chunk = gs_calloc(1, sizeof *chunk);
    if (!chunk) return NULL;
    chunk->bytes = gs_calloc(bytes + column->chunk_rows, 1);
    if (chunk->bytes) {
        chunk->there = chunk->bytes + bytes;
        return chunk;
    }
    gs_free(chunk);
    return NULL;
}

/* A buffer for chunk `index`, the last used if there is one: it is in cache. */
static struct chunk *hold(struct gs_column *column, size_t index) {
    struct chunk *chunk;
    if (!is_empty(&column->spare)) {
        chunk = detach(column->spare.previous);
        memset(chunk->there, 0, column->chunk_rows);
    } else if (!(chunk = alloc_chunk(column))) {
        return NULL;
    }
    chunk->index = index;
    chunk->filled = 0;
    append(&column->growing, chunk);
    column->at[index] = chunk;
    return chunk;
}

void *gs_column_room(struct gs_column *column, size_t row, size_t rows, size_t *granted) {
    size_t index = row / column->chunk_rows, inside = row % column->chunk_rows;
    struct chunk *chunk = column->at[index];
    if (!chunk) chunk = hold(column, index);
    if (!chunk) return NULL;
    size_t left = chunk_size(column, index) - inside;
    *granted = rows < left ? rows : left;
    return chunk->bytes + inside * column->width * column->element;
}

static bool is_full(const struct gs_column *column, const struct chunk *chunk) {
    return chunk->filled == chunk_size(column, chunk->index);
}

static void add_full(struct gs_column *column, struct chunk *chunk) {
    append(&column->full, detach(chunk));
    column->full_rows += chunk->filled;
}

void gs_column_filled(struct gs_column *column, size_t row, size_t rows) {
    struct chunk *chunk = column->at[row / column->chunk_rows];
    memset(chunk->there + row % column->chunk_rows, 1, rows);
    chunk->filled += rows;
    if (is_full(column, chunk)) add_full(column, chunk);
}

size_t gs_column_full_bytes(const struct gs_column *column) {
    return column->full_rows * row_bytes(column);
}

/* The chunk that has waited longest and full ones that stand right behind it; how many. */
static size_t find_run(const struct gs_column *column, struct chunk *run[RUN]) {
    size_t bytes = 0, count = 0;
    struct chunk *chunk = is_empty(&column->full) ? NULL : column->full.next;
    while (chunk && is_full(column, chunk) && count < RUN && bytes < GS_COLUMN_RUN_BYTES) {
        bytes += chunk->filled * row_bytes(column);
        run[count++] = chunk;
        chunk = column->at[chunk->index + 1];
    }
    return count;
}

static void let_go(struct gs_column *column, struct chunk *chunk) {
    append(&column->spare, detach(chunk));
    column->at[chunk->index] = NULL;
    column->full_rows -= chunk->filled;
}

enum gs_status gs_column_write_some(struct gs_column *column, struct gs_error *error) {
    struct chunk *run[RUN];
    const void *bytes[RUN];
    size_t count = find_run(column, run);
    if (count == 0) return GS_OK;
    for (size_t i = 0; i < count; i++) bytes[i] = run[i]->bytes;
    enum gs_status status =
        gs_h5_data_write_chunks(column->data, run[0]->index, count, column->type, bytes, error);
    for (size_t i = 0; status == GS_OK && i < count; i++) let_go(column, run[i]);
    return status;
}

/* The first row of [first, end) that is in a chunk of the list. */
static size_t first_of(const struct gs_column *column, const struct chunk *list, size_t first,
                       size_t end) {
    for (const struct chunk *chunk = list->next; chunk != list; chunk = chunk->next) {
        size_t from = chunk->index * column->chunk_rows;
        size_t to = from + chunk_size(column, chunk->index);
        if (to > first && from < end) end = from > first ? from : first;
    }
    return end;
}

size_t gs_column_first_held(const struct gs_column *column, size_t first, size_t end) {
    return first_of(column, &column->full, first, first_of(column, &column->growing, first, end));
}

void gs_column_fill_up(struct gs_column *column) {
    const size_t bytes = row_bytes(column);
    while (!is_empty(&column->growing)) {
        struct chunk *chunk = column->growing.next;
        size_t rows = chunk_size(column, chunk->index);
        for (size_t row = 0; row < rows; row++)
            if (!chunk->there[row]) memset(chunk->bytes + row * bytes, 0, bytes);
        chunk->filled = rows;
        add_full(column, chunk);
    }
}
