/* look.h - what tests of pages share: reading them, counting words, whether they are whole. */
#ifndef GS_TESTS_REPORTS_LOOK_H
#define GS_TESTS_REPORTS_LOOK_H

#include <stddef.h>

/* folder/name; borrowed, good for the next seven calls. */
const char *gs_inside(const char *folder, const char *name);
/* The file's text, for free(). Fails the test when it is not there. */
char *gs_read_text(const char *folder, const char *name);
size_t gs_count_of(const char *text, const char *word);

/* Fails unless every tag that is opened is closed and every attribute quoted (where xmllint is
 * there), no id stands twice, and every link inside the page has its target. */
void gs_assert_page(const char *path);

#endif
