/* encoding.h - text that is not UTF-8 although it looks like text: UTF-16 and UTF-32.
 *
 * Invalid bytes and NUL are legal in a text (documents.h), so that such a file would be read as if
 * it were one, and give tokens that mean nothing. It is known by its byte order mark, or by NUL
 * bytes that stand at every second or fourth place only.
 */
#ifndef GS_CORE_TEXT_ENCODING_H
#define GS_CORE_TEXT_ENCODING_H

#include "core/base/status.h"

#include <stddef.h>

/* GS_FORMAT, saying what was seen and how to convert the file, when the bytes (a file's beginning
 * is enough) are UTF-16 or UTF-32. A text without a mark that has next to no ASCII, or is short,
 * may pass. */
enum gs_status gs_text_check_encoding(const unsigned char *bytes, size_t size, const char *path,
                                      struct gs_error *error);

#endif
