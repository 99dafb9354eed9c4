/* default_claims.h - fixtures/claims/structure.json, as bytes; made by embed.cmake at build time,
 * so that an installed gpnscope has it whatever the path it stands in. */
#ifndef GS_ANALYSES_VERIFY_DEFAULT_CLAIMS_H
#define GS_ANALYSES_VERIFY_DEFAULT_CLAIMS_H

#include <stddef.h>

extern const char gs_default_claims[];
extern const size_t gs_default_claims_size; /* bytes, without the NUL behind them */

#endif
