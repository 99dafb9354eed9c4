/* gpnscope curve - how training went, as a picture. */
#include "reports/figures/curve.h"
#include "core/base/memory.h"
#include "core/programs/command.h"

#include <string.h>

static const struct gs_option options[] = {{NULL, GS_OPTION_FLAG, NULL, NULL, NULL, NULL}};

static enum gs_status check_call(const struct gs_call *call, struct gs_error *error) {
    if (!call->output) {
        gs_fail(error, GS_USAGE, "a picture needs a place");
        gs_error_expected(error, "-o FILE.svg");
        return GS_USAGE;
    }
    if (call->file_count > GS_MOST_CURVES) {
        gs_fail(error, GS_USAGE, "more runs than can be told apart in one picture");
        gs_error_expected(error, "at most %d", GS_MOST_CURVES);
        gs_error_found(error, "%zu", call->file_count);
        return GS_USAGE;
    }
    return gs_call_check_outputs(call, error);
}

/* "runs/NAME_train_log.csv" -> "NAME"; other names stay as they are. New (gs_free). */
static char *name_of(const char *path) {
    static const char tail[] = "_train_log.csv";
    const char *slash = strrchr(path, '/');
    char *name = gs_strdup(slash ? slash + 1 : path);
    size_t length = name ? strlen(name) : 0;
    if (length >= sizeof tail && strcmp(name + length - (sizeof tail - 1), tail) == 0)
        name[length - (sizeof tail - 1)] = '\0';
    return name;
}

static enum gs_status draw(const struct gs_call *call, const struct gs_named_curve *curves,
                           struct gs_error *error) {
    const struct gs_plot_size size = {.width = 760, .height = 560};
    struct gs_plot plot = {0};
    gs_curve_plot(curves, call->file_count, &plot);
    enum gs_status status;
    if (plot.empty) {
        status = gs_fail(error, GS_FORMAT, "there is nothing to draw: %s", plot.empty);
        gs_error_where(error, "%s", call->files[0]);
    } else {
        status = gs_plot_draw(&plot, &size, call->output, error);
    }
    gs_plot_free(&plot);
    return status;
}

static enum gs_status run(const struct gs_call *call, struct gs_error *error) {
    struct gs_named_curve curves[GS_MOST_CURVES] = {0};
    char *names[GS_MOST_CURVES] = {0};
    enum gs_status status = check_call(call, error);
    if (status != GS_OK) return status;
    for (size_t i = 0; i < call->file_count && status == GS_OK; i++) {
        names[i] = name_of(call->files[i]);
        curves[i].name = names[i];
        status = names[i] ? gs_training_curve_read(call->files[i], &curves[i].curve, error)
                          : gs_fail_memory(error, strlen(call->files[i]), "a name");
    }
    if (status == GS_OK) status = draw(call, curves, error);
    if (status == GS_OK) gs_call_message(call, "the picture is %s", call->output);
    for (size_t i = 0; i < GS_MOST_CURVES; i++) {
        gs_training_curve_free(&curves[i].curve);
        gs_free(names[i]);
    }
    return status;
}

int main(int argc, char **argv) {
    static const struct gs_command command = {
        .name = "curve",
        .summary = "the loss of training runs by step, as a picture",
        .synopsis = "LOG… -o FILE.svg",
        .description =
            "Draws the logs that train writes (NAME_train_log.csv, also while it is running): the\n"
            "loss by step, and below it learning rate and gradient norm. Several logs share one\n"
            "picture. Every point is a row of the log, nothing is smoothed. Needs gnuplot.\n"
            "\n"
            "  gpnscope curve run/tiny_train_log.csv -o loss.svg",
        .options = options,
        .common = GS_TAKES_OUTPUT,
        .min_files = 1,
        .max_files = 0,
        .run = run};
    return gs_command_main(&command, argc, argv);
}
