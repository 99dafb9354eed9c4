/* gnuplot as a child: what it draws, how it fails, and that no label reaches it as a command. */
#include "core/base/file.h"
#include "reports/figures/child.h"
#include "reports/figures/gnuplot.h"
#include "reports/figures/label.h"
#include "reports/figures/plot.h"
#include "tests/reports/pieces.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

static bool absent(void) {
    struct gs_error error;
    if (gs_gnuplot_probe(&error) == GS_OK) return false;
    print_message("skipped: %s\n", error.what);
    return true;
}

static char *read_text(const char *path) {
    struct gs_mapped_file file;
    gs_assert_ok(gs_file_map(path, &file, NULL), NULL);
    char *text = calloc(file.size + 1, 1);
    assert_non_null(text);
    memcpy(text, file.bytes, file.size);
    gs_file_unmap(&file);
    return text;
}

/* No file in the scratch folder is a temporary one. */
static void no_leftovers(void) {
    char **names;
    size_t count;
    gs_assert_ok(gs_folder_list(gs_scratch_folder(), &names, &count, NULL), NULL);
    for (size_t i = 0; i < count; i++)
        if (names[i][0] == '.') fail_msg("%s is left", names[i]);
    gs_free_names(names, count);
}

static void draws(void **state) {
    (void)state;
    if (absent()) skip();
    static const char script[] = "set terminal svg size 400,300 noenhanced\nplot sin(x)\n";
    const char *path = gs_scratch_path("sine.svg");
    struct gs_error error;
    gs_assert_ok(gs_gnuplot_run(script, sizeof script - 1, path, &error), &error);
    assert_true(gs_path_exists(path));
    no_leftovers();
}

static void expect_failure(const char *script, const char *word) {
    const char *path = gs_scratch_path("failed.svg");
    struct gs_error error;
    gs_assert_error(gs_gnuplot_run(script, strlen(script), path, &error), GS_UNSUPPORTED, &error,
                    "gnuplot", word);
    assert_false(gs_path_exists(path));
    no_leftovers();
}

static void fails(void **state) {
    (void)state;
    if (absent()) skip();
    expect_failure("set terminal svg\nset nosuchthing\n", "exit code");
    expect_failure("set terminal svg\nplot '/nonexistent' using 1:2\n", "exit code");
    expect_failure("set terminal svg\n", "no whole picture"); /* ends well, draws nothing */
    expect_failure("set terminal dumb\nplot x\n", "no whole picture");
    expect_failure("", "no whole picture");
}

static void holds(const char *path, const char *expected) {
    char *text = read_text(path);
    assert_string_equal(text, expected);
    free(text);
}

/* A picture that cannot be drawn leaves the one before, and files with names of their own beside
 * it are nobody's business. */
static void old_picture_stays(void **state) {
    (void)state;
    if (absent()) skip();
    static const char *const names[] = {"old.svg", "old.svg.data", "old.svg.script",
                                        "old.svg.messages"};
    for (size_t i = 0; i < 4; i++) gs_scratch_file(names[i], names[i], strlen(names[i]));
    struct gs_plot plot = {0};
    struct gs_plot_size size = {400, 300, false};
    struct gs_error error;
    gs_plot_number(&plot, 1);
    gs_plot_row(&plot);
    gs_plot_block(&plot);
    gs_plot_command(&plot, "plot nosuchfunction(x)");
    gs_assert_error(gs_plot_draw(&plot, &size, gs_scratch_path("old.svg"), &error), GS_UNSUPPORTED,
                    &error, "gnuplot", "old.svg");
    for (size_t i = 0; i < 4; i++) holds(gs_scratch_path("%s", names[i]), names[i]);
    gs_text_free(&plot.script);
    gs_plot_command(&plot, "plot data index 0 using 0:1");
    gs_assert_ok(gs_plot_draw(&plot, &size, gs_scratch_path("old.svg"), &error), &error);
    for (size_t i = 1; i < 4; i++) holds(gs_scratch_path("%s", names[i]), names[i]);
    no_leftovers();
    gs_plot_free(&plot);
}

/* Much on every stream at once: what it reads, what it says, what it draws. */
static void busy_streams(void **state) {
    (void)state;
    static char program[] = "sh", option[] = "-c",
                body[] = "head -c 300000 /dev/zero >&2; cat; head -c 300000 /dev/zero >&2; exit 7";
    enum { SIZE = 1000000 };
    char *arguments[] = {program, option, body, NULL}, *environment[] = {NULL};
    const struct gs_child child = {arguments, environment};
    char *input = malloc(SIZE);
    assert_non_null(input);
    for (size_t i = 0; i < SIZE; i++) input[i] = (char)(i % 251);
    struct gs_text output = {0}, messages = {0};
    int wait_status = 0;
    assert_int_equal(gs_child_run(&child, input, SIZE, &output, &messages, &wait_status), 0);
    assert_int_equal(WEXITSTATUS(wait_status), 7);
    assert_int_equal(messages.size, 600000);
    assert_int_equal(output.size, SIZE);
    assert_memory_equal(output.bytes, input, SIZE);
    /* one that reads nothing ends this process no more than it hangs it */
    static char deaf[] = "exit 3";
    arguments[2] = deaf;
    assert_int_equal(gs_child_run(&child, input, SIZE, &output, &messages, &wait_status), 0);
    assert_int_equal(WEXITSTATUS(wait_status), 3);
    free(input);
    gs_text_free(&output);
    gs_text_free(&messages);
}

static void missing_program(void **state) {
    (void)state;
    char *path = getenv("PATH") ? strdup(getenv("PATH")) : NULL;
    setenv("PATH", gs_scratch_folder(), 1);
    struct gs_error error;
    enum gs_status probe = gs_gnuplot_probe(&error);
    gs_assert_error(probe, GS_MISSING, &error, "gnuplot", "install", "gnuplot-nox");
    if (path) setenv("PATH", path, 1);
    free(path);
}

/* A gnuplot without the svg terminal, or one that is killed, is found by the probe. */
static void fake_program(const char *body, const char *word) {
    char *path = getenv("PATH") ? strdup(getenv("PATH")) : strdup("/bin");
    char script[512], both[4096];
    snprintf(script, sizeof script, "#!/bin/sh\n%s\n", body);
    const char *fake = gs_scratch_file("gnuplot", script, strlen(script));
    char command[2048];
    snprintf(command, sizeof command, "%s", fake);
    assert_int_equal(chmod(command, 0755), 0);
    snprintf(both, sizeof both, "%s:%s", gs_scratch_folder(), path);
    setenv("PATH", both, 1);
    struct gs_error error;
    enum gs_status probe = gs_gnuplot_probe(&error);
    setenv("PATH", path, 1);
    remove(fake);
    free(path);
    gs_assert_error(probe, GS_UNSUPPORTED, &error, word, "svg terminal");
}

static void bad_programs(void **state) {
    (void)state;
    fake_program("echo 'unknown or ambiguous terminal name' >&2; exit 1", "ambiguous terminal");
    fake_program("exit 0", "no whole picture");
    fake_program("kill -9 $$", "signal 9");
    fake_program("echo '<svg>half'; exit 0", "no whole picture");
}

/* XML's five characters back to text. */
static void unescape(char *text) {
    static const char *const pairs[][2] = {
        {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&amp;", "&"}};
    char *out = text;
    while (*text) {
        size_t length = 1;
        const char *to = NULL;
        for (size_t i = 0; i < 5 && !to; i++)
            if (strncmp(text, pairs[i][0], strlen(pairs[i][0])) == 0) {
                to = pairs[i][1];
                length = strlen(pairs[i][0]);
            }
        *out++ = to ? *to : *text;
        text += length;
    }
    *out = '\0';
}

/* As far as labels can hurt: no tag in them is alive, and "]]>" is not said outside of CDATA, where
 * XML forbids it. The whole by xmllint, where there is one. */
static void assert_well_formed(const char *path, const char *svg) {
    assert_null(strstr(svg, "]]>"));
    assert_null(strstr(svg, "</script>"));
    char command[2048];
    const char *name = strrchr(path, '/') + 1;
    snprintf(command, sizeof command, "cd '%s' && xmllint --noout './%s'", gs_scratch_folder(),
             name);
    if (system("xmllint --version 2>/dev/null >/dev/null") == 0)
        assert_int_equal(system(command), 0);
    else
        print_message("not parsed: there is no xmllint\n");
}

/* Every hostile piece arrives in the picture as itself. */
static void labels_survive(void **state) {
    (void)state;
    if (absent()) skip();
    struct gs_plot plot = {0};
    for (size_t i = 0; gs_test_pieces[i]; i++) {
        gs_plot_number(&plot, (double)i);
        gs_plot_label(&plot, gs_test_pieces[i], 0);
        gs_plot_row(&plot);
    }
    gs_plot_block(&plot);
    gs_plot_command(&plot, "set xrange [-1:1]; set yrange [-1:100]");
    gs_plot_command(&plot, "plot data index 0 using (0):1:2 with labels");
    struct gs_plot_size size = {800, 1600, false};
    const char *path = gs_scratch_path("a <picture>.svg");
    struct gs_error error;
    gs_assert_ok(gs_plot_draw(&plot, &size, path, &error), &error);
    char *svg = read_text(path);
    assert_well_formed(path, svg);
    unescape(svg);
    for (size_t i = 0; gs_test_pieces[i]; i++) {
        struct gs_text shown = {0};
        gs_text_put(&shown, "<text>");
        gs_label_show(&shown, gs_test_pieces[i], strlen(gs_test_pieces[i]));
        gs_text_put(&shown, "</text>");
        if (!strstr(svg, shown.bytes)) fail_msg("the label %s is not in the picture", shown.bytes);
        gs_text_free(&shown);
    }
    assert_false(gs_path_exists("pwned"));
    assert_false(gs_path_exists(gs_scratch_path("pwned")));
    free(svg);
    no_leftovers();
    gs_plot_free(&plot);
}

/* A path with a line end is said by numbers of its bytes, of which gnuplot reads up to four digits:
 * whatever digits stand behind, in figures' names or in temporary folders', the data are found. */
static void paths_survive(void **state) {
    (void)state;
    if (absent()) skip();
    struct gs_plot plot = {0};
    for (size_t i = 0; i < 2; i++) {
        gs_plot_number(&plot, (double)i);
        gs_plot_row(&plot);
    }
    gs_plot_block(&plot);
    gs_plot_command(&plot, "plot data index 0 using 1 with lines");
    static const char *const names[] = {"it's $(a) `b` \"c\".svg", "two\nlines-1.svg",
                                        "\n7 0-9\x1b[31m.svg", "$(a)`b`\r'\".svg",
                                        "\xff\n%s%%.svg"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct gs_plot_size size = {400, 300, false};
        const char *path = gs_scratch_path("%s", names[i]);
        struct gs_error error;
        gs_assert_ok(gs_plot_draw(&plot, &size, path, &error), &error);
        no_leftovers();
    }
    gs_plot_free(&plot);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws),           cmocka_unit_test(fails),
        cmocka_unit_test(missing_program), cmocka_unit_test(old_picture_stays),
        cmocka_unit_test(busy_streams),    cmocka_unit_test(bad_programs),
        cmocka_unit_test(labels_survive),  cmocka_unit_test(paths_survive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
