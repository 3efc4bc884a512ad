/* SPDX-License-Identifier: Apache-2.0 */
/* digest: SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104) over length-prefixed parts.
 *
 * Every part is preceded by its length as 8 bytes, least significant first, so that no two lists of
 * parts feed the same bytes.
 * Thread:    one hasher, one thread.     Failure: an OpenSSL that lacks SHA-256 ends the process.
 */
#ifndef DIGEST_DIGEST_H
#define DIGEST_DIGEST_H

#include "service/base/dynbuf.h"

enum { DIGEST_BYTES = 32 };

struct digest {
    unsigned char bytes[DIGEST_BYTES];
};

static inline struct slice digest_slice(const struct digest *d)
{
    return (struct slice){(const char *)d->bytes, DIGEST_BYTES};
}

static inline bool digest_eq(const struct digest *a, const struct digest *b)
{
    return memcmp(a->bytes, b->bytes, DIGEST_BYTES) == 0;
}

/* 64 hexadecimal characters. */
void digest_add_hex(struct dynbuf *out, const struct digest *d);

/* Reads 64 lower-case hexadecimal characters. */
bool digest_from_hex(struct slice hex, struct digest *ret_digest);

struct hasher {
    void *ctx; /* EVP_MD_CTX */
};

void hasher_init(struct hasher *h);
void hasher_part(struct hasher *h, struct slice part); /* length-prefixed */
void hasher_part_u64(struct hasher *h,
                     uint64_t value); /* 8 bytes, least significant first, as a part */
void hasher_bytes(struct hasher *h, struct slice bytes); /* as they stand: for whole files */
void hasher_done(struct hasher *h, struct digest *ret_digest);

/* SHA-256 of the bytes as they stand. */
void digest_of(struct slice bytes, struct digest *ret_digest);

/* HMAC-SHA-256 over length-prefixed parts. */
void digest_hmac(struct slice key, const struct slice *parts, size_t n_parts,
                 struct digest *ret_digest);

/* Equal without telling by timing where they differ. */
bool digest_eq_secret(const struct digest *a, const struct digest *b);

#endif
