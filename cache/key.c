/* SPDX-License-Identifier: Apache-2.0 */
/* The tenant is in the key although the answer does not depend on it: a free hit would otherwise
 * tell one tenant what another asked. */
#include "cache/key.h"

#define KEY_SCHEMA "kbgate-answer/1"

void cache_key_make(const struct cache_key_parts *parts, struct cache_key *ret_key)
{
    struct hasher h;
    hasher_init(&h);
    hasher_part(&h, SLICE_LIT(KEY_SCHEMA));
    hasher_part(&h, parts->tenant);
    hasher_part(&h, slice_of(parts->index_version));
    hasher_part(&h, digest_slice(&parts->filter->value));
    hasher_part(&h, slice_of(parts->tool));
    hasher_part(&h, slice_of(parts->rendering));
    hasher_part(&h, parts->canonical_request);
    hasher_done(&h, &ret_key->value);
}
