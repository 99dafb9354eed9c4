/* Does what it is told to do wrong, so that a build for finding such faults shows that it does. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    if (strcmp(argv[1], "overrun") == 0) {
        char *bytes = malloc(8);
        volatile size_t behind = 8;
        if (bytes) printf("%d\n", bytes[behind]);
        free(bytes);
    }
    if (strcmp(argv[1], "overflow") == 0) {
        volatile int most = INT_MAX;
        printf("%d\n", most + 1);
    }
    return 0;
}
