/* gpnscope diff - two files of a kind, number by number; exit 1 when they are not close. */
#include "core/programs/command.h"
#include "core/results/results.h"
#include "probes/inspect/compare.h"
#include "probes/programs/version.h"

#include <string.h>

static struct gs_tolerances tolerances;

static const struct gs_option options[] = {
    {"rtol", GS_OPTION_NUMBER, &tolerances.relative, "R",
     "Numbers may differ by R times the larger of the two. Default: 0.", NULL},
    {"atol", GS_OPTION_NUMBER, &tolerances.absolute, "A",
     "And by A besides. Default: 0: all must be equal.", NULL},
    {NULL, GS_OPTION_FLAG, NULL, NULL, NULL, NULL}};

static const char *text_of(const struct gs_table *table, size_t column) {
    struct gs_cell cell = gs_table_cell(table, 0, column);
    return cell.type == GS_CELL_TEXT ? cell.text : "";
}

/* The first row is the first that is beyond. */
static enum gs_status fail_differ(const struct gs_call *call, const struct gs_results *results,
                                  struct gs_error *error) {
    const struct gs_table *parts = gs_results_find_table(results, "parts");
    struct gs_value beyond, all;
    gs_results_find(results, "diff.beyond", &beyond);
    gs_results_find(results, "diff.parts", &all);
    struct gs_cell first = gs_table_cell(parts, 0, 7), second = gs_table_cell(parts, 0, 8);
    gs_fail(error, GS_CHECK_FAILED, "%.0f of %.0f parts differ; %s: %s", beyond.value, all.value,
            text_of(parts, 0), text_of(parts, 1));
    bool beyond_there = strcmp(text_of(parts, 1), "beyond") == 0;
    if (text_of(parts, 6)[0])
        gs_error_found(error, "%s%s", beyond_there ? "no number at " : "", text_of(parts, 6));
    if (first.type == GS_CELL_NUMBER && second.type == GS_CELL_NUMBER)
        gs_error_found(error, "%.9g and %.9g at %s", first.number, second.number,
                       text_of(parts, 6));
    gs_error_where(error, "%s and %s", call->files[0], call->files[1]);
    return GS_CHECK_FAILED;
}

static enum gs_status check_tolerance(const char *name, double value, struct gs_error *error) {
    if (value >= 0) return GS_OK;
    gs_fail(error, GS_USAGE, "--%s is negative", name);
    gs_error_expected(error, "a number from 0 on");
    gs_error_found(error, "%g", value);
    return GS_USAGE;
}

static enum gs_status run(const struct gs_call *call, struct gs_error *error) {
    struct gs_results *results = NULL;
    bool close = false;
    enum gs_status status = check_tolerance("rtol", tolerances.relative, error);
    if (status == GS_OK) status = check_tolerance("atol", tolerances.absolute, error);
    if (status == GS_OK) status = gs_call_check_outputs(call, error);
    if (status == GS_OK)
        status = gs_compare_files(call->files[0], call->files[1], &tolerances, &results, &close,
                                  call->progress, error);
    if (status == GS_OK) status = gs_call_finish(call, results, error);
    if (status == GS_OK && !close) status = fail_differ(call, results, error);
    gs_results_destroy(results);
    return status;
}

int main(int argc, char **argv) {
    static const struct gs_command command = {
        .name = "diff",
        .summary = "compare two checkpoints, traces or results number by number",
        .synopsis = "A B",
        .description =
            "Compares two checkpoints, two traces, two files of results or two of numpy's arrays, "
            "told apart by content: each tensor, stream, value and column with its largest "
            "difference and where that is. Exit 1 when a number differs by more than --rtol and "
            "--atol allow, is NaN in either file, or is in one of them only. What a file says is "
            "not there (a value that is null, a loss that nothing predicts) equals the same in the "
            "other.\n"
            "\n"
            "  gpnscope diff mine.safetensors theirs.pkl\n"
            "  gpnscope diff one.h5 other.h5 --rtol 1e-5 --atol 1e-6",
        .options = options,
        .common = GS_TAKES_JSON,
        .min_files = 2,
        .max_files = 2,
        .run = run,
        .version = gs_probes_version,
    };
    return gs_command_main(&command, argc, argv);
}
