/* pieces.h - token pieces that have hurt programs like this one. */
#ifndef GS_TESTS_REPORTS_PIECES_H
#define GS_TESTS_REPORTS_PIECES_H

#include <stddef.h>

static const char *const gs_test_pieces[] = {
    "▁the", "</script>", "\"", "'",    "`touch pwned`", "a\\nb",    "{x}^2_3", "<0xF0>", "\n",
    "NaN",  "?",         "#",  "%s%n", "$(id)",         "\xF0\x9F", "\t",      "-->",    "&amp;",
    "@",    "EOD",       "\\", "\"\"", "]]>",           NULL};

#endif
