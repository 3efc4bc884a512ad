/* SPDX-License-Identifier: Apache-2.0 */
/* token_draw: headers and payloads for test_token_mutation, good ones and spoilt ones.
 *
 * Keys 0 and 1 belong to the strict issuer, key 2 to the loose one. All chance comes from `state`.
 */
#ifndef TESTS_TOKEN_DRAW_H
#define TESTS_TOKEN_DRAW_H

#include "service/base/dynbuf.h"
#include "tests/unit/auth/token_model.h"

#include <stdio.h>

enum { MAX_MEMBERS = 80 };

static uint64_t state;

static inline size_t pick(size_t n)
{
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (size_t)(state >> 33) % n;
}

struct member {
    const char *name, *value; /* value: JSON */
};

struct object {
    struct member members[MAX_MEMBERS];
    size_t n;
};

static inline void put(struct object *o, const char *name, const char *value)
{
    if (o->n < MAX_MEMBERS) {
        o->members[o->n++] = (struct member){name, value};
    }
}

static inline void write_object(struct dynbuf *out, const struct object *o)
{
    dynbuf_cut(out, 0);
    for (size_t i = 0; i < o->n; i++) {
        dynbuf_add_text(out, i ? ",\"" : "{\"");
        dynbuf_add_text(out, o->members[i].name);
        dynbuf_add_text(out, "\":");
        dynbuf_add_text(out, o->members[i].value);
    }
    dynbuf_add_text(out, o->n ? "}" : "{}");
}

static inline void draw_header(struct object *h, size_t key)
{
    static const char *const NAMES[3] = {"\"EdDSA\"", "\"ES256\"", "\"EdDSA\""};
    static const char *const KIDS[3] = {"\"k1\"", "\"k2\"", "\"k1\""};
    static const char *const LOOSE_TYPES[] = {"\"JWT\"", "\"jwt\"", "\"at+jwt\""};
    h->n = 0;
    put(h, "alg", NAMES[key]);
    put(h, "typ", key == 2 ? LOOSE_TYPES[pick(3)] : pick(2) ? "\"at+jwt\"" : "\"AT+jwt\"");
    if (pick(8)) {
        put(h, "kid", KIDS[key]);
    }
}

static inline void draw_payload(struct object *p, size_t key)
{
    bool loose = key == 2;
    p->n = 0;
    put(p, "iss", loose ? "\"" MODEL_LOOSE "\"" : "\"" MODEL_STRICT "\"");
    put(p, "aud", pick(2) ? "\"" MODEL_AUD "\"" : "[\"x\",\"" MODEL_AUD "\"]");
    put(p, "sub", "\"ann\"");
    put(p, "exp", pick(2) ? "1800000600" : "1800000600.5");
    put(p, "iat", "1799999900");
    put(p, "tid", "\"T1\"");
    if (pick(2)) {
        put(p, "nbf", "1799999900");
    }
    if (loose) {
        put(p, "azp", "\"agent\"");
        put(p, "scp", "[\"kb:read\",\"a b\"]");
        put(p, "realm", "{\"roles\":[\"legal\"]}");
    } else {
        put(p, "client_id", "\"agent\"");
        put(p, "jti", "\"t1\"");
        put(p, "scope", "\"kb:read kb:list\"");
        put(p, "groups", "[\"legal\",\"ir\"]");
    }
}

/* --- spoiling before the signature --- */

static const char *const VALUES[] = {"null",
                                     "true",
                                     "false",
                                     "0",
                                     "-1",
                                     "1",
                                     "1.5",
                                     "1e12",
                                     "1e300",
                                     "-0.0",
                                     "\"\"",
                                     "\"x\"",
                                     "{}",
                                     "[]",
                                     "[null]",
                                     "[\"\"]",
                                     "[[\"a\"]]",
                                     "\"kb:read\"",
                                     "\"a b c d\"",
                                     "\"a b c d e\"",
                                     "\"  a \"",
                                     "\"a\\\\b\"",
                                     "\"a\\\"b\"",
                                     "\"a\\tb\"",
                                     "\"\\u0000\"",
                                     "\"k1\\u0000\"",
                                     "\"\\u00e9\"",
                                     "[\"a\",\"b\",\"c\",\"d\"]",
                                     "[\"a\",\"b\",\"c\",\"d\",\"e\"]",
                                     "[\"a\",1]",
                                     "{\"roles\":\"a\"}",
                                     "{\"roles\":[\"a\"]}",
                                     "{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":{\"f\":1}}}}}}",
                                     "[[[[[[[1]]]]]]]",
                                     "[[[[[[[[1]]]]]]]]",
                                     "1799999969",
                                     "1799999970",
                                     "1799999971",
                                     "1800000029",
                                     "1800000030",
                                     "1800000031",
                                     "1799999970.5",
                                     "1800000030.5",
                                     "1800086299",
                                     "1800086300",
                                     "1800086301",
                                     "\"1800000600\"",
                                     "9007199254740992",
                                     "9007199254740993",
                                     "9007199254740994",
                                     "1799913600",
                                     "1800086400",
                                     "1800086401",
                                     "99999999999999999999",
                                     "1e999",
                                     "\"" MODEL_AUD "\"",
                                     "\"" MODEL_AUD "/\"",
                                     "\"https://kb.test/mc\"",
                                     "\"HTTPS://kb.test/mcp\"",
                                     "[\"" MODEL_AUD "\"]",
                                     "[\"" MODEL_AUD "\",1]",
                                     "[\"" MODEL_AUD "/\"]",
                                     "{\"a\":\"" MODEL_AUD "\"}",
                                     "\"" MODEL_STRICT "\"",
                                     "\"" MODEL_LOOSE "\"",
                                     "\"https://strict.test\"",
                                     "\"https://strict.test/x\"",
                                     "\"https://STRICT.test/\"",
                                     "[\"" MODEL_STRICT "\"]",
                                     "\"none\"",
                                     "\"None\"",
                                     "\"EdDSA\"",
                                     "\"eddsa\"",
                                     "\"ES256\"",
                                     "\"ES384\"",
                                     "\"RS256\"",
                                     "\"HS256\"",
                                     "\"k1\"",
                                     "\"k2\"",
                                     "\"K1\"",
                                     "\"k3\"",
                                     "\"../k1\"",
                                     "\"JWT\"",
                                     "\"at+jwt\"",
                                     "\"application/at+jwt\"",
                                     "\"dpop+jwt\"",
                                     "\"at+jwt \"",
                                     "[\"exp\"]",
                                     "[\"b64\"]",
                                     "\"https://evil.test/jwks\""};

static const char *const NAMES[] = {
    "alg",       "typ", "kid",   "crit", "b64",       "zip",       "jwk",       "jku",   "x5u",
    "x5c",       "cty", "iss",   "aud",  "sub",       "exp",       "nbf",       "iat",   "jti",
    "client_id", "azp", "scope", "scp",  "groups",    "realm",     "tid",       "nonce", "at_hash",
    "x",         "",    "ALG",   "Exp",  "al\\u0067", "ex\\u0070", "aud\\u0000"};

enum {
    N_VALUES = sizeof(VALUES) / sizeof(VALUES[0]),
    N_NAMES = sizeof(NAMES) / sizeof(NAMES[0]),
};

/* At the length limit of identifiers, below it and above it. */
static inline const char *long_text(void)
{
    static char text[300];
    size_t n = 254 + pick(4);
    memset(text, 'a', sizeof(text));
    text[0] = text[n + 1] = '"';
    text[n + 2] = '\0';
    return text;
}

static inline void add_many(struct object *o)
{
    for (size_t n = 55 + pick(20); o->n < n;) {
        static const char *const MORE[] = {"a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8"};
        static char names[MAX_MEMBERS][32];
        (void)snprintf(names[o->n], sizeof(names[0]), "%s%zu", MORE[pick(8)], o->n);
        put(o, names[o->n], "1");
    }
}

static inline void spoil_object(struct object *o)
{
    size_t at = pick(o->n ? o->n : 1);
    switch (pick(7)) {
    case 0: o->members[at].value = VALUES[pick(N_VALUES)]; break;
    case 1: o->members[at].value = VALUES[pick(N_VALUES)]; break;
    case 2: o->members[at] = o->n ? o->members[--o->n] : o->members[at]; break;
    case 3: put(o, NAMES[pick(N_NAMES)], VALUES[pick(N_VALUES)]); break;
    case 4: o->members[at].name = NAMES[pick(N_NAMES)]; break;
    case 5: o->members[at].value = long_text(); break;
    default: pick(4) ? put(o, o->members[at].name, o->members[at].value) : add_many(o); break;
    }
}

/* What no list of members can say. */
static inline void spoil_text(struct dynbuf *text)
{
    static const char *const WHOLE[] = {"[1]", "\"x\"", "1", "null", "", "{", "{}", "[]"};
    static const char *const TAILS[] = {" ", "\n", "x", "{}", ",", "}"};
    if (pick(3) == 0) {
        dynbuf_cut(text, 0);
        dynbuf_add_text(text, WHOLE[pick(8)]);
    } else if (pick(2)) {
        dynbuf_add_text(text, TAILS[pick(6)]);
    } else {
        dynbuf_add_byte(text, pick(2) ? '\0' : '\xFF');
    }
}

#endif
