#include "probes/inspect/compare.h"

#include "core/base/memory.h"
#include "probes/inspect/compare_parts.h"
#include "probes/inspect/file_kind.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 256 * 1024, PLACE = 192 };

/* ---- sides ---- */

enum gs_status gs_side_add(struct gs_side *side, const char *name, size_t rank, const size_t *shape,
                           size_t source, struct gs_error *error) {
    if (side->count == side->capacity) {
        size_t capacity = side->capacity ? 2 * side->capacity : 32;
        struct gs_part *parts = gs_calloc(capacity, sizeof *parts);
        if (!parts) return gs_fail_memory(error, capacity * sizeof *parts, "names");
        if (side->count) memcpy(parts, side->parts, side->count * sizeof *parts);
        gs_free(side->parts);
        side->parts = parts;
        side->capacity = capacity;
    }
    struct gs_part part = {.name = gs_strdup(name), .rank = rank, .count = 1, .source = source};
    if (!part.name) return gs_fail_memory(error, strlen(name), "a name");
    for (size_t axis = 0; axis < rank; axis++) {
        part.shape[axis] = shape[axis];
        part.count *= shape[axis];
    }
    side->parts[side->count++] = part;
    return GS_OK;
}

size_t gs_part_rows(const struct gs_part *part) {
    return part->rank ? part->shape[0] : 1;
}

size_t gs_part_row(const struct gs_part *part) {
    size_t row = 1;
    for (size_t axis = 1; axis < part->rank; axis++) row *= part->shape[axis];
    return row;
}

void gs_side_close(struct gs_side *side) {
    if (side->close) side->close(side);
    for (size_t i = 0; i < side->count; i++) gs_free(side->parts[i].name);
    gs_free(side->parts);
    gs_free(side->config);
    *side = (struct gs_side){0};
}

/* ---- one part ---- */

struct finding {
    const struct gs_part *first, *second; /* NULL where it is missing */
    const char *verdict;
    size_t beyond; /* elements */
    double absolute, relative;
    size_t worst; /* element */
    double a, b;  /* there */
};

struct comparison {
    struct gs_side sides[2];
    struct gs_tolerances tolerances;
    struct finding *findings;
    size_t count;
    double *values[2];
    unsigned char *none[2];
    size_t room;
};

/* NaN where the two have no difference that is a number. */
static double difference(double a, double b) {
    return a == b ? 0 : fabs(a - b);
}

static void compare_element(const struct gs_tolerances *tolerances, double a, double b,
                            size_t index, struct finding *finding) {
    double larger = fmax(fabs(a), fabs(b)), apart = difference(a, b);
    /* an infinity is close to itself alone, whatever the tolerance makes of it */
    bool close = apart == 0 || (apart <= tolerances->absolute + tolerances->relative * larger &&
                                isfinite(larger));
    if (!close) finding->beyond++;
    double relative = apart > 0 ? apart / larger : apart;
    /* NaN is the worst there is, and stays so */
    if (!(apart <= finding->absolute) && !isnan(finding->absolute)) {
        finding->absolute = apart;
        finding->worst = index;
        finding->a = a;
        finding->b = b;
    }
    if (!(relative <= finding->relative) && !isnan(finding->relative)) finding->relative = relative;
}

static void compare_piece(struct comparison *comparison, size_t first, size_t count,
                          struct finding *finding) {
    const struct gs_tolerances exact = {0, 0};
    const struct gs_tolerances *tolerances =
        finding->first->text ? &exact : &comparison->tolerances;
    for (size_t i = 0; i < count; i++) {
        bool none[2] = {comparison->none[0][i] != 0, comparison->none[1][i] != 0};
        if (none[0] && none[1]) continue;
        double a = none[0] ? NAN : comparison->values[0][i];
        double b = none[1] ? NAN : comparison->values[1][i];
        compare_element(tolerances, a, b, first + i, finding);
    }
}

static enum gs_status make_room(struct comparison *comparison, size_t count,
                                struct gs_error *error) {
    if (count <= comparison->room) return GS_OK;
    for (size_t i = 0; i < 2; i++) {
        gs_free(comparison->values[i]);
        gs_free(comparison->none[i]);
        comparison->values[i] = gs_calloc(count, sizeof(double));
        comparison->none[i] = gs_calloc(count, 1);
    }
    comparison->room = count;
    for (size_t i = 0; i < 2; i++)
        if (!comparison->values[i] || !comparison->none[i])
            return gs_fail_memory(error, count * 18, "numbers to compare");
    return GS_OK;
}

static enum gs_status compare_part(struct comparison *comparison, struct finding *finding,
                                   const struct gs_progress *progress, struct gs_error *error) {
    const struct gs_part *parts[2] = {finding->first, finding->second};
    size_t row = gs_part_row(parts[0]), rows = parts[0]->count ? gs_part_rows(parts[0]) : 0;
    size_t piece = row < PIECE ? PIECE / (row ? row : 1) : 1;
    if (piece > rows) piece = rows;
    enum gs_status status = make_room(comparison, piece * row, error);
    for (size_t first = 0; status == GS_OK && first < rows; first += piece) {
        size_t count = rows - first < piece ? rows - first : piece;
        for (size_t i = 0; status == GS_OK && i < 2; i++) {
            struct gs_side *side = &comparison->sides[i];
            memset(comparison->none[i], 0, count * row);
            status = side->read(side, parts[i], first, count, comparison->values[i],
                                comparison->none[i], error);
        }
        if (status == GS_OK) compare_piece(comparison, first * row, count * row, finding);
        if (status == GS_OK && gs_progress_stop(progress))
            status = gs_fail(error, GS_INTERRUPTED, "stopped");
    }
    bool same = finding->beyond == 0 && finding->absolute == 0;
    finding->verdict = finding->beyond ? "beyond" : same ? "same" : "close";
    return status;
}

static bool same_shape(const struct gs_part *a, const struct gs_part *b) {
    return a->rank == b->rank && a->text == b->text &&
           memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0;
}

/* ---- all parts ---- */

static int compare_names(const void *a, const void *b) {
    const struct gs_part *const *one = a, *const *other = b;
    return strcmp((*one)->name, (*other)->name);
}

/* The parts of a side in the order of their names (gs_free). */
static const struct gs_part **sorted(const struct gs_side *side) {
    const struct gs_part **list = gs_calloc(side->count, sizeof *list);
    for (size_t i = 0; list && i < side->count; i++) list[i] = &side->parts[i];
    if (list) qsort(list, side->count, sizeof *list, compare_names);
    return list;
}

static enum gs_status match(struct comparison *comparison, struct gs_error *error) {
    const struct gs_side *first = &comparison->sides[0], *second = &comparison->sides[1];
    const struct gs_part **names = sorted(second);
    bool *met = gs_calloc(second->count, sizeof *met);
    size_t most = first->count + second->count;
    comparison->findings = gs_calloc(most, sizeof *comparison->findings);
    enum gs_status status = names && met && comparison->findings
                                ? GS_OK
                                : gs_fail_memory(error, most * sizeof(struct finding), "findings");
    for (size_t i = 0; status == GS_OK && i < first->count; i++) {
        const struct gs_part *part = &first->parts[i];
        const struct gs_part **found =
            bsearch(&part, names, second->count, sizeof *names, compare_names);
        if (found) met[*found - second->parts] = true;
        comparison->findings[comparison->count++] =
            (struct finding){.first = part, .second = found ? *found : NULL};
    }
    for (size_t i = 0; status == GS_OK && i < second->count; i++)
        if (!met[i])
            comparison->findings[comparison->count++] =
                (struct finding){.second = &second->parts[i]};
    gs_free(names);
    gs_free(met);
    return status;
}

static enum gs_status compare_all(struct comparison *comparison, const struct gs_progress *progress,
                                  struct gs_error *error) {
    enum gs_status status = match(comparison, error);
    for (size_t i = 0; status == GS_OK && i < comparison->count; i++) {
        struct finding *finding = &comparison->findings[i];
        if (!finding->first || !finding->second)
            finding->verdict = finding->first ? "only in the first" : "only in the second";
        else if (!same_shape(finding->first, finding->second))
            finding->verdict = "shape";
        else
            status = compare_part(comparison, finding, progress, error);
        gs_progress_report(progress, (double)i + 1, (double)comparison->count, NULL);
    }
    return status;
}

/* ---- results ---- */

static void place_of(const struct gs_side *side, const struct gs_part *part, size_t index,
                     char *text, size_t size) {
    if (side->place) {
        side->place(side, part, index, text, size);
        return;
    }
    size_t at[GS_PART_RANK], used = 0;
    for (size_t axis = part->rank, rest = index; axis-- > 0; rest /= part->shape[axis])
        at[axis] = rest % part->shape[axis];
    for (size_t axis = 0; axis < part->rank && used < size; axis++)
        used += (size_t)snprintf(text + used, size - used, "%s%zu", axis ? ", " : "", at[axis]);
}

static void shapes_of(const struct finding *finding, char *text, size_t size) {
    const struct gs_part *parts[2] = {finding->first, finding->second};
    size_t used = 0;
    for (size_t side = 0; side < 2; side++) {
        used += (size_t)snprintf(text + used, size - used, "%s(", side ? " and " : "");
        for (size_t axis = 0; axis < parts[side]->rank && used < size - 40; axis++)
            used += (size_t)snprintf(text + used, size - used, "%s%zu", axis ? ", " : "",
                                     parts[side]->shape[axis]);
        used += (size_t)snprintf(text + used, size - used, ")");
    }
}

static bool is_good(const struct finding *finding) {
    return strcmp(finding->verdict, "same") == 0 || strcmp(finding->verdict, "close") == 0;
}

static enum gs_status add_row(struct comparison *comparison, struct gs_table *table,
                              const struct finding *finding, struct gs_error *error) {
    const struct gs_part *part = finding->first ? finding->first : finding->second;
    char place[PLACE + 256] = "";
    struct gs_cell cells[9] = {gs_cell_text(part->name), gs_cell_text(finding->verdict),
                               gs_cell_integer((int64_t)part->count)};
    for (size_t i = 3; i < 9; i++) cells[i] = gs_cell_text(NULL);
    bool compared = strcmp(finding->verdict, "beyond") == 0 || is_good(finding);
    if (compared) cells[3] = gs_cell_integer((int64_t)finding->beyond);
    if (compared && !part->text) {
        cells[4] = gs_cell_number(finding->absolute);
        cells[5] = gs_cell_number(finding->relative);
    }
    if (compared && finding->absolute != 0) { /* NaN, too */
        place_of(&comparison->sides[0], part, finding->worst, place, sizeof place);
        cells[6] = gs_cell_text(place);
        if (!part->text) {
            cells[7] = gs_cell_number(finding->a);
            cells[8] = gs_cell_number(finding->b);
        }
    }
    if (strcmp(finding->verdict, "shape") == 0) {
        shapes_of(finding, place, sizeof place);
        cells[6] = gs_cell_text(place);
    }
    return gs_table_row(table, cells, error);
}

static enum gs_status add_table(struct comparison *comparison, struct gs_results *results,
                                struct gs_error *error) {
    static const char *const columns[] = {"name",   "verdict",      "elements",
                                          "beyond", "max_absolute", "max_relative",
                                          "place",  "first",        "second"};
    struct gs_table *table;
    enum gs_status status = gs_results_table(results, "parts", columns, 9, &table, error);
    for (int good = 0; good < 2; good++) /* what is beyond comes first */
        for (size_t i = 0; status == GS_OK && i < comparison->count; i++)
            if (is_good(&comparison->findings[i]) == (good != 0))
                status = add_row(comparison, table, &comparison->findings[i], error);
    return status;
}

static enum gs_status add_worst(struct gs_results *results, const char *name, double worst,
                                size_t count, struct gs_error *error) {
    struct gs_value value = {.value = worst, .unit = "1", .n = count};
    if (isnan(worst)) value.reason = "NaN, or nothing, stands in one of the files";
    return gs_results_add(results, name, &value, error);
}

static enum gs_status add_values(const struct comparison *comparison, struct gs_results *results,
                                 bool *close, struct gs_error *error) {
    size_t beyond = 0, n = comparison->count;
    double absolute = 0, relative = 0;
    for (size_t i = 0; i < n; i++) {
        const struct finding *finding = &comparison->findings[i];
        if (!is_good(finding)) beyond++;
        if (!finding->first || finding->first->text) continue;
        if (!(finding->absolute <= absolute) && !isnan(absolute)) absolute = finding->absolute;
        if (!(finding->relative <= relative) && !isnan(relative)) relative = finding->relative;
    }
    *close = beyond == 0;
    enum gs_status status = gs_results_number(results, "diff.parts", (double)n, "1", n, error);
    if (status == GS_OK)
        status = gs_results_number(results, "diff.beyond", (double)beyond, "1", n, error);
    if (status == GS_OK) status = add_worst(results, "diff.max_absolute", absolute, n, error);
    if (status == GS_OK) status = add_worst(results, "diff.max_relative", relative, n, error);
    return status;
}

static enum gs_status add_notes(const struct comparison *comparison, struct gs_results *results,
                                struct gs_error *error) {
    const char *first = comparison->sides[0].config, *second = comparison->sides[1].config;
    if (first && second && strcmp(first, second) == 0) return GS_OK;
    if (!first && !second) return GS_OK;
    return gs_results_note(results, "the configs differ", error);
}

static enum gs_status report(struct comparison *comparison, const char *const *paths,
                             struct gs_results **results, bool *close, struct gs_error *error) {
    struct gs_results *made = gs_results_create("diff");
    if (!made) return gs_fail_memory(error, 0, "results");
    enum gs_status status = GS_OK;
    for (size_t i = 0; status == GS_OK && i < 2; i++)
        status = gs_results_source_meanwhile(made, paths[i], false, error);
    if (status == GS_OK) status = add_values(comparison, made, close, error);
    if (status == GS_OK) status = add_table(comparison, made, error);
    if (status == GS_OK) status = add_notes(comparison, made, error);
    if (status == GS_OK)
        *results = made;
    else
        gs_results_destroy(made);
    return status;
}

/* ---- files ---- */

typedef enum gs_status open_side(struct gs_side *, const char *, struct gs_error *);

static open_side *opener(enum gs_file_kind kind) {
    switch (kind) {
    case GS_KIND_SAFETENSORS:
    case GS_KIND_PICKLED:
        return gs_side_model;
    case GS_KIND_TRACE:
    case GS_KIND_HDF5:
        return gs_side_trace;
    case GS_KIND_ARRAYS:
        return gs_side_arrays;
    case GS_KIND_RESULTS:
        return gs_side_results;
    default:
        return NULL;
    }
}

static enum gs_status open_both(struct gs_side *sides, const char *const *paths, open_side *open,
                                struct gs_error *error) {
    enum gs_status status = open(&sides[0], paths[0], error);
    if (status == GS_OK) status = open(&sides[1], paths[1], error);
    if (status == GS_OK || open != gs_side_model) return status;
    /* one is no model that is known: then tensor by tensor, by the files' own names */
    gs_side_close(&sides[0]);
    gs_side_close(&sides[1]);
    return open_both(sides, paths, gs_side_tensors, error);
}

static enum gs_status open_sides(struct gs_side *sides, const char *const *paths,
                                 struct gs_error *error) {
    enum gs_file_kind kinds[2];
    for (size_t i = 0; i < 2; i++) {
        enum gs_status status = gs_file_recognise(paths[i], &kinds[i], error);
        if (status != GS_OK) return status;
    }
    open_side *open = opener(kinds[0]);
    if (open && open == opener(kinds[1])) return open_both(sides, paths, open, error);
    gs_fail(error, GS_UNSUPPORTED, "these cannot be compared");
    gs_error_expected(error, "two checkpoints, traces, results, or files of numpy's arrays");
    gs_error_found(error, "%s and %s", gs_file_kind_name(kinds[0]), gs_file_kind_name(kinds[1]));
    gs_error_where(error, "%s and %s", paths[0], paths[1]);
    return GS_UNSUPPORTED;
}

enum gs_status gs_compare_files(const char *first, const char *second,
                                const struct gs_tolerances *tolerances, struct gs_results **results,
                                bool *close, const struct gs_progress *progress,
                                struct gs_error *error) {
    const char *const paths[2] = {first, second};
    struct comparison comparison = {.tolerances = *tolerances};
    *results = NULL;
    *close = false;
    enum gs_status status = open_sides(comparison.sides, paths, error);
    if (status == GS_OK) status = compare_all(&comparison, progress, error);
    if (status == GS_OK) status = report(&comparison, paths, results, close, error);
    for (size_t i = 0; i < 2; i++) {
        gs_side_close(&comparison.sides[i]);
        gs_free(comparison.values[i]);
        gs_free(comparison.none[i]);
    }
    gs_free(comparison.findings);
    return status;
}
