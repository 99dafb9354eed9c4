/* gpnscope tokenize - text files into a folder of token shards with their tokenizer. */
#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/programs/command.h"
#include "core/results/results.h"
#include "core/text/documents.h"
#include "core/text/encode_documents.h"
#include "core/text/shards.h"
#include "core/text/tokenizer.h"

#include <math.h>
#include <string.h>

static const char tokenizer_name[] = "tokenizer.model"; /* inside the output folder */

static const char *tokenizer_option, *docs_option;
static size_t train_pieces, shard_tokens = GS_SHARD_TOKENS_DEFAULT;
static bool train_given;

static const struct gs_option options[] = {
    {"tokenizer", GS_OPTION_TEXT, &tokenizer_option, "FILE",
     "SentencePiece model to use; it is copied into DIR as tokenizer.model.", NULL},
    {"train", GS_OPTION_SIZE, &train_pieces, "N",
     "Train a SentencePiece BPE of N pieces on the texts first and put it into DIR as "
     "tokenizer.model. Byte fallback and digits as LLaMA's; at least 260, commonly some thousands.",
     &train_given},
    {"docs", GS_OPTION_TEXT, &docs_option, "KIND",
     "What a document is: lines (each line), blank (between blank lines), file (each file), jsonl "
     "(the \"text\" of each line's JSON). Default: jsonl for .jsonl files, file for others.",
     NULL},
    {"shard-tokens", GS_OPTION_SIZE, &shard_tokens, "N",
     "Most tokens of a shard; documents are not split. Default: 100000000 (400 MB).", NULL},
    {NULL, GS_OPTION_FLAG, NULL, NULL, NULL, NULL}};

/* What one text file, or all together, came to. */
struct tally {
    uint64_t documents, skipped, bytes, tokens;
};

struct work {
    const struct gs_call *call;
    struct gs_shards *shards;
    struct gs_tokenizer *tokenizer;
    uint64_t text_bytes; /* of all files, for progress */
    uint64_t done_bytes; /* of the files that are done */
    struct tally file, all;
    struct gs_results *results;
    struct gs_table *table;
};

/* ---- before the work ---- */

static enum gs_status check_options(const struct gs_call *call, struct gs_error *error) {
    if (!call->output) {
        gs_fail(error, GS_USAGE, "there is no output folder");
        gs_error_next(error, "name one with -o DIR");
        return GS_USAGE;
    }
    if (train_given == (tokenizer_option != NULL)) {
        gs_fail(error, GS_USAGE,
                train_given ? "--tokenizer and --train exclude each other"
                            : "there is no tokenizer");
        gs_error_next(error, "give one of --tokenizer FILE and --train N");
        return GS_USAGE;
    }
    if (shard_tokens == 0) {
        gs_fail(error, GS_USAGE, "a shard must hold tokens");
        gs_error_expected(error, "--shard-tokens of at least 1");
        gs_error_found(error, "0");
        return GS_USAGE;
    }
    enum gs_docs docs;
    return docs_option ? gs_docs_parse(docs_option, &docs, error) : GS_OK;
}

static enum gs_docs docs_of(const char *path) {
    enum gs_docs docs = gs_docs_of_path(path);
    if (docs_option) gs_docs_parse(docs_option, &docs, NULL);
    return docs;
}

static enum gs_status measure_files(struct work *work, struct gs_error *error) {
    for (size_t i = 0; i < work->call->file_count; i++) {
        struct gs_mapped_file file;
        enum gs_status status = gs_file_map(work->call->files[i], &file, error);
        if (status != GS_OK) return status;
        work->text_bytes += file.size;
        gs_file_unmap(&file);
    }
    return GS_OK;
}

/* ---- the tokenizer ---- */

static enum gs_status copy_tokenizer(const char *path, struct gs_error *error) {
    struct gs_mapped_file file;
    enum gs_status status = gs_file_map(tokenizer_option, &file, error);
    if (status != GS_OK) return status;
    status = gs_file_write(path, false, file.bytes, file.size, error);
    gs_file_unmap(&file);
    return status;
}

static enum gs_status train_tokenizer(const struct work *work, const char *path,
                                      struct gs_error *error) {
    gs_call_message(work->call, "training a tokenizer of %zu pieces", train_pieces);
    return gs_tokenizer_train(work->call->files, work->call->file_count, train_pieces, path,
                              work->call->progress, error);
}

/* A given tokenizer is loaded from where it is, so that errors name the user's file. */
static enum gs_status bring_tokenizer(struct work *work, struct gs_error *error) {
    char *path = gs_path_join(gs_shards_folder(work->shards), tokenizer_name);
    if (!path) return gs_fail_memory(error, sizeof tokenizer_name, "a path");
    enum gs_status status;
    if (tokenizer_option) {
        status = gs_tokenizer_load(tokenizer_option, &work->tokenizer, error);
        if (status == GS_OK) status = copy_tokenizer(path, error);
    } else {
        status = train_tokenizer(work, path, error);
        if (status == GS_OK) status = gs_tokenizer_load(path, &work->tokenizer, error);
    }
    gs_free(path);
    return status;
}

/* ---- the text ---- */

static enum gs_status take_document(void *context, const uint32_t *ids, size_t count, size_t bytes,
                                    struct gs_error *error) {
    struct work *work = context;
    work->file.documents++;
    work->file.bytes += bytes;
    work->file.tokens += count;
    return gs_shards_add(work->shards, ids, count, error);
}

static enum gs_status add_file_row(struct work *work, const char *path, struct gs_error *error) {
    const struct tally *file = &work->file;
    work->all.documents += file->documents;
    work->all.skipped += file->skipped;
    work->all.bytes += file->bytes;
    work->all.tokens += file->tokens;
    const struct gs_cell row[] = {gs_cell_text(path), gs_cell_integer((int64_t)file->documents),
                                  gs_cell_integer((int64_t)file->skipped),
                                  gs_cell_integer((int64_t)file->bytes),
                                  gs_cell_integer((int64_t)file->tokens)};
    enum gs_status status = gs_table_row(work->table, row, error);
    return status == GS_OK ? gs_results_source(work->results, path, NULL, error) : status;
}

static enum gs_status tokenize_file(struct work *work, const char *path, struct gs_error *error) {
    struct gs_documents *documents;
    enum gs_status status = gs_documents_open(path, docs_of(path), &documents, error);
    if (status != GS_OK) return status;
    work->file = (struct tally){0};
    struct gs_document_sink sink = {work, take_document};
    struct gs_encode_progress progress = {work->call->progress, work->done_bytes, work->text_bytes};
    status = gs_encode_documents(documents, work->tokenizer, &sink, &progress, error);
    work->file.skipped = gs_documents_skipped(documents);
    work->done_bytes += gs_documents_total(documents);
    gs_documents_close(documents);
    return status == GS_OK ? add_file_row(work, path, error) : status;
}

/* ---- the results ---- */

static enum gs_status start_results(struct work *work, struct gs_error *error) {
    static const char *const columns[] = {"file", "documents", "skipped", "bytes", "tokens"};
    work->results = gs_results_create("tokenize");
    if (!work->results) return gs_fail_memory(error, 1024, "results");
    return gs_results_table(work->results, "files", columns, sizeof columns / sizeof *columns,
                            &work->table, error);
}

static enum gs_status add_values(struct work *work, struct gs_error *error) {
    const struct tally *all = &work->all;
    uint64_t pieces = all->tokens - all->documents; /* without each document's EOS */
    const struct {
        const char *name, *unit;
        double value;
        uint64_t n;
    } values[] = {
        {"tokens", "token", (double)all->tokens, all->documents},
        {"documents", "document", (double)all->documents, all->documents},
        {"documents.skipped", "document", (double)all->skipped, all->documents + all->skipped},
        {"bytes", "byte", (double)all->bytes, all->documents},
        {"shards", "shard", (double)gs_shards_count(work->shards), all->documents},
        {"pieces", "piece", (double)gs_tokenizer_size(work->tokenizer), 1},
    };
    enum gs_status status = GS_OK;
    for (size_t i = 0; i < sizeof values / sizeof *values && status == GS_OK; i++)
        status = gs_results_number(work->results, values[i].name, values[i].value, values[i].unit,
                                   values[i].n, error);
    struct gs_value ratio = {.value = pieces ? (double)all->bytes / (double)pieces : NAN,
                             .unit = "byte/token",
                             .n = pieces,
                             .status = pieces ? "ok" : "undefined",
                             .reason = pieces ? NULL : "no token but ends of documents"};
    if (status == GS_OK) status = gs_results_add(work->results, "bytes_per_token", &ratio, error);
    if (status == GS_OK)
        status = gs_results_note(work->results,
                                 "Each document ends in EOS; bytes_per_token does not count these. "
                                 "Documents without text are skipped.",
                                 error);
    if (status == GS_OK && tokenizer_option)
        status = gs_results_source(work->results, tokenizer_option,
                                   gs_tokenizer_sha256(work->tokenizer), error);
    return status;
}

static enum gs_status tokenize(struct work *work, struct gs_error *error) {
    enum gs_status status = bring_tokenizer(work, error);
    for (size_t i = 0; i < work->call->file_count && status == GS_OK; i++)
        status = tokenize_file(work, work->call->files[i], error);
    if (status == GS_OK) status = add_values(work, error);
    if (status == GS_OK)
        status =
            gs_shards_finish(work->shards, tokenizer_name, gs_tokenizer_sha256(work->tokenizer),
                             gs_tokenizer_size(work->tokenizer), error);
    if (status != GS_OK) return status;
    return gs_call_finish(work->call, work->results, error);
}

static enum gs_status run(const struct gs_call *call, struct gs_error *error) {
    struct work work = {.call = call};
    enum gs_status status = check_options(call, error);
    if (status == GS_OK) status = gs_call_check_outputs(call, error);
    if (status == GS_OK) status = measure_files(&work, error);
    if (status == GS_OK) status = start_results(&work, error);
    if (status == GS_OK)
        status = gs_shards_create(call->output, shard_tokens, call->force, &work.shards, error);
    if (status == GS_OK) status = tokenize(&work, error);
    gs_shards_destroy(work.shards);
    gs_tokenizer_destroy(work.tokenizer);
    gs_results_destroy(work.results);
    return status;
}

int main(int argc, char **argv) {
    static const struct gs_command command = {
        .name = "tokenize",
        .summary = "turn text into token shards, or train a tokenizer on it",
        .synopsis = "TEXT… -o DIR (--tokenizer FILE | --train N)",
        .description =
            "Encodes text files with a SentencePiece tokenizer and writes DIR: data_0000.bin, …\n"
            "(little-endian uint32 ids), data_0000.index.json, … (document lengths), meta.json,\n"
            "and tokenizer.model. Each document ends in EOS. Train, eval and trace read DIR.\n"
            "\n"
            "A file of text is a document, or split as --docs says. Line ends of \"\\r\\n\" and a\n"
            "byte order mark are understood, documents without text are skipped and counted.\n"
            "Bytes that are not UTF-8 become U+FFFD, one each.\n"
            "\n"
            "  gpnscope tokenize book.txt --train 4096 --docs blank -o tokens",
        .options = options,
        .common = GS_REPLACES_FOLDER | GS_TAKES_OUTPUT | GS_TAKES_JSON,
        .min_files = 1,
        .max_files = 0,
        .run = run};
    return gs_command_main(&command, argc, argv);
}
