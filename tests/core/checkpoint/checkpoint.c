/* Checkpoints: saved and loaded again, configs from three places, and every way to be broken. */
#include "tests/support/support.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/model_config.h"
#include "core/checkpoint/safetensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_CONFIG                                                                              \
    "{\"kind\":\"gpn_m\",\"model\":{\"vocab_size\":11,\"d_state\":8,\"d_emb\":5,\"d_ffn\":7,"      \
    "\"n_heads\":2,\"d_key\":3,\"d_val\":4,\"n_layers\":2,\"use_decoder_bias\":true}}"
#define PLAIN_CONFIG                                                                               \
    "{\"kind\":\"gpn\",\"model\":{\"vocab_size\":11,\"d_state\":8,\"d_emb\":5,\"d_ffn\":7}}"

static struct gs_model *make_model(const char *config, uint64_t seed) {
    struct gs_json *json = NULL;
    struct gs_model *model = NULL;
    struct gs_error error = {0};
    gs_assert_ok(gs_json_parse(config, strlen(config), "test", &json, &error), &error);
    gs_assert_ok(gs_model_from_config(json, "test", &model, &error), &error);
    gs_json_destroy(json);
    gs_parameters_initialise(gs_model_parameters(model), seed);
    return model;
}

static void assert_same(const struct gs_model *a, const struct gs_model *b) {
    struct gs_json *left = gs_model_config(a), *right = gs_model_config(b);
    char *left_text = gs_json_text(left, 0), *right_text = gs_json_text(right, 0);
    assert_string_equal(left_text, right_text);
    gs_free(left_text), gs_free(right_text);
    gs_json_destroy(left), gs_json_destroy(right);
    const struct gs_parameters *p = gs_model_parameters(a), *q = gs_model_parameters(b);
    assert_int_equal(p->stride, q->stride);
    assert_memory_equal(p->values, q->values, p->stride * sizeof *p->values);
}

/* A path in a folder of its own, so that no config.json of another test stands beside. */
static const char *own_path(const char *folder, const char *name) {
    struct gs_error error = {0};
    gs_assert_ok(gs_folder_create(gs_scratch_path("%s", folder), &error), &error);
    return gs_scratch_path("%s/%s", folder, name);
}

static void test_round_trip(void **state) {
    (void)state;
    static const char *const configs[] = {MEMORY_CONFIG, PLAIN_CONFIG};
    for (size_t i = 0; i < 2; i++) {
        struct gs_error error = {0};
        struct gs_model *saved = make_model(configs[i], 3), *loaded = NULL;
        const char *path = own_path("round", i ? "plain.safetensors" : "memory.safetensors");
        gs_assert_ok(gs_checkpoint_save(path, false, saved, 120, 7, &error), &error);
        gs_assert_error(gs_checkpoint_save(path, false, saved, 120, 7, &error), GS_EXISTS, &error,
                        path);
        struct gs_checkpoint_info info;
        gs_assert_ok(gs_checkpoint_load(path, &loaded, &info, &error), &error);
        assert_same(saved, loaded);
        assert_int_equal(info.step, 120);
        assert_int_equal(info.seed, 7);
        assert_string_equal(info.config_source, "metadata");
        char sha256[GS_SHA256_TEXT];
        gs_assert_ok(gs_sha256_path(path, sha256, &error), &error);
        assert_string_equal(info.sha256, sha256);
        gs_model_destroy(loaded);
        /* nothing said about step and seed; the same file by force */
        gs_assert_ok(gs_checkpoint_save(path, true, saved, -1, -1, &error), &error);
        gs_assert_ok(gs_checkpoint_load(path, &loaded, &info, &error), &error);
        assert_int_equal(info.step, -1);
        assert_int_equal(info.seed, -1);
        gs_model_destroy(loaded);
        gs_model_destroy(saved);
    }
}

/* ---- where the config comes from ------------------------------------------------------------ */

/* The parameters alone, with no config in the file. */
static const char *bare(const struct gs_model *model, const char *folder) {
    const char *path = own_path(folder, "bare.safetensors");
    struct gs_error error = {0};
    gs_assert_ok(gs_safetensors_write(path, true, gs_model_parameters(model), NULL, &error),
                 &error);
    return path;
}

static void write_text(const char *path, const char *text) {
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(text, 1, strlen(text), stream), strlen(text));
    assert_int_equal(fclose(stream), 0);
}

static void test_config_beside(void **state) {
    (void)state;
    struct gs_error error = {0};
    struct gs_model *saved = make_model(MEMORY_CONFIG, 4), *loaded = NULL;
    const char *path = bare(saved, "beside");
    const char *config = own_path("beside", "config.json");
    struct gs_checkpoint_info info;
    write_text(config, MEMORY_CONFIG);
    gs_assert_ok(gs_checkpoint_load(path, &loaded, &info, &error), &error);
    assert_same(saved, loaded);
    assert_string_equal(info.config_source, "config.json");
    gs_model_destroy(loaded);
    /* the authors' training config: no kind, more members */
    write_text(config, "{\"name\":\"x\",\"training\":{},\"model\":{\"vocab_size\":11,\"d_state\":8,"
                       "\"d_emb\":5,\"d_ffn\":7,\"n_heads\":2,\"d_key\":3,\"d_val\":4,"
                       "\"n_layers\":2,\"use_decoder_bias\":true}}");
    gs_assert_ok(gs_checkpoint_load(path, &loaded, &info, &error), &error);
    assert_same(saved, loaded);
    gs_model_destroy(loaded);
    loaded = NULL;
    static const struct {
        const char *text, *word;
        enum gs_status status;
    } bad[] = {
        {"{\"model\":3}", "model", GS_CONFIG},
        {"{\"hidden_size\":8}", "\"model\"", GS_CONFIG},
        {"[]", "object", GS_CONFIG},
        {"{", "JSON", GS_FORMAT},
        {"{\"kind\":\"gnp\",\"model\":{}}", "gnp", GS_CONFIG},
        {"{\"kind\":4,\"model\":{}}", "kind", GS_CONFIG},
        {"{\"model\":{\"vocab_size\":11}}", "no kind accepts", GS_CONFIG},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        write_text(config, bad[i].text);
        gs_assert_error(gs_checkpoint_load(path, &loaded, NULL, &error), bad[i].status, &error,
                        "config.json", bad[i].word);
        assert_null(loaded);
    }
    gs_model_destroy(saved);
}

static void test_config_from_shapes(void **state) {
    (void)state;
    struct gs_error error = {0};
    struct gs_checkpoint_info info;
    struct gs_model *saved = make_model(PLAIN_CONFIG, 5), *loaded = NULL;
    gs_assert_ok(gs_checkpoint_load(bare(saved, "shapes"), &loaded, &info, &error), &error);
    assert_same(saved, loaded);
    assert_string_equal(info.config_source, "shapes");
    gs_model_destroy(loaded);
    gs_model_destroy(saved);
    /* with memory the shapes determine everything, too: H from beta, the widths by division */
    saved = make_model(MEMORY_CONFIG, 6);
    gs_assert_ok(gs_checkpoint_load(bare(saved, "shapes"), &loaded, &info, &error), &error);
    assert_same(saved, loaded);
    gs_model_destroy(loaded);
    gs_model_destroy(saved);
}

static void test_shapes_of_nothing(void **state) {
    (void)state;
    struct gs_error error = {0};
    struct gs_model *loaded = NULL;
    struct gs_tensor other = {.name = "bert.pooler.weight", .rank = 2, .shape = {4, 4}};
    struct gs_parameters *parameters = NULL;
    gs_assert_ok(gs_parameters_create(&other, 1, &parameters, &error), &error);
    const char *path = own_path("nothing", "other.safetensors");
    gs_assert_ok(gs_safetensors_write(path, false, parameters, NULL, &error), &error);
    gs_parameters_destroy(parameters);
    gs_assert_error(gs_checkpoint_load(path, &loaded, NULL, &error), GS_CONFIG, &error,
                    "other.safetensors");
    assert_null(loaded);
}

/* ---- broken parameters ---------------------------------------------------------------------- */

/* A file of `model`'s tensors as `change` leaves them, with the model's config. */
typedef void (*change_fn)(struct gs_tensor *tensors, size_t *count);

static void load_changed(change_fn change, enum gs_status status, const char *word,
                         const char *other) {
    struct gs_error error = {0};
    struct gs_model *model = make_model(MEMORY_CONFIG, 8), *loaded = NULL;
    const struct gs_parameters *whole = gs_model_parameters(model);
    struct gs_tensor tensors[64];
    size_t count = whole->tensor_count;
    assert_true(count + 1 < 64);
    memcpy(tensors, whole->tensors, count * sizeof *tensors);
    change(tensors, &count);
    const struct gs_parameters changed = {.tensor_count = count, .tensors = tensors};
    const char *metadata[] = {"gpnscope.config", MEMORY_CONFIG, NULL};
    const char *path = own_path("broken", "broken.safetensors");
    gs_assert_ok(gs_safetensors_write(path, true, &changed, metadata, &error), &error);
    gs_assert_error(gs_checkpoint_load(path, &loaded, NULL, &error), status, &error,
                    "broken.safetensors", word, other);
    assert_null(loaded);
    gs_model_destroy(model);
}

static void leave_out_last(struct gs_tensor *tensors, size_t *count) {
    (void)tensors;
    --*count;
}
static void leave_out_first(struct gs_tensor *tensors, size_t *count) {
    memmove(tensors, tensors + 1, --*count * sizeof *tensors);
}
static void add_one(struct gs_tensor *tensors, size_t *count) {
    tensors[*count] = tensors[0];
    strcpy(tensors[(*count)++].name, "decode_norm_ww");
}
static void transpose(struct gs_tensor *tensors, size_t *count) {
    (void)count;
    size_t rows = tensors[0].shape[0];
    tensors[0].shape[0] = tensors[0].shape[1];
    tensors[0].shape[1] = rows;
}
static void flatten(struct gs_tensor *tensors, size_t *count) {
    (void)count;
    tensors[0].rank = 1;
    tensors[0].shape[0] = tensors[0].count;
}
static void empty(struct gs_tensor *tensors, size_t *count) {
    (void)count;
    tensors[0].shape[1] = 0;
    tensors[0].count = 0;
}
static void not_a_number(struct gs_tensor *tensors, size_t *count) {
    (void)count;
    tensors[0].values[13] = NAN;
}
static void infinite(struct gs_tensor *tensors, size_t *count) {
    (void)count;
    tensors[0].values[0] = -INFINITY;
}

static void test_broken_parameters(void **state) {
    (void)state;
    load_changed(leave_out_first, GS_MISSING, "lacks a parameter", "\"embedding\"");
    load_changed(leave_out_last, GS_MISSING, "lacks a parameter", "gpn_m");
    load_changed(add_one, GS_FORMAT, "decode_norm_ww", "\"decode_norm_w\"");
    load_changed(transpose, GS_SHAPE, "(11, 5)", "(5, 11)");
    load_changed(flatten, GS_SHAPE, "(11, 5)", "(55)");
    load_changed(empty, GS_SHAPE, "embedding", "(11, 0)");
    load_changed(not_a_number, GS_RANGE, "embedding", "nan at index 13");
    load_changed(infinite, GS_RANGE, "embedding", "-inf at index 0");
}

static void test_broken_metadata(void **state) {
    (void)state;
    static const struct {
        const char *key, *value, *word;
        enum gs_status status;
    } bad[] = {
        {"gpnscope.config", "", "JSON", GS_FORMAT},
        {"gpnscope.config", "{\"kind\":\"gpn_m\"}", "\"model\"", GS_CONFIG},
        {"gpnscope.config", "{\"kind\":\"gpn_m\",\"model\":{\"vocab_size\":-1}}", "vocab_size",
         GS_CONFIG},
        /* sizes that lie are found before memory is asked for */
        {"gpnscope.config",
         "{\"kind\":\"gpn\",\"model\":{\"vocab_size\":11,\"d_state\":100000,\"d_emb\":5,\"d_ffn\":"
         "7}}",
         "far larger model", GS_SHAPE},
        {"gpnscope.config",
         "{\"kind\":\"gpn\",\"model\":{\"vocab_size\":2147483647,\"d_state\":2147483647,"
         "\"d_emb\":2147483647,\"d_ffn\":2147483647,\"n_layers\":1024}}",
         "far larger model", GS_SHAPE},
        {"gpnscope.config",
         "{\"model\":{\"vocab_size\":11,\"d_state\":100000,\"d_emb\":5,\"d_ffn\":7}}",
         "no kind accepts", GS_CONFIG},
        {"gpnscope.config",
         "{\"kind\":\"gpn\",\"model\":{\"vocab_size\":11,\"d_state\":8,\"d_emb\":5,\"d_ffn\":7,"
         "\"n_layers\":10000000}}",
         "n_layers", GS_CONFIG},
        {"gpnscope.step", "twelve", "twelve", GS_FORMAT},
        {"gpnscope.step", "12x", "12x", GS_FORMAT},
        {"gpnscope.seed", "-3", "-3", GS_FORMAT},
    };
    struct gs_error error = {0};
    struct gs_model *model = make_model(PLAIN_CONFIG, 9), *loaded = NULL;
    const char *path = own_path("metadata", "metadata.safetensors");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        bool config = strcmp(bad[i].key, "gpnscope.config") == 0;
        const char *metadata[] = {bad[i].key, bad[i].value, config ? NULL : "gpnscope.config",
                                  PLAIN_CONFIG, NULL};
        gs_assert_ok(gs_safetensors_write(path, true, gs_model_parameters(model), metadata, &error),
                     &error);
        struct gs_checkpoint_info info;
        gs_assert_error(gs_checkpoint_load(path, &loaded, &info, &error), bad[i].status, &error,
                        "metadata.safetensors", bad[i].key, bad[i].word);
        assert_null(loaded);
    }
    gs_model_destroy(model);
}

/* One parameter under the authors' memory-less name and under ours. */
static void test_two_names(void **state) {
    (void)state;
    struct gs_error error = {0};
    struct gs_model *model = make_model(PLAIN_CONFIG, 10), *loaded = NULL;
    const struct gs_parameters *whole = gs_model_parameters(model);
    struct gs_tensor tensors[64];
    size_t count = whole->tensor_count, renamed = 0;
    memcpy(tensors, whole->tensors, count * sizeof *tensors);
    for (size_t i = 0; i < whole->tensor_count; i++) {
        /* whichever of the two forms the file has, the other one is an alias */
        char alias[GS_PARAMETER_NAME];
        const char *name = whole->tensors[i].name;
        assert_true(strlen(name) + 3 < sizeof alias);
        bool prefixed = strncmp(name, "L0_", 3) == 0;
        strcpy(alias, prefixed ? name + 3 : "L0_");
        if (!prefixed) strcat(alias, name);
        if (strcmp(gs_model_own_name(model, alias), name) != 0) continue;
        strcpy(tensors[i].name, alias);
        renamed++;
    }
    assert_true(renamed > 0);
    const char *metadata[] = {"gpnscope.config", PLAIN_CONFIG, NULL};
    const char *path = own_path("names", "names.safetensors");
    struct gs_parameters file = {.tensor_count = count, .tensors = tensors};
    gs_assert_ok(gs_safetensors_write(path, false, &file, metadata, &error), &error);
    gs_assert_ok(gs_checkpoint_load(path, &loaded, NULL, &error), &error);
    assert_same(model, loaded);
    gs_model_destroy(loaded);
    loaded = NULL;
    for (size_t i = 0; i < whole->tensor_count; i++)
        if (strcmp(tensors[i].name, whole->tensors[i].name) != 0) {
            tensors[file.tensor_count++] = whole->tensors[i];
            break;
        }
    gs_assert_ok(gs_safetensors_write(path, true, &file, metadata, &error), &error);
    gs_assert_error(gs_checkpoint_load(path, &loaded, NULL, &error), GS_FORMAT, &error,
                    "names.safetensors", "twice");
    gs_model_destroy(model);
}

static void test_reference_files(void **state) {
    (void)state;
    static const char *const cases[] = {"gpn", "gpn_bias", "gpnm1", "gpnm2_bias"};
    for (size_t i = 0; i < 4; i++) {
        char relative[64];
        snprintf(relative, sizeof relative, "reference/%s/params.safetensors", cases[i]);
        const char *path = gs_shared_path(relative);
        if (!path) skip();
        struct gs_error error = {0};
        struct gs_model *model = NULL;
        gs_assert_ok(gs_checkpoint_load(path, &model, NULL, &error), &error);
        /* and back: the same tensors under names that load again */
        const char *copy = own_path("copies", cases[i]);
        struct gs_model *again = NULL;
        gs_assert_ok(gs_checkpoint_save(copy, false, model, 0, 0, &error), &error);
        gs_assert_ok(gs_checkpoint_load(copy, &again, NULL, &error), &error);
        assert_same(model, again);
        gs_model_destroy(model);
        gs_model_destroy(again);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),         cmocka_unit_test(test_config_beside),
        cmocka_unit_test(test_config_from_shapes), cmocka_unit_test(test_shapes_of_nothing),
        cmocka_unit_test(test_broken_parameters),  cmocka_unit_test(test_broken_metadata),
        cmocka_unit_test(test_two_names),          cmocka_unit_test(test_reference_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
