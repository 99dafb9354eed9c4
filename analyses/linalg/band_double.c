#define NUMBER double
#define REDUCE gs_band_reduce
#define PRODUCT gs_blas_dgemm
#define REFLECTION gs_block_reflection
#include "analyses/linalg/band_reduction.h"
