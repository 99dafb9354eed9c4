/* Not a reader: every kind of fault, so that a fuzzer that finds none is seen. The first byte
 * chooses.
 */
#include "core/base/file.h"
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

const struct gs_fuzz_limits gs_fuzz_limits = {16, 1 << 16, false};

static void take_too_much(void) {
    char *volatile bytes = malloc(1 << 20);
    if (bytes) memset(bytes, 1, 1 << 20);
    free(bytes);
}

static void open_another(void) {
    struct gs_mapped_file file;
    if (gs_file_map("/etc/passwd", &file, NULL) == GS_OK) gs_file_unmap(&file);
}

static void read_beyond(const uint8_t *bytes, size_t size) {
    volatile uint8_t last = bytes[size];
    (void)last;
}

static void lose(void) {
    char *volatile bytes = malloc(10);
    (void)bytes;
    bytes = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct gs_error error = {0};
    gs_fuzz_begin(size);
    switch (size ? bytes[0] : 0) {
    case 'c':
        abort();
    case 'e':
        exit(0);
    case 'l':
        lose();
        break;
    case 'm':
        take_too_much();
        break;
    case 'n':
        gs_fuzz_status(gs_fail_memory(&error, 1, "a fault"), &error);
        break;
    case 'o':
        open_another();
        break;
    case 'r':
        read_beyond(bytes, size);
        break;
    case 's':
        gs_fuzz_status(GS_FORMAT, &error);
        break;
    case 't':
        for (volatile int i = 0;; i = i ^ 1) {
        }
    default:
        break;
    }
    gs_fuzz_end();
    return 0;
}
