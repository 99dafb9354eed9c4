#include "core/programs/progress_bar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { PLAIN_WIDTH = 80, NARROWEST = 20, MARKS = 24, LINE = 512 };

static const double redraw_seconds = 0.1; /* faster is only flicker */
static const double line_seconds = 10;
static const double patience = 1; /* work shorter than this ends without a line */

static double monotonic(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void gs_progress_bar_init(struct gs_progress_bar *bar, FILE *stream, const char *name, bool quiet) {
    const char *kind = getenv("TERM");
    *bar = (struct gs_progress_bar){.stream = stream,
                                    .name = name,
                                    .quiet = quiet,
                                    .terminal =
                                        isatty(fileno(stream)) && kind && strcmp(kind, "dumb") != 0,
                                    .clock = monotonic};
}

/* 1234567 as "1.23M". */
static void show_count(char *text, size_t size, double count) {
    static const char units[] = " kMGTP";
    size_t unit = 0;
    while (count >= 999.5 && unit + 2 < sizeof units) {
        count /= 1000;
        unit++;
    }
    int places = unit == 0 && count >= 10 ? 0 : count >= 100 ? 0 : count >= 10 ? 1 : 2;
    if (unit == 0 && count == floor(count)) places = 0;
    snprintf(text, size, "%.*f%.*s", places, count, unit > 0, units + unit);
}

/* 75 as "1:15", 3675 as "1:01:15". */
static void show_time(char *text, size_t size, double seconds) {
    if (!(seconds < 8.64e7)) { /* more than a thousand days, or not a number */
        snprintf(text, size, "?");
        return;
    }
    long whole = (long)(seconds + 0.5);
    if (whole >= 3600)
        snprintf(text, size, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
    else
        snprintf(text, size, "%ld:%02ld", whole / 60, whole % 60);
}

/* "12.3k/s, 1:20 left", "12.3k/s, took 2:01" when all is done, "" before there is a rate. */
static void show_speed(const struct gs_progress_bar *bar, char *text, size_t size, double now) {
    double seconds = now - bar->began, moved = bar->done - bar->first;
    char rate[32], time[32];
    text[0] = '\0';
    if (!(seconds > 0) || !(moved > 0)) return;
    show_count(rate, sizeof rate, moved / seconds);
    if (bar->total > bar->done) {
        show_time(time, sizeof time, (bar->total - bar->done) / (moved / seconds));
        snprintf(text, size, "%s/s, %s left", rate, time);
    } else {
        show_time(time, sizeof time, seconds);
        snprintf(text, size, "%s/s, took %s", rate, time);
    }
}

static double share_of(const struct gs_progress_bar *bar) {
    double share = bar->total > 0 ? bar->done / bar->total : 0;
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

static size_t terminal_width(FILE *stream) {
    struct winsize window;
    if (ioctl(fileno(stream), TIOCGWINSZ, &window) != 0 || window.ws_col < NARROWEST)
        return PLAIN_WIDTH;
    return window.ws_col;
}

static void draw_bar(struct gs_progress_bar *bar, double now) {
    char speed[96], line[LINE], marks[MARKS + 1];
    show_speed(bar, speed, sizeof speed, now);
    size_t full = (size_t)(share_of(bar) * MARKS);
    for (size_t i = 0; i < MARKS; i++) marks[i] = i < full ? '#' : '.';
    marks[MARKS] = '\0';
    int length = snprintf(line, sizeof line, "%3d %% [%s]  %s%s%s", (int)(100 * share_of(bar)),
                          marks, speed, bar->note[0] ? "  " : "", bar->note);
    size_t width = terminal_width(bar->stream) - 1; /* the last column may wrap */
    if (length > 0 && (size_t)length > width && width < sizeof line) line[width] = '\0';
    fprintf(bar->stream, "\r%s\033[K", line);
    fflush(bar->stream);
    bar->on_line = true;
    bar->shown_at = now;
}

static void write_line(struct gs_progress_bar *bar, double now) {
    char speed[96], done[32], total[32];
    show_speed(bar, speed, sizeof speed, now);
    show_count(done, sizeof done, bar->done);
    show_count(total, sizeof total, bar->total);
    fprintf(bar->stream, "%s: %d %% (%s of %s)%s%s%s%s\n", bar->name, (int)(100 * share_of(bar)),
            done, total, speed[0] ? ", " : "", speed, bar->note[0] ? ", " : "", bar->note);
    fflush(bar->stream);
    bar->said_once = true;
    bar->shown_at = now;
}

static void begin(struct gs_progress_bar *bar, double done, double total, double now) {
    if (bar->running) gs_progress_bar_finish(bar);
    bar->running = true;
    bar->began = bar->shown_at = now;
    bar->first = done;
    bar->total = total;
    bar->said_once = false;
}

void gs_progress_bar_report(void *context, double done, double total, const char *note) {
    struct gs_progress_bar *bar = context;
    if (bar->quiet) return;
    double now = bar->clock();
    if (!bar->running || done < bar->done || total != bar->total) begin(bar, done, total, now);
    bar->done = done;
    snprintf(bar->note, sizeof bar->note, "%s", note ? note : "");
    double waited = now - bar->shown_at;
    if (bar->terminal && waited >= redraw_seconds)
        draw_bar(bar, now);
    else if (!bar->terminal && waited >= line_seconds)
        write_line(bar, now);
}

void gs_progress_bar_clear(struct gs_progress_bar *bar) {
    if (!bar->on_line) return;
    fputs("\r\033[K", bar->stream);
    fflush(bar->stream);
    bar->on_line = false;
}

void gs_progress_bar_finish(struct gs_progress_bar *bar) {
    if (!bar->running) return;
    double now = bar->clock();
    if (bar->terminal && (bar->on_line || now - bar->began >= redraw_seconds)) {
        draw_bar(bar, now);
        fputc('\n', bar->stream);
        fflush(bar->stream);
    } else if (!bar->terminal && (bar->said_once || now - bar->began >= patience)) {
        write_line(bar, now);
    }
    bar->on_line = bar->running = false;
}
