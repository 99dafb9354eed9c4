/* A file of torch.save, as it is: mostly the archive around it. torch_pickle.c is for what is in
 * it.
 */
#include "tests/fuzz/targets/tensors.h"

/* What an archive unpacks to is 64 times its size and a megabyte at most, opcodes are 128 bytes
 * each, an element of one byte is read as four. */
const struct gs_fuzz_limits gs_fuzz_limits = {64 * (128 + 4), 160 << 20, false};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    gs_fuzz_begin(size);
    gs_fuzz_tensors(bytes, size, NULL);
    gs_fuzz_end();
    return 0;
}
