#include "reports/programs/verify_print.h"

#include "core/base/numbers.h"
#include "core/base/visible.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { CELL = 10, MOST_CELLS = 8 };

static const char *text_at(const struct gs_table *table, size_t row, const char *column) {
    struct gs_cell cell = gs_table_cell(table, row, gs_table_find_column(table, column));
    return cell.type == GS_CELL_TEXT ? cell.text : "";
}

static double number_at(const struct gs_table *table, size_t row, const char *column) {
    struct gs_cell cell = gs_table_cell(table, row, gs_table_find_column(table, column));
    if (cell.type == GS_CELL_INTEGER) return (double)cell.integer;
    return cell.type == GS_CELL_NUMBER ? cell.number : (double)NAN;
}

/* ---- claims × runs ---- */

static size_t name_width(const struct gs_table *over) {
    size_t width = strlen("claim");
    for (size_t i = 0; i < gs_table_rows(over); i++) {
        size_t own = gs_visible_width(text_at(over, i, "claim"));
        if (own > width) width = own;
    }
    return width;
}

static void print_head(const struct gs_verify_runs *runs, size_t width, FILE *stream) {
    gs_visible_put(stream, "claim", width);
    for (size_t i = 0; i < runs->run_count && runs->run_count <= MOST_CELLS; i++) {
        char label[CELL + 16];
        if (runs->runs[i].seed >= 0)
            snprintf(label, sizeof label, "seed %lld", (long long)runs->runs[i].seed);
        else
            snprintf(label, sizeof label, "run %zu", i + 1);
        fprintf(stream, "  %-*s", CELL, label);
    }
    fprintf(stream, "  %-8s  %-12s  %s\n", "passes", "95 %", "fails, undecided");
}

static void print_line(const struct gs_table *claims, const struct gs_table *over, size_t claim,
                       size_t runs, size_t width, FILE *stream) {
    gs_visible_put(stream, text_at(over, claim, "claim"), width);
    for (size_t i = 0; i < runs && runs <= MOST_CELLS; i++) {
        const char *verdict = text_at(claims, claim * runs + i, "verdict");
        fprintf(stream, "  %-*s", CELL, strcmp(verdict, "none") == 0 ? "-" : verdict);
    }
    char passes[64], range[64] = "";
    snprintf(passes, sizeof passes, "%.0f of %.0f", number_at(over, claim, "k"),
             number_at(over, claim, "n"));
    if (!isnan(number_at(over, claim, "low")))
        snprintf(range, sizeof range, "%.2f to %.2f", number_at(over, claim, "low"),
                 number_at(over, claim, "high"));
    fprintf(stream, "  %-8s  %-12s  %.0f, %.0f\n", passes, range, number_at(over, claim, "fail"),
            number_at(over, claim, "undecided"));
}

static void print_claims(const struct gs_results *results, const struct gs_verify_runs *runs,
                         FILE *stream) {
    const struct gs_table *claims = gs_results_find_table(results, "claims");
    const struct gs_table *over = gs_results_find_table(results, "over_seeds");
    size_t width = name_width(over);
    for (size_t i = 0; i < runs->run_count; i++) {
        const struct gs_verify_run *run = runs->runs + i;
        fprintf(stream, "run %zu: ", i + 1);
        gs_visible_put(stream, run->name, 0);
        if (run->null == SIZE_MAX) fprintf(stream, ", no untrained model");
        if (run->count > 1) fprintf(stream, ", %zu steps", run->count);
        fprintf(stream, "\n");
    }
    fprintf(
        stream,
        "\npass: the whole 95 %% interval lies on the claim's side of its threshold; fail: all of "
        "it on the\nother; undecided: it holds the threshold, or there is no number\n\n");
    print_head(runs, width, stream);
    for (size_t i = 0; i < gs_table_rows(over); i++)
        print_line(claims, over, i, runs->run_count, width, stream);
}

/* ---- why ---- */

static void print_interval(const struct gs_table *claims, size_t row, FILE *stream) {
    char value[GS_NUMBER_TEXT], low[GS_NUMBER_TEXT], high[GS_NUMBER_TEXT];
    double number = number_at(claims, row, "value"), end = number_at(claims, row, "low");
    if (isnan(number)) return;
    fprintf(stream, " %s", gs_number_short(number, 4, value));
    if (!isnan(end))
        fprintf(stream, " [%s, %s]", gs_number_short(end, 4, low),
                gs_number_short(number_at(claims, row, "high"), 4, high));
}

/* Every verdict that is not a pass, with its number and its reason. */
static void print_reasons(const struct gs_results *results, FILE *stream) {
    const struct gs_table *claims = gs_results_find_table(results, "claims");
    const char *before = "\nwhat did not pass\n";
    for (size_t i = 0; i < gs_table_rows(claims); i++) {
        const char *verdict = text_at(claims, i, "verdict"), *reason = text_at(claims, i, "reason");
        if (strcmp(verdict, "pass") == 0) continue;
        fprintf(stream, "%s  ", before);
        gs_visible_put(stream, text_at(claims, i, "claim"), 0);
        fprintf(stream, ", ");
        gs_visible_put(stream, text_at(claims, i, "run"), 0);
        fprintf(stream, ": %s", verdict);
        print_interval(claims, i, stream);
        fprintf(stream, "%s", reason[0] ? "; " : "");
        gs_visible_put(stream, reason, 0);
        fprintf(stream, "\n");
        before = "";
    }
}

static void print_likeness(const struct gs_results *results, FILE *stream) {
    static const char *const shown[] = {"similarity.cka.mean",
                                        "similarity.other_text.cka.mean",
                                        "similarity.untrained.cka.mean",
                                        "similarity.procrustes.mean",
                                        "similarity.other_text.procrustes.mean",
                                        "similarity.default_overlap.mean",
                                        "similarity.unigram_cosine.mean"};
    struct gs_value value;
    const char *before =
        "\nhow alike the runs are (CKA of states: 1 the same up to rotation and scale, "
        "0 unrelated)\n";
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        char text[GS_NUMBER_TEXT];
        if (!gs_results_find(results, shown[i], &value)) continue;
        fprintf(stream, "%s  %-38s %s\n", before, shown[i], gs_number_short(value.value, 4, text));
        before = "";
    }
}

enum gs_status gs_verify_print(const struct gs_results *results, const struct gs_verify_runs *runs,
                               FILE *stream, struct gs_error *error) {
    print_claims(results, runs, stream);
    print_reasons(results, stream);
    print_likeness(results, stream);
    for (size_t i = 0; i < gs_results_note_count(results); i++) {
        fprintf(stream, "%snote: ", i ? "" : "\n");
        gs_visible_put(stream, gs_results_note_at(results, i), 0);
        fprintf(stream, "\n");
    }
    if (fflush(stream) == 0 && !ferror(stream)) return GS_OK;
    return gs_fail_errno(error, errno ? errno : EIO, "cannot write the table", "standard output");
}
