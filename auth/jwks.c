/* SPDX-License-Identifier: Apache-2.0 */
/* A set is read once and never written again, so any thread may verify with it without a lock; only
 * the reference count moves. At most 64 keys: a linear search beats a table. */
#include "auth/jwks.h"

#include "auth/jwk.h"
#include "auth/strict_json.h"
#include "service/base/mem.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { MAX_MEMBERS = 64 * JWKS_MAX_KEYS };

struct jwks {
    atomic_uint refs;
    size_t n, dropped;
    struct jwk keys[JWKS_MAX_KEYS];
};

static bool is_kid_of(const struct jwk *key, struct slice kid)
{
    return key->kid && slice_is(kid, key->kid);
}

/* Both go: which of the two the issuer means is anybody's guess. */
static void drop_equal_kids(struct jwks *set)
{
    bool twice[JWKS_MAX_KEYS] = {false};
    for (size_t i = 0; i < set->n; i++) {
        for (size_t j = i + 1; j < set->n; j++) {
            if (is_kid_of(&set->keys[i], slice_of(set->keys[j].kid))) {
                twice[i] = twice[j] = true;
            }
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < set->n; i++) {
        if (twice[i]) {
            jwk_done(&set->keys[i]);
            set->dropped++;
        } else {
            set->keys[kept++] = set->keys[i];
        }
    }
    set->n = kept;
}

static void read_keys(struct jwks *set, const json_t *members, uint32_t allowed)
{
    for (size_t i = 0; i < json_array_size(members); i++) {
        if (jwk_read(json_array_get(members, i), allowed, &set->keys[set->n])) {
            set->n++;
        } else {
            set->dropped++;
        }
    }
    drop_equal_kids(set);
}

static struct jwks *set_from(const json_t *members, uint32_t allowed, struct err_detail *detail)
{
    if (!json_is_array(members)) {
        err_detail_set(detail, "the key set has no array \"keys\"");
        return NULL;
    }
    if (json_array_size(members) > JWKS_MAX_KEYS) {
        err_detail_set(detail, "the key set has %zu keys; at most %d are read",
                       json_array_size(members), JWKS_MAX_KEYS);
        return NULL;
    }
    struct jwks *set = mem_alloc(sizeof(*set));
    atomic_init(&set->refs, 1);
    read_keys(set, members, allowed);
    if (set->n == 0) {
        err_detail_set(detail, "none of the %zu keys of the set can be used", set->dropped);
        jwks_unref(set);
        return NULL;
    }
    return set;
}

struct jwks *jwks_parse(struct slice json, uint32_t allowed, struct err_detail *detail)
{
    if (json.n > JWKS_MAX_BYTES) {
        err_detail_set(detail, "the key set has %zu bytes; at most %d are read", json.n,
                       JWKS_MAX_BYTES);
        return NULL;
    }
    json_t *root = strict_json_object(json, MAX_MEMBERS);
    if (!root) {
        err_detail_set(detail, "the key set is not a JSON object, or names a member twice");
        return NULL;
    }
    struct jwks *set = set_from(json_object_get(root, "keys"), allowed, detail);
    json_decref(root);
    return set;
}

struct jwks *jwks_ref(struct jwks *set)
{
    atomic_fetch_add_explicit(&set->refs, 1, memory_order_relaxed);
    return set;
}

void jwks_unref(struct jwks *set)
{
    if (!set || atomic_fetch_sub_explicit(&set->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }
    for (size_t i = 0; i < set->n; i++) {
        jwk_done(&set->keys[i]);
    }
    free(set);
}

size_t jwks_count(const struct jwks *set)
{
    return set->n;
}

size_t jwks_dropped(const struct jwks *set)
{
    return set->dropped;
}

/* Without a kid only the sole key of the algorithm will do: trying all would multiply the cost of
 * a forged token. */
static const struct jwk *find_sole(const struct jwks *set, enum jws_alg alg)
{
    const struct jwk *found = NULL;
    for (size_t i = 0; i < set->n; i++) {
        if (set->keys[i].alg == alg) {
            if (found) {
                return NULL;
            }
            found = &set->keys[i];
        }
    }
    return found;
}

const struct jwk *jwks_find(const struct jwks *set, struct slice kid, enum jws_alg alg)
{
    if (!kid.p) {
        return find_sole(set, alg);
    }
    for (size_t i = 0; i < set->n; i++) {
        if (set->keys[i].alg == alg && is_kid_of(&set->keys[i], kid)) {
            return &set->keys[i];
        }
    }
    return NULL;
}
