/* gpnscope eval - loss and perplexity of a checkpoint on tokens, in all and by position, or the
 * last words of LAMBADA; of several checkpoints beside each other. */
#include "core/evaluation/loss.h"
#include "core/programs/eval_parts.h"

#include <string.h>

static size_t length_option, skip_option, sequences_option, batch_option = GS_EVALUATION_BATCH;
static bool length_given, sequences_given, skip_given;
static const char *weights_option = "f32", *lambada_option, *tokenizer_option;

static const struct gs_option options[] = {
    {"length", GS_OPTION_SIZE, &length_option, "N",
     "Tokens in a window. Default: 1024, or all tokens where the data has fewer.", &length_given},
    {"skip", GS_OPTION_SIZE, &skip_option, "N", "Pass over the first N windows. Default: 0.",
     &skip_given},
    {"sequences", GS_OPTION_SIZE, &sequences_option, "N",
     "Read N windows. Default: all that are left.", &sequences_given},
    {"batch", GS_OPTION_SIZE, &batch_option, "N",
     "Windows or texts side by side: more is faster and takes more memory, and changes no bit of "
     "the result. Default: 16.",
     NULL},
    {"weights", GS_OPTION_TEXT, &weights_option, "TYPE",
     "f32, or bf16: weights rounded to bfloat16 as in the authors' bf16 training. Default: f32.",
     NULL},
    {"lambada", GS_OPTION_TEXT, &lambada_option, "FILE",
     "Instead of DATA: predict the last word of each text of this JSON Lines file.", NULL},
    {"tokenizer", GS_OPTION_TEXT, &tokenizer_option, "FILE",
     "SentencePiece model that made the data: gives perplexity per byte and per word. Needed for "
     "DATA that is text and for --lambada.",
     NULL},
    {NULL, GS_OPTION_FLAG, NULL, NULL, NULL, NULL}};

/* ---- before the work ---- */

static enum gs_status misuse(const char *what, const char *next, struct gs_error *error) {
    gs_fail(error, GS_USAGE, "%s", what);
    gs_error_next(error, "%s", next);
    return GS_USAGE;
}

static enum gs_status check_options(const struct gs_call *call, struct gs_error *error) {
    if (lambada_option) {
        if (!tokenizer_option)
            return misuse("--lambada needs a tokenizer", "give --tokenizer FILE", error);
        if (length_given || skip_given || sequences_given)
            return misuse("--length, --skip and --sequences are about DATA, not --lambada",
                          "leave them out", error);
    } else if (call->file_count < 2) {
        return misuse("there is no data",
                      "give a shard folder, a .bin file or text behind the checkpoint", error);
    }
    if (length_given && length_option == 0)
        return misuse("a window must hold tokens", "give a --length of at least 1", error);
    if (sequences_given && sequences_option == 0)
        return misuse("no window would be read", "give --sequences of at least 1", error);
    if (batch_option == 0)
        return misuse("a batch must hold windows", "give a --batch of at least 1", error);
    if (strcmp(weights_option, "f32") == 0 || strcmp(weights_option, "bf16") == 0) return GS_OK;
    gs_fail(error, GS_USAGE, "unknown weights");
    gs_error_expected(error, "--weights f32 or bf16");
    gs_error_found(error, "%s", weights_option);
    return GS_USAGE;
}

/* ---- the command ---- */

static enum gs_status evaluate_one(struct gs_eval *eval, struct gs_error *error) {
    const char *path = eval->checkpoints[0];
    enum gs_status status = gs_checkpoint_load(path, &eval->model, &eval->info, error);
    if (status != GS_OK) return status;
    status = gs_results_source(eval->results, path, eval->info.sha256, error);
    if (status == GS_OK)
        status = gs_results_setting(eval->results, "model", gs_model_kind(eval->model), error);
    if (status != GS_OK) return status;
    return eval->lambada ? gs_eval_lambada(eval, error) : gs_eval_loss(eval, error);
}

static enum gs_status evaluate(struct gs_eval *eval, struct gs_error *error) {
    enum gs_status status =
        eval->checkpoint_count > 1 ? gs_eval_compare(eval, error) : evaluate_one(eval, error);
    if (status == GS_OK)
        status = gs_results_setting(eval->results, "weights", weights_option, error);
    return status == GS_OK ? gs_call_finish(eval->call, eval->results, error) : status;
}

static enum gs_status run(const struct gs_call *call, struct gs_error *error) {
    enum gs_status status = check_options(call, error);
    if (status == GS_OK) status = gs_call_check_outputs(call, error);
    if (status != GS_OK) return status;
    const size_t data = lambada_option ? 0 : 1; /* the last file */
    struct gs_eval eval = {.call = call,
                           .checkpoints = call->files,
                           .checkpoint_count = call->file_count - data,
                           .data = data ? call->files[call->file_count - 1] : NULL,
                           .length = length_option,
                           .skip = skip_option,
                           .sequences = sequences_option,
                           .batch = batch_option,
                           .tokenizer = tokenizer_option,
                           .lambada = lambada_option,
                           .bf16 = strcmp(weights_option, "bf16") == 0,
                           .results = gs_results_create("eval")};
    status = eval.results ? evaluate(&eval, error) : gs_fail_memory(error, 1024, "results");
    gs_model_destroy(eval.model);
    gs_results_destroy(eval.results);
    return status;
}

int main(int argc, char **argv) {
    static const struct gs_command command = {
        .name = "eval",
        .summary = "loss and perplexity of a checkpoint, also by position",
        .synopsis = "CHECKPOINT… DATA | CHECKPOINT… --lambada FILE --tokenizer FILE",
        .description =
            "Gives loss (nats per token), perplexity, and the loss at each position of a window,\n"
            "with 95 % limits over windows. With --tokenizer also bits and perplexity per byte "
            "and\n"
            "perplexity per word of the predicted text, by which models with different tokenizers\n"
            "can be compared.\n"
            "\n"
            "Windows are consecutive and do not overlap, run across documents, and start from the\n"
            "state 0. The first tokens of a window are hard to predict, so compare losses of one\n"
            "--length only. How many tokens were read and dropped is part of the result.\n"
            "\n"
            "With --lambada: how often the last word of a passage is predicted, and its "
            "perplexity.\n"
            "\n"
            "Several checkpoints of one vocabulary are compared: each on the same predictions (of\n"
            "positions that all of them predict), and every pair's difference with 95 % limits\n"
            "over documents, where the data tells them, else over windows. Models agree on which\n"
            "text is hard, so a difference is known far better than either loss.\n"
            "\n"
            "DATA is a shard folder of `gpnscope tokenize`, a .bin file of little-endian uint32\n"
            "ids, or text (.txt, .jsonl) with --tokenizer.\n"
            "\n"
            "  gpnscope eval run/model_final.safetensors held_out --length 256 --json eval.json",
        .options = options,
        .common = GS_TAKES_JSON,
        .min_files = 1,
        .max_files = 0,
        .run = run};
    return gs_command_main(&command, argc, argv);
}
