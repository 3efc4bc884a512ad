/* SPDX-License-Identifier: Apache-2.0 */
/* What the token gate costs: the first sight of a token beside a bare EVP_DigestVerify with a kept
 * key, a token seen before beside SHA-256 over its bytes. Alternating rounds in one run; medians,
 * and the median of the rounds' ratios, since machines are noisy.
 *
 * Usage: bench_token [--rounds N] [--json FILE] */
#include "cache/token_cache.h"
#include "service/base/clock.h"
#include "service/base/encode.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS_MAX = 1000, ITERATIONS = 200, REPEATS = 20000, TOKEN_ROOM = 8192 };

#define ISS "https://issuer.example/"
#define AUD "https://kb.example/mcp"

struct bench {
    EVP_PKEY *key;

    struct dynbuf token, input, signature;
    struct jwks *keys;
    struct issuer issuer;
    struct token_trust trust;
    int64_t now_ms;
};

enum measure { BARE, FIRST, HASH, AGAIN, N_MEASURES };

static const struct slice AUDIENCES[] = {SLICE_LIT(AUD)};
static const struct tenant_name TENANTS[] = {{SLICE_LIT("9f0c"), SLICE_LIT("acme")}};

static void require(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "bench_token: %s failed\n", what);
        exit(1);
    }
}

/* Thread CPU time: what another process does to the core does not count. */
static int64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void add_number(struct dynbuf *out, EVP_PKEY *key, const char *name)
{
    BIGNUM *n = NULL;
    unsigned char bytes[1024];
    require(EVP_PKEY_get_bn_param(key, name, &n), name);
    int size = BN_bn2bin(n, bytes);
    encode_base64url(out, (struct slice){(const char *)bytes, (size_t)size});
    BN_free(n);
}

static void load_keys(struct bench *b)
{
    struct dynbuf set;
    struct err_detail detail = {""};
    dynbuf_init(&set, TOKEN_ROOM);
    dynbuf_add_text(
        &set,
        "{\"keys\":[{\"kty\":\"RSA\",\"alg\":\"RS256\",\"kid\":\"k1\",\"e\":\"AQAB\",\"n\":\"");
    add_number(&set, b->key, OSSL_PKEY_PARAM_RSA_N);
    dynbuf_add_text(&set, "\"}]}");
    b->keys = jwks_parse(dynbuf_get(&set), b->issuer.algs, &detail);
    require(b->keys != NULL, detail.text);
    dynbuf_done(&set);
}

static void mint(struct bench *b)
{
    char payload[1024];
    int64_t now_s = b->now_ms / 1000;
    (void)snprintf(
        payload, sizeof(payload),
        "{\"iss\":\"" ISS "\",\"aud\":\"" AUD
        "\",\"sub\":\"0oa2hl2inow5Uqc6c357\",\"client_id\":\"agent\","
        "\"jti\":\"AT.0mP4JKAZX1iACIT4vbEDF7LpvDVjxypPMf0D7uX39RE\",\"iat\":%lld,\"exp\":%lld,"
        "\"scope\":\"kb:read kb:staff openid "
        "profile\",\"tid\":\"9f0c\",\"groups\":[\"legal\",\"ir\",\"all\"]}",
        (long long)now_s, (long long)now_s + 3600);
    encode_base64url(&b->input, SLICE_LIT("{\"alg\":\"RS256\",\"typ\":\"at+jwt\",\"kid\":\"k1\"}"));
    dynbuf_add_byte(&b->input, '.');
    encode_base64url(&b->input, slice_of(payload));
    unsigned char signature[512];
    size_t n = sizeof(signature);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    require(EVP_DigestSignInit_ex(ctx, NULL, "SHA256", NULL, NULL, b->key, NULL) == 1 &&
                EVP_DigestSign(ctx, signature, &n, (const unsigned char *)b->input.p, b->input.n) ==
                    1,
            "signing");
    EVP_MD_CTX_free(ctx);
    dynbuf_add(&b->signature, (struct slice){(const char *)signature, n});
    dynbuf_add(&b->token, dynbuf_get(&b->input));
    dynbuf_add_byte(&b->token, '.');
    encode_base64url(&b->token, dynbuf_get(&b->signature));
}

static void open_bench(struct bench *b)
{
    *b = (struct bench){
        .now_ms = clock_unix_ms(),
        .issuer = {.iss = SLICE_LIT(ISS),
                   .audiences = AUDIENCES,
                   .n_audiences = 1,
                   .algs = 1U << JWS_RS256,
                   .scopes = {.path = SLICE_LIT("scope"), .kind = CLAIM_SPACE_STRING},
                   .groups = {.path = SLICE_LIT("groups"), .kind = CLAIM_ARRAY},
                   .tenant = {.path = SLICE_LIT("tid"), .kind = CLAIM_STRING},
                   .tenants = TENANTS,
                   .n_tenants = 1,
                   .leeway_s = 30,
                   .max_lifetime_s = 86400,
                   .max_scopes = 128,
                   .max_groups = 256}};
    dynbuf_init(&b->token, TOKEN_ROOM);
    dynbuf_init(&b->input, TOKEN_ROOM);
    dynbuf_init(&b->signature, TOKEN_ROOM);
    b->key = EVP_RSA_gen(2048);
    require(b->key != NULL, "making a key");
    load_keys(b);
    b->trust = (struct token_trust){.issuers = &b->issuer, .keys = &b->keys, .n = 1};

    mint(b);
}

static void close_bench(struct bench *b)
{

    EVP_PKEY_free(b->key);
    jwks_unref(b->keys);
    dynbuf_done(&b->token);
    dynbuf_done(&b->input);
    dynbuf_done(&b->signature);
}

static double measure_bare(struct bench *b)
{
    int64_t start = cpu_ns();
    for (int i = 0; i < ITERATIONS; i++) {
        EVP_MD_CTX *ctx = EVP_MD_CTX_new();
        require(EVP_DigestVerifyInit_ex(ctx, NULL, "SHA256", NULL, NULL, b->key, NULL) == 1 &&
                    EVP_DigestVerify(ctx, (const unsigned char *)b->signature.p, b->signature.n,
                                     (const unsigned char *)b->input.p, b->input.n) == 1,
                "verifying");
        EVP_MD_CTX_free(ctx);
    }
    return (double)(cpu_ns() - start) / ITERATIONS / 1000;
}

static double measure_first(struct bench *b)
{
    struct token_cache *cache = token_cache_new(0); /* keeps nothing: every sight is the first */
    int64_t start = cpu_ns();
    for (int i = 0; i < ITERATIONS; i++) {
        const struct verified_token *v = NULL;
        require(token_cache_verify(cache, &b->trust, 1, dynbuf_get(&b->token), b->now_ms, &v) ==
                    TOKEN_OK,
                "token_cache_verify");
        token_cache_release(v);
    }
    double us = (double)(cpu_ns() - start) / ITERATIONS / 1000;
    token_cache_free(cache);
    return us;
}

static double measure_hash(struct bench *b)
{
    struct digest d;
    int64_t start = cpu_ns();
    for (int i = 0; i < REPEATS; i++) {
        digest_of(dynbuf_get(&b->token), &d);
    }
    return (double)(cpu_ns() - start) / REPEATS / 1000;
}

static double measure_again(struct bench *b)
{
    struct token_cache *cache = token_cache_new(TOKEN_CACHE_ENTRIES);
    const struct verified_token *v = NULL;
    require(token_cache_verify(cache, &b->trust, 1, dynbuf_get(&b->token), b->now_ms, &v) ==
                TOKEN_OK,
            "first");
    token_cache_release(v);
    int64_t start = cpu_ns();
    for (int i = 0; i < REPEATS; i++) {
        (void)token_cache_verify(cache, &b->trust, 1, dynbuf_get(&b->token), b->now_ms, &v);
        token_cache_release(v);
    }
    double us = (double)(cpu_ns() - start) / REPEATS / 1000;
    token_cache_free(cache);
    return us;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(const double *values, size_t n)
{
    static double sorted[ROUNDS_MAX];
    memcpy(sorted, values, n * sizeof(*values));
    qsort(sorted, n, sizeof(*sorted), by_size);
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

static int write_json(const char *path, const double *medians, double ratio, double over_hash)
{
    FILE *f = fopen(path, "w");
    if (!f) {
        perror(path);
        return 1;
    }
    fprintf(f,
            "{\"bare_us\":%.3f,\"first_us\":%.3f,\"first_over_bare\":%.3f,\"sha256_us\":%.3f,"
            "\"again_us\":%.3f,"
            "\"again_over_sha256_us\":%.3f}\n",
            medians[BARE], medians[FIRST], ratio, medians[HASH], medians[AGAIN], over_hash);
    return fclose(f) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    static double us[N_MEASURES][ROUNDS_MAX], ratios[ROUNDS_MAX];
    double (*const measures[N_MEASURES])(struct bench *) = {measure_bare, measure_first,
                                                            measure_hash, measure_again};
    size_t rounds = 15;
    const char *json = NULL;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--rounds") == 0) {
            rounds = (size_t)strtoul(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--json") == 0) {
            json = argv[i + 1];
        }
    }
    require(rounds >= 1 && rounds <= ROUNDS_MAX, "--rounds 1..1000:");
    struct bench b;
    open_bench(&b);
    for (size_t r = 0; r < rounds; r++) {
        for (size_t m = 0; m < N_MEASURES; m++) {
            us[m][r] = measures[m](&b);
        }
        ratios[r] = us[FIRST][r] / us[BARE][r];
    }
    double medians[N_MEASURES];
    for (size_t m = 0; m < N_MEASURES; m++) {
        medians[m] = median(us[m], rounds);
    }
    double ratio = median(ratios, rounds), over_hash = medians[AGAIN] - medians[HASH];
    printf("RS256, 2048 bits, a token of %zu bytes; CPU us a token, medians of %zu rounds\n",
           b.token.n, rounds);
    printf("  bare EVP_DigestVerify, kept key   %8.2f\n", medians[BARE]);
    printf("  token seen for the first time     %8.2f   %.2f x bare\n", medians[FIRST], ratio);
    printf("  SHA-256 over the token            %8.2f\n", medians[HASH]);
    printf("  token seen before                 %8.2f   %.2f us over SHA-256\n", medians[AGAIN],
           over_hash);
    close_bench(&b);
    return json ? write_json(json, medians, ratio, over_hash) : 0;
}
