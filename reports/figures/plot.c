#include "reports/figures/plot.h"

#include "core/base/file.h"
#include "reports/figures/gnuplot.h"
#include "reports/figures/label.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void gs_plot_free(struct gs_plot *plot) {
    gs_text_free(&plot->script);
    gs_text_free(&plot->data);
    *plot = (struct gs_plot){0};
}

void gs_plot_command(struct gs_plot *plot, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    gs_text_add_list(&plot->script, format, arguments);
    va_end(arguments);
    gs_text_put(&plot->script, "\n");
}

static void begin_field(struct gs_plot *plot) {
    if (plot->row_begun) gs_text_put(&plot->data, "\t");
    plot->row_begun = true;
}

void gs_plot_number(struct gs_plot *plot, double number) {
    begin_field(plot);
    if (!isfinite(number)) {
        gs_text_put(&plot->data, "NaN");
        return;
    }
    char digits[40];
    snprintf(digits, sizeof digits, "%.12g", number);
    for (char *c = digits; *c; c++)
        if (*c == ',') *c = '.'; /* a host program's locale must not reach the file */
    gs_text_put(&plot->data, digits);
}

void gs_plot_label(struct gs_plot *plot, const char *text, size_t longest) {
    begin_field(plot);
    gs_label_field(&plot->data, text, longest);
}

void gs_plot_row(struct gs_plot *plot) {
    gs_text_put(&plot->data, "\n");
    plot->row_begun = false;
    plot->block_rows++;
}

void gs_plot_curve(struct gs_plot *plot) {
    gs_text_put(&plot->data, "\n");
}

void gs_plot_block(struct gs_plot *plot) {
    if (!plot->block_rows) gs_text_put(&plot->data, "NaN\tNaN\tNaN\tNaN\n");
    gs_text_put(&plot->data, "\n\n");
    plot->block_rows = 0;
    plot->blocks++;
}

double gs_plot_cell(const struct gs_table *table, size_t row, size_t column) {
    if (!table || column >= gs_table_columns(table) || row >= gs_table_rows(table)) return NAN;
    struct gs_cell cell = gs_table_cell(table, row, column);
    if (cell.type == GS_CELL_NUMBER) return cell.number;
    return cell.type == GS_CELL_INTEGER ? (double)cell.integer : NAN;
}

/* Dark text on white, thin frame on two sides, quiet grid behind the data. */
static const char style[] =
    "set encoding utf8\n"
    "set datafile separator \"\\t\"\n"
    "set datafile missing \"NaN\"\n"
    "set datafile commentschars \"\"\n"
    "set border 3 lc rgb '#5A6270' lw 1\n"
    "set tics nomirror textcolor rgb " GS_INK "\n"
    "set tics scale 0.6,0.3\n"
    "set grid lc rgb '#DFE3E8' lw 0.8 dt 1\n"
    "set key noautotitle samplen 2.2 spacing 1.15 textcolor rgb " GS_INK "\n"
    "set xlabel textcolor rgb " GS_INK "\n"
    "set ylabel textcolor rgb " GS_INK "\n"
    "set title textcolor rgb " GS_INK "\n"
    "set linetype 1 lc rgb " GS_BLUE " lw 2 dt 1 pt 7 ps 0.45\n"
    "set linetype 2 lc rgb " GS_ORANGE " lw 2 dt 4 pt 5 ps 0.45\n"
    "set linetype 3 lc rgb " GS_GREEN " lw 2 dt 5 pt 9 ps 0.5\n"
    "set linetype 4 lc rgb " GS_GREY " lw 1.6 dt 2 pt 6 ps 0.45\n"
    "set style fill solid 1.0 noborder\n"
    "set autoscale xfix\n"
    "set samples 1000\n";

/* In a gnuplot string in double quotes a byte may be said by its number. All that could mean
 * something there (a backtick runs a command) is said so, and digits: of \055 and a 1 behind it
 * gnuplot makes \0551. */
static void add_numbered(struct gs_text *text, const char *string) {
    gs_text_put(text, "\"");
    for (; *string; string++) {
        unsigned char byte = (unsigned char)*string;
        bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '/' ||
                     byte == '.';
        gs_text_add(text, plain ? "%c" : "\\%03o", byte);
    }
    gs_text_put(text, "\"");
}

static bool has_line_end(const char *string) {
    return strpbrk(string, "\r\n") != NULL;
}

/* In a gnuplot string in single quotes only the quote itself is special: doubled. But no line may
 * end in it. */
static void add_quoted(struct gs_text *text, const char *string) {
    if (has_line_end(string)) {
        add_numbered(text, string);
        return;
    }
    gs_text_put(text, "'");
    for (; *string; string++)
        gs_text_bytes(text, *string == '\'' ? "''" : string, *string == '\'' ? 2 : 1);
    gs_text_put(text, "'");
}

static void write_script(const struct gs_plot *plot, const struct gs_plot_size *size,
                         const char *data_path, struct gs_text *script) {
    gs_text_add(script,
                "set terminal svg size %d,%d dynamic noenhanced font 'sans-serif,%d' "
                "linewidth 1 background '#FFFFFF'\n",
                size->width, size->height, size->narrow ? 12 : 13);
    gs_text_add(script, "narrow = %d\n", size->narrow ? 1 : 0);
    /* gnuplot runs what follows a leading '<' of a file's name: never let a name begin so. */
    gs_text_put(script, "data = ");
    struct gs_text path = {0};
    gs_text_add(&path, "%s%s", data_path[0] == '/' ? "" : "./", data_path);
    if (path.failed) script->failed = true;
    if (path.bytes) add_quoted(script, path.bytes);
    gs_text_free(&path);
    gs_text_put(script, "\n");
    gs_text_put(script, style);
    gs_text_bytes(script, plot->script.bytes ? plot->script.bytes : "", plot->script.size);
}

/* The data as a hidden file beside `path`, which is never put in place; gnuplot reads it by name.
 */
static enum gs_status write_data(const struct gs_plot *plot, const char *path,
                                 struct gs_output *data, struct gs_error *error) {
    enum gs_status status = gs_output_open(data, path, true, error);
    if (status != GS_OK) return status;
    errno = 0;
    fwrite(plot->data.bytes ? plot->data.bytes : "", 1, plot->data.size, data->stream);
    if (fflush(data->stream) == 0 && !ferror(data->stream)) return GS_OK;
    return gs_fail_errno(error, errno ? errno : EIO, "cannot write a figure's data beside", path);
}

enum gs_status gs_plot_draw(const struct gs_plot *plot, const struct gs_plot_size *size,
                            const char *path, struct gs_error *error) {
    struct gs_text script = {0};
    struct gs_output data = {0};
    enum gs_status status = gs_text_check(&plot->data, "a figure's data", error);
    if (status == GS_OK) status = gs_text_check(&plot->script, "a figure's commands", error);
    if (status == GS_OK) status = write_data(plot, path, &data, error);
    if (status == GS_OK) {
        write_script(plot, size, data.temporary, &script);
        status = gs_text_check(&script, "a figure's commands", error);
    }
    if (status == GS_OK) status = gs_gnuplot_run(script.bytes, script.size, path, error);
    gs_output_abandon(&data);
    gs_text_free(&script);
    return status;
}
