/* SPDX-License-Identifier: Apache-2.0 */
/* Byte order is spelt out, so that a segment can be copied between machines. */
#include "service/retrieval/segment_format.h"

#include "service/digest/digest.h"

void segment_put(char *at, uint64_t value, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        at[i] = (char)(value >> (8 * i) & 0xFF);
    }
}

uint64_t segment_get(const char *at, size_t n_bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < n_bytes; i++) {
        value |= (uint64_t)(unsigned char)at[i] << (8 * i);
    }
    return value;
}

uint64_t segment_hash(struct slice bytes)
{
    struct digest d;
    digest_of(bytes, &d);
    return segment_get((const char *)d.bytes, 8);
}
