#include "core/training/config_fields.h"

#include "core/base/memory.h"
#include "core/base/names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum field_type { OBJECT, TEXT, COUNT, COUNTS, REAL, TRUTH };
enum need { OPTIONAL, REQUIRED, REQUIRED_DIR }; /* _DIR: unless the command line gives a folder */

struct range {
    double low, high;
    bool open_low, open_high; /* the end itself does not belong to the range */
};
/* Counts stay exact as doubles, and products of two are checked where they are made. */
static const struct range from_0 = {0, 1e15, false, false};
static const struct range any_seed = {0, 9.3e18, false, false}; /* every int64_t from 0 on */
static const struct range from_1 = {1, 1e15, false, false};
static const struct range unit = {0, 1, false, false};
static const struct range below_1 = {0, 1, false, true};
static const struct range not_negative = {0, 1e30, false, false};
static const struct range positive = {0, 1e30, true, false};

struct field {
    const char *section; /* "" at the top */
    const char *key;
    enum field_type type;
    enum need need;
    size_t at; /* place in the config; NOWHERE: checked, not kept */
    const struct range *range;
};
#define NOWHERE SIZE_MAX
#define AT(member) offsetof(struct gs_training_config, member)

static const struct field fields[] = {
    {"", "name", TEXT, REQUIRED, AT(name), NULL},
    {"", "kind", TEXT, OPTIONAL, NOWHERE, NULL},
    {"", "init", TEXT, OPTIONAL, AT(init), NULL},
    {"", "model", OBJECT, REQUIRED, NOWHERE, NULL},
    {"", "training", OBJECT, REQUIRED, NOWHERE, NULL},
    {"", "optimizer", OBJECT, REQUIRED, NOWHERE, NULL},
    {"", "logging", OBJECT, REQUIRED, NOWHERE, NULL},
    {"", "dirs", OBJECT, REQUIRED, NOWHERE, NULL},
    {"training", "batch_size", COUNT, REQUIRED, AT(batch_size), &from_1},
    {"training", "seq_len", COUNT, REQUIRED, AT(seq_len), &from_1},
    {"training", "grad_accum", COUNT, REQUIRED, AT(grad_accum), &from_1},
    {"training", "total_steps", COUNT, REQUIRED, AT(total_steps), &from_1},
    {"training", "run_steps", COUNT, OPTIONAL, AT(run_steps), &from_1},
    {"training", "seed", COUNT, REQUIRED, AT(seed), &any_seed},
    {"training", "resume", TEXT, OPTIONAL, AT(resume), NULL},
    {"training", "checkpoint_every", COUNT, OPTIONAL, AT(recompute_every), &from_0},
    {"training", "truncate_bptt", COUNT, OPTIONAL, AT(truncate_bptt), &from_0},
    {"training", "bf16", TRUTH, OPTIONAL, AT(bf16), NULL},
    {"training", "ce_chunk_size", COUNT, OPTIONAL, NOWHERE, &from_0},
    {"training", "compile", TRUTH, OPTIONAL, NOWHERE, NULL},
    {"optimizer", "learning_rate", REAL, REQUIRED, AT(learning_rate), &not_negative},
    {"optimizer", "adam_beta1", REAL, REQUIRED, AT(adam_beta1), &below_1},
    {"optimizer", "adam_beta2", REAL, REQUIRED, AT(adam_beta2), &below_1},
    {"optimizer", "weight_decay", REAL, REQUIRED, AT(weight_decay), &not_negative},
    {"optimizer", "warmup_steps", COUNT, REQUIRED, AT(warmup_steps), &from_0},
    {"optimizer", "min_lr_ratio", REAL, REQUIRED, AT(min_lr_ratio), &unit},
    {"optimizer", "grad_clip_norm", REAL, REQUIRED, AT(grad_clip_norm), &positive},
    {"optimizer", "schedule", TEXT, OPTIONAL, AT(schedule), NULL},
    {"optimizer", "clip_epsilon", REAL, OPTIONAL, AT(clip_epsilon), &not_negative},
    {"logging", "log_every", COUNT, REQUIRED, AT(log_every), &from_1},
    {"logging", "save_every", COUNT, REQUIRED, AT(save_every), &from_1},
    {"logging", "keep", COUNT, OPTIONAL, AT(keep), &from_0},
    {"logging", "save_at", COUNTS, OPTIONAL, AT(save_at), &from_0},
    {"dirs", "data", TEXT, REQUIRED, AT(data), NULL},
    {"dirs", "checkpoint", TEXT, REQUIRED_DIR, AT(checkpoint), NULL},
    {"dirs", "log", TEXT, REQUIRED_DIR, AT(log), NULL},
};
enum { FIELD_COUNT = sizeof fields / sizeof fields[0] };
static const char *const sections[] = {"", "training", "optimizer", "logging", "dirs"};
enum { SECTION_COUNT = sizeof sections / sizeof sections[0] };

/* ---- errors ------------------------------------------------------------------------------- */

static enum gs_status fail_key(const char *where, const char *section, const char *key,
                               const char *what, struct gs_error *error) {
    gs_fail(error, GS_CONFIG, "%s", what);
    gs_error_where(error, "%s: %s%s%.100s", where, section, section[0] ? "." : "", key);
    return GS_CONFIG;
}

static void say_found(const struct gs_json *value, struct gs_error *error) {
    char *text = gs_json_text(value, 0);
    gs_error_found(error, "%.200s", text ? text : gs_json_type_name(gs_json_type(value)));
    gs_free(text);
}

static enum gs_status fail_type(const char *where, const struct field *field,
                                const struct gs_json *value, struct gs_error *error) {
    static const char *const names[] = {"an object",       "a text that is not empty",
                                        "a whole number",  "a list of whole numbers",
                                        "a finite number", "true or false"};
    fail_key(where, field->section, field->key, "a value of the config has the wrong type", error);
    gs_error_expected(error, "%s", names[field->type]);
    say_found(value, error);
    return GS_CONFIG;
}

static enum gs_status fail_range(const char *where, const struct field *field,
                                 const struct gs_json *value, struct gs_error *error) {
    const struct range *range = field->range;
    fail_key(where, field->section, field->key, "a value of the config is out of range", error);
    gs_error_expected(error, "%s %g and %s %g", range->open_low ? "above" : "at least", range->low,
                      range->open_high ? "below" : "at most", range->high);
    say_found(value, error);
    return GS_CONFIG;
}

/* ---- keys nobody knows --------------------------------------------------------------------- */

static const struct field *find_field(const char *section, const char *key) {
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (strcmp(fields[i].key, key) == 0 &&
            (!section || strcmp(fields[i].section, section) == 0))
            return &fields[i];
    return NULL;
}

static enum gs_status fail_unknown(const char *where, const char *section, const char *key,
                                   struct gs_error *error) {
    const char *known[FIELD_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (strcmp(fields[i].section, section) == 0) known[count++] = fields[i].key;
    fail_key(where, section, key, "the config has an unknown key", error);
    const struct field *elsewhere = find_field(NULL, key);
    const char *nearest = gs_nearest_name(key, known, count);
    if (elsewhere)
        gs_error_next(error, "the key belongs %s%s", elsewhere->section[0] ? "into " : "to the top",
                      elsewhere->section);
    else if (nearest)
        gs_error_next(error, "the nearest known key is \"%s\"", nearest);
    return GS_CONFIG;
}

static enum gs_status check_section(const struct gs_json *object, const char *section,
                                    const char *where, struct gs_error *error) {
    const struct gs_json *members = section[0] ? gs_json_get(object, section) : object;
    for (size_t i = 0; i < gs_json_size(members); i++) {
        const char *key = gs_json_key_at(members, i);
        if (!find_field(section, key)) return fail_unknown(where, section, key, error);
    }
    return GS_OK;
}

/* ---- values -------------------------------------------------------------------------------- */

static bool inside(const struct range *range, double number) {
    bool low = range->open_low ? number > range->low : number >= range->low;
    bool high = range->open_high ? number < range->high : number <= range->high;
    return low && high;
}

static enum gs_status put_text(const struct gs_json *value, char **place, struct gs_error *error) {
    *place = gs_strdup(gs_json_string(value));
    return *place ? GS_OK : gs_fail_memory(error, strlen(gs_json_string(value)), "a config");
}

static enum gs_status read_text(const char *where, const struct field *field,
                                const struct gs_json *value, char *config, struct gs_error *error) {
    const char *text = gs_json_string(value);
    /* the authors write an empty resume for none */
    bool may_be_empty = field->need == OPTIONAL;
    if (!text || (!text[0] && !may_be_empty)) return fail_type(where, field, value, error);
    if (!text[0] || field->at == NOWHERE) return GS_OK;
    return put_text(value, (char **)(void *)(config + field->at), error);
}

static enum gs_status read_count(const char *where, const struct field *field,
                                 const struct gs_json *value, char *config,
                                 struct gs_error *error) {
    int64_t number;
    if (!gs_json_integer(value, &number)) return fail_type(where, field, value, error);
    if (!inside(field->range, (double)number)) return fail_range(where, field, value, error);
    if (field->at == NOWHERE) return GS_OK;
    if (field->at == AT(seed))
        *(uint64_t *)(void *)(config + field->at) = (uint64_t)number;
    else
        *(size_t *)(void *)(config + field->at) = (size_t)number;
    return GS_OK;
}

/* Only save_at is such a list. */
static enum gs_status read_counts(const char *where, const struct field *field,
                                  const struct gs_json *value, struct gs_training_config *config,
                                  struct gs_error *error) {
    if (gs_json_type(value) != GS_JSON_ARRAY) return fail_type(where, field, value, error);
    size_t count = gs_json_size(value);
    config->save_at = gs_calloc(count + 1, sizeof *config->save_at);
    if (!config->save_at) return gs_fail_memory(error, count * sizeof *config->save_at, "a config");
    for (size_t i = 0; i < count; i++) {
        const struct gs_json *item = gs_json_at(value, i);
        int64_t number;
        if (!gs_json_integer(item, &number)) return fail_type(where, field, value, error);
        if (!inside(field->range, (double)number)) return fail_range(where, field, item, error);
        config->save_at[i] = (size_t)number;
    }
    config->save_at_count = count;
    return GS_OK;
}

static enum gs_status read_value(const char *where, const struct field *field,
                                 const struct gs_json *value, struct gs_training_config *config,
                                 struct gs_error *error) {
    char *base = (char *)config;
    double number;
    bool truth;
    switch (field->type) {
    case OBJECT:
        if (gs_json_type(value) != GS_JSON_OBJECT) return fail_type(where, field, value, error);
        return GS_OK;
    case TEXT:
        return read_text(where, field, value, base, error);
    case COUNT:
        return read_count(where, field, value, base, error);
    case COUNTS:
        return read_counts(where, field, value, config, error);
    case REAL:
        if (!gs_json_number(value, &number) || !isfinite(number))
            return fail_type(where, field, value, error);
        if (!inside(field->range, number)) return fail_range(where, field, value, error);
        *(double *)(void *)(base + field->at) = number;
        return GS_OK;
    case TRUTH:
        if (!gs_json_truth(value, &truth)) return fail_type(where, field, value, error);
        if (field->at != NOWHERE) *(bool *)(void *)(base + field->at) = truth;
        return GS_OK;
    }
    return GS_OK;
}

static enum gs_status read_field(const struct gs_json *object, const struct field *field,
                                 const char *where, bool optional_dirs,
                                 struct gs_training_config *config, struct gs_error *error) {
    const struct gs_json *members =
        field->section[0] ? gs_json_get(object, field->section) : object;
    const struct gs_json *value = gs_json_get(members, field->key);
    if (value) return read_value(where, field, value, config, error);
    if (field->need == OPTIONAL || (field->need == REQUIRED_DIR && optional_dirs)) return GS_OK;
    return fail_key(where, field->section, field->key, "the config lacks a key", error);
}

enum gs_status gs_training_fields_read(const struct gs_json *object, const char *where,
                                       bool optional_dirs, struct gs_training_config *config,
                                       struct gs_error *error) {
    if (gs_json_type(object) != GS_JSON_OBJECT) {
        gs_fail(error, GS_CONFIG, "the config is not a JSON object");
        gs_error_found(error, "%s", gs_json_type_name(gs_json_type(object)));
        gs_error_where(error, "%s", where);
        return GS_CONFIG;
    }
    /* unknown keys first: a mistyped name explains a missing one */
    enum gs_status status = GS_OK;
    for (size_t i = 0; i < SECTION_COUNT && status == GS_OK; i++)
        status = check_section(object, sections[i], where, error);
    for (size_t i = 0; i < FIELD_COUNT && status == GS_OK; i++)
        status = read_field(object, &fields[i], where, optional_dirs, config, error);
    return status;
}
