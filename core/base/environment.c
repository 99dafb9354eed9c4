#include "core/base/environment.h"

#include "core/kernels/blas.h"
#include "core/kernels/isa.h"

#include <omp.h>
#include <string.h>

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

void gs_environment_read(struct gs_environment *environment) {
    *environment = (struct gs_environment){
        .threads = gs_threads_get(),
        .blas = gs_blas_version(),
        .blas_core = gs_blas_core(),
        .blas_threading = gs_blas_threading(),
        .kernels = gs_kernels_isa(),
        .compiler = COMPILER,
    };
}

const char *gs_environment_warning(void) {
    const char *threading = gs_blas_threading();
    if (strcmp(threading, "openmp") == 0) return NULL;
    if (strcmp(threading, "pthread") == 0)
        return "OpenBLAS runs in its pthread build, whose threads fight with ours over the cores "
               "(ten times slower was measured); install the OpenMP build: Debian: "
               "apt install libopenblas0-openmp, then update-alternatives --config "
               "libopenblas.so.0-$(uname -m)-linux-gnu; Fedora: dnf install openblas-openmp";
    return "OpenBLAS runs in its serial build, on one core only; install the OpenMP build: Debian: "
           "apt install libopenblas0-openmp, then update-alternatives --config "
           "libopenblas.so.0-$(uname -m)-linux-gnu; Fedora: dnf install openblas-openmp";
}

void gs_threads_set(int threads) {
    if (threads <= 0) threads = omp_get_num_procs();
    omp_set_num_threads(threads);
    gs_blas_threads_set(threads);
}

int gs_threads_get(void) {
    return omp_get_max_threads();
}
