/* documents.h - a text file as a row of documents.
 *
 * The file is mapped, so one larger than memory is read as it comes; only what one document needs
 * is held (for `file`, nothing is copied). Bytes are kept as they are, NUL and invalid UTF-8
 * included: SentencePiece reads each invalid byte as U+FFFD. A byte order mark at the file's start
 * is dropped. Documents without any byte are skipped and counted.
 */
#ifndef GS_CORE_TEXT_DOCUMENTS_H
#define GS_CORE_TEXT_DOCUMENTS_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gs_docs {
    GS_DOCS_LINES, /* each line; its end ("\n", "\r\n" or the file's end) is no part of it */
    GS_DOCS_BLANK, /* lines between blank ones (empty, or of spaces and tabs), joined by "\n";
                      a line end of "\r\n" counts as "\n" */
    GS_DOCS_FILE,  /* the whole file, line ends as they are */
    GS_DOCS_JSONL  /* the string "text" of each line's object; blank lines are passed over */
};

/* "lines", "blank", "file", "jsonl". gs_docs_parse: GS_USAGE naming the choices otherwise. */
const char *gs_docs_name(enum gs_docs docs);
enum gs_status gs_docs_parse(const char *name, enum gs_docs *docs, struct gs_error *error);
/* What a path's name says: jsonl for .jsonl and .ndjson, else file. */
enum gs_docs gs_docs_of_path(const char *path);

struct gs_documents;

/* GS_FORMAT for a file that is UTF-16 or UTF-32 (encoding.h). */
enum gs_status gs_documents_open(const char *path, enum gs_docs docs,
                                 struct gs_documents **documents, struct gs_error *error);
void gs_documents_close(struct gs_documents *documents); /* NULL is fine */

/* The next document that is not empty, borrowed until the next call; *found is false at the end.
 * Wrong JSON: GS_FORMAT with file and line. */
enum gs_status gs_documents_next(struct gs_documents *documents, const char **bytes, size_t *size,
                                 bool *found, struct gs_error *error);
/* Line of the file (from 1) in which the last document handed out ends; not for GS_DOCS_FILE. */
uint64_t gs_documents_line(const struct gs_documents *documents);
/* Empty documents passed over so far. */
uint64_t gs_documents_skipped(const struct gs_documents *documents);
/* Bytes of the file read so far, and in all: for progress. */
uint64_t gs_documents_read(const struct gs_documents *documents);
uint64_t gs_documents_total(const struct gs_documents *documents);

#endif
