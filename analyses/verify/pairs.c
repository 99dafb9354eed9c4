/* Runs compared with each other, on the same text. */
#include "analyses/verify/work.h"

#include "analyses/verify/similarity.h"
#include "analyses/verify/unigram.h"
#include "core/base/memory.h"

#include <math.h>
#include <stdio.h>

enum { MEASURES = 4 };
static const char *const measures[MEASURES] = {"cka", "procrustes", "default_overlap",
                                               "unigram_cosine"};

/* What is compared. */
enum kind { SAME_TEXT, OTHER_TEXT, UNTRAINED, OWN_UNTRAINED, KINDS };
static const char *const kind_names[KINDS] = {NULL, "other_text", "untrained", "own_untrained"};

struct summary {
    size_t count;
    double sum, low, high;
};

struct pairs {
    struct gs_verify_work *work;
    struct gs_unigram *unigrams; /* (trace_count), empty where nothing is decoded */
    struct gs_table *pairs, *others;
    struct summary summaries[KINDS][MEASURES];
};

/* ---- which ---- */

static size_t pairs_of(size_t n) {
    return n * (n - (n > 0)) / 2;
}

static bool all_have_nulls(const struct gs_verify_runs *runs) {
    for (size_t i = 0; i < runs->run_count; i++)
        if (runs->runs[i].null == SIZE_MAX) return false;
    return true;
}

/* The next sequence's text is another one where there is a next sequence. */
static bool has_other_text(const struct gs_verify_runs *runs) {
    return gs_trace_info(runs->traces[0].trace)->sequences > 1;
}

size_t gs_verify_pair_count(const struct gs_verify_runs *runs) {
    size_t own = 0, between = pairs_of(runs->run_count);
    for (size_t i = 0; i < runs->run_count; i++) own += runs->runs[i].null != SIZE_MAX;
    return between * (1u + has_other_text(runs) + all_have_nulls(runs)) + own;
}

/* ---- one comparison ---- */

/* A model under two hashes (saved again, or converted) is not refused, but it shows. */
static enum gs_status say_if_same(struct pairs *pairs, const struct gs_similarity *s,
                                  const char *const names[2], struct gs_error *error) {
    char note[512];
    if (!(s->procrustes < 1e-6)) return GS_OK;
    snprintf(
        note, sizeof note,
        "similarity: %.150s and %.150s have the same states but for a rotation: they may be one "
        "model counted twice",
        names[0], names[1]);
    return gs_results_note(pairs->work->results, note, error);
}

static void summarise(struct summary *summary, double value) {
    if (!isfinite(value)) return;
    summary->low = summary->count ? fmin(summary->low, value) : value;
    summary->high = summary->count ? fmax(summary->high, value) : value;
    summary->sum += value;
    summary->count++;
}

static enum gs_status compare(struct pairs *pairs, enum kind kind, size_t first, size_t second,
                              const char *const names[2], struct gs_error *error) {
    struct gs_verify_trace *a = pairs->work->runs->traces + first;
    struct gs_verify_trace *b = pairs->work->runs->traces + second;
    struct gs_rows x = gs_rows_of_state(a->trace, a->stream);
    struct gs_rows y = gs_rows_of_state(b->trace, b->stream);
    struct gs_similarity s;
    bool other_text = kind == OTHER_TEXT;
    enum gs_status status =
        gs_similarity_of_rows(&x, &y, other_text, &pairs->work->inner, &s, error);
    if (status != GS_OK) return status;
    const struct gs_unigram *u = pairs->unigrams + first, *v = pairs->unigrams + second;
    double none = (double)NAN;
    double values[MEASURES] = {s.cka, s.procrustes, other_text ? none : gs_unigram_overlap(u, v),
                               other_text ? none : gs_unigram_cosine(u, v)};
    struct gs_cell row[3 + MEASURES] = {gs_cell_text(kind_names[kind]), gs_cell_text(names[0]),
                                        gs_cell_text(names[1])};
    for (size_t i = 0; i < MEASURES; i++) {
        row[3 + i] = gs_cell_number(values[i]);
        summarise(&pairs->summaries[kind][i], values[i]);
    }
    status = kind == SAME_TEXT ? gs_table_row(pairs->pairs, row + 1, error)
                               : gs_table_row(pairs->others, row, error);
    if (status == GS_OK && kind == SAME_TEXT) status = say_if_same(pairs, &s, names, error);
    return status == GS_OK ? gs_verify_advance(pairs->work, "comparing", error) : status;
}

static enum gs_status compare_kind(struct pairs *pairs, enum kind kind, struct gs_error *error) {
    const struct gs_verify_runs *runs = pairs->work->runs;
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < runs->run_count; i++)
        for (size_t k = i + 1; status == GS_OK && k < runs->run_count; k++) {
            const struct gs_verify_run *a = runs->runs + i, *b = runs->runs + k;
            const char *const names[2] = {a->name, b->name};
            status = compare(pairs, kind, kind == UNTRAINED ? a->null : gs_verify_end(a),
                             kind == UNTRAINED ? b->null : gs_verify_end(b), names, error);
        }
    return status;
}

static enum gs_status compare_own(struct pairs *pairs, struct gs_error *error) {
    const struct gs_verify_runs *runs = pairs->work->runs;
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < runs->run_count; i++) {
        const struct gs_verify_run *run = runs->runs + i;
        const char *const names[2] = {run->name, "its untrained model"};
        if (run->null != SIZE_MAX)
            status = compare(pairs, OWN_UNTRAINED, gs_verify_end(run), run->null, names, error);
    }
    return status;
}

/* ---- unigrams ---- */

static enum gs_status decode_one(struct pairs *pairs, size_t trace, struct gs_error *error) {
    const struct gs_verify_trace *one = pairs->work->runs->traces + trace;
    if (trace == SIZE_MAX || !one->checkpoint) return GS_OK;
    return gs_unigram_of_trace(one->trace, one->checkpoint, &pairs->work->inner,
                               pairs->unigrams + trace, error);
}

static enum gs_status decode_all(struct pairs *pairs, struct gs_error *error) {
    const struct gs_verify_runs *runs = pairs->work->runs;
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < runs->run_count; i++) {
        status = decode_one(pairs, gs_verify_end(runs->runs + i), error);
        if (status == GS_OK) status = decode_one(pairs, runs->runs[i].null, error);
    }
    return status;
}

/* ---- values ---- */

static enum gs_status add_summary(struct pairs *pairs, enum kind kind, size_t measure,
                                  struct gs_error *error) {
    const struct summary *s = &pairs->summaries[kind][measure];
    const double values[3] = {s->sum / (double)s->count, s->low, s->high};
    static const char *const ends[3] = {"mean", "min", "max"};
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && s->count > 0 && i < 3; i++) {
        char name[96];
        snprintf(name, sizeof name, "similarity.%s%s%s.%s",
                 kind_names[kind] ? kind_names[kind] : "", kind_names[kind] ? "." : "",
                 measures[measure], ends[i]);
        status = gs_results_number(pairs->work->results, name, values[i], "1", s->count, error);
    }
    return status;
}

/* Few rows make any two alike. */
static enum gs_status say_rows(struct pairs *pairs, struct gs_error *error) {
    const struct gs_verify_trace *first = pairs->work->runs->traces;
    struct gs_rows rows = gs_rows_of_state(first->trace, first->stream);
    char note[256];
    if (gs_rows_total(&rows) >= 10 * rows.width || pairs->work->runs->run_count < 2) return GS_OK;
    snprintf(note, sizeof note,
             "similarity: %llu rows of %zu dimensions are few: any two models look alike; compare "
             "with other_text",
             (unsigned long long)gs_rows_total(&rows), rows.width);
    return gs_results_note(pairs->work->results, note, error);
}

static enum gs_status make_tables(struct pairs *pairs, struct gs_error *error) {
    const char *columns[3 + MEASURES] = {"compared", "first", "second"};
    for (size_t i = 0; i < MEASURES; i++) columns[3 + i] = measures[i];
    struct gs_results *results = pairs->work->results;
    enum gs_status status =
        gs_results_table(results, "pairs", columns + 1, 2 + MEASURES, &pairs->pairs, error);
    return status == GS_OK ? gs_results_table(results, "other_pairs", columns, 3 + MEASURES,
                                              &pairs->others, error)
                           : status;
}

enum gs_status gs_verify_add_pairs(struct gs_verify_work *work, struct gs_error *error) {
    struct pairs pairs = {.work = work};
    pairs.unigrams = gs_calloc(work->runs->trace_count, sizeof *pairs.unigrams);
    if (!pairs.unigrams) return gs_fail_memory(error, 0, "unigram fits");
    enum gs_status status = make_tables(&pairs, error);
    if (status == GS_OK) status = decode_all(&pairs, error);
    if (status == GS_OK) status = compare_kind(&pairs, SAME_TEXT, error);
    if (status == GS_OK && has_other_text(work->runs))
        status = compare_kind(&pairs, OTHER_TEXT, error);
    if (status == GS_OK && all_have_nulls(work->runs))
        status = compare_kind(&pairs, UNTRAINED, error);
    if (status == GS_OK) status = compare_own(&pairs, error);
    for (size_t kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; status == GS_OK && i < MEASURES; i++)
            status = add_summary(&pairs, (enum kind)kind, i, error);
    if (status == GS_OK) status = say_rows(&pairs, error);
    for (size_t i = 0; i < work->runs->trace_count; i++) gs_unigram_free(pairs.unigrams + i);
    gs_free(pairs.unigrams);
    return status;
}
