#include "analyses/horizon/horizon.h"
#include "analyses/programs/measure_call.h"
#include "core/programs/command.h"
#include "core/results/results.h"

static const char *stream, *null_path;
static size_t max_lag;
static bool max_lag_given, all_lags;
static size_t replicates = GS_BOOTSTRAP_REPLICATES;

static const struct gs_option options[] = {
    {"stream", GS_OPTION_TEXT, &stream, "NAME",
     "Which states of the trace: predicted, grounded, layer00, …; all: each by itself, and one "
     "table over them. Default: predicted or final, or the only stream there is.",
     NULL},
    {"max-lag", GS_OPTION_SIZE, &max_lag, "N",
     "Longest lag in tokens. Default: 2048, cut to the longest sequence less one.", &max_lag_given},
    {"all-lags", GS_OPTION_FLAG, &all_lags, NULL,
     "Measure every lag, not 1, 2, 4, 8, …; the cost grows with rows times lags.", NULL},
    {"null", GS_OPTION_TEXT, &null_path, "TRACE",
     "A trace of the untrained model on the same text. It is measured the same way: null.X, and "
     "for "
     "every X with an interval ratio.X and difference.X, trained against untrained.",
     NULL},
    {"bootstrap", GS_OPTION_SIZE, &replicates, "N",
     "Replicates for the 95 % intervals; 0 turns them off. Default: 1000.", NULL},
    {NULL, GS_OPTION_FLAG, NULL, NULL, NULL, NULL}};

static enum gs_status measure_one(const struct gs_call *call, struct gs_trace *trace,
                                  bool untrained, struct gs_results *results,
                                  struct gs_error *error) {
    (void)untrained;
    const struct gs_horizon_plan plan = {
        .max_lag = max_lag, .all_lags = all_lags, .seed = call->seed};
    const struct gs_bootstrap bootstrap = {call->seed, replicates, call->progress};
    return gs_call_names_all(stream) ? gs_horizon_of_streams(trace, NULL, &plan, &bootstrap,
                                                             call->progress, results, error)
                                     : gs_horizon_of_trace(trace, stream, &plan, &bootstrap,
                                                           call->progress, results, error);
}

static enum gs_status measure(const struct gs_call *call, struct gs_trace *trace,
                              struct gs_results *results, struct gs_error *error) {
    enum gs_status status =
        gs_call_measure_beside(call, trace, null_path, measure_one, results, error);
    return status == GS_OK ? gs_call_finish(call, results, error) : status;
}

static enum gs_status run(const struct gs_call *call, struct gs_error *error) {
    if (max_lag_given && max_lag == 0) {
        gs_fail(error, GS_USAGE, "--max-lag must be at least 1");
        gs_error_found(error, "0");
        return GS_USAGE;
    }
    return gs_call_measure(call, "horizon", measure, error);
}

int main(int argc, char **argv) {
    static const struct gs_command command = {
        .name = "horizon",
        .summary = "how long states stay alike: cosine by lag",
        .synopsis = "TRACE [options]",
        .description =
            "Measures the mean cosine of two states that lie k tokens apart in one sequence, for "
            "k = 1, 2, 4, …: as they are (raw), minus the mean of their own sequence "
            "(centered_sequence), minus the mean of all states (centered_global), and between "
            "states of different documents (null). A raw curve that falls no lower than the null "
            "remembers nothing of the text there: what is left is common to all states.\n"
            "With --stream all the table horizon_by_stream sets the streams side by side.\n"
            "Gives the curves with 95 % intervals over sequences, the plateau (mean over all lags "
            "from half the longest on), and the lags where the centred curves fall to 1/e and to "
            "0. Every definition is in analyses/horizon/horizon.h.\n"
            "\n"
            "Example: every lag up to 512, curves as CSV\n"
            "  gpnscope horizon run.h5 --max-lag 512 --all-lags --csv horizon",
        .options = options,
        .common = GS_TAKES_JSON | GS_TAKES_SEED,
        .min_files = 1,
        .max_files = 1,
        .run = run};
    return gs_command_main(&command, argc, argv);
}
