#include "probes/trace/layers.h"

#include <stdlib.h>
#include <string.h>

uint64_t gs_layer_number(const char *name) {
    static const char before[] = "layer";
    size_t length = sizeof before - 1;
    if (strncmp(name, before, length) != 0) return UINT64_MAX;
    size_t digits = strspn(name + length, "0123456789");
    if (digits == 0 || digits > 18 || name[length + digits]) return UINT64_MAX;
    return strtoull(name + length, NULL, 10);
}

/* Insertion, which keeps the order among equals. */
void gs_layers_order(char **names, size_t count) {
    for (size_t i = 1; i < count; i++) {
        char *name = names[i];
        size_t at = i;
        for (; at > 0 && gs_layer_number(names[at - 1]) > gs_layer_number(name); at--)
            names[at] = names[at - 1];
        names[at] = name;
    }
}
