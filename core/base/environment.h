/* environment.h - what this process runs on: recorded with every result, shown by --version. */
#ifndef GS_CORE_BASE_ENVIRONMENT_H
#define GS_CORE_BASE_ENVIRONMENT_H

#define GS_VERSION "0.1.0"

struct gs_environment {
    int threads;                /* threads the next parallel region will use */
    const char *blas;           /* e.g. "OpenBLAS 0.3.21" */
    const char *blas_core;      /* e.g. "Zen" */
    const char *blas_threading; /* "openmp", "pthread" or "serial" */
    const char *kernels;        /* instruction set our own kernels chose, e.g. "avx2" */
    const char *compiler;
};

/* Filled with borrowed static strings. */
void gs_environment_read(struct gs_environment *environment);

/* NULL when the BLAS that runs is the OpenMP build; else a warning that says what runs and how to
 * change it (static string). */
const char *gs_environment_warning(void);

/* Use `threads` (0: all cores available to the process) in every parallel region from now on. */
void gs_threads_set(int threads);
int gs_threads_get(void);

#endif
