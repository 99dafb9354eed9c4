#define NUMBER float
#define REDUCE gs_band_reduce_single
#define PRODUCT gs_blas_sgemm
#define REFLECTION gs_block_reflection_single
#include "analyses/linalg/band_reduction.h"
