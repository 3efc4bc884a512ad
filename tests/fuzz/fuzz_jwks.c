/* SPDX-License-Identifier: Apache-2.0 */
/* A key set from bytes to usable keys. What must hold for any input: a refusal says why, a set has
 * keys within its bounds, and each is found under its own name and algorithm alone. */
#include "auth/jwks.h"
#include "auth/jws.h"
#include "tests/fuzz/must.h"

#include <openssl/err.h>

#define ALL_ALGS ((1U << JWS_ALG_COUNT) - 1)

/* A signature nobody made. */
static void must_not_verify(const struct jwk *key)
{
    char zeros[1024] = {0};
    struct jws jws = {.alg = key->alg, .signing_input = SLICE_LIT("a.b")};
    static const size_t LENGTHS[] = {64, 96, 132, 256, 384, 512, 1024};
    for (size_t i = 0; i < sizeof(LENGTHS) / sizeof(LENGTHS[0]); i++) {
        jws.signature = (struct slice){zeros, LENGTHS[i]};
        must(!jws_verify(&jws, key));
    }
}

static size_t look_up(const struct jwks *set)
{
    size_t found = 0;
    for (int i = 0; i < JWS_ALG_COUNT; i++) {
        enum jws_alg alg = (enum jws_alg)i;
        const struct jwk *sole = jwks_find(set, SLICE_NONE, alg);
        if (sole) {
            must(sole->alg == alg && sole->pkey);
            must(!sole->kid || jwks_find(set, slice_of(sole->kid), alg) == sole);
            must_not_verify(sole);
            found++;
        }
    }
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err_detail detail = {.text = ""};
    struct jwks *set = jwks_parse((struct slice){(const char *)data, size}, ALL_ALGS, &detail);
    must(ERR_peek_error() == 0);
    if (!set) {
        must(detail.text[0] != '\0');
        return 0;
    }
    must(jwks_count(set) >= 1 && jwks_count(set) + jwks_dropped(set) <= JWKS_MAX_KEYS);
    must(look_up(set) <= jwks_count(set));
    jwks_unref(jwks_ref(set));
    jwks_unref(set);
    return 0;
}
