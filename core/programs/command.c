/* Options by popt, signals, exit codes: the frame around every program. The one place that knows
 * popt. */
#include "core/programs/command.h"

#include "core/base/environment.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/base/numbers.h"
#include "core/programs/parser.h"

#include <popt.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_THREADS = 4096, HARD_FAILURE = 3 };

/* ---- the process ---- */

static volatile sig_atomic_t stop_asked;

/* SA_RESETHAND: the second signal meets the default action and kills. */
static void on_stop_signal(int number) {
    static const char message[] = "\nstopping at the next safe point; again to kill\n";
    stop_asked = 1;
    if (number != SIGINT) return;
    int kept = errno;
    ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
    (void)written; /* nowhere to say it */
    errno = kept;
}

static bool stop_wanted(void *context) {
    (void)context;
    return stop_asked != 0;
}

/* Whoever started us ignoring a signal (nohup, a shell's background job) is obeyed. */
static void catch_signal(int number) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) != 0 || action.sa_handler == SIG_IGN) return;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_stop_signal;
    action.sa_flags = (int)(SA_RESTART | SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

static void prepare_process(void) {
    /* A closed standard stream must not become the first file that is opened. */
    for (int descriptor = 0; descriptor <= 2; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF) {
            int opened = open("/dev/null", O_RDONLY); /* writing to it fails and is noticed */
            (void)opened;
        }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    catch_signal(SIGINT);
    catch_signal(SIGTERM);
    unsetenv("POSIXLY_CORRECT"); /* popt would take no option behind the first file */
    unsetenv("POSIX_ME_HARDER");
}

/* ---- options ---- */

static size_t count_options(const struct gs_option *options) {
    size_t count = 0;
    while (options && options[count].name) count++;
    return count;
}

static const struct gs_option *option_at(const struct gs_parser *parser, size_t index) {
    size_t own = count_options(parser->command->options);
    return index < own ? &parser->command->options[index] : &parser->common[index - own];
}

static size_t option_count(const struct gs_parser *parser) {
    return count_options(parser->command->options) + count_options(parser->common);
}

/* popt's table: option number i has the value i + 1. NULL: no memory. */
static struct poptOption *popt_table(const struct gs_parser *parser) {
    size_t count = option_count(parser);
    struct poptOption *table = gs_calloc(count + 1, sizeof *table);
    for (size_t i = 0; table && i < count; i++) {
        const struct gs_option *option = option_at(parser, i);
        table[i].longName = option->name;
        table[i].shortName = gs_option_letter(option);
        table[i].argInfo = option->type == GS_OPTION_FLAG ? POPT_ARG_NONE : POPT_ARG_STRING;
        table[i].val = (int)i + 1;
    }
    return table;
}

/* Options point at their texts until the program ends. */
static bool keep(struct gs_parser *parser, char *text) {
    if (parser->kept_count == parser->kept_room) {
        size_t room = parser->kept_room ? 2 * parser->kept_room : 16;
        char **kept = realloc(parser->kept, room * sizeof *kept);
        if (!kept) return false;
        parser->kept = kept;
        parser->kept_room = room;
    }
    parser->kept[parser->kept_count++] = text;
    return true;
}

static enum gs_status append_item(struct gs_list *list, const char *text, struct gs_error *error) {
    size_t bytes = (list->count + 1) * sizeof *list->items;
    const char **items = realloc(list->items, bytes);
    if (!items) return gs_fail_memory(error, bytes, "a list of options");
    items[list->count++] = text;
    list->items = items;
    return GS_OK;
}

static enum gs_status not_a(const char *kind, const struct gs_option *option, const char *text,
                            struct gs_error *error) {
    gs_fail(error, GS_USAGE, "--%s takes %s", option->name, kind);
    gs_error_found(error, "\"%s\"", text);
    return GS_USAGE;
}

static bool all_digits(const char *text) {
    return text[0] && text[strspn(text, "0123456789")] == '\0';
}

static enum gs_status set_option(const struct gs_option *option, const char *text,
                                 struct gs_error *error) {
    uint64_t whole = 0;
    double number = 0;
    if (option->given) *option->given = true;
    switch (option->type) {
    case GS_OPTION_FLAG:
        *(bool *)option->value = true;
        break;
    case GS_OPTION_TEXT:
        *(const char **)option->value = text;
        break;
    case GS_OPTION_LIST:
        return append_item(option->value, text, error);
    case GS_OPTION_SIZE:
        if (!gs_size_parse(text, &whole) || whole > SIZE_MAX)
            return not_a(all_digits(text) ? "a whole number up to 18446744073709551615"
                                          : "a whole number",
                         option, text, error);
        *(size_t *)option->value = (size_t)whole;
        break;
    case GS_OPTION_NUMBER:
        if (!gs_number_parse(text, &number)) return not_a("a number", option, text, error);
        *(double *)option->value = number;
        break;
    }
    return GS_OK;
}

static enum gs_status unknown_option(const struct gs_parser *parser, const char *bad,
                                     struct gs_error *error) {
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(bad, "="), bad);
    gs_fail(error, GS_USAGE, "unknown option %s", name);
    size_t count = option_count(parser);
    const char **names = gs_calloc(count, sizeof *names);
    for (size_t i = 0; names && i < count; i++) names[i] = option_at(parser, i)->name;
    const char *bare = name + strspn(name, "-");
    const char *nearest = names ? gs_nearest_name(bare, names, count) : NULL;
    if (nearest) gs_error_next(error, "did you mean --%s?", nearest);
    gs_free(names);
    return GS_USAGE;
}

static enum gs_status popt_failure(const struct gs_parser *parser, poptContext context, int code,
                                   struct gs_error *error) {
    const char *bad = poptBadOption(context, POPT_BADOPTION_NOALIAS);
    if (!bad) bad = "?";
    switch (code) {
    case POPT_ERROR_BADOPT:
        return unknown_option(parser, bad, error);
    case POPT_ERROR_NOARG:
        return gs_fail(error, GS_USAGE, "%s needs a value", bad);
    case POPT_ERROR_UNWANTEDARG:
        return gs_fail(error, GS_USAGE, "%s takes no value", bad);
    default:
        return gs_fail(error, GS_USAGE, "%s: %s", bad, poptStrerror(code));
    }
}

static enum gs_status read_options(struct gs_parser *parser, poptContext context,
                                   struct gs_error *error) {
    int code;
    while ((code = poptGetNextOpt(context)) > 0) {
        const struct gs_option *option = option_at(parser, (size_t)code - 1);
        char *text = poptGetOptArg(context);
        if (text && !keep(parser, text)) {
            free(text);
            return gs_fail_memory(error, sizeof text, "options");
        }
        enum gs_status status = set_option(option, text, error);
        if (status != GS_OK || parser->help || parser->version) return status;
    }
    return code < -1 ? popt_failure(parser, context, code, error) : GS_OK;
}

static enum gs_status check_files(const struct gs_parser *parser, struct gs_error *error) {
    const struct gs_command *command = parser->command;
    size_t count = parser->call.file_count;
    if (count < command->min_files) {
        gs_fail(error, GS_USAGE, "too few files");
        gs_error_expected(error, "%s", command->synopsis);
        gs_error_found(error, "%zu", count);
        return GS_USAGE;
    }
    if (command->max_files > 0 && count > command->max_files && parser->call.files) {
        gs_fail(error, GS_USAGE, "too many files");
        gs_error_expected(error, "at most %zu", command->max_files);
        gs_error_found(error, "%zu, the first too many is %s", count,
                       parser->call.files[command->max_files]);
        return GS_USAGE;
    }
    return GS_OK;
}

static enum gs_status read_arguments(struct gs_parser *parser, poptContext context,
                                     struct gs_error *error) {
    struct gs_call *call = &parser->call;
    enum gs_status status = read_options(parser, context, error);
    if (status != GS_OK || parser->help || parser->version) return status;
    call->files = poptGetArgs(context);
    while (call->files && call->files[call->file_count]) call->file_count++;
    call->seed = parser->seed;
    if (parser->threads > MOST_THREADS)
        return gs_fail(error, GS_USAGE, "--threads takes at most %d", MOST_THREADS);
    return check_files(parser, error);
}

/* ---- running ---- */

static void say_error(const struct gs_parser *parser, const struct gs_error *error) {
    char text[2048];
    const char *name = parser->command->name;
    fprintf(stderr, "gpnscope %s: %s\n", name, gs_error_text(error, text, sizeof text));
    if (error->status == GS_USAGE) fprintf(stderr, "Try: gpnscope %s --help\n", name);
}

static void say_warning(const struct gs_parser *parser) {
    const char *warning = gs_environment_warning();
    if (warning) fprintf(stderr, "gpnscope %s: warning: %s\n", parser->command->name, warning);
}

static enum gs_status run(struct gs_parser *parser, struct gs_error *error) {
    if (parser->help) {
        gs_command_help(parser);
        return GS_OK;
    }
    if (!parser->version) {
        enum gs_status inputs = gs_parser_check_inputs(parser, error);
        if (inputs != GS_OK) return inputs;
    }
    if (parser->threads_given) gs_threads_set((int)parser->threads);
    say_warning(parser);
    if (parser->version) {
        gs_command_version(parser->command);
        return GS_OK;
    }
    gs_progress_bar_init(&parser->bar, stderr, parser->command->name, parser->call.quiet);
    parser->progress = (struct gs_progress){&parser->bar, gs_progress_bar_report, stop_wanted};
    parser->call.progress = &parser->progress;
    enum gs_status status = parser->command->run(&parser->call, error);
    gs_progress_bar_finish(&parser->bar);
    return status;
}

/* Why an earlier write failed, whose errno is long gone: one more line end fails for the same
 * reason, and does no harm where the reason has gone. */
static int reason_of_failure(void) {
    errno = 0;
    return write(STDOUT_FILENO, "\n", 1) < 0 && errno ? errno : EIO;
}

/* Nobody may think that output is whole which is not. */
static enum gs_status check_stdout(struct gs_error *error) {
    bool failed = ferror(stdout) != 0;
    int reason = fflush(stdout) != 0 ? errno : failed ? reason_of_failure() : 0;
    return reason ? gs_fail_errno(error, reason, "cannot write", "standard output") : GS_OK;
}

static enum gs_status parse_and_run(struct gs_parser *parser, int argc, char **argv,
                                    struct gs_error *error) {
    struct poptOption *table = popt_table(parser);
    char *line = gs_command_line(parser->command->name, argc, argv);
    poptContext context =
        table ? poptGetContext("gpnscope", argc, (const char **)argv, table, 0) : NULL;
    enum gs_status status = GS_OK;
    parser->call.command_line = line;
    if (!line || !context) status = gs_fail_memory(error, sizeof *table, "options");
    if (status == GS_OK) status = read_arguments(parser, context, error);
    if (status == GS_OK) status = run(parser, error);
    if (context) poptFreeContext(context);
    gs_free(line);
    gs_free(table);
    return status;
}

static void free_options(struct gs_parser *parser) {
    for (size_t i = 0; i < option_count(parser); i++) {
        const struct gs_option *option = option_at(parser, i);
        if (option->type != GS_OPTION_LIST) continue;
        struct gs_list *list = option->value;
        free(list->items);
        *list = (struct gs_list){0};
    }
    for (size_t i = 0; i < parser->kept_count; i++) free(parser->kept[i]);
    free(parser->kept);
}

static int leave(int code) {
#ifndef __SANITIZE_ADDRESS__ /* its leak check runs at exit */
    if (code >= HARD_FAILURE) {
        fflush(stderr);
        _exit(code);
    }
#endif
    return code;
}

int gs_command_main(const struct gs_command *command, int argc, char **argv) {
    prepare_process();
    struct gs_parser parser = {.command = command};
    struct gs_error error = {0};
    gs_parser_common(&parser);
    enum gs_status status = parse_and_run(&parser, argc, argv, &error);
    if (status != GS_OK) {
        error.status = status; /* also when a command returned a status without a word */
        say_error(&parser, &error);
    }
    enum gs_status written = check_stdout(&error);
    if (written != GS_OK && status == GS_OK) {
        status = written;
        say_error(&parser, &error);
    }
    free_options(&parser);
    return leave(gs_status_exit_code(status));
}
