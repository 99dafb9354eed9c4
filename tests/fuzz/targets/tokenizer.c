/* A tokenizer's model; one that is accepted encodes and decodes. */
#include "core/text/tokenizer.h"
#include "core/base/memory.h"
#include "core/text/token_text.h"
#include "tests/fuzz/target.h"

/* SentencePiece holds the model several times over: as text, as tables, as a trie. */
const struct gs_fuzz_limits gs_fuzz_limits = {512, 8 << 20, false};

static void use(const struct gs_tokenizer *tokenizer) {
    static const char text[] = "The caf\xC3\xA9 \xFF\0 of  two\nlines \xF0\x9F\x99\x82";
    struct gs_token_text *token_text = NULL;
    struct gs_error error = {0};
    uint32_t *ids = NULL;
    char *back = NULL;
    size_t count, size;
    if (gs_fuzz_status(gs_tokenizer_encode(tokenizer, text, sizeof text - 1, &ids, &count, &error),
                       &error))
        gs_fuzz_status(gs_tokenizer_decode(tokenizer, ids, count, &back, &size, &error), &error);
    gs_free(ids);
    gs_free(back);
    gs_fuzz_status(gs_token_text_create(tokenizer, &token_text, &error), &error);
    gs_token_text_destroy(token_text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const char *path = gs_fuzz_file(bytes, size);
    struct gs_tokenizer *tokenizer = NULL;
    struct gs_error error = {0};
    gs_fuzz_begin(size);
    if (gs_fuzz_status(gs_tokenizer_load(path, &tokenizer, &error), &error)) use(tokenizer);
    gs_tokenizer_destroy(tokenizer);
    gs_fuzz_end();
    return 0;
}
