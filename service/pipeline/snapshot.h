/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot: the policy and the keys that are in force, as one immutable whole.
 *
 * A request keeps the snapshot it began with. Thread: any; reference-counted. Loading blocks. */
#ifndef PIPELINE_SNAPSHOT_H
#define PIPELINE_SNAPSHOT_H

#include "auth/challenge.h"
#include "auth/token.h"
#include "scope/policy.h"
#include "service/base/arena.h"

#include <stdatomic.h>

struct snapshot {
    atomic_uint refs;
    struct arena arena;
    struct policy *policy;
    struct jwks **keys; /* keys[i] belongs to issuer i */
    struct token_trust trust;
    struct challenge_options challenge;
    struct digest fingerprint; /* SHA-256 over the bytes of every file it came from */
};

/* Reads policy_file and the key files it names. resource: the public URL. NULL with a reason. */
struct snapshot *snapshot_load(const char *policy_file, const char *resource,
                               struct err_detail *detail);
struct snapshot *snapshot_ref(struct snapshot *s);
void snapshot_unref(struct snapshot *s);

/* The fingerprint the files would give now; false when one cannot be read. */
bool snapshot_fingerprint(const char *policy_file, const struct snapshot *current,
                          struct digest *ret);

#endif
