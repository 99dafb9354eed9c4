/* A folder of one token shard. The input is its three files one behind the other, the lengths of
 * the first two before them in two bytes each: meta.json, data_0000.index.json, data_0000.bin. */
#include "core/base/memory.h"
#include "core/text/tokens.h"
#include "tests/fuzz/target.h"

const struct gs_fuzz_limits gs_fuzz_limits = {512, 4 << 20, false};

static size_t take(const uint8_t **bytes, size_t *left, size_t length, const char *name) {
    if (length > *left) length = *left;
    gs_fuzz_file_in_folder(name, *bytes, length);
    *bytes += length;
    *left -= length;
    return length;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct gs_tokens *tokens = NULL;
    struct gs_error error = {0};
    uint64_t counts[512];
    if (size < 4) return 0;
    size_t meta = (size_t)bytes[0] | (size_t)bytes[1] << 8;
    size_t index = (size_t)bytes[2] | (size_t)bytes[3] << 8, left = size - 4;
    bytes += 4;
    take(&bytes, &left, meta, "meta.json");
    take(&bytes, &left, index, "data_0000.index.json");
    take(&bytes, &left, left, "data_0000.bin");
    gs_fuzz_begin(size);
    if (gs_fuzz_status(gs_tokens_open(gs_fuzz_folder(), NULL, &tokens, &error), &error)) {
        size_t documents, vocab = gs_tokens_vocab(tokens);
        const uint64_t *starts = gs_tokens_documents(tokens, &documents);
        for (size_t i = 0; i < documents; i++)
            if (starts[i] > gs_tokens_count(tokens)) gs_fuzz_fault("a document beyond the end");
        if (gs_fuzz_status(gs_tokens_check(tokens, vocab, &error), &error) && vocab <= 512)
            gs_fuzz_status(gs_tokens_histogram(tokens, vocab, counts, &error), &error);
    }
    gs_tokens_close(tokens);
    gs_fuzz_end();
    return 0;
}
