#include "probes/programs/convert_checkpoint.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/training_state.h"
#include "core/training/adopt.h"

#include <inttypes.h>

/* An optimiser that is left behind is worth a word. */
static void say_left_behind(const struct gs_call *call, const char *path) {
    struct gs_tensor_file *file;
    if (gs_tensor_file_open(path, NULL, &file, NULL) != GS_OK) return;
    if (gs_training_state_recognise(file))
        gs_call_message(call, "its optimiser was left out; --run CONFIG brings it along, to go on "
                              "training");
    gs_tensor_file_close(file);
}

static enum gs_status write_model(const struct gs_call *call, const struct gs_model *model,
                                  const struct gs_checkpoint_info *info, struct gs_error *error) {
    enum gs_status status =
        gs_checkpoint_save(call->output, call->force, model, info->step, info->seed, error);
    if (status != GS_OK) return status;
    if (info->left_out > 0)
        gs_call_message(call, "tensors that the map does not name, left out: %zu", info->left_out);
    gs_call_message(call, "wrote %s: a %s of %zu parameters, from a %s; its config is from %s",
                    call->output, gs_model_kind(model), gs_model_parameters(model)->count,
                    info->format, info->config_source);
    return GS_OK;
}

static enum gs_status convert_model(const struct gs_call *call,
                                    const struct gs_checkpoint_options *options,
                                    struct gs_error *error) {
    struct gs_model *model = NULL;
    struct gs_checkpoint_info info;
    char *path = NULL;
    if (!call->output) {
        gs_fail(error, GS_USAGE, "the output is missing");
        gs_error_next(error, "name it: -o OUT.safetensors");
        return GS_USAGE;
    }
    enum gs_status status = gs_output_check(call->output, call->force, error);
    if (status == GS_OK) status = gs_checkpoint_file(call->files[0], &path, error);
    if (status == GS_OK) status = gs_checkpoint_load_with(path, options, &model, &info, error);
    if (status == GS_OK) status = write_model(call, model, &info, error);
    if (status == GS_OK) say_left_behind(call, path);
    gs_model_destroy(model);
    gs_free(path);
    return status;
}

/* A line that can be given to a shell, whatever the paths hold. */
static void say_how_to_go_on(const struct gs_call *call, const char *run) {
    enum { MOST = 7 };
    const char *words[MOST] = {"train"};
    bool dash = run[0] == '-';
    int count = 1;
    if (!dash) words[count++] = run;
    if (call->output) {
        words[count++] = "-o";
        words[count++] = call->output;
    }
    words[count++] = "--resume";
    if (dash) {
        words[count++] = "--";
        words[count++] = run;
    }
    char *line = gs_command_line("train", count, (char **)(uintptr_t)words);
    if (line) gs_call_message(call, "%s goes on", line);
    gs_free(line);
}

static enum gs_status convert_run(const struct gs_call *call, const char *run,
                                  const struct gs_checkpoint_options *options,
                                  struct gs_error *error) {
    const struct gs_training_overrides overrides = {.output = call->output};
    struct gs_training_config *config = NULL;
    struct gs_adopted adopted = {0};
    enum gs_status status = gs_training_config_read(run, &overrides, &config, error);
    if (status == GS_OK)
        status = gs_training_adopt(config, call->files[0], options, call->force, &adopted, error);
    if (status == GS_OK) {
        gs_call_message(call, "wrote %s: a %s of %zu parameters", adopted.model, adopted.kind,
                        adopted.parameters);
        gs_call_message(call,
                        "wrote %s: step %" PRId64 ", %" PRId64 " updates, %" PRId64 " batches read",
                        adopted.resume, adopted.step, adopted.updates, adopted.micro_batch);
        say_how_to_go_on(call, run);
    }
    gs_adopted_clear(&adopted);
    gs_training_config_destroy(config);
    return status;
}

static enum gs_status check_together(const struct gs_convert_checkpoint_options *options,
                                     struct gs_error *error) {
    const char *other = options->config ? "--config" : options->map ? "--map" : NULL;
    if (!options->run || !other) return GS_OK;
    gs_fail(error, GS_USAGE, "--run and %s do not go together", other);
    gs_error_next(error, "the run's config says what the model is, under its own names");
    return GS_USAGE;
}

enum gs_status gs_convert_checkpoint(const struct gs_call *call,
                                     const struct gs_convert_checkpoint_options *options,
                                     struct gs_error *error) {
    struct gs_json *config = NULL, *map = NULL;
    enum gs_status status = check_together(options, error);
    if (status == GS_OK && options->config)
        status = gs_json_read_file(options->config, &config, error);
    if (status == GS_OK && options->map) status = gs_json_read_file(options->map, &map, error);
    const struct gs_checkpoint_options how = {.config = config,
                                              .config_name = options->config,
                                              .map = map,
                                              .void_is_bfloat16 = options->void_is_bfloat16};
    if (status == GS_OK)
        status = options->run ? convert_run(call, options->run, &how, error)
                              : convert_model(call, &how, error);
    gs_json_destroy(config);
    gs_json_destroy(map);
    return status;
}
