/* gpnscope check - validate a file to its last value; exit 1 names the fault. */
#include "probes/inspect/check.h"
#include "core/programs/command.h"
#include "probes/programs/version.h"

#include <stdio.h>

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

static enum gs_status run(const struct gs_call *call, struct gs_error *error) {
    char summary[256];
    const char *path = call->files[0];
    enum gs_status status = gs_check_file(path, call->progress, summary, sizeof summary, error);
    if (status == GS_OK && !call->quiet) printf("%s: good: %s\n", path, summary);
    return missing_verdict(path, verdict(status));
}

int main(int argc, char **argv) {
    static const struct gs_command command = {
        .name = "check",
        .summary = "validate a file to its last value; exit 1 names the fault",
        .synopsis = "FILE",
        .description =
            "Reads everything in a checkpoint, trace, folder of token shards, file of ids,\n"
            "training config, tokenizer or results, told apart by content. Says that it is good\n"
            "(exit 0), or names the first fault and its place (exit 1). A file that cannot be\n"
            "opened gives exit 3.\n"
            "\n"
            "  gpnscope check run.trace.h5",
        .min_files = 1,
        .max_files = 1,
        .run = run,
        .version = gs_probes_version,
    };
    return gs_command_main(&command, argc, argv);
}
