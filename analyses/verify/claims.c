#include "analyses/verify/claims.h"

#include "analyses/verify/default_claims.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/base/names.h"

#include <stdio.h>
#include <string.h>

enum { DIRECTIONS = 4, COMPARISONS = 3 };
static const char *const directions[DIRECTIONS] = {"above", "at_least", "below", "at_most"};
static const char *const comparisons[COMPARISONS] = {NULL, "ratio", "difference"};

const char *gs_claim_direction_name(enum gs_claim_direction direction) {
    return directions[direction];
}

const char *gs_claim_comparison_name(enum gs_claim_comparison comparison) {
    return comparisons[comparison];
}

void gs_claim_value_name(const struct gs_claim *claim, char name[GS_CLAIM_VALUE]) {
    const char *comparison = comparisons[claim->comparison];
    snprintf(name, GS_CLAIM_VALUE, "%s%s%s", comparison ? comparison : "", comparison ? "." : "",
             claim->statistic);
}

/* ---- errors that say where ---- */

/* An object of the document: its place, such as "claims.json, claim 3 (rank.spread)". */
struct object {
    const struct gs_json *json;
    char where[256];
};

static enum gs_status fail_at(const struct object *object, const char *what, const char *key,
                              struct gs_error *error) {
    gs_fail(error, GS_FORMAT, "%s \"%s\"", what, key);
    gs_error_where(error, "%s", object->where);
    return GS_FORMAT;
}

static enum gs_status fail_unknown(const struct object *object, const char *what, const char *found,
                                   const char *const *known, size_t count, struct gs_error *error) {
    char list[200] = "";
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (used + strlen(known[i]) + 3 < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "",
                                     known[i]);
    fail_at(object, what, found, error);
    gs_error_expected(error, "%s", list);
    const char *near = gs_nearest_name(found, known, count);
    if (near) gs_error_next(error, "did you mean \"%s\"?", near);
    return GS_FORMAT;
}

static enum gs_status check_keys(const struct object *object, const char *const *known,
                                 size_t count, struct gs_error *error) {
    for (size_t i = 0; i < gs_json_size(object->json); i++) {
        const char *key = gs_json_key_at(object->json, i);
        bool found = false;
        for (size_t k = 0; k < count && !found; k++) found = strcmp(key, known[k]) == 0;
        if (!found) return fail_unknown(object, "unknown key", key, known, count, error);
    }
    return GS_OK;
}

static enum gs_status fail_type(const struct object *object, const char *key, const char *expected,
                                struct gs_error *error) {
    const struct gs_json *value = gs_json_get(object->json, key);
    if (!value) return fail_at(object, "there is no", key, error);
    fail_at(object, "a wrong type of", key, error);
    gs_error_expected(error, "%s", expected);
    gs_error_found(error, "%s", gs_json_type_name(gs_json_type(value)));
    return GS_FORMAT;
}

/* ---- parts ---- */

/* A copy of the text at `key`; *text stays NULL on failure. */
static enum gs_status take_text(const struct object *object, const char *key, bool required,
                                char **text, struct gs_error *error) {
    const char *found = gs_json_string(gs_json_get(object->json, key));
    if (!found && !required && !gs_json_get(object->json, key)) found = "";
    if (!found) return fail_type(object, key, "text", error);
    if (required && !found[0]) return fail_at(object, "there is nothing in", key, error);
    *text = gs_strdup(found);
    return *text ? GS_OK : gs_fail_memory(error, strlen(found) + 1, "a claim");
}

/* The place of the word at `key` among `words`. */
static enum gs_status take_word(const struct object *object, const char *key,
                                const char *const *words, size_t count, size_t *index,
                                struct gs_error *error) {
    const char *found = gs_json_string(gs_json_get(object->json, key));
    if (!found) return fail_type(object, key, "text", error);
    for (*index = 0; *index < count; ++*index)
        if (strcmp(found, words[*index]) == 0) return GS_OK;
    char what[64];
    snprintf(what, sizeof what, "unknown %s", key);
    return fail_unknown(object, what, found, words, count, error);
}

static enum gs_status take_comparison(const struct object *object, struct gs_claim *claim,
                                      struct gs_error *error) {
    static const char *const against[] = {"untrained"};
    size_t index = 0;
    bool has_against = gs_json_get(object->json, "against");
    bool has_comparison = gs_json_get(object->json, "comparison");
    claim->comparison = GS_CLAIM_ITSELF;
    if (!has_against && !has_comparison) return GS_OK;
    if (!has_against) return fail_at(object, "a comparison needs", "against", error);
    if (!has_comparison) return fail_at(object, "against needs a", "comparison", error);
    enum gs_status status = take_word(object, "against", against, 1, &index, error);
    if (status == GS_OK) /* those with a name: the first is none */
        status = take_word(object, "comparison", comparisons + 1, COMPARISONS - 1, &index, error);
    if (status == GS_OK) claim->comparison = (enum gs_claim_comparison)(index + 1);
    return status;
}

static enum gs_status check_name(const struct object *object, const char *name,
                                 struct gs_error *error) {
    static const char legal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    if (name[strspn(name, legal)] == '\0' && name[0] != '.' && strlen(name) < 128) return GS_OK;
    fail_at(object, "an unusable name", name, error);
    gs_error_expected(error, "at most 127 letters, digits, '.', '_', '-', not '.' first");
    return GS_FORMAT;
}

static enum gs_status take_claim(const struct object *object, struct gs_claim *claim,
                                 struct gs_error *error) {
    static const char *const keys[] = {"name",    "structure",  "says",      "statistic",
                                       "against", "comparison", "direction", "threshold",
                                       "reason",  "untrained"};
    size_t direction = 0;
    enum gs_status status = gs_json_type(object->json) == GS_JSON_OBJECT
                                ? check_keys(object, keys, sizeof keys / sizeof *keys, error)
                                : fail_at(object, "a claim is not", "{…}", error);
    if (status == GS_OK) status = take_text(object, "name", true, &claim->name, error);
    if (status == GS_OK) status = check_name(object, claim->name, error);
    if (status == GS_OK) status = take_text(object, "structure", true, &claim->structure, error);
    if (status == GS_OK) status = take_text(object, "says", true, &claim->says, error);
    if (status == GS_OK) status = take_text(object, "statistic", true, &claim->statistic, error);
    if (status == GS_OK && strlen(claim->statistic) > GS_CLAIM_VALUE - 16)
        status = fail_at(object, "too long a", "statistic", error);
    if (status == GS_OK) status = take_text(object, "reason", true, &claim->reason, error);
    if (status == GS_OK) status = take_text(object, "untrained", true, &claim->untrained, error);
    if (status == GS_OK) status = take_comparison(object, claim, error);
    if (status == GS_OK)
        status = take_word(object, "direction", directions, DIRECTIONS, &direction, error);
    if (status != GS_OK) return status;
    claim->direction = (enum gs_claim_direction)direction;
    bool number = gs_json_number(gs_json_get(object->json, "threshold"), &claim->threshold);
    return number ? GS_OK : fail_type(object, "threshold", "a number", error);
}

static enum gs_status check_unique(const struct gs_claims *claims, const struct object *object,
                                   struct gs_error *error) {
    const char *name = claims->claims[claims->count - 1].name;
    for (size_t i = 0; i + 1 < claims->count; i++)
        if (strcmp(claims->claims[i].name, name) == 0)
            return fail_at(object, "a second claim is called", name, error);
    return GS_OK;
}

static enum gs_status take_claims(const struct object *document, const char *where,
                                  struct gs_claims *claims, struct gs_error *error) {
    const struct gs_json *list = gs_json_get(document->json, "claims");
    if (gs_json_type(list) != GS_JSON_ARRAY)
        return fail_type(document, "claims", "a list of claims", error);
    size_t count = gs_json_size(list);
    if (count == 0) return fail_at(document, "there is nothing in", "claims", error);
    if (count > GS_CLAIMS_MOST) {
        fail_at(document, "there is too much in", "claims", error);
        gs_error_expected(error, "at most %d", GS_CLAIMS_MOST);
        gs_error_found(error, "%zu", count);
        return GS_FORMAT;
    }
    claims->claims = gs_calloc(count, sizeof *claims->claims);
    if (!claims->claims) return gs_fail_memory(error, count * sizeof *claims->claims, "claims");
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < count; i++) {
        struct object object = {.json = gs_json_at(list, i)};
        const char *name = gs_json_string(gs_json_get(object.json, "name"));
        snprintf(object.where, sizeof object.where, "%s, claim %zu%s%s%s", where, i + 1,
                 name ? " (" : "", name ? name : "", name ? ")" : "");
        claims->count++;
        status = take_claim(&object, claims->claims + i, error);
        if (status == GS_OK) status = check_unique(claims, &object, error);
    }
    return status;
}

static enum gs_status take_document(const struct object *document, const char *where,
                                    struct gs_claims *claims, struct gs_error *error) {
    static const char *const keys[] = {"schema", "version", "title", "about", "claims"};
    const char *schema = gs_json_string(gs_json_get(document->json, "schema"));
    int64_t version = 0;
    if (!schema || strcmp(schema, "gpnscope-claims") != 0) {
        gs_fail(error, GS_FORMAT, "this is not a claims file");
        gs_error_expected(error, "\"schema\": \"gpnscope-claims\"");
        gs_error_found(error, "%s", schema ? schema : "no schema");
        gs_error_where(error, "%s", where);
        return GS_FORMAT;
    }
    if (!gs_json_integer(gs_json_get(document->json, "version"), &version) || version != 1) {
        fail_at(document, "an unknown", "version", error);
        gs_error_expected(error, "1");
        return GS_FORMAT;
    }
    enum gs_status status = check_keys(document, keys, sizeof keys / sizeof *keys, error);
    if (status == GS_OK) status = take_text(document, "title", false, &claims->title, error);
    if (status == GS_OK) status = take_text(document, "about", false, &claims->about, error);
    return status == GS_OK ? take_claims(document, where, claims, error) : status;
}

/* ---- the whole ---- */

static enum gs_status hash_bytes(const char *bytes, size_t size, char text[GS_SHA256_TEXT],
                                 struct gs_error *error) {
    struct gs_sha256 *hash = gs_sha256_create();
    if (!hash) return gs_fail_memory(error, 0, "a hash");
    gs_sha256_update(hash, bytes, size);
    gs_sha256_finish(hash, text);
    gs_sha256_destroy(hash);
    return GS_OK;
}

enum gs_status gs_claims_parse(const char *bytes, size_t size, const char *where,
                               struct gs_claims **claims, struct gs_error *error) {
    struct gs_json *json = NULL;
    *claims = gs_calloc(1, sizeof **claims);
    if (!*claims) return gs_fail_memory(error, sizeof **claims, "claims");
    (*claims)->source = gs_strdup(where);
    enum gs_status status =
        (*claims)->source ? GS_OK : gs_fail_memory(error, strlen(where) + 1, "a path");
    if (status == GS_OK) status = hash_bytes(bytes, size, (*claims)->sha256, error);
    if (status == GS_OK) status = gs_json_parse(bytes, size, where, &json, error);
    if (status == GS_OK) {
        struct object document = {.json = json};
        snprintf(document.where, sizeof document.where, "%s", where);
        status = take_document(&document, where, *claims, error);
    }
    gs_json_destroy(json);
    if (status == GS_OK) return GS_OK;
    gs_claims_destroy(*claims);
    *claims = NULL;
    return status;
}

enum gs_status gs_claims_read(const char *path, struct gs_claims **claims, struct gs_error *error) {
    struct gs_mapped_file file;
    *claims = NULL;
    if (!path)
        return gs_claims_parse(gs_default_claims, gs_default_claims_size, "default", claims, error);
    enum gs_status status = gs_file_map(path, &file, error);
    if (status != GS_OK) return status;
    status = gs_claims_parse((const char *)file.bytes, file.size, path, claims, error);
    gs_file_unmap(&file);
    return status;
}

void gs_claims_destroy(struct gs_claims *claims) {
    if (!claims) return;
    for (size_t i = 0; i < claims->count; i++) {
        struct gs_claim *claim = claims->claims + i;
        char *texts[] = {claim->name,      claim->structure, claim->says,
                         claim->statistic, claim->reason,    claim->untrained};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) gs_free(texts[k]);
    }
    gs_free(claims->claims);
    gs_free(claims->title);
    gs_free(claims->about);
    gs_free(claims->source);
    gs_free(claims);
}
