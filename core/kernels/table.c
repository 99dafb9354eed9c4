/* The table of one instruction set. */
#include "core/kernels/tile.h"

#define GS_TEXT2(name) #name
#define GS_TEXT(name) GS_TEXT2(name)

const struct gs_kernels GS_KERNEL(table) = {
    .isa = GS_TEXT(GS_ISA),
    .panel = GS_PANEL,
    .product = GS_KERNEL(product),
    .outer = GS_KERNEL(outer),
    .rms = GS_KERNEL(rms),
    .rms_backward = GS_KERNEL(rms_backward),
    .norm = GS_KERNEL(norm),
    .norm_backward = GS_KERNEL(norm_backward),
    .unit_relu = GS_KERNEL(unit_relu),
    .unit_relu_backward = GS_KERNEL(unit_relu_backward),
    .sigmoid = GS_KERNEL(sigmoid),
    .swiglu = GS_KERNEL(swiglu),
    .swiglu_backward = GS_KERNEL(swiglu_backward),
    .gated_sum = GS_KERNEL(gated_sum),
    .gated_sum_measured = GS_KERNEL(gated_sum_measured),
    .gate_backward = GS_KERNEL(gate_backward),
    .squares = GS_KERNEL(squares),
    .dot = GS_KERNEL(dot),
    .add = GS_KERNEL(add),
    .cross_entropy = GS_KERNEL(cross_entropy),
    .memory_step = GS_KERNEL(memory_step),
    .memory_read = GS_KERNEL(memory_read),
    .memory_read_backward = GS_KERNEL(memory_read_backward),
    .memory_step_backward = GS_KERNEL(memory_step_backward),
};
