/* From traces of several seeds and steps to verdicts: what was planted is found, what was not is
 * not, and what does not belong together is refused. */
#include "analyses/verify/verify.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/memory.h"
#include "tests/analyses/verify/traces.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WORDS                                                                                      \
    "\"structure\": \"s\", \"says\": \"s\", \"reason\": \"r\", \"untrained\": \"u\", "             \
    "\"direction\": "
static const char claims_text[] =
    "{\"schema\": \"gpnscope-claims\", \"version\": 1, \"claims\": ["
    "{\"name\": \"mean\", \"statistic\": \"mean_energy\", " WORDS "\"above\", \"threshold\": 0.5},"
    "{\"name\": \"no_mean\", \"statistic\": \"mean_energy\", " WORDS
    "\"below\", \"threshold\": 0.5},"
    "{\"name\": \"spread\", \"statistic\": \"participation_ratio\", " WORDS
    "\"at_least\", \"threshold\": 7},"
    "{\"name\": \"on_edge\", \"statistic\": \"stable_rank.centered\", " WORDS
    "\"above\", \"threshold\": 7.5},"
    "{\"name\": \"sides\", \"statistic\": \"split.smaller_side\", " WORDS
    "\"at_least\", \"threshold\": 2},"
    "{\"name\": \"decoded\", \"statistic\": \"default.spearman.mean_state\", " WORDS
    "\"above\", \"threshold\": 0},"
    "{\"name\": \"grew\", \"statistic\": \"mean_energy\", \"against\": \"untrained\", "
    "\"comparison\": \"ratio\", " WORDS "\"above\", \"threshold\": 2}]}";
enum { MEAN, NO_MEAN, SPREAD, ON_EDGE, SIDES, DECODED, GREW, CLAIMS };

struct verified {
    struct gs_verify_runs runs;
    struct gs_verify_count counts[CLAIMS];
    struct gs_results *results;
};

static void verify(const char *const *paths, size_t count, struct verified *v) {
    struct gs_error error;
    struct gs_claims *claims;
    const struct gs_verify_inputs inputs = {.traces = paths, .trace_count = count};
    gs_assert_ok(gs_verify_runs_open(&inputs, &v->runs, &error), &error);
    gs_assert_ok(gs_claims_parse(claims_text, strlen(claims_text), "claims", &claims, &error),
                 &error);
    v->results = gs_results_create("verify");
    const struct gs_verify_plan plan = {.claims = claims};
    gs_assert_ok(gs_verify_run_all(&v->runs, &plan, v->counts, v->results, &error), &error);
    gs_claims_destroy(claims);
}

static void done(struct verified *v) {
    gs_verify_runs_close(&v->runs);
    gs_results_destroy(v->results);
}

static void counted(const struct verified *v, size_t claim, size_t pass, size_t fail,
                    size_t undecided, size_t none) {
    assert_int_equal(v->counts[claim].of[GS_VERDICT_PASS], pass);
    assert_int_equal(v->counts[claim].of[GS_VERDICT_FAIL], fail);
    assert_int_equal(v->counts[claim].of[GS_VERDICT_UNDECIDED], undecided);
    assert_int_equal(v->counts[claim].of[GS_VERDICT_NONE], none);
}

static double value_of(const struct verified *v, const char *name) {
    struct gs_value value;
    if (!gs_results_find(v->results, name, &value)) fail_msg("no value %s", name);
    return value.value;
}

static struct gs_cell cell_of(const struct verified *v, const char *name, size_t row,
                              const char *column) {
    const struct gs_table *table = gs_results_find_table(v->results, name);
    assert_non_null(table);
    assert_true(row < gs_table_rows(table));
    return gs_table_cell(table, row, gs_table_find_column(table, column));
}

static const char *note_of(const struct verified *v, const char *begin) {
    for (size_t i = 0; i < gs_results_note_count(v->results); i++) {
        const char *note = gs_results_note_at(v->results, i);
        if (strncmp(note, begin, strlen(begin)) == 0) return note;
    }
    return NULL;
}

/* ---- planted ---- */

/* Three seeds, given in no order; the mean is there from step 10 on, gone at 50, there at 100. */
static void planted_structures_are_found(void **state) {
    (void)state;
    static const int64_t steps[] = {100, 0, 50, 10};
    const char *paths[12];
    for (int64_t seed = 1; seed <= 3; seed++)
        for (size_t i = 0; i < 4; i++) {
            const struct gs_planted plan = {.seed = seed,
                                            .step = steps[i],
                                            .mean = steps[i] % 50 == 10 || steps[i] == 100 ? 3 : 0,
                                            .own_states = steps[i] == 0,
                                            .pools = steps[i] == 100};
            char name[64];
            snprintf(name, sizeof name, "s%d/step-%d.h5", (int)seed, (int)steps[i]);
            paths[(size_t)(seed - 1) * 4 + i] = gs_planted_trace(name, &plan);
        }
    struct verified v;
    verify(paths, 12, &v);
    assert_int_equal(v.runs.run_count, 3);
    assert_string_equal(v.runs.runs[1].name, "s2");
    assert_int_equal(v.runs.runs[1].seed, 2);
    assert_int_equal(v.runs.runs[1].null, 5);
    counted(&v, MEAN, 3, 0, 0, 0);
    counted(&v, NO_MEAN, 0, 3, 0, 0);
    counted(&v, SPREAD, 3, 0, 0, 0);
    counted(&v, SIDES, 3, 0, 0, 0);
    counted(&v, DECODED, 0, 0, 3, 0); /* there is no checkpoint */
    counted(&v, GREW, 3, 0, 0, 0);
    gs_assert_near("untrained ratio", cell_of(&v, "claims", 3 * GREW, "untrained").number, 1, 0, 0);
    gs_assert_near("ratio at step 0", cell_of(&v, "emergence", 12 * GREW, "value").number, 1, 0, 0);
    assert_string_equal(cell_of(&v, "emergence", 12 * GREW + 1, "verdict").text, "pass");
    gs_assert_near("k", value_of(&v, "claim.mean.k"), 3, 0, 0);
    gs_assert_near("n", value_of(&v, "claim.no_mean.n"), 3, 0, 0);
    gs_assert_near("low", cell_of(&v, "over_seeds", MEAN, "low").number, pow(0.025, 1. / 3), 1e-9,
                   0);
    gs_assert_near("untrained", cell_of(&v, "claims", 0, "untrained").number, 0, 0.01, 0);
    /* pools in all seeds, against an even spread before training */
    gs_assert_near("pools", value_of(&v, "split.pooled.verdict.two_pools"), 1, 0, 0);
    gs_assert_near("made", value_of(&v, "split.pooled.made_by_training"), 1, 0, 0);
    assert_int_equal(gs_table_rows(gs_results_find_table(v.results, "heads")),
                     3 * GS_PLANTED_HEADS);
    /* the same states turned; before training each its own */
    gs_assert_near("cka", value_of(&v, "similarity.cka.min"), 1, 1e-5, 0);
    gs_assert_near("procrustes", value_of(&v, "similarity.procrustes.max"), 0, 1e-2, 0);
    assert_non_null(note_of(&v, "similarity: s1 and s2 have the same states but for a rotation"));
    assert_true(value_of(&v, "similarity.other_text.cka.max") < 0.05);
    assert_true(value_of(&v, "similarity.untrained.cka.max") < 0.05);
    assert_true(value_of(&v, "similarity.own_untrained.cka.max") < 0.05);
    /* emergence: steps in order, and the first from which on it stays */
    const struct gs_table *emergence = gs_results_find_table(v.results, "emergence");
    assert_int_equal(gs_table_rows(emergence), CLAIMS * 12);
    static const char *const verdicts[] = {"fail", "pass", "fail", "pass"};
    static const int64_t ordered[] = {0, 10, 50, 100};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(cell_of(&v, "emergence", i, "step").integer, ordered[i]);
        assert_string_equal(cell_of(&v, "emergence", i, "verdict").text, verdicts[i]);
    }
    assert_int_equal(cell_of(&v, "emergence_holds", 0, "step").integer, 100);
    assert_int_equal(cell_of(&v, "emergence_holds", 3 * NO_MEAN, "step").type, GS_CELL_NULL);
    assert_int_equal(cell_of(&v, "emergence_holds", 3 * SPREAD, "step").integer, 0);
    done(&v);
}

static void planted_absences_are_not_found(void **state) {
    (void)state;
    const char *paths[3];
    for (int64_t seed = 1; seed <= 3; seed++) {
        const struct gs_planted plan = {.seed = seed, .step = 100, .own_states = true};
        char name[64];
        snprintf(name, sizeof name, "absent-%d.h5", (int)seed);
        paths[seed - 1] = gs_planted_trace(name, &plan);
    }
    struct verified v;
    verify(paths, 3, &v);
    assert_string_equal(v.runs.runs[0].name, "absent-1");
    counted(&v, MEAN, 0, 3, 0, 0);
    counted(&v, NO_MEAN, 3, 0, 0, 0);
    counted(&v, GREW, 0, 0, 3, 0); /* there is no untrained model */
    assert_non_null(strstr(cell_of(&v, "claims", 3 * GREW, "reason").text, "--null"));
    gs_assert_near("pools", value_of(&v, "split.pooled.verdict.two_pools"), 0, 0, 0);
    assert_true(value_of(&v, "similarity.cka.max") < 0.05);
    assert_true(value_of(&v, "similarity.procrustes.min") > 1.2);
    assert_int_equal(gs_table_rows(gs_results_find_table(v.results, "emergence")), 0);
    assert_true(isnan(cell_of(&v, "claims", 0, "untrained").number) ||
                cell_of(&v, "claims", 0, "untrained").type == GS_CELL_NULL);
    done(&v);
}

/* One model under two hashes, and no seed recorded: not refused, but named. And what few sequences
 * do to intervals is said. */
static void the_same_states_twice_are_named(void **state) {
    (void)state;
    const struct gs_planted once = {.seed = -1, .step = -1, .checkpoint = "1"},
                            again = {.seed = -1, .step = -1, .checkpoint = "2"};
    const char *paths[2] = {gs_planted_trace("once.h5", &once),
                            gs_planted_trace("again.h5", &again)};
    struct verified v;
    verify(paths, 2, &v);
    assert_int_equal(v.runs.run_count, 2);
    const char *note = note_of(&v, "similarity: once and again have the same states");
    assert_non_null(note);
    assert_non_null(strstr(note, "one model counted twice"));
    note = note_of(&v, "intervals: they rest on ");
    assert_non_null(note);
    assert_non_null(strstr(note, "stable rank"));
    done(&v);
}

static void a_model_without_memory_has_no_heads(void **state) {
    (void)state;
    const char *paths[2];
    for (int64_t seed = 1; seed <= 2; seed++) {
        const struct gs_planted plan = {.seed = seed, .step = 5, .no_memory = true};
        char name[64];
        snprintf(name, sizeof name, "plain-%d.h5", (int)seed);
        paths[seed - 1] = gs_planted_trace(name, &plan);
    }
    struct verified v;
    struct gs_value value;
    verify(paths, 2, &v);
    counted(&v, SIDES, 0, 0, 0, 2);
    gs_assert_near("n", value_of(&v, "claim.sides.n"), 0, 0, 0);
    assert_true(gs_results_find(v.results, "claim.sides.share", &value));
    assert_string_equal(value.status, "none");
    assert_false(gs_results_find(v.results, "split.pooled.dip", &value));
    assert_string_equal(cell_of(&v, "claims", 2 * SIDES, "verdict").text, "none");
    done(&v);
}

/* ---- refused ---- */

static void refused(const struct gs_planted *other, const char *word) {
    static int number;
    struct gs_error error;
    const struct gs_planted plan = {.seed = 1, .step = 100};
    char names[2][32];
    for (int i = 0; i < 2; i++) snprintf(names[i], sizeof names[i], "r%d-%c.h5", number, 'a' + i);
    number++;
    const char *paths[2] = {gs_planted_trace(names[0], &plan), gs_planted_trace(names[1], other)};
    const struct gs_verify_inputs inputs = {.traces = paths, .trace_count = 2};
    struct gs_verify_runs runs;
    enum gs_status status = gs_verify_runs_open(&inputs, &runs, &error);
    gs_assert_error(status, GS_CONFIG, &error, word, names[0], names[1]);
    gs_verify_runs_close(&runs);
}

static void what_does_not_belong_is_refused(void **state) {
    (void)state;
    char same[65];
    snprintf(same, sizeof same, "%032llx%032llx", 2ULL, 101ULL);
    refused(&(struct gs_planted){.seed = 2, .step = 100, .checkpoint = same},
            "checkpoint is there");
    refused(&(struct gs_planted){.seed = 2, .step = 100, .tokenizer = "bb"}, "tokenizers");
    refused(&(struct gs_planted){.seed = 2, .step = 100, .first_token = 1}, "different text");
    refused(&(struct gs_planted){.seed = 1, .step = 100, .checkpoint = "cc"}, "one step");
    refused(&(struct gs_planted){.seed = 1, .step = -1}, "not recorded");
    refused(&(struct gs_planted){.seed = 2,
                                 .step = 100,
                                 .config = "{\"kind\": \"gpn_m\", \"model\": {\"d_state\": 8, "
                                           "\"n_heads\": 16}}"},
            "n_heads 16");
    refused(&(struct gs_planted){.seed = 2,
                                 .step = 100,
                                 .config = "{\"kind\": \"gpn_m\", \"model\": {\"d_state\": 8, "
                                           "\"n_heads\": 15, \"bias\": true}}"},
            "bias true");
}

static void untrained_traces_are_one_for_each_run(void **state) {
    (void)state;
    struct gs_error error;
    const struct gs_planted ends[2] = {{.seed = 1, .step = 9}, {.seed = 2, .step = 9}};
    const struct gs_planted start = {.seed = 1, .step = 0};
    const char *paths[2] = {gs_planted_trace("n1.h5", ends), gs_planted_trace("n2.h5", ends + 1)};
    const char *nulls[1] = {gs_planted_trace("n0.h5", &start)};
    struct gs_verify_inputs inputs = {
        .traces = paths, .trace_count = 2, .nulls = nulls, .null_count = 1};
    struct gs_verify_runs runs;
    gs_assert_error(gs_verify_runs_open(&inputs, &runs, &error), GS_USAGE, &error, "untrained");
    gs_verify_runs_close(&runs);
    inputs.trace_count = 1;
    gs_assert_ok(gs_verify_runs_open(&inputs, &runs, &error), &error);
    assert_int_equal(runs.run_count, 1);
    assert_int_equal(runs.runs[0].count, 1);
    assert_int_equal(runs.runs[0].null, 1);
    gs_verify_runs_close(&runs);
}

static void refused_null(const struct gs_planted *null, const char *word, const char *found) {
    struct gs_error error;
    static int number;
    char name[32], trained[32];
    snprintf(name, sizeof name, "not-null-%d.h5", number);
    snprintf(trained, sizeof trained, "null-of-%d.h5", number++);
    const struct gs_planted end = {.seed = 1, .step = 9};
    const char *paths[1] = {gs_planted_trace(trained, &end)};
    const char *nulls[1] = {gs_planted_trace(name, null)};
    const struct gs_verify_inputs inputs = {
        .traces = paths, .trace_count = 1, .nulls = nulls, .null_count = 1};
    struct gs_verify_runs runs;
    enum gs_status status = gs_verify_runs_open(&inputs, &runs, &error);
    gs_assert_error(status, GS_CONFIG, &error, word, found, name);
    gs_verify_runs_close(&runs);
}

static void what_is_not_the_untrained_model_is_refused(void **state) {
    (void)state;
    refused_null(&(struct gs_planted){.seed = 2, .step = 0}, "another seed", "seed 2");
    refused_null(&(struct gs_planted){.seed = 1, .step = 5}, "no trace of an untrained", "step 5");
}

/* ---- checkpoints ---- */

static void checkpoints_are_found_by_their_hash(void **state) {
    (void)state;
    struct gs_error error;
    static const char header[] = "{\"__metadata__\":{\"gpnscope.step\":\"7\"}}       ";
    char bytes[8 + sizeof header - 1] = {(char)(sizeof header - 1)}, hash[GS_SHA256_TEXT], *found;
    memcpy(bytes + 8, header, sizeof header - 1);
    const char *path = gs_scratch_file("it.safetensors", bytes, sizeof bytes);
    gs_scratch_file("other.safetensors", "not one", 7);
    gs_assert_ok(gs_sha256_path(path, hash, &error), &error);
    struct gs_trace_info info = {
        .path = gs_scratch_path("any.h5"), .checkpoint_sha256 = hash, .step = 7};
    gs_assert_ok(gs_verify_find_checkpoint(&info, &found, &error), &error);
    assert_non_null(found);
    assert_string_equal(found, path);
    gs_free(found);
    info.step = 8; /* the file says another */
    gs_assert_ok(gs_verify_find_checkpoint(&info, &found, &error), &error);
    assert_null(found);
    hash[0] = hash[0] == '0' ? '1' : '0';
    info.step = 7;
    gs_assert_ok(gs_verify_find_checkpoint(&info, &found, &error), &error);
    assert_null(found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_structures_are_found),
        cmocka_unit_test(planted_absences_are_not_found),
        cmocka_unit_test(the_same_states_twice_are_named),
        cmocka_unit_test(a_model_without_memory_has_no_heads),
        cmocka_unit_test(what_does_not_belong_is_refused),
        cmocka_unit_test(untrained_traces_are_one_for_each_run),
        cmocka_unit_test(what_is_not_the_untrained_model_is_refused),
        cmocka_unit_test(checkpoints_are_found_by_their_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
