/* The progress bar with a clock of the test's own: what is drawn, and how often. */
#include "tests/support/support.h"

#include "core/programs/progress_bar.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double now;

static double test_clock(void) {
    return now;
}

/* Everything written to the bar's stream so far. */
static const char *written(struct gs_progress_bar *bar) {
    static char text[1 << 16];
    fflush(bar->stream);
    long size = ftell(bar->stream);
    assert_true(size >= 0 && (size_t)size < sizeof text);
    rewind(bar->stream);
    text[fread(text, 1, (size_t)size, bar->stream)] = '\0';
    fseek(bar->stream, 0, SEEK_END);
    return text;
}

static size_t occurrences(const char *text, const char *word) {
    size_t count = 0;
    while ((text = strstr(text, word))) count++, text += strlen(word);
    return count;
}

static struct gs_progress_bar make_bar(bool terminal) {
    struct gs_progress_bar bar;
    FILE *stream = tmpfile();
    assert_non_null(stream);
    gs_progress_bar_init(&bar, stream, "gpnscope test", false);
    assert_false(bar.terminal); /* a file is none */
    bar.terminal = terminal;
    bar.clock = test_clock;
    now = 1000;
    return bar;
}

static void test_lines(void **state) {
    (void)state;
    struct gs_progress_bar bar = make_bar(false);
    for (int i = 0; i <= 1000; i++) { /* 100 seconds, ten reports each */
        gs_progress_bar_report(&bar, 1e4 * i, 1e7, "loss 4.12");
        now += 0.1;
    }
    gs_progress_bar_finish(&bar);
    const char *text = written(&bar);
    size_t lines = occurrences(text, "\n");
    assert_true(lines >= 9 && lines <= 12);
    assert_null(strchr(text, '\r'));
    assert_null(strchr(text, '\033'));
    assert_non_null(strstr(text, "gpnscope test: 50 % (5.0"));
    assert_non_null(strstr(text, " of 10.0M), 1"));
    assert_non_null(strstr(text, "k/s, 0:50 left, loss 4.12\n"));
    assert_non_null(strstr(text, "gpnscope test: 100 % (10.0M of 10.0M), "));
    assert_non_null(strstr(text, "took 1:40, loss 4.12\n"));
    fclose(bar.stream);
}

static void test_terminal(void **state) {
    (void)state;
    struct gs_progress_bar bar = make_bar(true);
    for (int i = 0; i < 10000; i++) { /* ten seconds, a thousand reports each */
        gs_progress_bar_report(&bar, i, 10000, NULL);
        now += 0.001;
    }
    size_t drawn = occurrences(written(&bar), "\r");
    assert_true(drawn >= 80 && drawn <= 101);
    assert_int_equal(occurrences(written(&bar), "\n"), 0);
    assert_non_null(
        strstr(written(&bar), "\r 50 % [############............]  1.00k/s, 0:05 left"));
    gs_progress_bar_report(&bar, 10000, 10000, NULL);
    gs_progress_bar_finish(&bar);
    assert_int_equal(occurrences(written(&bar), "\n"), 1);
    assert_non_null(
        strstr(written(&bar), "\r100 % [########################]  1.00k/s, took 0:10"));
    fclose(bar.stream);
}

static void test_width(void **state) {
    (void)state;
    struct gs_progress_bar bar = make_bar(true);
    char note[300];
    memset(note, 'n', sizeof note - 1);
    note[sizeof note - 1] = '\0';
    gs_progress_bar_report(&bar, 0, 100, note);
    now += 1;
    gs_progress_bar_report(&bar, 50, 100, note);
    const char *line = strrchr(written(&bar), '\r');
    assert_non_null(line);
    assert_int_equal(strcspn(line + 1, "\033"), 79); /* no terminal size: 80 columns */
    gs_progress_bar_clear(&bar);
    assert_false(bar.on_line);
    assert_string_equal(strrchr(written(&bar), '\r'), "\r\033[K");
    fclose(bar.stream);
}

static void test_resumed_and_second_work(void **state) {
    (void)state;
    struct gs_progress_bar bar = make_bar(false);
    gs_progress_bar_report(&bar, 900, 1000, NULL); /* resumed: 900 were done before */
    now += 10;
    gs_progress_bar_report(&bar, 950, 1000, NULL);
    assert_non_null(strstr(written(&bar), "95 % (950 of 1.00k), 5/s, 0:10 left\n"));
    now += 1;
    gs_progress_bar_report(&bar, 0, 20, NULL); /* new work: the old one gets its last line */
    assert_int_equal(occurrences(written(&bar), "\n"), 2);
    now += 0.5;
    gs_progress_bar_report(&bar, 20, 20, NULL);
    gs_progress_bar_finish(&bar); /* too short for a line */
    gs_progress_bar_finish(&bar);
    assert_int_equal(occurrences(written(&bar), "\n"), 2);
    fclose(bar.stream);
}

static void test_odd_numbers(void **state) {
    (void)state;
    struct gs_progress_bar bar = make_bar(true);
    const double totals[] = {0, -1, 1e300, 0.5};
    for (size_t i = 0; i < 4; i++) {
        for (int j = 0; j < 3; j++) {
            gs_progress_bar_report(&bar, j, totals[i], "");
            now += 5;
        }
        gs_progress_bar_finish(&bar);
    }
    assert_null(strstr(written(&bar), "nan"));
    assert_null(strstr(written(&bar), "inf"));
    fclose(bar.stream);
}

static void test_quiet(void **state) {
    (void)state;
    struct gs_progress_bar bar = make_bar(true);
    bar.quiet = true;
    for (int i = 0; i < 100; i++, now += 1) gs_progress_bar_report(&bar, i, 100, "x");
    gs_progress_bar_clear(&bar);
    gs_progress_bar_finish(&bar);
    assert_string_equal(written(&bar), "");
    fclose(bar.stream);
}

/* A pseudo terminal is one, unless TERM says that it cannot move its cursor. */
static void test_terminal_is_known(void **state) {
    (void)state;
    int leader = posix_openpt(O_RDWR | O_NOCTTY);
    if (leader < 0 || grantpt(leader) != 0 || unlockpt(leader) != 0) {
        print_message("skipped: no pseudo terminal\n");
        skip();
    }
    FILE *stream = fopen(ptsname(leader), "r+");
    if (!stream) skip();
    struct gs_progress_bar bar;
    setenv("TERM", "xterm", 1);
    gs_progress_bar_init(&bar, stream, "x", false);
    assert_true(bar.terminal);
    setenv("TERM", "dumb", 1);
    gs_progress_bar_init(&bar, stream, "x", false);
    assert_false(bar.terminal);
    fclose(stream);
    close(leader);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_terminal),
        cmocka_unit_test(test_width),
        cmocka_unit_test(test_resumed_and_second_work),
        cmocka_unit_test(test_odd_numbers),
        cmocka_unit_test(test_quiet),
        cmocka_unit_test(test_terminal_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
