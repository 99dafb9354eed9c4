#include "reports/figures/parts.h"

#include "core/base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct gs_table *gs_figure_table(const struct gs_results *results, const char *name) {
    const struct gs_table *table = results ? gs_results_find_table(results, name) : NULL;
    return table && gs_table_rows(table) ? table : NULL;
}

bool gs_figure_block(struct gs_plot *plot, const struct gs_table *table, const char *const *columns,
                     size_t count, bool positive) {
    bool any = false;
    size_t rows = table ? gs_table_rows(table) : 0;
    for (size_t row = 0; row < rows; row++) {
        for (size_t i = 0; i < count; i++) {
            double number = gs_plot_cell(table, row, gs_table_find_column(table, columns[i]));
            if (positive && i && !(number > 0)) number = NAN;
            if (i && isfinite(number)) any = true;
            gs_plot_number(plot, number);
        }
        gs_plot_row(plot);
    }
    gs_plot_block(plot);
    return any;
}

void gs_figure_two_panels(struct gs_plot *plot) {
    gs_plot_command(plot, "set multiplot layout (narrow ? 2 : 1),(narrow ? 1 : 2)");
}

void gs_figure_end_panels(struct gs_plot *plot) {
    gs_plot_command(plot, "unset multiplot");
}

double gs_figure_tick_step(double range, int ticks) {
    if (!(range > 0) || !isfinite(range)) return 1;
    double power = pow(10, floor(log10(range / ticks))), lead = range / ticks / power;
    return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

bool gs_figure_value(const struct gs_results *results, const char *name, struct gs_value *value) {
    return results && gs_results_find(results, name, value) && isfinite(value->value) &&
           (!value->status || strcmp(value->status, "ok") == 0);
}

bool gs_figure_say(struct gs_text *text, const struct gs_results *results, const char *name,
                   const char *before, int digits, const char *after) {
    struct gs_value value;
    if (!gs_figure_value(results, name, &value)) return false;
    gs_text_put(text, before);
    gs_text_number(text, value.value, digits);
    gs_text_put(text, after);
    return true;
}

void gs_figure_say_value(struct gs_text *text, const struct gs_value *value, int digits) {
    gs_text_number(text, value->value, digits);
    if (!value->has_interval) return;
    gs_text_put(text, " (95 % interval ");
    gs_text_interval(text, value->low, value->high, digits);
    gs_text_put(text, ")");
}

/* What stands behind `start`, or NULL when `name` does not begin so. */
static const char *behind(const char *name, const char *start) {
    size_t length = strlen(start);
    return name && strncmp(name, start, length) == 0 ? name + length : NULL;
}

/* The head that "[null.][memory.NAME.]retention.head.NN.efold" is of; false when `name` is another.
 * Names of memories may hold points. */
static bool head_of(const char *name, bool null, struct gs_figure_head *head) {
    static const char after[] = ".efold", middle[] = "retention.head.";
    if (null && !(name = behind(name, "null."))) return false;
    head->of_several = behind(name, "memory.") != NULL;
    if (head->of_several) name = strstr(name, middle);
    const char *digits = behind(name, middle);
    size_t length = digits ? strspn(digits, "0123456789") : 0;
    if (!length || length > 9 || strcmp(digits + length, after) != 0) return false;
    head->head = (size_t)strtoul(digits, NULL, 10);
    return true;
}

static int by_place(const void *a, const void *b) {
    const struct gs_figure_head *x = a, *y = b;
    bool x_known = isfinite(x->place), y_known = isfinite(y->place);
    if (x_known != y_known) return x_known ? -1 : 1;
    if (x_known && x->place != y->place) return x->place < y->place ? -1 : 1;
    return (x->head > y->head) - (x->head < y->head);
}

struct gs_figure_head *gs_figure_heads(const struct gs_results *results, bool null, size_t *count) {
    *count = 0;
    size_t values = results ? gs_results_count(results) : 0;
    struct gs_figure_head *heads = gs_calloc(values, sizeof *heads);
    if (!heads) return NULL;
    for (size_t i = 0; i < values; i++) {
        struct gs_figure_head *head = heads + *count;
        const char *name = gs_results_name_at(results, i);
        if (!head_of(name, null, head) || !gs_results_find(results, name, &head->efold)) continue;
        head->censored = head->efold.status && strcmp(head->efold.status, "censored") == 0;
        head->place =
            head->censored && head->efold.has_bound ? head->efold.bound : head->efold.value;
        (*count)++;
    }
    qsort(heads, *count, sizeof *heads, by_place);
    if (*count) return heads;
    gs_free(heads);
    return NULL;
}
