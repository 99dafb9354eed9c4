/* memory.h - allocation whose arithmetic cannot wrap. */
#ifndef GS_CORE_BASE_MEMORY_H
#define GS_CORE_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* product = a * b; false (product untouched) when it does not fit in size_t. */
bool gs_multiply(size_t a, size_t b, size_t *product);
/* sum = a + b; false (sum untouched) when it does not fit in size_t. */
bool gs_add(size_t a, size_t b, size_t *sum);

/* count * size zeroed bytes, 64-byte aligned so that vector kernels may load from it. NULL when
 * the product wraps or memory is short; never NULL for count 0. Free with gs_free. */
void *gs_calloc(size_t count, size_t size);
/* NULL is fine. */
void gs_free(void *pointer);
/* strdup that gs_free releases; NULL for NULL or when memory is short. */
char *gs_strdup(const char *text);

#endif
