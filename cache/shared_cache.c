/* SPDX-License-Identifier: Apache-2.0 */
/* What Redis holds is found by a hash alone: of the tenant, so that what belongs together lies
 * together, and of the call. No name, no query. */
#include "cache/shared_cache.h"

#include "cache/scripts.h"
#include "cache/shared_private.h"
#include "service/base/encode.h"
#include "service/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

static struct slice copy_to(char *at, struct slice bytes)
{
    if (bytes.n) {
        memcpy(at, bytes.p, bytes.n);
    }
    return (struct slice){at, bytes.n};
}

static void draw(void *ret_bytes, size_t n)
{
    if (getrandom(ret_bytes, n, 0) != (ssize_t)n) {
        abort(); /* it cannot fail for so few bytes */
    }
}

struct shared_cache *shared_cache_new(const struct shared_cache_options *options)
{
    if (options->hmac_key.n < SHARED_HMAC_KEY_MIN_BYTES ||
        options->key_prefix.n > SHARED_PREFIX_MAX_BYTES || options->ttl_ms < 1 ||
        options->lock_ms < 1) {
        abort(); /* the configuration is checked long before */
    }
    struct shared_cache *c = mem_alloc(sizeof(*c) + options->hmac_key.n + options->key_prefix.n);
    redis_script_init(&c->find, slice_of(shared_find_lua));
    redis_script_init(&c->release, slice_of(shared_release_lua));
    c->hmac_key = copy_to(c->bytes, options->hmac_key);
    c->prefix = copy_to(c->bytes + c->hmac_key.n, options->key_prefix);
    c->lock_ms = options->lock_ms;
    c->on_mode = options->on_mode;
    c->who = options->who;
    draw(&c->token_seed, sizeof(c->token_seed));
    snprintf(c->ttl_text, sizeof(c->ttl_text), "%lld", (long long)options->ttl_ms);
    snprintf(c->lock_text, sizeof(c->lock_text), "%lld", (long long)options->lock_ms);
    snprintf(c->max_text, sizeof(c->max_text), "%d", SHARED_VALUE_MAX_BYTES);
    return c;
}

void shared_cache_free(struct shared_cache *c)
{
    if (c) {
        explicit_bzero(c->bytes, c->hmac_key.n);
        free(c);
    }
}

void shared_spot_init(const struct shared_cache *c, const struct shared_place *place,
                      struct shared_spot *ret_spot)
{
    struct digest tenant;
    struct dynbuf b;
    digest_of(place->tenant, &tenant);
    dynbuf_init(&b, SHARED_NAME_MAX_BYTES);
    dynbuf_add(&b, c->prefix);
    dynbuf_add_text(&b, "a:{");
    encode_hex(&b, (struct slice){(const char *)tenant.bytes, SHARED_TENANT_BYTES});
    dynbuf_add_text(&b, "}:");
    digest_add_hex(&b, &place->key->value);
    ret_spot->redis = place->redis;
    ret_spot->n = b.n;
    copy_to(ret_spot->value, dynbuf_get(&b));
    copy_to(ret_spot->lock, dynbuf_get(&b));
    ret_spot->lock[c->prefix.n] = 'l';
    dynbuf_done(&b);
}

void shared_release(const struct shared_cache *c, const struct shared_spot *spot, const char *token)
{
    const struct slice key = shared_spot_lock(spot), arg = {token, SHARED_TOKEN_CHARS};
    redis_loop_eval_send(spot->redis, &c->release, &key, 1, &arg, 1);
}

void shared_cache_give_up(struct shared_cache *c, const struct shared_place *place,
                          struct shared_claim *claim)
{
    if (claim->held) {
        struct shared_spot spot;
        shared_spot_init(c, place, &spot);
        shared_release(c, &spot, claim->token);
    }
    *claim = (struct shared_claim){0};
}

void shared_cache_stats(struct shared_cache *c, struct shared_cache_stats *ret_stats)
{
    struct shared_counters *n = &c->counters;
    *ret_stats = (struct shared_cache_stats){
        .hits = n->hits,
        .misses = n->misses,
        .unavailable = n->unavailable,
        .rejected = n->rejected,
        .waited = n->waited,
        .too_large = n->too_large,
    };
}
