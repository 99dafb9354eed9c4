/* parser.h - a program's options while they are read; for the files of this folder alone. */
#ifndef GS_CORE_PROGRAMS_PARSER_H
#define GS_CORE_PROGRAMS_PARSER_H

#include "core/programs/command.h"
#include "core/programs/progress_bar.h"

enum { GS_COMMON_OPTIONS = 12 };

struct gs_parser {
    const struct gs_command *command;
    struct gs_call call;
    struct gs_option common[GS_COMMON_OPTIONS]; /* a table like the command's own */
    /* values of common options that are not in gs_call */
    size_t threads, seed;
    bool threads_given;
    bool help, version; /* asked for: nothing is run */
    char **kept;        /* texts that options point at, owned */
    size_t kept_count, kept_room;
    struct gs_progress progress;
    struct gs_progress_bar bar;
};

/* The table of the common options that the command takes, ended by name NULL. */
void gs_parser_common(struct gs_parser *parser);
/* GS_EXISTS when an output is one of the files that are read. */
enum gs_status gs_parser_check_inputs(const struct gs_parser *parser, struct gs_error *error);
/* The letter of an option, '\0' when it has none. */
char gs_option_letter(const struct gs_option *option);
/* Help and version on stdout. */
void gs_command_help(const struct gs_parser *parser);
void gs_command_version(const struct gs_command *command);

#endif
