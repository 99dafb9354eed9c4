#include "core/base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    ALIGNMENT = 64,        /* a cache line, and the widest vector */
    LARGE_PAGE = 2097152,  /* bytes */
    LARGE = 2 * LARGE_PAGE /* objects from which such pages are worth asking for */
};

/* In a larger object the difference of two pointers would overflow. */
static const size_t largest = PTRDIFF_MAX - LARGE_PAGE;

bool gs_multiply(size_t a, size_t b, size_t *product) {
    if (b != 0 && a > SIZE_MAX / b) return false;
    *product = a * b;
    return true;
}

bool gs_add(size_t a, size_t b, size_t *sum) {
    if (a > SIZE_MAX - b) return false;
    *sum = a + b;
    return true;
}

/* Weights are read from end to end again and again: in pages of 4 KiB, tables of pages are read
 * beside them. Advice only, before the first write; what refuses it works as before. The pointer
 * stands on a page. */
static void advise_large_pages(void *pointer, size_t bytes) {
#ifdef MADV_HUGEPAGE
    madvise(pointer, bytes, MADV_HUGEPAGE);
#else
    (void)pointer, (void)bytes;
#endif
}

void *gs_calloc(size_t count, size_t size) {
    size_t bytes, padded;
    if (!gs_multiply(count, size, &bytes) || bytes > largest) return NULL;
    if (!gs_add(bytes, ALIGNMENT - 1, &padded)) return NULL;
    padded -= padded % ALIGNMENT;
    if (padded == 0) padded = ALIGNMENT;
    const bool large = padded >= LARGE;
    void *pointer;
    if (posix_memalign(&pointer, large ? LARGE_PAGE : ALIGNMENT, padded)) return NULL;
    if (large) advise_large_pages(pointer, padded);
    memset(pointer, 0, padded);
    return pointer;
}

void gs_free(void *pointer) {
    free(pointer);
}

char *gs_strdup(const char *text) {
    if (!text) return NULL;
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    if (copy) memcpy(copy, text, size);
    return copy;
}
