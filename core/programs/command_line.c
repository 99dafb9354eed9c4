/* The command line as text that a shell reads back as the same arguments. */
#include "core/base/memory.h"
#include "core/programs/parser.h"

#include <stdio.h>
#include <string.h>

static bool is_plain(const char *argument) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "%+,-./:=@_";
    return argument[0] && argument[strspn(argument, plain)] == '\0';
}

/* 'it'\''s': in single quotes everything is itself except the quote. Returns the end. */
static char *quote(char *end, const char *argument) {
    if (is_plain(argument)) return end + sprintf(end, "%s", argument);
    *end++ = '\'';
    for (; *argument; argument++) {
        if (*argument == '\'') {
            memcpy(end, "'\\''", 4);
            end += 4;
        } else {
            *end++ = *argument;
        }
    }
    *end++ = '\'';
    *end = '\0';
    return end;
}

char *gs_command_line(const char *name, int argc, char **argv) {
    size_t size = strlen("gpnscope ") + strlen(name) + 1;
    for (int i = 1; i < argc; i++) size += 4 * strlen(argv[i]) + 3; /* every byte may need four */
    char *line = gs_calloc(size, 1);
    if (!line) return NULL;
    char *end = line + sprintf(line, "gpnscope %s", name);
    for (int i = 1; i < argc; i++) {
        *end++ = ' ';
        end = quote(end, argv[i]);
    }
    return line;
}
