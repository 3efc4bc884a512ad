/* SPDX-License-Identifier: Apache-2.0 */
/* token_cache: tokens that were verified lately, so that a signature is checked once a minute.
 *
 * Found by SHA-256 over the whole token, never a part of it, and good for one generation of keys
 * and policy only. It holds claims, never a filter: what they open is decided anew for each
 * request. Thread:    any.      Blocking: never beyond one short mutex; verifying happens outside
 * it. Ceiling:   max_entries; the least recently used go first. Life:      an entry lasts until its
 * token expires or TOKEN_CACHE_LIFE_MS, whichever is sooner. */
#ifndef CACHE_TOKEN_CACHE_H
#define CACHE_TOKEN_CACHE_H

#include "auth/token.h"

enum { TOKEN_CACHE_LIFE_MS = 60 * 1000, TOKEN_CACHE_ENTRIES = 4096 };

struct token_cache; /* opaque */

/* Immutable and reference-counted. Its claims name an issuer of the trust it was verified with: use
 * it only while that trust is held. */
struct verified_token {
    struct claims claims;
};

struct token_cache *token_cache_new(size_t max_entries);
void token_cache_free(struct token_cache *c);

/* The claims of a token that `trust` accepts, from the cache or by token_verify. generation: a
 * number that no other state of trust and policy ever had. TOKEN_OK: *ret_verified is to release.
 */
enum token_result token_cache_verify(struct token_cache *c, const struct token_trust *trust,
                                     uint64_t generation, struct slice token, int64_t now_unix_ms,
                                     const struct verified_token **ret_verified);
void token_cache_release(const struct verified_token *v);

struct token_cache_stats {
    uint64_t hits, misses, entries;
};
void token_cache_stats(struct token_cache *c, struct token_cache_stats *ret_stats);

#endif
