/* Does what it is told to do wrong, so that a build for finding such faults shows that it does. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    if (strcmp(argv[1], "overrun") == 0) {
        char *volatile bytes = malloc(8); /* volatile: the compiler would see through it */
        volatile size_t size = 9;
        if (bytes) memset(bytes, 1, size);
        free(bytes);
    }
    if (strcmp(argv[1], "overflow") == 0) {
        volatile int most = INT_MAX;
        printf("%d\n", most + 1);
    }
    return 0;
}
