/* sentences.h - text files as the short lines a tokenizer is trained on. */
#ifndef GS_CORE_TEXT_SENTENCES_H
#define GS_CORE_TEXT_SENTENCES_H

#include "core/base/progress.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GS_SENTENCE_BYTES = 4096,              /* no sentence is longer */
    GS_SENTENCES_TOTAL = 256 * 1024 * 1024 /* beyond so many bytes, every k-th sentence is taken */
};

struct gs_sentences;

/* Text files; of .jsonl files the "text" of each line. Files of more than GS_SENTENCES_TOTAL bytes
 * together are thinned evenly, the same way each time. `paths` and `progress` are borrowed.
 * Free with gs_sentences_close (NULL is fine). */
enum gs_status gs_sentences_open(const char *const *paths, size_t count,
                                 const struct gs_progress *progress,
                                 struct gs_sentences **sentences, struct gs_error *error);
void gs_sentences_close(struct gs_sentences *sentences);

/* The next sentence, borrowed until the next call; *found is false at the end. A line of the text,
 * cut behind a space (or, where there is none, between two characters) when it is longer than
 * GS_SENTENCE_BYTES. Never empty, without line ends. GS_INTERRUPTED when progress says stop. */
enum gs_status gs_sentences_next(struct gs_sentences *sentences, const char **bytes, size_t *size,
                                 bool *found, struct gs_error *error);

#endif
