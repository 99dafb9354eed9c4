/* child.h - the real program as a child: its memory, its limits, its end by a signal. */
#ifndef GS_TESTS_CORE_TRAINING_CHILD_H
#define GS_TESTS_CORE_TRAINING_CHILD_H

#include "tests/support/support.h"

#include <stddef.h>
#include <sys/types.h>

/* Where it may be limited; 0: not. */
struct child_limits {
    size_t address_space; /* bytes: RLIMIT_AS */
    size_t file_size;     /* bytes: RLIMIT_FSIZE */
    int threads;          /* --threads; 0: 1 */
};

struct child_end {
    int exit_code;   /* -1: ended by a signal */
    int signal;      /* 0: ended by itself */
    size_t peak;     /* bytes: the most that was in memory at a time */
    char said[4096]; /* the end of its standard error */
};

/* `gpnscope-train` of this build, or NULL (say so and skip) when it is not built. */
const char *child_program(void);

/* Start it with these arguments (NULL ends them; "train" and --threads are added). Its standard
 * output is thrown away, its standard error goes to a file of the scratch folder. */
pid_t child_start(const char *const *arguments, const struct child_limits *limits);
/* Wait for it. */
void child_wait(pid_t child, struct child_end *end);
/* Both. */
void child_run(const char *const *arguments, const struct child_limits *limits,
               struct child_end *end);

#endif
