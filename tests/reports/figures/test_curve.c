/* Training logs as curves: what is read, what is refused, and the picture. */
#include "core/base/file.h"
#include "reports/figures/curve.h"
#include "reports/figures/gnuplot.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *put(const char *name, const char *text) {
    return gs_scratch_file(name, text, strlen(text));
}

static void reads(void **state) {
    (void)state;
    struct gs_training_curve curve;
    struct gs_error error;
    /* half a row at the end is being written; line ends of two bytes are the authors' */
    const char *path = put("log.csv", "step,loss,lr,grad_norm,pred_ce\r\n10,4.5,1.00e-03,0.25,4\r\n"
                                      "20,nan,2e-3,inf,4\n30,3.25,0.00e+00,-nan,1\n40,3.");
    gs_assert_ok(gs_training_curve_read(path, &curve, &error), &error);
    assert_int_equal(curve.count, 3);
    assert_true(curve.step[0] == 10 && curve.step[1] == 20 && curve.step[2] == 30);
    assert_true(curve.loss[0] == 4.5 && isnan(curve.loss[1]) && curve.loss[2] == 3.25);
    assert_true(curve.rate[0] == 1e-3 && curve.rate[1] == 2e-3 && curve.rate[2] == 0);
    assert_true(curve.norm[0] == 0.25 && isnan(curve.norm[1]) && isnan(curve.norm[2]));
    gs_training_curve_free(&curve);
    /* columns in another order, and no others */
    path = put("other.csv", "loss,step\n2,1\n");
    gs_assert_ok(gs_training_curve_read(path, &curve, &error), &error);
    assert_int_equal(curve.count, 1);
    assert_true(curve.step[0] == 1 && curve.loss[0] == 2);
    assert_true(isnan(curve.rate[0]) && isnan(curve.norm[0]));
    gs_training_curve_free(&curve);
    /* a table that has just begun */
    gs_assert_ok(gs_training_curve_read(put("begun.csv", "step,loss\n"), &curve, &error), &error);
    assert_int_equal(curve.count, 0);
    gs_training_curve_free(&curve);
}

static void refuses(void **state) {
    (void)state;
    static char wide[2000];
    memset(wide, '1', sizeof wide - 1);
    memcpy(wide, "step,loss\n1,", 12);
    wide[sizeof wide - 2] = '\n';
    const struct {
        const char *text, *line, *word;
    } cases[] = {
        {"", "line 1", "step and loss"},
        {"step,loss", "line 1", "step and loss"},
        {"step,los,lr\n1,2,3\n", "line 1", "step,los,lr"},
        {"step,loss\n1,2\n3\n", "line 3", "short"},
        {"step,loss\n1,2\n\n", "line 3", "number"},
        {"step,loss\n1,two\n", "line 2", "two"},
        {"step,loss\nnan,2\n", "line 2", "nan"},
        {"step,loss,lr\n1,2,0x\n", "line 2", "0x"},
        {wide, "line 2", "short"},
    };
    struct gs_training_curve curve;
    struct gs_error error;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = put("bad.csv", cases[i].text);
        gs_assert_error(gs_training_curve_read(path, &curve, &error), GS_FORMAT, &error, "bad.csv",
                        cases[i].line, cases[i].word);
        assert_null(curve.step);
    }
    gs_assert_error(gs_training_curve_read(gs_scratch_path("absent.csv"), &curve, &error),
                    GS_MISSING, &error, "absent.csv");
}

static size_t occurrences(const char *text, const char *word) {
    size_t count = 0;
    for (; (text = strstr(text, word)); text++) count++;
    return count;
}

/* Every point is in the picture, names stay what they are, and no name is a command. */
static void draws(void **state) {
    (void)state;
    struct gs_error error;
    if (gs_gnuplot_probe(&error) != GS_OK) {
        print_message("skipped: %s\n", error.what);
        skip();
    }
    struct gs_named_curve curves[2] = {{.name = "a_{1}`touch hacked`'\""}, {.name = "second"}};
    const char *logs[] = {
        put("a.csv", "step,loss,lr,grad_norm\n10,4,1e-3,1\n20,3,2e-3,2\n30,2.5,1e-3,nan\n"),
        put("b.csv", "step,loss\n10,4.5\n20,3.5\n")};
    for (size_t i = 0; i < 2; i++)
        gs_assert_ok(gs_training_curve_read(logs[i], &curves[i].curve, &error), &error);
    struct gs_plot plot = {0};
    gs_curve_plot(curves, 2, &plot);
    assert_null(plot.empty);
    const char *path = gs_scratch_path("curve.svg");
    const struct gs_plot_size size = {.width = 760, .height = 560};
    gs_assert_ok(gs_plot_draw(&plot, &size, path, &error), &error);
    gs_plot_free(&plot);
    struct gs_mapped_file file;
    gs_assert_ok(gs_file_map(path, &file, &error), &error);
    char *svg = calloc(file.size + 1, 1);
    memcpy(svg, file.bytes, file.size);
    gs_file_unmap(&file);
    static const char *const words[] = {
        "loss, nat per token", ">rate<", "|gradient|", ">step<", ">second<", "a_{1}`touch hacked`"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strstr(svg, words[i])) fail_msg("the picture lacks %s", words[i]);
    assert_true(occurrences(svg, "rgb(  0, 114, 178)") >= 3); /* a line of the first run a panel */
    assert_true(occurrences(svg, "rgb(213,  94,   0)") >= 1);
    assert_false(gs_path_exists("hacked"));
    free(svg);
    for (size_t i = 0; i < 2; i++) gs_training_curve_free(&curves[i].curve);
}

static void nothing_to_draw(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_named_curve curve = {.name = "none"};
    gs_assert_ok(
        gs_training_curve_read(put("none.csv", "step,loss\n1,nan\n"), &curve.curve, &error),
        &error);
    struct gs_plot plot = {0};
    gs_curve_plot(&curve, 1, &plot);
    assert_non_null(plot.empty);
    gs_plot_free(&plot);
    gs_training_curve_free(&curve.curve);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),
        cmocka_unit_test(refuses),
        cmocka_unit_test(draws),
        cmocka_unit_test(nothing_to_draw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
