/* SPDX-License-Identifier: Apache-2.0 */
/* shared_value: an answer as bytes that lie where others can write.
 *
 *   0  4  "kbgv"
 *   4  1  the format's version
 *   5  1  flags: 1 the `empty` outcome
 *   6 32  the whole cache key
 *  38  4  bytes of the note, least significant first
 *  42  4  bytes of the body, likewise
 *  46     note, body
 *     32  HMAC-SHA-256 (RFC 2104) over head, note and body, each length-prefixed
 *
 * Bytes of another version are as good as none. Pure. */
#ifndef CACHE_SHARED_VALUE_H
#define CACHE_SHARED_VALUE_H

#include "cache/cache.h"

enum {
    SHARED_VALUE_MAX_BYTES = 256 * 1024, /* all of it */
    SHARED_VALUE_HEAD_BYTES = 46,
    SHARED_VALUE_SPARE_BYTES = SHARED_VALUE_HEAD_BYTES + DIGEST_BYTES, /* beside note and body */
    SHARED_HMAC_KEY_MIN_BYTES = 32,
};

/* Adds the bytes of v, whose key it carries. False where they are more than SHARED_VALUE_MAX_BYTES:
 * out as it was. */
bool shared_value_encode(struct slice hmac_key, const struct cache_value *v, struct dynbuf *out);

/* The answer under `key`, to release; NULL unless these very bytes were encoded with this hmac_key
 * for this key. */
const struct cache_value *shared_value_decode(struct slice hmac_key, const struct cache_key *key,
                                              struct slice bytes);

#endif
