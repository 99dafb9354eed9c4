/* recipe.h - files made after recipes in a text, and the errors they must meet. README.md has the
 * language. */
#ifndef GS_TESTS_FUZZ_HOSTILE_RECIPE_H
#define GS_TESTS_FUZZ_HOSTILE_RECIPE_H

#include "core/base/status.h"
#include "tests/core/checkpoint/hostile_bytes.h"

#include <stdbool.h>

enum { RECIPE_FILES = 8, RECIPE_ENTRIES = 16, RECIPE_WORDS = 4, RECIPE_NAME = 128 };

struct hostile_file {
    char name[RECIPE_NAME]; /* in its folder; "" when the case is one file */
    struct bytes bytes;
};

struct hostile_case {
    char name[RECIPE_NAME];
    int line;
    char status[32];               /* "GS_FORMAT" */
    char words[RECIPE_WORDS][128]; /* all of them must be in the error */
    size_t word_count;
    struct hostile_file files[RECIPE_FILES];
    size_t file_count;
};

/* The next case of the text from *at on, which moves behind it. False at the end. A recipe that
 * cannot be read fails the test, with its line. `path` names the text. */
bool hostile_next(const char *path, const char **at, int *line, struct hostile_case *made);
void hostile_clear(struct hostile_case *made);

#endif
