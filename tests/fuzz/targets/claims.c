/* The claims that gpnscope verify judges. */
#include "analyses/verify/claims.h"
#include "tests/fuzz/target.h"

const struct gs_fuzz_limits gs_fuzz_limits = {512, 1 << 20, false};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct gs_claims *claims = NULL;
    struct gs_error error = {0};
    gs_fuzz_begin(size);
    if (gs_fuzz_status(gs_claims_parse((const char *)bytes, size, "x", &claims, &error), &error))
        for (size_t i = 0; i < claims->count; i++) {
            char name[GS_CLAIM_VALUE];
            gs_claim_value_name(&claims->claims[i], name);
        }
    gs_claims_destroy(claims);
    gs_fuzz_end();
    return 0;
}
