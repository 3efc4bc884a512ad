/* SPDX-License-Identifier: Apache-2.0 */
/* Everything is read before anything is replaced, so a bad file changes nothing. */
#include "service/pipeline/access_rules.h"

#include "service/base/mem.h"
#include "service/base/small_file.h"
#include "service/yaml/yaml.h"

#include <stdlib.h>

enum { PATH_MAX_BYTES = 4096 };

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
    }
    policy_unref(s->policy);
    arena_done(&s->arena);
    free(s);
}

/* The bytes of one issuer's key file, in out. */
static bool read_keys(const char *policy_file, const struct issuer *issuer, struct dynbuf *out,
                      struct err_detail *detail)
{
    struct dynbuf path;
    dynbuf_init(&path, PATH_MAX_BYTES);
    dynbuf_init(out, JWKS_MAX_BYTES);
    path_beside(policy_file, issuer->jwks_file, &path);
    const char *file = dynbuf_text(&path);
    bool good = file && small_file_read(file, "jwks_file", out, detail);
    if (!file) {
        err_detail_set(detail, "%s: a jwks_file has a path of over %d bytes", policy_file,
                       PATH_MAX_BYTES);
    }
    dynbuf_done(&path);
    return good;
}

static bool load_keys(struct access_rules *s, size_t i, const char *policy_file,
                      struct hasher *fingerprint, struct err_detail *detail)
{
    const struct issuer *issuer = &s->trust.issuers[i];
    if (!issuer->jwks_file.n) {
        err_detail_set(
            detail,
            "%s: issuer %.*s: jwks_uri is not supported yet; download the key set and name it "
            "with jwks_file",
            policy_file, (int)issuer->name.n, issuer->name.p);
        return false;
    }
    struct dynbuf bytes;
    bool good = read_keys(policy_file, issuer, &bytes, detail);
    if (good) {
        struct err_detail reason = {""};
        hasher_part(fingerprint, dynbuf_get(&bytes));
        s->keys[i] = jwks_parse(dynbuf_get(&bytes), issuer->algs, &reason);
        good = s->keys[i] != NULL;
        if (!good) {
            err_detail_set(detail, "%s: issuer %.*s: jwks_file %.*s: %s", policy_file,
                           (int)issuer->name.n, issuer->name.p, (int)issuer->jwks_file.n,
                           issuer->jwks_file.p, reason.text);
        }
    }
    dynbuf_done(&bytes);
    return good;
}

static void set_challenge(struct access_rules *s, const char *resource)
{
    size_t n = s->trust.n;
    struct slice *servers = arena_alloc(&s->arena, n * sizeof(*servers));
    for (size_t i = 0; i < n; i++) {
        servers[i] = s->trust.issuers[i].iss;
    }
    s->challenge.resource = arena_copy(&s->arena, slice_of(resource));
    s->challenge.scopes = policy_challenge_scopes(s->policy, &s->challenge.n_scopes);
    s->challenge.authorization_servers = servers;
    s->challenge.n_authorization_servers = n;
}

static bool load(struct access_rules *s, const char *policy_file, const char *resource,
                 struct dynbuf *yaml, struct err_detail *detail)
{
    if (!small_file_read(policy_file, "policy_file", yaml, detail)) {
        return false;
    }
    s->policy = policy_parse(dynbuf_get(yaml), policy_file, detail);
    if (!s->policy) {
        return false;
    }
    s->trust.issuers = policy_issuers(s->policy, &s->trust.n);
    s->keys = arena_alloc(&s->arena, s->trust.n * sizeof(*s->keys));
    s->trust.keys = s->keys;
    struct hasher fingerprint;
    hasher_init(&fingerprint);
    hasher_part(&fingerprint, dynbuf_get(yaml));
    bool good = true;
    for (size_t i = 0; good && i < s->trust.n; i++) {
        good = load_keys(s, i, policy_file, &fingerprint, detail);
    }
    hasher_done(&fingerprint, &s->fingerprint);
    set_challenge(s, resource);
    return good;
}

struct access_rules *access_rules_load(const char *policy_file, const char *resource,
                                       struct err_detail *detail)
{
    struct access_rules *s = mem_alloc(sizeof(*s));
    struct dynbuf yaml;
    s->refs = 1;
    s->generation = atomic_fetch_add(&next_generation, 1);
    dynbuf_init(&yaml, YAML_MAX_BYTES);
    bool good = load(s, policy_file, resource, &yaml, detail);
    dynbuf_done(&yaml);
    if (!good) {
        access_rules_unref(s);
        return NULL;
    }
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
        good = read_keys(policy_file, &current->trust.issuers[i], &bytes, NULL);
        hasher_part(&fingerprint, dynbuf_get(&bytes));
        dynbuf_done(&bytes);
    }
    hasher_done(&fingerprint, ret);
    return good;
}
