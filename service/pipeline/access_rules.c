/* SPDX-License-Identifier: Apache-2.0 */
/* Everything is read before anything is replaced, so a bad file changes nothing. */
#include "service/pipeline/access_rules.h"

#include "service/base/mem.h"
#include "service/base/small_file.h"
#include "service/yaml/yaml.h"

#include <stdlib.h>

enum { PATH_MAX_BYTES = 4096, CA_MAX_BYTES = 1024 * 1024 };
#define PEM_CERTIFICATE "-----BEGIN CERTIFICATE-----"

static atomic_ullong next_generation;

struct access_rules *access_rules_ref(struct access_rules *s)
{
    atomic_fetch_add(&s->refs, 1);
    return s;
}

void access_rules_unref(struct access_rules *s)
{
    if (!s || atomic_fetch_sub(&s->refs, 1) != 1) {
        return;
    }
    for (size_t i = 0; i < s->trust.n; i++) {
        jwks_unref(s->keys[i]);
        jwks_source_unref(s->sources[i]);
    }
    policy_unref(s->policy);
    arena_done(&s->arena);
    free(s);
}

/* The bytes of a file the policy names, in out (initialised; its ceiling is the file's). */
static bool read_beside(const char *policy_file, const char *what, struct slice name,
                        struct dynbuf *out, struct err_detail *detail)
{
    struct dynbuf path;
    dynbuf_init(&path, PATH_MAX_BYTES);
    path_beside(policy_file, name, &path);
    const char *file = dynbuf_text(&path);
    bool good = file && small_file_read(file, what, out, detail);
    if (!file) {
        err_detail_set(detail, "%s: a %s has a path of over %d bytes", policy_file, what,
                       PATH_MAX_BYTES);
    }
    dynbuf_done(&path);
    return good;
}

/* What issuer's keys depend on beside the policy: its key file, or its CA file if it has one. */
static bool read_file_of(const char *policy_file, const struct issuer *issuer, struct dynbuf *out,
                         struct err_detail *detail)
{
    if (issuer->jwks_file.p) {
        dynbuf_init(out, JWKS_MAX_BYTES);
        return read_beside(policy_file, "jwks_file", issuer->jwks_file, out, detail);
    }
    dynbuf_init(out, CA_MAX_BYTES);
    return !issuer->ca_file.p || read_beside(policy_file, "ca_file", issuer->ca_file, out, detail);
}

static bool take_keys(struct access_rules *s, size_t i, const char *policy_file, struct slice bytes,
                      struct err_detail *detail)
{
    const struct issuer *issuer = &s->trust.issuers[i];
    struct err_detail reason = {""};
    s->keys[i] = jwks_parse(bytes, issuer->algs, &reason);
    if (!s->keys[i]) {
        err_detail_set(detail, "%s: issuer %.*s: jwks_file %.*s: %s", policy_file,
                       (int)issuer->name.n, issuer->name.p, (int)issuer->jwks_file.n,
                       issuer->jwks_file.p, reason.text);
    }
    return s->keys[i] != NULL;
}

static bool take_ca(struct access_rules *s, size_t i, const char *policy_file, struct slice bytes,
                    struct err_detail *detail)
{
    const struct issuer *issuer = &s->trust.issuers[i];
    if (!issuer->ca_file.p) {
        return true;
    }
    if (!memmem(bytes.p, bytes.n, PEM_CERTIFICATE, sizeof(PEM_CERTIFICATE) - 1)) {
        err_detail_set(detail,
                       "%s: issuer %.*s: ca_file %.*s: holds no certificate; write PEM, "
                       "beginning with " PEM_CERTIFICATE,
                       policy_file, (int)issuer->name.n, issuer->name.p, (int)issuer->ca_file.n,
                       issuer->ca_file.p);
        return false;
    }
    s->ca_pem[i] = arena_copy(&s->arena, bytes);
    return true;
}

static bool load_issuer(struct access_rules *s, size_t i, const char *policy_file,
                        struct hasher *fingerprint, struct err_detail *detail)
{
    struct dynbuf bytes;
    const struct issuer *issuer = &s->trust.issuers[i];
    bool good = read_file_of(policy_file, issuer, &bytes, detail);
    hasher_part(fingerprint, dynbuf_get(&bytes));
    if (good) {
        good = issuer->jwks_file.p ? take_keys(s, i, policy_file, dynbuf_get(&bytes), detail)
                                   : take_ca(s, i, policy_file, dynbuf_get(&bytes), detail);
    }
    dynbuf_done(&bytes);
    return good;
}

static void set_challenge(struct access_rules *s, struct slice resource)
{
    size_t n = s->trust.n;
    struct slice *servers = arena_alloc(&s->arena, n * sizeof(*servers));
    for (size_t i = 0; i < n; i++) {
        servers[i] = s->trust.issuers[i].iss;
    }
    s->challenge.resource = arena_copy(&s->arena, resource);
    s->challenge.scopes = policy_challenge_scopes(s->policy, &s->challenge.n_scopes);
    s->challenge.authorization_servers = servers;
    s->challenge.n_authorization_servers = n;
}

/* Takes the policy. */
static void set_policy(struct access_rules *s, struct policy *policy)
{
    s->policy = policy;
    s->trust.issuers = policy_issuers(policy, &s->trust.n);
    s->keys = arena_alloc(&s->arena, s->trust.n * sizeof(struct jwks *));
    s->ca_pem = arena_alloc(&s->arena, s->trust.n * sizeof(*s->ca_pem));
    s->sources = arena_alloc(&s->arena, s->trust.n * sizeof(struct jwks_source *));
    s->trust.keys = s->keys;
}

static bool load(struct access_rules *s, const char *policy_file, const char *resource,
                 struct dynbuf *yaml, struct err_detail *detail)
{
    if (!small_file_read(policy_file, "policy_file", yaml, detail)) {
        return false;
    }
    struct policy *policy = policy_parse(dynbuf_get(yaml), policy_file, detail);
    if (!policy) {
        return false;
    }
    set_policy(s, policy);
    struct hasher fingerprint;
    hasher_init(&fingerprint);
    hasher_part(&fingerprint, dynbuf_get(yaml));
    bool good = true;
    for (size_t i = 0; good && i < s->trust.n; i++) {
        good = load_issuer(s, i, policy_file, &fingerprint, detail);
    }
    hasher_done(&fingerprint, &s->fingerprint);
    set_challenge(s, slice_of(resource));
    return good;
}

static struct access_rules *rules_new(void)
{
    struct access_rules *s = mem_alloc(sizeof(*s));
    s->refs = 1;
    s->generation = atomic_fetch_add(&next_generation, 1);
    return s;
}

struct access_rules *access_rules_load(const char *policy_file, const char *resource,
                                       struct err_detail *detail)
{
    struct access_rules *s = rules_new();
    struct dynbuf yaml;
    dynbuf_init(&yaml, YAML_MAX_BYTES);
    bool good = load(s, policy_file, resource, &yaml, detail);
    dynbuf_done(&yaml);
    if (!good) {
        access_rules_unref(s);
        return NULL;
    }
    return s;
}

static struct jwks_wanted wanted_of(const struct access_rules *s, size_t i)
{
    const struct issuer *issuer = &s->trust.issuers[i];
    return (struct jwks_wanted){.name = issuer->name,
                                .uri = issuer->jwks_uri,
                                .ca_pem = s->ca_pem[i],
                                .algs = issuer->algs,
                                .max_stale_ms = issuer->max_stale_s * 1000};
}

void access_rules_keep(struct access_rules *s, struct jwks_fetcher *f)
{
    struct jwks_wanted *wanted = mem_array(s->trust.n, sizeof(*wanted));
    struct jwks_source **sources = mem_array(s->trust.n, sizeof(struct jwks_source *));
    size_t n = 0;
    for (size_t i = 0; i < s->trust.n; i++) {
        if (s->trust.issuers[i].jwks_uri.p) {
            wanted[n++] = wanted_of(s, i);
        }
    }
    jwks_fetcher_keep(f, wanted, n, sources);
    n = 0;
    for (size_t i = 0; i < s->trust.n; i++) {
        if (s->trust.issuers[i].jwks_uri.p) {
            s->sources[i] = sources[n++];
        }
    }
    free(wanted);
    free(sources);
}

struct access_rules *access_rules_renew(const struct access_rules *old)
{
    struct access_rules *s = rules_new();
    set_policy(s, policy_ref(old->policy));
    for (size_t i = 0; i < s->trust.n; i++) {
        if (old->sources[i]) {
            s->sources[i] = jwks_source_ref(old->sources[i]);
            s->keys[i] = jwks_source_keys(s->sources[i]);
        } else {
            s->keys[i] = jwks_ref(old->keys[i]);
        }
    }
    s->fingerprint = old->fingerprint;
    set_challenge(s, old->challenge.resource);
    return s;
}

bool access_rules_fingerprint(const char *policy_file, const struct access_rules *current,
                              struct digest *ret)
{
    struct dynbuf bytes;
    dynbuf_init(&bytes, YAML_MAX_BYTES);
    bool good = small_file_read(policy_file, "policy_file", &bytes, NULL);
    struct hasher fingerprint;
    hasher_init(&fingerprint);
    hasher_part(&fingerprint, dynbuf_get(&bytes));
    dynbuf_done(&bytes);
    for (size_t i = 0; good && i < current->trust.n; i++) {
        good = read_file_of(policy_file, &current->trust.issuers[i], &bytes, NULL);
        hasher_part(&fingerprint, dynbuf_get(&bytes));
        dynbuf_done(&bytes);
    }
    hasher_done(&fingerprint, ret);
    return good;
}
