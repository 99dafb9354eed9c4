/* gpnscope verify - do claims hold, and in how many seeds? */
#include "analyses/verify/verify.h"
#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/programs/command.h"
#include "core/results/results.h"
#include "reports/page/verify.h"
#include "reports/programs/verify_print.h"

#include <stdio.h>
#include <string.h>

static struct gs_list checkpoints, nulls, null_checkpoints;
static const char *claims_path, *tokenizer, *counts, *stream;

static const struct gs_option options[] = {
    {"claims", GS_OPTION_TEXT, &claims_path, "FILE",
     "Claims as JSON. Default: the set built in, fixtures/claims/structure.json.", NULL},
    {"null", GS_OPTION_LIST, &nulls, "TRACE",
     "A trace of the untrained model on the same text, once for each run in their order: of the "
     "run's seed, at step 0. Default: the run's trace of step 0, where it is among the traces.",
     NULL},
    {"checkpoint", GS_OPTION_LIST, &checkpoints, "FILE",
     "The checkpoint of each trace, once for each in their order. Default: the .safetensors file "
     "beside the trace that has the SHA-256 recorded in it.",
     NULL},
    {"null-checkpoint", GS_OPTION_LIST, &null_checkpoints, "FILE", "The same for each --null.",
     NULL},
    {"tokenizer", GS_OPTION_TEXT, &tokenizer, "FILE",
     "SentencePiece model, for counts of plain text.", NULL},
    {"counts", GS_OPTION_TEXT, &counts, "DATA",
     "Training data whose tokens are counted. Default: the tokens of the trace.", NULL},
    {"stream", GS_OPTION_TEXT, &stream, "NAME",
     "Which states of the traces. Default: predicted or final, or the only ones there are.", NULL},
    {NULL, GS_OPTION_FLAG, NULL, NULL, NULL, NULL}};

/* ---- what was asked ---- */

static enum gs_status check_list(const struct gs_list *list, const char *option, size_t wanted,
                                 const char *each, struct gs_error *error) {
    if (list->count == 0 || list->count == wanted) return GS_OK;
    gs_fail(error, GS_USAGE, "--%s must be given once for each %s, or not at all", option, each);
    gs_error_expected(error, "%zu", wanted);
    gs_error_found(error, "%zu", list->count);
    return GS_USAGE;
}

/* What every verification leaves, so that --force replaces one and nothing else. */
static bool is_verification(const char *folder) {
    char *json = gs_path_join(folder, "results.json");
    char *table = gs_path_join(folder, "csv/verify_claims.csv");
    bool is = json && table && gs_path_exists(json) && gs_path_exists(table);
    gs_free(json);
    gs_free(table);
    return is;
}

static enum gs_status check_folder(const struct gs_call *call, struct gs_error *error) {
    if (!call->output || !gs_path_exists(call->output)) return GS_OK;
    if (call->force && is_verification(call->output)) return GS_OK;
    gs_fail(error, GS_EXISTS, "the output exists already%s",
            call->force ? " and is not a verification, so it is not replaced" : "");
    gs_error_where(error, "%s", call->output);
    gs_error_next(error, call->force ? "choose another folder, or remove this one yourself"
                                     : "choose another folder, or replace this one with --force");
    return GS_EXISTS;
}

static enum gs_status check_call(const struct gs_call *call, struct gs_error *error) {
    enum gs_status status =
        check_list(&checkpoints, "checkpoint", call->file_count, "trace", error);
    if (status == GS_OK)
        status = check_list(&null_checkpoints, "null-checkpoint", nulls.count, "--null", error);
    if (status == GS_OK) status = check_folder(call, error);
    if (status != GS_OK) return status;
    struct gs_call files = *call; /* the folder has been looked at */
    files.output = NULL;
    return gs_call_check_outputs(&files, error);
}

/* ---- output ---- */

/* The claims in their own words, borrowed; for gs_free. NULL when memory is short. */
static struct gs_shown_claim *show_claims(const struct gs_claims *claims) {
    struct gs_shown_claim *shown = gs_calloc(claims->count, sizeof *shown);
    for (size_t i = 0; shown && i < claims->count; i++) {
        const struct gs_claim *claim = claims->claims + i;
        shown[i] =
            (struct gs_shown_claim){.name = claim->name,
                                    .structure = claim->structure,
                                    .says = claim->says,
                                    .statistic = claim->statistic,
                                    .comparison = gs_claim_comparison_name(claim->comparison),
                                    .direction = gs_claim_direction_name(claim->direction),
                                    .threshold = claim->threshold,
                                    .reason = claim->reason,
                                    .untrained = claim->untrained};
    }
    return shown;
}

static enum gs_status write_folder(const struct gs_call *call, const struct gs_claims *claims,
                                   const struct gs_results *results, struct gs_error *error) {
    struct gs_shown_claim *own = show_claims(claims);
    if (!own) return gs_fail_memory(error, claims->count * sizeof *own, "the page");
    const struct gs_shown_verify shown = {.results = results,
                                          .claims = own,
                                          .claim_count = claims->count,
                                          .title = claims->title,
                                          .about = claims->about,
                                          .claims_path = claims->source,
                                          .claims_sha256 = claims->sha256,
                                          .command_line = call->command_line};
    struct gs_error warning;
    enum gs_status status =
        gs_verify_write(&shown, call->output, call->force, call->progress, &warning, error);
    gs_free(own);
    if (status != GS_OK) return status;
    if (warning.what[0]) gs_call_warning(call, "a figure was not drawn: %s", warning.what);
    gs_call_message(call, "the results are in %s", call->output);
    return GS_OK;
}

/* The table for people is this program's own; files are as with every command. */
static enum gs_status finish(const struct gs_call *call, const struct gs_verify_runs *runs,
                             const struct gs_claims *claims, struct gs_results *results,
                             struct gs_error *error) {
    struct gs_call silent = *call;
    silent.quiet = true;
    enum gs_status status = gs_results_settle(results, error);
    if (status == GS_OK) status = gs_call_finish(&silent, results, error);
    if (status == GS_OK && call->output) status = write_folder(call, claims, results, error);
    bool shown = call->json && strcmp(call->json, "-") == 0;
    if (status != GS_OK || call->quiet || shown) return status;
    return gs_verify_print(results, runs, stdout, error);
}

/* ---- the whole ---- */

/* What was decoded with. Those found beside their traces have the hashes that the traces record. */
static enum gs_status name_checkpoints(const struct gs_call *call,
                                       const struct gs_verify_runs *runs, bool wanted,
                                       struct gs_results *results, struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < runs->trace_count; i++) {
        const struct gs_verify_trace *one = runs->traces + i;
        bool given = i < call->file_count ? checkpoints.count : null_checkpoints.count;
        if (!one->checkpoint) continue;
        status = given ? gs_results_source_meanwhile(results, one->checkpoint, wanted, error)
                       : gs_results_source(results, one->checkpoint,
                                           gs_trace_info(one->trace)->checkpoint_sha256, error);
    }
    return status;
}

static enum gs_status name_sources(const struct gs_call *call, const struct gs_verify_runs *runs,
                                   const struct gs_claims *claims, struct gs_results *results,
                                   struct gs_error *error) {
    bool wanted = call->json || call->output;
    enum gs_status status = GS_OK;
    if (claims_path) status = gs_results_source(results, claims_path, claims->sha256, error);
    if (status == GS_OK && counts && wanted)
        status = gs_results_source(results, counts, NULL, error);
    if (status == GS_OK && tokenizer && wanted)
        status = gs_results_source(results, tokenizer, NULL, error);
    for (size_t i = 0; status == GS_OK && i < call->file_count; i++)
        status = gs_results_source_meanwhile(results, call->files[i], wanted, error);
    for (size_t i = 0; status == GS_OK && i < nulls.count; i++)
        status = gs_results_source_meanwhile(results, nulls.items[i], wanted, error);
    return status == GS_OK ? name_checkpoints(call, runs, wanted, results, error) : status;
}

/* A claim fails when it fails in any run. */
static enum gs_status fail_if_any(const struct gs_claims *claims,
                                  const struct gs_verify_count *tally, struct gs_error *error) {
    char list[200] = "";
    size_t used = 0, failed = 0;
    bool all = true;
    for (size_t i = 0; i < claims->count; i++) {
        if (tally[i].of[GS_VERDICT_FAIL] == 0) continue;
        const char *name = claims->claims[i].name;
        failed++;
        all = all && used + strlen(name) + 3 < sizeof list - strlen(", …");
        if (all)
            used +=
                (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", name);
    }
    if (failed == 0) return GS_OK;
    gs_fail(error, GS_CHECK_FAILED, "%zu of %zu claims fail in at least one run", failed,
            claims->count);
    gs_error_found(error, "%s%s", list, all ? "" : ", …");
    return GS_CHECK_FAILED;
}

static enum gs_status verify(const struct gs_call *call, const struct gs_verify_runs *runs,
                             const struct gs_claims *claims, struct gs_results *results,
                             struct gs_error *error) {
    const struct gs_verify_plan plan = {.claims = claims,
                                        .tokenizer = tokenizer,
                                        .counts = counts,
                                        .seed = call->seed,
                                        .progress = call->progress};
    struct gs_verify_count *tally = gs_calloc(claims->count, sizeof *tally);
    if (!tally) return gs_fail_memory(error, claims->count * sizeof *tally, "verdicts");
    enum gs_status status = name_sources(call, runs, claims, results, error);
    if (status == GS_OK) status = gs_verify_run_all(runs, &plan, tally, results, error);
    if (status == GS_OK) status = finish(call, runs, claims, results, error);
    if (status == GS_OK) status = fail_if_any(claims, tally, error);
    gs_free(tally);
    return status;
}

static enum gs_status open_and_verify(const struct gs_call *call, const struct gs_claims *claims,
                                      struct gs_results *results, struct gs_error *error) {
    const struct gs_verify_inputs inputs = {
        .traces = call->files,
        .trace_count = call->file_count,
        .checkpoints = checkpoints.count ? checkpoints.items : NULL,
        .nulls = nulls.items,
        .null_checkpoints = null_checkpoints.count ? null_checkpoints.items : NULL,
        .null_count = nulls.count,
        .stream = stream};
    struct gs_verify_runs runs;
    enum gs_status status = gs_verify_runs_open(&inputs, &runs, error);
    for (size_t i = 0; status == GS_OK && i < runs.trace_count; i++) {
        const struct gs_trace_info *info = gs_trace_info(runs.traces[i].trace);
        if (!info->complete)
            gs_call_warning(call, "%s is not complete: only the rows safely on disk are measured",
                            info->path);
    }
    if (status == GS_OK) status = verify(call, &runs, claims, results, error);
    gs_verify_runs_close(&runs);
    return status;
}

static enum gs_status run(const struct gs_call *call, struct gs_error *error) {
    struct gs_claims *claims = NULL;
    enum gs_status status = check_call(call, error);
    if (status == GS_OK) status = gs_claims_read(claims_path, &claims, error);
    if (status != GS_OK) return status;
    struct gs_results *results = gs_results_create("verify");
    status = results ? open_and_verify(call, claims, results, error)
                     : gs_fail_memory(error, 0, "the results");
    gs_results_destroy(results);
    gs_claims_destroy(claims);
    return status;
}

int main(int argc, char **argv) {
    static const struct gs_command command = {
        .name = "verify",
        .summary = "do claims about the states hold, and in how many seeds",
        .synopsis = "TRACE… [-o DIR] [options]",
        .description =
            "Holds claims (a statistic, a direction, a threshold and its reason; JSON) against "
            "the traces of several seeds of one model on the same text. In each run a claim passes "
            "when the whole 95 % interval of its statistic lies on its side of the threshold, "
            "fails when all of it lies on the other, and is undecided otherwise, or when there is "
            "no number; a number without an interval is judged by itself. Over the runs: how many "
            "pass, with the 95 % interval of Clopper and Pearson; the split test over the heads of "
            "all runs; how alike the runs are (linear CKA and Procrustes distance of the states, "
            "the tokens and logits that their mean states decode to).\n"
            "Traces of one seed at several steps are one run: the latest is what is judged, step "
            "0 is its untrained model unless --null is given, and all of them show at which step a "
            "claim begins to hold.\n"
            "Refused (exit 3): the same checkpoint twice, two traces of one seed and step, other "
            "text, another tokenizer, another kind or size of model. Settings of the training are "
            "not recorded in traces and not compared.\n"
            "A claim fails, and the exit code is 1, when it fails in any run.\n"
            "With -o DIR: index.html and verify.md (verdicts, reasons, figures), figures/*.svg, "
            "results.json and "
            "csv/verify_*.csv. Tables: claims, over_seeds, "
            "claim_texts, pairs, other_pairs, heads, emergence, emergence_holds; every definition "
            "is in analyses/verify/verify.h.\n"
            "\n"
            "Example: five seeds, each traced at several steps, checkpoints beside the traces\n"
            "  gpnscope verify seed*/step-*.h5 --counts data/train -o verified\n"
            "Example: two seeds beside their untrained models\n"
            "  gpnscope verify a.h5 b.h5 --null a0.h5 --null b0.h5 --claims claims.json",
        .options = options,
        .common = GS_REPLACES_FOLDER | GS_TAKES_OUTPUT | GS_TAKES_JSON | GS_TAKES_SEED,
        .min_files = 1,
        .max_files = 0,
        .run = run};
    return gs_command_main(&command, argc, argv);
}
