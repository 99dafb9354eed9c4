#include "reports/figures/training_log.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/base/numbers.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 4, FIELD = 400 };
static const char *const names[COLUMNS] = {"step", "loss", "lr", "grad_norm"};
enum { NEEDED = 2 }; /* of these */

/* The file being read, and where. */
struct reader {
    const char *path;
    const char *at, *end;
    size_t line;
    size_t place[COLUMNS]; /* which field each column is; SIZE_MAX: none */
};

/* The next whole line without its end; false where there is none. */
static bool next_line(struct reader *reader, const char **line, size_t *length) {
    const char *end = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
    if (!end) return false;
    *line = reader->at;
    *length = (size_t)(end - reader->at);
    if (*length > 0 && end[-1] == '\r') --*length;
    reader->at = end + 1;
    reader->line++;
    return true;
}

/* Field `index` of a line; false when it has not so many, or a longer one than any number. */
static bool field(const char *line, size_t length, size_t index, char *text) {
    const char *end = line + length;
    for (; index > 0; index--) {
        line = memchr(line, ',', (size_t)(end - line));
        if (!line) return false;
        line++;
    }
    const char *comma = memchr(line, ',', (size_t)(end - line));
    size_t size = (size_t)((comma ? comma : end) - line);
    if (size >= FIELD) return false;
    memcpy(text, line, size);
    text[size] = '\0';
    return true;
}

static enum gs_status fail_line(const struct reader *reader, const char *what, const char *expected,
                                const char *found, struct gs_error *error) {
    gs_fail(error, GS_FORMAT, "%s", what);
    gs_error_expected(error, "%s", expected);
    gs_error_found(error, "\"%.100s\"", found);
    gs_error_where(error, "%s: line %zu", reader->path, reader->line);
    return GS_FORMAT;
}

static enum gs_status read_header(struct reader *reader, struct gs_error *error) {
    static const char what[] = "this is no training log";
    static const char expected[] = "a first line with the columns step and loss";
    const char *line = "";
    size_t length = 0;
    char text[FIELD];
    bool any = next_line(reader, &line, &length);
    for (size_t i = 0; i < COLUMNS; i++) reader->place[i] = SIZE_MAX;
    for (size_t at = 0; any && field(line, length, at, text); at++)
        for (size_t i = 0; i < COLUMNS; i++)
            if (strcmp(text, names[i]) == 0) reader->place[i] = at;
    for (size_t i = 0; i < NEEDED; i++) {
        if (reader->place[i] != SIZE_MAX) continue;
        char found[101] = "";
        memcpy(found, line, length < 100 ? length : 100);
        reader->line = 1;
        return fail_line(reader, what, expected, found, error);
    }
    return GS_OK;
}

/* nan and inf are what a log may hold. */
static bool is_none(const char *text) {
    static const char *const words[] = {"", "nan", "-nan", "inf", "-inf", "NaN", "Inf", "-Inf"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0) return true;
    return false;
}

static enum gs_status read_row(struct reader *reader, const char *line, size_t length,
                               double *const *columns, size_t row, struct gs_error *error) {
    for (size_t i = 0; i < COLUMNS; i++) {
        char text[FIELD];
        double number = NAN;
        if (reader->place[i] == SIZE_MAX) {
            columns[i][row] = NAN;
            continue;
        }
        if (!field(line, length, reader->place[i], text))
            return fail_line(reader, "a row of the training log is short", names[i], "", error);
        bool none = is_none(text);
        if ((!none && !gs_number_parse(text, &number)) || (none && i == 0))
            return fail_line(reader, "a value of the training log is no number", "a number", text,
                             error);
        columns[i][row] = number;
    }
    return GS_OK;
}

static size_t count_lines(const struct gs_mapped_file *file) {
    size_t lines = 0;
    for (size_t i = 0; i < file->size; i++) lines += file->bytes[i] == '\n';
    return lines;
}

static enum gs_status read_all(struct reader *reader, size_t most, struct gs_training_curve *curve,
                               struct gs_error *error) {
    double **const columns[COLUMNS] = {&curve->step, &curve->loss, &curve->rate, &curve->norm};
    for (size_t i = 0; i < COLUMNS; i++) {
        *columns[i] = gs_calloc(most, sizeof **columns[i]);
        if (!*columns[i]) return gs_fail_memory(error, most * sizeof **columns[i], "a curve");
    }
    double *const values[COLUMNS] = {curve->step, curve->loss, curve->rate, curve->norm};
    enum gs_status status = read_header(reader, error);
    const char *line;
    size_t length;
    while (status == GS_OK && next_line(reader, &line, &length)) {
        status = read_row(reader, line, length, values, curve->count, error);
        curve->count++;
    }
    return status;
}

enum gs_status gs_training_curve_read(const char *path, struct gs_training_curve *curve,
                                      struct gs_error *error) {
    *curve = (struct gs_training_curve){0};
    struct gs_mapped_file file;
    enum gs_status status = gs_file_map(path, &file, error);
    if (status != GS_OK) return status;
    const char *text = (const char *)file.bytes;
    struct reader reader = {.path = path, .at = text, .end = text + file.size};
    status = read_all(&reader, count_lines(&file), curve, error);
    gs_file_unmap(&file);
    if (status != GS_OK) gs_training_curve_free(curve);
    return status;
}

void gs_training_curve_free(struct gs_training_curve *curve) {
    gs_free(curve->step);
    gs_free(curve->loss);
    gs_free(curve->rate);
    gs_free(curve->norm);
    *curve = (struct gs_training_curve){0};
}
