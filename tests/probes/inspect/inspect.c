/* What a file is, is told from its content; what is wrong with it, by its reader. All names lie. */
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/checkpoint/checkpoint.h"
#include "core/results/results.h"
#include "probes/inspect/check.h"
#include "probes/inspect/describe.h"
#include "probes/inspect/file_kind.h"
#include "probes/trace/hdf5_file.h"
#include "tests/probes/trace/trace_support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct gs_error error;

/* ---- files of each kind ---- */

static const char *checkpoint_file(void) {
    static const char sizes[] = "{\"vocab_size\": 20, \"d_state\": 8, \"d_emb\": 4, \"d_ffn\": 12}";
    const char *path = gs_scratch_path("checkpoint.bin");
    struct gs_json *json;
    struct gs_model *model;
    gs_assert_ok(gs_json_parse(sizes, strlen(sizes), "test", &json, &error), &error);
    gs_assert_ok(gs_model_create("gpn", json, &model, &error), &error);
    gs_json_destroy(json);
    gs_parameters_initialise(gs_model_parameters(model), 1);
    gs_assert_ok(gs_checkpoint_save(path, true, model, 7, 1, &error), &error);
    gs_model_destroy(model);
    return path;
}

/* The last sequence lacks `missing` rows. */
static const char *trace_file(size_t missing) {
    struct gs_random random;
    gs_random_seed(&random, 1, "test/inspect");
    struct made *made = made_create((size_t[]){6, 9}, 2, 5, 2, &random);
    const char *path = gs_scratch_path("trace.safetensors");
    struct gs_trace_writer *writer;
    gs_assert_ok(gs_trace_writer_create(path, true, &made->plan, &writer, &error), &error);
    gs_assert_ok(made_append(made, writer, 0, 0, 6, &error), &error);
    gs_assert_ok(made_append(made, writer, 1, 0, 9 - missing, &error), &error);
    gs_assert_ok(gs_trace_writer_close(writer, &error), &error);
    made_destroy(made);
    return path;
}

static const char *hdf5_file(void) {
    const char *path = gs_scratch_path("other.json");
    struct gs_h5 *file;
    size_t count = 3;
    float values[3] = {1, 2, 3};
    unlink(path);
    gs_assert_ok(gs_h5_create(path, &file, &error), &error);
    gs_assert_ok(gs_h5_write(file, "x", GS_H5_F32, 1, &count, values, &error), &error);
    gs_assert_ok(gs_h5_close(file, &error), &error);
    return path;
}

static const char *ids_file(size_t bytes) {
    static const uint32_t ids[4] = {10, 2560, 31999, 0};
    return gs_scratch_file("ids.h5", ids, bytes);
}

static const char *text_file(const char *text) {
    return gs_scratch_file("text.model", text, strlen(text));
}

static const char config[] =
    "  {\"name\": \"run\", \"kind\": \"gpn\", \"model\": {\"vocab_size\": 20, \"d_state\": 8, "
    "\"d_emb\": 4, \"d_ffn\": 12}, \"training\": {\"batch_size\": 2, \"seq_len\": 8, "
    "\"grad_accum\": 1, \"total_steps\": 4, \"seed\": 1}, \"optimizer\": {\"learning_rate\": 0.01, "
    "\"adam_beta1\": 0.9, \"adam_beta2\": 0.95, \"weight_decay\": 0.1, \"warmup_steps\": 1, "
    "\"min_lr_ratio\": 0.1, \"grad_clip_norm\": 1.0}, \"logging\": {\"log_every\": 1, "
    "\"save_every\": 2}, \"dirs\": {\"data\": \"d\", \"checkpoint\": \"c\", \"log\": \"l\"}}";

static const char *results_file(void) {
    const char *path = gs_scratch_path("results.txt");
    struct gs_results *results = gs_results_create("geometry");
    gs_assert_ok(gs_results_number(results, "rows", 5, "1", 5, &error), &error);
    gs_assert_ok(gs_results_write(results, path, true, &error), &error);
    gs_results_destroy(results);
    return path;
}

/* ---- kinds ---- */

static void recognised(const char *path, enum gs_file_kind expected) {
    enum gs_file_kind kind;
    gs_assert_ok(gs_file_recognise(path, &kind, &error), &error);
    if (kind != expected)
        print_error("%s: %s, expected %s\n", path, gs_file_kind_name(kind),
                    gs_file_kind_name(expected));
    assert_int_equal(kind, expected);
}

static void kinds_from_content(void **state) {
    (void)state;
    enum gs_file_kind kind;
    recognised(checkpoint_file(), GS_KIND_SAFETENSORS);
    recognised(trace_file(0), GS_KIND_TRACE);
    recognised(hdf5_file(), GS_KIND_HDF5);
    recognised(gs_source_path("fixtures/traces/user_block.h5"), GS_KIND_TRACE);
    recognised(gs_source_path("fixtures/arrays/f4.npy"), GS_KIND_ARRAYS);
    recognised(gs_source_path("fixtures/arrays/rows.npz"), GS_KIND_ARRAYS);
    recognised(gs_source_path("fixtures/claims/structure.json"), GS_KIND_CLAIMS);
    recognised(ids_file(16), GS_KIND_IDS);
    recognised(ids_file(15), GS_KIND_IDS); /* broken, but these */
    /* id 123 is the byte of '{': as the first like JSON, as the third like a safetensors header */
    static const uint32_t first[] = {123, 7, 9, 1}, third[] = {5, 7, 379, 1}, late[] = {0, 32, 123};
    recognised(gs_scratch_file("first.json", first, sizeof first), GS_KIND_IDS);
    recognised(gs_scratch_file("third.safetensors", third, sizeof third), GS_KIND_IDS);
    recognised(gs_scratch_file("late.json", late, sizeof late), GS_KIND_IDS);
    recognised(text_file(config), GS_KIND_CONFIG);
    recognised(results_file(), GS_KIND_RESULTS);
    recognised(text_file("{\"a\": 1}"), GS_KIND_JSON);
    recognised(text_file("{\"model\": "), GS_KIND_JSON);
    recognised(text_file("\x0a\x0e\x0a\x05<unk>"), GS_KIND_TOKENIZER);
    gs_assert_ok(gs_folder_create(gs_scratch_path("shards"), &error), &error);
    gs_scratch_file("shards/meta.json", "{}", 2);
    recognised(gs_scratch_path("shards"), GS_KIND_SHARDS);
    gs_assert_ok(gs_folder_create(gs_scratch_path("nothing"), &error), &error);
    const char *strange[] = {text_file("plain words"), gs_scratch_file("empty.h5", "", 0),
                             gs_scratch_path("nothing")};
    for (size_t i = 0; i < 3; i++)
        gs_assert_error(gs_file_recognise(strange[i], &kind, &error), GS_UNSUPPORTED, &error,
                        strange[i], "checkpoint", "trace");
    gs_assert_error(gs_file_recognise(gs_scratch_path("absent"), &kind, &error), GS_MISSING, &error,
                    "absent");
}

/* ---- check ---- */

static void good(const char *path, const char *word) {
    char summary[256];
    gs_assert_ok(gs_check_file(path, NULL, summary, sizeof summary, &error), &error);
    if (strstr(summary, word)) return;
    print_error("%s: \"%s\" does not say \"%s\"\n", path, summary, word);
    fail();
}

static void bad(const char *path, enum gs_status status, const char *word) {
    char summary[256];
    gs_assert_error(gs_check_file(path, NULL, summary, sizeof summary, &error), status, &error,
                    path, word);
}

static void good_files_are_good(void **state) {
    (void)state;
    good(checkpoint_file(), "kind gpn");
    good(trace_file(0), "15 rows");
    good(ids_file(16), "4 token ids");
    good(text_file(config), "\"run\" of kind gpn");
    good(results_file(), "\"geometry\"");
    good(gs_source_path("fixtures/arrays/rows.npz"), "6 arrays");
    good(gs_source_path("fixtures/arrays/sequences.npz"), "7 arrays"); /* NaN in nll is fine */
    good(gs_source_path("fixtures/claims/structure.json"), "claims");
    good(gs_source_path("fixtures/traces/user_block.h5"), "12 rows");
}

/* A .npy of shape (2, 2) whose element (1, 0) is `value`. */
static const char *array_file(const char *name, float value) {
    unsigned char bytes[128] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 62, 0};
    float data[4] = {1, 2, value, 4};
    memset(bytes + 10, ' ', 62);
    static const char header[] = "{'descr':'<f4','fortran_order':False,'shape':(2,2)}";
    memcpy(bytes + 10, header, sizeof header - 1);
    memcpy(bytes + 72, data, sizeof data);
    return gs_scratch_file(name, bytes, 72 + sizeof data);
}

static const char *claims_file(const char *claims) {
    char text[512];
    snprintf(text, sizeof text, "{\"schema\": \"gpnscope-claims\", \"version\": 1, \"claims\": %s}",
             claims);
    return gs_scratch_file("claims.npy", text, strlen(text));
}

static void bad_files_are_named(void **state) {
    (void)state;
    char text[sizeof config];
    memcpy(text, config, sizeof config);
    memcpy(strstr(text, "d_ffn"), "d_fnn", 5);
    bad(text_file(text), GS_CONFIG, "d_fnn");
    bad(ids_file(15), GS_FORMAT, "15");
    bad(trace_file(2), GS_CHECK_FAILED, "13 rows");
    bad(hdf5_file(), GS_FORMAT, "not a trace");
    bad(text_file("{\"a\": 1}"), GS_FORMAT, "neither");
    bad(text_file("{\"model\": "), GS_FORMAT, "");
    const char *path = checkpoint_file();
    assert_int_equal(truncate(path, 900), 0);
    bad(path, GS_FORMAT, "");
    good(array_file("good.txt", 3), "1 array");
    bad(array_file("nan.txt", NAN), GS_NUMERIC, "element (1, 0)");
    bad(gs_source_path("fixtures/arrays/objects.npy"), GS_UNSUPPORTED, "Python objects");
    bad(gs_source_path("fixtures/arrays/objects_beside.npz"), GS_UNSUPPORTED, "array info");
    good(claims_file("[{\"name\": \"a\"}, {\"name\": \"b\"}]"), "2 claims");
    bad(claims_file("[{\"name\": \"a\"}, {\"name\": \"a\"}]"), GS_FORMAT, "claim 1");
    bad(claims_file("[{\"name\": \"a\"}, 3]"), GS_FORMAT, "claim 1");
    bad(claims_file("{}"), GS_FORMAT, "no array");
    bad(text_file("\x0a\x0e\x0a\x05<unk>"), GS_FORMAT, "");
}

/* ---- describe ---- */

static const char *fact_of(const struct gs_results *results, const char *name, char buffer[64]) {
    const struct gs_table *facts = gs_results_find_table(results, "facts");
    for (size_t row = 0; row < gs_table_rows(facts); row++) {
        if (strcmp(gs_table_cell(facts, row, 0).text, name) != 0) continue;
        struct gs_cell cell = gs_table_cell(facts, row, 1);
        if (cell.type == GS_CELL_TEXT) return cell.text;
        snprintf(buffer, 64, "%lld", (long long)cell.integer);
        return buffer;
    }
    return "";
}

static void a_checkpoint_described(void **state) {
    (void)state;
    struct gs_results *results;
    char buffer[64];
    gs_assert_ok(gs_describe_file(checkpoint_file(), &results, &error), &error);
    assert_string_equal(fact_of(results, "kind", buffer), "a safetensors file");
    assert_string_equal(fact_of(results, "model", buffer), "gpn");
    assert_string_equal(fact_of(results, "step", buffer), "7");
    assert_string_equal(fact_of(results, "config_source", buffer), "metadata");
    const struct gs_table *tensors = gs_results_find_table(results, "tensors");
    /* shapes multiply to counts, which add up to the parameters; a norm of ones is its root */
    long long all = 0;
    bool seen = false;
    for (size_t row = 0; row < gs_table_rows(tensors); row++) {
        all += gs_table_cell(tensors, row, 2).integer;
        if (strcmp(gs_table_cell(tensors, row, 0).text, "decode_norm_w") != 0) continue;
        assert_string_equal(gs_table_cell(tensors, row, 1).text, "8");
        gs_assert_near("norm of ones", gs_table_cell(tensors, row, 3).number, sqrt(8), 0, 1e-12);
        seen = true;
    }
    assert_true(seen);
    snprintf(buffer, sizeof buffer, "%lld (", all);
    char other[64];
    assert_non_null(strstr(fact_of(results, "parameters", other), buffer));
    gs_results_destroy(results);
}

static void a_trace_described(void **state) {
    (void)state;
    struct gs_results *results;
    char buffer[64];
    gs_assert_ok(gs_describe_file(trace_file(4), &results, &error), &error);
    assert_string_equal(fact_of(results, "kind", buffer), "a trace");
    assert_string_equal(fact_of(results, "rows", buffer), "15");
    assert_string_equal(fact_of(results, "rows_written", buffer), "11");
    assert_string_equal(fact_of(results, "sequences", buffer), "2");
    assert_non_null(strstr(fact_of(results, "complete", buffer), "no"));
    const struct gs_table *streams = gs_results_find_table(results, "streams");
    assert_int_equal(gs_table_rows(streams), 3);
    assert_int_equal(gs_table_cell(streams, 0, 1).integer, 5);
    assert_int_equal(gs_table_rows(gs_results_find_table(results, "memories")), 2);
    assert_int_equal(gs_table_rows(gs_results_find_table(results, "reads")), 2);
    gs_results_destroy(results);
}

static void the_rest_described(void **state) {
    (void)state;
    struct gs_results *results;
    char buffer[64];
    gs_assert_ok(gs_describe_file(ids_file(16), &results, &error), &error);
    assert_string_equal(fact_of(results, "tokens", buffer), "4");
    assert_string_equal(fact_of(results, "largest_id", buffer), "31999");
    gs_results_destroy(results);
    gs_assert_ok(gs_describe_file(text_file(config), &results, &error), &error);
    assert_string_equal(fact_of(results, "name", buffer), "run");
    assert_string_equal(fact_of(results, "tokens_per_step", buffer), "16");
    gs_results_destroy(results);
    gs_assert_ok(gs_describe_file(results_file(), &results, &error), &error);
    assert_string_equal(fact_of(results, "command", buffer), "geometry");
    gs_results_destroy(results);
    gs_assert_ok(gs_describe_file(hdf5_file(), &results, &error), &error);
    assert_int_equal(gs_table_rows(gs_results_find_table(results, "members")), 1);
    gs_results_destroy(results);
    gs_assert_ok(
        gs_describe_file(gs_source_path("fixtures/claims/structure.json"), &results, &error),
        &error);
    assert_string_equal(gs_table_cell(gs_results_find_table(results, "claims"), 0, 0).text,
                        "rank.spread");
    gs_results_destroy(results);
}

static void expect_row(const struct gs_table *table, const char *name, size_t column,
                       const char *text) {
    for (size_t row = 0; row < gs_table_rows(table); row++)
        if (strcmp(gs_table_cell(table, row, 0).text, name) == 0) {
            assert_string_equal(gs_table_cell(table, row, column).text, text);
            return;
        }
    print_error("no row %s\n", name);
    fail();
}

static void arrays_described(void **state) {
    (void)state;
    struct gs_results *results;
    gs_assert_ok(
        gs_describe_file(gs_source_path("fixtures/arrays/sequences.npz"), &results, &error),
        &error);
    const struct gs_table *arrays = gs_results_find_table(results, "arrays");
    assert_int_equal(gs_table_rows(arrays), 7);
    expect_row(arrays, "layer01", 1, ">f4");
    expect_row(arrays, "layer01", 3, "3 x 4 x 5");
    expect_row(arrays, "layer01", 4, "state/layer01");
    expect_row(arrays, "tokens", 4, "token");
    expect_row(arrays, "write_strength", 2, "Fortran");
    expect_row(arrays, "write_strength", 4, "memory/memory/write_strength");
    expect_row(arrays, "learning_rate", 4, "nothing");
    gs_results_destroy(results);
    gs_assert_ok(
        gs_describe_file(gs_source_path("fixtures/arrays/objects_beside.npz"), &results, &error),
        &error);
    expect_row(gs_results_find_table(results, "arrays"), "info", 1, "|O");
    expect_row(gs_results_find_table(results, "arrays"), "fields", 1, "fields");
    gs_results_destroy(results);
}

/* Nothing outside the file is opened for it: the external link names a file that is not there. */
static void strangers_listed(void **state) {
    (void)state;
    struct gs_results *results;
    gs_assert_ok(gs_describe_file(gs_source_path("fixtures/traces/strangers.h5"), &results, &error),
                 &error);
    const struct gs_table *strangers = gs_results_find_table(results, "passed_over");
    assert_int_equal(gs_table_rows(strangers), 9);
    expect_row(strangers, "elsewhere", 1, "external link, not followed");
    expect_row(strangers, "lost", 1, "link to nothing");
    expect_row(strangers, "loop", 1, "group");
    expect_row(strangers, "weights", 2, "3 x 4");
    expect_row(strangers, "hidden", 2, "12 x 5");
    expect_row(strangers, "pairs", 1, "other");
    expect_row(strangers, "it's `odd`\n$(x)", 1, "text");
    expect_row(strangers, "sequence/length", 1, "int64");
    expect_row(strangers, "memory/m/remarks", 1, "int64");
    gs_results_destroy(results);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_from_content),  cmocka_unit_test(good_files_are_good),
        cmocka_unit_test(bad_files_are_named), cmocka_unit_test(a_checkpoint_described),
        cmocka_unit_test(a_trace_described),   cmocka_unit_test(the_rest_described),
        cmocka_unit_test(arrays_described),    cmocka_unit_test(strangers_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
