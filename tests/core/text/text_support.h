/* text_support.h - text and a tokenizer for the tests of core/text and core/evaluation. */
#ifndef GS_TESTS_CORE_TEXT_TEXT_SUPPORT_H
#define GS_TESTS_CORE_TEXT_TEXT_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

/* About `size` bytes of made-up prose, the same for the same seed; gs_free. */
char *gs_test_prose(size_t size, uint64_t seed, size_t *actual);

enum { GS_TEST_PIECES = 400 };
/* A tokenizer of GS_TEST_PIECES pieces trained on such prose, in the scratch folder. Borrowed. */
const char *gs_test_tokenizer(void);

#endif
