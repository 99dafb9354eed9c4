/* gpnscope info - what a file holds. */
#include "core/programs/command.h"
#include "core/results/results.h"
#include "probes/inspect/describe.h"
#include "probes/programs/version.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Everything is shown, however many tensors there are. */
static enum gs_status show(const struct gs_call *call, struct gs_results *results,
                           struct gs_error *error) {
    struct gs_call silent = *call;
    silent.quiet = true;
    enum gs_status status = gs_call_finish(&silent, results, error);
    bool shown = call->json && strcmp(call->json, "-") == 0;
    if (status != GS_OK || call->quiet || shown) return status;
    return gs_results_print(results, stdout, SIZE_MAX, error);
}

static enum gs_status run(const struct gs_call *call, struct gs_error *error) {
    struct gs_results *results = NULL;
    enum gs_status status = gs_call_check_outputs(call, error);
    if (status == GS_OK) status = gs_describe_file(call->files[0], &results, error);
    if (status == GS_OK) status = show(call, results, error);
    gs_results_destroy(results);
    return status;
}

int main(int argc, char **argv) {
    static const struct gs_command command = {
        .name = "info",
        .summary = "say what a checkpoint, trace, shard folder or result holds",
        .synopsis = "FILE",
        .description =
            "Tells what a file is from its content, whatever its name, and what is in it:\n"
            "\n"
            "  checkpoint   kind, config, number of parameters, each tensor's shape and norm\n"
            "  trace        model, rows, sequences, whether it is complete, streams, memories\n"
            "  token shards, a file of ids, a training config, a tokenizer, results\n"
            "\n"
            "It reads as little as that takes; gpnscope check reads every value.\n"
            "\n"
            "  gpnscope info model_final.safetensors",
        .common = GS_TAKES_JSON,
        .min_files = 1,
        .max_files = 1,
        .run = run,
        .version = gs_probes_version,
    };
    return gs_command_main(&command, argc, argv);
}
