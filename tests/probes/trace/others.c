/* Traces of others (fixtures/traces, written by h5py) are read; ours are read by h5py and h5dump.
 */
#include "core/base/memory.h"
#include "probes/trace/reader.h"
#include "tests/probes/trace/trace_support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 12, WIDTH = 5 };
static struct gs_error error;

static struct gs_trace *fixture(const char *name) {
    char relative[128];
    struct gs_trace *trace;
    snprintf(relative, sizeof relative, "fixtures/traces/%s", name);
    gs_assert_ok(gs_trace_open(gs_source_path(relative), &trace, &error), &error);
    return trace;
}

static float value_at(size_t row, size_t column) {
    return (float)(row * WIDTH + column) / 8 - 2;
}

static void check_stream(struct gs_trace *trace, const char *name) {
    float values[ROWS * WIDTH];
    size_t index;
    gs_assert_ok(gs_trace_find_stream(trace, name, &index, &error), &error);
    assert_int_equal(gs_trace_info(trace)->streams[index].width, WIDTH);
    for (size_t first = 0; first < ROWS; first++) {
        gs_assert_ok(gs_trace_read_state(trace, index, first, ROWS - first, values, &error),
                     &error);
        for (size_t r = first; r < ROWS; r++)
            for (size_t j = 0; j < WIDTH; j++)
                assert_true(values[(r - first) * WIDTH + j] == value_at(r, j));
    }
}

static void the_least_of_others(void **state) {
    (void)state;
    static const char *const names[] = {"least_f32.h5", "least_f64_chunked.h5",
                                        "least_f16_big_endian.h5", "least_f32_big_endian_gzip.h5"};
    static const char *const dtypes[] = {"float32", "float64", "float16", "float32"};
    for (size_t i = 0; i < 4; i++) {
        struct gs_trace *trace = fixture(names[i]);
        const struct gs_trace_info *info = gs_trace_info(trace);
        assert_true(info->complete);
        assert_int_equal(info->sequences, 2);
        assert_int_equal(info->start[1], 4);
        assert_int_equal(info->rows, ROWS);
        assert_string_equal(info->streams[0].dtype, dtypes[i]);
        check_stream(trace, NULL);
        gs_assert_ok(gs_trace_check(trace, NULL, &error), &error);
        gs_trace_close(trace);
    }
}

static void everything_of_others(void **state) {
    (void)state;
    struct gs_trace *trace = fixture("full.h5");
    const struct gs_trace_info *info = gs_trace_info(trace);
    float values[ROWS * 3], nll[ROWS];
    uint32_t ids[ROWS];
    size_t index;
    char *name;
    gs_assert_ok(gs_trace_check(trace, NULL, &error), &error);
    assert_true(info->complete);
    assert_string_equal(info->model, "somebody's");
    assert_int_equal(info->step, 700);
    assert_int_equal(info->vocab, 50);
    assert_int_equal(info->nll_first, 1);
    check_stream(trace, "layer00");
    check_stream(trace, "final"); /* bfloat16: the values have few enough bits */
    gs_assert_ok(gs_trace_read_token(trace, 3, 9, ids, &error), &error);
    for (uint32_t i = 0; i < 9; i++) assert_int_equal(ids[i], i + 3);
    gs_assert_ok(gs_trace_read_nll(trace, 0, ROWS, nll, &error), &error);
    for (size_t r = 0; r < ROWS; r++) {
        if (r == 0 || r == 4)
            assert_true(isnan(nll[r]));
        else
            assert_true(nll[r] == (r % 4 == 0 ? 1.5f : 2.5f));
    }
    gs_assert_ok(gs_trace_sequence_name(trace, 0, &name, &error), &error);
    assert_string_equal(name, "one.txt   ");
    gs_free(name);
    gs_assert_ok(gs_trace_find_memory(trace, "layer00", &index, &error), &error);
    assert_string_equal(info->memories[index].rule, "gated_delta");
    assert_int_equal(info->memories[index].heads, 3);
    assert_true(info->memories[index].has[GS_MEMORY_LOG_DECAY]);
    assert_false(info->memories[index].has[GS_MEMORY_NORM]);
    gs_assert_ok(gs_trace_read_memory(trace, index, GS_MEMORY_LOG_DECAY, 0, ROWS, values, &error),
                 &error);
    for (size_t r = 0; r < ROWS; r++)
        for (size_t h = 0; h < 3; h++)
            assert_true(values[r * 3 + h] == -value_at(r, h) * value_at(r, h));
    gs_assert_error(gs_trace_read_memory(trace, index, GS_MEMORY_NORM, 0, 1, values, &error),
                    GS_MISSING, &error, "full.h5", "memory/layer00/norm");
    gs_assert_ok(gs_trace_find_memory(trace, "layer01", &index, &error), &error);
    assert_string_equal(info->memories[index].rule, "");
    gs_trace_close(trace);
}

static void behind_a_user_block(void **state) {
    (void)state;
    struct gs_trace *trace = fixture("user_block.h5");
    char *name;
    for (size_t i = 0; i < 3; i++) check_stream(trace, gs_trace_info(trace)->streams[i].name);
    assert_true(gs_trace_state_is_direct(trace, 0) && gs_trace_state_is_direct(trace, 1));
    assert_false(gs_trace_state_is_direct(trace, 2));
    gs_assert_ok(gs_trace_sequence_name(trace, 1, &name, &error), &error);
    assert_string_equal(name, "zwei");
    gs_free(name);
    gs_assert_ok(gs_trace_check(trace, NULL, &error), &error);
    gs_trace_close(trace);
}

static void others_with_strangers(void **state) {
    (void)state;
    struct gs_trace *trace = fixture("strangers.h5");
    check_stream(trace, "predicted");
    assert_int_equal(gs_trace_info(trace)->memory_count, 1);
    gs_assert_ok(gs_trace_check(trace, NULL, &error), &error);
    gs_trace_close(trace);
}

static void others_with_holes(void **state) {
    (void)state;
    struct gs_trace *trace;
    gs_assert_error(gs_trace_open(gs_source_path("fixtures/traces/holes.h5"), &trace, &error),
                    GS_FORMAT, &error, "holes.h5", "state/predicted", "never stored");
}

/* ---- ours, read by others ---- */

static const char *write_ours(int deflate) {
    struct gs_random random;
    gs_random_seed(&random, 5, "test/others");
    struct made *made = made_create((size_t[]){40, 25}, 2, 33, 3, &random);
    const char *path = gs_scratch_path("ours%d.h5", deflate), *names[2] = {"über", "two"};
    struct gs_trace_writer *writer;
    made->plan.names = names;
    made->plan.deflate = deflate;
    gs_assert_ok(gs_trace_writer_create(path, true, &made->plan, &writer, &error), &error);
    for (size_t i = 0; i < 2; i++)
        gs_assert_ok(made_append(made, writer, i, 0, i ? 25 : 40, &error), &error);
    gs_assert_ok(gs_trace_writer_close(writer, &error), &error);
    /* the bytes that others should see */
    FILE *stream = fopen(gs_scratch_path("ours.raw"), "wb");
    fwrite(made->states[0], sizeof(float), 65 * 33, stream);
    fwrite(made->states[1], sizeof(float), 65 * 33, stream);
    fwrite(made->states[2], sizeof(float), 65 * 33, stream);
    fclose(stream);
    made_destroy(made);
    return path;
}

static void h5dump_opens_ours(void **state) {
    (void)state;
    if (system("h5dump --version >/dev/null 2>&1") != 0) skip();
    for (int deflate = 0; deflate < 2; deflate++) {
        char command[1024];
        snprintf(command, sizeof command, "h5dump '%s' >'%s' 2>&1", write_ours(deflate),
                 gs_scratch_path("dump.txt"));
        assert_int_equal(system(command), 0);
    }
}

static const char script[] =
    "import h5py, numpy as np, sys\n"
    "f = h5py.File(sys.argv[1], 'r')\n"
    "raw = np.fromfile(sys.argv[2], dtype='<f4').reshape(3, 65, 33)\n"
    "assert f.attrs['format'] == 'gpn-trace' and f.attrs['version'] == 1 and f.attrs['complete'] "
    "== 1\n"
    "assert f.attrs['model'] == 'gpn_m' and f.attrs['step'] == 12 and 'weights' not in f.attrs\n"
    "assert list(f['sequence/start']) == [0, 40, 65] and list(f['sequence/rows_written']) == [40, "
    "25]\n"
    "assert f['sequence/name'].asstr()[0] == 'über'\n"
    "assert f['token'].dtype == np.uint32 and f['token'].shape == (65,)\n"
    "assert f['nll'].attrs['first'] == 1 and np.isnan(f['nll'][[0, 40]]).all() and "
    "np.isfinite(f['nll'][1:40]).all()\n"
    "assert f['state/predicted'].dtype == np.float32 and (f['state/predicted'][:] == "
    "raw[0]).all()\n"
    "assert f['state/grounded'].dtype == np.float16 and (f['state/grounded'][:].astype('<f4') == "
    "raw[1]).all()\n"
    "b = f['state/layer00']\n"
    "assert b.dtype == np.uint16 and b.attrs['dtype'] == 'bfloat16'\n"
    "assert ((b[:].astype('<u4') << 16).view('<f4') == raw[2]).all()\n"
    "assert f['memory/layer00'].attrs['rule'] == 'gpn' and 'rule' not in "
    "f['memory/layer01'].attrs\n"
    "assert set(f['memory/layer00']) == {'log_decay', 'write_strength', 'norm'}\n"
    "assert f['memory/layer00/log_decay'].shape == (65, 3) and f['read/read1/share'].shape == (65, "
    "2)\n"
    "assert (f['state/predicted'].compression == 'gzip') == (sys.argv[3] == '1')\n";

static void h5py_opens_ours(void **state) {
    (void)state;
    char command[2048];
    const char *python = getenv("GS_PYTHON");
    if (!python) python = "python3";
    snprintf(command, sizeof command, "'%s' -c 'import h5py, numpy' >/dev/null 2>&1", python);
    if (system(command) != 0) {
        print_message("skipped: no Python with h5py (GS_PYTHON names one)\n");
        skip();
    }
    const char *file = gs_scratch_file("look.py", script, sizeof script - 1);
    for (int deflate = 0; deflate < 2; deflate++) {
        snprintf(command, sizeof command, "'%s' '%s' '%s' '%s/ours.raw' %d", python, file,
                 write_ours(deflate), gs_scratch_folder(), deflate);
        assert_int_equal(system(command), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_of_others), cmocka_unit_test(everything_of_others),
        cmocka_unit_test(behind_a_user_block), cmocka_unit_test(others_with_strangers),
        cmocka_unit_test(others_with_holes),   cmocka_unit_test(h5dump_opens_ours),
        cmocka_unit_test(h5py_opens_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
