/* What the analyses hold does not grow with the rows: measured with address space for a fraction of
 * the rows they read. */
#include "analyses/geometry/geometry.h"
#include "analyses/horizon/horizon.h"
#include "analyses/retention/retention.h"
#include "core/base/environment.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    WIDTH = 64,
    MOST = 800,
    LENGTH = 500,
    FEW = 20,
    SPARE = 40 << 20 /* bytes beyond what a short measurement took; 800 sequences are 100 MB */
};

#if defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 }; /* which takes address space as it likes */
#else
enum { SANITIZED = 0 };
#endif

static uint64_t start[MOST], length[MOST];

/* Row r is made when it is read. */
static enum gs_status make_rows(const struct gs_rows *rows, uint64_t first, size_t count,
                                float *values, struct gs_error *error) {
    (void)error;
    for (size_t r = 0; r < count; r++)
        for (size_t c = 0; c < rows->width; c++) {
            uint64_t mixed = ((first + r) * rows->width + c) * UINT64_C(0x9E3779B97F4A7C15);
            values[r * rows->width + c] = (float)(mixed >> 40) / (float)(1 << 24);
        }
    return GS_OK;
}

/* Of gates: γ between −1 and 0. */
static enum gs_status make_gates(const struct gs_rows *rows, uint64_t first, size_t count,
                                 float *values, struct gs_error *error) {
    enum gs_status status = make_rows(rows, first, count, values, error);
    for (size_t i = 0; i < count * rows->width; i++) values[i] -= 1;
    return status;
}

static struct gs_rows rows_of(size_t sequences, bool gates) {
    for (size_t s = 0; s < sequences; s++) {
        start[s] = s * LENGTH;
        length[s] = LENGTH;
    }
    struct gs_rows rows = gs_rows_of_array(NULL, WIDTH, sequences, start, length);
    rows.read = gates ? make_gates : make_rows;
    return rows;
}

static void measure_geometry(size_t sequences) {
    struct gs_rows rows = rows_of(sequences, false);
    /* float32: BLAS, which waits for ever where it gets no buffer, has no part in the pass */
    struct gs_geometry_options options = {
        .replicates_given = true, .product_given = true, .product = GS_PRODUCT_FLOAT32};
    struct gs_geometry *geometry;
    struct gs_error error;
    gs_assert_ok(gs_geometry_of_rows(&rows, &options, &geometry, &error), &error);
    assert_int_equal(geometry->rows, sequences * LENGTH);
    gs_geometry_destroy(geometry);
}

static void measure_horizon(size_t sequences) {
    struct gs_rows rows = rows_of(sequences, false);
    struct gs_horizon_plan plan = {.max_lag = 100};
    struct gs_horizon *horizon;
    struct gs_error error;
    gs_assert_ok(gs_horizon_measure(&rows, &plan, NULL, &horizon, &error), &error);
    assert_int_equal(horizon->rows, sequences * LENGTH);
    gs_horizon_destroy(horizon);
}

static void measure_retention(size_t sequences) {
    struct gs_rows rows = rows_of(sequences, true);
    struct gs_retention_plan plan = {.max_lag = 100, .powers = true};
    struct gs_retention *retention;
    struct gs_error error;
    gs_assert_ok(gs_retention_measure(&rows, NULL, &plan, NULL, &retention, &error), &error);
    assert_int_equal(retention->rows, sequences * LENGTH);
    gs_retention_destroy(retention);
}

static size_t address_space(void) {
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%zu", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* The short measurement has started the threads and filled BLAS's own buffers. */
static void check(void (*measure)(size_t sequences)) {
    struct rlimit before, small;
    measure(FEW);
    size_t held = address_space();
    if (SANITIZED || held == 0) {
        print_message("address space cannot be bounded here: skipped\n");
        skip();
    }
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    small = before;
    small.rlim_cur = held + SPARE;
    assert_int_equal(setrlimit(RLIMIT_AS, &small), 0);
    measure(MOST);
    setrlimit(RLIMIT_AS, &before);
}

static void geometry_does_not_grow(void **state) {
    (void)state;
    check(measure_geometry);
}

static void horizon_does_not_grow(void **state) {
    (void)state;
    check(measure_horizon);
}

static void retention_does_not_grow(void **state) {
    (void)state;
    check(measure_retention);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(geometry_does_not_grow),
        cmocka_unit_test(horizon_does_not_grow),
        cmocka_unit_test(retention_does_not_grow),
    };
    gs_threads_set(2);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
