/* Every stream and memory of a trace side by side is each measured alone, in the layers' order. */
#include "analyses/geometry/geometry.h"
#include "analyses/horizon/horizon.h"
#include "analyses/loss/loss_by_position.h"
#include "analyses/retention/retention.h"
#include "analyses/stats/each.h"
#include "core/base/memory.h"
#include "probes/trace/layers.h"
#include "tests/analyses/layered_trace.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SEED = 5 };

static const struct layered usual = {.scale = 2, .vocab = 20};
static const struct layered early = {.scale = 0.7, .vocab = 20};
static const struct gs_geometry_options geometry = {
    .replicates_given = true, .replicates = 40, .seed = SEED};
static const struct gs_horizon_plan horizon = {.seed = SEED};
static const struct gs_retention_plan retention = {0};
static const struct gs_bootstrap bootstrap = {SEED, 40, NULL};

static struct gs_error error;

static struct gs_trace *open_layered(const char *name, const struct layered *how) {
    struct gs_trace *trace;
    gs_assert_ok(gs_trace_open(layered_write(name, how, NULL), &trace, &error), &error);
    return trace;
}

static double number(const struct gs_results *results, const char *name) {
    struct gs_value value;
    if (!gs_results_find(results, name, &value)) fail_msg("%s is missing", name);
    return value.value;
}

/* Every value and table of `alone` stands in `whole` behind `key`, bit for bit. `null_key`: where
 * those of the untrained model stand. */
static void check_part(const struct gs_results *whole, const char *key, const char *null_key,
                       const struct gs_results *alone) {
    for (size_t i = 0; i < gs_results_count(alone); i++) {
        const char *name = gs_results_name_at(alone, i);
        bool null = strncmp(name, "null.", 5) == 0;
        char full[256];
        struct gs_value a, b;
        snprintf(full, sizeof full, "%s%s", null ? null_key : key, null ? name + 5 : name);
        const char *rest = strchr(name, '.');
        if (strncmp(name, "ratio.", 6) == 0 || strncmp(name, "difference.", 11) == 0)
            snprintf(full, sizeof full, "%.*s%s%s", (int)(rest + 1 - name), name, key, rest + 1);
        assert_true(gs_results_find(alone, name, &a));
        if (!gs_results_find(whole, full, &b)) fail_msg("%s is missing", full);
        assert_true(a.value == b.value || (isnan(a.value) && isnan(b.value)));
        assert_true(a.has_interval == b.has_interval);
        if (a.has_interval) assert_true(a.low == b.low && a.high == b.high);
        assert_string_equal(a.status, b.status);
        assert_int_equal(a.n, b.n);
        assert_true(a.has_bound == b.has_bound && (!a.has_bound || a.bound == b.bound));
    }
    for (size_t i = 0; i < gs_results_table_count(alone); i++) {
        const struct gs_table *a = gs_results_table_at(alone, i);
        const char *name = gs_table_name(a);
        if (strcmp(name, "against_untrained") == 0) continue; /* one for all */
        bool null = strncmp(name, "null.", 5) == 0;
        char full[256];
        snprintf(full, sizeof full, "%s%s", null ? null_key : key, null ? name + 5 : name);
        const struct gs_table *b = gs_results_find_table(whole, full);
        if (!b) fail_msg("table %s is missing", full);
        assert_int_equal(gs_table_rows(a), gs_table_rows(b));
        for (size_t row = 0; row < gs_table_rows(a); row++)
            for (size_t c = 0; c < gs_table_columns(a); c++) {
                struct gs_cell x = gs_table_cell(a, row, c), y = gs_table_cell(b, row, c);
                assert_int_equal(x.type, y.type);
                if (x.type == GS_CELL_NUMBER) assert_true(x.number == y.number);
            }
    }
}

/* Row r of the table is stream r, and `column` its value. */
static void check_table(const struct gs_results *whole, const char *table, const char *kind,
                        const char *column, size_t rows) {
    const struct gs_table *found = gs_results_find_table(whole, table);
    if (!found) fail_msg("no table %s", table);
    assert_int_equal(gs_table_rows(found), rows);
    size_t name = gs_table_find_column(found, kind), at = gs_table_find_column(found, column);
    assert_int_equal(name, 0);
    assert_true(at < gs_table_columns(found));
    for (size_t r = 0; r < rows; r++) {
        char full[128];
        assert_string_equal(gs_table_cell(found, r, name).text, layered_names[r]);
        snprintf(full, sizeof full, "%s.%s.%s", kind, layered_names[r], column);
        assert_true(gs_table_cell(found, r, at).number == number(whole, full));
    }
}

static void layers_stand_in_the_order_of_their_numbers(void **state) {
    (void)state;
    struct gs_trace *trace = open_layered("order.h5", &usual);
    const struct gs_trace_info *info = gs_trace_info(trace);
    for (size_t i = 0; i < LAYERED_STREAMS; i++)
        assert_string_equal(info->streams[i].name, layered_names[i]);
    for (size_t i = 0; i < LAYERED_LAYERS; i++)
        assert_string_equal(info->memories[i].name, layered_names[i]);
    assert_true(gs_has_layers(trace));
    assert_int_equal(gs_layer_number("layer07"), 7);
    assert_true(gs_layer_number("layer") == UINT64_MAX);
    assert_true(gs_layer_number("layer7b") == UINT64_MAX);
    assert_true(gs_layer_number("player7") == UINT64_MAX);
    size_t usual_stream;
    gs_assert_ok(gs_trace_find_stream(trace, NULL, &usual_stream, &error), &error);
    assert_string_equal(info->streams[usual_stream].name, "final");
    gs_trace_close(trace);
}

static void the_geometry_of_each_stream_is_its_own(void **state) {
    (void)state;
    struct gs_trace *trace = open_layered("geometry.h5", &usual);
    struct gs_results *all = gs_results_create("geometry");
    gs_assert_ok(gs_geometry_of_streams(trace, NULL, &geometry, all, &error), &error);
    for (size_t s = 0; s < LAYERED_STREAMS; s++) {
        char key[64];
        struct gs_results *alone = gs_results_create("geometry");
        gs_assert_ok(gs_geometry_of_trace(trace, layered_names[s], &geometry, alone, &error),
                     &error);
        snprintf(key, sizeof key, "stream.%s.", layered_names[s]);
        check_part(all, key, "", alone);
        gs_results_destroy(alone);
    }
    check_table(all, "geometry_by_stream", "stream", "stable_rank.centered", LAYERED_STREAMS);
    check_table(all, "geometry_by_stream", "stream", "mean_energy", LAYERED_STREAMS);
    assert_false(gs_results_find(all, "mean_energy", NULL));
    const struct gs_table *wide = gs_results_find_table(all, "geometry_by_stream_interval");
    assert_non_null(wide);
    struct gs_value value;
    assert_true(gs_results_find(all, "stream.layer10.mean_energy", &value));
    size_t low = gs_table_find_column(wide, "mean_energy_low");
    assert_true(gs_table_cell(wide, 2, low).number == value.low);
    gs_results_destroy(all);
    gs_trace_close(trace);
}

/* Under plain names, too: what a report shows of its one stream. */
static void the_main_stream_keeps_its_plain_names(void **state) {
    (void)state;
    struct gs_trace *trace = open_layered("main.h5", &usual);
    struct gs_results *all = gs_results_create("geometry"), *alone = gs_results_create("geometry");
    gs_assert_ok(gs_geometry_of_streams(trace, "layer9", &geometry, all, &error), &error);
    gs_assert_ok(gs_geometry_of_trace(trace, "layer9", &geometry, alone, &error), &error);
    check_part(all, "", "", alone);
    check_part(all, "stream.layer9.", "", alone);
    gs_results_destroy(all);
    gs_results_destroy(alone);
    all = gs_results_create("geometry");
    gs_assert_error(gs_geometry_of_streams(trace, "layer3", &geometry, all, &error), GS_MISSING,
                    &error, "layer3", "layer9");
    gs_results_destroy(all);
    gs_trace_close(trace);
}

static void the_horizon_of_each_stream_is_its_own(void **state) {
    (void)state;
    struct gs_trace *trace = open_layered("horizon.h5", &usual);
    struct gs_results *all = gs_results_create("horizon");
    gs_assert_ok(gs_horizon_of_streams(trace, NULL, &horizon, &bootstrap, NULL, all, &error),
                 &error);
    for (size_t s = 0; s < LAYERED_STREAMS; s++) {
        char key[64];
        struct gs_results *alone = gs_results_create("horizon");
        gs_assert_ok(
            gs_horizon_of_trace(trace, layered_names[s], &horizon, &bootstrap, NULL, alone, &error),
            &error);
        snprintf(key, sizeof key, "stream.%s.", layered_names[s]);
        check_part(all, key, "", alone);
        gs_results_destroy(alone);
    }
    check_table(all, "horizon_by_stream", "stream", "horizon.raw.plateau", LAYERED_STREAMS);
    gs_results_destroy(all);
    gs_trace_close(trace);
}

static void check_heads(const struct gs_results *all) {
    const struct gs_table *heads = gs_results_find_table(all, "retention_by_head");
    assert_non_null(heads);
    assert_int_equal(gs_table_rows(heads), LAYERED_LAYERS * LAYERED_HEADS);
    size_t efold = gs_table_find_column(heads, "efold"),
           null = gs_table_find_column(heads, "null_efold"),
           status = gs_table_find_column(heads, "efold_status"),
           bound = gs_table_find_column(heads, "efold_bound");
    size_t censored = 0;
    for (size_t r = 0; r < gs_table_rows(heads); r++) {
        const char *layer = layered_names[r / LAYERED_HEADS];
        size_t head = r % LAYERED_HEADS;
        char name[128];
        struct gs_value value;
        assert_string_equal(gs_table_cell(heads, r, 0).text, layer);
        assert_int_equal(gs_table_cell(heads, r, 1).integer, head);
        snprintf(name, sizeof name, "memory.%s.retention.head.%02zu.efold", layer, head);
        assert_true(gs_results_find(all, name, &value));
        assert_string_equal(gs_table_cell(heads, r, status).text, value.status);
        if (strcmp(value.status, "ok") == 0) {
            assert_true(gs_table_cell(heads, r, efold).number == value.value);
        } else {
            censored++;
            assert_int_equal(gs_table_cell(heads, r, efold).type, GS_CELL_NULL);
            assert_true(gs_table_cell(heads, r, bound).number == value.bound);
        }
        snprintf(name, sizeof name, "null.memory.%s.retention.head.%02zu.efold", layer, head);
        assert_true(gs_results_find(all, name, &value));
        if (strcmp(value.status, "ok") == 0)
            assert_true(gs_table_cell(heads, r, null).number == value.value);
        else
            assert_true(gs_table_cell(heads, r, null + 1).number == value.bound);
    }
    assert_true(censored > 0); /* the longest of the last layer, by how the trace is made */
}

static void the_retention_of_each_memory_is_its_own(void **state) {
    (void)state;
    struct gs_trace *trace = open_layered("trained.h5", &usual);
    struct gs_trace *null = open_layered("untrained.h5", &early);
    struct gs_results *all = gs_results_create("retention");
    gs_assert_ok(
        gs_retention_of_memories(trace, NULL, null, &retention, &bootstrap, NULL, all, &error),
        &error);
    for (size_t l = 0; l < LAYERED_LAYERS; l++) {
        char key[64], null_key[64];
        struct gs_results *alone = gs_results_create("retention");
        gs_assert_ok(gs_retention_of_trace(trace, layered_names[l], null, &retention, &bootstrap,
                                           NULL, alone, &error),
                     &error);
        snprintf(key, sizeof key, "memory.%s.", layered_names[l]);
        snprintf(null_key, sizeof null_key, "null.memory.%s.", layered_names[l]);
        check_part(all, key, null_key, alone);
        gs_results_destroy(alone);
    }
    check_table(all, "retention_by_memory", "memory", "split.slow", LAYERED_LAYERS);
    check_heads(all);
    gs_results_destroy(all);
    gs_trace_close(null);
    gs_trace_close(trace);
}

/* Along the key Gated DeltaNet keeps alpha (1 - beta), across it alpha: counted here by hand. */
static void along_the_key_it_is_alpha_times_one_less_beta(void **state) {
    (void)state;
    struct layered_values *v = gs_calloc(1, sizeof *v);
    struct gs_trace *trace;
    assert_non_null(v);
    gs_assert_ok(gs_trace_open(layered_write("key.h5", &usual, v), &trace, &error), &error);
    struct gs_results *all = gs_results_create("retention");
    gs_assert_ok(
        gs_retention_of_memories(trace, NULL, NULL, &retention, &bootstrap, NULL, all, &error),
        &error);
    for (size_t l = 0; l < LAYERED_LAYERS; l++) {
        char name[64];
        snprintf(name, sizeof name, "memory.%s.retention", layered_names[l]);
        const struct gs_table *table = gs_results_find_table(all, name);
        assert_non_null(table);
        for (size_t h = 0; h < LAYERED_HEADS; h++) {
            double across = 0, along = 0, n = 0;
            for (size_t s = 0; s < LAYERED_SEQUENCES; s++)
                for (size_t t = 0; t + 2 < LAYERED_LENGTH; t++, n++) {
                    double a = 1, k = 1;
                    for (size_t i = 1; i <= 2; i++) {
                        size_t at = (s * LAYERED_LENGTH + t + i) * LAYERED_HEADS + h;
                        a *= exp((double)v->log_decay[l][at]);
                        k *= exp((double)v->log_decay[l][at]) *
                             (1 - (double)v->write_strength[l][at]);
                    }
                    across += a;
                    along += k;
                }
            size_t row = 0; /* of lag 2 */
            while (gs_table_cell(table, row, 0).integer != (int64_t)h ||
                   gs_table_cell(table, row, 1).integer != 2)
                row++;
            gs_assert_near("across", gs_table_cell(table, row, 2).number, across / n, 0, 1e-12);
            gs_assert_near("along", gs_table_cell(table, row, 3).number, along / n, 0, 1e-12);
        }
    }
    gs_results_destroy(all);
    gs_trace_close(trace);
    gs_free(v);
}

/* The first row of a sequence is not predicted: it has no loss, and counts nowhere. */
static void the_loss_begins_with_the_second_row(void **state) {
    (void)state;
    struct layered_values *v = gs_calloc(1, sizeof *v);
    struct gs_trace *trace;
    assert_non_null(v);
    gs_assert_ok(gs_trace_open(layered_write("loss.h5", &usual, v), &trace, &error), &error);
    assert_int_equal(gs_trace_info(trace)->nll_first, 1);
    struct gs_results *loss = gs_results_create("loss");
    gs_assert_ok(gs_loss_of_trace(trace, 0, &bootstrap, NULL, loss, &error), &error);
    double sum = 0, n = 0;
    for (size_t r = 0; r < LAYERED_ROWS; r++)
        if (r % LAYERED_LENGTH) {
            sum += (double)v->nll[r];
            n++;
        }
    gs_assert_near("loss", number(loss, "loss"), sum / n, 0, 1e-12);
    gs_assert_near("tokens", number(loss, "tokens"), n, 0, 0);
    const struct gs_table *positions = gs_results_find_table(loss, "loss_by_position");
    assert_int_equal(gs_table_cell(positions, 0, 0).integer, 1);
    gs_results_destroy(loss);
    gs_trace_close(trace);
    gs_free(v);
}

/* Someone who watches sees the whole go forward, and can stop it. */
struct watcher {
    double last, total;
    size_t reports, most;
};

static void watch(void *context, double done, double total, const char *note) {
    struct watcher *w = context;
    assert_true(done >= w->last && done <= total);
    assert_non_null(note);
    w->last = done;
    w->total = total;
    w->reports++;
}

static bool stop_late(void *context) {
    const struct watcher *w = context;
    return w->reports > w->most;
}

static void progress_goes_forward_and_can_be_stopped(void **state) {
    (void)state;
    struct gs_trace *trace = open_layered("watched.h5", &usual);
    struct watcher w = {.most = SIZE_MAX};
    const struct gs_progress progress = {&w, watch, stop_late};
    struct gs_geometry_options how = geometry;
    how.progress = &progress;
    struct gs_results *all = gs_results_create("geometry");
    gs_assert_ok(gs_geometry_of_streams(trace, NULL, &how, all, &error), &error);
    gs_assert_near("total", w.total, LAYERED_STREAMS, 0, 0);
    gs_assert_near("last", w.last, LAYERED_STREAMS, 1e-9, 0);
    gs_results_destroy(all);
    all = gs_results_create("geometry");
    w = (struct watcher){.most = 3};
    gs_assert_error(gs_geometry_of_streams(trace, NULL, &how, all, &error), GS_INTERRUPTED, &error,
                    "");
    assert_int_equal(gs_results_count(all), 0);
    gs_results_destroy(all);
    gs_trace_close(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_stand_in_the_order_of_their_numbers),
        cmocka_unit_test(the_geometry_of_each_stream_is_its_own),
        cmocka_unit_test(the_main_stream_keeps_its_plain_names),
        cmocka_unit_test(the_horizon_of_each_stream_is_its_own),
        cmocka_unit_test(the_retention_of_each_memory_is_its_own),
        cmocka_unit_test(along_the_key_it_is_alpha_times_one_less_beta),
        cmocka_unit_test(the_loss_begins_with_the_second_row),
        cmocka_unit_test(progress_goes_forward_and_can_be_stopped),
    };
    print_message("seed %d\n", SEED);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
