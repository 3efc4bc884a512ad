/* SPDX-License-Identifier: Apache-2.0 */
/* Good tokens, spoilt at random where it matters: a third in header and claims before the right key
 * signs them, so that only the rules can refuse them; the rest in their bytes afterwards. A naive
 * model judges each, and the verifier must agree on every one. KB_LONG=1: a million tokens.
 * KB_SEED=N repeats a run. */
#include "tests/unit/auth/mint.h"
#include "tests/unit/auth/token_draw.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N_TOKENS = 50000, N_LONG = 1000000, N_POOL = 64, N_KEYS = 3 };

static const struct model_key KEYS[N_KEYS] = {
    {MODEL_STRICT, "k1", "EdDSA", true},
    {MODEL_STRICT, "k2", "ES256", true},
    {MODEL_LOOSE, "k1", "EdDSA", true}, /* the kid of another issuer's key, on purpose */
};
static const enum jws_alg ALGS[N_KEYS] = {JWS_EDDSA, JWS_ES256, JWS_EDDSA};

static const struct slice AUDIENCES[] = {SLICE_LIT(MODEL_AUD)};
static const struct tenant_name TENANTS[] = {{SLICE_LIT("T1"), SLICE_LIT("acme")}};

#define COMMON(name)                                                                               \
    .iss = SLICE_LIT(name), .audiences = AUDIENCES, .n_audiences = 1,                              \
    .algs = 1U << JWS_EDDSA | 1U << JWS_ES256,                                                     \
    .tenant = {.path = SLICE_LIT("tid"), .kind = CLAIM_STRING}, .tenants = TENANTS,                \
    .n_tenants = 1, .leeway_s = MODEL_LEEWAY, .max_lifetime_s = MODEL_LIFETIME,                    \
    .max_scopes = MODEL_MAX_VALUES, .max_groups = MODEL_MAX_VALUES

static const struct issuer ISSUERS[] = {
    {COMMON(MODEL_STRICT), .scopes = {.path = SLICE_LIT("scope"), .kind = CLAIM_SPACE_STRING},
     .groups = {.path = SLICE_LIT("groups"), .kind = CLAIM_ARRAY}},
    {COMMON(MODEL_LOOSE), .typ_any = true,
     .scopes = {.path = SLICE_LIT("scp"), .kind = CLAIM_ARRAY},
     .groups = {.path = SLICE_LIT("realm.roles"), .kind = CLAIM_ARRAY},
     .client_id = {.path = SLICE_LIT("azp"), .kind = CLAIM_STRING}},
};

static EVP_PKEY *pkeys[N_KEYS];
static struct jwks *sets[2];
static const struct token_trust TRUST = {ISSUERS, sets, 2};
/* --- one token --- */

struct made {
    struct model_token token;
    struct dynbuf header, payload, compact;
};

static void made_init(struct made *m)
{
    dynbuf_init(&m->header, MINT_MAX_BYTES);
    dynbuf_init(&m->payload, MINT_MAX_BYTES);
    dynbuf_init(&m->compact, MINT_MAX_BYTES);
}

static void made_done(struct made *m)
{
    dynbuf_done(&m->header);
    dynbuf_done(&m->payload);
    dynbuf_done(&m->compact);
}

static void make(struct made *m, bool spoil)
{
    struct object header, payload;
    size_t key = pick(8) ? (pick(2) ? 0 : 2) : 1, signer = key;
    draw_header(&header, key);
    draw_payload(&payload, key);
    for (size_t n = spoil ? 1 + pick(3) : 0; n > 0; n--) {
        spoil_object(pick(3) ? &payload : &header);
    }
    if (spoil && pick(16) == 0) {
        signer = pick(N_KEYS);
    }
    write_object(&m->header, &header);
    write_object(&m->payload, &payload);
    if (spoil && pick(16) == 0) {
        spoil_text(pick(2) ? &m->header : &m->payload);
    }
    dynbuf_cut(&m->compact, 0);
    mint_compact(&m->compact, pkeys[signer], ALGS[signer], dynbuf_get(&m->header),
                 dynbuf_get(&m->payload));
    m->token = (struct model_token){&KEYS[signer], dynbuf_get(&m->header), dynbuf_get(&m->payload),
                                    dynbuf_get(&m->compact)};
}

/* --- spoiling afterwards --- */

static const char ALPHABET[] = "ABab01-_.=+/~ \n\xFF{\"";

static void insert(struct dynbuf *out, struct slice from, size_t at, struct slice what)
{
    dynbuf_add(out, (struct slice){from.p, at});
    dynbuf_add(out, what);
    dynbuf_add(out, slice_skip(from, at));
}

/* The first n segments of one token and the others of another. */
static void splice(struct dynbuf *out, struct slice a, struct slice b, size_t n)
{
    for (size_t i = 0; i < 3; i++) {
        struct slice from = i < n ? a : b;
        for (size_t skip = 0; skip < i; skip++) {
            const char *dot = memchr(from.p, '.', from.n);
            from = slice_skip(from, (size_t)(dot - from.p) + 1);
        }
        const char *end = i < 2 ? memchr(from.p, '.', from.n) : NULL;
        dynbuf_add_text(out, i ? "." : "");
        dynbuf_add(out, (struct slice){from.p, end ? (size_t)(end - from.p) : from.n});
    }
}

static void spoil_bytes(struct dynbuf *out, struct slice token, struct slice other)
{
    char letter = ALPHABET[pick(sizeof(ALPHABET) - 1)];
    size_t at = pick(token.n), n = 1 + pick(8);
    dynbuf_cut(out, 0);
    switch (pick(8)) {
    case 0:
    case 1:
        dynbuf_add(out, token);
        out->p[at] = (char)(pick(2) ? letter : out->p[at] ^ (1 << pick(7)));
        break;
    case 2: insert(out, token, at, (struct slice){&letter, 1}); break;
    case 3:
        dynbuf_add(out, (struct slice){token.p, at});
        dynbuf_add(out, slice_skip(token, at + n < token.n ? at + n : token.n));
        break;
    case 4: splice(out, token, other, 1 + pick(2)); break;
    case 5: insert(out, token, token.n, pick(2) ? other : (struct slice){&letter, 1}); break;
    case 6: insert(out, token, at, (struct slice){other.p, pick(other.n)}); break;
    default: /* another spelling of the last character's unused bits */
        dynbuf_add(out, token);
        out->p[out->n - 1] = (char)(out->p[out->n - 1] ^ 1);
        break;
    }
}

/* --- the test --- */

static void load_keys(void)
{
    static const char *const NAMES_OF_KEYS[N_KEYS] = {"\"kid\":\"k1\",", "\"kid\":\"k2\",",
                                                      "\"kid\":\"k1\","};
    for (size_t issuer = 0; issuer < 2; issuer++) {
        struct dynbuf set;
        dynbuf_init(&set, MINT_MAX_BYTES);
        dynbuf_add_text(&set, "{\"keys\":[");
        for (size_t i = issuer ? 2 : 0; i < (issuer ? 3U : 2U); i++) {
            pkeys[i] = mint_pkey(ALGS[i]);
            dynbuf_add_text(&set, i == 1 ? "," : "");
            mint_jwk(&set, pkeys[i], NAMES_OF_KEYS[i]);
        }
        dynbuf_add_text(&set, "]}");
        sets[issuer] = jwks_parse(dynbuf_get(&set), ISSUERS[issuer].algs, NULL);
        cr_assert_not_null(sets[issuer]);
        dynbuf_done(&set);
    }
}

static void drop_keys(void)
{
    for (size_t i = 0; i < N_KEYS; i++) {
        EVP_PKEY_free(pkeys[i]);
    }
    jwks_unref(sets[0]);
    jwks_unref(sets[1]);
}

static uint64_t seed;

/* The one of the pool that these bytes are: two of them spliced may come to a third. */
static const struct model_token *look_up(const struct made *pool, struct slice token)
{
    for (size_t i = 0; i < N_POOL; i++) {
        if (slice_eq(pool[i].token.compact, token)) {
            return &pool[i].token;
        }
    }
    return &pool[0].token;
}

static bool judge(const struct model_token *made, struct slice token)
{
    struct arena arena = {0};
    struct claims claims;
    enum token_result result =
        token_verify(&TRUST, token, (int64_t)MODEL_NOW * 1000, &arena, &claims);
    bool expected = model_accepts(made, token);
    cr_assert_eq(result == TOKEN_OK, expected, "seed %llu: %s, the model %s: %.*s %.*s: %.*s",
                 (unsigned long long)seed, token_result_name(result),
                 expected ? "accepts" : "refuses", (int)made->header.n, made->header.p,
                 (int)made->payload.n, made->payload.p, (int)token.n, token.p);
    arena_done(&arena);
    return expected;
}

static uint64_t choose_seed(void)
{
    const char *given = getenv("KB_SEED");
    return given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
}

TestSuite(token_mutation, .init = load_keys, .fini = drop_keys);

Test(token_mutation, a_spoilt_token_is_judged_as_the_model_judges_it)
{
    static struct made pool[N_POOL];
    struct made fresh;
    struct dynbuf spoilt;
    size_t n = getenv("KB_LONG") ? N_LONG : N_TOKENS, accepted = 0, unchanged = 0;
    state = seed = choose_seed();
    (void)fprintf(stderr, "token_mutation: %zu tokens, seed %llu\n", n, (unsigned long long)seed);
    for (size_t i = 0; i < N_POOL; i++) {
        made_init(&pool[i]);
        make(&pool[i], false);
        cr_assert(judge(&pool[i].token, pool[i].token.compact), "a good token is refused");
    }
    made_init(&fresh);
    dynbuf_init(&spoilt, MINT_MAX_BYTES);
    for (size_t i = 0; i < n; i++) {
        const struct model_token *t = &pool[pick(N_POOL)].token;
        if (i % 3 == 0) {
            make(&fresh, true);
            accepted += judge(&fresh.token, fresh.token.compact);
        } else {
            spoil_bytes(&spoilt, t->compact, pool[pick(N_POOL)].token.compact);
            unchanged += judge(look_up(pool, dynbuf_get(&spoilt)), dynbuf_get(&spoilt));
        }
    }
    (void)fprintf(stderr,
                  "token_mutation: %zu spoilt before signing still pass, %zu came out unspoilt\n",
                  accepted, unchanged);
    cr_expect(accepted > n / 60 && accepted < n / 4, "both verdicts are drawn: %zu", accepted);
    for (size_t i = 0; i < N_POOL; i++) {
        made_done(&pool[i]);
    }
    made_done(&fresh);
    dynbuf_done(&spoilt);
}
