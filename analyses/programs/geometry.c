#include "analyses/geometry/geometry.h"
#include "analyses/programs/measure_call.h"
#include "core/programs/command.h"

static const char *stream, *null_path;
static size_t skip_first;
static size_t replicates;
static bool replicates_given;

static const struct gs_option options[] = {
    {"stream", GS_OPTION_TEXT, &stream, "NAME",
     "Which states of the trace: predicted, grounded, layer00, …; all: each by itself, and one "
     "table over them. Default: predicted or final, or the only stream there is.",
     NULL},
    {"skip-first", GS_OPTION_SIZE, &skip_first, "N",
     "Leave out the first N rows of each sequence, where the state is still filling up from zero. "
     "Default: 0.",
     NULL},
    {"null", GS_OPTION_TEXT, &null_path, "TRACE",
     "A trace of the untrained model on the same text. It is measured the same way: null.X, and "
     "for "
     "every X with an interval ratio.X and difference.X, trained against untrained.",
     NULL},
    {"bootstrap", GS_OPTION_SIZE, &replicates, "N",
     "Replicates for the 95 % intervals; 0 turns them off. Default: 1000 up to 320 dimensions, "
     "fewer above (each costs an eigenvalue decomposition), at least 200.",
     &replicates_given},
    {NULL, GS_OPTION_FLAG, NULL, NULL, NULL, NULL}};

static enum gs_status measure_one(const struct gs_call *call, struct gs_trace *trace,
                                  bool untrained, struct gs_results *results,
                                  struct gs_error *error) {
    (void)untrained;
    struct gs_geometry_options how = {.skip_first = skip_first,
                                      .replicates_given = replicates_given,
                                      .replicates = replicates,
                                      .seed = call->seed,
                                      .progress = call->progress};
    return gs_call_names_all(stream) ? gs_geometry_of_streams(trace, NULL, &how, results, error)
                                     : gs_geometry_of_trace(trace, stream, &how, results, error);
}

static enum gs_status measure(const struct gs_call *call, struct gs_trace *trace,
                              struct gs_results *results, struct gs_error *error) {
    enum gs_status status =
        gs_call_measure_beside(call, trace, null_path, measure_one, results, error);
    return status == GS_OK ? gs_call_finish(call, results, error) : status;
}

static enum gs_status run(const struct gs_call *call, struct gs_error *error) {
    return gs_call_measure(call, "geometry", measure, error);
}

int main(int argc, char **argv) {
    static const struct gs_command command = {
        .name = "geometry",
        .summary = "norms, correlations, spectrum and dimension of the states",
        .synopsis = "TRACE [options]",
        .description =
            "Measures a stream of state vectors in one pass: their norm, how much of it the\n"
            "mean state holds, each dimension's deviation, correlations between dimensions,\n"
            "the spectrum of the covariance, and how many dimensions that is by several\n"
            "measures. Each comes with a 95 % interval from a bootstrap over whole\n"
            "sequences. Memory is O(d^2), whatever the number of rows.\n"
            "Tables: spectrum, spectrum_cumulative, dim_std, running_mean_cosine,\n"
            "corr_histogram; with --stream all geometry_by_stream, and those of each stream\n"
            "behind its name, stream.NAME.spectrum.\n"
            "\n"
            "Example: the geometry after the first 64 tokens, also as JSON\n"
            "  gpnscope geometry run.h5 --skip-first 64 --json geometry.json\n"
            "Example: what training has changed\n"
            "  gpnscope geometry run.h5 --null start.h5\n"
            "Example: all layers of a model side by side\n"
            "  gpnscope geometry run.h5 --stream all --csv layers",
        .options = options,
        .common = GS_TAKES_JSON | GS_TAKES_SEED,
        .min_files = 1,
        .max_files = 1,
        .run = run};
    return gs_command_main(&command, argc, argv);
}
