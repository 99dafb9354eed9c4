#include "analyses/verify/verify.h"

#include "analyses/stats/bootstrap.h"
#include "analyses/verify/work.h"
#include "core/base/memory.h"

#include "analyses/stats/rows.h"

#include <stdio.h>

enum gs_status gs_verify_advance(struct gs_verify_work *work, const char *note,
                                 struct gs_error *error) {
    work->done += 1;
    gs_progress_report(work->plan->progress, work->done, work->total, note);
    return gs_progress_stop(work->plan->progress)
               ? gs_fail(error, GS_INTERRUPTED, "stopped on request")
               : GS_OK;
}

/* ---- measuring ---- */

/* Geometry and the default token whatever the claims are about would cost time and say nothing;
 * retention is always measured, for the heads. */
static unsigned parts_of(const struct gs_claims *claims) {
    unsigned parts = 1u << GS_VERIFY_RETENTION;
    for (size_t i = 0; i < claims->count; i++)
        parts |= 1u << gs_verify_part_of(claims->claims[i].statistic);
    return parts;
}

/* Of one trace into *measured. replicates 0: as each analysis has it; null: SIZE_MAX, or the trace
 * of the untrained model, measured in the same way as `beside`. */
static enum gs_status measure(struct gs_verify_work *work, size_t trace, size_t replicates,
                              size_t null, const struct gs_verify_measured *beside,
                              struct gs_verify_measured *measured, struct gs_error *error) {
    const struct gs_verify_trace *own = work->runs->traces + trace;
    const struct gs_verify_subject subject = {
        .trace = own->trace,
        .stream = own->stream,
        .checkpoint = own->checkpoint,
        .null = null == SIZE_MAX ? NULL : work->runs->traces[null].trace,
        .beside = beside};
    const struct gs_verify_how how = {.tokenizer = work->plan->tokenizer,
                                      .counts = work->plan->counts,
                                      .parts = parts_of(work->plan->claims),
                                      .replicates = replicates,
                                      .seed = work->plan->seed,
                                      .progress = &work->inner};
    enum gs_status status = gs_verify_measure(&subject, &how, measured, error);
    return status == GS_OK ? gs_verify_advance(work, "measuring", error) : status;
}

/* Has it steps between the untrained model and the end? Those have fewer replicates, and so has the
 * untrained model beside them: a comparison is of replicate with replicate. */
static bool has_between(const struct gs_verify_run *run) {
    return run->count > 1 + (size_t)(run->null == run->steps[0]);
}

static enum gs_status measure_steps(struct gs_verify_work *work, const struct gs_verify_run *run,
                                    const struct gs_verify_measured *beside,
                                    struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i + 1 < run->count; i++) {
        size_t trace = run->steps[i];
        if (trace != run->null)
            status = measure(work, trace, GS_VERIFY_STEP_REPLICATES, run->null, beside,
                             work->measured + trace, error);
    }
    return status;
}

static enum gs_status measure_run(struct gs_verify_work *work, const struct gs_verify_run *run,
                                  struct gs_error *error) {
    enum gs_status status = GS_OK;
    struct gs_verify_measured short_null = {0}, *null = NULL;
    size_t end = gs_verify_end(run);
    if (run->null != SIZE_MAX) {
        null = work->measured + run->null;
        status = measure(work, run->null, 0, SIZE_MAX, NULL, null, error);
        null->is_null = true;
        if (status == GS_OK && has_between(run))
            status = measure(work, run->null, GS_VERIFY_STEP_REPLICATES, SIZE_MAX, NULL,
                             &short_null, error);
    }
    if (status == GS_OK) status = measure_steps(work, run, null ? &short_null : NULL, error);
    if (status == GS_OK)
        status = measure(work, end, 0, run->null, null, work->measured + end, error);
    gs_verify_measured_free(&short_null);
    return status;
}

static size_t to_measure(const struct gs_verify_runs *runs) {
    size_t count = runs->trace_count;
    for (size_t i = 0; i < runs->run_count; i++)
        count += runs->runs[i].null != SIZE_MAX && has_between(runs->runs + i);
    return count;
}

/* ---- what belongs to the numbers ---- */

static enum gs_status say_checkpoints(struct gs_verify_work *work, struct gs_error *error) {
    size_t without = 0;
    for (size_t i = 0; i < work->runs->trace_count; i++)
        without += !work->runs->traces[i].checkpoint;
    if (without == 0) return GS_OK;
    char note[256];
    snprintf(note, sizeof note,
             "%zu of %zu traces have no checkpoint: what is decoded (default.…) is not measured "
             "there",
             without, work->runs->trace_count);
    return gs_results_note(work->results, note, error);
}

/* The analyses' own notes stay with their own results. */
static enum gs_status say_sequences(struct gs_verify_work *work, struct gs_error *error) {
    size_t sequences = gs_verify_info(work, 0)->sequences;
    char note[512];
    if (sequences >= GS_BOOTSTRAP_ENOUGH) return GS_OK;
    if (sequences < 2)
        snprintf(note, sizeof note,
                 "intervals: the traces hold one sequence, so there are no intervals, and verdicts "
                 "rest on values alone: trace at least %d sequences",
                 GS_BOOTSTRAP_ENOUGH);
    else
        snprintf(
            note, sizeof note,
            "intervals: they rest on %zu sequences; with fewer than %d those of Spearman%s are "
            "too narrow (in simulation of 32 they held the truth in 0.80 to 0.84 instead of "
            "0.95), so verdicts on %s are less sure than they look: trace at least %d sequences",
            sequences, GS_BOOTSTRAP_ENOUGH,
            sequences < GS_BOOTSTRAP_ENOUGH_BUT_SPEARMAN ? " and of the stable rank" : "",
            sequences < GS_BOOTSTRAP_ENOUGH_BUT_SPEARMAN ? "these" : "it", GS_BOOTSTRAP_ENOUGH);
    return gs_results_note(work->results, note, error);
}

static enum gs_status say_incomplete(struct gs_verify_work *work, struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < work->runs->trace_count; i++)
        if (!gs_verify_info(work, i)->complete)
            status = gs_rows_note_incomplete(work->runs->traces[i].trace, work->results, error);
    return status;
}

static enum gs_status say_claims(struct gs_verify_work *work, struct gs_error *error) {
    const struct gs_claims *claims = work->plan->claims;
    enum gs_status status = gs_results_setting(work->results, "claims", claims->source, error);
    if (status == GS_OK)
        status = gs_results_setting(work->results, "claims_sha256", claims->sha256, error);
    return status == GS_OK ? gs_results_setting(work->results, "claims_title", claims->title, error)
                           : status;
}

/* ---- the whole ---- */

enum gs_status gs_verify_run_all(const struct gs_verify_runs *runs,
                                 const struct gs_verify_plan *plan, struct gs_verify_count *counts,
                                 struct gs_results *results, struct gs_error *error) {
    struct gs_verify_work work = {.runs = runs, .plan = plan, .results = results};
    if (plan->progress)
        work.inner = (struct gs_progress){plan->progress->context, NULL, plan->progress->stop};
    work.total = (double)(to_measure(runs) + gs_verify_pair_count(runs));
    work.measured = gs_calloc(runs->trace_count, sizeof *work.measured);
    enum gs_status status = work.measured ? GS_OK : gs_fail_memory(error, 0, "what is measured");
    for (size_t i = 0; status == GS_OK && i < runs->run_count; i++)
        status = measure_run(&work, runs->runs + i, error);
    if (status == GS_OK) status = say_claims(&work, error);
    if (status == GS_OK) status = say_checkpoints(&work, error);
    if (status == GS_OK) status = say_incomplete(&work, error);
    if (status == GS_OK) status = say_sequences(&work, error);
    if (status == GS_OK) status = gs_verify_add_seeds(&work, counts, error);
    if (status == GS_OK) status = gs_verify_add_heads(&work, error);
    if (status == GS_OK) status = gs_verify_add_pairs(&work, error);
    if (status == GS_OK) status = gs_verify_add_emergence(&work, error);
    for (size_t i = 0; work.measured && i < runs->trace_count; i++)
        gs_verify_measured_free(work.measured + i);
    gs_free(work.measured);
    return status;
}
