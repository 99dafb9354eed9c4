/* The pickle in a file of torch.save, in an archive whose checksums are right, beside storages. */
#include "tests/core/checkpoint/hostile_bytes.h"
#include "tests/fuzz/targets/tensors.h"

const struct gs_fuzz_limits gs_fuzz_limits = {1024, 4 << 20, false};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const unsigned char storage[4096];
    const struct entry entries[] = {{"a/data.pkl", bytes, size},
                                    {"a/byteorder", "little", 6},
                                    {"a/data/0", storage, sizeof storage},
                                    {"a/data/1", storage, 1024},
                                    {"a/data/2", storage, 64},
                                    {"a/data/3", storage, 0}};
    struct bytes archive = {0};
    put_archive(&archive, entries, sizeof entries / sizeof *entries);
    gs_fuzz_begin(size);
    gs_fuzz_tensors(archive.at, archive.size, NULL);
    gs_fuzz_end();
    clear(&archive);
    return 0;
}
