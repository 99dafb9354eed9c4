/* Says which OpenBLAS is linked and loaded: version, core, threading. Used at configure only. */
#include <stdio.h>
#include <string.h>

char *openblas_get_config(void);
char *openblas_get_corename(void);
int openblas_get_parallel(void);

int main(void) {
    static const char *const threading[] = {"serial", "pthread", "openmp"};
    char config[256];
    snprintf(config, sizeof config, "%s", openblas_get_config());
    char *version_end = strchr(config, ' ');
    if (version_end) version_end = strchr(version_end + 1, ' ');
    if (version_end) *version_end = '\0';
    int parallel = openblas_get_parallel();
    if (parallel < 0 || parallel > 2) return 1;
    printf("%s, core %s, threading %s\n", config, openblas_get_corename(), threading[parallel]);
    return 0;
}
