#include "reports/page/report.h"
#include "core/base/memory.h"
#include "core/programs/command.h"
#include "reports/page/measure.h"

static struct gs_list checkpoints, nulls, null_checkpoints;
static const char *tokenizer, *counts, *stream;

static const struct gs_option options[] = {
    {"checkpoint", GS_OPTION_LIST, &checkpoints, "FILE",
     "The checkpoint the trace was made with: decodes the mean state. With several traces, give it "
     "once for each, in their order.",
     NULL},
    {"tokenizer", GS_OPTION_TEXT, &tokenizer, "FILE",
     "SentencePiece model: tokens are shown as pieces, not numbers.", NULL},
    {"counts", GS_OPTION_TEXT, &counts, "DATA",
     "Training data whose tokens are counted. Default: the tokens of the trace.", NULL},
    {"null", GS_OPTION_LIST, &nulls, "TRACE",
     "A trace of the untrained model (step 0) on the same text, shown beside the model. With "
     "several traces, give it once for each, in their order.",
     NULL},
    {"null-checkpoint", GS_OPTION_LIST, &null_checkpoints, "FILE",
     "The checkpoint that the --null trace was made with, once for each: decodes the untrained "
     "mean "
     "state. Default: the .safetensors file beside it that has the SHA-256 recorded in it.",
     NULL},
    {"stream", GS_OPTION_TEXT, &stream, "NAME",
     "Which states of the trace: predicted, grounded, layer00, … Default: predicted or final, or "
     "the "
     "only stream there is, and in a model with layers all of them side by side; all: the same for "
     "any trace.",
     NULL},
    {NULL, GS_OPTION_FLAG, NULL, NULL, NULL, NULL}};

/* None, or one for each trace. */
static enum gs_status check_list(const struct gs_list *list, const char *option, size_t traces,
                                 struct gs_error *error) {
    if (list->count == 0 || list->count == traces) return GS_OK;
    gs_fail(error, GS_USAGE, "--%s must be given once for each %s, or not at all", option,
            list == &null_checkpoints ? "--null" : "trace");
    gs_error_expected(error, "%zu", traces);
    gs_error_found(error, "%zu", list->count);
    return GS_USAGE;
}

static enum gs_status check_call(const struct gs_call *call, struct gs_error *error) {
    if (!call->output) {
        gs_fail(error, GS_USAGE, "say where the report goes");
        gs_error_next(error, "give a folder with -o DIR");
        return GS_USAGE;
    }
    enum gs_status status = check_list(&checkpoints, "checkpoint", call->file_count, error);
    if (status == GS_OK) status = check_list(&nulls, "null", call->file_count, error);
    if (status == GS_OK)
        status = check_list(&null_checkpoints, "null-checkpoint", nulls.count, error);
    return status == GS_OK ? gs_report_check_output(call->output, call->force, error) : status;
}

/* Losses of several traces are compared over the positions that all of them predict. */
static enum gs_status find_first(const struct gs_call *call, uint64_t *first,
                                 struct gs_error *error) {
    enum gs_status status = GS_OK;
    *first = 0;
    for (size_t i = 0; status == GS_OK && i < call->file_count; i++) {
        uint64_t own = 0;
        status = gs_report_loss_first(call->files[i], &own, error);
        if (own > *first) *first = own;
    }
    return status;
}

static enum gs_status measure_all(const struct gs_call *call, struct gs_report_measured *measured,
                                  struct gs_error *error) {
    uint64_t first;
    enum gs_status status = find_first(call, &first, error);
    for (size_t i = 0; status == GS_OK && i < call->file_count; i++) {
        struct gs_report_inputs inputs = {
            .trace = call->files[i],
            .null = nulls.count ? nulls.items[i] : NULL,
            .checkpoint = checkpoints.count ? checkpoints.items[i] : NULL,
            .null_checkpoint = null_checkpoints.count ? null_checkpoints.items[i] : NULL,
            .tokenizer = tokenizer,
            .counts = counts,
            .stream = stream,
            .loss_first = first,
            .seed = call->seed,
            .command_line = call->command_line};
        status = gs_report_measure(&inputs, call->progress, &measured[i], error);
        if (status == GS_OK && !gs_trace_info(measured[i].trace)->complete)
            gs_call_warning(call, "%s is not complete: only the rows safely on disk are measured",
                            call->files[i]);
    }
    return status;
}

static enum gs_status write_report(const struct gs_call *call, struct gs_report_run *runs,
                                   struct gs_error *error) {
    struct gs_report report = {runs, call->file_count, call->command_line};
    struct gs_error warning;
    enum gs_status status =
        gs_report_write(&report, call->output, call->force, call->progress, &warning, error);
    if (status != GS_OK) return status;
    char text[2048];
    if (warning.what[0])
        gs_call_warning(call, "the pictures are missing, the numbers are there: %s",
                        gs_error_text(&warning, text, sizeof text));
    gs_call_message(call, "the report is %s/index.html", call->output);
    return GS_OK;
}

static enum gs_status run(const struct gs_call *call, struct gs_error *error) {
    enum gs_status status = check_call(call, error);
    if (status != GS_OK) return status;
    struct gs_report_measured *measured = gs_calloc(call->file_count, sizeof *measured);
    struct gs_report_run *runs = gs_calloc(call->file_count, sizeof *runs);
    status = measured && runs ? measure_all(call, measured, error)
                              : gs_fail_memory(error, 0, "the report");
    for (size_t i = 0; status == GS_OK && i < call->file_count; i++) runs[i] = measured[i].run;
    if (status == GS_OK) status = write_report(call, runs, error);
    for (size_t i = 0; measured && i < call->file_count; i++) gs_report_measured_free(&measured[i]);
    gs_free(measured);
    gs_free(runs);
    return status;
}

int main(int argc, char **argv) {
    static const struct gs_command command = {
        .name = "report",
        .summary = "all analyses of a trace as one page with figures, JSON and CSV",
        .synopsis = "TRACE… -o DIR [options]",
        .description =
            "Measures geometry, default token, horizon, retention and loss by position of each "
            "trace, and makes a folder that needs nothing but itself: index.html (open it in a "
            "browser; no network is used), figures/*.svg (drawn by gnuplot), results.json and "
            "csv/*.csv. What cannot be made for want of an input is a panel that says which. "
            "Traces of one run at different steps, of one seed or several, are drawn against the "
            "step as well.\n"
            "\n"
            "Example: a trained model beside itself at step 0\n"
            "  gpnscope report run.h5 --null start.h5 --checkpoint run.safetensors \\\n"
            "    --tokenizer tokenizer.model --counts data/train -o report",
        .options = options,
        .common = GS_REPLACES_FOLDER | GS_TAKES_OUTPUT | GS_TAKES_SEED,
        .min_files = 1,
        .max_files = 0,
        .run = run};
    return gs_command_main(&command, argc, argv);
}
