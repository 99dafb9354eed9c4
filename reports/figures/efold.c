/* The e-folding of each head, sorted, beside the heads of the untrained model. */
#include "core/base/memory.h"
#include "reports/figures/parts.h"

#include <math.h>

enum { NAMED = 24 }; /* the most heads whose numbers fit below the axis */

/* Blocks of (rank, place, low, high, head): first the heads that are known, then the censored. */
struct shown {
    size_t known, censored;
    bool named; /* few enough, and of one memory: their numbers stand below the axis */
};

static struct shown add_heads(struct gs_plot *plot, const struct gs_results *results, bool null) {
    struct shown shown = {0};
    size_t count;
    struct gs_figure_head *heads = gs_figure_heads(results, null, &count);
    shown.named = heads && count <= NAMED && !heads->of_several;
    for (int censored = 0; censored < 2; censored++) {
        for (size_t i = 0; i < count; i++) {
            const struct gs_figure_head *head = heads + i;
            if (head->censored != (censored == 1) || !(head->place > 0)) continue;
            bool interval = head->efold.has_interval && head->efold.low > 0;
            gs_plot_number(plot, (double)i + 1);
            gs_plot_number(plot, head->place);
            gs_plot_number(plot, interval ? head->efold.low : head->place);
            gs_plot_number(plot,
                           interval && isfinite(head->efold.high) ? head->efold.high : head->place);
            struct gs_text label = {0};
            gs_text_add(&label, "%02zu", head->head);
            gs_plot_label(plot, label.bytes, 0);
            gs_text_free(&label);
            gs_plot_row(plot);
            if (censored)
                shown.censored++;
            else
                shown.known++;
        }
        gs_plot_block(plot);
    }
    gs_free(heads);
    return shown;
}

static void draw(const struct gs_report_run *run, struct gs_plot *plot) {
    struct shown heads = add_heads(plot, run->results[GS_PART_RETENTION], false);
    size_t shown = heads.known + heads.censored;
    if (!shown) {
        plot->empty = "no head has an efold, known or censored";
        return;
    }
    struct shown null = add_heads(plot, run->results[GS_PART_RETENTION], true);
    gs_plot_command(plot, "set logscale y; set format y '%%g'; set xrange [0.3:%zu.7]", shown);
    gs_plot_command(plot, "set ylabel 'efold, tokens'; set key top left reverse Left");
    gs_plot_command(plot, "set xlabel '%s'",
                    heads.named ? "head, in the order of its efold" : "rank of the head");
    gs_plot_command(plot, "set style fill solid");
    gs_plot_command(plot, "set yrange [*:*]");
    gs_text_put(&plot->script, "plot ");
    if (null.known)
        gs_text_put(&plot->script, "data index 2 using 1:2 with points lt 4 ps 0.8 lw 1.4 title "
                                   "'before training, in their own order', ");
    if (null.censored)
        gs_text_put(&plot->script,
                    "data index 3 using 1:2 with points lt 4 pt 8 ps 0.9 lw 1.4 title "
                    "'before training, lower bound', ");
    if (heads.censored)
        gs_text_add(&plot->script,
                    "data index 1 using 1:2%s with points lt 1 pt 8 ps 1.1 lw 1.4 title 'not "
                    "reached: lower bound', ",
                    heads.named ? ":xticlabels(5)" : "");
    gs_plot_command(plot,
                    "data index 0 using 1:2:3:4%s with yerrorbars lt 1 ps 0.9 lw 1.4 title '%s'",
                    heads.named && heads.known ? ":xticlabels(5)" : "",
                    null.known + null.censored ? "model" : "efold and 95 % interval");
}

static void say_range(struct gs_text *text, const struct gs_results *results, bool null) {
    size_t count;
    struct gs_figure_head *heads = gs_figure_heads(results, null, &count);
    const struct gs_figure_head *last = NULL;
    size_t fast = 0, known = 0;
    for (size_t i = 0; i < count && isfinite(heads[i].place); i++) {
        last = heads + i;
        known++;
        fast += !heads[i].censored && heads[i].place <= 3 ? 1 : 0;
    }
    if (last) {
        gs_text_number(text, heads[0].place, 3);
        gs_text_put(text, " to ");
        if (last->censored) gs_text_put(text, "more than ");
        gs_text_number(text, last->place, 3);
        gs_text_put(text, " tokens; ");
        gs_text_count(text, fast);
        gs_text_put(text, " of ");
        gs_text_count(text, known);
        gs_text_put(text, " heads are at 3 tokens or below");
    }
    gs_free(heads);
}

static void say(const struct gs_report_run *run, struct gs_text *text) {
    struct gs_text model = {0}, null = {0};
    say_range(&model, run->results[GS_PART_RETENTION], false);
    say_range(&null, run->results[GS_PART_RETENTION], true);
    if (model.size) {
        gs_text_put(text, "Efolds run from ");
        gs_text_put(text, model.bytes);
        gs_text_put(text, ".");
    }
    if (null.size) {
        gs_text_put(text, " Before training: ");
        gs_text_put(text, null.bytes);
        gs_text_put(text, ".");
    }
    gs_text_put(text, " Heads start with unequal decays, so a spread of efolds alone shows no "
                      "division of labour.");
    if (model.failed || null.failed) text->failed = true;
    gs_text_free(&model);
    gs_text_free(&null);
}

const struct gs_figure gs_figure_efold = {
    "efold", "Efold of each head", GS_PART_RETENTION, "values", 400, 400, draw, say, false};
