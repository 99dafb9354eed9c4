#include "analyses/default_token/default_token.h"
#include "analyses/programs/measure_call.h"
#include "core/programs/command.h"

static const char *stream, *null_path, *null_checkpoint;
static const char *tokenizer;
static const char *counts;
static size_t top = GS_DEFAULT_TOP;
static size_t skip_first;
static size_t replicates = GS_DEFAULT_REPLICATES;
static size_t draws = GS_DEFAULT_DRAWS;

static const struct gs_option options[] = {
    {"stream", GS_OPTION_TEXT, &stream, "NAME",
     "Which states of the trace: predicted, layer00, …; all: each that the model decodes, and one "
     "table over them. Default: the ones that the model itself predicts from.",
     NULL},
    {"tokenizer", GS_OPTION_TEXT, &tokenizer, "FILE",
     "SentencePiece model, so that tokens are shown as pieces. Without it: ids alone.", NULL},
    {"counts", GS_OPTION_TEXT, &counts, "DATA",
     "Training text (shard folder, .bin, or .txt/.jsonl with --tokenizer) whose tokens are "
     "counted. Default: the trace's own tokens.",
     NULL},
    {"top", GS_OPTION_SIZE, &top, "N", "Tokens shown and compared. Default: 10.", NULL},
    {"skip-first", GS_OPTION_SIZE, &skip_first, "N",
     "Leave out the first N rows of each sequence. Default: 0.", NULL},
    {"null", GS_OPTION_TEXT, &null_path, "TRACE",
     "A trace of the untrained model on the same text. It is measured the same way: null.X, and "
     "for "
     "every X with an interval ratio.X and difference.X, trained against untrained.",
     NULL},
    {"null-checkpoint", GS_OPTION_TEXT, &null_checkpoint, "FILE",
     "The checkpoint that the --null trace was made with.", NULL},
    {"bootstrap", GS_OPTION_SIZE, &replicates, "N",
     "Replicates for the 95 % intervals; 0 turns them off. Default: 200.", NULL},
    {"draws", GS_OPTION_SIZE, &draws, "N",
     "Random directions, and shuffles of the counts, to compare with. Default: 500, at most "
     "1000000.",
     NULL},
    {NULL, GS_OPTION_FLAG, NULL, NULL, NULL, NULL}};

static enum gs_status check_options(struct gs_error *error) {
    if (!null_path != !null_checkpoint) {
        gs_fail(error, GS_USAGE, "--null and --null-checkpoint belong together");
        gs_error_expected(error, "a trace of the untrained model, and its checkpoint");
        gs_error_found(error, "%s alone", null_path ? "--null" : "--null-checkpoint");
        return GS_USAGE;
    }
    if (top > 0 && draws > 0 && draws <= GS_DEFAULT_MOST_DRAWS) return GS_OK;
    if (draws > GS_DEFAULT_MOST_DRAWS) {
        gs_fail(error, GS_USAGE, "--draws is more than a control needs");
        gs_error_expected(error, "1 to %d", GS_DEFAULT_MOST_DRAWS);
        gs_error_found(error, "%zu", draws);
        gs_error_next(error, "draw fewer: with 10000 a share is known to better than 0.01");
        return GS_USAGE;
    }
    gs_fail(error, GS_USAGE, "%s is 0", top == 0 ? "--top" : "--draws");
    gs_error_expected(error, "at least 1");
    return GS_USAGE;
}

static enum gs_status measure_one(const struct gs_call *call, struct gs_trace *trace,
                                  bool untrained, struct gs_results *results,
                                  struct gs_error *error) {
    struct gs_default_options how = {.top = top,
                                     .skip_first = skip_first,
                                     .replicates = replicates,
                                     .draws = draws,
                                     .seed = call->seed,
                                     .progress = call->progress};
    const struct gs_default_inputs inputs = {untrained ? null_checkpoint : call->files[1],
                                             tokenizer, counts};
    return gs_call_names_all(stream)
               ? gs_default_token_of_streams(trace, false, &inputs, &how, results, error)
               : gs_default_token_of_trace(trace, stream, &inputs, &how, results, error);
}

static enum gs_status measure(const struct gs_call *call, struct gs_trace *trace,
                              struct gs_results *results, struct gs_error *error) {
    enum gs_status status =
        gs_call_measure_beside(call, trace, null_path, measure_one, results, error);
    return status == GS_OK ? gs_call_finish(call, results, error) : status;
}

static enum gs_status run(const struct gs_call *call, struct gs_error *error) {
    enum gs_status status = check_options(error);
    return status == GS_OK ? gs_call_measure(call, "default", measure, error) : status;
}

int main(int argc, char **argv) {
    static const struct gs_command command = {
        .name = "default",
        .summary = "the tokens that the mean state predicts, against controls",
        .synopsis = "TRACE CHECKPOINT [options]",
        .description =
            "Decodes the default of a model in three ways: the mean state, the mean of the\n"
            "logits, the mean of the probabilities. Shows the top tokens of each, the rank\n"
            "correlation of all tokens with unigram counts, and the same for controls: the\n"
            "mean embedding, random directions of the same norm, shuffled counts.\n"
            "The checkpoint must be the one that the trace was made with. The states of a layer\n"
            "are decoded through what the model puts between its last layer and its logits (the\n"
            "final norm and the output matrix); the output says through what.\n"
            "Tables: default_tokens, default_control_tokens, controls; with --stream all\n"
            "default_by_stream and default_token_by_stream.\n"
            "\n"
            "Example:\n"
            "  gpnscope default run.h5 run_final.safetensors --tokenizer tok.model \\\n"
            "      --counts shards\n"
            "Example: what training has changed\n"
            "  gpnscope default run.h5 run_final.safetensors --null start.h5 \\\n"
            "      --null-checkpoint run_0.safetensors --counts shards\n"
            "Example: all layers of a model\n"
            "  gpnscope default run.h5 run_final.safetensors --stream all",
        .options = options,
        .common = GS_TAKES_JSON | GS_TAKES_SEED,
        .min_files = 2,
        .max_files = 2,
        .run = run};
    return gs_command_main(&command, argc, argv);
}
