/* What a trace, or another HDF5 file, holds. */
#include "core/base/file.h"
#include "core/base/memory.h"
#include "probes/inspect/sheet.h"
#include "probes/trace/hdf5_file.h"
#include "probes/trace/reader.h"
#include "probes/trace/values.h"

#include <stdio.h>
#include <string.h>

static void trace_labels(struct gs_sheet *sheet, const struct gs_trace_info *info) {
    uint64_t rows = 0;
    for (size_t i = 0; i < info->sequences; i++) rows += info->rows_written[i];
    gs_sheet_whole(sheet, "version", info->version);
    gs_sheet_text(sheet, "complete", info->complete ? "yes" : "no: its recording was cut short");
    gs_sheet_whole(sheet, "sequences", (int64_t)info->sequences);
    gs_sheet_whole(sheet, "rows", (int64_t)info->rows);
    gs_sheet_whole(sheet, "rows_written", (int64_t)rows);
    gs_sheet_text(sheet, "token", info->has_token ? "yes" : "no");
    gs_sheet_text(sheet, "nll", info->has_nll ? "yes" : "no");
    if (info->has_nll) gs_sheet_whole(sheet, "nll_first", (int64_t)info->nll_first);
    gs_sheet_text(sheet, "names", info->has_names ? "yes" : "no");
    gs_sheet_text(sheet, "model", info->model);
    gs_sheet_text(sheet, "config", info->config);
    gs_sheet_text(sheet, "weights", info->weights);
    if (info->step >= 0) gs_sheet_whole(sheet, "step", info->step);
    if (info->seed >= 0) gs_sheet_whole(sheet, "seed", info->seed);
    if (info->threads >= 0) gs_sheet_whole(sheet, "threads", info->threads);
    gs_sheet_text(sheet, "blas_core", info->blas_core);
    gs_sheet_text(sheet, "creator", info->creator);
    gs_sheet_text(sheet, "command", info->command);
    gs_sheet_text(sheet, "created", info->created);
    gs_sheet_text(sheet, "checkpoint_sha256", info->checkpoint_sha256);
    gs_sheet_text(sheet, "tokenizer_sha256", info->tokenizer_sha256);
    gs_sheet_text(sheet, "source_sha256", info->source_sha256);
}

static void trace_tables(struct gs_sheet *sheet, const struct gs_trace_info *info) {
    static const char *const stream_columns[] = {"name", "width", "dtype"};
    static const char *const memory_columns[] = {"name",      "rule",           "heads",
                                                 "log_decay", "write_strength", "norm"};
    static const char *const read_columns[] = {"name", "layers"};
    struct gs_table *to = gs_sheet_table(sheet, "streams", stream_columns, 3);
    for (size_t i = 0; i < info->stream_count; i++)
        gs_sheet_row(sheet, to,
                     (struct gs_cell[]){gs_cell_text(info->streams[i].name),
                                        gs_cell_integer((int64_t)info->streams[i].width),
                                        gs_cell_text(info->streams[i].dtype)});
    if (info->memory_count) to = gs_sheet_table(sheet, "memories", memory_columns, 6);
    for (size_t i = 0; i < info->memory_count; i++) {
        const struct gs_trace_memory *memory = &info->memories[i];
        struct gs_cell cells[6] = {gs_cell_text(memory->name),
                                   gs_cell_text(memory->rule[0] ? memory->rule : NULL),
                                   gs_cell_integer((int64_t)memory->heads)};
        for (size_t field = 0; field < GS_MEMORY_FIELDS; field++)
            cells[3 + field] = gs_cell_text(memory->has[field] ? "yes" : "no");
        gs_sheet_row(sheet, to, cells);
    }
    if (info->read_count) to = gs_sheet_table(sheet, "reads", read_columns, 2);
    for (size_t i = 0; i < info->read_count; i++)
        gs_sheet_row(sheet, to,
                     (struct gs_cell[]){gs_cell_text(info->reads[i].name),
                                        gs_cell_integer((int64_t)info->reads[i].layers)});
}

/* ---- members of groups ---- */

static const char *const member_columns[] = {"name", "type", "shape"};

/* Type and shape of the object at `path`; nothing outside the file is opened for it. */
static void member_row(struct gs_sheet *sheet, struct gs_table *to, struct gs_h5 *file,
                       const char *path) {
    struct gs_h5_data *data = NULL;
    enum gs_h5_object object;
    char shape[192] = "";
    struct gs_cell cells[3] = {gs_cell_text(path), gs_cell_text("something else"),
                               gs_cell_text(NULL)};
    enum gs_status status = gs_h5_look(file, path, &object, NULL);
    if (status == GS_UNSUPPORTED)
        cells[1] = gs_cell_text("external link, not followed");
    else if (status == GS_OK && object == GS_H5_ABSENT)
        cells[1] = gs_cell_text("link to nothing");
    else if (status == GS_OK && object == GS_H5_GROUP)
        cells[1] = gs_cell_text("group");
    else if (status != GS_OK ||
             (object == GS_H5_DATASET && gs_h5_data_open(file, path, &data, NULL) != GS_OK))
        cells[1] = gs_cell_text("cannot be read");
    if (data) {
        const struct gs_h5_shape *of = gs_h5_data_shape(data);
        gs_sheet_shape(of->dims, of->rank, shape, sizeof shape);
        cells[1] = gs_cell_text(of->type_name);
        cells[2] = gs_cell_text(shape);
    }
    gs_sheet_row(sheet, to, cells);
    gs_h5_data_close(data);
}

/* Members of `group` that are none of `known` (NULL: all are listed). *to is made for the first. */
static void list_members(struct gs_sheet *sheet, const char *table, struct gs_table **to,
                         struct gs_h5 *file, const char *group, const char *const *known) {
    char **names = NULL;
    size_t count = 0;
    enum gs_h5_object object = GS_H5_GROUP;
    if (sheet->status != GS_OK || gs_h5_look(file, group, &object, NULL) != GS_OK ||
        object != GS_H5_GROUP)
        return;
    sheet->status = gs_h5_members(file, group, &names, &count, sheet->error);
    for (size_t i = 0; sheet->status == GS_OK && i < count; i++) {
        size_t k = 0;
        while (known && known[k] && strcmp(known[k], names[i]) != 0) k++;
        if (known && known[k]) continue;
        char *path = gs_path_join(strcmp(group, "/") == 0 ? "." : group, names[i]);
        if (!path) sheet->status = gs_fail_memory(sheet->error, strlen(names[i]), "a name");
        if (!*to) *to = gs_sheet_table(sheet, table, member_columns, 3);
        if (path) member_row(sheet, *to, file, path);
        gs_free(path);
    }
    gs_free_names(names, count);
}

/* What somebody has put beside the datasets of a trace, and no analysis reads. */
static void list_strangers(struct gs_sheet *sheet, const struct gs_trace_info *info) {
    static const char *const root[] = {"sequence", "token", "nll", "state", "memory", "read", NULL};
    static const char *const sequence[] = {"start", "rows_written", "name", NULL};
    static const char *const share[] = {"share", NULL};
    const char *fields[GS_MEMORY_FIELDS + 1] = {NULL};
    char group[GS_TRACE_NAME + 16];
    struct gs_table *to = NULL;
    struct gs_h5 *file;
    if (sheet->status == GS_OK) sheet->status = gs_h5_open(info->path, &file, sheet->error);
    if (sheet->status != GS_OK) return;
    for (int i = 0; i < GS_MEMORY_FIELDS; i++)
        fields[i] = gs_memory_field_name((enum gs_memory_field)i);
    list_members(sheet, "passed_over", &to, file, "/", root);
    list_members(sheet, "passed_over", &to, file, "sequence", sequence);
    for (size_t i = 0; i < info->memory_count; i++) {
        snprintf(group, sizeof group, "memory/%s", info->memories[i].name);
        list_members(sheet, "passed_over", &to, file, group, fields);
    }
    for (size_t i = 0; i < info->read_count; i++) {
        snprintf(group, sizeof group, "read/%s", info->reads[i].name);
        list_members(sheet, "passed_over", &to, file, group, share);
    }
    gs_h5_close(file, NULL);
}

/* ---- the two kinds ---- */

void gs_describe_trace(struct gs_sheet *sheet, const char *path) {
    struct gs_trace *trace;
    sheet->status = gs_trace_open(path, &trace, sheet->error);
    if (sheet->status != GS_OK) return;
    trace_labels(sheet, gs_trace_info(trace));
    trace_tables(sheet, gs_trace_info(trace));
    list_strangers(sheet, gs_trace_info(trace));
    gs_trace_close(trace);
}

void gs_describe_hdf5(struct gs_sheet *sheet, const char *path) {
    struct gs_h5 *file;
    sheet->status = gs_h5_open(path, &file, sheet->error);
    if (sheet->status != GS_OK) return;
    struct gs_table *to = gs_sheet_table(sheet, "members", member_columns, 3);
    list_members(sheet, "members", &to, file, "/", NULL);
    gs_h5_close(file, NULL);
}
