/* gpnscope info - what a file holds. */
#include "core/base/visible.h"
#include "core/programs/command.h"
#include "core/results/results.h"
#include "probes/inspect/describe.h"
#include "probes/programs/version.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { CELL_TEXT = 64, WIDEST = 96 };

/* A cell as text: its own, or a number in `buffer`. */
static const char *cell_text(struct gs_cell cell, char buffer[CELL_TEXT]) {
    switch (cell.type) {
    case GS_CELL_NULL:
        return "-";
    case GS_CELL_TEXT:
        return cell.text;
    case GS_CELL_INTEGER:
        snprintf(buffer, CELL_TEXT, "%" PRId64, cell.integer);
        break;
    case GS_CELL_NUMBER:
        snprintf(buffer, CELL_TEXT, "%.6g", cell.number);
        break;
    }
    return buffer;
}

static size_t column_width(const struct gs_table *table, size_t column) {
    char buffer[CELL_TEXT];
    size_t width = gs_visible_width(gs_table_column(table, column));
    for (size_t row = 0; row < gs_table_rows(table); row++) {
        size_t own = gs_visible_width(cell_text(gs_table_cell(table, row, column), buffer));
        if (own > width) width = own;
    }
    return width < WIDEST ? width : WIDEST;
}

/* Names and values, each value in full. */
static void print_facts(const struct gs_table *facts) {
    char buffer[CELL_TEXT];
    size_t width = column_width(facts, 0);
    for (size_t row = 0; row < gs_table_rows(facts); row++) {
        gs_visible_put(stdout, gs_table_cell(facts, row, 0).text, width);
        printf("  ");
        gs_visible_put(stdout, cell_text(gs_table_cell(facts, row, 1), buffer), 0);
        printf("\n");
    }
}

static void print_table(const struct gs_table *table) {
    char buffer[CELL_TEXT];
    size_t columns = gs_table_columns(table);
    printf("\n%s\n", gs_table_name(table));
    for (size_t column = 0; column < columns; column++) {
        printf("  ");
        gs_visible_put(stdout, gs_table_column(table, column),
                       column + 1 < columns ? column_width(table, column) : 0);
    }
    for (size_t row = 0; row < gs_table_rows(table); row++) {
        printf("\n");
        for (size_t column = 0; column < columns; column++) {
            printf("  ");
            gs_visible_put(stdout, cell_text(gs_table_cell(table, row, column), buffer),
                           column + 1 < columns ? column_width(table, column) : 0);
        }
    }
    printf("\n");
}

/* Everything is shown, however many tensors there are. */
static enum gs_status show(const struct gs_call *call, struct gs_results *results,
                           struct gs_error *error) {
    struct gs_call silent = *call;
    silent.quiet = true;
    enum gs_status status = gs_call_finish(&silent, results, error);
    bool shown = call->json && strcmp(call->json, "-") == 0;
    if (status != GS_OK || call->quiet || shown) return status;
    for (size_t i = 0; i < gs_results_table_count(results); i++)
        (i == 0 ? print_facts : print_table)(gs_results_table_at(results, i));
    return GS_OK;
}

static enum gs_status run(const struct gs_call *call, struct gs_error *error) {
    struct gs_results *results = NULL;
    enum gs_status status = gs_call_check_outputs(call, error);
    if (status == GS_OK) status = gs_describe_file(call->files[0], &results, error);
    if (status == GS_OK) status = show(call, results, error);
    gs_results_destroy(results);
    return status;
}

int main(int argc, char **argv) {
    static const struct gs_command command = {
        .name = "info",
        .summary = "say what a checkpoint, trace, shard folder or result holds",
        .synopsis = "FILE",
        .description =
            "Tells what a file is from its content, whatever its name, and what is in it:\n"
            "\n"
            "  checkpoint   kind, config, number of parameters, each tensor's shape and norm\n"
            "  trace        model, rows, sequences, whether it is complete, streams, memories, "
            "and\n"
            "               what else stands in the file that no analysis reads\n"
            "  .npy, .npz   each array's type and shape, and what it becomes in a trace\n"
            "  token shards, a file of ids, a training config, a tokenizer, results, claims\n"
            "\n"
            "It reads as little as that takes; gpnscope check reads every value.\n"
            "\n"
            "  gpnscope info model_final.safetensors",
        .common = GS_TAKES_JSON,
        .min_files = 1,
        .max_files = 1,
        .run = run,
        .version = gs_probes_version,
    };
    return gs_command_main(&command, argc, argv);
}
