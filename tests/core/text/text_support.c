#include "tests/core/text/text_support.h"

#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/text/tokenizer.h"
#include "tests/support/support.h"

#include <string.h>

static const char *const words[] = {
    "the",   "state", "of",    "a",      "model",  "reads", "token", "after", "caf\xC3\xA9",
    "holds", "what",  "river", "stone",  "1984",   "line",  "and",   "word",  "memory",
    "slow",  "decay", "never", "single", "layer?", "yes,",  "light", "over",  "\xE6\xB0\xB4"};
enum { WORDS = sizeof words / sizeof words[0] };

char *gs_test_prose(size_t size, uint64_t seed, size_t *actual) {
    struct gs_random random;
    gs_random_seed(&random, seed, "test/prose");
    char *text = gs_calloc(size + 64, 1);
    assert_non_null(text);
    size_t used = 0;
    while (used < size) {
        const char *word = words[gs_random_below(&random, WORDS)];
        size_t length = strlen(word);
        memcpy(text + used, word, length);
        used += length;
        text[used++] = gs_random_below(&random, 12) == 0 ? '\n' : ' ';
    }
    *actual = used;
    return text;
}

const char *gs_test_tokenizer(void) {
    static const char *model;
    if (model) return model;
    struct gs_error error;
    size_t size;
    char *text = gs_test_prose(20000, 7, &size);
    const char *path = gs_scratch_file("prose.txt", text, size);
    gs_free(text);
    model = gs_scratch_path("prose.model");
    gs_assert_ok(gs_tokenizer_train(&path, 1, GS_TEST_PIECES, model, NULL, &error), &error);
    return model;
}
