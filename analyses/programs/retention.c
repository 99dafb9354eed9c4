#include "analyses/retention/retention.h"
#include "analyses/programs/measure_call.h"
#include "core/programs/command.h"
#include "core/results/results.h"

static const char *memory, *null_path;
static size_t max_lag;
static bool max_lag_given, log_lags;
static size_t replicates = GS_BOOTSTRAP_REPLICATES;

static const struct gs_option options[] = {
    {"memory", GS_OPTION_TEXT, &memory, "NAME",
     "Which memory of the trace, where there are several (layer00, …); all: each by itself, and "
     "one "
     "table over them. Default: the only one, or the first.",
     NULL},
    {"max-lag", GS_OPTION_SIZE, &max_lag, "N",
     "Longest lag in tokens. Default: 4096, cut to the longest sequence less one.", &max_lag_given},
    {"log-lags", GS_OPTION_FLAG, &log_lags, NULL,
     "Measure lags 1, 2, 4, 8, … alone: many times faster, and lags between them are interpolated.",
     NULL},
    {"null", GS_OPTION_TEXT, &null_path, "TRACE",
     "A trace of the untrained model on the same text. Its heads are measured the same way, as "
     "null.retention.…, so that one sees what training has changed.",
     NULL},
    {"bootstrap", GS_OPTION_SIZE, &replicates, "N",
     "Replicates for the 95 % intervals; 0 turns them off. Default: 1000.", NULL},
    {NULL, GS_OPTION_FLAG, NULL, NULL, NULL, NULL}};

static enum gs_status measure_beside(const struct gs_call *call, struct gs_trace *trace,
                                     struct gs_trace *null, struct gs_results *results,
                                     struct gs_error *error) {
    const struct gs_retention_plan plan = {.max_lag = max_lag, .powers = log_lags};
    const struct gs_bootstrap bootstrap = {call->seed, replicates, call->progress};
    enum gs_status status = gs_results_source_meanwhile(results, call->files[0], call->json, error);
    if (status == GS_OK && null)
        status = gs_results_source_meanwhile(results, null_path, call->json, error);
    if (status == GS_OK)
        status = gs_call_names_all(memory)
                     ? gs_retention_of_memories(trace, NULL, null, &plan, &bootstrap,
                                                call->progress, results, error)
                     : gs_retention_of_trace(trace, memory, null, &plan, &bootstrap, call->progress,
                                             results, error);
    return status == GS_OK ? gs_call_finish(call, results, error) : status;
}

static enum gs_status measure(const struct gs_call *call, struct gs_trace *trace,
                              struct gs_results *results, struct gs_error *error) {
    struct gs_trace *null = NULL;
    enum gs_status status = null_path ? gs_call_open_trace(call, null_path, &null, error) : GS_OK;
    if (status == GS_OK) status = measure_beside(call, trace, null, results, error);
    gs_trace_close(null);
    return status;
}

static enum gs_status run(const struct gs_call *call, struct gs_error *error) {
    if (!max_lag_given || max_lag > 0) return gs_call_measure(call, "retention", measure, error);
    gs_fail(error, GS_USAGE, "--max-lag must be at least 1");
    gs_error_found(error, "0");
    return GS_USAGE;
}

int main(int argc, char **argv) {
    static const struct gs_command command = {
        .name = "retention",
        .summary = "how long each memory head keeps what it holds",
        .synopsis = "TRACE [options]",
        .description =
            "Measures, from the gates of each memory head, which share of what it holds is left "
            "after k tokens, on average over all places in the text. Gives for each head the lag "
            "at which that falls to 1/e (efold, which the paper calls half-life) and to 1/2 "
            "(half_life), the same from the mean gates (geometric_efold, arithmetic_efold), and "
            "what survives along a key that is written again (key_retention_efold), each with a "
            "95 % interval over sequences. A head that does not fall so far within the window is "
            "censored, with the bound; one that forgets nothing says none.\n"
            "split.verdict says whether the heads are two pools, fast and slow: two_pools, "
            "continuum, one_pool or undecided, with the reasons as a note and every p-value behind "
            "it. split.fast and split.slow count heads by the paper's rule: fast up to 3 tokens, "
            "slow from 5 on. Untrained heads are spread already, so compare with --null. Every "
            "definition is in analyses/retention/retention.h and analyses/split/README.md.\n"
            "\n"
            "Example: the heads before and after training\n"
            "  gpnscope retention trained.h5 --null untrained.h5 --json retention.json\n"
            "Example: the memories of all layers side by side\n"
            "  gpnscope retention run.h5 --memory all",
        .options = options,
        .common = GS_TAKES_JSON | GS_TAKES_SEED,
        .min_files = 1,
        .max_files = 1,
        .run = run};
    return gs_command_main(&command, argc, argv);
}
