#include "core/text/documents.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/text/encoding.h"

#include <string.h>

struct gs_documents {
    char *path;
    enum gs_docs docs;
    struct gs_mapped_file file;
    size_t at;            /* the next byte to look at */
    uint64_t line;        /* read so far */
    uint64_t skipped;     /* empty documents */
    bool file_given;      /* GS_DOCS_FILE: its one document has been handed out */
    char *joined;         /* a document whose line ends had to be changed */
    struct gs_json *json; /* holds the text handed out */
};

struct span {
    const char *bytes;
    size_t size;
};

static const char *const docs_names[] = {"lines", "blank", "file", "jsonl"};
enum { DOCS_COUNT = sizeof docs_names / sizeof docs_names[0] };

const char *gs_docs_name(enum gs_docs docs) {
    return docs_names[docs];
}

enum gs_status gs_docs_parse(const char *name, enum gs_docs *docs, struct gs_error *error) {
    for (size_t i = 0; i < DOCS_COUNT; i++) {
        if (strcmp(name, docs_names[i]) != 0) continue;
        *docs = (enum gs_docs)i;
        return GS_OK;
    }
    gs_fail(error, GS_USAGE, "unknown kind of documents");
    gs_error_expected(error, "lines, blank, file or jsonl");
    gs_error_found(error, "%s", name);
    return GS_USAGE;
}

static bool ends_in(const char *path, const char *ending) {
    size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

enum gs_docs gs_docs_of_path(const char *path) {
    return ends_in(path, ".jsonl") || ends_in(path, ".ndjson") ? GS_DOCS_JSONL : GS_DOCS_FILE;
}

enum gs_status gs_documents_open(const char *path, enum gs_docs docs,
                                 struct gs_documents **documents, struct gs_error *error) {
    *documents = NULL;
    struct gs_documents *made = gs_calloc(1, sizeof *made);
    if (made) made->path = gs_strdup(path);
    if (!made || !made->path) {
        gs_documents_close(made);
        return gs_fail_memory(error, sizeof *made, "a text file");
    }
    made->docs = docs;
    enum gs_status status = gs_file_map(path, &made->file, error);
    if (status == GS_OK)
        status = gs_text_check_encoding(made->file.bytes, made->file.size, path, error);
    if (status != GS_OK) {
        gs_documents_close(made);
        return status;
    }
    if (made->file.size >= 3 && memcmp(made->file.bytes, "\xEF\xBB\xBF", 3) == 0) made->at = 3;
    *documents = made;
    return GS_OK;
}

void gs_documents_close(struct gs_documents *documents) {
    if (!documents) return;
    gs_file_unmap(&documents->file);
    gs_json_destroy(documents->json);
    gs_free(documents->joined);
    gs_free(documents->path);
    gs_free(documents);
}

/* The next line without its end; false when no byte is left. */
static bool next_line(struct gs_documents *documents, struct span *line) {
    size_t left = documents->file.size - documents->at;
    if (left == 0) return false;
    const char *start = (const char *)documents->file.bytes + documents->at;
    const char *end = memchr(start, '\n', left);
    *line = (struct span){start, end ? (size_t)(end - start) : left};
    documents->at += end ? line->size + 1 : left;
    if (end && line->size > 0 && start[line->size - 1] == '\r') line->size--;
    documents->line++;
    return true;
}

static bool is_blank(struct span line) {
    for (size_t i = 0; i < line.size; i++)
        if (line.bytes[i] != ' ' && line.bytes[i] != '\t' && line.bytes[i] != '\r') return false;
    return true;
}

static enum gs_status next_of_lines(struct gs_documents *documents, struct span *document,
                                    bool *found) {
    while (next_line(documents, document)) {
        *found = document->size > 0;
        if (*found) break;
        documents->skipped++;
    }
    return GS_OK;
}

/* The document with "\r\n" as "\n"; a copy only where there is one. */
static enum gs_status join_lines(struct gs_documents *documents, struct span *document,
                                 struct gs_error *error) {
    gs_free(documents->joined);
    documents->joined = NULL;
    if (!memchr(document->bytes, '\r', document->size)) return GS_OK;
    char *joined = documents->joined = gs_calloc(document->size, 1);
    if (!joined) return gs_fail_memory(error, document->size, "a document");
    size_t size = 0;
    for (size_t i = 0; i < document->size; i++) {
        bool line_end =
            document->bytes[i] == '\r' && i + 1 < document->size && document->bytes[i + 1] == '\n';
        if (!line_end) joined[size++] = document->bytes[i];
    }
    *document = (struct span){joined, size};
    return GS_OK;
}

static enum gs_status next_of_blank(struct gs_documents *documents, struct span *document,
                                    bool *found, struct gs_error *error) {
    struct span line;
    while (next_line(documents, &line)) {
        if (is_blank(line)) {
            if (*found) break;
            continue;
        }
        if (!*found) document->bytes = line.bytes;
        document->size = (size_t)(line.bytes + line.size - document->bytes);
        *found = true;
    }
    return *found ? join_lines(documents, document, error) : GS_OK;
}

static enum gs_status next_of_file(struct gs_documents *documents, struct span *document,
                                   bool *found) {
    if (documents->file_given) return GS_OK;
    documents->file_given = true;
    *document = (struct span){(const char *)documents->file.bytes + documents->at,
                              documents->file.size - documents->at};
    documents->at = documents->file.size;
    *found = document->size > 0;
    if (!*found) documents->skipped++;
    return GS_OK;
}

static enum gs_status parse_json_line(struct gs_documents *documents, struct span line,
                                      struct span *document, struct gs_error *error) {
    char where[512];
    snprintf(where, sizeof where, "%s, line %llu", documents->path,
             (unsigned long long)documents->line);
    gs_json_destroy(documents->json);
    documents->json = NULL;
    enum gs_status status = gs_json_parse(line.bytes, line.size, where, &documents->json, error);
    if (status != GS_OK) return status;
    const struct gs_json *value = gs_json_get(documents->json, "text");
    const char *text = gs_json_string(value);
    if (!text) {
        gs_fail(error, GS_FORMAT, "a line of JSON Lines has no text");
        gs_error_expected(error, "an object with the string \"text\"");
        gs_error_found(error, "%s%s",
                       gs_json_type(documents->json) != GS_JSON_OBJECT ? "a value that is " : "",
                       gs_json_type(documents->json) != GS_JSON_OBJECT
                           ? gs_json_type_name(gs_json_type(documents->json))
                       : value ? "a \"text\" that is not a string"
                               : "no \"text\"");
        gs_error_where(error, "%s", where);
        return GS_FORMAT;
    }
    *document = (struct span){text, strlen(text)};
    return GS_OK;
}

static enum gs_status next_of_jsonl(struct gs_documents *documents, struct span *document,
                                    bool *found, struct gs_error *error) {
    struct span line;
    while (next_line(documents, &line)) {
        if (is_blank(line)) continue;
        enum gs_status status = parse_json_line(documents, line, document, error);
        if (status != GS_OK) return status;
        *found = document->size > 0;
        if (*found) break;
        documents->skipped++;
    }
    return GS_OK;
}

enum gs_status gs_documents_next(struct gs_documents *documents, const char **bytes, size_t *size,
                                 bool *found, struct gs_error *error) {
    struct span document = {NULL, 0};
    enum gs_status status = GS_OK;
    *found = false;
    switch (documents->docs) {
    case GS_DOCS_LINES:
        status = next_of_lines(documents, &document, found);
        break;
    case GS_DOCS_BLANK:
        status = next_of_blank(documents, &document, found, error);
        break;
    case GS_DOCS_FILE:
        status = next_of_file(documents, &document, found);
        break;
    case GS_DOCS_JSONL:
        status = next_of_jsonl(documents, &document, found, error);
        break;
    }
    *bytes = document.bytes;
    *size = document.size;
    return status;
}

uint64_t gs_documents_skipped(const struct gs_documents *documents) {
    return documents->skipped;
}

uint64_t gs_documents_line(const struct gs_documents *documents) {
    return documents->line;
}

uint64_t gs_documents_read(const struct gs_documents *documents) {
    return documents->at;
}

uint64_t gs_documents_total(const struct gs_documents *documents) {
    return documents->file.size;
}
