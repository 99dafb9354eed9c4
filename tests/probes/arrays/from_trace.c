/* A trace's rows as arrays and back: the same bits, read by our reader and by numpy. */
#include "probes/arrays/from_trace.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "probes/arrays/array_file.h"
#include "probes/arrays/to_trace.h"
#include "tests/probes/trace/trace_support.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ROWS = 65, WIDTH = 33, HEADS = 3 };
static struct gs_error error;
static struct made *made;
static struct gs_trace *trace;

static int make_trace(void **state) {
    (void)state;
    struct gs_random random;
    static const char *const names[3] = {"über", "", "x'`$(y)"};
    struct gs_trace_writer *writer;
    const char *path = gs_scratch_path("made.h5");
    gs_random_seed(&random, 7, "test/from_trace");
    made = made_create((size_t[]){40, 0, 25}, 3, WIDTH, HEADS, &random);
    made->plan.names = names;
    gs_assert_ok(gs_trace_writer_create(path, true, &made->plan, &writer, &error), &error);
    gs_assert_ok(made_append(made, writer, 0, 0, 40, &error), &error);
    gs_assert_ok(made_append(made, writer, 2, 0, 25, &error), &error);
    gs_assert_ok(gs_trace_writer_close(writer, &error), &error);
    gs_assert_ok(gs_trace_open(path, &trace, &error), &error);
    return 0;
}

static int destroy_trace(void **state) {
    (void)state;
    gs_trace_close(trace);
    made_destroy(made);
    return 0;
}

static void out_and_in_again(void **state) {
    (void)state;
    const char *npz = gs_scratch_path("all.npz"), *again = gs_scratch_path("again.h5");
    struct gs_arrays_export options = {.format = GS_ARRAYS_NPZ, .force = true};
    struct gs_arrays_import import = {.path = npz, .force = true};
    struct gs_arrays_imported imported;
    struct gs_trace *back;
    gs_assert_ok(gs_trace_to_arrays(trace, &options, npz, NULL, &error), &error);
    gs_assert_ok(gs_arrays_to_trace(&import, again, &imported, NULL, &error), &error);
    assert_string_equal(imported.passed_over, "");
    gs_assert_ok(gs_trace_open(again, &back, &error), &error);
    made_compare(made, back); /* every dataset, bit by bit */
    assert_int_equal(gs_trace_info(back)->nll_first, made->plan.nll_first);
    assert_string_equal(gs_trace_info(back)->streams[1].dtype, "float16");
    for (size_t i = 0; i < 3; i++) {
        char *name;
        gs_assert_ok(gs_trace_sequence_name(back, i, &name, &error), &error);
        assert_string_equal(name, made->plan.names[i]);
        gs_free(name);
    }
    gs_trace_close(back);
}

static void one_stream(void **state) {
    (void)state;
    static float values[ROWS * WIDTH];
    const char *path = gs_scratch_path("one.npy");
    for (size_t stream = 0; stream < 3; stream++) {
        const char *name = made->streams[stream].name;
        struct gs_arrays_export options = {
            .format = GS_ARRAYS_NPY, .streams = &name, .stream_count = 1, .force = true};
        struct gs_array_file *file;
        gs_assert_ok(gs_trace_to_arrays(trace, &options, path, NULL, &error), &error);
        gs_assert_ok(gs_array_file_open(path, &file, &error), &error);
        const struct gs_npy *array = gs_array_file_at(file, 0);
        assert_string_equal(array->descr,
                            strcmp(made->streams[stream].dtype, "float16") == 0 ? "<f2" : "<f4");
        assert_int_equal(array->shape[0], ROWS);
        assert_int_equal(array->shape[1], WIDTH);
        gs_npy_f32(array, 0, ROWS * WIDTH, values);
        assert_memory_equal(values, made->states[stream], sizeof values);
        gs_array_file_close(file);
    }
}

static void a_range_of_rows(void **state) {
    (void)state;
    static float values[ROWS * WIDTH];
    const char *path = gs_scratch_path("part.npz");
    for (uint64_t first = 0; first < ROWS; first += 13)
        for (uint64_t end = first + 1; end <= ROWS; end += 9) {
            struct gs_arrays_export options = {
                .format = GS_ARRAYS_NPZ, .first = first, .end = end, .force = true};
            struct gs_array_file *file;
            uint64_t start[4];
            gs_assert_ok(gs_trace_to_arrays(trace, &options, path, NULL, &error), &error);
            gs_assert_ok(gs_array_file_open(path, &file, &error), &error);
            for (size_t i = 0; i < gs_array_file_count(file); i++) {
                gs_assert_ok(gs_array_file_load(file, i, &error), &error);
                const struct gs_npy *array = gs_array_file_at(file, i);
                if (strcmp(gs_array_file_name(file, i), "state/predicted") == 0) {
                    gs_npy_f32(array, 0, array->count, values);
                    assert_int_equal(array->count, (end - first) * WIDTH);
                    assert_memory_equal(values, made->states[0] + first * WIDTH,
                                        array->count * sizeof(float));
                }
                if (strcmp(gs_array_file_name(file, i), "sequence/start") != 0) continue;
                gs_assert_ok(gs_npy_u64(array, 0, array->count, ROWS, "start", start, &error),
                             &error);
                assert_int_equal(start[0], 0);
                assert_int_equal(start[array->count - 1], end - first);
                if (first < 40 && end > 40) assert_int_equal(start[1], 40 - first);
                bool both = first < 40 && end > 40;
                assert_int_equal(array->count, both ? 4 : 2);
            }
            gs_array_file_close(file);
        }
}

static void as_csv(void **state) {
    (void)state;
    const char *path = gs_scratch_path("rows.csv"), *name = "predicted";
    struct gs_arrays_export options = {.format = GS_ARRAYS_CSV,
                                       .streams = &name,
                                       .stream_count = 1,
                                       .first = 38,
                                       .end = 43,
                                       .force = true};
    char line[4096];
    gs_assert_ok(gs_trace_to_arrays(trace, &options, path, NULL, &error), &error);
    FILE *stream = fopen(path, "r");
    assert_non_null(fgets(line, sizeof line, stream));
    assert_int_equal(strncmp(line, "row,sequence,step,token,nll,0,1,2,", 34), 0);
    for (size_t row = 38; row < 43; row++) {
        assert_non_null(fgets(line, sizeof line, stream));
        char *at = line;
        assert_int_equal(strtoul(at, &at, 10), row);
        assert_int_equal(strtoul(at + 1, &at, 10), row < 40 ? 0 : 2);
        assert_int_equal(strtoul(at + 1, &at, 10), row < 40 ? row : row - 40);
        assert_int_equal(strtoul(at + 1, &at, 10), made->token[row]);
        at++;
        if (isnan(made->nll[row]))
            assert_int_equal(*at, ',');
        else
            assert_true(strtof(at, &at) == made->nll[row]);
        for (size_t j = 0; j < WIDTH; j++)
            assert_true(strtof(at + 1, &at) == made->states[0][row * WIDTH + j]);
        assert_string_equal(at, "\n");
    }
    assert_null(fgets(line, sizeof line, stream));
    fclose(stream);
}

static void refuse(const struct gs_arrays_export *options, enum gs_status status,
                   const char *word) {
    const char *path = gs_scratch_path("no.npy");
    gs_assert_error(gs_trace_to_arrays(trace, options, path, NULL, &error), status, &error, word);
    assert_false(gs_path_exists(path));
}

static void what_is_refused(void **state) {
    (void)state;
    const char *names[2] = {"predicted", "grounded"}, *wrong = "predictd",
               *twice[2] = {"predicted", "predicted"};
    refuse(&(struct gs_arrays_export){.streams = names, .stream_count = 2}, GS_USAGE, "several");
    refuse(&(struct gs_arrays_export){.streams = &wrong, .stream_count = 1}, GS_MISSING,
           "predictd");
    refuse(&(struct gs_arrays_export){.format = GS_ARRAYS_NPZ, .streams = twice, .stream_count = 2},
           GS_USAGE, "twice");
    refuse(&(struct gs_arrays_export){.first = 5, .end = 5}, GS_RANGE, "0 … 65");
    refuse(&(struct gs_arrays_export){.first = 0, .end = 66}, GS_RANGE, "66");
    const char *mine = gs_scratch_file("mine.npy", "mine", 4);
    gs_assert_error(
        gs_trace_to_arrays(trace, &(struct gs_arrays_export){.first = 0}, mine, NULL, &error),
        GS_EXISTS, &error, "mine.npy", "--force");
}

/* A file size limit stands for a full disk: every format names errno and path, leaves nothing new
 * and what existed as it was. */
static void no_room(void **state) {
    (void)state;
    struct rlimit before, small;
    const char *path = gs_scratch_file("full.out", "mine", 4);
    struct gs_mapped_file left;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 3000;
    signal(SIGXFSZ, SIG_IGN);
    for (int format = GS_ARRAYS_NPY; format <= GS_ARRAYS_CSV; format++) {
        struct gs_arrays_export options = {.format = (enum gs_array_format)format, .force = true};
        setrlimit(RLIMIT_FSIZE, &small);
        enum gs_status status = gs_trace_to_arrays(trace, &options, path, NULL, &error);
        setrlimit(RLIMIT_FSIZE, &before);
        gs_assert_error(status, GS_IO, &error, "full.out", strerror(EFBIG));
        gs_assert_ok(gs_file_map(path, &left, &error), &error);
        assert_int_equal(left.size, 4);
        gs_file_unmap(&left);
    }
}

static const char script[] =
    "import numpy as np, sys, zipfile\n"
    "folder = sys.argv[1]\n"
    "raw = np.fromfile(folder + '/made.raw', dtype='<f4').reshape(3, 65, 33)\n"
    "z = np.load(folder + '/all.npz')\n"
    "assert zipfile.ZipFile(folder + '/all.npz').testzip() is None\n"
    "assert list(z['sequence/start']) == [0, 40, 40, 65], z['sequence/start']\n"
    "assert [n.decode() for n in z['sequence/name']] == ['über', '', \"x'`$(y)\"]\n"
    "assert z['token'].dtype == np.uint32 and z['token'].shape == (65,)\n"
    "assert z['nll'].dtype == np.float32 and np.isnan(z['nll'][[0, 40]]).all()\n"
    "assert (z['state/predicted'] == raw[0]).all() and z['state/predicted'].dtype == np.float32\n"
    "assert (z['state/grounded'] == raw[1]).all() and z['state/grounded'].dtype == np.float16\n"
    "assert (z['state/layer00'] == raw[2]).all()\n"
    "assert z['memory/layer00/log_decay'].shape == (65, 3)\n"
    "one = np.load(folder + '/one.npy')\n"
    "assert one.shape == (65, 33)\n";

static void numpy_reads_ours(void **state) {
    (void)state;
    char command[2048];
    const char *python = getenv("GS_PYTHON") ? getenv("GS_PYTHON") : "python3";
    snprintf(command, sizeof command, "'%s' -c 'import numpy' >/dev/null 2>&1", python);
    if (system(command) != 0) {
        print_message("skipped: no Python with numpy (GS_PYTHON names one)\n");
        skip();
    }
    const char *npz = gs_scratch_path("all.npz"), *npy = gs_scratch_path("one.npy");
    gs_assert_ok(gs_trace_to_arrays(
                     trace, &(struct gs_arrays_export){.format = GS_ARRAYS_NPZ, .force = true}, npz,
                     NULL, &error),
                 &error);
    gs_assert_ok(
        gs_trace_to_arrays(trace, &(struct gs_arrays_export){.force = true}, npy, NULL, &error),
        &error);
    FILE *stream = fopen(gs_scratch_path("made.raw"), "wb");
    for (size_t i = 0; i < 3; i++) fwrite(made->states[i], sizeof(float), ROWS * WIDTH, stream);
    fclose(stream);
    snprintf(command, sizeof command, "'%s' '%s' '%s'", python,
             gs_scratch_file("look.py", script, sizeof script - 1), gs_scratch_folder());
    assert_int_equal(system(command), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(out_and_in_again), cmocka_unit_test(one_stream),
        cmocka_unit_test(a_range_of_rows),  cmocka_unit_test(as_csv),
        cmocka_unit_test(what_is_refused),  cmocka_unit_test(no_room),
        cmocka_unit_test(numpy_reads_ours),
    };
    return cmocka_run_group_tests(tests, make_trace, destroy_trace);
}
