#include "reports/figures/verify.h"

#include "core/base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *gs_shown_text(const struct gs_table *table, size_t row, const char *column) {
    size_t place = table ? gs_table_find_column(table, column) : SIZE_MAX;
    if (place == SIZE_MAX || row >= gs_table_rows(table)) return "";
    struct gs_cell cell = gs_table_cell(table, row, place);
    return cell.type == GS_CELL_TEXT ? cell.text : "";
}

double gs_shown_number(const struct gs_table *table, size_t row, const char *column) {
    return table ? gs_plot_cell(table, row, gs_table_find_column(table, column)) : (double)NAN;
}

/* ---- runs ---- */

static int64_t seed_of(const struct gs_table *table, size_t row) {
    size_t place = gs_table_find_column(table, "seed");
    if (place == SIZE_MAX) return -1;
    struct gs_cell cell = gs_table_cell(table, row, place);
    return cell.type == GS_CELL_INTEGER ? cell.integer : -1;
}

bool gs_shown_is_of(const struct gs_table *table, size_t row, const struct gs_shown_run *run) {
    if (!table || row >= gs_table_rows(table)) return false;
    return strcmp(gs_shown_text(table, row, "run"), run->run ? run->run : "") == 0 &&
           seed_of(table, row) == run->seed;
}

static bool seeds_differ(const struct gs_shown_run *runs, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (runs[i].seed < 0) return false;
        for (size_t k = 0; k < i; k++)
            if (runs[k].seed == runs[i].seed) return false;
    }
    return true;
}

static void name_runs(struct gs_shown_run *runs, size_t count) {
    bool by_seed = seeds_differ(runs, count);
    for (size_t i = 0; i < count; i++) {
        if (by_seed || !runs[i].run)
            snprintf(runs[i].label, sizeof runs[i].label, "seed %lld", (long long)runs[i].seed);
        else
            snprintf(runs[i].label, sizeof runs[i].label, "%s", runs[i].run);
    }
}

struct gs_shown_run *gs_shown_runs(const struct gs_table *table, size_t *count) {
    *count = 0;
    size_t rows = table ? gs_table_rows(table) : 0;
    if (!rows) return NULL;
    struct gs_shown_run *runs = gs_calloc(rows, sizeof *runs);
    if (!runs) return NULL;
    for (size_t row = 0; row < rows; row++) {
        bool known = false;
        for (size_t i = 0; i < *count && !known; i++) known = gs_shown_is_of(table, row, runs + i);
        if (known) continue;
        const char *run = gs_shown_text(table, row, "run");
        runs[*count].run = run[0] ? run : NULL;
        runs[(*count)++].seed = seed_of(table, row);
    }
    name_runs(runs, *count);
    return runs;
}

size_t gs_shown_row(const struct gs_table *table, const char *claim,
                    const struct gs_shown_run *run) {
    size_t rows = table ? gs_table_rows(table) : 0;
    for (size_t row = 0; row < rows; row++)
        if (strcmp(gs_shown_text(table, row, "claim"), claim) == 0 &&
            (!run || gs_shown_is_of(table, row, run)))
            return row;
    return SIZE_MAX;
}

/* ---- claims ---- */

static const struct {
    const char *direction, *words;
    bool above;
} directions[] = {{"above", "above", true},
                  {"at_least", "at least", true},
                  {"below", "below", false},
                  {"at_most", "at most", false}};

/* As few significant digits as read back the number, six at most: 0.1, not 0.1000. */
static int digits_of(double number) {
    char written[32];
    int digits = 1;
    for (; digits < 6; digits++) {
        snprintf(written, sizeof written, "%.*g", digits, number);
        if (!(fabs(strtod(written, NULL) - number) > 0)) break;
    }
    return digits;
}

void gs_shown_threshold(struct gs_text *text, const struct gs_shown_claim *claim) {
    const char *words = "against";
    for (size_t i = 0; i < sizeof directions / sizeof *directions; i++)
        if (claim->direction && strcmp(claim->direction, directions[i].direction) == 0)
            words = directions[i].words;
    gs_text_add(text, "%s ", words);
    gs_text_number(text, claim->threshold, digits_of(claim->threshold));
}

bool gs_shown_holds(const struct gs_shown_claim *claim, double value) {
    bool or_equal = claim->direction && strncmp(claim->direction, "at_", 3) == 0;
    if (gs_shown_above(claim))
        return value > claim->threshold || (or_equal && value >= claim->threshold);
    return value < claim->threshold || (or_equal && value <= claim->threshold);
}

bool gs_shown_above(const struct gs_shown_claim *claim) {
    for (size_t i = 0; i < sizeof directions / sizeof *directions; i++)
        if (claim->direction && strcmp(claim->direction, directions[i].direction) == 0)
            return directions[i].above;
    return true;
}

/* ---- reasons ---- */

static bool same_reason(const struct gs_table *table, size_t row, size_t other) {
    return strcmp(gs_shown_text(table, row, "verdict"), gs_shown_text(table, other, "verdict")) ==
               0 &&
           strcmp(gs_shown_text(table, row, "reason"), gs_shown_text(table, other, "reason")) == 0;
}

/* The runs whose row of the claim says the same as the row of run `first`, from that one on. */
static void say_runs(const struct gs_table *table, const char *claim,
                     const struct gs_shown_run *runs, size_t count, size_t first,
                     struct gs_text *text) {
    size_t row = gs_shown_row(table, claim, runs + first), alike = 0, said = 0;
    for (size_t i = first; i < count; i++)
        alike += same_reason(table, row, gs_shown_row(table, claim, runs + i));
    if (alike == count && count > 1) {
        gs_text_add(text, "all %zu seeds", count);
        return;
    }
    for (size_t i = first; i < count; i++)
        if (same_reason(table, row, gs_shown_row(table, claim, runs + i)))
            gs_text_add(text, "%s%s", said++ ? ", " : "", runs[i].label);
}

bool gs_shown_reason(const struct gs_table *table, const char *claim, size_t index,
                     struct gs_text *text) {
    size_t count, found = 0;
    bool any = false;
    struct gs_shown_run *runs = gs_shown_runs(table, &count);
    for (size_t i = 0; i < count && !any; i++) {
        size_t row = gs_shown_row(table, claim, runs + i);
        bool first = gs_shown_text(table, row, "reason")[0] != '\0';
        for (size_t k = 0; k < i && first; k++)
            first = !same_reason(table, row, gs_shown_row(table, claim, runs + k));
        any = first && found++ == index;
        if (!any) continue;
        say_runs(table, claim, runs, count, i, text);
        gs_text_add(text, ": %s, %s", gs_shown_text(table, row, "verdict"),
                    gs_shown_text(table, row, "reason"));
    }
    gs_free(runs);
    return any;
}
