/* Folders as HuggingFace's libraries save them: where the checkpoint is, what a wrapper does to its
 * names, and fla's config.json. */
#include "tests/support/support.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/model_config.h"
#include "core/checkpoint/safetensors.h"
#include "core/models/gdn/huggingface.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char PLAIN[] = "{\"kind\":\"gpn\",\"model\":{\"vocab_size\":11,\"d_state\":8,"
                            "\"d_emb\":5,\"d_ffn\":7}}";

static struct gs_json *parse(const char *text) {
    struct gs_json *json = NULL;
    struct gs_error error = {0};
    gs_assert_ok(gs_json_parse(text, strlen(text), "test", &json, &error), &error);
    return json;
}

static struct gs_model *make_model(void) {
    struct gs_json *json = parse(PLAIN);
    struct gs_model *model = NULL;
    struct gs_error error = {0};
    gs_assert_ok(gs_model_from_config(json, "test", &model, &error), &error);
    gs_json_destroy(json);
    gs_parameters_initialise(gs_model_parameters(model), 3);
    return model;
}

/* `folder`/`name` holds the model's parameters, each name behind `prefix`. */
static const char *write_model(const struct gs_model *model, const char *folder, const char *name,
                               const char *prefix, bool config) {
    struct gs_tensor tensors[64];
    const struct gs_parameters *whole = gs_model_parameters(model);
    struct gs_parameters file = {.tensor_count = whole->tensor_count, .tensors = tensors};
    struct gs_error error = {0};
    assert_true(whole->tensor_count <= 64);
    for (size_t i = 0; i < whole->tensor_count; i++) {
        tensors[i] = whole->tensors[i];
        snprintf(tensors[i].name, sizeof tensors[i].name, "%s%.64s", prefix,
                 whole->tensors[i].name);
    }
    gs_assert_ok(gs_folder_create(gs_scratch_path("%s", folder), &error), &error);
    const char *path = gs_scratch_path("%s/%s", folder, name);
    const char *metadata[] = {"gpnscope.config", PLAIN, NULL};
    gs_assert_ok(gs_safetensors_write(path, true, &file, config ? metadata : NULL, &error), &error);
    return path;
}

static void assert_loads(const char *path, const struct gs_model *model) {
    struct gs_model *loaded = NULL;
    struct gs_error error = {0};
    gs_assert_ok(gs_checkpoint_load(path, &loaded, NULL, &error), &error);
    const struct gs_parameters *a = gs_model_parameters(model), *b = gs_model_parameters(loaded);
    assert_int_equal(a->stride, b->stride);
    assert_memory_equal(a->values, b->values, a->stride * sizeof *a->values);
    gs_model_destroy(loaded);
}

/* With its config, and from names and shapes alone. */
static void test_wrapper(void **state) {
    (void)state;
    struct gs_model *model = make_model(), *loaded = NULL;
    struct gs_error error = {0};
    assert_loads(write_model(model, "wrapped", "a.safetensors", "module.", true), model);
    assert_loads(write_model(model, "wrapped", "b.safetensors", "net.model.", false), model);
    /* a prefix without a dot is no wrapper's */
    const char *path = write_model(model, "wrapped", "c.safetensors", "x_", true);
    gs_assert_error(gs_checkpoint_load(path, &loaded, NULL, &error), GS_FORMAT, &error, "x_");
    assert_null(loaded);
    gs_model_destroy(model);
}

static void test_folder(void **state) {
    (void)state;
    struct gs_model *model = make_model(), *loaded = NULL;
    struct gs_error error = {0};
    write_model(model, "folder", "model.safetensors", "", true);
    assert_loads(gs_scratch_path("folder"), model);
    struct gs_checkpoint_info info;
    char sha256[GS_SHA256_TEXT];
    gs_assert_ok(gs_checkpoint_load(gs_scratch_path("folder"), &loaded, &info, &error), &error);
    gs_assert_ok(gs_sha256_path(gs_scratch_path("folder/model.safetensors"), sha256, &error),
                 &error);
    assert_string_equal(info.sha256, sha256); /* of the checkpoint, not of the folder */
    gs_model_destroy(loaded);
    loaded = NULL;
    gs_assert_ok(gs_folder_create(gs_scratch_path("parts"), &error), &error);
    gs_assert_error(gs_checkpoint_load(gs_scratch_path("parts"), &loaded, NULL, &error), GS_MISSING,
                    &error, "parts", "model.safetensors");
    gs_scratch_file("parts/model.safetensors.index.json", "{}", 2);
    gs_assert_error(gs_checkpoint_load(gs_scratch_path("parts"), &loaded, NULL, &error),
                    GS_UNSUPPORTED, &error, "several files", "max_shard_size");
    gs_model_destroy(model);
}

/* ---- fla's config ---------------------------------------------------------------------------- */

/* As save_pretrained writes it; tests replace one piece. */
static const char config[] =
    "{\"allow_neg_eigval\": false, \"architectures\": [\"GatedDeltaNetForCausalLM\"], "
    "\"attn\": null, \"attn_mode\": \"chunk\", \"bos_token_id\": 1, \"conv_size\": 4, "
    "\"eos_token_id\": 2, \"expand_v\": 2.0, \"fuse_cross_entropy\": true, \"fuse_norm\": true, "
    "\"head_dim\": 8, \"hidden_act\": \"swish\", \"hidden_ratio\": 4, \"hidden_size\": 48, "
    "\"initializer_range\": 0.02, \"intermediate_size\": 72, \"max_position_embeddings\": 2048, "
    "\"model_type\": \"gated_deltanet\", \"norm_eps\": 1e-06, \"num_heads\": 3, "
    "\"num_hidden_layers\": 2, \"num_v_heads\": null, \"tie_word_embeddings\": false, "
    "\"torch_dtype\": \"float32\", \"transformers_version\": \"4.51.3\", \"use_cache\": true, "
    "\"use_gate\": true, \"use_short_conv\": true, \"vocab_size\": 97}";

static struct gs_json *with(const char *from, const char *to) {
    char text[4096];
    const char *at = strstr(config, from);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - config), config, to, at + strlen(from));
    return parse(text);
}

static enum gs_status translate(struct gs_json *theirs, struct gs_json **model,
                                struct gs_error *error) {
    enum gs_status status = gs_gdn_from_huggingface(theirs, model, error);
    gs_json_destroy(theirs);
    return status;
}

static int64_t size_of(const struct gs_json *model, const char *key) {
    int64_t size = -1;
    assert_true(gs_json_integer(gs_json_get(model, key), &size));
    return size;
}

static void test_keys(void **state) {
    (void)state;
    struct gs_json *model = NULL;
    struct gs_error error = {0};
    gs_assert_ok(translate(parse(config), &model, &error), &error);
    assert_int_equal(size_of(model, "vocab_size"), 97);
    assert_int_equal(size_of(model, "hidden_dim"), 48);
    assert_int_equal(size_of(model, "n_layers"), 2);
    assert_int_equal(size_of(model, "n_heads"), 3);
    assert_int_equal(size_of(model, "head_dim"), 8);
    assert_int_equal(size_of(model, "ffn_dim"), 72);
    double expand = 0;
    assert_true(gs_json_number(gs_json_get(model, "expand_v"), &expand) && expand == 2);
    assert_int_equal(gs_json_size(model), 7);
    gs_json_destroy(model);
    gs_assert_ok(translate(with("\"num_v_heads\": null", "\"num_v_heads\": 3"), &model, &error),
                 &error);
    gs_json_destroy(model);
    /* what fla leaves out has its default */
    gs_assert_ok(translate(with("\"use_gate\": true, ", ""), &model, &error), &error);
    gs_json_destroy(model);
}

/* GatedMLP: int(hidden_size * ratio * 2 / 3), up to the next multiple of 256. */
static void test_width(void **state) {
    (void)state;
    static const struct {
        const char *ratio;
        int64_t hidden, width;
    } cases[] = {{"4", 768, 2048}, {"4", 48, 256},   {"null", 1024, 2816},
                 {"3", 384, 768},  {"3", 385, 1024}, {"2.5", 2048, 3584}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gs_json *theirs = with("\"intermediate_size\": 72", "\"intermediate_size\": null");
        struct gs_json *ratio = parse(cases[i].ratio), *model = NULL;
        struct gs_error error = {0};
        gs_json_set(theirs, "hidden_ratio", ratio);
        gs_json_set(theirs, "hidden_size", gs_json_new_integer(cases[i].hidden));
        gs_assert_ok(translate(theirs, &model, &error), &error);
        assert_int_equal(size_of(model, "ffn_dim"), cases[i].width);
        gs_json_destroy(model);
    }
}

static void test_variants(void **state) {
    (void)state;
    static const struct {
        const char *from, *to;
        enum gs_status status;
        const char *key, *found;
    } bad[] = {
        {"\"use_gate\": true", "\"use_gate\": false", GS_UNSUPPORTED, "use_gate true", "false"},
        {"\"use_short_conv\": true", "\"use_short_conv\": false", GS_UNSUPPORTED,
         "use_short_conv true", "false"},
        {"\"allow_neg_eigval\": false", "\"allow_neg_eigval\": true", GS_UNSUPPORTED,
         "allow_neg_eigval false", "true"},
        {"\"norm_eps\": 1e-06", "\"norm_eps\": 1e-05", GS_UNSUPPORTED, "norm_eps 1e-6", "1e-"},
        {"\"conv_size\": 4", "\"conv_size\": 3", GS_UNSUPPORTED, "conv_size 4", "3"},
        {"\"tie_word_embeddings\": false", "\"tie_word_embeddings\": true", GS_UNSUPPORTED,
         "tie_word_embeddings false", "true"},
        {"\"hidden_act\": \"swish\"", "\"hidden_act\": \"gelu\"", GS_UNSUPPORTED, "hidden_act",
         "gelu"},
        {"\"attn\": null", "\"attn\": {\"layers\": [1], \"num_heads\": 2}", GS_UNSUPPORTED, "attn",
         "layers"},
        {"\"num_v_heads\": null", "\"num_v_heads\": 6", GS_UNSUPPORTED, "num_v_heads", "6"},
        {"\"use_gate\": true", "\"use_gate\": 1", GS_UNSUPPORTED, "use_gate true", "1"},
        {"\"head_dim\": 8, ", "", GS_CONFIG, "head_dim", "lacks"},
        {"\"intermediate_size\": 72", "\"intermediate_size\": \"x\"", GS_CONFIG,
         "intermediate_size", "\"x\""},
        {"\"hidden_ratio\": 4, \"hidden_size\": 48, \"initializer_range\": 0.02, "
         "\"intermediate_size\": 72",
         "\"hidden_ratio\": -1, \"hidden_size\": 48", GS_CONFIG, "hidden_ratio", "-1"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct gs_json *model = NULL;
        struct gs_error error = {0};
        gs_assert_error(translate(with(bad[i].from, bad[i].to), &model, &error), bad[i].status,
                        &error, bad[i].key, bad[i].found);
        assert_null(model);
    }
}

static void test_other_types(void **state) {
    (void)state;
    struct gs_json *theirs = with("gated_deltanet", "llama");
    struct gs_model *model = NULL;
    struct gs_error error = {0};
    gs_assert_error(gs_model_from_config(theirs, "there/config.json", &model, &error),
                    GS_UNSUPPORTED, &error, "there/config.json", "llama", GS_GDN_MODEL_TYPE);
    assert_null(model);
    gs_json_destroy(theirs);
}

/* ---- a folder made with safetensors' own library ----------------------------------------------
 */

static const char script[] =
    "import sys\n"
    "from safetensors.numpy import load_file, save_file\n"
    "tensors = load_file(sys.argv[1])\n"
    "save_file({sys.argv[3] + k: v for k, v in tensors.items()}, sys.argv[2],\n"
    "          metadata={'format': 'pt'})\n";

static void test_python_folder(void **state) {
    (void)state;
    const char *reference = gs_shared_path("reference/gdn/params.safetensors");
    if (!reference) skip();
    char command[4096];
    const char *python = getenv("GS_PYTHON") ? getenv("GS_PYTHON") : "python3";
    snprintf(command, sizeof command, "'%s' -c 'import safetensors.numpy' >/dev/null 2>&1", python);
    if (system(command) != 0) {
        print_message("skipped: no Python with safetensors (GS_PYTHON names one)\n");
        skip();
    }
    struct gs_error error = {0};
    struct gs_model *model = NULL;
    gs_assert_ok(gs_checkpoint_load(reference, &model, NULL, &error), &error);
    const char *file = gs_scratch_file("save.py", script, sizeof script - 1);
    static const char *const prefixes[] = {"", "model."};
    for (size_t i = 0; i < 2; i++) {
        gs_assert_ok(gs_folder_create(gs_scratch_path("hf%zu", i), &error), &error);
        gs_scratch_file(i ? "hf1/config.json" : "hf0/config.json", config, sizeof config - 1);
        snprintf(command, sizeof command, "'%s' '%s' '%s' '%s' '%s'", python, file, reference,
                 gs_scratch_path("hf%zu/model.safetensors", i), prefixes[i]);
        assert_int_equal(system(command), 0);
        assert_loads(gs_scratch_path("hf%zu", i), model);
        assert_loads(gs_scratch_path("hf%zu/model.safetensors", i), model);
        /* and without its config */
        assert_int_equal(remove(gs_scratch_path("hf%zu/config.json", i)), 0);
        assert_loads(gs_scratch_path("hf%zu", i), model);
    }
    gs_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrapper),       cmocka_unit_test(test_folder),
        cmocka_unit_test(test_keys),          cmocka_unit_test(test_width),
        cmocka_unit_test(test_variants),      cmocka_unit_test(test_other_types),
        cmocka_unit_test(test_python_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
