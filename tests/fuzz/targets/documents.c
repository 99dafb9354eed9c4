/* A text as documents: the first byte chooses how it is split. */
#include "core/text/documents.h"
#include "tests/fuzz/target.h"

const struct gs_fuzz_limits gs_fuzz_limits = {256, 1 << 20, false};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct gs_documents *documents = NULL;
    struct gs_error error = {0};
    if (!size) return 0;
    const char *path = gs_fuzz_file(bytes + 1, size - 1);
    gs_fuzz_begin(size);
    if (gs_fuzz_status(gs_documents_open(path, (enum gs_docs)(bytes[0] % 4), &documents, &error),
                       &error)) {
        const char *document;
        size_t length, total = 0;
        bool found = true;
        while (found &&
               gs_fuzz_status(gs_documents_next(documents, &document, &length, &found, &error),
                              &error))
            if (found) {
                for (size_t i = 0; i < length; i++) total += (unsigned char)document[i] != 0;
                if (!length) gs_fuzz_fault("an empty document");
            }
        if (total > size) gs_fuzz_fault("more text than there is");
    }
    gs_documents_close(documents);
    gs_fuzz_end();
    return 0;
}
