#include "core/checkpoint/checkpoint.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/checkpoint/read_parameters.h"
#include "core/checkpoint/safetensors.h"
#include "core/checkpoint/which_model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char STEP_KEY[] = "gpnscope.step";
static const char SEED_KEY[] = "gpnscope.seed";

/* ---- where it is ---------------------------------------------------------------------------- */

/* In a folder: ours and HuggingFace's, the authors', and HuggingFace's older ones. */
static const char *const in_folder[] = {"model.safetensors", "checkpoint.pkl", "checkpoint.pt",
                                        "pytorch_model.bin"};

bool gs_checkpoint_in_folder(const char *name) {
    if (strncmp(name, in_folder[0], strlen(in_folder[0])) == 0) return true; /* its index, too */
    for (size_t i = 1; i < sizeof in_folder / sizeof in_folder[0]; i++)
        if (strcmp(name, in_folder[i]) == 0) return true;
    return false;
}

static enum gs_status fail_folder(const char *path, struct gs_error *error) {
    char *index = gs_path_join(path, "model.safetensors.index.json");
    bool split = index && gs_path_exists(index);
    gs_free(index);
    gs_fail(error, split ? GS_UNSUPPORTED : GS_MISSING,
            split ? "the checkpoint is split over several files"
                  : "the folder holds no checkpoint");
    gs_error_expected(error, "%s (or %s, %s, %s) in the folder", in_folder[0], in_folder[1],
                      in_folder[2], in_folder[3]);
    gs_error_where(error, "%s", path);
    if (split)
        gs_error_next(error, "save it as one file: save_pretrained with a larger "
                             "max_shard_size");
    return split ? GS_UNSUPPORTED : GS_MISSING;
}

enum gs_status gs_checkpoint_file(const char *path, char **file, struct gs_error *error) {
    *file = NULL;
    if (!gs_path_is_folder(path)) {
        *file = gs_strdup(path);
        return *file ? GS_OK : gs_fail_memory(error, strlen(path), "a path");
    }
    for (size_t i = 0; i < sizeof in_folder / sizeof in_folder[0]; i++) {
        *file = gs_path_join(path, in_folder[i]);
        if (!*file) return gs_fail_memory(error, strlen(path), "a path");
        if (gs_path_exists(*file)) return GS_OK;
        gs_free(*file);
        *file = NULL;
    }
    return fail_folder(path, error);
}

/* ---- load and save ------------------------------------------------------------------------ */

/* A whole number of the metadata; -1 when it is not said. */
static enum gs_status read_number(const char *path, const struct gs_tensor_file *file,
                                  const char *key, int64_t *number, struct gs_error *error) {
    *number = -1;
    const char *text = gs_tensor_file_metadata(file, key);
    if (!text) return GS_OK;
    char end = 0;
    if (sscanf(text, "%18" SCNd64 "%c", number, &end) == 1 && *number >= 0) return GS_OK;
    gs_fail(error, GS_FORMAT, "a number in the metadata cannot be read");
    gs_error_expected(error, "a whole number, 0 or more");
    gs_error_found(error, "\"%.60s\"", text);
    gs_error_where(error, "%s: metadata \"%s\"", path, key);
    return GS_FORMAT;
}

static enum gs_status read_info(const char *path, struct gs_tensor_file *file,
                                struct gs_checkpoint_info *info, struct gs_error *error) {
    int64_t number;
    enum gs_status status = read_number(path, file, STEP_KEY, &info->step, error);
    if (status == GS_OK) status = read_number(path, file, SEED_KEY, &info->seed, error);
    if (status == GS_OK) status = gs_sha256_path(path, info->sha256, error);
    if (info->step < 0 && gs_tensor_file_number(file, "step", &number) && number >= 0)
        info->step = number;
    info->format = gs_tensor_file_format(file);
    info->left_out = gs_tensor_file_left_out(file);
    return status;
}

static enum gs_status load(const char *path, const struct gs_checkpoint_options *options,
                           struct gs_model **model, struct gs_checkpoint_info *info,
                           struct gs_error *error) {
    struct gs_tensor_file *file = NULL;
    struct gs_model *loaded = NULL;
    const char *source = "";
    const struct gs_tensor_file_options how = {.void_is_bfloat16 = options->void_is_bfloat16,
                                               .map = options->map};
    const struct gs_given_config given = {options->config, options->config_name};
    enum gs_status status = gs_tensor_file_open(path, &how, &file, error);
    if (status == GS_OK)
        status =
            gs_which_model(path, file, options->config ? &given : NULL, &loaded, &source, error);
    if (status == GS_OK) status = gs_checkpoint_read_parameters(path, file, loaded, error);
    if (status == GS_OK && info) {
        memset(info, 0, sizeof *info);
        info->config_source = source;
        status = read_info(path, file, info, error);
    }
    gs_tensor_file_close(file);
    if (status != GS_OK) {
        gs_model_destroy(loaded);
        return status;
    }
    *model = loaded;
    return GS_OK;
}

enum gs_status gs_checkpoint_load_with(const char *path,
                                       const struct gs_checkpoint_options *options,
                                       struct gs_model **model, struct gs_checkpoint_info *info,
                                       struct gs_error *error) {
    char *file = NULL;
    enum gs_status status = gs_checkpoint_file(path, &file, error);
    if (status == GS_OK) status = load(file, options, model, info, error);
    gs_free(file);
    return status;
}

enum gs_status gs_checkpoint_load(const char *path, struct gs_model **model,
                                  struct gs_checkpoint_info *info, struct gs_error *error) {
    const struct gs_checkpoint_options plain = {0};
    return gs_checkpoint_load_with(path, &plain, model, info, error);
}

enum gs_status gs_checkpoint_save(const char *path, bool force, const struct gs_model *model,
                                  int64_t step, int64_t seed, struct gs_error *error) {
    struct gs_json *config = gs_model_config(model);
    char *text = config ? gs_json_text(config, 0) : NULL;
    gs_json_destroy(config);
    if (!text) return gs_fail_memory(error, 0, "a config");
    char step_text[32], seed_text[32];
    const char *pairs[7] = {GS_CHECKPOINT_CONFIG, text};
    size_t used = 2;
    if (step >= 0) {
        snprintf(step_text, sizeof step_text, "%" PRId64, step);
        pairs[used++] = STEP_KEY;
        pairs[used++] = step_text;
    }
    if (seed >= 0) {
        snprintf(seed_text, sizeof seed_text, "%" PRId64, seed);
        pairs[used++] = SEED_KEY;
        pairs[used++] = seed_text;
    }
    enum gs_status status =
        gs_safetensors_write(path, force, gs_model_parameters(model), pairs, error);
    gs_free(text);
    return status;
}
