/* How often 95 % intervals hold the truth: bench_coverage [trials [replicates [sequences…]]]
 *
 * The table of analyses/stats/README.md. nice -n 19 bench_coverage 1000 400 32 64 128 */
#include "tests/analyses/bootstrap/coverage.h"

#include <stdio.h>
#include <stdlib.h>

static void count(size_t trials, size_t replicates, size_t sequences) {
    struct gs_coverage coverage[GS_COVERAGE_MOST];
    size_t measures = gs_coverage_count(1, trials, sequences, replicates, coverage);
    printf("\n%zu sequences, %zu data sets, %zu replicates\n", sequences, trials, replicates);
    printf("| value | truth | held | interval below | above |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < measures; i++) {
        const struct gs_coverage *c = &coverage[i];
        double all = (double)trials;
        printf("| %s | %.4g | %.3f | %.3f | %.3f |\n", c->name, c->truth, (double)c->held / all,
               (double)c->below / all, (double)c->above / all);
    }
    fflush(stdout);
}

int main(int argc, char **argv) {
    size_t trials = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 200;
    size_t replicates = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 200;
    for (int i = 3; i < argc; i++) count(trials, replicates, (size_t)strtoul(argv[i], NULL, 10));
    if (argc <= 3) count(trials, replicates, 32);
    return 0;
}
