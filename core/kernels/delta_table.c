/* The table of the delta rule's kernels of one instruction set. */
#include "core/kernels/delta_isa.h"

#define GS_TEXT2(name) #name
#define GS_TEXT(name) GS_TEXT2(name)

extern const struct gs_delta_kernels GS_KERNEL(delta_table);
const struct gs_delta_kernels GS_KERNEL(delta_table) = {
    .isa = GS_TEXT(GS_ISA),
    .lanes = GS_LANES,
    .forward = GS_KERNEL(delta_forward),
    .backward = GS_KERNEL(delta_backward),
    .norms = GS_KERNEL(delta_norms),
    .conv = GS_KERNEL(conv),
    .conv_backward = GS_KERNEL(conv_backward),
    .conv_inputs = GS_KERNEL(conv_inputs),
    .unit = GS_KERNEL(unit),
    .unit_backward = GS_KERNEL(unit_backward),
    .gated_norm = GS_KERNEL(gated_norm),
    .gated_norm_backward = GS_KERNEL(gated_norm_backward),
};
