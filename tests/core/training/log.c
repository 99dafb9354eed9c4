/* The log of a run: the authors' format, and going on with an earlier one. */
#include "tests/support/support.h"

#include "core/training/log.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const char *const metrics[] = {"pred_ce", "state_norm"};

static void assert_content(const char *path, const char *expected) {
    static char text[4096];
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    size_t size = fread(text, 1, sizeof text - 1, stream);
    fclose(stream);
    text[size] = 0;
    assert_string_equal(text, expected);
}

static struct gs_training_log *begin(const char *path, size_t keep) {
    struct gs_training_log *log = NULL;
    struct gs_error error = {0};
    gs_assert_ok(gs_training_log_open(path, keep, metrics, 2, NULL, &log, &error), &error);
    return log;
}

static void add(struct gs_training_log *log, size_t step, double loss) {
    struct gs_error error = {0};
    const double values[] = {loss, 0.5};
    gs_assert_ok(gs_training_log_row(log, step, loss, 3e-3, 1.0, values, &error), &error);
}

static void test_format(void **state) {
    (void)state;
    const char *path = gs_scratch_file("format.csv", "old", 3);
    struct gs_training_log *log = begin(path, 0);
    assert_content(path, "step,loss,lr,grad_norm,pred_ce,state_norm\n");
    struct gs_error error = {0};
    const double values[] = {4.1655734, 12.3456789};
    gs_assert_ok(gs_training_log_row(log, 10, 4.1655734, 5.954e-4, 0.52814, values, &error),
                 &error);
    const double bad[] = {-NAN, INFINITY}; /* printf would show the sign */
    gs_assert_ok(gs_training_log_row(log, 20, NAN, 0, INFINITY, bad, &error), &error);
    /* in the file before it is closed */
    assert_content(path, "step,loss,lr,grad_norm,pred_ce,state_norm\n"
                         "10,4.165573,5.95e-04,0.5281,4.165573,12.345679\n"
                         "20,nan,0.00e+00,inf,nan,inf\n");
    gs_training_log_close(log);
    gs_training_log_close(NULL);
}

static void test_no_metrics(void **state) {
    (void)state;
    const char *path = gs_scratch_path("bare.csv");
    struct gs_training_log *log = NULL;
    struct gs_error error = {0};
    gs_assert_ok(gs_training_log_open(path, 0, NULL, 0, NULL, &log, &error), &error);
    gs_training_log_close(log);
    assert_content(path, "step,loss,lr,grad_norm\n");
}

static void test_going_on(void **state) {
    (void)state;
    const char *path = gs_scratch_path("on.csv");
    struct gs_training_log *log = begin(path, 0);
    for (size_t step = 5; step <= 25; step += 5) add(log, step, (double)step);
    gs_training_log_close(log);
    /* a kill may leave rows beyond the checkpoint and half a row */
    FILE *stream = fopen(path, "ab");
    fputs("30,3", stream);
    fclose(stream);
    log = begin(path, 17);
    add(log, 20, 1);
    gs_training_log_close(log);
    assert_content(path, "step,loss,lr,grad_norm,pred_ce,state_norm\n"
                         "5,5.000000,3.00e-03,1.0000,5.000000,0.500000\n"
                         "10,10.000000,3.00e-03,1.0000,10.000000,0.500000\n"
                         "15,15.000000,3.00e-03,1.0000,15.000000,0.500000\n"
                         "20,1.000000,3.00e-03,1.0000,1.000000,0.500000\n");
    /* half a row with a small number is no row */
    stream = fopen(path, "ab");
    fputs("2", stream);
    fclose(stream);
    log = begin(path, 25);
    add(log, 25, 2);
    gs_training_log_close(log);
    stream = fopen(path, "rb");
    char line[256] = "";
    for (int i = 0; i < 6; i++) assert_non_null(fgets(line, sizeof line, stream));
    fclose(stream);
    assert_string_equal(line, "25,2.000000,3.00e-03,1.0000,2.000000,0.500000\n");
    /* nothing there: a new table */
    path = gs_scratch_path("new.csv");
    gs_training_log_close(begin(path, 17));
    assert_content(path, "step,loss,lr,grad_norm,pred_ce,state_norm\n");
}

static void test_other_columns(void **state) {
    (void)state;
    static const char *const others[] = {"", "step,loss\n", "step,loss,lr,grad_norm,pred_ce\n",
                                         "step,loss,lr,grad_norm,pred_ce,state_norm,more\n",
                                         "step,loss,lr,grad_norm,pred_ce,state_norm"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const char *path = gs_scratch_file("other.csv", others[i], strlen(others[i]));
        struct gs_training_log *log = NULL;
        struct gs_error error = {0};
        gs_assert_error(gs_training_log_open(path, 3, metrics, 2, NULL, &log, &error), GS_FORMAT,
                        &error, "other.csv", "columns");
        assert_null(log);
        assert_content(path, others[i]);
    }
    /* a log of the authors' has line ends of two bytes */
    static const char theirs[] = "step,loss,lr,grad_norm,pred_ce,state_norm\r\n1,2,3,4,5,6\r\n";
    const char *path = gs_scratch_file("theirs.csv", theirs, sizeof theirs - 1);
    gs_training_log_close(begin(path, 1));
    assert_content(path, theirs);
}

/* The row that the system refuses is an error with errno and path. */
static void test_failed_write(void **state) {
    (void)state;
    const char *path = gs_scratch_path("limited.csv");
    struct gs_training_log *log = begin(path, 0);
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    const struct rlimit small = {100, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    struct gs_error error = {0};
    const double values[] = {1, 2};
    enum gs_status status = GS_OK;
    for (size_t step = 1; step < 5 && status == GS_OK; step++)
        status = gs_training_log_row(log, step, 1, 1, 1, values, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    gs_assert_error(status, GS_IO, &error, "limited.csv", "File too large");
    gs_training_log_close(log);
}

static void test_missing_folder(void **state) {
    (void)state;
    struct gs_training_log *log = NULL;
    struct gs_error error = {0};
    const char *path = gs_scratch_path("no/such/folder.csv");
    gs_assert_error(gs_training_log_open(path, 0, metrics, 2, NULL, &log, &error), GS_MISSING,
                    &error, "no/such");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format),       cmocka_unit_test(test_no_metrics),
        cmocka_unit_test(test_going_on),     cmocka_unit_test(test_other_columns),
        cmocka_unit_test(test_failed_write), cmocka_unit_test(test_missing_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
