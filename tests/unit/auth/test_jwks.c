/* SPDX-License-Identifier: Apache-2.0 */
/* Which keys of a set are usable, and which one a token gets. Every spoilt key stands beside a good
 * one, so "dropped" and "set refused" are told apart. */
#include "auth/jwks.h"

#include "auth/jwk.h"
#include "service/base/encode.h"
#include "tests/unit/auth/gate.h"

#include <criterion/criterion.h>
#include <openssl/err.h>
#include <pthread.h>

enum { ALL = (1 << JWS_ALG_COUNT) - 1 };

static EVP_PKEY *ec;
static struct dynbuf set_text;

static void open_set(void)
{
    ec = mint_ec("P-256");
    dynbuf_init(&set_text, MINT_MAX_BYTES);
}

static void close_set(void)
{
    EVP_PKEY_free(ec);
    dynbuf_done(&set_text);
}

TestSuite(jwks, .init = open_set, .fini = close_set);

static void begin_set(void)
{
    dynbuf_cut(&set_text, 0);
    dynbuf_add_text(&set_text, "{\"keys\":[");
}

static void add_key(struct slice jwk)
{
    if (set_text.p[set_text.n - 1] != '[') {
        dynbuf_add_byte(&set_text, ',');
    }
    dynbuf_add(&set_text, jwk);
}

static void add_minted(EVP_PKEY *pkey, const char *more)
{
    struct dynbuf jwk;
    dynbuf_init(&jwk, MINT_MAX_BYTES);
    mint_jwk(&jwk, pkey, more);
    add_key(dynbuf_get(&jwk));
    dynbuf_done(&jwk);
}

static struct jwks *end_set(uint32_t allowed, struct err_detail *detail)
{
    dynbuf_add_text(&set_text, "]}");
    struct jwks *set = jwks_parse(dynbuf_get(&set_text), allowed, detail);
    cr_expect_eq(ERR_peek_error(), 0, "the error queue is dirty");
    return set;
}

/* Whether a set with this key and a good one keeps both; otherwise it must have dropped this one.
 */
static bool is_usable(struct slice jwk)
{
    begin_set();
    add_minted(ec, "\"kid\":\"good\",");
    add_key(jwk);
    struct jwks *set = end_set(ALL, NULL);
    cr_assert_not_null(set);
    size_t n = jwks_count(set);
    cr_expect_eq(n + jwks_dropped(set), 2);
    cr_expect_not_null(jwks_find(set, SLICE_LIT("good"), JWS_ES256));
    jwks_unref(set);
    return n == 2;
}

static bool is_usable_with(EVP_PKEY *pkey, const char *more)
{
    struct dynbuf jwk;
    dynbuf_init(&jwk, MINT_MAX_BYTES);
    mint_jwk(&jwk, pkey, more);
    bool usable = is_usable(dynbuf_get(&jwk));
    dynbuf_done(&jwk);
    return usable;
}

Test(jwks, reads_every_kind_of_key)
{
    for (int i = 0; i < JWS_ALG_COUNT; i++) {
        enum jws_alg alg = (enum jws_alg)i;
        EVP_PKEY *pkey = mint_pkey(alg);
        begin_set();
        add_minted(pkey, "\"kid\":\"a\",");
        struct jwks *set = end_set(1U << i, NULL);
        cr_assert_not_null(set, "%d", i);
        cr_expect_eq(jwks_count(set), 1);
        cr_expect_eq(jwks_dropped(set), 0);
        cr_assert_not_null(jwks_find(set, SLICE_LIT("a"), alg));
        cr_expect_eq(jwks_find(set, SLICE_LIT("a"), alg)->alg, alg);
        jwks_unref(set);
        EVP_PKEY_free(pkey);
    }
}

Test(jwks, refuses_what_is_no_key_set)
{
    static const char *const BAD[] = {"",
                                      "[]",
                                      "{}",
                                      "null",
                                      "{\"keys\":{}}",
                                      "{\"keys\":[]}",
                                      "{\"keys\":null}",
                                      "{\"keys\":[1,null,\"a\",[]]}",
                                      "{\"keys\":[{}]}",
                                      "{\"keys\":[]}x",
                                      "{\"keys\":[],\"keys\":[]}",
                                      "{\"Keys\":[]}"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        struct err_detail detail = {""};
        cr_expect_null(jwks_parse(slice_of(BAD[i]), ALL, &detail), "%s", BAD[i]);
        cr_expect_str_neq(detail.text, "", "%s", BAD[i]);
        cr_expect_null(jwks_parse(slice_of(BAD[i]), ALL, NULL));
    }
}

Test(jwks, refuses_a_member_named_twice)
{
    begin_set();
    add_minted(ec, "\"kid\":\"a\",\"kid\":\"a\",");
    cr_expect_null(end_set(ALL, NULL));
}

Test(jwks, drops_symmetric_keys)
{
    cr_expect_not(is_usable(SLICE_LIT("{\"kty\":\"oct\",\"k\":\"AAAA\",\"kid\":\"s\"}")));
    cr_expect_not(is_usable(SLICE_LIT("{\"kty\":\"oct\",\"kid\":\"s\"}")));
    cr_expect_not(
        is_usable(SLICE_LIT("{\"kty\":\"oct\",\"k\":\"AAAA\",\"alg\":\"HS256\",\"kid\":\"s\"}")));
}

Test(jwks, drops_keys_with_private_members)
{
    static const char *const NAMES[] = {"d", "p", "q", "dp", "dq", "qi", "oth", "k"};
    cr_expect(is_usable_with(ec, "\"kid\":\"a\","));
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        char more[64];
        snprintf(more, sizeof(more), "\"kid\":\"a\",\"%s\":\"AQ\",", NAMES[i]);
        cr_expect_not(is_usable_with(ec, more), "%s", more);
    }
}

struct trial {
    const char *more;
    bool usable;
};

Test(jwks, drops_keys_not_meant_for_signatures)
{
    static const struct trial TRIALS[] = {{"\"use\":\"sig\",", true},
                                          {"\"use\":\"enc\",", false},
                                          {"\"use\":\"SIG\",", false},
                                          {"\"use\":null,", false},
                                          {"\"use\":[\"sig\"],", false},
                                          {"\"key_ops\":[\"verify\"],", true},
                                          {"\"key_ops\":[\"sign\",\"verify\"],", true},
                                          {"\"key_ops\":[],", false},
                                          {"\"key_ops\":[\"sign\"],", false},
                                          {"\"key_ops\":\"verify\",", false},
                                          {"\"key_ops\":[\"encrypt\"],\"use\":\"sig\",", false},
                                          {"\"key_ops\":[\"verify\"],\"use\":\"enc\",", false}};
    for (size_t i = 0; i < sizeof(TRIALS) / sizeof(TRIALS[0]); i++) {
        cr_expect_eq(is_usable_with(ec, TRIALS[i].more), TRIALS[i].usable, "%s", TRIALS[i].more);
    }
}

Test(jwks, drops_keys_whose_alg_does_not_fit)
{
    static const struct trial TRIALS[] = {
        {"\"alg\":\"ES256\",", true},  {"\"alg\":\"ES384\",", false},
        {"\"alg\":\"RS256\",", false}, {"\"alg\":\"EdDSA\",", false},
        {"\"alg\":\"none\",", false},  {"\"alg\":\"HS256\",", false},
        {"\"alg\":\"es256\",", false}, {"\"alg\":\"ES521\",", false},
        {"\"alg\":\"\",", false},      {"\"alg\":null,", false},
        {"\"alg\":1,", false},         {"\"alg\":\"ECDH-ES\",", false}};
    for (size_t i = 0; i < sizeof(TRIALS) / sizeof(TRIALS[0]); i++) {
        cr_expect_eq(is_usable_with(ec, TRIALS[i].more), TRIALS[i].usable, "%s", TRIALS[i].more);
    }
}

Test(jwks, drops_unknown_types_and_curves)
{
    static const char *const BAD[] = {
        "{\"kty\":\"EC\",\"crv\":\"secp256k1\",\"x\":\"AA\",\"y\":\"AA\"}",
        "{\"kty\":\"EC\",\"crv\":\"P-192\",\"x\":\"AA\",\"y\":\"AA\"}",
        "{\"kty\":\"EC\",\"x\":\"AA\",\"y\":\"AA\"}",
        "{\"kty\":\"OKP\",\"crv\":\"X25519\",\"x\":"
        "\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}",
        "{\"kty\":\"OKP\",\"crv\":\"Ed448\",\"x\":\"AA\"}",
        "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AAAA\"}",
        "{\"kty\":\"OKP\",\"crv\":\"Ed25519\"}",
        "{\"kty\":\"rsa\",\"n\":\"AA\",\"e\":\"AQAB\"}",
        "{\"kty\":1}",
        "{\"kty\":\"\"}",
        "{}",
        "1",
        "\"RSA\"",
        "null",
        "[]"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        cr_expect_not(is_usable(slice_of(BAD[i])), "%s", BAD[i]);
    }
    EVP_PKEY *koblitz = mint_ec("secp256k1");
    cr_expect_not(is_usable_with(koblitz, ""));
    EVP_PKEY_free(koblitz);
}

/* The public point of ec in other lengths and with other bits. */
static bool is_usable_point(const char *crv, struct slice x, struct slice y)
{
    struct dynbuf jwk;
    dynbuf_init(&jwk, MINT_MAX_BYTES);
    dynbuf_add_text(&jwk, "{\"kty\":\"EC\",\"crv\":\"");
    dynbuf_add_text(&jwk, crv);
    dynbuf_add_text(&jwk, "\",\"x\":\"");
    encode_base64url(&jwk, x);
    dynbuf_add_text(&jwk, "\",\"y\":\"");
    encode_base64url(&jwk, y);
    dynbuf_add_text(&jwk, "\"}");
    bool usable = is_usable(dynbuf_get(&jwk));
    dynbuf_done(&jwk);
    return usable;
}

Test(jwks, drops_points_off_the_curve_and_short_coordinates)
{
    char point[65], padded[33] = {0};
    size_t n = 0;
    cr_assert(EVP_PKEY_get_octet_string_param(ec, "pub", (unsigned char *)point, sizeof(point),
                                              &n) == 1 &&
              n == 65);
    struct slice x = {point + 1, 32}, y = {point + 33, 32};
    cr_expect(is_usable_point("P-256", x, y));
    cr_expect_not(is_usable_point("P-384", x, y));
    cr_expect_not(is_usable_point("P-256", x, (struct slice){y.p, 31}));
    cr_expect_not(is_usable_point("P-256", (struct slice){x.p, 33}, (struct slice){x.p + 33, 31}));
    memcpy(padded + 1, x.p, 32);
    cr_expect_not(is_usable_point("P-256", (struct slice){padded, 33}, y));
    point[64] = (char)(point[64] ^ 1);
    cr_expect_not(is_usable_point("P-256", x, y));
    memset(point + 1, 0, 64);
    cr_expect_not(is_usable_point("P-256", x, y)); /* the origin */
    memset(point + 1, 0xFF, 64);
    cr_expect_not(is_usable_point("P-256", x, y)); /* past the field */
}

static bool is_usable_rsa(const BIGNUM *n, struct slice e)
{
    struct dynbuf jwk;
    unsigned char bytes[2048];
    dynbuf_init(&jwk, MINT_MAX_BYTES);
    dynbuf_add_text(&jwk, "{\"kty\":\"RSA\",\"n\":\"");
    encode_base64url(&jwk, (struct slice){(char *)bytes, (size_t)BN_bn2bin(n, bytes)});
    dynbuf_add_text(&jwk, "\",\"e\":\"");
    encode_base64url(&jwk, e);
    dynbuf_add_text(&jwk, "\"}");
    bool usable = is_usable(dynbuf_get(&jwk));
    dynbuf_done(&jwk);
    return usable;
}

/* An odd number of exactly that many bits: nothing but its size and e are looked at. */
static BIGNUM *modulus_of(int bits)
{
    BIGNUM *n = BN_new();
    BN_set_bit(n, bits - 1);
    BN_add_word(n, 3);
    return n;
}

Test(jwks, drops_rsa_moduli_outside_2048_to_8192_bits)
{
    static const struct {
        int bits;
        bool usable;
    } TABLE[] = {{512, false}, {1024, false}, {2047, false}, {2048, true},  {4096, true},
                 {8191, true}, {8192, true},  {8193, false}, {8200, false}, {16000, false}};
    for (size_t i = 0; i < sizeof(TABLE) / sizeof(TABLE[0]); i++) {
        BIGNUM *n = modulus_of(TABLE[i].bits);
        cr_expect_eq(is_usable_rsa(n, SLICE_LIT("\x01\x00\x01")), TABLE[i].usable, "%d",
                     TABLE[i].bits);
        BN_free(n);
    }
    BIGNUM *even = modulus_of(2048);
    BN_add_word(even, 1);
    cr_expect_not(is_usable_rsa(even, SLICE_LIT("\x01\x00\x01")));
    BN_free(even);
}

Test(jwks, drops_weak_rsa_exponents)
{
    static const struct {
        struct slice e;
        bool usable;
    } TABLE[] = {{SLICE_LIT(""), false},
                 {SLICE_LIT("\x00"), false},
                 {SLICE_LIT("\x01"), false},
                 {SLICE_LIT("\x03"), false},
                 {SLICE_LIT("\x00\xFF\xFF"), false},
                 {SLICE_LIT("\x01\x00\x00"), false},
                 {SLICE_LIT("\x01\x00\x01"), true},
                 {SLICE_LIT("\x01\x00\x02"), false},
                 {SLICE_LIT("\x01\x00\x03"), true},
                 {SLICE_LIT("\xFF\xFF\xFF\xFF"), true},
                 {SLICE_LIT("\x01\x00\x00\x00\x01"), false}};
    BIGNUM *n = modulus_of(2048);
    for (size_t i = 0; i < sizeof(TABLE) / sizeof(TABLE[0]); i++) {
        cr_expect_eq(is_usable_rsa(n, TABLE[i].e), TABLE[i].usable, "%zu", i);
    }
    BN_free(n);
}

/* 65537^k modulo the product of the small odd primes, plus a multiple of that product. */
Test(jwks, drops_rsa_moduli_with_the_fingerprint_of_weak_primes)
{
    BN_CTX *ctx = BN_CTX_new();
    BIGNUM *product = BN_new(), *n = BN_new(), *e = BN_new(), *k = BN_new();
    BN_one(product);
    for (BN_ULONG p = 3; p <= 167; p += 2) {
        bool prime = true;
        for (BN_ULONG d = 3; d * d <= p; d += 2) {
            prime = prime && p % d != 0;
        }
        cr_assert(!prime || BN_mul_word(product, p) == 1);
    }
    BN_set_word(e, 65537);
    BN_set_word(k, 12345);
    cr_assert(BN_mod_exp(n, e, k, product, ctx) == 1);
    BN_lshift(k, product, 2047 - BN_num_bits(product) + 1);
    BN_add(n, n, k);
    if (!BN_is_odd(n)) {
        BN_add(n, n, product);
    }
    cr_assert_eq(BN_num_bits(n), 2048);
    cr_expect_not(is_usable_rsa(n, SLICE_LIT("\x01\x00\x01")));
    BN_add_word(n, 2);
    cr_expect(is_usable_rsa(n, SLICE_LIT("\x01\x00\x01")));
    BN_free(product);
    BN_free(n);
    BN_free(e);
    BN_free(k);
    BN_CTX_free(ctx);
}

Test(jwks, drops_both_keys_of_one_kid)
{
    EVP_PKEY *second = mint_ec("P-256"), *third = mint_ec("P-384");
    begin_set();
    add_minted(ec, "\"kid\":\"a\",");
    add_minted(second, "\"kid\":\"b\",");
    add_minted(third, "\"kid\":\"a\",");
    struct jwks *set = end_set(ALL, NULL);
    cr_assert_not_null(set);
    cr_expect_eq(jwks_count(set), 1);
    cr_expect_eq(jwks_dropped(set), 2);
    cr_expect_null(jwks_find(set, SLICE_LIT("a"), JWS_ES256));
    cr_expect_null(jwks_find(set, SLICE_LIT("a"), JWS_ES384));
    cr_expect_not_null(jwks_find(set, SLICE_LIT("b"), JWS_ES256));
    jwks_unref(set);
    begin_set();
    add_minted(ec, "\"kid\":\"a\",");
    add_minted(ec, "\"kid\":\"a\",");
    add_minted(ec, "\"kid\":\"a\",");
    cr_expect_null(end_set(ALL, NULL));
    EVP_PKEY_free(second);
    EVP_PKEY_free(third);
}

Test(jwks, keys_without_a_kid_are_no_duplicates)
{
    EVP_PKEY *second = mint_ec("P-384");
    begin_set();
    add_minted(ec, "");
    add_minted(second, "");
    struct jwks *set = end_set(ALL, NULL);
    cr_assert_not_null(set);
    cr_expect_eq(jwks_count(set), 2);
    cr_expect_not_null(jwks_find(set, SLICE_NONE, JWS_ES256));
    cr_expect_not_null(jwks_find(set, SLICE_NONE, JWS_ES384));
    cr_expect_null(jwks_find(set, SLICE_NONE, JWS_ES512));
    cr_expect_null(jwks_find(set, SLICE_LIT(""), JWS_ES256));
    jwks_unref(set);
    EVP_PKEY_free(second);
}

Test(jwks, drops_keys_with_a_bad_kid)
{
    static const char *const BAD[] = {"\"kid\":1,", "\"kid\":null,", "\"kid\":\"\",",
                                      "\"kid\":\"a\\nb\",", "\"kid\":\"../a\","};
    char more[256];
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        cr_expect_not(is_usable_with(ec, BAD[i]), "%s", BAD[i]);
    }
    for (int n = 127; n <= 129; n++) {
        snprintf(more, sizeof(more), "\"kid\":\"%0*d\",", n, 1);
        cr_expect_eq(is_usable_with(ec, more), n <= 128, "%d", n);
    }
}

/* An RSA key fits six algorithms; it gets one. */
Test(jwks, binds_one_algorithm_to_a_key)
{
    EVP_PKEY *rsa = mint_rsa(2048, 65537);
    static const struct {
        const char *more;
        uint32_t allowed;
        enum jws_alg expected; /* JWS_ALG_COUNT: the set is refused */
    } TABLE[] = {
        {"", ALL, JWS_RS256},
        {"", 1U << JWS_PS384 | 1U << JWS_PS512, JWS_PS384},
        {"", 1U << JWS_ES256, JWS_ALG_COUNT},
        {"", 0, JWS_ALG_COUNT},
        {"\"alg\":\"PS512\",", ALL, JWS_PS512},
        {"\"alg\":\"PS512\",", 1U << JWS_RS256, JWS_ALG_COUNT},
    };
    for (size_t i = 0; i < sizeof(TABLE) / sizeof(TABLE[0]); i++) {
        begin_set();
        add_minted(rsa, TABLE[i].more);
        struct jwks *set = end_set(TABLE[i].allowed, NULL);
        cr_expect_eq(set != NULL, TABLE[i].expected != JWS_ALG_COUNT, "%zu", i);
        for (int alg = 0; set && alg < JWS_ALG_COUNT; alg++) {
            const struct jwk *found = jwks_find(set, SLICE_NONE, (enum jws_alg)alg);
            cr_expect_eq(found != NULL, alg == (int)TABLE[i].expected, "%zu %d", i, alg);
        }
        jwks_unref(set);
    }
    EVP_PKEY_free(rsa);
}

Test(jwks, caps_the_number_of_keys)
{
    for (int n = JWKS_MAX_KEYS - 1; n <= JWKS_MAX_KEYS + 1; n++) {
        struct err_detail detail = {""};
        begin_set();
        for (int i = 0; i < n; i++) {
            char more[32];
            snprintf(more, sizeof(more), "\"kid\":\"k%d\",", i);
            add_minted(ec, more);
        }
        struct jwks *set = end_set(ALL, &detail);
        cr_expect_eq(set != NULL, n <= JWKS_MAX_KEYS, "%d", n);
        cr_expect_eq(set ? jwks_count(set) : 0, n <= JWKS_MAX_KEYS ? (size_t)n : 0);
        cr_expect_eq(strstr(detail.text, "at most 64") != NULL, n > JWKS_MAX_KEYS);
        jwks_unref(set);
    }
}

Test(jwks, caps_the_size_of_a_set)
{
    for (size_t n = JWKS_MAX_BYTES - 1; n <= JWKS_MAX_BYTES + 1; n++) {
        begin_set();
        add_minted(ec, "");
        dynbuf_add_text(&set_text, "]");
        while (set_text.n < n - 1) {
            dynbuf_add_byte(&set_text, ' ');
        }
        dynbuf_add_text(&set_text, "}");
        struct jwks *set = jwks_parse(dynbuf_get(&set_text), ALL, NULL);
        cr_expect_eq(set != NULL, n <= JWKS_MAX_BYTES);
        jwks_unref(set);
    }
}

Test(jwks, ignores_members_it_does_not_know)
{
    cr_expect(is_usable_with(ec, "\"x5c\":[\"MII\"],\"x5t\":\"a\",\"issuer\":\"i\",\"ext\":true,"));
}

Test(jwks, lives_until_the_last_reference)
{
    begin_set();
    add_minted(ec, "\"kid\":\"a\",");
    struct jwks *set = end_set(ALL, NULL);
    cr_expect_eq(jwks_ref(set), set);
    jwks_unref(set);
    cr_expect_not_null(jwks_find(set, SLICE_LIT("a"), JWS_ES256));
    jwks_unref(set);
    jwks_unref(NULL);
}

static void *verify_often(void *arg)
{
    struct gate gate = *(struct gate *)arg;
    jwks_ref(gate.keys);
    size_t refused = 0;
    gate.arena = (struct arena){0};
    gate.trust.issuers = &gate.issuer;
    gate.trust.keys = &gate.keys;
    for (int i = 0; i < 20; i++) {
        refused += gate_try(&gate, "{}", "{}") != TOKEN_OK;
    }
    arena_done(&gate.arena);
    jwks_unref(gate.keys);
    return refused ? arg : NULL;
}

Test(jwks, verifies_on_many_threads_at_once)
{
    struct gate gate;
    pthread_t threads[4];
    gate_open(&gate);
    for (int i = 0; i < 4; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, verify_often, &gate), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *failed = &gate;
        cr_assert_eq(pthread_join(threads[i], &failed), 0);
        cr_expect_null(failed);
    }
    gate_close(&gate);
}
