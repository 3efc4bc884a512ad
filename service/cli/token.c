/* SPDX-License-Identifier: Apache-2.0 */
/* kbgate token: mints development tokens with libjwt. libjwt signs here and verifies nowhere: the
 * service's own verifier is auth/token.c (README, "Why libjwt only mints"). */
#include "auth/issuer.h"
#include "scope/policy.h"
#include "service/base/clock.h"
#include "service/base/encode.h"
#include "service/base/mem.h"
#include "service/base/small_file.h"
#include "service/cli/options.h"
#include "service/config/config.h"
#include "service/yaml/yaml.h"

#include <jansson.h>
#include <jwt.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

enum { KEY_MAX_BYTES = 64 * 1024, TTL_MAX_S = 30 * 24 * 3600, SUB_MAX_BYTES = 256 };

struct values {
    const char *config, *tenant, *sub, *scope, *ttl, *client_id;
    struct option_texts groups;
};

static const struct cli_option OPTIONS[] = {
    {"config", "FILE", "the service's configuration; its token_key_file signs", OPTION_TEXT,
     offsetof(struct values, config), 0, 0},
    {"tenant", "T", "tenant, as the policy names it", OPTION_TEXT, offsetof(struct values, tenant),
     0, 0},
    {"sub", "S", "subject: who calls", OPTION_TEXT, offsetof(struct values, sub), 0, 0},
    {"scope", "\"…\"", "scopes, separated by spaces", OPTION_TEXT, offsetof(struct values, scope),
     0, 0},
    {"group", "G", "a group; may be repeated", OPTION_TEXTS, offsetof(struct values, groups), 0, 0},
    {"client-id", "C", "client (default kbgate-token)", OPTION_TEXT,
     offsetof(struct values, client_id), 0, 0},
    {"ttl", "TIME",
     "how long it is valid: 90s, 15m, 1h, 7d (default 1h); at most the issuer's max_lifetime_s",
     OPTION_TEXT, offsetof(struct values, ttl), 0, 0},
};

/* "90s", "15m", "1h", "7d" in seconds; 0 for anything else. */
static int64_t parse_ttl(const char *text)
{
    char *end;
    long long n = strtoll(text, &end, 10);
    int64_t unit = *end == 's'   ? 1
                   : *end == 'm' ? 60
                   : *end == 'h' ? 3600
                   : *end == 'd' ? 86400
                                 : 0;
    bool good = end != text && unit && end[1] == '\0' && n > 0 && n <= TTL_MAX_S / unit;
    return good ? n * unit : 0;
}

static const struct issuer *development_issuer(const struct policy *p)
{
    size_t n;
    const struct issuer *issuers = policy_issuers(p, &n);
    for (size_t i = 0; i < n; i++) {
        if (issuers[i].development) {
            return &issuers[i];
        }
    }
    return NULL;
}

/* Puts value where the issuer's rule will look for it; only one-step paths are minted. */
static void set_claim(json_t *claims, const struct claim_rule *rule, const char *fallback,
                      json_t *value)
{
    char *name = rule->path.p ? mem_text(rule->path) : mem_text(slice_of(fallback));
    json_object_set_new(claims, name, value);
    free(name);
}

static json_t *groups_value(const struct option_texts *groups)
{
    json_t *list = json_array();
    for (size_t i = 0; i < groups->n; i++) {
        json_array_append_new(list, json_string(groups->items[i]));
    }
    return list;
}

static json_t *scopes_value(const struct issuer *issuer, const char *scope)
{
    if (issuer->scopes.kind != CLAIM_ARRAY) {
        return json_string(scope);
    }
    json_t *list = json_array();
    char *copy = mem_text(slice_of(scope)), *rest = copy, *word;
    while ((word = strsep(&rest, " ")) != NULL) {
        if (*word) {
            json_array_append_new(list, json_string(word));
        }
    }
    free(copy);
    return list;
}

static json_t *tenant_value(const struct issuer *issuer, const char *tenant)
{
    for (size_t i = 0; i < issuer->n_tenants; i++) {
        if (slice_is(issuer->tenants[i].tenant, tenant)) {
            struct slice value = issuer->tenants[i].claim_value;
            return json_stringn(value.p, value.n);
        }
    }
    return NULL;
}

static void set_id(json_t *claims)
{
    char bytes[16] = {0};
    struct dynbuf hex;
    dynbuf_init(&hex, 2 * sizeof(bytes));
    (void)!getrandom(bytes, sizeof(bytes), 0);
    encode_hex(&hex, (struct slice){bytes, sizeof(bytes)});
    json_object_set_new(claims, "jti", json_stringn(hex.p, hex.n));
    dynbuf_done(&hex);
}

static json_t *make_claims(const struct values *v, const struct issuer *issuer, int64_t ttl_s)
{
    json_t *tenant = tenant_value(issuer, v->tenant);
    if (!tenant) {
        return NULL;
    }
    json_t *claims = json_object();
    int64_t now_s = clock_unix_ms() / 1000;
    json_object_set_new(claims, "iss", json_stringn(issuer->iss.p, issuer->iss.n));
    json_object_set_new(claims, "aud",
                        json_stringn(issuer->audiences[0].p, issuer->audiences[0].n));
    json_object_set_new(claims, "sub", json_string(v->sub));
    json_object_set_new(claims, "iat", json_integer(now_s));
    json_object_set_new(claims, "exp", json_integer(now_s + ttl_s));
    set_claim(claims, &issuer->client_id, "client_id", json_string(v->client_id));
    set_claim(claims, &issuer->tenant, "tenant", tenant);
    set_claim(claims, &issuer->scopes, "scope", scopes_value(issuer, v->scope));
    if (v->groups.n) {
        set_claim(claims, &issuer->groups, "groups", groups_value(&v->groups));
    }
    set_id(claims);
    return claims;
}

/* The algorithm the key can sign with and libjwt knows. */
static jwt_alg_t key_alg(struct slice pem)
{
    BIO *bio = BIO_new_mem_buf(pem.p, (int)pem.n);
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL) : NULL;
    jwt_alg_t alg = JWT_ALG_NONE;
    if (key && EVP_PKEY_is_a(key, "RSA")) {
        alg = JWT_ALG_RS256;
    } else if (key && EVP_PKEY_is_a(key, "EC")) {
        alg = EVP_PKEY_get_bits(key) == 256 ? JWT_ALG_ES256 : JWT_ALG_NONE;
    }
    EVP_PKEY_free(key);
    BIO_free(bio);
    return alg;
}

static char *sign(json_t *claims, struct slice pem)
{
    char *text = json_dumps(claims, JSON_COMPACT), *token = NULL;
    jwt_t *jwt = NULL;
    if (jwt_new(&jwt) == 0 && jwt_add_grants_json(jwt, text) == 0 &&
        jwt_set_alg(jwt, key_alg(pem), (const unsigned char *)pem.p, (int)pem.n) == 0) {
        token = jwt_encode_str(jwt);
    }
    jwt_free(jwt);
    free(text);
    return token;
}

static int mint(const struct values *v, const struct policy *policy, struct slice pem,
                int64_t ttl_s)
{
    const struct issuer *issuer = development_issuer(policy);
    if (!issuer) {
        return command_failed(&COMMAND_TOKEN,
                              "the policy has no issuer with development: true; only such an "
                              "issuer's tokens are minted here");
    }
    if (ttl_s > issuer->max_lifetime_s) {
        struct err_detail detail;
        err_detail_set(
            &detail,
            "--ttl: the issuer accepts tokens of at most %lld s; ask for less or raise its "
            "max_lifetime_s in the policy",
            (long long)issuer->max_lifetime_s);
        return command_failed(&COMMAND_TOKEN, detail.text);
    }
    if (key_alg(pem) == JWT_ALG_NONE) {
        return command_failed(&COMMAND_TOKEN,
                              "token_key_file: not an RSA or P-256 private key in PEM; make "
                              "one with `openssl genpkey -algorithm EC -pkeyopt "
                              "ec_paramgen_curve:P-256`");
    }
    json_t *claims = make_claims(v, issuer, ttl_s);
    if (!claims) {
        return command_failed(&COMMAND_TOKEN,
                              "--tenant: the development issuer maps no such tenant; name one "
                              "that stands in its `tenants`");
    }
    char *token = sign(claims, pem);
    json_decref(claims);
    if (!token) {
        return command_failed(&COMMAND_TOKEN, "the token could not be signed");
    }
    puts(token);
    free(token);
    return EXIT_DONE;
}

static int with_files(const struct values *v, const struct config_values *c, int64_t ttl_s)
{
    struct err_detail detail = {""};
    struct dynbuf yaml, pem;
    dynbuf_init(&yaml, YAML_MAX_BYTES);
    dynbuf_init(&pem, KEY_MAX_BYTES);
    struct policy *policy = NULL;
    int result = EXIT_FAILED;
    if (!*c->token_key_file || !*c->policy_file) {
        result = command_failed(&COMMAND_TOKEN,
                                "the configuration names no token_key_file or no policy_file");
    } else if (!small_file_read(c->policy_file, "policy_file", &yaml, &detail) ||
               !small_file_read(c->token_key_file, "token_key_file", &pem, &detail) ||
               !(policy = policy_parse(dynbuf_get(&yaml), c->policy_file, &detail))) {
        result = command_failed(&COMMAND_TOKEN, detail.text);
    } else {
        result = mint(v, policy, dynbuf_get(&pem), ttl_s);
    }
    policy_unref(policy);
    dynbuf_done(&yaml);
    dynbuf_done(&pem);
    return result;
}

static int run_token(int argc, char **argv)
{
    struct values v = {.ttl = "1h", .client_id = "kbgate-token", .scope = ""};
    int first;
    int result = options_parse(&COMMAND_TOKEN, argc, argv, &v, &first);
    if (result >= 0) {
        return result;
    }
    if (!v.config || !v.tenant || !v.sub || first != argc) {
        return options_usage_error(&COMMAND_TOKEN,
                                   "--config, --tenant and --sub are needed, and nothing else");
    }
    if (!*v.sub || strlen(v.sub) > SUB_MAX_BYTES) {
        return options_usage_error(&COMMAND_TOKEN, "--sub takes 1 to %d bytes", SUB_MAX_BYTES);
    }
    int64_t ttl_s = parse_ttl(v.ttl);
    if (!ttl_s) {
        return options_usage_error(&COMMAND_TOKEN,
                                   "--ttl takes a time such as 15m, 1h or 7d, at most 30d");
    }
    struct err_detail detail = {""};
    struct config *config = config_load(v.config, &detail);
    if (!config) {
        return command_failed(&COMMAND_TOKEN, detail.text);
    }
    result = with_files(&v, config_values(config), ttl_s);
    config_free(config);
    return result;
}

const struct command COMMAND_TOKEN = {
    .name = "token",
    .arguments = "--config FILE --tenant T --sub S --scope \"…\" [--group G…] [--ttl 1h]",
    .summary = "mint a development token",
    .description =
        "Prints a token signed with token_key_file, from the policy's development issuer. Such an\n"
        "issuer is served on loopback addresses only; real tokens come from your identity "
        "provider.",
    .options = OPTIONS,
    .n_options = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .run = run_token,
};
