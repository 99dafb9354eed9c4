#include "probes/trace/writer.h"

#include "core/base/environment.h"
#include "core/base/file.h"
#include "core/base/memory.h"
#include "probes/trace/resumable.h"
#include "probes/trace/trace_being_written.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FLUSH_BYTES = 64 * 1024 * 1024, FLUSH_SECONDS = 2 };

/* ---- making ---- */

static enum gs_status check_plan(const struct gs_trace_plan *plan, struct gs_error *error) {
    if (plan->stream_count == 0) {
        gs_fail(error, GS_USAGE, "a trace needs at least one state stream");
        return GS_USAGE;
    }
    if (plan->sequences == 0 || plan->start[0] != 0) {
        gs_fail(error, GS_RANGE, "a trace needs at least one sequence, the first from row 0 on");
        return GS_RANGE;
    }
    for (size_t i = 0; i < plan->sequences; i++) {
        if (plan->start[i + 1] >= plan->start[i]) continue;
        gs_fail(error, GS_RANGE, "sequence %zu ends before it begins", i);
        return GS_RANGE;
    }
    return GS_OK;
}

static enum gs_status compare_space(const char *path, size_t needed, struct gs_error *error) {
    uint64_t available = 0;
    enum gs_status status = gs_free_space(path, &available, error);
    if (status != GS_OK || needed <= available) return status;
    gs_fail(error, GS_IO, "not enough disk space for the trace");
    gs_error_expected(error, "%zu bytes", needed);
    gs_error_found(error, "%llu bytes free", (unsigned long long)available);
    gs_error_where(error, "%s", path);
    gs_error_next(error,
                  "record fewer rows or streams, or states in 16 bits (--dtype f16 or bf16)");
    return GS_IO;
}

/* For the sequences from `first` on of a trace that is there, and has taken space for some of them.
 * Without deflate its size is that of the whole: the plan's is a little more. */
static enum gs_status check_space_left(const char *path, const struct gs_trace_plan *plan,
                                       size_t first, struct gs_error *error) {
    struct stat file;
    if (stat(path, &file) != 0) return gs_fail_errno(error, errno, "asking for a size", path);
    const size_t size = (size_t)file.st_size, taken = (size_t)file.st_blocks * 512;
    size_t all = gs_trace_bytes(plan);
    if (!plan->deflate && size < all && size > all / 2) all = size;
    const size_t before = first > 0 ? all - all / plan->sequences * (plan->sequences - first) : 0;
    const size_t had = taken > before ? taken : before;
    return compare_space(path, all > had ? all - had : 0, error);
}

/* The file begins beside its place, under a name that later runs sweep: without force it moves
 * there once it is a trace (show), with force when it is finished. */
static enum gs_status choose_file(struct gs_trace_writer *writer, const char *path, bool force,
                                  struct gs_error *error) {
    struct gs_output out = {0};
    enum gs_status status = gs_output_check(path, force, error);
    if (status == GS_OK) status = gs_output_open(&out, path, force, error);
    if (status != GS_OK) return status;
    writer->path = gs_strdup(out.path);
    writer->file = gs_strdup(out.temporary);
    gs_output_abandon(&out); /* the name was wanted, not the stream */
    if (writer->path && writer->file) return GS_OK;
    return gs_fail_memory(error, strlen(path), "a path");
}

static enum gs_status write_labels(struct gs_h5 *h5, const struct gs_trace_labels *labels,
                                   struct gs_error *error) {
    char now[32];
    time_t clock = time(NULL);
    struct tm utc;
    strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&clock, &utc));
    const struct {
        const char *name, *text;
    } texts[] = {
        {"format", "gpn-trace"},
        {"model", labels->model},
        {"config", labels->config},
        {"creator", labels->creator ? labels->creator : "gpnscope " GS_VERSION},
        {"command", labels->command},
        {"created", labels->created ? labels->created : now},
        {"checkpoint_sha256", labels->checkpoint_sha256},
        {"tokenizer_sha256", labels->tokenizer_sha256},
        {"source_sha256", labels->source_sha256},
        {"blas_core", labels->blas_core},
        {"weights", labels->weights},
    };
    const struct {
        const char *name;
        int64_t number;
    } numbers[] = {{"version", 1},
                   {"complete", 0},
                   {"step", labels->step},
                   {"seed", labels->seed},
                   {"threads", labels->threads}};
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < sizeof texts / sizeof *texts; i++)
        if (texts[i].text) status = gs_h5_set_text(h5, "/", texts[i].name, texts[i].text, error);
    for (size_t i = 0; status == GS_OK && i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].number >= 0)
            status = gs_h5_set_integer(h5, "/", numbers[i].name, numbers[i].number, error);
    return status;
}

static enum gs_status write_sequences(struct gs_trace_writer *writer,
                                      const struct gs_trace_plan *plan, struct gs_error *error) {
    size_t count = plan->sequences, ends = count + 1;
    enum gs_status status =
        gs_h5_write(writer->h5, "sequence/start", GS_H5_U64, 1, &ends, plan->start, error);
    if (status == GS_OK)
        status = gs_h5_write(writer->h5, "sequence/rows_written", GS_H5_U64, 1, &count,
                             writer->safe, error);
    if (status == GS_OK)
        status = gs_h5_data_open(writer->h5, "sequence/rows_written", &writer->rows_written, error);
    if (status == GS_OK && plan->names)
        status = gs_h5_write_texts(writer->h5, "sequence/name", plan->names, count, false, error);
    return status;
}

/* The next lane, in the order in which they are asked for. */
static enum gs_status add_lane(struct gs_trace_writer *writer, const struct gs_trace_plan *plan,
                               const char *path, enum gs_h5_type type, size_t width,
                               enum gs_value_rule rule, struct gs_error *error) {
    struct gs_trace_lane *lane = &writer->lanes[writer->lane_count];
    size_t element = type == GS_H5_F16 || type == GS_H5_U16 ? 2 : 4, row_bytes;
    if (!gs_multiply(width ? width : 1, element, &row_bytes))
        return gs_fail(error, GS_SHAPE, "a row of %s does not fit in memory", path);
    size_t chunk_rows = gs_trace_chunk_rows(row_bytes, plan->start, plan->sequences);
    lane->rule = rule;
    lane->brain = type == GS_H5_U16;
    lane->next = gs_calloc(plan->sequences, sizeof *lane->next);
    if (!lane->next) return gs_fail_memory(error, plan->sequences * 8, "row counts");
    size_t rows = (size_t)plan->start[plan->sequences];
    enum gs_status status = writer->resuming
                                ? gs_column_open(writer->h5, path, type, &lane->column, error)
                                : gs_column_create(writer->h5, path, type, rows, width, chunk_rows,
                                                   plan->deflate, &lane->column, error);
    if (status != GS_OK) {
        gs_free(lane->next);
        return status;
    }
    writer->lane_count++;
    return GS_OK;
}

static enum gs_status add_stream(struct gs_trace_writer *writer, const struct gs_trace_plan *plan,
                                 const struct gs_trace_stream *stream, struct gs_error *error) {
    char path[GS_TRACE_NAME + 16];
    snprintf(path, sizeof path, "state/%s", stream->name);
    bool brain = strcmp(stream->dtype, "bfloat16") == 0;
    enum gs_h5_type type = brain                                   ? GS_H5_U16
                           : strcmp(stream->dtype, "float16") == 0 ? GS_H5_F16
                                                                   : GS_H5_F32;
    enum gs_status status =
        add_lane(writer, plan, path, type, stream->width, GS_VALUE_FINITE, error);
    if (status == GS_OK && brain && !writer->resuming)
        status = gs_h5_set_text(writer->h5, path, "dtype", "bfloat16", error);
    return status;
}

static enum gs_status add_memory(struct gs_trace_writer *writer, const struct gs_trace_plan *plan,
                                 size_t index, struct gs_error *error) {
    const struct gs_trace_memory *memory = &plan->memories[index];
    char path[GS_TRACE_NAME + 32];
    snprintf(path, sizeof path, "memory/%s", memory->name);
    enum gs_status status = writer->resuming ? GS_OK : gs_h5_group_create(writer->h5, path, error);
    if (status == GS_OK && memory->rule[0] && !writer->resuming)
        status = gs_h5_set_text(writer->h5, path, "rule", memory->rule, error);
    for (int field = 0; status == GS_OK && field < GS_MEMORY_FIELDS; field++) {
        if (!memory->has[field]) continue;
        enum gs_memory_field which = (enum gs_memory_field)field;
        snprintf(path, sizeof path, "memory/%s/%s", memory->name, gs_memory_field_name(which));
        writer->fields[index * GS_MEMORY_FIELDS + (size_t)field] = (int)writer->lane_count;
        status = add_lane(writer, plan, path, GS_H5_F32, memory->heads, gs_memory_field_rule(which),
                          error);
    }
    return status;
}

static enum gs_status add_nll(struct gs_trace_writer *writer, const struct gs_trace_plan *plan,
                              struct gs_error *error) {
    writer->nll = (int)writer->lane_count;
    enum gs_status status = add_lane(writer, plan, "nll", GS_H5_F32, 0, GS_VALUE_FINITE, error);
    if (status != GS_OK || writer->resuming) return status;
    return gs_h5_set_integer(writer->h5, "nll", "first", (int64_t)plan->nll_first, error);
}

static enum gs_status add_lanes(struct gs_trace_writer *writer, const struct gs_trace_plan *plan,
                                struct gs_error *error) {
    enum gs_status status = GS_OK;
    if (plan->token) {
        writer->token = (int)writer->lane_count;
        status = add_lane(writer, plan, "token", GS_H5_U32, 0, GS_VALUE_ANY, error);
    }
    if (status == GS_OK && plan->nll) status = add_nll(writer, plan, error);
    writer->first_stream = writer->lane_count;
    for (size_t i = 0; status == GS_OK && i < plan->stream_count; i++)
        status = add_stream(writer, plan, &plan->streams[i], error);
    for (size_t i = 0; status == GS_OK && i < plan->memory_count; i++)
        status = add_memory(writer, plan, i, error);
    writer->first_read = writer->lane_count;
    for (size_t i = 0; status == GS_OK && i < plan->read_count; i++) {
        char path[GS_TRACE_NAME + 16];
        snprintf(path, sizeof path, "read/%s/share", plan->reads[i].name);
        status =
            add_lane(writer, plan, path, GS_H5_F32, plan->reads[i].layers, GS_VALUE_FINITE, error);
    }
    return status;
}

static enum gs_status allocate(struct gs_trace_writer *writer, const struct gs_trace_plan *plan,
                               struct gs_error *error) {
    size_t count = plan->sequences;
    writer->sequences = count;
    writer->nll_first = plan->nll_first;
    writer->memory_count = plan->memory_count;
    writer->token = writer->nll = GS_NO_LANE;
    writer->lane_limit =
        2 + plan->stream_count + plan->memory_count * GS_MEMORY_FIELDS + plan->read_count;
    writer->lanes = gs_calloc(writer->lane_limit, sizeof *writer->lanes);
    writer->fields = gs_calloc(plan->memory_count * GS_MEMORY_FIELDS, sizeof *writer->fields);
    writer->start = gs_calloc(count + 1, sizeof *writer->start);
    writer->safe = gs_calloc(count, sizeof *writer->safe);
    if (!writer->lanes || !writer->fields || !writer->start || !writer->safe)
        return gs_fail_memory(error, count * sizeof *writer->safe, "sequences of the trace");
    memcpy(writer->start, plan->start, (count + 1) * sizeof *writer->start);
    for (size_t i = 0; i < plan->memory_count * GS_MEMORY_FIELDS; i++)
        writer->fields[i] = GS_NO_LANE;
    return GS_OK;
}

/* The index is on disk now, and will not change. */
static void locate_lanes(struct gs_trace_writer *writer) {
    for (size_t i = 0; i < writer->lane_count; i++) gs_column_locate(writer->lanes[i].column);
}

/* The file has its size now, but with deflate. */
static enum gs_status reserve(const struct gs_trace_writer *writer,
                              const struct gs_trace_plan *plan, struct gs_error *error) {
    return plan->deflate ? GS_OK : gs_h5_reserve(writer->h5, error);
}

static enum gs_status fill_file(struct gs_trace_writer *writer, const struct gs_trace_plan *plan,
                                struct gs_error *error) {
    enum gs_status status = write_labels(writer->h5, &plan->labels, error);
    if (status == GS_OK) status = write_sequences(writer, plan, error);
    if (status == GS_OK) status = add_lanes(writer, plan, error);
    if (status == GS_OK) status = gs_h5_flush(writer->h5, error);
    if (status == GS_OK) status = reserve(writer, plan, error);
    if (status == GS_OK) locate_lanes(writer);
    if (status == GS_IO) writer->broken = true;
    return status;
}

/* Give the file its name, unless somebody else has taken it meanwhile. A link never replaces; where
 * the file system has none, looking first must do. */
static enum gs_status show(struct gs_trace_writer *writer, struct gs_error *error) {
    int failed = link(writer->file, writer->path) == 0 ? 0 : errno;
    if (failed == 0)
        unlink(writer->file);
    else if (failed != EEXIST && !gs_path_exists(writer->path))
        failed = rename(writer->file, writer->path) == 0 ? 0 : errno;
    else
        failed = EEXIST;
    if (failed) return gs_fail_errno(error, failed, "putting the trace in its place", writer->path);
    char *file = gs_strdup(writer->path);
    if (!file) return gs_fail_memory(error, strlen(writer->path), "a path");
    gs_free(writer->file);
    writer->file = file;
    return GS_OK;
}

static void release(struct gs_trace_writer *writer) {
    for (size_t i = 0; i < writer->lane_count; i++) {
        gs_column_destroy(writer->lanes[i].column);
        gs_free(writer->lanes[i].next);
    }
    gs_free(writer->lanes);
    gs_free(writer->fields);
    gs_free(writer->start);
    gs_free(writer->safe);
    gs_free(writer->path);
    gs_free(writer->file);
    gs_free(writer);
}

enum gs_status gs_trace_writer_create(const char *path, bool force,
                                      const struct gs_trace_plan *plan,
                                      struct gs_trace_writer **writer, struct gs_error *error) {
    *writer = NULL;
    enum gs_status status = check_plan(plan, error);
    if (status != GS_OK) return status;
    struct gs_trace_writer *created = gs_calloc(1, sizeof *created);
    if (!created) return gs_fail_memory(error, sizeof *created, "a trace writer");
    status = allocate(created, plan, error);
    if (status == GS_OK) status = choose_file(created, path, force, error);
    if (status == GS_OK) status = compare_space(path, gs_trace_bytes(plan), error);
    if (status == GS_OK) {
        status = gs_h5_create(created->file, &created->h5, error);
        if (status != GS_OK)
            gs_error_where(error, "%s", created->path); /* the name that was asked for */
    }
    if (status == GS_OK && !force) status = gs_h5_show_as(created->h5, created->path, error);
    if (status == GS_OK) status = fill_file(created, plan, error);
    if (status == GS_OK && !force) status = show(created, error);
    if (status != GS_OK) {
        gs_trace_writer_abandon(created, false);
        return status;
    }
    created->flushed_at = time(NULL);
    *writer = created;
    return GS_OK;
}

/* ---- resuming ---- */

/* The last sequence up to `limit` whose start is a chunk border of every dataset: what stands
 * before it is whole, and what follows is written anew. */
static size_t last_border(const struct gs_trace_writer *writer, size_t limit) {
    for (size_t sequence = limit; sequence > 0; sequence--) {
        bool border = true;
        for (size_t i = 0; i < writer->lane_count; i++)
            if (writer->start[sequence] % gs_column_chunk_rows(writer->lanes[i].column) != 0)
                border = false;
        if (border) return sequence;
    }
    return 0;
}

/* Sequences below `first` are done, the others have no row any more; said so in the file before
 * a chunk is touched. */
static enum gs_status start_from(struct gs_trace_writer *writer, size_t first,
                                 struct gs_error *error) {
    for (size_t i = 0; i < first; i++) {
        writer->safe[i] = writer->start[i + 1] - writer->start[i];
        for (size_t n = 0; n < writer->lane_count; n++) writer->lanes[n].next[i] = writer->safe[i];
    }
    writer->lowest = first;
    writer->above = writer->sequences;
    return gs_trace_writer_flush(writer, error);
}

static enum gs_status open_old(struct gs_trace_writer *writer, const struct gs_trace_plan *plan,
                               size_t unfinished, size_t *first, struct gs_error *error) {
    writer->resuming = true;
    enum gs_status status = gs_h5_open_to_write(writer->file, &writer->h5, error);
    if (status == GS_OK)
        status = gs_h5_data_open(writer->h5, "sequence/rows_written", &writer->rows_written, error);
    if (status == GS_OK) status = add_lanes(writer, plan, error);
    if (status == GS_OK) status = reserve(writer, plan, error); /* or nothing is undone */
    if (status != GS_OK) return status;
    *first = last_border(writer, unfinished);
    status = start_from(writer, *first, error);
    if (status == GS_OK) locate_lanes(writer);
    return status;
}

enum gs_status gs_trace_writer_resume(const char *path, const struct gs_trace_plan *plan,
                                      struct gs_trace_writer **writer, size_t *first,
                                      struct gs_error *error) {
    *writer = NULL;
    enum gs_status status = check_plan(plan, error);
    if (status == GS_OK) status = gs_trace_resumable(path, plan, first, error);
    if (status != GS_OK || *first == plan->sequences) return status;
    struct gs_trace_writer *opened = gs_calloc(1, sizeof *opened);
    if (!opened) return gs_fail_memory(error, sizeof *opened, "a trace writer");
    status = allocate(opened, plan, error);
    opened->path = gs_strdup(path);
    opened->file = gs_strdup(path);
    if (status == GS_OK && (!opened->path || !opened->file))
        status = gs_fail_memory(error, strlen(path), "a path");
    if (status == GS_OK) status = check_space_left(path, plan, *first, error);
    if (status == GS_OK) status = open_old(opened, plan, *first, first, error);
    opened->flushed_at = time(NULL);
    if (status != GS_OK) {
        gs_trace_writer_abandon(opened, true);
        return status;
    }
    *writer = opened;
    return GS_OK;
}

/* ---- flush and close ---- */

/* Rows from the sequence's start on that every dataset has in the file. */
static uint64_t rows_in_file(const struct gs_trace_writer *writer, size_t sequence) {
    size_t first = (size_t)writer->start[sequence], end = (size_t)writer->start[sequence + 1];
    for (size_t i = 0; i < writer->lane_count; i++) {
        const struct gs_trace_lane *lane = &writer->lanes[i];
        if (first + lane->next[sequence] < end) end = first + (size_t)lane->next[sequence];
        end = gs_column_first_held(lane->column, first, end);
    }
    return end - first;
}

static uint64_t length_of(const struct gs_trace_writer *writer, size_t sequence) {
    return writer->start[sequence + 1] - writer->start[sequence];
}

static enum gs_status write_rows_written(struct gs_trace_writer *writer, struct gs_error *error) {
    size_t low = writer->lowest, high = writer->above;
    if (low >= high) return GS_OK;
    for (size_t i = low; i < high; i++) writer->safe[i] = rows_in_file(writer, i);
    enum gs_status status = gs_h5_data_write(writer->rows_written, low, high - low, GS_H5_U64,
                                             writer->safe + low, error);
    while (status == GS_OK && low < high && writer->safe[low] == length_of(writer, low)) low++;
    writer->lowest = low;
    return status;
}

/* The chunks that are full. */
static enum gs_status write_full(struct gs_trace_writer *writer, struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (size_t i = 0; i < writer->lane_count; i++)
        while (status == GS_OK && gs_column_full_bytes(writer->lanes[i].column) > 0)
            status = gs_column_write_some(writer->lanes[i].column, error);
    return status;
}

/* What is written becomes safe. */
static enum gs_status flush(struct gs_trace_writer *writer, struct gs_error *error) {
    enum gs_status status = gs_h5_flush(writer->h5, error); /* data, and where they stand */
    if (status == GS_OK) {
        status = write_rows_written(writer, error);
        if (status == GS_OK) status = gs_h5_flush(writer->h5, error);
        if (status != GS_OK) gs_error_where(error, "%s, sequence/rows_written", writer->file);
    }
    if (status != GS_OK) writer->broken = true;
    writer->unflushed = writer->started = 0;
    writer->flushed_at = time(NULL);
    return status;
}

enum gs_status gs_trace_writer_flush(struct gs_trace_writer *writer, struct gs_error *error) {
    enum gs_status status = write_full(writer, error);
    if (status == GS_OK) return flush(writer, error);
    writer->broken = true;
    return status;
}

enum gs_status gs_trace_writer_flush_if_due(struct gs_trace_writer *writer,
                                            struct gs_error *error) {
    if (time(NULL) - writer->flushed_at >= FLUSH_SECONDS)
        return gs_trace_writer_flush(writer, error);
    return writer->unflushed >= FLUSH_BYTES ? flush(writer, error) : GS_OK;
}

static enum gs_status drain(struct gs_trace_writer *writer, struct gs_error *error) {
    for (size_t i = 0; i < writer->lane_count; i++) gs_column_fill_up(writer->lanes[i].column);
    return gs_trace_writer_flush(writer, error);
}

static bool all_rows_safe(const struct gs_trace_writer *writer) {
    for (size_t i = 0; i < writer->sequences; i++)
        if (writer->safe[i] < length_of(writer, i)) return false;
    return true;
}

static void close_columns(struct gs_trace_writer *writer) {
    for (size_t i = 0; i < writer->lane_count; i++) {
        gs_column_destroy(writer->lanes[i].column);
        writer->lanes[i].column = NULL;
    }
    gs_h5_data_close(writer->rows_written);
    writer->rows_written = NULL;
}

/* Data on the disk itself, then the name. */
static enum gs_status put_in_place(const struct gs_trace_writer *writer, struct gs_error *error) {
    int descriptor = open(writer->file, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return gs_fail_errno(error, errno, "opening the trace", writer->file);
    int failed = fsync(descriptor) != 0 && errno != EINVAL ? errno : 0;
    close(descriptor);
    if (failed) return gs_fail_errno(error, failed, "writing the trace to disk", writer->file);
    if (strcmp(writer->file, writer->path) == 0 || rename(writer->file, writer->path) == 0)
        return GS_OK;
    return gs_fail_errno(error, errno, "putting the trace in its place", writer->path);
}

/* What is safe, and where, after a failed write. */
static void say_what_is_left(const struct gs_trace_writer *writer, struct gs_error *error) {
    uint64_t rows = gs_trace_writer_safe_rows(writer);
    if (rows > 0)
        gs_error_next(error, "%llu rows had been flushed and stay readable in %s",
                      (unsigned long long)rows, writer->file);
}

enum gs_status gs_trace_writer_close(struct gs_trace_writer *writer, struct gs_error *error) {
    enum gs_status status = writer->broken ? GS_IO : drain(writer, error);
    if (status == GS_OK && all_rows_safe(writer))
        status = gs_h5_set_integer(writer->h5, "/", "complete", 1, error);
    if (status == GS_OK) {
        close_columns(writer);
        status = gs_h5_close(writer->h5, error);
        writer->h5 = NULL;
    }
    if (status == GS_OK) status = put_in_place(writer, error);
    if (status != GS_OK) {
        writer->broken = true;
        say_what_is_left(writer, error);
        gs_trace_writer_abandon(writer, true);
        return status;
    }
    release(writer);
    return GS_OK;
}

void gs_trace_writer_abandon(struct gs_trace_writer *writer, bool keep) {
    if (!writer) return;
    if (writer->h5 && keep && !writer->broken && drain(writer, NULL) != GS_OK)
        writer->broken = true;
    bool empty = !writer->h5 || gs_trace_writer_safe_rows(writer) == 0;
    close_columns(writer);
    gs_h5_close(writer->h5, NULL);
    if (writer->h5 && (!keep || (empty && !writer->resuming))) unlink(writer->file);
    release(writer);
}

uint64_t gs_trace_writer_safe_rows(const struct gs_trace_writer *writer) {
    uint64_t rows = 0;
    for (size_t i = 0; i < writer->sequences; i++) rows += writer->safe[i];
    return rows;
}

const char *gs_trace_writer_file(const struct gs_trace_writer *writer) {
    return writer->file;
}

bool gs_trace_writer_broken(const struct gs_trace_writer *writer) {
    return writer->broken;
}
