/* SPDX-License-Identifier: Apache-2.0 */
/* access_rules: the policy and the keys that are in force, as one immutable whole.
 *
 * A request keeps those it began with; fetched keys that change make new rules of the same policy.
 * Thread: any once they are in force; reference-counted. Loading blocks. */
#ifndef PIPELINE_ACCESS_RULES_H
#define PIPELINE_ACCESS_RULES_H

#include "auth/challenge.h"
#include "auth/token.h"
#include "scope/policy.h"
#include "service/base/arena.h"
#include "service/pipeline/jwks_fetcher.h"

#include <stdatomic.h>

struct access_rules {
    atomic_uint refs;
    struct arena arena;
    struct policy *policy;
    struct jwks **keys;           /* keys[i] belongs to issuer i; NULL: none to be had now */
    struct slice *ca_pem;         /* likewise, of what is fetched; SLICE_NONE: the system's CAs */
    struct jwks_source **sources; /* likewise, where keys are fetched; NULL: they are in a file */
    struct token_trust trust;
    struct challenge_options challenge;
    uint64_t generation;       /* no other access rules of the process have it */
    struct digest fingerprint; /* SHA-256 over the bytes of every file it came from */
};

/* Reads policy_file and the key and CA files it names. resource: the public URL. NULL with a
 * reason. Keys to be fetched are still missing. */
struct access_rules *access_rules_load(const char *policy_file, const char *resource,
                                       struct err_detail *detail);

/* Before s is in force: makes f keep the key sets that s says are fetched, and no others. */
void access_rules_keep(struct access_rules *s, struct jwks_fetcher *f);

/* The same policy with the fetched keys as they are now, under a new generation. */
struct access_rules *access_rules_renew(const struct access_rules *s);

struct access_rules *access_rules_ref(struct access_rules *s);
void access_rules_unref(struct access_rules *s);

/* The fingerprint the files would give now; false when one cannot be read. */
bool access_rules_fingerprint(const char *policy_file, const struct access_rules *current,
                              struct digest *ret);

#endif
