/* target.h - what a fuzz target is made of. A target is one file with LLVMFuzzerTestOneInput, which
 * reads whatever bytes it is given, and gs_fuzz_limits, which says what they may cost. libFuzzer or
 * runner.c calls it.
 *
 * Faults are: a crash, a sanitizer's report, a leak, more memory than the limits say, more CPU time
 * than GS_FUZZ_SECONDS, a file opened that is not the input's, a status of GS_NO_MEMORY.
 */
#ifndef GS_TESTS_FUZZ_TARGET_H
#define GS_TESTS_FUZZ_TARGET_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Memory that is held at a time: at most `factor` bytes for each of the input's and `fixed` beside
 * (what the libraries keep). Counted in builds with sanitizers. With `touched`, of allocations of
 * 16 MiB and more only what was written to counts: HDF5 asks for what a damaged header says, then
 * finds that the file has less and gives it back. */
struct gs_fuzz_limits {
    size_t factor, fixed;
    bool touched;
};
extern const struct gs_fuzz_limits gs_fuzz_limits;

/* CPU seconds of one input, far beyond what any needs under the sanitizers. */
enum { GS_FUZZ_SECONDS = 20 };

/* Around what is tested. Between them memory is counted, and opening any file but the input's is a
 * fault. */
void gs_fuzz_begin(size_t size);
void gs_fuzz_end(void);
/* Say why, and end with a signal. */
_Noreturn void gs_fuzz_fault(const char *what);
/* A reader's outcome: its error must name something, and no input may ask for too much memory. True
 * when it is GS_OK. */
bool gs_fuzz_status(enum gs_status status, const struct gs_error *error);

/* The bytes as a file; the path is borrowed, and the file is overwritten by the next call. */
const char *gs_fuzz_file(const uint8_t *bytes, size_t size);
/* A file of that name in a folder of this process's own; and the folder. Borrowed. */
const char *gs_fuzz_folder(void);
void gs_fuzz_file_in_folder(const char *name, const uint8_t *bytes, size_t size);

/* For guard.c: may it be opened now? */
bool gs_fuzz_may_open(const char *path);

#endif
