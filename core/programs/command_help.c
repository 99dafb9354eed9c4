/* What --help and --version print. */
#include "core/base/environment.h"
#include "core/programs/parser.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 80, INDENT = 26 };

char gs_option_letter(const struct gs_option *option) {
    if (strcmp(option->name, "output") == 0) return 'o';
    if (strcmp(option->name, "help") == 0) return 'h';
    return '\0';
}

void gs_parser_common(struct gs_parser *parser) {
    struct gs_call *call = &parser->call;
    unsigned takes = parser->command->common;
    struct gs_option *next = parser->common;
    if (takes & GS_TAKES_OUTPUT)
        *next++ = (struct gs_option){"output",
                                     GS_OPTION_TEXT,
                                     &call->output,
                                     "PATH",
                                     "Where the output goes; refused when it exists.",
                                     NULL};
    if (takes & GS_TAKES_JSON) {
        *next++ = (struct gs_option){"json",
                                     GS_OPTION_TEXT,
                                     &call->json,
                                     "FILE",
                                     "The results as JSON; - is standard output.",
                                     NULL};
        *next++ = (struct gs_option){"csv",
                                     GS_OPTION_TEXT,
                                     &call->csv,
                                     "DIR",
                                     "The results' tables as CSV files in a folder.",
                                     NULL};
    }
    if (takes & (GS_TAKES_OUTPUT | GS_TAKES_JSON))
        *next++ = (struct gs_option){
            "force", GS_OPTION_FLAG, &call->force, NULL, "Replace outputs that exist.", NULL};
    if (takes & GS_TAKES_RESUME)
        *next++ = (struct gs_option){"resume",
                                     GS_OPTION_FLAG,
                                     &call->resume,
                                     NULL,
                                     "Go on with an output that was cut short.",
                                     NULL};
    if (takes & GS_TAKES_SEED)
        *next++ = (struct gs_option){"seed",
                                     GS_OPTION_SIZE,
                                     &parser->seed,
                                     "N",
                                     "Seed of everything random (default: 0).",
                                     &call->seed_given};
    *next++ = (struct gs_option){"threads",
                                 GS_OPTION_SIZE,
                                 &parser->threads,
                                 "N",
                                 "Threads to use (default: all cores).",
                                 &parser->threads_given};
    *next++ = (struct gs_option){
        "quiet", GS_OPTION_FLAG, &call->quiet, NULL, "No progress, no messages, no table.", NULL};
    *next++ = (struct gs_option){"help", GS_OPTION_FLAG, &parser->help, NULL, "This text.", NULL};
    *next++ = (struct gs_option){
        "version", GS_OPTION_FLAG, &parser->version, NULL, "Versions, and which BLAS runs.", NULL};
    *next = (struct gs_option){0};
}

/* Characters, not bytes. */
static size_t width_of(const char *text, size_t size) {
    size_t width = 0;
    for (size_t i = 0; i < size; i++) width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

static void print_blanks(size_t count) {
    for (size_t i = 0; i < count; i++) putchar(' ');
}

/* Append the words of the first `size` bytes of `text` to a paragraph that stands between `indent`
 * and the right edge. `column` is where the cursor is and returned when done. */
static size_t print_words(const char *text, size_t size, size_t indent, size_t column) {
    for (size_t at = 0; at < size;) {
        size_t end = at;
        while (end < size && text[end] != ' ' && text[end] != '\n') end++;
        size_t width = width_of(text + at, end - at);
        if (width > 0) {
            if (column > indent && column + 1 + width > WIDTH) {
                printf("\n");
                column = 0;
            }
            if (column > indent) {
                printf(" ");
                column++;
            } else {
                print_blanks(indent - column);
                column = indent;
            }
            printf("%.*s", (int)(end - at), text + at);
            column += width;
        }
        at = end + 1;
    }
    return column;
}

/* Lines that follow each other are one paragraph and are filled to the width of a terminal; a blank
 * line ends it, and an indented line stands as it is. */
static void print_description(const char *text) {
    size_t column = 0;
    while (*text) {
        size_t size = strcspn(text, "\n");
        bool as_it_is = size == 0 || text[0] == ' ';
        if (as_it_is && column > 0) {
            printf("\n");
            column = 0;
        }
        if (as_it_is)
            printf("%.*s\n", (int)size, text);
        else
            column = print_words(text, size, 0, column);
        text += size + (text[size] == '\n');
    }
    if (column > 0) printf("\n");
}

static void print_option(const struct gs_option *option) {
    char left[96], letter = gs_option_letter(option);
    int length = snprintf(left, sizeof left, "  %c%c%s--%s%s%s", letter ? '-' : ' ',
                          letter ? letter : ' ', letter ? ", " : "  ", option->name,
                          option->argument ? " " : "", option->argument ? option->argument : "");
    printf("%s", left);
    if (length >= INDENT) {
        printf("\n");
        length = 0;
    }
    print_words(option->help, strlen(option->help), INDENT, (size_t)length);
    printf("\n");
}

static void print_options(const char *heading, const struct gs_option *options) {
    if (!options || !options->name) return;
    printf("\n%s\n", heading);
    for (; options->name; options++) {
        print_option(options);
        bool said = strstr(options->help, "epeat") != NULL; /* "Repeatable" */
        if (options->type == GS_OPTION_LIST && !said)
            printf("%*sMay be given repeatedly.\n", INDENT, "");
    }
}

void gs_command_help(const struct gs_parser *parser) {
    const struct gs_command *command = parser->command;
    printf("gpnscope %s - %s\n\nUsage: gpnscope %s %s\n", command->name, command->summary,
           command->name, command->synopsis);
    if (command->description) {
        printf("\n");
        print_description(command->description);
    }
    print_options("Options of its own", command->options);
    print_options("Common options", parser->common);
    printf("\nOptions and files come in any order; -- ends the options.\n"
           "Exit codes: 0 done, 1 a check failed, 2 wrong usage, 3 bad input or I/O,\n"
           "4 a numerical failure, 130 stopped on request.\n");
}

void gs_command_version(const struct gs_command *command) {
    struct gs_environment now;
    gs_environment_read(&now);
    printf("gpnscope " GS_VERSION);
    if (command->name) printf(" (%s)", command->name); /* none: the dispatcher */
    printf("\n");
    printf("compiler  %s\n", now.compiler);
    printf("BLAS      %s, core %s, threading %s, %d threads\n", now.blas, now.blas_core,
           now.blas_threading, now.threads);
    printf("kernels   %s\n", now.kernels);
    if (command->version) printf("%s\n", command->version());
}
