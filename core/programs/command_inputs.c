/* No output may be an input: --force would destroy what the command was given. By whatever way the
 * paths lead there: another spelling, a symbolic or a hard link. */
#include "core/base/file.h"
#include "core/programs/parser.h"

#include <stdlib.h>
#include <string.h>

/* `path` lies in `folder`, or is it. */
static bool is_inside(const char *path, const char *folder) {
    char *whole = realpath(path, NULL), *above = realpath(folder, NULL);
    size_t length = above ? strlen(above) : 0;
    bool inside = whole && above && strncmp(whole, above, length) == 0 &&
                  (whole[length] == '/' || whole[length] == '\0');
    free(whole);
    free(above);
    return inside;
}

static enum gs_status refuse(const char *output, const char *input, struct gs_error *error) {
    gs_fail(error, GS_EXISTS, "the output would replace what is read");
    gs_error_found(error, "%s", input);
    gs_error_where(error, "%s", output);
    gs_error_next(error, "choose another path");
    return GS_EXISTS;
}

static enum gs_status check_input(const struct gs_parser *parser, const char *input, bool in_place,
                                  struct gs_error *error) {
    const char *const outputs[] = {in_place ? NULL : parser->call.output, parser->call.json};
    for (size_t i = 0; i < 2; i++) {
        const char *output = outputs[i];
        if (!output || strcmp(output, "-") == 0) continue;
        bool replaced = i == 0 && (parser->command->common & GS_REPLACES_FOLDER) != 0;
        if (gs_path_same(input, output) || (replaced && is_inside(input, output)))
            return refuse(output, input, error);
    }
    return GS_OK;
}

/* Does the option's value name something that is read? Its argument's name says so. */
static bool names_input(const struct gs_option *option) {
    static const char *const names[] = {"FILE",   "TRACE",      "DATA",
                                        "CONFIG", "CHECKPOINT", "NAME=FILE"};
    for (size_t i = 0; option->argument && i < sizeof names / sizeof *names; i++)
        if (strcmp(option->argument, names[i]) == 0) return true;
    return false;
}

static const char *path_of(const struct gs_option *option, const char *value) {
    const char *equals = strcmp(option->argument, "NAME=FILE") == 0 ? strchr(value, '=') : NULL;
    return equals ? equals + 1 : value;
}

static enum gs_status check_option(const struct gs_parser *parser, const struct gs_option *option,
                                   struct gs_error *error) {
    enum gs_status status = GS_OK;
    if (!names_input(option)) return GS_OK;
    if (option->type == GS_OPTION_TEXT) {
        const char *value = *(const char *const *)option->value;
        if (value) status = check_input(parser, path_of(option, value), false, error);
    } else if (option->type == GS_OPTION_LIST) {
        const struct gs_list *list = option->value;
        for (size_t i = 0; i < list->count && status == GS_OK; i++)
            status = check_input(parser, path_of(option, list->items[i]), false, error);
    }
    return status;
}

enum gs_status gs_parser_check_inputs(const struct gs_parser *parser, struct gs_error *error) {
    const struct gs_option *option = parser->command->options;
    bool in_place = (parser->command->common & GS_TAKES_INPUT_PLACE) != 0;
    enum gs_status status = GS_OK;
    for (size_t i = 0; i < parser->call.file_count && status == GS_OK; i++)
        status = check_input(parser, parser->call.files[i], in_place, error);
    for (; option && option->name && status == GS_OK; option++)
        status = check_option(parser, option, error);
    return status;
}
