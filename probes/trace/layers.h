/* layers.h - streams and memories that are named by a layer: "layer00", "layer01", … */
#ifndef GS_PROBES_TRACE_LAYERS_H
#define GS_PROBES_TRACE_LAYERS_H

#include <stddef.h>
#include <stdint.h>

/* The number of "layer07"; UINT64_MAX of every other name. */
uint64_t gs_layer_number(const char *name);

/* Names in the order of a model: layers by their numbers (layer9 before layer10), then the others,
 * which keep their order. */
void gs_layers_order(char **names, size_t count);

#endif
