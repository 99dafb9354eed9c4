#include "core/training/config.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/training/config_fields.h"
#include "core/training/schedule.h"

#include <math.h>
#include <string.h>

void gs_training_config_destroy(struct gs_training_config *config) {
    if (!config) return;
    gs_free(config->source);
    gs_free(config->name);
    gs_json_destroy(config->object);
    gs_free(config->data);
    gs_free(config->checkpoint);
    gs_free(config->log);
    gs_free(config->init);
    gs_free(config->resume);
    gs_free(config->schedule);
    gs_free(config->save_at);
    gs_free(config);
}

/* ---- overrides ----------------------------------------------------------------------------- */

/* Put `value` (taken) at the dotted `path` in `object`, making objects on the way. JSON values are
 * changed only through their container, so each object on the way is copied and put back. */
static bool set_path(struct gs_json *object, const char *path, struct gs_json *value) {
    const char *dot = strchr(path, '.');
    if (!dot) return gs_json_set(object, path, value);
    char key[128];
    size_t length = (size_t)(dot - path);
    if (length >= sizeof key) {
        gs_json_destroy(value);
        return false;
    }
    memcpy(key, path, length);
    key[length] = 0;
    const struct gs_json *old = gs_json_get(object, key);
    bool is_object = gs_json_type(old) == GS_JSON_OBJECT;
    struct gs_json *inner = is_object ? gs_json_copy(old) : gs_json_new_object();
    bool good = set_path(inner, dot + 1, value);
    return gs_json_set(object, key, inner) && good;
}

static enum gs_status fail_set(const char *set, const char *what, struct gs_error *error) {
    gs_fail(error, GS_USAGE, "%s", what);
    gs_error_expected(error, "KEY=VALUE, such as training.seed=3");
    gs_error_found(error, "\"%.200s\"", set);
    gs_error_where(error, "--set");
    return GS_USAGE;
}

static enum gs_status apply_set(struct gs_json *object, const char *set, struct gs_error *error) {
    enum { LONGEST = 256 };
    const char *equals = strchr(set, '=');
    if (!equals || equals == set) return fail_set(set, "an override has no key or no value", error);
    char path[LONGEST];
    size_t length = (size_t)(equals - set);
    if (length >= sizeof path) return fail_set(set, "an override has too long a key", error);
    memcpy(path, set, length);
    path[length] = 0;
    if (path[0] == '.' || path[length - 1] == '.' || strstr(path, ".."))
        return fail_set(set, "an override's key has an empty part", error);
    struct gs_json *value = NULL;
    if (gs_json_parse(equals + 1, strlen(equals + 1), "--set", &value, NULL) != GS_OK)
        value = gs_json_new_string(equals + 1);
    if (!set_path(object, path, value)) return gs_fail_memory(error, strlen(set), "an override");
    return GS_OK;
}

static bool put_number(struct gs_json *object, const char *path, uint64_t number) {
    return set_path(object, path, gs_json_new_integer((int64_t)number));
}

static enum gs_status apply_overrides(struct gs_json *object,
                                      const struct gs_training_overrides *overrides,
                                      struct gs_error *error) {
    enum gs_status status = GS_OK;
    for (size_t i = 0; i < overrides->set_count && status == GS_OK; i++)
        status = apply_set(object, overrides->sets[i], error);
    if (status != GS_OK) return status;
    bool good = true;
    if (overrides->seed) good = put_number(object, "training.seed", *overrides->seed);
    if (overrides->steps) good = put_number(object, "training.run_steps", overrides->steps) && good;
    return good ? GS_OK : gs_fail_memory(error, 0, "an override");
}

/* ---- what one field cannot say alone -------------------------------------------------------- */

static enum gs_status fail_pair(const struct gs_training_config *config, const char *key,
                                const char *what, const char *limit_key, const char *relation,
                                size_t limit, size_t found, struct gs_error *error) {
    gs_fail(error, GS_CONFIG, "%s", what);
    gs_error_expected(error, "%s %zu (%s)", relation, limit, limit_key);
    gs_error_found(error, "%zu", found);
    gs_error_where(error, "%s: %s", config->source, key);
    return GS_CONFIG;
}

static enum gs_status check_together(struct gs_training_config *config, struct gs_error *error) {
    if (config->run_steps == 0) config->run_steps = config->total_steps;
    if (config->warmup_steps >= config->total_steps)
        return fail_pair(config, "optimizer.warmup_steps", "the warm-up never ends",
                         "training.total_steps", "below", config->total_steps, config->warmup_steps,
                         error);
    if (config->truncate_bptt > config->seq_len)
        return fail_pair(config, "training.truncate_bptt", "the gradient is cut behind the window",
                         "training.seq_len", "at most", config->seq_len, config->truncate_bptt,
                         error);
    enum gs_cosine cosine;
    if (config->schedule && !gs_cosine_named(config->schedule, &cosine)) {
        gs_fail(error, GS_CONFIG, "the config names an unknown schedule");
        gs_error_expected(error, "%s or %s", gs_cosine_name(GS_COSINE_AFTER_WARMUP),
                          gs_cosine_name(GS_COSINE_FROM_START));
        gs_error_found(error, "\"%.100s\"", config->schedule);
        gs_error_where(error, "%s: optimizer.schedule", config->source);
        return GS_CONFIG;
    }
    if (strchr(config->name, '/') || config->name[0] == '.') {
        gs_fail(error, GS_CONFIG, "the run's name cannot stand in a file name");
        gs_error_expected(error, "no '/' and no '.' in front");
        gs_error_found(error, "\"%.100s\"", config->name);
        gs_error_where(error, "%s: name", config->source);
        return GS_CONFIG;
    }
    return GS_OK;
}

/* ---- paths ---------------------------------------------------------------------------------- */

static enum gs_status resolve(char **path, const char *folder, struct gs_error *error) {
    if (!*path) return GS_OK;
    char *joined = gs_path_join(folder, *path);
    if (!joined) return gs_fail_memory(error, strlen(*path), "a path");
    gs_free(*path);
    *path = joined;
    return GS_OK;
}

static enum gs_status replace(char **path, const char *with, struct gs_error *error) {
    gs_free(*path);
    *path = gs_strdup(with);
    return *path ? GS_OK : gs_fail_memory(error, strlen(with), "a path");
}

static enum gs_status resolve_paths(struct gs_training_config *config, const char *output,
                                    struct gs_error *error) {
    char *folder = gs_path_folder(config->source);
    if (!folder) return gs_fail_memory(error, strlen(config->source), "a path");
    char **paths[] = {&config->data, &config->checkpoint, &config->log, &config->init,
                      &config->resume};
    enum gs_status status = GS_OK;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0] && status == GS_OK; i++)
        status = resolve(paths[i], folder, error);
    gs_free(folder);
    if (output && status == GS_OK) status = replace(&config->checkpoint, output, error);
    if (output && status == GS_OK) status = replace(&config->log, output, error);
    return status;
}

enum gs_status gs_training_config_read(const char *path,
                                       const struct gs_training_overrides *overrides,
                                       struct gs_training_config **config, struct gs_error *error) {
    static const struct gs_training_overrides none = {0};
    if (!overrides) overrides = &none;
    struct gs_training_config *read = gs_calloc(1, sizeof *read);
    if (!read) return gs_fail_memory(error, sizeof *read, "a config");
    read->clip_epsilon = (double)NAN;
    read->source = gs_strdup(path);
    enum gs_status status = read->source ? GS_OK : gs_fail_memory(error, strlen(path), "a path");
    if (status == GS_OK) status = gs_json_read_file(path, &read->object, error);
    if (status == GS_OK && gs_json_type(read->object) == GS_JSON_OBJECT)
        status = apply_overrides(read->object, overrides, error);
    if (status == GS_OK)
        status =
            gs_training_fields_read(read->object, path, overrides->output != NULL, read, error);
    read->ignore_memory = overrides->ignore_memory;
    if (status == GS_OK) status = check_together(read, error);
    if (status == GS_OK) status = resolve_paths(read, overrides->output, error);
    if (status != GS_OK) {
        gs_training_config_destroy(read);
        return status;
    }
    *config = read;
    return GS_OK;
}
