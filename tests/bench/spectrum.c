/* Eigenvalues of a covariance against numpy's eigvalsh of the same matrix, round by round.
 *
 *     bench_spectrum [dims [PYTHON]]      2496 python3
 *
 * numpy runs in a process of its own at its default number of threads and tells its own time, the
 * better of two calls. Without numpy only our figures are printed. */
#include "analyses/linalg/lapack.h"
#include "core/base/environment.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/kernels/blas.h"
#include "tests/bench/made_trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 5 };

static const char script[] = "import sys, time, numpy as np\n"
                             "n = int(sys.argv[2])\n"
                             "c = np.fromfile(sys.argv[1]).reshape(n, n)\n"
                             "best = 1e30\n"
                             "for _ in range(2):\n"
                             "    begin = time.perf_counter()\n"
                             "    values = np.linalg.eigvalsh(c, 'L')\n"
                             "    best = min(best, time.perf_counter() - begin)\n"
                             "print(best, values[-1], values[0])\n";

/* Covariance of 2 n rows whose columns have unequal deviations. */
static double *make_matrix(size_t n) {
    struct gs_random random;
    gs_random_seed(&random, 1, "bench/spectrum");
    double *rows = gs_calloc(2 * n * n, sizeof *rows), *matrix = gs_calloc(n * n, sizeof *matrix);
    if (!rows || !matrix) exit(3);
    for (size_t i = 0; i < 2 * n * n; i++)
        rows[i] = gs_random_normal(&random) / sqrt(1 + (double)(i % n));
    gs_blas_dgemm(GS_TRANSPOSED, GS_PLAIN, n, n, 2 * n, 1 / (double)(2 * n), rows, n, rows, n, 0,
                  matrix, n, NULL);
    gs_free(rows);
    return matrix;
}

static double ours(size_t n, const double *matrix, double *work, double *values) {
    struct gs_error error;
    memcpy(work, matrix, n * n * sizeof *work);
    double start = bench_now();
    bench_must(gs_eigenvalues(n, work, values, &error), &error);
    return bench_now() - start;
}

/* NaN without numpy. */
static double theirs(const char *python, const char *program, const char *file, size_t n,
                     double *largest, double *smallest) {
    char command[512];
    double seconds;
    snprintf(command, sizeof command, "'%s' '%s' '%s' %zu 2>/dev/null", python, program, file, n);
    FILE *pipe = popen(command, "r");
    if (!pipe || fscanf(pipe, "%lf %lf %lf", &seconds, largest, smallest) != 3)
        seconds = (double)NAN;
    if (pipe) pclose(pipe);
    return seconds;
}

static void save(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) exit(3);
}

int main(int argc, char **argv) {
    size_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 2496;
    const char *python = argc > 2 ? argv[2] : "python3";
    char folder[] = "/tmp/gpnscope-bench-XXXXXX", file[64], program[64];
    if (n == 0 || !mkdtemp(folder)) return 3;
    snprintf(file, sizeof file, "%s/matrix", folder);
    snprintf(program, sizeof program, "%s/peer.py", folder);
    gs_threads_set(0);
    double *matrix = make_matrix(n), *work = gs_calloc(n * n, sizeof *work);
    double *values = gs_calloc(n, sizeof *values), best = 1e30, peer = 1e30;
    if (!work || !values) return 3;
    save(file, matrix, n * n * sizeof *matrix);
    save(program, script, sizeof script - 1);
    printf("eigenvalues of %zu x %zu, %d threads\n", n, n, gs_threads_get());
    for (int round = 0; round < ROUNDS; round++) {
        double largest = 0, smallest = 0;
        double mine = ours(n, matrix, work, values);
        double numpy = theirs(python, program, file, n, &largest, &smallest);
        printf("round %d: ours %.3f s, numpy %.3f s, ratio %.2f", round, mine, numpy, mine / numpy);
        printf("; ends differ by %.1e\n",
               fmax(fabs(largest - values[0]), fabs(smallest - values[n - 1])) / values[0]);
        if (mine < best) best = mine;
        if (numpy < peer) peer = numpy;
    }
    printf("best of all: ours %.3f s, numpy %.3f s: %.2f of numpy's\n", best, peer, best / peer);
    unlink(file);
    unlink(program);
    rmdir(folder);
    gs_free(values);
    gs_free(work);
    gs_free(matrix);
    return 0;
}
