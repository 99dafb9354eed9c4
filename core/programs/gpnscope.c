/* gpnscope - runs gpnscope-<command> beside itself, as git does, and helps to find the command.
 *
 * Every command is a program of its own, so a layer links only what it needs and a later issue adds
 * a command by adding a program and a line to `commands` below.
 */
#include "core/base/environment.h"
#include "core/base/names.h"
#include "core/base/status.h"
#include "core/base/visible.h"
#include "core/programs/parser.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef GS_HDF5_VERSION
#define GS_HDF5_VERSION "of unknown version"
#endif

struct command {
    const char *group; /* heading above this command, NULL: the heading before */
    const char *name;
    const char *summary;
};

/* In the order in which a newcomer meets them. */
static const struct command commands[] = {
    {"bring text and models", "tokenize",
     "turn text into token shards, or train a tokenizer on it"},
    {NULL, "convert", "bring in checkpoints and arrays of others, and take traces out"},
    {NULL, "train", "train a model from a config, with checkpoints and a log"},
    {"run a model", "eval", "loss and perplexity of a checkpoint, also by position"},
    {NULL, "trace", "record every state and gate of a run into an HDF5 file"},
    {"measure a trace", "geometry", "norms, correlations, spectrum and dimension of the states"},
    {NULL, "default", "the tokens that the mean state predicts, against controls"},
    {NULL, "horizon", "how long states stay alike: cosine by lag"},
    {NULL, "retention", "how long each memory head keeps what it holds"},
    {"report", "report", "all analyses of a trace as one page with figures, JSON and CSV"},
    {NULL, "verify", "do claims about the states hold, and in how many seeds"},
    {NULL, "curve", "the loss of training runs by step, as a picture"},
    {"look into files", "info", "say what a checkpoint, trace, shard folder or result holds"},
    {NULL, "check", "validate a file to its last value; exit 1 names the fault"},
    {NULL, "diff", "compare two checkpoints, traces or results number by number"},
};
enum { COMMANDS = sizeof commands / sizeof *commands, FOLDERS = 3 };

/* The folder this program stands in; false when it cannot be known. */
static bool own_folder(const char *called_as, char *folder) {
    ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    if (length > 0) {
        folder[length] = '\0';
    } else if (strchr(called_as, '/')) { /* systems without /proc */
        if (!realpath(called_as, folder)) return false;
    } else {
        return false;
    }
    char *slash = strrchr(folder, '/');
    if (!slash) return false;
    *slash = '\0';
    return true;
}

/* The path of gpnscope-<name>, found beside this program or in libexec; false when there is none.
 * Without a folder of our own, the name alone is left for the search path. */
static bool find_program(const char *folder, const char *name, char *path, size_t size) {
    static const char *const below[FOLDERS] = {"", "../libexec/gpnscope/", "../libexec/"};
    if (!folder) {
        int length = snprintf(path, size, "gpnscope-%s", name);
        return length > 0 && (size_t)length < size;
    }
    for (int i = 0; i < FOLDERS; i++) {
        int length = snprintf(path, size, "%s/%sgpnscope-%s", folder, below[i], name);
        if (length > 0 && (size_t)length < size && access(path, X_OK) == 0) return true;
    }
    return false;
}

static bool known(const char *name) {
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0) return true;
    return false;
}

/* A command is letters, digits and dashes: never a path. */
static bool well_formed(const char *name) {
    return name[0] && name[0] != '-' &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

/* stdout took everything, or the exit code for output that did not arrive. */
static int finish(void) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
    fprintf(stderr, "gpnscope: writing to standard output failed: %s\n", strerror(errno));
    return gs_status_exit_code(GS_IO);
}

static int print_help(const char *folder) {
    printf("gpnscope - opens up recurrent language models whose context is one state vector\n\n"
           "Usage: gpnscope COMMAND [options] FILE...\n");
    const char *heading = NULL;
    for (int i = 0; i < COMMANDS; i++) {
        char path[PATH_MAX];
        if (commands[i].group) heading = commands[i].group;
        if (!find_program(folder, commands[i].name, path, sizeof path)) continue;
        if (heading) printf("\n%s\n", heading);
        heading = NULL;
        printf("  %-10s %s\n", commands[i].name, commands[i].summary);
    }
    printf("\n"
           "gpnscope help COMMAND   what a command does, its options, an example\n"
           "gpnscope --version      versions, and which BLAS runs\n\n"
           "Exit codes: 0 done, 1 a check failed, 2 wrong usage, 3 bad input or I/O,\n"
           "4 a numerical failure.\n");
    return finish();
}

static const char *hdf5_version(void) {
    return "HDF5      " GS_HDF5_VERSION;
}

static int print_version(void) {
    gs_command_version(&(struct gs_command){.version = hdf5_version});
    const char *warning = gs_environment_warning();
    if (warning) fprintf(stderr, "gpnscope: warning: %s\n", warning);
    return finish();
}

static int refuse(const char *name) {
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++) names[i] = commands[i].name;
    fprintf(stderr, "gpnscope: \"");
    gs_visible_put(stderr, name, 0);
    fprintf(stderr, "\" is not a command");
    const char *nearest = gs_nearest_name(name, names, COMMANDS);
    if (nearest) fprintf(stderr, "; did you mean \"%s\"?", nearest);
    fprintf(stderr, "\nTry: gpnscope --help\n");
    return gs_status_exit_code(GS_USAGE);
}

/* Becomes gpnscope-<name>; arguments[0] is replaced by its path. Returns only on failure. */
static int become(const char *folder, const char *name, char **arguments) {
    char path[PATH_MAX];
    if (!well_formed(name)) return refuse(name);
    if (!find_program(folder, name, path, sizeof path)) {
        if (!known(name)) return refuse(name);
        fprintf(stderr,
                "gpnscope: the program gpnscope-%s is missing; expected in %s\n"
                "Build or install the project again.\n",
                name, folder);
        return gs_status_exit_code(GS_MISSING);
    }
    arguments[0] = path;
    if (folder)
        execv(path, arguments);
    else
        execvp(path, arguments);
    if (errno == ENOENT && !known(name)) return refuse(name);
    fprintf(stderr, "gpnscope: %s cannot be started: %s\n", path, strerror(errno));
    return gs_status_exit_code(GS_IO);
}

int main(int argc, char **argv) {
    char folder_path[PATH_MAX];
    const char *folder = argc > 0 && own_folder(argv[0], folder_path) ? folder_path : NULL;
    const char *name = argc > 1 ? argv[1] : "--help";
    bool help = strcmp(name, "help") == 0;

    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || (help && argc == 2))
        return print_help(folder);
    if (strcmp(name, "--version") == 0) return print_version();
    if (help) {
        char dashes[] = "--help";
        char *arguments[] = {NULL, dashes, NULL};
        return become(folder, argv[2], arguments);
    }
    if (name[0] == '-') {
        fprintf(stderr, "gpnscope: unknown option ");
        gs_visible_put(stderr, name, 0);
        fprintf(stderr, "; options of a command stand behind it\nTry: gpnscope --help\n");
        return gs_status_exit_code(GS_USAGE);
    }
    return become(folder, name, argv + 1);
}
