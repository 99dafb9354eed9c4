/* A program with every kind of option, which does what its first file says: for command.c here. */
#include "core/programs/command.h"

#include "core/results/results.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *stream = "predicted";
static size_t skip = 7;
static double rtol = 0.5;
static bool fast, stream_given;
static struct gs_list specs;

static const struct gs_option options[] = {
    {"stream", GS_OPTION_TEXT, &stream, "NAME", "Which stream (default: predicted).",
     &stream_given},
    {"skip-first", GS_OPTION_SIZE, &skip, "N",
     "Leave out so many rows at the head of each sequence, where the state still forgets that it "
     "began as zero (default: 7).",
     NULL},
    {"rtol", GS_OPTION_NUMBER, &rtol, "X", "Relative tolerance (default: 0.5).", NULL},
    {"fast", GS_OPTION_FLAG, &fast, NULL, "Be fast.", NULL},
    {"do", GS_OPTION_LIST, &specs, "SPEC", "What to do.", NULL},
    {NULL, GS_OPTION_FLAG, NULL, NULL, NULL, NULL},
};

static const char *said(const char *text) {
    return text ? text : "(none)";
}

static enum gs_status show(const struct gs_call *call) {
    printf("stream=%s given=%d skip=%zu rtol=%.17g fast=%d\n", stream, stream_given, skip, rtol,
           fast);
    for (size_t i = 0; i < specs.count; i++) printf("do=%s\n", specs.items[i]);
    printf("output=%s json=%s csv=%s force=%d resume=%d quiet=%d seed=%" PRIu64 " given=%d\n",
           said(call->output), said(call->json), said(call->csv), call->force, call->resume,
           call->quiet, call->seed, call->seed_given);
    for (size_t i = 0; i < call->file_count; i++) printf("file=%s\n", call->files[i]);
    printf("line=%s\n", call->command_line);
    return GS_OK;
}

static enum gs_status flood(void) {
    for (int i = 0; i < 100000; i++) puts("a line of output that nobody may lose");
    return GS_OK;
}

static enum gs_status measure(const struct gs_call *call, struct gs_error *error) {
    enum gs_status status = gs_call_check_outputs(call, error);
    if (status != GS_OK) return status;
    struct gs_results *results = gs_results_create("probe");
    static const char *const columns[] = {"i"};
    struct gs_table *table = NULL;
    gs_results_number(results, "answer", 42.5, "1", 3, error);
    gs_results_number(results, "unknown", NAN, "1", 3, error);
    gs_results_table(results, "numbers", columns, 1, &table, error);
    for (int64_t i = 0; i < 30; i++)
        gs_table_row(table, &(struct gs_cell){GS_CELL_INTEGER, 0, i, 0}, error);
    status = gs_call_finish(call, results, error);
    gs_results_destroy(results);
    return status;
}

static void pause_briefly(void) {
    nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
}

/* Works until it is told to stop, or for ten seconds. */
static enum gs_status work(const struct gs_call *call, struct gs_error *error) {
    for (int i = 0; i < 500; i++) {
        gs_progress_report(call->progress, i, 500, "loss 4.12");
        if (i == 10) gs_call_message(call, "ready");
        if (gs_progress_stop(call->progress)) {
            gs_call_message(call, "saved");
            return gs_fail(error, GS_INTERRUPTED, "stopped after %d of 500", i);
        }
        pause_briefly();
    }
    return GS_OK;
}

/* A second and a half of work, then a message. */
static enum gs_status work_and_tell(const struct gs_call *call) {
    for (int i = 0; i <= 75; i++) {
        gs_progress_report(call->progress, i, 75, NULL);
        pause_briefly();
    }
    gs_call_message(call, "the model is saved");
    return GS_OK;
}

/* Never asks whether it should stop. */
static enum gs_status be_deaf(const struct gs_call *call) {
    gs_call_message(call, "ready");
    for (int i = 0; i < 500; i++) pause_briefly();
    return GS_OK;
}

static enum gs_status fail_as_told(const char *name, struct gs_error *error) {
    for (int i = 0; i < GS_STATUS_COUNT; i++) {
        enum gs_status status = (enum gs_status)i;
        if (strcmp(gs_status_name(status), name) != 0) continue;
        gs_fail(error, status, "told to fail");
        gs_error_where(error, "some\nfile");
        return status;
    }
    return GS_USAGE;
}

/* A file must never get the number of a standard stream that was closed. */
static enum gs_status open_a_file(struct gs_error *error) {
    int descriptor = open("/dev/null", O_WRONLY);
    if (descriptor > 2) return GS_OK;
    return gs_fail(error, GS_IO, "the file has descriptor %d", descriptor);
}

static enum gs_status run(const struct gs_call *call, struct gs_error *error) {
    const char *what = call->files[0];
    if (strcmp(what, "flood") == 0) return flood();
    if (strcmp(what, "measure") == 0) return measure(call, error);
    if (strcmp(what, "work") == 0) return work(call, error);
    if (strcmp(what, "tell") == 0) return work_and_tell(call);
    if (strcmp(what, "deaf") == 0) return be_deaf(call);
    if (strcmp(what, "open") == 0) return open_a_file(error);
    if (strcmp(what, "outputs") == 0) return gs_call_check_outputs(call, error);
    if (strcmp(what, "silent-failure") == 0) return GS_FORMAT;
    if (strcmp(what, "warn") == 0) {
        gs_call_message(call, "a message of %d", 1);
        gs_call_warning(call, "100 %% of %s", "it");
        return GS_OK;
    }
    if (strncmp(what, "GS_", 3) == 0) return fail_as_told(what, error);
    return show(call);
}

static const char *version(void) {
    return "HDF5      9.9.9";
}

static const struct gs_command command = {
    .name = "probe",
    .summary = "do what a test says",
    .synopsis = "WHAT [FILE]... [options]",
    .description =
        "Shows its options, or fails as told. This line is longer than a terminal is wide and is "
        "to be "
        "filled.\nThis one belongs to it, too.\n\nExample:\n  gpnscope probe show\n    as it is",
    .options = options,
    .common = GS_TAKES_OUTPUT | GS_TAKES_JSON | GS_TAKES_SEED | GS_TAKES_RESUME,
    .min_files = 1,
    .max_files = 3,
    .run = run,
    .version = version,
};

int main(int argc, char **argv) {
    return gs_command_main(&command, argc, argv);
}
