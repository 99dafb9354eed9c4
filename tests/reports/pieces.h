/* pieces.h - token pieces that have hurt programs like this one. */
#ifndef GS_TESTS_REPORTS_PIECES_H
#define GS_TESTS_REPORTS_PIECES_H

#include <stddef.h>

static const char *const gs_test_pieces[] = {"▁the",
                                             "</script>",
                                             "\"",
                                             "'",
                                             "`touch pwned`",
                                             "a\\nb",
                                             "{x}^2_3",
                                             "<0xF0>",
                                             "\n",
                                             "NaN",
                                             "?",
                                             "#",
                                             "%s%n",
                                             "$(id)",
                                             "\xF0\x9F",
                                             "\t",
                                             "-->",
                                             "&amp;",
                                             "@",
                                             "EOD",
                                             "\\",
                                             "\"\"",
                                             "]]>",
                                             "a]]>]]>b",
                                             "\xC2\x9B\x33\x31m",
                                             "\xE2\x80\xAE",
                                             "\x1B[31m",
                                             "=1",
                                             "; ,",
                                             "|",
                                             NULL};

#endif
