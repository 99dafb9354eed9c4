/* A trace's datasets as numpy's arrays. */
#include "core/base/memory.h"
#include "core/checkpoint/float_formats.h"
#include "probes/arrays/export_parts.h"
#include "probes/arrays/npy_write.h"
#include "probes/trace/narrow.h"
#include "probes/trace/values.h"

#include <string.h>

/* Where an array's bytes go: into an archive, or plainly. */
struct sink {
    FILE *stream;
    struct gs_npz_writer *npz; /* NULL: plainly */
};

static void put(const struct sink *sink, const void *bytes, size_t size) {
    if (sink->npz)
        gs_npz_write(sink->npz, bytes, size);
    else
        fwrite(bytes, 1, size, sink->stream);
}

/* Numbers of 4 bytes, in place, low bytes first. */
static size_t little_words(void *room, size_t count) {
    unsigned char *bytes = room;
    for (size_t i = 0; i < count; i++) {
        uint32_t word;
        memcpy(&word, bytes + 4 * i, sizeof word);
        gs_store_u32(bytes + 4 * i, word);
    }
    return 4 * count;
}

/* Floats that float16 holds, in place, as such. */
static size_t little_halves(void *room, size_t count) {
    unsigned char *bytes = room;
    for (size_t i = 0; i < count; i++) {
        float value;
        memcpy(&value, bytes + 4 * i, sizeof value);
        uint16_t half = gs_f16_from_f32(value);
        bytes[2 * i] = (unsigned char)(half & 0xff);
        bytes[2 * i + 1] = (unsigned char)(half >> 8);
    }
    return 2 * count;
}

static enum gs_status put_dataset(struct gs_export *export, const struct sink *sink,
                                  const struct gs_export_dataset *dataset,
                                  const struct gs_progress *progress, struct gs_error *error) {
    unsigned char header[GS_NPY_MOST_HEADER];
    bool lone = dataset->what == GS_EXPORT_TOKEN || dataset->what == GS_EXPORT_NLL;
    const char *descr = dataset->what == GS_EXPORT_TOKEN ? "<u4" : dataset->half ? "<f2" : "<f4";
    size_t shape[2] = {(size_t)(export->end - export->first), dataset->width};
    put(sink, header, gs_npy_make_header(descr, lone ? 1 : 2, shape, header));
    for (uint64_t row = export->first; row < export->end;) {
        size_t count =
            export->end - row < export->piece ? (size_t)(export->end - row) : export->piece;
        enum gs_status status = gs_export_read(export, dataset, row, count, export->room, error);
        if (status != GS_OK) return status;
        size_t cells = count * dataset->width;
        put(sink, export->room,
            dataset->half ? little_halves(export->room, cells) : little_words(export->room, cells));
        status = gs_export_step(export, count, progress, error);
        if (status != GS_OK) return status;
        row += count;
    }
    return GS_OK;
}

enum gs_status gs_export_npy(struct gs_export *export, const struct gs_progress *progress,
                             struct gs_error *error) {
    struct sink sink = {export->stream, NULL};
    return put_dataset(export, &sink, &export->datasets[0], progress, error);
}

/* ---- archives ---- */

static void name_dataset(const struct gs_trace_info *info, const struct gs_export_dataset *dataset,
                         char *name, size_t size) {
    switch (dataset->what) {
    case GS_EXPORT_STATE:
        snprintf(name, size, "state/%s", info->streams[dataset->index].name);
        break;
    case GS_EXPORT_GATE:
        snprintf(name, size, "memory/%s/%s", info->memories[dataset->index].name,
                 gs_memory_field_name(dataset->field));
        break;
    case GS_EXPORT_SHARE:
        snprintf(name, size, "read/%s/share", info->reads[dataset->index].name);
        break;
    case GS_EXPORT_TOKEN:
        snprintf(name, size, "token");
        break;
    case GS_EXPORT_NLL:
        snprintf(name, size, "nll");
        break;
    }
}

/* The sequences that the rows touch. */
static void touched(const struct gs_export *export, size_t *from, size_t *to) {
    const struct gs_trace_info *info = gs_trace_info(export->trace);
    *from = 0;
    *to = info->sequences;
    while (*from < *to && info->start[*from + 1] <= export->first) ++*from;
    while (*to > *from && info->start[*to - 1] >= export->end) --*to;
}

static enum gs_status put_start(const struct gs_export *export, const struct sink *sink,
                                struct gs_error *error) {
    unsigned char header[GS_NPY_MOST_HEADER], bytes[8];
    const uint64_t *start = gs_trace_info(export->trace)->start;
    size_t from, to;
    touched(export, &from, &to);
    size_t count = to - from + 1;
    enum gs_status status = gs_npz_begin(sink->npz, "sequence/start", error);
    if (status != GS_OK) return status;
    put(sink, header, gs_npy_make_header("<u8", 1, &count, header));
    for (size_t i = from; i <= to; i++) {
        uint64_t row = start[i] < export->first ? export->first : start[i];
        if (row > export->end) row = export->end;
        gs_store_u64(bytes, row - export->first);
        put(sink, bytes, sizeof bytes);
    }
    gs_npz_end(sink->npz);
    return GS_OK;
}

/* Names as bytes of UTF-8, padded with NUL to the longest. */
static enum gs_status put_names(const struct gs_export *export, const struct sink *sink,
                                struct gs_error *error) {
    size_t from, to, longest = 1;
    unsigned char header[GS_NPY_MOST_HEADER];
    char descr[32], *name;
    enum gs_status status = GS_OK;
    touched(export, &from, &to);
    for (size_t i = from; i < to; i++) {
        status = gs_trace_sequence_name(export->trace, i, &name, error);
        if (status != GS_OK) return status;
        if (name && strlen(name) > longest) longest = strlen(name);
        gs_free(name);
    }
    char *padded = gs_calloc(longest, 1);
    if (!padded) return gs_fail_memory(error, longest, "a name");
    size_t count = to - from;
    snprintf(descr, sizeof descr, "|S%zu", longest);
    status = gs_npz_begin(sink->npz, "sequence/name", error);
    if (status == GS_OK) put(sink, header, gs_npy_make_header(descr, 1, &count, header));
    for (size_t i = from; status == GS_OK && i < to; i++) {
        status = gs_trace_sequence_name(export->trace, i, &name, error);
        if (status != GS_OK) break;
        memset(padded, 0, longest);
        if (name) memcpy(padded, name, strlen(name));
        put(sink, padded, longest);
        gs_free(name);
    }
    if (status == GS_OK) gs_npz_end(sink->npz);
    gs_free(padded);
    return status;
}

static enum gs_status put_archive(struct gs_export *export, const struct sink *sink,
                                  const struct gs_progress *progress, struct gs_error *error) {
    const struct gs_trace_info *info = gs_trace_info(export->trace);
    char name[GS_TRACE_NAME + 48];
    enum gs_status status = put_start(export, sink, error);
    if (status == GS_OK && info->has_names) status = put_names(export, sink, error);
    for (size_t i = 0; status == GS_OK && i < export->count; i++) {
        name_dataset(info, &export->datasets[i], name, sizeof name);
        status = gs_npz_begin(sink->npz, name, error);
        if (status == GS_OK)
            status = put_dataset(export, sink, &export->datasets[i], progress, error);
        if (status == GS_OK) gs_npz_end(sink->npz);
    }
    if (status == GS_OK) gs_npz_finish(sink->npz);
    return status;
}

enum gs_status gs_export_npz(struct gs_export *export, const struct gs_progress *progress,
                             struct gs_error *error) {
    struct sink sink = {export->stream, gs_npz_writer_create(export->stream)};
    if (!sink.npz) return gs_fail_memory(error, 0, "an archive");
    enum gs_status status = put_archive(export, &sink, progress, error);
    gs_npz_writer_destroy(sink.npz);
    return status;
}
