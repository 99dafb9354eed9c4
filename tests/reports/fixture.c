#include "tests/reports/fixture.h"

#include "tests/reports/pieces.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void must(enum gs_status status) {
    if (status != GS_OK) abort();
}

static struct gs_results *start(const char *command) {
    struct gs_results *results = gs_results_create(command);
    if (!results) abort();
    return results;
}

static void number(struct gs_results *results, const char *name, double value, const char *unit) {
    struct gs_value v = {.value = value, .unit = unit, .n = 16384};
    v.has_interval = true;
    v.low = value - 0.05 * fabs(value);
    v.high = value + 0.04 * fabs(value);
    must(gs_results_add(results, name, &v, NULL));
}

static struct gs_table *table(struct gs_results *results, const char *name,
                              const char *const *columns, size_t count) {
    struct gs_table *made;
    must(gs_results_table(results, name, columns, count, &made, NULL));
    return made;
}

static void add_spectrum(struct gs_results *results, size_t dims, double scale) {
    static const char *const columns[] = {"index", "eigenvalue"}, *const shares[] = {"index",
                                                                                     "share"};
    struct gs_table *spectrum = table(results, "spectrum", columns, 2);
    struct gs_table *cumulative = table(results, "spectrum_cumulative", shares, 2);
    double total = 0, sum = 0;
    for (size_t i = 1; i <= dims; i++) total += pow((double)i, -scale);
    for (size_t i = 1; i <= dims; i++) {
        double value = i == dims ? 0 : pow((double)i, -scale);
        sum += value;
        struct gs_cell row[] = {gs_cell_integer((int64_t)i), gs_cell_number(9 * value)};
        must(gs_table_row(spectrum, row, NULL));
        row[1] = gs_cell_number(sum / total);
        must(gs_table_row(cumulative, row, NULL));
    }
}

static void add_dimensions(struct gs_results *results, size_t dims, double scale) {
    static const char *const columns[] = {"dim", "std"};
    struct gs_table *deviations = table(results, "dim_std", columns, 2);
    for (size_t i = 0; i < dims; i++) {
        double std = i == 7 ? 0 : scale * (1 + 0.3 * sin((double)i) + exp(-(double)(i % 50)));
        struct gs_cell row[] = {gs_cell_integer((int64_t)i), gs_cell_number(std)};
        must(gs_table_row(deviations, row, NULL));
    }
}

static void add_correlations(struct gs_results *results, double width) {
    static const char *const columns[] = {"low", "high", "count"};
    struct gs_table *histogram = table(results, "corr_histogram", columns, 3);
    for (int i = -50; i < 50; i++) {
        double x = (i + 0.5) / 50;
        struct gs_cell row[] = {
            gs_cell_number(i / 50.0), gs_cell_number((i + 1) / 50.0),
            gs_cell_integer((int64_t)(8000 * exp(-x * x / (2 * width * width))))};
        must(gs_table_row(histogram, row, NULL));
    }
}

/* <table> and <table>_interval of these columns, for layers and final, growing by layer; the first
 * layer has no value. */
static void add_layers(struct gs_results *results, const char *name, const char *const *columns,
                       size_t count, double scale) {
    static const char *const layers[] = {"layer00", "layer01", "layer02", "final \"`id`"};
    const char *plain[8] = {"stream"}, *wide[32] = {"stream"};
    char names[16][128], interval[64];
    for (size_t i = 0; i < count; i++) {
        snprintf(names[2 * i], 128, "%s_low", columns[i]);
        snprintf(names[2 * i + 1], 128, "%s_high", columns[i]);
        plain[1 + i] = wide[1 + 3 * i] = columns[i];
        wide[2 + 3 * i] = names[2 * i];
        wide[3 + 3 * i] = names[2 * i + 1];
    }
    snprintf(interval, sizeof interval, "%s_interval", name);
    struct gs_table *narrow_table = table(results, name, plain, 1 + count),
                    *wide_table = table(results, interval, wide, 1 + 3 * count);
    for (size_t layer = 0; layer < 4; layer++) {
        struct gs_cell row[8] = {gs_cell_text(layers[layer])},
                       full[32] = {gs_cell_text(layers[layer])};
        for (size_t i = 0; i < count; i++) {
            double value = layer ? scale * (0.1 + 0.2 * (double)layer) : (double)NAN;
            row[1 + i] = full[1 + 3 * i] = gs_cell_number(value);
            full[2 + 3 * i] = gs_cell_number(0.9 * value);
            full[3 + 3 * i] = gs_cell_number(1.1 * value);
            if (!layer) continue;
            char full_name[160];
            snprintf(full_name, sizeof full_name, "stream.%s.%s", layers[layer], columns[i]);
            number(results, full_name, value, "1");
        }
        must(gs_table_row(narrow_table, row, NULL));
        must(gs_table_row(wide_table, full, NULL));
    }
}

static void add_layers_of_states(struct gs_results *geometry, double scale) {
    static const char *const columns[] = {"mean_energy", "stable_rank.centered"};
    add_layers(geometry, "geometry_by_stream", columns, 2, scale);
}

struct gs_results *gs_fixture_geometry(size_t dims, double scale) {
    struct gs_results *results = start("geometry");
    static const struct {
        const char *name;
        double value;
    } values[] = {{"state_norm.mean", 132.4},
                  {"state_norm.std", 9.1},
                  {"mean_norm", 107.2},
                  {"mean_norm_ratio", 0.81},
                  {"mean_energy", 0.656},
                  {"dim_std.min", 1.05},
                  {"dim_std.max", 11.3},
                  {"dim_std.mean", 1.54},
                  {"corr.mean_abs", 0.0272},
                  {"corr.max_abs", 0.61},
                  {"pcs_50", 29},
                  {"pcs_90", 131},
                  {"pcs_99", 209},
                  {"stable_rank.centered", 40.1},
                  {"participation_ratio", 98.3},
                  {"effective_rank", 160.2},
                  {"batch_mean_cosine.mean", 0.98812}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        number(results, values[i].name, scale * values[i].value, "1");
    must(gs_results_number(results, "rows", 16384, "row", 16384, NULL));
    must(gs_results_number(results, "dims", (double)dims, "dimension", 16384, NULL));
    must(gs_results_number(results, "dead_dims", 1, "dimension", 16384, NULL));
    add_spectrum(results, dims, scale);
    add_dimensions(results, dims, scale);
    add_correlations(results, 0.06 * scale);
    must(gs_results_note(results, "Rank ≤ n − 1 <is> said here.", NULL));
    must(gs_results_source(results, "held-out.trace.h5",
                           "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
                           NULL));
    return results;
}

struct gs_results *gs_fixture_default(void) {
    static const char *const columns[] = {"decoding", "rank", "id", "piece", "probability"};
    static const char *const decodings[] = {"mean_state", "mean_logits", "mean_probs"};
    struct gs_results *results = start("default");
    struct gs_table *tokens = table(results, "default_tokens", columns, 5);
    for (size_t d = 0; d < 3; d++) {
        for (int rank = 0; rank < 10; rank++) {
            struct gs_cell row[] = {gs_cell_text(decodings[d]), gs_cell_integer(rank + 1),
                                    gs_cell_integer(17 * rank + 3),
                                    gs_cell_text(gs_test_pieces[(size_t)rank + 5 * d]),
                                    gs_cell_number(0.09 / (rank + 1.0 + (double)d))};
            must(gs_table_row(tokens, row, NULL));
        }
    }
    number(results, "default.spearman.mean_state", 0.463, "1");
    number(results, "default.spearman.mean_logits", 0.471, "1");
    static const char *const more[] = {"control", "statistic", "value", "low", "high", "draws"};
    struct gs_table *controls = table(results, "controls", more, 6);
    static const char *const names[] = {"mean_embedding", "random_direction", "shuffled_counts"};
    for (int i = 0; i < 3; i++) {
        struct gs_cell row[] = {gs_cell_text(names[i]),
                                gs_cell_text("spearman"),
                                gs_cell_number(i ? 0.004 : -0.12),
                                gs_cell_number(i ? -0.05 * i : (double)NAN),
                                gs_cell_number(i ? 0.06 * i : (double)NAN),
                                gs_cell_integer(i ? 500 : 1)};
        must(gs_table_row(controls, row, NULL));
    }
    return results;
}

struct gs_results *gs_fixture_horizon(void) {
    static const char *const columns[] = {"lag",  "raw",  "centered_sequence", "centered_global",
                                          "null", "pairs"};
    static const char *const full[] = {"lag",
                                       "raw",
                                       "raw_low",
                                       "raw_high",
                                       "centered_sequence",
                                       "centered_sequence_low",
                                       "centered_sequence_high",
                                       "centered_global",
                                       "centered_global_low",
                                       "centered_global_high",
                                       "null",
                                       "null_low",
                                       "null_high"};
    struct gs_results *results = start("horizon");
    struct gs_table *horizon = table(results, "horizon", columns, 6);
    struct gs_table *intervals = table(results, "horizon_interval", full, 13);
    for (int64_t lag = 1; lag <= 256; lag *= 2) {
        double x = (double)lag;
        double curve[] = {0.65 + 0.12 * exp(-x / 20), 0.31 * exp(-x / 30) - 0.02,
                          0.33 * exp(-x / 40) + 0.01, 0.63};
        struct gs_cell row[6] = {gs_cell_integer(lag)}, wide[13] = {gs_cell_integer(lag)};
        for (size_t i = 0; i < 4; i++) {
            row[1 + i] = gs_cell_number(curve[i]);
            wide[1 + 3 * i] = gs_cell_number(curve[i]);
            wide[2 + 3 * i] = gs_cell_number(curve[i] - 0.02);
            wide[3 + 3 * i] = gs_cell_number(lag == 64 && i == 3 ? (double)NAN : curve[i] + 0.02);
        }
        row[5] = gs_cell_integer(64 * (512 - lag));
        must(gs_table_row(horizon, row, NULL));
        must(gs_table_row(intervals, wide, NULL));
    }
    number(results, "horizon.raw.plateau", 0.651, "1");
    number(results, "horizon.centered_sequence.k1", 0.31, "1");
    return results;
}

static void add_head(struct gs_results *results, struct gs_table *curves, const char *null,
                     size_t head, double decay) {
    char name[64];
    snprintf(name, sizeof name, "%sretention.head.%02zu.efold", null, head);
    struct gs_value value = {.value = -1 / log(decay), .unit = "token", .n = 16384};
    if (value.value > 256) {
        value.value = NAN;
        value.status = "censored";
        value.has_bound = true;
        value.bound = 256;
        value.reason = "not reached within the window";
    } else {
        value.has_interval = true;
        value.low = 0.9 * -1 / log(decay);
        value.high = 1.2 * -1 / log(decay);
    }
    must(gs_results_add(results, name, &value, NULL));
    for (int64_t lag = 1; lag <= 256; lag *= 2) {
        struct gs_cell row[] = {gs_cell_integer((int64_t)head), gs_cell_integer(lag),
                                gs_cell_number(pow(decay, (double)lag)),
                                gs_cell_number(-0.1 * pow(decay, (double)lag))};
        must(gs_table_row(curves, row, NULL));
    }
}

static void add_heads(struct gs_results *results, size_t heads, bool null, double scale) {
    static const char *const columns[] = {"head", "lag", "retention", "key_retention"};
    struct gs_table *curves = table(results, null ? "null.retention" : "retention", columns, 4);
    for (size_t head = 0; head < heads; head++) {
        double place = (double)((head * 5) % heads) / (double)heads;
        add_head(results, curves, null ? "null." : "", head, exp(-1 / (scale * exp(6.5 * place))));
    }
}

struct gs_results *gs_fixture_retention(size_t heads, bool null) {
    struct gs_results *results = start("retention");
    add_heads(results, heads, false, 1);
    if (null) add_heads(results, heads, true, 0.4);
    return results;
}

static double loss_at(int position, double level) {
    return level + (level > 7 ? 0 : 2.2 * exp(-position / 9.0) + 0.2 * sin(position * 12.9));
}

struct gs_results *gs_fixture_loss(double level) {
    static const char *const columns[] = {"position", "loss", "n"};
    static const char *const wide[] = {"first", "last", "center", "loss", "low", "high", "n"};
    struct gs_results *results = start("loss");
    struct gs_table *positions = table(results, "loss_by_position", columns, 3);
    struct gs_table *stretches = table(results, "loss_by_stretch", wide, 7);
    for (int i = 0; i < 256; i++) {
        struct gs_cell row[] = {gs_cell_integer(i), gs_cell_number(loss_at(i, level)),
                                gs_cell_integer(64)};
        must(gs_table_row(positions, row, NULL));
    }
    for (int first = 0; first < 256; first = 2 * first + 1) {
        int last = 2 * first < 255 ? 2 * first : 255;
        double loss = loss_at(first, level);
        struct gs_cell row[] = {gs_cell_integer(first),
                                gs_cell_integer(last),
                                gs_cell_number((first + last) / 2.0),
                                gs_cell_number(loss),
                                gs_cell_number(loss - 0.1),
                                gs_cell_number(loss + 0.1),
                                gs_cell_integer(64 * (last - first + 1))};
        must(gs_table_row(stretches, row, NULL));
    }
    number(results, "loss", level, "nat/token");
    number(results, "perplexity", exp(level), "1");
    return results;
}

static void add_heads_of_layers(struct gs_results *results, bool null) {
    static const char *const columns[] = {"memory",      "head",       "efold",
                                          "efold_low",   "efold_high", "efold_status",
                                          "efold_bound", "null_efold", "null_efold_bound"};
    static const char *const layers[] = {"layer00", "layer01"};
    struct gs_table *heads = table(results, "retention_by_head", columns, 9);
    for (size_t layer = 0; layer < 2; layer++)
        for (int head = 0; head < 3; head++) {
            bool censored = layer == 1 && head == 2;
            double efold = pow(6, head) * (1 + (double)layer), none = (double)NAN;
            struct gs_cell row[] = {gs_cell_text(layers[layer]),
                                    gs_cell_integer(head),
                                    gs_cell_number(censored ? none : efold),
                                    gs_cell_number(censored ? none : 0.9 * efold),
                                    gs_cell_number(censored ? none : 1.2 * efold),
                                    gs_cell_text(censored ? "censored" : "ok"),
                                    gs_cell_number(censored ? 63 : none),
                                    gs_cell_number(null && head < 2 ? 0.5 * efold : none),
                                    gs_cell_number(null && head == 2 ? 63 : none)};
            must(gs_table_row(heads, row, NULL));
        }
}

void gs_fixture_add_layers(struct gs_fixture *fixture, bool null) {
    static const char *const defaults[] = {"default.spearman.mean_state",
                                           "default.control.random_direction.share"},
                             *const horizons[] = {"horizon.raw.plateau",
                                                  "horizon.centered_sequence.k1"},
                             *const top[] = {"stream", "decoder", "id", "piece", "probability"};
    struct gs_results **owned = fixture->owned;
    add_layers_of_states(owned[GS_PART_GEOMETRY], 1);
    add_layers(owned[GS_PART_DEFAULT], "default_by_stream", defaults, 2, 1);
    add_layers(owned[GS_PART_HORIZON], "horizon_by_stream", horizons, 2, 1);
    add_heads_of_layers(owned[GS_PART_RETENTION], null);
    struct gs_table *tokens = table(owned[GS_PART_DEFAULT], "default_token_by_stream", top, 5);
    for (int i = 0; i < 2; i++) {
        struct gs_cell row[] = {
            gs_cell_text(i ? "final" : "layer00"),
            gs_cell_text(i ? "the output matrix" : "the final norm and the output matrix"),
            gs_cell_integer(3), gs_cell_text(gs_test_pieces[i]), gs_cell_number(0.1)};
        must(gs_table_row(tokens, row, NULL));
    }
    if (!null) return;
    add_layers_of_states(owned[GS_PARTS + GS_PART_GEOMETRY], 0.5);
    add_layers(owned[GS_PARTS + GS_PART_HORIZON], "horizon_by_stream", horizons, 2, 0.5);
}

void gs_fixture_make(struct gs_fixture *fixture, bool null) {
    *fixture = (struct gs_fixture){0};
    struct gs_report_run *run = &fixture->run;
    fixture->owned[GS_PART_GEOMETRY] = gs_fixture_geometry(256, 1);
    fixture->owned[GS_PART_DEFAULT] = gs_fixture_default();
    fixture->owned[GS_PART_HORIZON] = gs_fixture_horizon();
    fixture->owned[GS_PART_RETENTION] = gs_fixture_retention(8, null);
    fixture->owned[GS_PART_LOSS] = gs_fixture_loss(4.1);
    for (size_t part = 0; part < GS_PARTS; part++) run->results[part] = fixture->owned[part];
    if (null) {
        struct gs_results **owned = fixture->owned + GS_PARTS;
        owned[GS_PART_GEOMETRY] = gs_fixture_geometry(256, 0.5);
        owned[GS_PART_HORIZON] = gs_fixture_horizon();
        owned[GS_PART_LOSS] = gs_fixture_loss(7.6);
        for (size_t part = 0; part < GS_PARTS; part++) run->null_results[part] = owned[part];
        run->null_path = "untrained.trace.h5";
    }
    run->name = "held-out <b> & \"quoted\".trace.h5";
    run->path = "build/demo/held-out.trace.h5";
    run->sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    run->model = "gpn_m";
    run->stream = "predicted";
    run->created = "2026-01-01T00:00:00Z";
    run->config = "{\"d_state\": 256}";
    run->step = 600;
    run->parameters = 1390000;
    run->rows = 16384;
    run->sequences = 64;
}

void gs_fixture_free(struct gs_fixture *fixture) {
    for (size_t i = 0; i < sizeof fixture->owned / sizeof *fixture->owned; i++)
        gs_results_destroy(fixture->owned[i]);
    *fixture = (struct gs_fixture){0};
}
