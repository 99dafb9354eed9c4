#include "reports/figures/figure.h"

static const struct gs_figure *const figures[] = {
    &gs_figure_layers,       &gs_figure_spectrum,       &gs_figure_dimensions,
    &gs_figure_correlation,  &gs_figure_layers_default, &gs_figure_default_tokens,
    &gs_figure_controls,     &gs_figure_layers_horizon, &gs_figure_horizon,
    &gs_figure_layers_efold, &gs_figure_retention,      &gs_figure_efold,
    &gs_figure_loss,
};

size_t gs_figure_count(void) {
    return sizeof figures / sizeof *figures;
}

const struct gs_figure *gs_figure_at(size_t index) {
    return figures[index];
}

bool gs_figure_applies(const struct gs_figure *figure, const struct gs_report_run *run) {
    const struct gs_results *results = run->results[figure->part];
    return !figure->each || (results && gs_results_find_table(results, figure->table));
}

static const struct {
    const char *command, *title;
} parts[GS_PARTS] = {
    [GS_PART_GEOMETRY] = {"geometry", "Geometry of the state"},
    [GS_PART_DEFAULT] = {"default", "Default token"},
    [GS_PART_HORIZON] = {"horizon", "State horizon"},
    [GS_PART_RETENTION] = {"retention", "Memory retention"},
    [GS_PART_LOSS] = {"loss", "Loss"},
};

const char *gs_part_command(enum gs_part part) {
    return parts[part].command;
}

const char *gs_part_title(enum gs_part part) {
    return parts[part].title;
}

static enum gs_status draw_at(const struct gs_plot *plot, const struct gs_plot_size *size,
                              const char *folder, const char *prefix, const char *name,
                              struct gs_error *error) {
    struct gs_text path = {0};
    gs_text_add(&path, "%s/%s%s%s.svg", folder, prefix, name, size->narrow ? "-narrow" : "");
    enum gs_status status = gs_text_check(&path, "a path", error);
    if (status == GS_OK) status = gs_plot_draw(plot, size, path.bytes, error);
    gs_text_free(&path);
    return status;
}

enum gs_status gs_figure_draw_plot(const struct gs_plot *plot, const char *folder,
                                   const char *prefix, const char *name, int height,
                                   int narrow_height, struct gs_error *error) {
    struct gs_plot_size wide = {GS_FIGURE_WIDTH, height, false};
    struct gs_plot_size narrow = {GS_FIGURE_NARROW_WIDTH, narrow_height, true};
    enum gs_status status = draw_at(plot, &wide, folder, prefix, name, error);
    return status == GS_OK ? draw_at(plot, &narrow, folder, prefix, name, error) : status;
}

enum gs_status gs_figure_draw(const struct gs_figure *figure, const struct gs_report_run *run,
                              const char *folder, const char *prefix, struct gs_error *error) {
    struct gs_plot plot = {0};
    figure->draw(run, &plot);
    enum gs_status status = plot.empty
                                ? gs_fail(error, GS_MISSING, "%s", plot.empty)
                                : gs_figure_draw_plot(&plot, folder, prefix, figure->name,
                                                      figure->height, figure->narrow_height, error);
    gs_plot_free(&plot);
    return status;
}
