/* command.h - what every program of gpnscope has in common: options, help, progress, exit codes.
 *
 * A program is one struct gs_command and `int main(...) { return gs_command_main(&command, argc,
 * argv); }`. Options and files come in any order, "--" ends options (popt). Help goes to stdout
 * with exit 0, misuse to stderr with exit 2 and a pointer to --help.
 */
#ifndef GS_CORE_PROGRAMS_COMMAND_H
#define GS_CORE_PROGRAMS_COMMAND_H

#include "core/base/progress.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gs_results;

enum gs_option_type {
    GS_OPTION_FLAG,   /* bool: true when given */
    GS_OPTION_TEXT,   /* const char *: borrowed until the program ends */
    GS_OPTION_SIZE,   /* size_t: a whole number ≥ 0 */
    GS_OPTION_NUMBER, /* double, finite */
    GS_OPTION_LIST    /* struct gs_list: repeatable text */
};

struct gs_list {
    const char **items;
    size_t count;
};

struct gs_option {
    const char *name; /* without "--"; NULL ends the table */
    enum gs_option_type type;
    void *value;          /* keeps its initial value when the option is not given */
    const char *argument; /* name of the argument in the help, NULL for a flag */
    const char *help;     /* one or two sentences, the default said */
    bool *given;          /* set true when given; may be NULL */
};

/* Which of the common options the command takes (besides --threads --quiet --help --version). */
enum gs_common {
    GS_TAKES_OUTPUT = 1, /* -o, --output PATH; --force */
    GS_TAKES_JSON = 2,   /* --json FILE, --csv DIR (and --force) */
    GS_TAKES_SEED = 4,   /* --seed N */
    GS_TAKES_RESUME = 8, /* --resume */
    /* -o is a folder that --force replaces whole: no input may lie in it */
    GS_REPLACES_FOLDER = 16,
    GS_TAKES_INPUT_PLACE = 32 /* -o may be the file itself, which --force then replaces */
};

struct gs_call {
    /* the common options */
    const char *output; /* NULL when not given */
    const char *json;
    const char *csv;
    bool force, resume, quiet;
    bool seed_given;
    uint64_t seed; /* 0 unless given */
    /* the files */
    const char **files;
    size_t file_count;
    /* the whole command line, shell-quoted, for records */
    const char *command_line;
    /* where to report progress; knows --quiet and whether stderr is a terminal; its stop says
     * true after SIGINT or SIGTERM */
    const struct gs_progress *progress;
};

struct gs_command {
    const char *name;        /* "geometry" */
    const char *summary;     /* one line, for the list of commands */
    const char *synopsis;    /* "TRACE [options]" */
    const char *description; /* what it does and gives; paragraphs are filled, a blank line ends one
                              * and an indented line stands as it is; ends in an example */
    const struct gs_option *options; /* its own, may be NULL */
    unsigned common;                 /* enum gs_common, or'ed */
    size_t min_files, max_files;     /* max 0: any number */
    enum gs_status (*run)(const struct gs_call *call, struct gs_error *error);
    const char *(*version)(void); /* a further line of --version, "HDF5 1.10.8"; may be NULL */
};

/* Parse, run, report an error on stderr, check that stdout took everything, give the exit code.
 * Refuses an output (-o, --json) that is one of the files, or of the options whose argument is
 * named FILE, TRACE, DATA, CONFIG, CHECKPOINT or NAME=FILE, by whatever link. Not for use twice in
 * a process. SIGPIPE and SIGXFSZ are ignored from then on, so that a closed pipe and a file size
 * limit come as errors of the write. After a failure of input, output or numbers it leaves by _exit
 * (HDF5's exit handler may crash after a failed write). */
int gs_command_main(const struct gs_command *command, int argc, char **argv);

/* What a measuring command does with its results: records seed and command line in them, then
 * --json, --csv, and the table for people on stdout unless --quiet or --json -. */
enum gs_status gs_call_finish(const struct gs_call *call, struct gs_results *results,
                              struct gs_error *error);
/* Before long work starts, refuse what would be refused after it: --json, --csv and -o that exist
 * (unless --force; for -o also --resume; an empty folder is fine) or whose folder cannot be
 * written. */
enum gs_status gs_call_check_outputs(const struct gs_call *call, struct gs_error *error);
/* A line on stderr unless --quiet. */
void gs_call_message(const struct gs_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A warning on stderr, also with --quiet. */
void gs_call_warning(const struct gs_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The arguments behind argv[0] as a shell would take them, "gpnscope <name> …", whatever they hold;
 * a new string (gs_free), NULL when memory is short. */
char *gs_command_line(const char *name, int argc, char **argv);

#endif
