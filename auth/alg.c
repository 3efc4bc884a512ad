/* SPDX-License-Identifier: Apache-2.0 */
/* One table: whatever else depends on an algorithm reads it here, so a new one is one row.
 * HMAC and "none" have no row, therefore no configuration can allow them. */
#include "auth/alg.h"

static const struct jws_alg_info INFO[JWS_ALG_COUNT] = {
    [JWS_RS256] = {"RS256", JWS_FAMILY_PKCS1, "SHA256", NULL, NULL, 0},
    [JWS_RS384] = {"RS384", JWS_FAMILY_PKCS1, "SHA384", NULL, NULL, 0},
    [JWS_RS512] = {"RS512", JWS_FAMILY_PKCS1, "SHA512", NULL, NULL, 0},
    [JWS_PS256] = {"PS256", JWS_FAMILY_PSS, "SHA256", NULL, NULL, 0},
    [JWS_PS384] = {"PS384", JWS_FAMILY_PSS, "SHA384", NULL, NULL, 0},
    [JWS_PS512] = {"PS512", JWS_FAMILY_PSS, "SHA512", NULL, NULL, 0},
    [JWS_ES256] = {"ES256", JWS_FAMILY_ECDSA, "SHA256", "P-256", "P-256", 32},
    [JWS_ES384] = {"ES384", JWS_FAMILY_ECDSA, "SHA384", "P-384", "P-384", 48},
    [JWS_ES512] = {"ES512", JWS_FAMILY_ECDSA, "SHA512", "P-521", "P-521", 66},
    [JWS_EDDSA] = {"EdDSA", JWS_FAMILY_EDDSA, NULL, "Ed25519", NULL, 0},
};

const struct jws_alg_info *jws_alg_info(enum jws_alg alg)
{
    return &INFO[alg];
}

bool jws_alg_parse(struct slice name, enum jws_alg *ret_alg)
{
    for (int i = 0; i < JWS_ALG_COUNT; i++) {
        if (slice_is(name, INFO[i].name)) {
            *ret_alg = (enum jws_alg)i;
            return true;
        }
    }
    return false;
}

const char *jws_alg_name(enum jws_alg alg)
{
    return INFO[alg].name;
}
