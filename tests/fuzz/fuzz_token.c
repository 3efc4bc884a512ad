/* SPDX-License-Identifier: Apache-2.0 */
/* A bearer token from bytes to claims. Input that begins with "sign\n" is a header and a payload on
 * one line each: they are signed with the right key, so that the search gets past the signature.
 * Anything else is an Authorization value. The key is fixed and Ed25519 signs without randomness,
 * so an input always takes the same way. */
#include "auth/token.h"
#include "service/base/encode.h"
#include "tests/fuzz/must.h"

#include <openssl/err.h>
#include <openssl/evp.h>

#define NOW_MS (1800000000LL * 1000)
#define SIGN SLICE_LIT("sign\n")

enum { MAX_BYTES = 1 << 20, MAX_VALUES = 4, KEY_BYTES = 32, SIGNATURE_BYTES = 64 };

static const struct slice AUDIENCES[] = {SLICE_LIT("https://kb.example.com/mcp")};
static const struct slice OVERAGE[] = {SLICE_LIT("_claim_names"), SLICE_LIT("hasgroups")};
static const struct tenant_name TENANTS[] = {{SLICE_LIT("T1"), SLICE_LIT("acme")}};

#define ISSUER(name)                                                                               \
    .iss = SLICE_LIT(name), .audiences = AUDIENCES, .n_audiences = 1, .algs = 1U << JWS_EDDSA,     \
    .tenant = {.path = SLICE_LIT("tid"), .kind = CLAIM_STRING}, .tenants = TENANTS,                \
    .n_tenants = 1, .leeway_s = 30, .max_lifetime_s = 86400, .max_scopes = MAX_VALUES,             \
    .max_groups = MAX_VALUES

static const struct issuer ISSUERS[] = {
    {ISSUER("https://a.example.com/"),
     .scopes = {.path = SLICE_LIT("scope"), .kind = CLAIM_SPACE_STRING},
     .groups =
         {.path = SLICE_LIT("groups"), .kind = CLAIM_ARRAY, .overage = OVERAGE, .n_overage = 2}},
    {ISSUER("https://b.example.com/"), .typ_any = true,
     .scopes = {.path = SLICE_LIT("scp"), .kind = CLAIM_ARRAY},
     .groups = {.path = SLICE_LIT("realm\\.x.roles"), .kind = CLAIM_ARRAY},
     .client_id = {.path = SLICE_LIT("azp"), .kind = CLAIM_STRING}},
};

enum { N_ISSUERS = sizeof(ISSUERS) / sizeof(ISSUERS[0]) };

static EVP_PKEY *pkey;
static struct jwks *keys[N_ISSUERS];
static const struct token_trust TRUST = {ISSUERS, keys, N_ISSUERS};

static void load_key(void)
{
    unsigned char secret[KEY_BYTES], public[KEY_BYTES];
    size_t n = sizeof(public);
    memset(secret, 7, sizeof(secret));
    pkey = EVP_PKEY_new_raw_private_key_ex(NULL, "ED25519", NULL, secret, sizeof(secret));
    must(pkey && EVP_PKEY_get_raw_public_key(pkey, public, &n) == 1);
    struct dynbuf set;
    dynbuf_init(&set, MAX_BYTES);
    dynbuf_add_text(&set,
                    "{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"k1\",\"x\":\"");
    encode_base64url(&set, (struct slice){(const char *)public, n});
    dynbuf_add_text(&set, "\"}]}");
    for (int i = 0; i < N_ISSUERS; i++) {
        keys[i] = jwks_parse(dynbuf_get(&set), 1U << JWS_EDDSA, NULL);
        must(keys[i]);
    }
    dynbuf_done(&set);
}

static void sign(struct dynbuf *out, struct slice header, struct slice payload)
{
    unsigned char signature[SIGNATURE_BYTES];
    size_t n = sizeof(signature);
    encode_base64url(out, header);
    dynbuf_add_byte(out, '.');
    encode_base64url(out, payload);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    must(EVP_DigestSignInit_ex(ctx, NULL, NULL, NULL, NULL, pkey, NULL) == 1 &&
         EVP_DigestSign(ctx, signature, &n, (const unsigned char *)out->p, out->n) == 1);
    EVP_MD_CTX_free(ctx);
    dynbuf_add_byte(out, '.');
    encode_base64url(out, (struct slice){(const char *)signature, n});
}

static void must_be_id(struct slice id, bool may_miss)
{
    must(id.p ? id.n > 0 && id.n <= 256 : may_miss);
}

static void must_be_sound(const struct claims *c)
{
    must(c->issuer >= ISSUERS && c->issuer < ISSUERS + N_ISSUERS);
    must_be_id(c->sub, false);
    must_be_id(c->jti, c->issuer->typ_any);
    must_be_id(c->client_id, c->issuer->typ_any);
    must(!c->tenant.p || slice_is(c->tenant, "acme"));
    must(c->n_scopes <= MAX_VALUES && c->n_groups <= MAX_VALUES);
    must(!c->groups_overage || c->n_groups == 0);
    must(c->expires_unix_s + c->issuer->leeway_s >= NOW_MS / 1000);
}

/* One more byte makes it another token, which nobody signed. */
static void must_not_stretch(struct slice token)
{
    struct dynbuf longer;
    struct arena arena = {0};
    struct claims claims;
    dynbuf_init(&longer, MAX_BYTES);
    dynbuf_add(&longer, token);
    dynbuf_add_byte(&longer, 'A');
    must(token_verify(&TRUST, dynbuf_get(&longer), NOW_MS, &arena, &claims) != TOKEN_OK);
    dynbuf_done(&longer);
    arena_done(&arena);
}

static void run(struct slice token)
{
    struct arena arena = {0};
    struct claims claims, untouched;
    memset(&untouched, 0xA5, sizeof(untouched));
    claims = untouched;
    enum token_result result = token_verify(&TRUST, token, NOW_MS, &arena, &claims);
    must(result < TOKEN_RESULT_COUNT && token_result_name(result));
    must(ERR_peek_error() == 0);
    if (result == TOKEN_OK) {
        must_be_sound(&claims);
        must_not_stretch(token);
    } else {
        must(memcmp(&claims, &untouched, sizeof(claims)) == 0);
    }
    arena_done(&arena);
}

static void run_signed(struct slice lines)
{
    struct dynbuf token;
    const char *end = lines.n ? memchr(lines.p, '\n', lines.n) : NULL;
    if (!end) {
        return;
    }
    struct slice header = {lines.p, (size_t)(end - lines.p)};
    dynbuf_init(&token, MAX_BYTES);
    sign(&token, header, slice_skip(lines, header.n + 1));
    run(dynbuf_get(&token));
    dynbuf_done(&token);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice input = {(const char *)data, size}, token;
    if (!pkey) {
        load_key();
    }
    if (slice_starts(input, SIGN)) {
        run_signed(slice_skip(input, SIGN.n));
    } else if (token_from_authorization(input, &token)) {
        must(token.n > 0 && token.p + token.n == input.p + input.n);
        run(token);
    } else {
        run(input); /* a bare token: the gate must not rely on the door */
    }
    return 0;
}
