/* Checkpoints by their real writers, committed (fixtures/checkpoints/make.py) and made anew: each
 * holds the same model, whose values follow from a formula. */
#include "tests/support/support.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/safetensors.h"
#include "core/checkpoint/tensor_file.h"
#include "core/checkpoint/training_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sample {
    const char *file, *format;
    int64_t step; /* -1: it says none */
};

static const struct sample samples[] = {
    {"protocol2.pkl", "pickle", 3},
    {"protocol3.pkl", "pickle", 3},
    {"protocol4.pkl", "pickle", 3},
    {"protocol5.pkl", "pickle", 3},
    {"fortran2.pkl", "pickle", 3},
    {"fortran3.pkl", "pickle", 3},
    {"fortran4.pkl", "pickle", 3},
    {"fortran5.pkl", "pickle", 3},
    {"old_protocol2.pkl", "pickle", 3},
    {"old_protocol3.pkl", "pickle", 3},
    {"old_protocol4.pkl", "pickle", 3},
    {"old_protocol5.pkl", "pickle", 3},
    {"bare.pkl", "pickle", -1},
    {"half.pkl", "pickle", -1},
    {"double.pkl", "pickle", -1},
    {"big_endian.pkl", "pickle", 3},
    {"big_endian_double2.pkl", "pickle", 3},
    {"scalars2.pkl", "pickle", 3},
    {"scalars.pkl", "pickle", 3},
    {"nested.pkl", "pickle", -1},
    {"bfloat16.pkl", "pickle", 3},
    {"bfloat16_2.pkl", "pickle", 3},
    {"jax.pkl", "pickle", 3},
    {"optax.pkl", "pickle", 3},
    {"state_dict.pt", "PyTorch archive", -1},
    {"model.pt", "PyTorch archive", 3},
    {"half.pt", "PyTorch archive", -1},
    {"bfloat16.pt", "PyTorch archive", -1},
    {"double.pt", "PyTorch archive", -1},
    {"parameters.pt", "PyTorch archive", -1},
    {"ordered.pt", "PyTorch archive", -1},
    {"shared.pt", "PyTorch archive", -1},
    {"deflated.pt", "PyTorch archive", -1},
    {"half.safetensors", "safetensors", -1},
    {"double.safetensors", "safetensors", -1},
    {"bfloat16.safetensors", "safetensors", -1},
};
enum { SAMPLES = sizeof samples / sizeof samples[0] };

static int compare_names(const void *a, const void *b) {
    return strcmp((*(const struct gs_tensor *const *)a)->name,
                  (*(const struct gs_tensor *const *)b)->name);
}

/* make.py: element i of tensor t, counted by name, is ((7 t + i) mod 31 - 15) / 16. */
static void assert_formula(const struct gs_parameters *parameters, const char *file) {
    const struct gs_tensor *sorted[64];
    assert_true(parameters->tensor_count <= 64);
    for (size_t t = 0; t < parameters->tensor_count; t++) sorted[t] = &parameters->tensors[t];
    qsort(sorted, parameters->tensor_count, sizeof sorted[0], compare_names);
    for (size_t t = 0; t < parameters->tensor_count; t++)
        for (size_t i = 0; i < sorted[t]->count; i++) {
            float expected = ((float)((7 * t + i) % 31) - 15) / 16;
            if (sorted[t]->values[i] == expected) continue;
            fail_msg("%s: %s[%zu] is %g, not %g", file, sorted[t]->name, i,
                     (double)sorted[t]->values[i], (double)expected);
        }
}

static void assert_sizes(const struct gs_model *model) {
    struct gs_json *config = gs_model_config(model);
    char *text = gs_json_text(config, 0);
    assert_string_equal(gs_model_kind(model), "gpn_m");
    assert_non_null(strstr(text, "\"n_heads\": 2"));
    assert_non_null(strstr(text, "\"d_key\": 3"));
    assert_non_null(strstr(text, "\"d_val\": 2"));
    gs_free(text);
    gs_json_destroy(config);
}

static void assert_sample(const char *path, const struct sample *sample) {
    struct gs_model *model = NULL;
    struct gs_checkpoint_info info;
    struct gs_error error = {0};
    gs_assert_ok(gs_checkpoint_load(path, &model, &info, &error), &error);
    assert_sizes(model);
    assert_formula(gs_model_parameters(model), path);
    assert_string_equal(info.format, sample->format);
    assert_string_equal(info.config_source, "shapes");
    assert_int_equal(info.step, sample->step);
    gs_model_destroy(model);
}

static const char *committed(const char *file) {
    char relative[128];
    snprintf(relative, sizeof relative, "fixtures/checkpoints/%s", file);
    return gs_source_path(relative);
}

static void test_committed(void **state) {
    (void)state;
    for (size_t i = 0; i < SAMPLES; i++) assert_sample(committed(samples[i].file), &samples[i]);
}

/* The same by the Python at hand, and what of its modules are there. */
static void test_anew(void **state) {
    (void)state;
    char command[4096];
    const char *python = getenv("GS_PYTHON") ? getenv("GS_PYTHON") : "python3";
    snprintf(command, sizeof command, "'%s' -c 'import numpy' >/dev/null 2>&1", python);
    if (system(command) != 0) {
        print_message("skipped: no Python with numpy (GS_PYTHON names one)\n");
        skip();
    }
    struct gs_error error = {0};
    gs_assert_ok(gs_folder_create(gs_scratch_path("anew"), &error), &error);
    snprintf(command, sizeof command, "'%s' '%s' '%s'", python, committed("make.py"),
             gs_scratch_path("anew"));
    assert_int_equal(system(command), 0);
    size_t count = 0;
    for (size_t i = 0; i < SAMPLES; i++) {
        const char *path = gs_scratch_path("anew/%s", samples[i].file);
        if (!gs_path_exists(path)) continue;
        assert_sample(path, &samples[i]);
        count++;
    }
    assert_true(count >= 10);
}

/* ---- what must be asked for, or is refused ------------------------------------------------------
 */

static void test_void(void **state) {
    (void)state;
    struct gs_model *model = NULL;
    struct gs_error error = {0};
    gs_assert_error(gs_checkpoint_load(committed("void.pkl"), &model, NULL, &error), GS_UNSUPPORTED,
                    &error, "void.pkl", "lost its name", "--bfloat16");
    const struct gs_checkpoint_options said = {.void_is_bfloat16 = true};
    gs_assert_ok(gs_checkpoint_load_with(committed("void.pkl"), &said, &model, NULL, &error),
                 &error);
    assert_formula(gs_model_parameters(model), "void.pkl");
    gs_model_destroy(model);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *file, *word, *next;
    } bad[] = {
        {"legacy.pt", "before version 1.6", "torch.save(torch.load("},
        {"bomb.pt", "far more than its size", "torch.save"},
        {"object.pt", "torch.nn.modules.linear.Linear", "state_dict()"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct gs_model *model = NULL;
        struct gs_error error = {0};
        gs_assert_error(gs_checkpoint_load(committed(bad[i].file), &model, NULL, &error),
                        GS_UNSUPPORTED, &error, bad[i].file, bad[i].word, bad[i].next);
        assert_null(model);
    }
}

/* ---- other names --------------------------------------------------------------------------------
 */

static struct gs_json *read_json(const char *path) {
    struct gs_json *json = NULL;
    struct gs_error error = {0};
    gs_assert_ok(gs_json_read_file(path, &json, &error), &error);
    return json;
}

static void test_map(void **state) {
    (void)state;
    static const char *const files[] = {"other_names.safetensors", "other_names.pkl"};
    struct gs_json *map = read_json(committed("map.json"));
    for (size_t i = 0; i < 2; i++) {
        struct gs_model *model = NULL;
        struct gs_checkpoint_info info;
        struct gs_error error = {0};
        const struct gs_checkpoint_options options = {.map = map};
        gs_assert_ok(gs_checkpoint_load_with(committed(files[i]), &options, &model, &info, &error),
                     &error);
        assert_sizes(model);
        assert_formula(gs_model_parameters(model), files[i]);
        assert_int_equal(info.left_out, 1); /* net.rotary */
        gs_model_destroy(model);
    }
    gs_json_destroy(map);
}

static void test_wrong_maps(void **state) {
    (void)state;
    static const struct {
        const char *map;
        enum gs_status status;
        const char *word;
    } bad[] = {
        {"[]", GS_CONFIG, "no object"},
        {"{}", GS_CONFIG, "no object"},
        {"{\"embedding\": 3}", GS_CONFIG, "no name"},
        {"{\"embedding\": {\"name\": \"net.embedding\", \"transpose\": 1}}", GS_CONFIG,
         "transpose"},
        {"{\"embedding\": {\"name\": \"net.embedding\", \"scale\": 2}}", GS_CONFIG, "says more"},
        {"{\"embedding\": \"net.embeding\"}", GS_MISSING, "nearest tensor is \"net.embedding\""},
        {"{\"embedding\": \"net.embedding\"}", GS_CONFIG, "other_names"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct gs_json *map = NULL;
        struct gs_model *model = NULL;
        struct gs_error error = {0};
        gs_assert_ok(gs_json_parse(bad[i].map, strlen(bad[i].map), "map", &map, &error), &error);
        const struct gs_checkpoint_options options = {.map = map};
        gs_assert_error(gs_checkpoint_load_with(committed("other_names.safetensors"), &options,
                                                &model, NULL, &error),
                        bad[i].status, &error, bad[i].word);
        assert_null(model);
        gs_json_destroy(map);
    }
}

/* A config that is given must be that of the tensors. */
static void test_given_config(void **state) {
    (void)state;
    static const char good[] =
        "{\"kind\": \"sot_m\", \"model\": {\"vocab_size\": 7, \"d_state\": 4,"
        "\"d_emb\": 3, \"d_ffn\": 5, \"n_heads\": 2, \"d_key\": 3,"
        "\"d_val\": 2}}";
    static const char other[] =
        "{\"kind\": \"gpn_m\", \"model\": {\"vocab_size\": 7, \"d_state\": 4,"
        "\"d_emb\": 3, \"d_ffn\": 5, \"n_heads\": 1, \"d_key\": 6,"
        "\"d_val\": 4}}";
    for (size_t i = 0; i < 2; i++) {
        const char *text = i ? other : good;
        struct gs_json *config = NULL;
        struct gs_model *model = NULL;
        struct gs_checkpoint_info info;
        struct gs_error error = {0};
        gs_assert_ok(gs_json_parse(text, strlen(text), "given", &config, &error), &error);
        const struct gs_checkpoint_options options = {.config = config, .config_name = "given"};
        enum gs_status status =
            gs_checkpoint_load_with(committed("bare.pkl"), &options, &model, &info, &error);
        if (i == 0) {
            gs_assert_ok(status, &error);
            assert_string_equal(info.config_source, "the config given");
            gs_model_destroy(model);
        } else {
            gs_assert_error(status, GS_SHAPE, &error, "write_", "bare.pkl");
        }
        gs_json_destroy(config);
    }
}

/* ---- an optimiser of optax's own
 * ----------------------------------------------------------------- */

/* Three updates of Adam with the gradient w: m = (1 - 0.9^3) w, v = (1 - 0.999^3) w^2, where the
 * clipping by a norm of 1 divides w by the norm of all. */
static void test_optax(void **state) {
    (void)state;
    struct gs_model *model = NULL;
    struct gs_tensor_file *file = NULL;
    struct gs_training_state found;
    struct gs_error error = {0};
    const char *path = committed("optax.pkl");
    gs_assert_ok(gs_checkpoint_load(path, &model, NULL, &error), &error);
    gs_assert_ok(gs_tensor_file_open(path, NULL, &file, &error), &error);
    assert_true(gs_training_state_recognise(file));
    gs_assert_ok(gs_training_state_find(file, path, model, &found, &error), &error);
    assert_int_equal(found.step, 3);
    assert_int_equal(found.updates, 3);
    assert_int_equal(found.data_position, 6);
    const struct gs_parameters *parameters = gs_model_parameters(model);
    double norm = 0;
    for (size_t i = 0; i < parameters->stride; i++)
        norm += (double)parameters->values[i] * (double)parameters->values[i];
    assert_int_equal(found.first.count, parameters->tensor_count);
    assert_int_equal(found.second.count, parameters->tensor_count);
    for (size_t t = 0; t < found.first.count; t++) {
        float first[64], second[64];
        const struct gs_tensor *w = gs_parameters_find(parameters, found.first.tensors[t].name);
        assert_non_null(w);
        assert_string_equal(found.second.tensors[t].name, w->name);
        assert_true(w->count <= 64 && found.first.tensors[t].count == w->count);
        gs_assert_ok(gs_tensor_file_read(file, &found.first.tensors[t], first, &error), &error);
        gs_assert_ok(gs_tensor_file_read(file, &found.second.tensors[t], second, &error), &error);
        for (size_t i = 0; i < w->count; i++) {
            double g = (double)w->values[i] / sqrt(norm);
            gs_assert_near("m", (double)first[i], (1 - 0.9 * 0.9 * 0.9) * g, 1e-9, 1e-5);
            gs_assert_near("v", (double)second[i], (1 - 0.999 * 0.999 * 0.999) * g * g, 1e-12,
                           1e-4);
        }
    }
    gs_training_state_clear(&found);
    gs_tensor_file_close(file);
    gs_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_committed),    cmocka_unit_test(test_anew),
        cmocka_unit_test(test_void),         cmocka_unit_test(test_refused),
        cmocka_unit_test(test_map),          cmocka_unit_test(test_wrong_maps),
        cmocka_unit_test(test_given_config), cmocka_unit_test(test_optax),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
