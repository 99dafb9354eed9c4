#include "probes/programs/convert_trace.h"

#include "core/base/numbers.h"
#include "core/results/results.h"
#include "probes/arrays/from_trace.h"
#include "probes/arrays/to_trace.h"
#include "probes/trace/copy.h"

#include <inttypes.h>
#include <string.h>

static enum gs_status fail_choice(const char *option, const char *expected, const char *found,
                                  struct gs_error *error) {
    gs_fail(error, GS_USAGE, "--%s does not understand \"%s\"", option, found);
    gs_error_expected(error, "%s", expected);
    return GS_USAGE;
}

static enum gs_status want_output(const struct gs_call *call, struct gs_error *error) {
    if (call->output) return GS_OK;
    gs_fail(error, GS_USAGE, "there is no output");
    gs_error_next(error, "name it with -o OUT");
    return GS_USAGE;
}

/* ---- bringing in ---- */

static enum gs_status check_import(const struct gs_convert_trace_options *options,
                                   struct gs_error *error) {
    const char *rule = options->rule;
    if (options->deflate > 9) return fail_choice("deflate", "0 … 9", "a number above 9", error);
    if (rule && strcmp(rule, "gpn") != 0 && strcmp(rule, "gated_delta") != 0)
        return fail_choice("rule", "gpn or gated_delta", rule, error);
    if (options->streams.count > 1)
        return fail_choice("stream", "one name, for the states of a .npy",
                           options->streams.items[1], error);
    if (options->rows || options->to)
        return fail_choice(options->rows ? "rows" : "to", "a trace to take out of",
                           options->rows ? options->rows : options->to, error);
    return GS_OK;
}

enum gs_status gs_convert_arrays(const struct gs_call *call,
                                 const struct gs_convert_trace_options *options,
                                 struct gs_error *error) {
    struct gs_arrays_imported imported;
    enum gs_status status = want_output(call, error);
    if (status == GS_OK) status = check_import(options, error);
    if (status != GS_OK) return status;
    struct gs_arrays_import import = {.path = call->files[0],
                                      .with = options->with.items,
                                      .with_count = options->with.count,
                                      .stream =
                                          options->streams.count ? options->streams.items[0] : NULL,
                                      .rule = options->rule,
                                      .length = options->length,
                                      .bfloat16 = options->bfloat16,
                                      .deflate = (int)options->deflate,
                                      .force = call->force,
                                      .command = call->command_line};
    status = gs_arrays_to_trace(&import, call->output, &imported, call->progress, error);
    if (status != GS_OK) return status;
    gs_call_message(call, "%s: %zu state streams, %zu sequences, %" PRIu64 " rows", call->output,
                    imported.streams, imported.sequences, imported.rows);
    if (imported.passed_over[0])
        gs_call_message(call, "passed over, having no place in a trace: %s", imported.passed_over);
    return GS_OK;
}

/* ---- taking out ---- */

static bool ends_in(const char *path, const char *ending) {
    size_t length = strlen(path), size = strlen(ending);
    return length > size && strcmp(path + length - size, ending) == 0;
}

enum target { TO_NPY, TO_NPZ, TO_CSV, TO_TRACE };

static enum gs_status find_target(const struct gs_call *call, const char *to, enum target *target,
                                  struct gs_error *error) {
    static const struct {
        const char *name, *ending;
        enum target target;
    } targets[] = {{"npy", ".npy", TO_NPY},
                   {"npz", ".npz", TO_NPZ},
                   {"csv", ".csv", TO_CSV},
                   {"h5", ".h5", TO_TRACE},
                   {"h5", ".hdf5", TO_TRACE}};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        *target = targets[i].target;
        if (to ? strcmp(to, targets[i].name) == 0 : ends_in(call->output, targets[i].ending))
            return GS_OK;
    }
    if (to) return fail_choice("to", "npy, npz, csv or h5", to, error);
    gs_fail(error, GS_USAGE, "what \"%s\" is to be cannot be told from its name", call->output);
    gs_error_expected(error, "a name that ends in .npy, .npz, .csv or .h5, or --to");
    return GS_USAGE;
}

/* "A:B", either of which may be left out. */
static enum gs_status read_rows(const char *text, uint64_t rows, uint64_t *first, uint64_t *end,
                                struct gs_error *error) {
    char left[GS_NUMBER_TEXT] = "";
    const char *colon = strchr(text, ':');
    *first = 0;
    *end = rows;
    if (colon && (size_t)(colon - text) < sizeof left) {
        memcpy(left, text, (size_t)(colon - text));
        bool good = (!left[0] || gs_size_parse(left, first)) &&
                    (!colon[1] || gs_size_parse(colon + 1, end));
        if (good && *first < *end && *end <= rows) return GS_OK;
    }
    fail_choice("rows", "A:B, rows A to B - 1", text, error);
    gs_error_expected(error, "A:B for rows A to B - 1 of %" PRIu64, rows);
    return GS_USAGE;
}

static enum gs_status copy_trace(const struct gs_call *call,
                                 const struct gs_convert_trace_options *options,
                                 struct gs_trace *trace, struct gs_error *error) {
    if (options->streams.count || options->rows)
        return fail_choice(options->rows ? "rows" : "stream", "an .npy, .npz or .csv",
                           options->rows ? options->rows : options->streams.items[0], error);
    if (options->deflate > 9) return fail_choice("deflate", "0 … 9", "a number above 9", error);
    return gs_trace_copy(trace, call->output, call->force, (int)options->deflate, call->progress,
                         error);
}

static enum gs_status take_out(const struct gs_call *call,
                               const struct gs_convert_trace_options *options, enum target target,
                               struct gs_trace *trace, struct gs_error *error) {
    struct gs_arrays_export export = {.format = target == TO_NPY   ? GS_ARRAYS_NPY
                                                : target == TO_NPZ ? GS_ARRAYS_NPZ
                                                                   : GS_ARRAYS_CSV,
                                      .streams = options->streams.items,
                                      .stream_count = options->streams.count,
                                      .force = call->force};
    uint64_t rows = gs_trace_info(trace)->rows;
    enum gs_status status = GS_OK;
    if (options->rows) status = read_rows(options->rows, rows, &export.first, &export.end, error);
    if (status != GS_OK) return status;
    return gs_trace_to_arrays(trace, &export, call->output, call->progress, error);
}

enum gs_status gs_convert_trace(const struct gs_call *call,
                                const struct gs_convert_trace_options *options,
                                struct gs_error *error) {
    enum target target;
    struct gs_trace *trace;
    enum gs_status status = want_output(call, error);
    if (status == GS_OK) status = find_target(call, options->to, &target, error);
    if (status == GS_OK && (options->with.count || options->length || options->rule))
        status = fail_choice(options->with.count ? "with"
                             : options->length   ? "length"
                                                 : "rule",
                             "arrays to bring in", call->files[0], error);
    if (status == GS_OK) status = gs_trace_open(call->files[0], &trace, error);
    if (status != GS_OK) return status;
    status = target == TO_TRACE ? copy_trace(call, options, trace, error)
                                : take_out(call, options, target, trace, error);
    gs_trace_close(trace);
    return status;
}

enum gs_status gs_convert_results(const struct gs_call *call, struct gs_error *error) {
    struct gs_results *results = NULL;
    enum gs_status status = want_output(call, error);
    if (status == GS_OK) status = gs_results_read(call->files[0], &results, error);
    if (status == GS_OK)
        status = gs_results_write_csv(results, call->output, "", call->force, error);
    gs_results_destroy(results);
    return status;
}
