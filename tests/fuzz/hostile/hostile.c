/* The hostile set: every recipe's file meets the error it must meet. With --keep FOLDER the files
 * stay there, for trying them on anything else. Without cases enough the set fails. */
#include "core/base/file.h"
#include "core/base/memory.h"
#include "probes/inspect/check.h"
#include "probes/inspect/describe.h"
#include "tests/fuzz/hostile/recipe.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 200 };
static const char *keep;
static char **recipes;
static int recipe_count;

/* The case's file, or folder of files; borrowed. */
static const char *lay_out(const struct hostile_case *made, const char *group) {
    static char path[512];
    char file[700];
    struct gs_error error;
    snprintf(path, sizeof path, "%s/%s-%d", keep ? keep : gs_scratch_folder(), group, made->line);
    for (size_t i = 0; i < made->file_count; i++) {
        const struct hostile_file *one = &made->files[i];
        if (one->name[0]) gs_assert_ok(gs_folder_create(path, &error), &error);
        snprintf(file, sizeof file, "%s%s%s", path, one->name[0] ? "/" : "", one->name);
        gs_assert_ok(gs_file_write(file, true, one->bytes.at ? one->bytes.at : (void *)"",
                                   one->bytes.size, &error),
                     &error);
    }
    return path;
}

/* `info` may say what it sees, and must say something when it does not. */
static bool info_survives(const char *path) {
    struct gs_results *results = NULL;
    struct gs_error error = {0};
    enum gs_status status = gs_describe_file(path, &results, &error);
    gs_results_destroy(results);
    return status == GS_OK || (error.status == status && error.what[0]);
}

static bool meets(const struct hostile_case *made, const char *group) {
    const char *path = lay_out(made, group);
    struct gs_error error = {0};
    char summary[512] = "", text[2048] = "";
    enum gs_status status = gs_check_file(path, NULL, summary, sizeof summary, &error);
    bool as_expected = strcmp(gs_status_name(status), made->status) == 0;
    gs_error_text(&error, text, sizeof text);
    for (size_t i = 0; i < made->word_count; i++)
        as_expected = as_expected && strstr(text, made->words[i]);
    as_expected = as_expected && strstr(text, path) && info_survives(path);
    if (!as_expected)
        print_error("%s, line %d, %s: expected %s \"%s\", found %s: %s\n", group, made->line,
                    made->name, made->status, made->words[0], gs_status_name(status),
                    status == GS_OK ? summary : text);
    return as_expected;
}

static void every_file_meets_its_error(void **state) {
    (void)state;
    size_t cases = 0, failed = 0;
    for (int i = 0; i < recipe_count; i++) {
        struct gs_mapped_file file;
        struct gs_error error;
        struct hostile_case made;
        char group[64];
        const char *name = strrchr(recipes[i], '/');
        snprintf(group, sizeof group, "%.*s", (int)strcspn(name ? name + 1 : recipes[i], "."),
                 name ? name + 1 : recipes[i]);
        gs_assert_ok(gs_file_map(recipes[i], &file, &error), &error);
        char *text = malloc(file.size + 1);
        assert_non_null(text);
        memcpy(text, file.bytes, file.size);
        text[file.size] = '\0';
        gs_file_unmap(&file);
        const char *at = text;
        for (int line = 0; hostile_next(recipes[i], &at, &line, &made); cases++) {
            failed += !meets(&made, group);
            hostile_clear(&made);
        }
        free(text);
    }
    print_message("%zu hostile files, %zu with another error than theirs\n", cases, failed);
    assert_int_equal(failed, 0);
    assert_true(cases >= LEAST);
}

int main(int count, char **words) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_file_meets_its_error)};
    if (count > 2 && strcmp(words[1], "--keep") == 0) {
        keep = words[2];
        words += 2;
        count -= 2;
    }
    recipes = words + 1;
    recipe_count = count - 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
