/* SPDX-License-Identifier: Apache-2.0 */
#include "service/base/log.h"
#include "service/base/mem.h"
#include "service/pipeline/jwks_metrics.h"
#include "tests/unit/auth/mint.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CLAIMS                                                                                     \
    "    audiences: [u]\n"                                                                         \
    "    algs: [ES256]\n"                                                                          \
    "    claims:\n"                                                                                \
    "      scopes: {path: s, kind: array}\n"                                                       \
    "      tenant: {path: t, kind: string}\n"                                                      \
    "    tenants: {t: beta}\n"

/* Nothing listens on port 1 of this machine. */
static const char POLICY[] = "policy_version: 1\n"
                             "issuers:\n"
                             "  filed:\n"
                             "    iss: a\n"
                             "    jwks_file: keys.json\n" CLAIMS "  'of \"note\" \\':\n"
                             "    iss: b\n"
                             "    jwks_uri: https://127.0.0.1:1/\n"
                             "    ca_file: ca.pem\n" CLAIMS "grants: []\n";
static const char PEM[] = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

static char folder[] = "/tmp/kbgate-test-XXXXXX", policy[64];

static void put(const char *name, const char *text)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    cr_assert_not_null(f);
    (void)fputs(text, f);
    (void)fclose(f);
}

static void drop(const char *name)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    (void)unlink(path);
}

static void write_all(void)
{
    struct dynbuf set;
    EVP_PKEY *key = mint_pkey(JWS_ES256);
    log_set_level(LOG_ERROR);
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(policy, sizeof(policy), "%s/policy.yaml", folder);
    dynbuf_init(&set, 4096);
    dynbuf_add_text(&set, "{\"keys\":[");
    mint_jwk(&set, key, "\"kid\":\"k\",");
    dynbuf_add_text(&set, ",{\"kty\":\"oct\",\"k\":\"AA\"}]}");
    put("keys.json", dynbuf_text(&set));
    put("ca.pem", PEM);
    put("policy.yaml", POLICY);
    dynbuf_done(&set);
    EVP_PKEY_free(key);
}

static void remove_all(void)
{
    drop("keys.json");
    drop("ca.pem");
    drop("policy.yaml");
    rmdir(folder);
}

TestSuite(access_rules, .init = write_all, .fini = remove_all, .timeout = 30);

static struct access_rules *load(void)
{
    struct err_detail detail = {""};
    struct access_rules *s = access_rules_load(policy, "https://kb.test/mcp", &detail);
    cr_assert(s, "%s", detail.text);
    return s;
}

static void expect_refused(const char *reason)
{
    struct err_detail detail = {""};
    cr_expect_null(access_rules_load(policy, "https://kb.test/mcp", &detail));
    cr_expect_not_null(strstr(detail.text, reason), "%s", detail.text);
}

Test(access_rules, reads_key_files_and_ca_files)
{
    struct access_rules *s = load();
    cr_assert_eq(s->trust.n, 2);
    cr_expect_not_null(s->keys[0]);
    cr_expect_null(s->keys[1], "to be fetched");
    cr_expect_null(s->ca_pem[0].p);
    cr_expect(slice_is(s->ca_pem[1], PEM));
    access_rules_unref(s);
}

Test(access_rules, refuses_ca_files_without_a_certificate)
{
    put("ca.pem", "");
    expect_refused("ca.pem: holds no certificate");
    put("ca.pem", "-----BEGIN PRIVATE KEY-----\n");
    expect_refused("ca.pem: holds no certificate");
    drop("ca.pem");
    expect_refused("ca.pem");
}

Test(access_rules, refuses_key_files_without_a_usable_key)
{
    put("keys.json", "{\"keys\":[]}");
    expect_refused("jwks_file keys.json");
    drop("keys.json");
    expect_refused("keys.json");
}

static bool looks_changed(const struct access_rules *s)
{
    struct digest now;
    return !access_rules_fingerprint(policy, s, &now) || !digest_eq(&now, &s->fingerprint);
}

Test(access_rules, every_file_counts_in_the_fingerprint)
{
    struct access_rules *s = load();
    cr_expect_not(looks_changed(s));
    put("ca.pem", "-----BEGIN CERTIFICATE-----\nBBBB\n");
    cr_expect(looks_changed(s));
    put("ca.pem", PEM);
    cr_expect_not(looks_changed(s));
    put("keys.json", "{}");
    cr_expect(looks_changed(s));
    access_rules_unref(s);
}

static void on_changed(void *owner)
{
    (void)owner;
}

Test(access_rules, renewed_rules_are_the_same_policy_of_another_generation)
{
    struct jwks_fetcher *f =
        jwks_fetcher_new(&(struct jwks_fetcher_options){.on_changed = on_changed});
    struct access_rules *s = load();
    access_rules_keep(s, f);
    struct access_rules *next = access_rules_renew(s);
    cr_expect_eq(next->policy, s->policy);
    cr_expect_eq(next->trust.issuers, s->trust.issuers);
    cr_expect_eq(next->keys[0], s->keys[0]);
    cr_expect_null(next->sources[0]);
    cr_expect_not_null(next->sources[1]);
    cr_expect_eq(next->sources[1], s->sources[1]);
    cr_expect_neq(next->generation, s->generation);
    cr_expect(digest_eq(&next->fingerprint, &s->fingerprint));
    access_rules_unref(s);
    cr_expect(slice_is(next->challenge.resource, "https://kb.test/mcp"));
    cr_expect_eq(next->challenge.n_authorization_servers, 2);
    jwks_fetcher_free(f);
    access_rules_unref(next);
}

Test(access_rules, metrics_name_issuers_whatever_they_are_called)
{
    struct dynbuf out;
    dynbuf_init(&out, 65536);
    struct jwks_fetcher *f =
        jwks_fetcher_new(&(struct jwks_fetcher_options){.on_changed = on_changed});
    struct access_rules *s = load();
    access_rules_keep(s, f);
    jwks_source_await(s->sources[1], 10000);
    jwks_metrics_write(s, &out);
    const char *text = dynbuf_text(&out);
    cr_assert_not_null(text);
    cr_expect_not_null(strstr(text, "kbgate_jwks_keys{issuer=\"filed\"} 1\n"));
    cr_expect_not_null(strstr(text, "kbgate_jwks_dropped_keys{issuer=\"filed\"} 1\n"));
    cr_expect_not_null(strstr(text, "kbgate_jwks_keys{issuer=\"of \\\"note\\\" \\\\\"} 0\n"));
    cr_expect_null(strstr(text, "kbgate_jwks_fetches_total{issuer=\"filed\""), "not fetched");
    cr_expect_null(strstr(text, "kbgate_jwks_age_seconds{"), "never fetched");
    cr_expect_not_null(strstr(text,
                              "kbgate_jwks_fetch_failures_total{issuer=\"of \\\"note\\\" \\\\\","
                              "reason=\"connect\"} "));
    cr_expect_null(strstr(text, "reason=\"connect\"} 0\n"));
    jwks_fetcher_free(f);
    access_rules_unref(s);
    dynbuf_done(&out);
}
