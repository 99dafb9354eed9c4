/* gpnscope eval - loss and perplexity of a checkpoint on tokens, in all and by position; or the
 * last words of LAMBADA. */
#include "core/checkpoint/checkpoint.h"
#include "core/evaluation/lambada.h"
#include "core/evaluation/loss.h"
#include "core/programs/command.h"
#include "core/results/results.h"
#include "core/text/tokenizer.h"
#include "core/text/tokens.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
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
     "SentencePiece model, needed for DATA that is text and for --lambada.", NULL},
    {NULL, GS_OPTION_FLAG, NULL, NULL, NULL, NULL}};

struct work {
    const struct gs_call *call;
    struct gs_model *model;
    struct gs_checkpoint_info info;
    struct gs_results *results;
    bool bf16;
};

/* ---- before the work ---- */

static enum gs_status misuse(const char *what, const char *next, struct gs_error *error) {
    gs_fail(error, GS_USAGE, "%s", what);
    gs_error_next(error, "%s", next);
    return GS_USAGE;
}

static enum gs_status check_options(const struct gs_call *call, struct gs_error *error) {
    if (lambada_option) {
        if (call->file_count != 1)
            return misuse("--lambada takes the place of DATA", "give only the checkpoint", error);
        if (!tokenizer_option)
            return misuse("--lambada needs a tokenizer", "give --tokenizer FILE", error);
        if (length_given || skip_given || sequences_given)
            return misuse("--length, --skip and --sequences are about DATA, not --lambada",
                          "leave them out", error);
    } else if (call->file_count != 2) {
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

/* exp of a large loss may not be a number that can be written. */
static enum gs_status add_perplexity(struct gs_results *results, const char *name, double value,
                                     uint64_t n, struct gs_error *error) {
    bool finite = isfinite(value);
    struct gs_value perplexity = {.value = finite ? value : NAN,
                                  .unit = "1",
                                  .n = n,
                                  .status = finite ? "ok" : "overflow",
                                  .reason =
                                      finite ? NULL : "exp(loss) is beyond the largest number"};
    return gs_results_add(results, name, &perplexity, error);
}

static enum gs_status add_note(struct gs_results *results, struct gs_error *error,
                               const char *format, ...) __attribute__((format(printf, 3, 4)));
static enum gs_status add_note(struct gs_results *results, struct gs_error *error,
                               const char *format, ...) {
    char note[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note, sizeof note, format, arguments);
    va_end(arguments);
    return gs_results_note(results, note, error);
}

/* ---- loss on data ---- */

static enum gs_status add_positions(struct gs_results *results, const struct gs_loss *loss,
                                    struct gs_error *error) {
    static const char *const columns[] = {"position", "loss", "n"};
    struct gs_table *table;
    enum gs_status status =
        gs_results_table(results, "loss_by_position", columns, 3, &table, error);
    for (size_t t = loss->first; t < loss->windows.length && status == GS_OK; t++) {
        const struct gs_cell row[] = {gs_cell_integer((int64_t)t),
                                      gs_cell_number(loss->by_position[t]),
                                      gs_cell_integer((int64_t)loss->windows.count)};
        status = gs_table_row(table, row, error);
    }
    return status;
}

/* What was read and what was not: a reader must be able to see that nothing was lost silently. */
static enum gs_status add_windows(struct gs_results *results, const struct gs_loss *loss,
                                  struct gs_error *error) {
    const struct gs_windows *windows = &loss->windows;
    uint64_t dropped = gs_windows_dropped(windows);
    enum gs_status status = gs_results_number(results, "windows", (double)windows->count, "window",
                                              windows->count, error);
    if (status == GS_OK)
        status = gs_results_number(results, "tokens.used", (double)windows->used, "token",
                                   windows->total, error);
    if (status == GS_OK)
        status = gs_results_number(results, "tokens.skipped", (double)windows->first, "token",
                                   windows->total, error);
    if (status == GS_OK)
        status = gs_results_number(results, "tokens.dropped", (double)dropped, "token",
                                   windows->total, error);
    if (status != GS_OK) return status;
    return add_note(results, error,
                    "%llu consecutive windows of %zu tokens, each from the state 0, across "
                    "documents: %llu of %llu tokens read, %llu before them skipped, %llu behind "
                    "them not read.",
                    (unsigned long long)windows->count, windows->length,
                    (unsigned long long)windows->used, (unsigned long long)windows->total,
                    (unsigned long long)windows->first, (unsigned long long)dropped);
}

static enum gs_status add_loss(struct gs_results *results, const struct gs_loss *loss,
                               struct gs_error *error) {
    enum gs_status status =
        gs_results_number(results, "loss", loss->loss, "nat/token", loss->tokens, error);
    if (status == GS_OK)
        status = add_perplexity(results, "perplexity", loss->perplexity, loss->tokens, error);
    if (status == GS_OK)
        status = gs_results_number(results, "tokens", (double)loss->tokens, "token", loss->tokens,
                                   error);
    if (status == GS_OK) status = add_windows(results, loss, error);
    return status == GS_OK ? add_positions(results, loss, error) : status;
}

static enum gs_status measure_loss(struct work *work, struct gs_error *error) {
    const char *path = work->call->files[1];
    struct gs_tokens *tokens;
    enum gs_status status = gs_tokens_open(path, tokenizer_option, &tokens, error);
    if (status != GS_OK) return status;
    struct gs_loss_options loss_options = {.length = length_option,
                                           .skip = skip_option,
                                           .sequences = sequences_option,
                                           .batch = batch_option,
                                           .bf16 = work->bf16};
    struct gs_loss *loss = NULL;
    status =
        gs_evaluate_loss(work->model, tokens, &loss_options, work->call->progress, &loss, error);
    if (status == GS_NUMERIC) gs_error_where(error, "%s on %s", work->call->files[0], path);
    if (status == GS_OK)
        status = gs_results_source(work->results, path, gs_tokens_sha256(tokens), error);
    if (status == GS_OK) status = add_loss(work->results, loss, error);
    gs_loss_destroy(loss);
    gs_tokens_close(tokens);
    return status;
}

/* ---- LAMBADA ---- */

static enum gs_status add_lambada(struct gs_results *results,
                                  const struct gs_lambada_examples *examples,
                                  const struct gs_lambada *lambada, struct gs_error *error) {
    enum gs_status status = gs_results_number(results, "lambada.accuracy", lambada->accuracy, "1",
                                              lambada->examples, error);
    if (status == GS_OK)
        status = add_perplexity(results, "lambada.perplexity", lambada->perplexity, lambada->words,
                                error);
    if (status == GS_OK)
        status = gs_results_number(results, "lambada.examples", (double)lambada->examples,
                                   "example", lambada->examples, error);
    if (status != GS_OK) return status;
    status = add_note(results, error,
                      "Last word: what follows the last space. Accuracy: the most probable token "
                      "is its first subword. Perplexity: over the %zu subwords of all last words.",
                      lambada->words);
    if (status == GS_OK && examples->early > 0)
        status = add_note(results, error,
                          "In %zu of %zu examples the tokenizer joins the prefix with what "
                          "follows; there the last word begins at the first token that differs.",
                          examples->early, examples->count);
    if (status == GS_OK && examples->skipped > 0)
        status = add_note(results, error, "%zu empty texts were skipped.", examples->skipped);
    return status;
}

static enum gs_status run_lambada(struct work *work, const struct gs_tokenizer *tokenizer,
                                  struct gs_error *error) {
    struct gs_lambada_examples examples;
    struct gs_lambada *lambada = NULL;
    struct gs_lambada_options lambada_options = {.batch = batch_option, .bf16 = work->bf16};
    enum gs_status status = gs_lambada_examples_read(lambada_option, tokenizer, &examples, error);
    if (status == GS_OK)
        status = gs_evaluate_lambada(work->model, &examples, &lambada_options, work->call->progress,
                                     &lambada, error);
    if (status == GS_NUMERIC)
        gs_error_where(error, "%s on %s", work->call->files[0], lambada_option);
    if (status == GS_OK) status = gs_results_source(work->results, lambada_option, NULL, error);
    if (status == GS_OK) status = add_lambada(work->results, &examples, lambada, error);
    gs_lambada_destroy(lambada);
    gs_lambada_examples_clear(&examples);
    return status;
}

static enum gs_status measure_lambada(struct work *work, struct gs_error *error) {
    struct gs_tokenizer *tokenizer;
    enum gs_status status = gs_tokenizer_load(tokenizer_option, &tokenizer, error);
    if (status != GS_OK) return status;
    status = run_lambada(work, tokenizer, error);
    if (status == GS_OK)
        status = gs_results_source(work->results, tokenizer_option, gs_tokenizer_sha256(tokenizer),
                                   error);
    gs_tokenizer_destroy(tokenizer);
    return status;
}

/* ---- the command ---- */

static enum gs_status evaluate(struct work *work, struct gs_error *error) {
    const char *path = work->call->files[0];
    enum gs_status status = gs_checkpoint_load(path, &work->model, &work->info, error);
    if (status != GS_OK) return status;
    status = gs_results_source(work->results, path, work->info.sha256, error);
    if (status == GS_OK)
        status = gs_results_setting(work->results, "model", gs_model_kind(work->model), error);
    if (status == GS_OK)
        status = gs_results_setting(work->results, "weights", weights_option, error);
    if (status == GS_OK)
        status = lambada_option ? measure_lambada(work, error) : measure_loss(work, error);
    return status == GS_OK ? gs_call_finish(work->call, work->results, error) : status;
}

static enum gs_status run(const struct gs_call *call, struct gs_error *error) {
    enum gs_status status = check_options(call, error);
    if (status == GS_OK) status = gs_call_check_outputs(call, error);
    if (status != GS_OK) return status;
    struct work work = {.call = call,
                        .results = gs_results_create("eval"),
                        .bf16 = strcmp(weights_option, "bf16") == 0};
    status = work.results ? evaluate(&work, error) : gs_fail_memory(error, 1024, "results");
    gs_model_destroy(work.model);
    gs_results_destroy(work.results);
    return status;
}

int main(int argc, char **argv) {
    static const struct gs_command command = {
        .name = "eval",
        .summary = "loss and perplexity of a checkpoint, also by position",
        .synopsis = "CHECKPOINT DATA | CHECKPOINT --lambada FILE --tokenizer FILE",
        .description =
            "Gives loss (nats per token), perplexity, and the loss at each position of a window.\n"
            "Windows are consecutive and do not overlap, run across documents, and start from the\n"
            "state 0. The first tokens of a window are hard to predict, so compare losses of one\n"
            "--length only. How many tokens were read and dropped is part of the result.\n"
            "\n"
            "With --lambada: how often the last word of a passage is predicted, and its "
            "perplexity.\n"
            "\n"
            "DATA is a shard folder of `gpnscope tokenize`, a .bin file of little-endian uint32\n"
            "ids, or text (.txt, .jsonl) with --tokenizer.\n"
            "\n"
            "  gpnscope eval run/model_final.safetensors held_out --length 256 --json eval.json",
        .options = options,
        .common = GS_TAKES_JSON,
        .min_files = 1,
        .max_files = 2,
        .run = run};
    return gs_command_main(&command, argc, argv);
}
