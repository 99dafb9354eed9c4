/* progress_bar.h - progress on stderr: on a terminal a bar that is redrawn, elsewhere a line now
 * and then.
 */
#ifndef GS_CORE_PROGRAMS_PROGRESS_BAR_H
#define GS_CORE_PROGRAMS_PROGRESS_BAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct gs_progress_bar {
    FILE *stream;
    const char *name; /* of the program, before a line that is no bar */
    bool quiet;
    bool terminal;
    double (*clock)(void); /* seconds since any moment */
    /* what follows is the bar's own; zero at the start */
    bool running;    /* something was reported */
    bool on_line;    /* a bar stands on the present line */
    bool said_once;  /* a line was written since the work began */
    double began;    /* clock at the first report … */
    double first;    /* … and what was done then (a resumed run does not begin at 0) */
    double shown_at; /* clock at the last bar or line */
    double done, total;
    char note[80];
};

/* For `stream`, whose being a terminal is asked. `name` is borrowed. */
void gs_progress_bar_init(struct gs_progress_bar *bar, FILE *stream, const char *name, bool quiet);
/* To be called as often as one likes, from one thread at a time; it draws at most ten times a
 * second, or writes a line about every ten seconds. Fewer done or another total than before is new
 * work. `context` is the bar. */
void gs_progress_bar_report(void *context, double done, double total, const char *note);
/* Take the bar off its line so that something else can be written there. */
void gs_progress_bar_clear(struct gs_progress_bar *bar);
/* The last state, and a new line. The next report is new work. */
void gs_progress_bar_finish(struct gs_progress_bar *bar);

#endif
