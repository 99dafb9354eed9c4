/* gpnscope check - validate a file to its last value; exit 1 names the fault. */
#include "probes/inspect/check.h"
#include "core/base/visible.h"
#include "core/programs/command.h"
#include "core/results/results.h"
#include "probes/programs/version.h"

#include <stdio.h>
#include <string.h>

/* A file that cannot be read at all is bad input; what its bytes say wrong is a failed check. */
static enum gs_status verdict(enum gs_status status) {
    switch (status) {
    case GS_FORMAT:
    case GS_SHAPE:
    case GS_RANGE:
    case GS_CONFIG:
    case GS_UNSUPPORTED:
    case GS_NUMERIC:
        return GS_CHECK_FAILED;
    default:
        return status;
    }
}

/* A dataset that is missing inside a file that is there is a fault, too. */
static enum gs_status missing_verdict(const char *path, enum gs_status status) {
    if (status != GS_MISSING) return status;
    FILE *stream = fopen(path, "rb");
    if (!stream) return status;
    fclose(stream);
    return GS_CHECK_FAILED;
}

/* For --json and --csv: good is 1 or 0, and the note says what was found. */
static enum gs_status write_results(const struct gs_call *call, enum gs_status found,
                                    const char *note, struct gs_error *error) {
    struct gs_call silent = *call;
    struct gs_results *results = gs_results_create("check");
    if (!results) return gs_fail_memory(error, 0, "results");
    silent.quiet = true; /* the table for people is the one line below */
    enum gs_status status =
        gs_results_number(results, "good", found == GS_OK ? 1 : 0, "1", 1, error);
    if (status == GS_OK) status = gs_results_source(results, call->files[0], NULL, error);
    if (status == GS_OK) status = gs_results_note(results, note, error);
    if (status == GS_OK) status = gs_call_finish(&silent, results, error);
    gs_results_destroy(results);
    return status;
}

static void print_good(const char *path, const char *summary) {
    gs_visible_put(stdout, path, 0);
    printf(": good: ");
    gs_visible_put(stdout, summary, 0);
    printf("\n");
}

static enum gs_status run(const struct gs_call *call, struct gs_error *error) {
    char summary[256], text[2048];
    const char *path = call->files[0];
    struct gs_error fault;
    enum gs_status status = gs_call_check_outputs(call, error);
    if (status != GS_OK) return status;
    status = gs_check_file(path, call->progress, summary, sizeof summary, &fault);
    status = missing_verdict(path, verdict(status));
    bool decided = status == GS_OK || status == GS_CHECK_FAILED;
    if (decided && (call->json || call->csv)) {
        const char *note = status == GS_OK ? summary : gs_error_text(&fault, text, sizeof text);
        enum gs_status written = write_results(call, status, note, error);
        if (written != GS_OK) return written;
    }
    if (status != GS_OK) {
        if (error) *error = fault;
        return status;
    }
    bool shown = call->json && strcmp(call->json, "-") == 0;
    if (!call->quiet && !shown) print_good(path, summary);
    return GS_OK;
}

int main(int argc, char **argv) {
    static const struct gs_command command = {
        .name = "check",
        .summary = "validate a file to its last value; exit 1 names the fault",
        .synopsis = "FILE",
        .description =
            "Reads everything in a checkpoint, trace, folder of token shards, file of ids,\n"
            "training config, tokenizer, results, claims or numpy's arrays, told apart by\n"
            "content. Says that it is good (exit 0), or names the first fault and its place\n"
            "(exit 1). A file that cannot be opened gives exit 3.\n"
            "\n"
            "  gpnscope check run.trace.h5",
        .common = GS_TAKES_JSON,
        .min_files = 1,
        .max_files = 1,
        .run = run,
        .version = gs_probes_version,
    };
    return gs_command_main(&command, argc, argv);
}
