/* gpnscope trace - record every state and gate of a run into an HDF5 file. */
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/checkpoint/checkpoint.h"
#include "core/programs/command.h"
#include "core/results/results.h"
#include "core/text/tokens.h"
#include "probes/programs/version.h"
#include "probes/trace/recording.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static size_t length, skip, sequences, batch = 16, deflate;
static bool length_given;
static const char *weights = "f32", *streams, *dtype = "f32", *tokenizer;

static const struct gs_option options[] = {
    {"length", GS_OPTION_SIZE, &length, "N",
     "Tokens of a window. Each window is one sequence and starts from a reset state. Default: "
     "1024, "
     "or all tokens where they are fewer.",
     &length_given},
    {"skip", GS_OPTION_SIZE, &skip, "N", "Windows to leave out at the head of DATA. Default: 0.",
     NULL},
    {"sequences", GS_OPTION_SIZE, &sequences, "N",
     "Windows to record. Default: all whole ones; what is left over is counted and said.", NULL},
    {"batch", GS_OPTION_SIZE, &batch, "N",
     "Windows side by side. Changes speed and memory, not one bit of the trace. Default: 16.",
     NULL},
    {"weights", GS_OPTION_TEXT, &weights, "f32|bf16",
     "Run with the weights as they are, or rounded to bfloat16 as the authors' bf16 mode does. "
     "Default: f32.",
     NULL},
    {"streams", GS_OPTION_TEXT, &streams, "LIST",
     "State streams to record, separated by commas, such as predicted,grounded. Default: all that "
     "the model has.",
     NULL},
    {"dtype", GS_OPTION_TEXT, &dtype, "f32|f16|bf16",
     "How states are stored; gates and losses are always f32. Default: f32.", NULL},
    {"deflate", GS_OPTION_SIZE, &deflate, "N",
     "Compress at level 1 to 9. States hardly shrink. Default: 0, not at all.", NULL},
    {"tokenizer", GS_OPTION_TEXT, &tokenizer, "FILE",
     "SentencePiece model; needed when DATA is text, otherwise its hash is recorded.", NULL},
    {NULL, GS_OPTION_FLAG, NULL, NULL, NULL, NULL}};

static enum gs_status fail_choice(const char *option, const char *expected, const char *found,
                                  struct gs_error *error) {
    gs_fail(error, GS_USAGE, "--%s does not know \"%s\"", option, found);
    gs_error_expected(error, "%s", expected);
    return GS_USAGE;
}

static const char *long_dtype(void) {
    if (strcmp(dtype, "f32") == 0) return "float32";
    if (strcmp(dtype, "f16") == 0) return "float16";
    if (strcmp(dtype, "bf16") == 0) return "bfloat16";
    return NULL;
}

static enum gs_status check_options(const struct gs_call *call, struct gs_error *error) {
    if (!call->output) {
        gs_fail(error, GS_USAGE, "there is no output");
        gs_error_next(error, "name the trace to write with -o TRACE");
        return GS_USAGE;
    }
    if (length_given && length == 0) return fail_choice("length", "at least 1 token", "0", error);
    if (batch == 0) return fail_choice("batch", "at least 1", "0", error);
    if (deflate > 9) return fail_choice("deflate", "0 … 9", "a number above 9", error);
    if (strcmp(weights, "f32") != 0 && strcmp(weights, "bf16") != 0)
        return fail_choice("weights", "f32 or bf16", weights, error);
    if (!long_dtype()) return fail_choice("dtype", "f32, f16 or bf16", dtype, error);
    return GS_OK;
}

/* What the recorder cannot know by itself. */
static enum gs_status fill_labels(const struct gs_call *call,
                                  const struct gs_checkpoint_info *checkpoint,
                                  char tokenizer_sha256[GS_SHA256_TEXT],
                                  struct gs_trace_labels *labels, struct gs_error *error) {
    *labels = (struct gs_trace_labels){.command = call->command_line,
                                       .checkpoint_sha256 = checkpoint->sha256,
                                       .step = checkpoint->step,
                                       .seed = checkpoint->seed,
                                       .threads = -1};
    if (!tokenizer) return GS_OK;
    labels->tokenizer_sha256 = tokenizer_sha256;
    return gs_sha256_path(tokenizer, tokenizer_sha256, error);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static enum gs_status report(const struct gs_call *call,
                             const struct gs_checkpoint_info *checkpoint,
                             const struct gs_tokens *tokens, const struct gs_recorded *recorded,
                             double seconds, struct gs_error *error) {
    const struct gs_windows *windows = &recorded->windows;
    struct gs_results *results = gs_results_create("trace");
    if (!results) return gs_fail_memory(error, 0, "results");
    uint64_t rows = windows->used;
    uint64_t own = rows - (uint64_t)recorded->first * windows->length; /* of this run */
    double loss = recorded->nll_count ? recorded->nll_sum / (double)recorded->nll_count : NAN;
    enum gs_status status = gs_results_source(results, call->files[0], checkpoint->sha256, error);
    if (status == GS_OK)
        status = gs_results_source(results, call->files[1], gs_tokens_sha256(tokens), error);
    const struct {
        const char *name, *unit;
        double value;
        uint64_t n;
    } values[] = {
        {"rows", "1", (double)rows, rows},
        {"sequences", "1", (double)windows->count, windows->count},
        {"length", "token", (double)windows->length, windows->count},
        {"tokens_skipped", "token", (double)windows->first, windows->total},
        {"tokens_unused", "token", (double)gs_windows_dropped(windows), windows->total},
        {"loss", "nat/token", loss, recorded->nll_count},
        {"rows_per_second", "1/s", seconds > 0 ? (double)own / seconds : NAN, own},
    };
    for (size_t i = 0; status == GS_OK && i < sizeof values / sizeof *values; i++)
        status = gs_results_number(results, values[i].name, values[i].value, values[i].unit,
                                   values[i].n, error);
    if (status == GS_OK) status = gs_call_finish(call, results, error);
    gs_results_destroy(results);
    return status;
}

static enum gs_status record(const struct gs_call *call, struct gs_model *model,
                             const struct gs_checkpoint_info *checkpoint,
                             const struct gs_tokens *tokens, struct gs_error *error) {
    char tokenizer_sha256[GS_SHA256_TEXT];
    struct gs_recording recording = {.length = length,
                                     .skip = skip,
                                     .sequences = sequences,
                                     .batch = batch,
                                     .bf16 = strcmp(weights, "bf16") == 0,
                                     .choice = {streams, long_dtype()},
                                     .deflate = (int)deflate,
                                     .resume = call->resume};
    struct gs_recorded recorded;
    enum gs_status status =
        fill_labels(call, checkpoint, tokenizer_sha256, &recording.labels, error);
    double began = now();
    if (status == GS_OK)
        status = gs_record(model, tokens, &recording, call->output, call->force, call->progress,
                           &recorded, error);
    if (status != GS_OK) return status;
    if (recorded.first > 0)
        gs_call_message(call, "%zu of %" PRIu64 " sequences were there already", recorded.first,
                        recorded.windows.count);
    gs_call_message(call, "wrote %s: %" PRIu64 " rows in %" PRIu64 " sequences", call->output,
                    recorded.windows.used, recorded.windows.count);
    return report(call, checkpoint, tokens, &recorded, now() - began, error);
}

static enum gs_status run(const struct gs_call *call, struct gs_error *error) {
    struct gs_model *model = NULL;
    struct gs_tokens *tokens = NULL;
    struct gs_checkpoint_info checkpoint;
    enum gs_status status = check_options(call, error);
    if (status == GS_OK) status = gs_call_check_outputs(call, error);
    if (status == GS_OK) status = gs_checkpoint_load(call->files[0], &model, &checkpoint, error);
    if (status == GS_OK) status = gs_tokens_open(call->files[1], tokenizer, &tokens, error);
    if (status == GS_OK) status = record(call, model, &checkpoint, tokens, error);
    gs_tokens_close(tokens);
    gs_model_destroy(model);
    return status;
}

int main(int argc, char **argv) {
    static const struct gs_command command = {
        .name = "trace",
        .summary = "record every state and gate of a run into an HDF5 file",
        .synopsis = "CHECKPOINT DATA -o TRACE",
        .description =
            "Runs a model over windows of DATA and writes what happened at every token: the "
            "token,\n"
            "its loss, the state vectors, and the gates of the memory heads. TRACE is an HDF5 "
            "file\n"
            "that h5py, HDFView and h5dump open; the measuring commands read it.\n"
            "\n"
            "DATA is a folder of token shards, one .bin file of ids, or text (.txt, .jsonl) with\n"
            "--tokenizer. The space needed is compared with what is free before the first row. A\n"
            "run that is stopped leaves an incomplete trace whose written rows are right; with\n"
            "--resume it goes on from there, and ends with the bits of a run that never stopped.\n"
            "\n"
            "  gpnscope trace model_final.safetensors heldout -o run.trace.h5 --length 512",
        .options = options,
        .common = GS_TAKES_OUTPUT | GS_TAKES_JSON | GS_TAKES_RESUME,
        .min_files = 2,
        .max_files = 2,
        .run = run,
        .version = gs_probes_version,
    };
    return gs_command_main(&command, argc, argv);
}
