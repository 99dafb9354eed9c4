/* isa.h - the name of the instruction set that our kernels use, for records. */
#ifndef GS_CORE_KERNELS_ISA_H
#define GS_CORE_KERNELS_ISA_H

const char *gs_kernels_isa(void);

#endif
