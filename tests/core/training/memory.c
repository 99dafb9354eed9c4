/* Memory: what is predicted before a run, how it grows, and which setting is proposed. */
#include "tests/core/training/memory_models.h"
#include "tests/support/support.h"

#include "core/base/environment.h"
#include "core/base/json.h"
#include "core/checkpoint/model_config.h"
#include "core/training/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An outline of such a model. */
static struct gs_model *outline(const char *sizes) {
    char text[512];
    snprintf(text, sizeof text, "{\"kind\":\"gpn_m\",\"model\":{%s}}", sizes);
    struct gs_error error = {0};
    struct gs_json *json = NULL;
    struct gs_model *model = NULL;
    gs_assert_ok(gs_json_parse(text, strlen(text), "test", &json, &error), &error);
    gs_assert_ok(gs_model_outline_from_config(json, "test", &model, &error), &error);
    gs_json_destroy(json);
    return model;
}

static size_t predict(const struct gs_model *model, struct gs_training_setting setting) {
    struct gs_training_memory memory;
    gs_training_memory_predict(model, &setting, 0, &memory);
    return memory.total;
}

static struct gs_training_setting setting_of(size_t batch, size_t steps, size_t every) {
    return (struct gs_training_setting){
        .batch_size = batch, .grad_accum = 1, .seq_len = steps, .recompute_every = every};
}

/* ---- an outline ------------------------------------------------------------------------------ */

/* It has the counts of the model itself, and no values. */
static void test_outline(void **state) {
    (void)state;
    struct gs_model *model = outline(MIDDLE_MODEL), *whole = NULL;
    const struct gs_parameters *p = gs_model_parameters(model);
    assert_null(p->values);
    struct gs_error error = {0};
    struct gs_json *config = gs_model_config(model);
    gs_assert_ok(gs_model_from_config(config, "test", &whole, &error), &error);
    gs_json_destroy(config);
    const struct gs_parameters *q = gs_model_parameters(whole);
    assert_int_equal(p->tensor_count, q->tensor_count);
    assert_int_equal(p->count, q->count);
    assert_int_equal(p->stride, q->stride);
    for (size_t i = 0; i < p->tensor_count; i++) {
        assert_null(p->tensors[i].values);
        assert_string_equal(p->tensors[i].name, q->tensors[i].name);
        assert_int_equal(p->tensors[i].count, q->tensors[i].count);
    }
    assert_int_equal(predict(model, setting_of(4, 32, 0)), predict(whole, setting_of(4, 32, 0)));
    /* parameters, gradients, two moments; what is held already counts once */
    const struct gs_training_setting setting = setting_of(4, 32, 0);
    struct gs_training_memory memory, held;
    gs_training_memory_predict(model, &setting, 0, &memory);
    gs_training_memory_predict(model, &setting, 5 * MB, &held);
    assert_int_equal(memory.parameters, (1 + 1 + 2) * sizeof(float) * p->stride);
    assert_int_equal(memory.total, memory.program + memory.parameters + memory.batch);
    assert_int_equal(held.total, memory.total + 5 * MB);
    gs_model_destroy(model);
    gs_model_destroy(whole);
}

/* ---- how it grows ---------------------------------------------------------------------------- */

/* With recomputing, a longer window adds what stands between segments, the tokens, and one vector
 * of the embedding's width a token (the gradient that flows back from the losses), and no
 * activations. */
static void test_growth(void **state) {
    (void)state;
    struct gs_model *model = outline(MIDDLE_MODEL);
    const size_t d = 256, e = 128, keys = 8 * 32, matrix = 8 * 32 * 64, heads = 8, batch = 4;
    const size_t every = 32, from = 1024, to = 4096;
    size_t longer = predict(model, setting_of(batch, to, every)) -
                    predict(model, setting_of(batch, from, every));
    size_t segments = (to - from) / every, tokens = batch * (to - from);
    size_t kept = 4 * batch * segments * (d + keys + heads + matrix);
    size_t a_token = 4 * e + 4 * sizeof(uint32_t);
    print_message("%zu bytes more, %zu of states kept\n", longer, kept);
    assert_true(longer >= kept && longer <= kept + kept / 100 + tokens * a_token);
    /* without it, every step keeps its activations: at least in[] and the states */
    size_t whole =
        predict(model, setting_of(batch, to, 0)) - predict(model, setting_of(batch, from, 0));
    assert_true(whole > 4 * tokens * (2 * 688 + 4 * d));
    assert_true(whole > 5 * longer);
    /* in T / segment, not in T: doubling the segment halves what is kept, and adds one segment */
    size_t wide = predict(model, setting_of(batch, to, 2 * every)) -
                  predict(model, setting_of(batch, from, 2 * every));
    assert_true(wide < longer);
    /* a cut gradient does not see the window's length at all, but for its tokens */
    struct gs_training_setting cut = setting_of(batch, from, 0),
                               cut_long = setting_of(batch, to, 0);
    cut.truncate_bptt = cut_long.truncate_bptt = 64;
    assert_int_equal(predict(model, cut_long) - predict(model, cut), 4 * tokens);
    gs_model_destroy(model);
}

/* The paper's model, B 4, T 64, recomputing every 8: under 4.5 GB in all. (tests/bench/memory.c
 * counts it.) */
static void test_paper(void **state) {
    (void)state;
    struct gs_model *model = outline(PAPER_MODEL);
    size_t count = gs_model_parameters(model)->count, bytes = predict(model, setting_of(4, 64, 8));
    print_message("%zu parameters, %zu MB\n", count, bytes / MB);
    assert_true(count > (size_t)129 * MB && count < (size_t)130 * MB);
    assert_true(bytes < (size_t)4500 * MB && bytes > 16 * count);
    gs_model_destroy(model);
}

/* ---- which setting is proposed --------------------------------------------------------------- */

/* For every amount of memory from nothing to plenty: what is proposed fits, and a gentler change
 * would not have. */
static void test_setting(void **state) {
    (void)state;
    struct gs_model *model = outline(LARGE_MODEL);
    struct gs_training_setting asked = setting_of(12, 512, 0), found;
    asked.grad_accum = 2;
    const size_t plenty = predict(model, asked);
    assert_true(gs_training_setting_find(model, &asked, false, 0, plenty, &found));
    assert_memory_equal(&found, &asked, sizeof found);
    size_t seen[4] = {0};
    for (size_t percent = 1; percent < 100; percent++) {
        size_t most = plenty / 100 * percent;
        if (!gs_training_setting_find(model, &asked, false, 0, most, &found)) {
            assert_true(predict(model, setting_of(1, 1, 0)) > most);
            assert_true(predict(model, found) > most);
            seen[3]++;
            continue;
        }
        assert_true(predict(model, found) <= most);
        assert_int_equal(found.batch_size * found.grad_accum, 24);
        assert_int_equal(found.seq_len, 512);
        bool cut = found.truncate_bptt > 0, split = found.batch_size < 12;
        seen[cut ? 2 : split ? 1 : 0]++;
        /* would a segment of any length alone have done? */
        for (size_t every = 1; every < 512 && (cut || split); every++)
            assert_true(predict(model, setting_of(12, 512, every)) > most);
        /* and one twice as long as proposed? */
        if (!cut && !split) {
            assert_true(found.recompute_every > 0);
            assert_true(predict(model, setting_of(12, 512, 2 * found.recompute_every)) > most);
        }
        for (size_t batch = 1; batch <= 12 && cut; batch++)
            assert_true(12 % batch || predict(model, setting_of(batch, 512, 32)) > most);
    }
    print_message("segments %zu, batches %zu, cuts %zu, none %zu\n", seen[0], seen[1], seen[2],
                  seen[3]);
    for (size_t i = 0; i < 4; i++) assert_true(seen[i] > 0);
    /* a run that goes on keeps its batch */
    for (size_t percent = 1; percent < 100; percent++)
        if (gs_training_setting_find(model, &asked, true, 0, plenty / 100 * percent, &found))
            assert_int_equal(found.batch_size, 12);
    gs_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outline),
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_paper),
        cmocka_unit_test(test_setting),
    };
    gs_threads_set(1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
