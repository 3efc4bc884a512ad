/* SPDX-License-Identifier: Apache-2.0 */
/* Names are exact: every name an algorithm must not have is refused. */
#include "auth/alg.h"

#include <criterion/criterion.h>
#include <dlfcn.h>

Test(alg, every_name_parses_to_itself)
{
    static const char *const NAMES[] = {"RS256", "RS384", "RS512", "PS256", "PS384",
                                        "PS512", "ES256", "ES384", "ES512", "EdDSA"};
    for (int i = 0; i < JWS_ALG_COUNT; i++) {
        enum jws_alg alg = JWS_ALG_COUNT;
        cr_expect_str_eq(jws_alg_name((enum jws_alg)i), NAMES[i]);
        cr_expect(jws_alg_parse(slice_of(NAMES[i]), &alg));
        cr_expect_eq((int)alg, i);
    }
}

Test(alg, refuses_every_other_name)
{
    static const char *const NAMES[] = {
        "",       "none",  "None",    "nOnE",  "NONE",  "rs256",  "Rs256", "RS256 ",
        " RS256", "RS25",  "RS2567",  "HS256", "HS384", "HS512",  "hs256", "ES256K",
        "eddsa",  "EDDSA", "Ed25519", "RS1",   "ES521", "RSA1_5", "dir",   "A128KW"};
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        enum jws_alg alg = JWS_ALG_COUNT;
        cr_expect_not(jws_alg_parse(slice_of(NAMES[i]), &alg), "%s", NAMES[i]);
        cr_expect_eq(alg, JWS_ALG_COUNT);
    }
    enum jws_alg alg;
    cr_expect_not(jws_alg_parse(SLICE_NONE, &alg));
    cr_expect_not(jws_alg_parse((struct slice){"RS256\0", 6}, &alg));
}

/* The folder verifies with OpenSSL alone: no other token library is even in the process. */
Test(alg, needs_no_libjwt)
{
    cr_expect_null(dlsym(RTLD_DEFAULT, "jwt_decode"));
    cr_expect_not_null(dlsym(RTLD_DEFAULT, "EVP_DigestVerify"));
}
