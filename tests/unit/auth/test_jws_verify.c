/* SPDX-License-Identifier: Apache-2.0 */
/* Every algorithm verifies its own signatures and none of another's; malformed signatures are
 * refused without leaving a trace in the thread's error queue. */
#include "auth/jws.h"

#include "service/base/encode.h"
#include "tests/unit/auth/gate.h"

#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/rsa.h>

static struct gate gate;

static void open_gate(void)
{
    gate_open(&gate);
}

static void close_gate(void)
{
    gate_close(&gate);
}

TestSuite(jws_verify, .init = open_gate, .fini = close_gate);

/* The good token's header and payload with another signature over them. */
static enum token_result try_signature(struct slice signature)
{
    struct dynbuf token;
    char *header = gate_header(&gate, "{}"), *payload = gate_payload("{}");
    dynbuf_init(&token, MINT_MAX_BYTES);
    mint_compact_with(&token, slice_of(header), slice_of(payload), signature);
    enum token_result result = gate_try_compact(&gate, dynbuf_get(&token));
    cr_expect_eq(ERR_peek_error(), 0, "the error queue is dirty");
    dynbuf_done(&token);
    free(header);
    free(payload);
    return result;
}

/* A signature that holds, for spoiling; dynbuf_done. */
static struct dynbuf good_signature(void)
{
    struct dynbuf token, signature;
    char *header = gate_header(&gate, "{}"), *payload = gate_payload("{}");
    dynbuf_init(&token, MINT_MAX_BYTES);
    dynbuf_init(&signature, MINT_MAX_BYTES);
    encode_base64url(&token, slice_of(header));
    dynbuf_add_byte(&token, '.');
    encode_base64url(&token, slice_of(payload));
    mint_signature(&signature, gate.pkey, gate.alg, dynbuf_get(&token));
    dynbuf_done(&token);
    free(header);
    free(payload);
    return signature;
}

Test(jws_verify, accepts_each_algorithm_and_no_spoilt_byte)
{
    static const size_t BYTES[] = {256, 256, 256, 256, 256, 256, 64, 96, 132, 64};
    for (int alg = 0; alg < JWS_ALG_COUNT; alg++) {
        gate_use(&gate, (enum jws_alg)alg); /* proves that it accepts */
        struct dynbuf signature = good_signature();
        cr_expect_eq(signature.n, BYTES[alg]);
        cr_expect_eq(try_signature(dynbuf_get(&signature)), TOKEN_OK);
        for (size_t at = 0; at < signature.n; at += 7) {
            signature.p[at] = (char)(signature.p[at] ^ 1);
            cr_expect_eq(try_signature(dynbuf_get(&signature)), TOKEN_SIGNATURE);
            signature.p[at] = (char)(signature.p[at] ^ 1);
        }
        dynbuf_done(&signature);
    }
}

Test(jws_verify, rejects_another_keys_signature)
{
    for (int alg = 0; alg < JWS_ALG_COUNT; alg++) {
        gate_use(&gate, (enum jws_alg)alg);
        EVP_PKEY_free(gate.pkey);
        gate.pkey = mint_pkey((enum jws_alg)alg);
        cr_expect_eq(gate_try(&gate, "{}", "{}"), TOKEN_SIGNATURE, "%d", alg);
    }
}

Test(jws_verify, rejects_signatures_of_another_length)
{
    static const enum jws_alg ALGS[] = {JWS_RS256, JWS_PS256, JWS_ES256,
                                        JWS_ES384, JWS_ES512, JWS_EDDSA};
    for (size_t i = 0; i < sizeof(ALGS) / sizeof(ALGS[0]); i++) {
        gate_use(&gate, ALGS[i]);
        struct dynbuf s = good_signature();
        size_t n = s.n;
        cr_expect_eq(try_signature((struct slice){s.p, n - 1}), TOKEN_SIGNATURE);
        cr_expect_eq(try_signature((struct slice){s.p, n / 2}), TOKEN_SIGNATURE);
        cr_expect_eq(try_signature((struct slice){s.p, 1}), TOKEN_SIGNATURE);
        dynbuf_add_byte(&s, 0);
        cr_expect_eq(try_signature(dynbuf_get(&s)), TOKEN_SIGNATURE);
        struct dynbuf padded;
        dynbuf_init(&padded, MINT_MAX_BYTES);
        dynbuf_add_byte(&padded, 0);
        dynbuf_add(&padded, (struct slice){s.p, n});
        cr_expect_eq(try_signature(dynbuf_get(&padded)), TOKEN_SIGNATURE);
        dynbuf_done(&padded);
        dynbuf_done(&s);
    }
}

Test(jws_verify, rejects_a_der_signature)
{
    struct dynbuf raw = good_signature();
    const unsigned char *bytes = (const unsigned char *)raw.p;
    unsigned char *der = NULL;
    ECDSA_SIG *pair = ECDSA_SIG_new();
    ECDSA_SIG_set0(pair, BN_bin2bn(bytes, 32, NULL), BN_bin2bn(bytes + 32, 32, NULL));
    int n = i2d_ECDSA_SIG(pair, &der);
    cr_assert_gt(n, 64);
    cr_expect_eq(try_signature((struct slice){(char *)der, (size_t)n}), TOKEN_SIGNATURE);
    OPENSSL_free(der);
    ECDSA_SIG_free(pair);
    dynbuf_done(&raw);
}

/* The order of P-256 and the numbers beside it, for r, for s and for both. */
Test(jws_verify, rejects_r_or_s_of_zero_or_past_the_order)
{
    static const unsigned char ORDER[32] = {0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00,
                                            0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                            0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84,
                                            0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51};
    unsigned char values[3][32] = {{0}};
    memcpy(values[1], ORDER, 32);
    memset(values[2], 0xFF, 32);
    struct dynbuf good = good_signature();
    for (int v = 0; v < 3; v++) {
        for (int which = 1; which <= 3; which++) {
            char both[64];
            memcpy(both, good.p, 64);
            if (which & 1) {
                memcpy(both, values[v], 32);
            }
            if (which & 2) {
                memcpy(both + 32, values[v], 32);
            }
            cr_expect_eq(try_signature((struct slice){both, 64}), TOKEN_SIGNATURE);
        }
    }
    dynbuf_done(&good);
}

/* What raw exponentiation with the private key gives for any 256 bytes. */
static void sign_raw(struct dynbuf *out, const unsigned char block[256])
{
    unsigned char signature[256];
    size_t n = sizeof(signature);
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, gate.pkey, NULL);
    cr_assert(EVP_PKEY_sign_init(ctx) == 1 &&
              EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_NO_PADDING) == 1 &&
              EVP_PKEY_sign(ctx, signature, &n, block, 256) == 1);
    dynbuf_add(out, (struct slice){(char *)signature, n});
    EVP_PKEY_CTX_free(ctx);
}

/* PKCS #1 blocks around the right digest: the exact one is accepted, those that a lenient parser
 * would take are not. */
Test(jws_verify, rejects_pkcs1_padding_variants)
{
    static const unsigned char INFO[] = {0x30, 0x31, 0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01,
                                         0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04, 0x20};
    enum { TAIL = sizeof(INFO) + 32 };
    gate_use(&gate, JWS_RS256);
    struct dynbuf token;
    char *header = gate_header(&gate, "{}"), *payload = gate_payload("{}");
    dynbuf_init(&token, MINT_MAX_BYTES);
    encode_base64url(&token, slice_of(header));
    dynbuf_add_byte(&token, '.');
    encode_base64url(&token, slice_of(payload));
    struct digest digest;
    digest_of(dynbuf_get(&token), &digest);
    for (int variant = 0; variant < 5; variant++) {
        unsigned char block[256];
        struct dynbuf signature;
        dynbuf_init(&signature, MINT_MAX_BYTES);
        memset(block, 0xFF, sizeof(block));
        block[0] = 0;
        block[1] = variant == 1 ? 2 : 1;                           /* block type of encryption */
        size_t tail_at = variant == 2 ? 11 : sizeof(block) - TAIL; /* digest first, junk behind */
        block[tail_at - 1] = 0;
        memcpy(block + tail_at, INFO, sizeof(INFO));
        memcpy(block + tail_at + sizeof(INFO), digest.bytes, 32);
        block[100] = variant == 3 ? 0xFE : block[100];                /* one padding byte differs */
        block[tail_at + 14] = variant == 4 ? 2 : block[tail_at + 14]; /* another digest's name */
        sign_raw(&signature, block);
        cr_expect_eq(try_signature(dynbuf_get(&signature)),
                     variant == 0 ? TOKEN_OK : TOKEN_SIGNATURE, "variant %d", variant);
        dynbuf_done(&signature);
    }
    dynbuf_done(&token);
    free(header);
    free(payload);
}

/* RFC 7518 §3.5 fixes the salt to the digest's length. */
Test(jws_verify, rejects_pss_salts_of_another_length)
{
    static const int SALTS[] = {32, 0, 20, 31, 33, 64};
    gate_use(&gate, JWS_PS256);
    struct dynbuf token;
    char *header = gate_header(&gate, "{}"), *payload = gate_payload("{}");
    dynbuf_init(&token, MINT_MAX_BYTES);
    encode_base64url(&token, slice_of(header));
    dynbuf_add_byte(&token, '.');
    encode_base64url(&token, slice_of(payload));
    for (size_t i = 0; i < sizeof(SALTS) / sizeof(SALTS[0]); i++) {
        unsigned char signature[256];
        size_t n = sizeof(signature);
        EVP_PKEY_CTX *pctx = NULL;
        EVP_MD_CTX *ctx = EVP_MD_CTX_new();
        cr_assert(EVP_DigestSignInit_ex(ctx, &pctx, "SHA256", NULL, NULL, gate.pkey, NULL) == 1 &&
                  EVP_PKEY_CTX_set_rsa_padding(pctx, RSA_PKCS1_PSS_PADDING) == 1 &&
                  EVP_PKEY_CTX_set_rsa_pss_saltlen(pctx, SALTS[i]) == 1 &&
                  EVP_DigestSign(ctx, signature, &n, (unsigned char *)token.p, token.n) == 1);
        cr_expect_eq(try_signature((struct slice){(char *)signature, n}),
                     SALTS[i] == 32 ? TOKEN_OK : TOKEN_SIGNATURE, "salt %d", SALTS[i]);
        EVP_MD_CTX_free(ctx);
    }
    dynbuf_done(&token);
    free(header);
    free(payload);
}

Test(jws_verify, clears_the_error_queue)
{
    ERR_raise(ERR_LIB_USER, 1);
    cr_assert_neq(ERR_peek_error(), 0);
    cr_expect_eq(gate_try(&gate, "{}", "{}"), TOKEN_OK);
    cr_expect_eq(ERR_peek_error(), 0);
}

/* The layer stands alone: one parsed signature, one key, no issuer. The key decides. */
Test(jws_verify, refuses_an_algorithm_that_is_not_the_keys)
{
    EVP_PKEY *pkey = mint_rsa(2048, 65537);
    struct dynbuf jwk, token;
    struct jwk key;
    struct jws jws;
    dynbuf_init(&jwk, MINT_MAX_BYTES);
    dynbuf_init(&token, MINT_MAX_BYTES);
    mint_jwk(&jwk, pkey, "");
    json_t *member = json_loadb(jwk.p, jwk.n, 0, NULL);
    for (int said = JWS_RS256; said <= JWS_PS512; said++) {
        char header[32];
        snprintf(header, sizeof(header), "{\"alg\":\"%s\"}", jws_alg_name((enum jws_alg)said));
        for (int bound = JWS_RS256; bound <= JWS_PS512; bound++) {
            dynbuf_cut(&token, 0); /* signed the key's way, whatever the header says */
            mint_compact(&token, pkey, (enum jws_alg)bound, slice_of(header), SLICE_LIT("bytes"));
            cr_assert_eq(jws_parse(dynbuf_get(&token), &gate.arena, &jws), TOKEN_OK);
            cr_assert(jwk_read(member, 1U << bound, &key));
            cr_expect_eq(jws_verify(&jws, &key), said == bound, "%d %d", said, bound);
            jwk_done(&key);
        }
    }
    json_decref(member);
    EVP_PKEY_free(pkey);
    dynbuf_done(&jwk);
    dynbuf_done(&token);
}
