/* figure.h - what a report is made from, and the figures that can be made from it.
 *
 * A figure reads results only. It never computes a statistic: sorting and choosing what to show is
 * all it does with the numbers.
 */
#ifndef GS_REPORTS_FIGURES_FIGURE_H
#define GS_REPORTS_FIGURES_FIGURE_H

#include "core/results/results.h"
#include "reports/figures/plot.h"
#include "reports/figures/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The analyses a report shows, in the order of the page. */
enum gs_part {
    GS_PART_GEOMETRY,
    GS_PART_DEFAULT,
    GS_PART_HORIZON,
    GS_PART_RETENTION,
    GS_PART_LOSS,
    GS_PARTS
};
const char *gs_part_command(enum gs_part part); /* "geometry" … , names the CSV files */
const char *gs_part_title(enum gs_part part);   /* heading of its section */

/* One trace with all that was measured on it. Everything is borrowed. */
struct gs_report_run {
    const char *name;                                /* how the page calls the trace */
    const struct gs_results *results[GS_PARTS];      /* NULL: not made, and absent says why */
    const char *absent[GS_PARTS];                    /* a sentence: what is needed, which option */
    const struct gs_results *null_results[GS_PARTS]; /* the untrained model; NULL: none */
    /* what the trace says about itself, for the page's head; NULL or negative: not said */
    const char *path, *sha256, *model, *stream, *created, *creator, *config;
    const char *checkpoint_path, *checkpoint_sha256, *null_path;
    int64_t step, parameters;
    int64_t seed; /* of the training; with config it says which traces are of one run */
    uint64_t rows, sequences;
};

struct gs_figure {
    const char *name; /* of its file, "spectrum" */
    const char *title;
    enum gs_part part;
    const char *table; /* the table its numbers are in: <command>_<table>.csv */
    int height, narrow_height;
    /* Fill an empty plot. Sets plot->empty when there is nothing to draw. */
    void (*draw)(const struct gs_report_run *run, struct gs_plot *plot);
    /* One or two sentences in plain text: what is seen, with the numbers. Says nothing that the
     * numbers do not show; may add nothing. */
    void (*say)(const struct gs_report_run *run, struct gs_text *text);
    bool each; /* of every stream, or every memory: without its table it has no place on the page */
};

size_t gs_figure_count(void);
const struct gs_figure *gs_figure_at(size_t index); /* in the order of the page */

/* Has the figure a place on the page of this run? */
bool gs_figure_applies(const struct gs_figure *figure, const struct gs_report_run *run);

enum { GS_FIGURE_WIDTH = 760, GS_FIGURE_NARROW_WIDTH = 400 };
/* Draw `figure` as <folder>/<prefix><name>.svg and <folder>/<prefix><name>-narrow.svg. GS_MISSING
 * with the reason in `what` when there is nothing to draw; gs_gnuplot_run's errors. */
enum gs_status gs_figure_draw(const struct gs_figure *figure, const struct gs_report_run *run,
                              const char *folder, const char *prefix, struct gs_error *error);
/* The same of a filled plot that has something to draw. */
enum gs_status gs_figure_draw_plot(const struct gs_plot *plot, const char *folder,
                                   const char *prefix, const char *name, int height,
                                   int narrow_height, struct gs_error *error);

/* ---- for figures ---- */
/* A value that is known (status ok, finite); false otherwise or when the part is not there. */
bool gs_figure_value(const struct gs_results *results, const char *name, struct gs_value *value);
/* The value as "12.3 (95 % interval 11.9 to 12.8)", or "not known". */
void gs_figure_say_value(struct gs_text *text, const struct gs_value *value, int digits);

/* The figures, one file each. */
extern const struct gs_figure gs_figure_layers;
extern const struct gs_figure gs_figure_spectrum;
extern const struct gs_figure gs_figure_dimensions;
extern const struct gs_figure gs_figure_correlation;
extern const struct gs_figure gs_figure_layers_default;
extern const struct gs_figure gs_figure_default_tokens;
extern const struct gs_figure gs_figure_controls;
extern const struct gs_figure gs_figure_layers_horizon;
extern const struct gs_figure gs_figure_horizon;
extern const struct gs_figure gs_figure_layers_efold;
extern const struct gs_figure gs_figure_retention;
extern const struct gs_figure gs_figure_efold;
extern const struct gs_figure gs_figure_loss;

#endif
