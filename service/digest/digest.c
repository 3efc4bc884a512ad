/* SPDX-License-Identifier: Apache-2.0 */
/* The algorithm is fetched once: OpenSSL 3.0 looks it up anew in every one-shot call. */
#include "service/digest/digest.h"

#include "service/base/encode.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdlib.h>

enum { HMAC_BLOCK = 64 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static EVP_MD *sha256;

static void fetch(void)
{
    sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
}

static void require(int good)
{
    if (good != 1) {
        abort();
    }
}

void digest_add_hex(struct dynbuf *out, const struct digest *d)
{
    encode_hex(out, digest_slice(d));
}

bool digest_from_hex(struct slice hex, struct digest *ret_digest)
{
    struct digest d = {{0}};
    if (hex.n != sizeof(d.bytes) * 2) {
        return false;
    }
    for (size_t i = 0; i < hex.n; i++) {
        const char *digits = "0123456789abcdef";
        const char *at = hex.p[i] ? strchr(digits, hex.p[i]) : NULL;
        if (!at) {
            return false;
        }
        d.bytes[i / 2] = (unsigned char)(d.bytes[i / 2] << 4 | (at - digits));
    }
    *ret_digest = d;
    return true;
}

void hasher_init(struct hasher *h)
{
    pthread_once(&once, fetch);
    h->ctx = EVP_MD_CTX_new();
    require(h->ctx && sha256 ? EVP_DigestInit_ex2(h->ctx, sha256, NULL) : 0);
}

void hasher_bytes(struct hasher *h, struct slice bytes)
{
    require(EVP_DigestUpdate(h->ctx, bytes.p, bytes.n));
}

static void add_length(struct hasher *h, uint64_t n)
{
    char length[8];
    for (size_t i = 0; i < sizeof(length); i++) {
        length[i] = (char)(n >> (8 * i) & 0xFF);
    }
    hasher_bytes(h, (struct slice){length, sizeof(length)});
}

void hasher_part(struct hasher *h, struct slice part)
{
    add_length(h, part.n);
    hasher_bytes(h, part);
}

void hasher_part_u64(struct hasher *h, uint64_t value)
{
    add_length(h, 8);
    add_length(h, value);
}

void hasher_done(struct hasher *h, struct digest *ret_digest)
{
    require(EVP_DigestFinal_ex(h->ctx, ret_digest->bytes, NULL));
    EVP_MD_CTX_free(h->ctx);
    h->ctx = NULL;
}

void digest_of(struct slice bytes, struct digest *ret_digest)
{
    struct hasher h;
    hasher_init(&h);
    hasher_bytes(&h, bytes);
    hasher_done(&h, ret_digest);
}

/* RFC 2104 over our hasher: EVP_MAC would need a fetch and a context of its own. */
void digest_hmac(struct slice key, const struct slice *parts, size_t n_parts,
                 struct digest *ret_digest)
{
    struct digest short_key;
    if (key.n > HMAC_BLOCK) {
        digest_of(key, &short_key);
        key = digest_slice(&short_key);
    }
    char inner[HMAC_BLOCK], outer[HMAC_BLOCK];
    for (size_t i = 0; i < HMAC_BLOCK; i++) {
        unsigned k = i < key.n ? (unsigned char)key.p[i] : 0;
        inner[i] = (char)(k ^ 0x36);
        outer[i] = (char)(k ^ 0x5C);
    }
    struct hasher h;
    struct digest first;
    hasher_init(&h);
    hasher_bytes(&h, (struct slice){inner, HMAC_BLOCK});
    for (size_t i = 0; i < n_parts; i++) {
        hasher_part(&h, parts[i]);
    }
    hasher_done(&h, &first);
    hasher_init(&h);
    hasher_bytes(&h, (struct slice){outer, HMAC_BLOCK});
    hasher_bytes(&h, digest_slice(&first));
    hasher_done(&h, ret_digest);
    OPENSSL_cleanse(inner, sizeof(inner));
    OPENSSL_cleanse(outer, sizeof(outer));
}

bool digest_eq_secret(const struct digest *a, const struct digest *b)
{
    return CRYPTO_memcmp(a->bytes, b->bytes, DIGEST_BYTES) == 0;
}
