#include "core/training/resume.h"

#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/checkpoint/safetensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char CONFIG_KEY[] = "gpnscope.config";
static const char POSITION_KEY[] = "gpnscope.position";
static const char *const prefixes[] = {"p", "m", "v"};
enum { PARTS = 3 };

/* ---- the position as JSON ------------------------------------------------------------------- */

/* Sums go through text in base 16: every bit comes back. */
static struct gs_json *exact(double number) {
    char text[64];
    snprintf(text, sizeof text, "%a", number);
    return gs_json_new_string(text);
}

static struct gs_json *setting_json(const struct gs_run_setting *setting) {
    return setting->text ? gs_json_new_string(setting->text) : exact(setting->value);
}

static char *position_text(const struct gs_run_position *p, const struct gs_adamw *adamw,
                           const struct gs_run_identity *identity) {
    struct gs_json *object = gs_json_new_object(), *metrics = gs_json_new_array();
    const struct {
        const char *key;
        uint64_t number;
    } counts[] = {{"step", p->step},
                  {"micro_batch", p->micro_batch},
                  {"updates", adamw->updates},
                  {"skipped", p->skipped},
                  {"skipped_in_a_row", p->skipped_in_a_row},
                  {"logged_step", p->logged_step},
                  {"batch_size", identity->batch_size},
                  {"window", identity->window},
                  {"tokens", identity->tokens}};
    struct gs_json *settings = gs_json_new_object();
    bool good = gs_json_set(object, "metrics", metrics);
    good = gs_json_set(object, "settings", settings) && good;
    for (size_t i = 0; i < GS_RUN_SETTINGS && identity->settings[i].key && good; i++)
        good =
            gs_json_set(settings, identity->settings[i].key, setting_json(&identity->settings[i]));
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        good = gs_json_set(object, counts[i].key, gs_json_new_integer((int64_t)counts[i].number)) &&
               good;
    good =
        gs_json_set(object, "tokens_sha256", gs_json_new_string(identity->tokens_sha256)) && good;
    good = gs_json_set(object, "data", gs_json_new_string(identity->data)) && good;
    good = gs_json_set(object, "loss", exact(p->loss)) && good;
    good = gs_json_set(object, "grad_norm", exact(p->grad_norm)) && good;
    for (size_t i = 0; i < p->metric_count && good; i++)
        good = gs_json_append(metrics, exact(p->metrics[i]));
    char *text = good ? gs_json_text(object, 0) : NULL;
    gs_json_destroy(object);
    return text;
}

static char *config_text(const struct gs_model *model) {
    struct gs_json *config = gs_model_config(model);
    char *text = config ? gs_json_text(config, 0) : NULL;
    gs_json_destroy(config);
    return text;
}

/* ---- saving --------------------------------------------------------------------------------- */

/* The tensors of `source` under names with a prefix; their values are borrowed. */
static enum gs_status add_tensors(struct gs_parameters *all, const char *prefix,
                                  const struct gs_parameters *source, struct gs_error *error) {
    for (size_t i = 0; i < source->tensor_count; i++) {
        struct gs_tensor *tensor = &all->tensors[all->tensor_count++];
        *tensor = source->tensors[i];
        int length = snprintf(tensor->name, sizeof tensor->name, "%s.%.*s", prefix,
                              GS_PARAMETER_NAME - 3, source->tensors[i].name);
        if (length < GS_PARAMETER_NAME &&
            strcmp(tensor->name + strlen(prefix) + 1, source->tensors[i].name) == 0)
            continue;
        gs_fail(error, GS_UNSUPPORTED, "a parameter's name is too long for a resume file");
        gs_error_found(error, "\"%s\"", source->tensors[i].name);
        return GS_UNSUPPORTED;
    }
    return GS_OK;
}

enum gs_status gs_resume_save(const char *path, const struct gs_model *model,
                              const struct gs_adamw *adamw, const struct gs_run_position *position,
                              const struct gs_run_identity *identity, struct gs_error *error) {
    const struct gs_parameters *sources[PARTS] = {gs_model_parameters(model), adamw->first,
                                                  adamw->second};
    struct gs_parameters all = {0};
    size_t count = PARTS * sources[0]->tensor_count;
    all.tensors = gs_calloc(count, sizeof *all.tensors);
    char *config = config_text(model), *where = position_text(position, adamw, identity);
    enum gs_status status = GS_OK;
    if (!all.tensors || !config || !where)
        status = gs_fail_memory(error, count * sizeof *all.tensors, "a resume file");
    for (size_t i = 0; i < PARTS && status == GS_OK; i++)
        status = add_tensors(&all, prefixes[i], sources[i], error);
    const char *metadata[] = {CONFIG_KEY, config, POSITION_KEY, where, NULL};
    if (status == GS_OK) status = gs_safetensors_write(path, true, &all, metadata, error);
    gs_free(all.tensors);
    gs_free(config);
    gs_free(where);
    return status;
}

/* A checkpoint that some other program goes on from may be given here. */
static enum gs_status open_file(const char *path, struct gs_safetensors **file,
                                struct gs_error *error) {
    enum gs_status status = gs_safetensors_open(path, file, error);
    if (status == GS_FORMAT && error && !error->next[0])
        gs_error_next(error, "a run of another program is brought in by gpnscope convert "
                             "CHECKPOINT --run CONFIG");
    return status;
}

/* ---- loading -------------------------------------------------------------------------------- */

static enum gs_status fail_file(const char *path, const char *what, const char *found,
                                struct gs_error *error) {
    gs_fail(error, GS_FORMAT, "%s", what);
    if (found) gs_error_found(error, "%.200s", found);
    gs_error_where(error, "%s", path);
    gs_error_next(error, "remove this file to go on from an earlier one");
    return GS_FORMAT;
}

static enum gs_status parse_position(const char *path, const struct gs_safetensors *file,
                                     struct gs_json **position, struct gs_error *error) {
    const char *text = gs_safetensors_metadata(file, POSITION_KEY);
    if (!text) return fail_file(path, "the file says nothing about where a run was", NULL, error);
    return gs_json_parse(text, strlen(text), path, position, error);
}

static enum gs_status read_count(const char *path, const struct gs_json *json, const char *key,
                                 uint64_t *count, struct gs_error *error) {
    int64_t number;
    if (!gs_json_integer(gs_json_get(json, key), &number) || number < 0)
        return fail_file(path, "a count of the run's position cannot be read", key, error);
    *count = (uint64_t)number;
    return GS_OK;
}

static enum gs_status read_sum(const char *path, const struct gs_json *value, double *sum,
                               struct gs_error *error) {
    const char *text = gs_json_string(value);
    char *end = NULL;
    if (text) *sum = strtod(text, &end);
    if (!text || end == text || *end)
        return fail_file(path, "a sum of the run's position cannot be read", text, error);
    return GS_OK;
}

static enum gs_status read_position(const char *path, const struct gs_json *json,
                                    struct gs_run_position *p, struct gs_adamw *adamw,
                                    struct gs_error *error) {
    uint64_t step, updates, skipped, in_a_row, logged;
    enum gs_status status = read_count(path, json, "step", &step, error);
    if (status == GS_OK) status = read_count(path, json, "micro_batch", &p->micro_batch, error);
    if (status == GS_OK) status = read_count(path, json, "updates", &updates, error);
    if (status == GS_OK) status = read_count(path, json, "skipped", &skipped, error);
    if (status == GS_OK) status = read_count(path, json, "skipped_in_a_row", &in_a_row, error);
    if (status == GS_OK) status = read_count(path, json, "logged_step", &logged, error);
    if (status == GS_OK) status = read_sum(path, gs_json_get(json, "loss"), &p->loss, error);
    if (status == GS_OK)
        status = read_sum(path, gs_json_get(json, "grad_norm"), &p->grad_norm, error);
    if (status != GS_OK) return status;
    p->step = (size_t)step;
    p->skipped = (size_t)skipped;
    p->skipped_in_a_row = (size_t)in_a_row;
    p->logged_step = (size_t)logged;
    adamw->updates = (size_t)updates;
    const struct gs_json *metrics = gs_json_get(json, "metrics");
    if (gs_json_size(metrics) != p->metric_count)
        return fail_file(path, "the run's position has other metrics than the model", NULL, error);
    for (size_t i = 0; i < p->metric_count && status == GS_OK; i++)
        status = read_sum(path, gs_json_at(metrics, i), &p->metrics[i], error);
    return status;
}

static enum gs_status fail_other(const char *path, const char *what, const char *expected,
                                 const char *found, struct gs_error *error) {
    gs_fail(error, GS_CONFIG, "the earlier run had %s, so this one cannot go on from it", what);
    gs_error_expected(error, "%.250s", expected ? expected : "none");
    gs_error_found(error, "%.250s", found ? found : "none");
    gs_error_where(error, "%s", path);
    return GS_CONFIG;
}

static enum gs_status check_count(const char *path, const struct gs_json *json, const char *key,
                                  size_t mine, struct gs_error *error) {
    uint64_t number = 0;
    enum gs_status status = read_count(path, json, key, &number, error);
    if (status != GS_OK || number == mine) return status;
    char expected[32], found[32];
    snprintf(expected, sizeof expected, "%llu", (unsigned long long)number);
    snprintf(found, sizeof found, "%zu", mine);
    char what[64];
    snprintf(what, sizeof what, "another %s", key);
    return fail_other(path, what, expected, found, error);
}

/* Files of older runs say only the hash of their data. */
static enum gs_status check_data(const char *path, const struct gs_json *json,
                                 const struct gs_run_identity *mine, struct gs_error *error) {
    const char *sha256 = gs_json_string(gs_json_get(json, "tokens_sha256"));
    if (sha256 && strcmp(sha256, mine->tokens_sha256) == 0) return GS_OK;
    const char *data = gs_json_string(gs_json_get(json, "data"));
    int64_t tokens = 0;
    char expected[256], found[256];
    if (data && gs_json_integer(gs_json_get(json, "tokens"), &tokens))
        snprintf(expected, sizeof expected, "the %lld tokens that were in %.120s (sha256 %.16s…)",
                 (long long)tokens, data, sha256 ? sha256 : "");
    else
        snprintf(expected, sizeof expected, "tokens with sha256 %.64s",
                 sha256 ? sha256 : "unknown");
    snprintf(found, sizeof found, "%llu tokens in %.120s (sha256 %.16s…)",
             (unsigned long long)mine->tokens, mine->data, mine->tokens_sha256);
    return fail_other(path, "other data", expected, found, error);
}

static enum gs_status check_identity(const char *path, const struct gs_safetensors *file,
                                     const struct gs_json *json, const struct gs_model *model,
                                     const struct gs_run_identity *identity,
                                     struct gs_error *error) {
    const char *their_config = gs_safetensors_metadata(file, CONFIG_KEY);
    char *config = config_text(model);
    if (!config) return gs_fail_memory(error, 0, "a config");
    enum gs_status status = GS_OK;
    if (!their_config || strcmp(their_config, config) != 0)
        status = fail_other(path, "another model", their_config, config, error);
    gs_free(config);
    if (status == GS_OK) status = check_data(path, json, identity, error);
    if (status == GS_OK)
        status = check_count(path, json, "batch_size", identity->batch_size, error);
    if (status == GS_OK) status = check_count(path, json, "window", identity->window, error);
    return status;
}

/* Does a setting differ from the file's? Then "key theirs -> mine" in `change`. Files of older runs
 * do not say all of them. */
static enum gs_status compare_setting(const char *path, const struct gs_json *settings,
                                      const struct gs_run_setting *mine, char *change, size_t size,
                                      struct gs_error *error) {
    const struct gs_json *theirs = gs_json_get(settings, mine->key);
    double number;
    change[0] = '\0';
    if (!theirs) return GS_OK;
    if (mine->text) {
        const char *word = gs_json_string(theirs);
        if (!word) return fail_file(path, "a setting of the run cannot be read", mine->key, error);
        if (strcmp(word, mine->text) != 0)
            snprintf(change, size, "%s %.60s -> %s", mine->key, word, mine->text);
        return GS_OK;
    }
    enum gs_status status = read_sum(path, theirs, &number, error);
    if (status == GS_OK && number != mine->value)
        snprintf(change, size, "%s %.9g -> %.9g", mine->key, number, mine->value);
    return status;
}

/* All that differ, parted by commas, in p->changed. */
static enum gs_status compare_settings(const char *path, const struct gs_json *json,
                                       const struct gs_run_identity *identity,
                                       struct gs_run_position *p, struct gs_error *error) {
    const struct gs_json *settings = gs_json_get(json, "settings");
    char change[160];
    size_t length = 0;
    p->changed[0] = '\0';
    for (size_t i = 0; i < GS_RUN_SETTINGS && identity->settings[i].key; i++) {
        enum gs_status status =
            compare_setting(path, settings, &identity->settings[i], change, sizeof change, error);
        if (status != GS_OK) return status;
        if (!change[0] || length >= sizeof p->changed) continue;
        length += (size_t)snprintf(p->changed + length, sizeof p->changed - length, "%s%s",
                                   length ? ", " : "", change);
    }
    return GS_OK;
}

static enum gs_status read_tensors(const char *path, const struct gs_safetensors *file,
                                   const char *prefix, struct gs_parameters *target,
                                   struct gs_error *error) {
    for (size_t i = 0; i < target->tensor_count; i++) {
        const struct gs_tensor *tensor = &target->tensors[i];
        char name[GS_PARAMETER_NAME + 8];
        snprintf(name, sizeof name, "%s.%s", prefix, tensor->name);
        const struct gs_safetensors_entry *entry = gs_safetensors_find(file, name);
        if (!entry || entry->dtype != GS_F32 || entry->rank != tensor->rank ||
            memcmp(entry->shape, tensor->shape, tensor->rank * sizeof tensor->shape[0]) != 0)
            return fail_file(path, "a tensor of the run is absent or has another shape", name,
                             error);
        enum gs_status status = gs_safetensors_read(file, entry, tensor->values, error);
        if (status != GS_OK) return status;
        for (size_t k = 0; k < tensor->count; k++)
            if (!isfinite(tensor->values[k]))
                return fail_file(path, "a value of the run is not finite", name, error);
    }
    return GS_OK;
}

enum gs_status gs_resume_load(const char *path, struct gs_model *model, struct gs_adamw *adamw,
                              struct gs_run_position *position,
                              const struct gs_run_identity *identity, struct gs_error *error) {
    struct gs_safetensors *file = NULL;
    struct gs_json *json = NULL;
    struct gs_parameters *targets[PARTS] = {gs_model_parameters(model), adamw->first,
                                            adamw->second};
    enum gs_status status = open_file(path, &file, error);
    if (status == GS_OK) status = parse_position(path, file, &json, error);
    if (status == GS_OK) status = check_identity(path, file, json, model, identity, error);
    if (status == GS_OK && gs_safetensors_count(file) != PARTS * targets[0]->tensor_count)
        status = fail_file(path, "the file has other tensors than the run", NULL, error);
    for (size_t i = 0; i < PARTS && status == GS_OK; i++)
        status = read_tensors(path, file, prefixes[i], targets[i], error);
    if (status == GS_OK) status = read_position(path, json, position, adamw, error);
    if (status == GS_OK) status = compare_settings(path, json, identity, position, error);
    gs_json_destroy(json);
    gs_safetensors_close(file);
    return status;
}

enum gs_status gs_resume_step(const char *path, long long *step, struct gs_error *error) {
    struct gs_safetensors *file = NULL;
    struct gs_json *json = NULL;
    uint64_t found = 0;
    enum gs_status status = open_file(path, &file, error);
    if (status == GS_OK) status = parse_position(path, file, &json, error);
    if (status == GS_OK) status = read_count(path, json, "step", &found, error);
    if (status == GS_OK) *step = (long long)found;
    gs_json_destroy(json);
    gs_safetensors_close(file);
    return status;
}
