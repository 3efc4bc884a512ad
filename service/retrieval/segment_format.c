/* SPDX-License-Identifier: Apache-2.0 */
/* The layout is computed in one place for writer and reader, from counts that a damaged file may
 * have made up: every sum is kept below what a file can have. */
#include "service/retrieval/segment_format.h"

#define SECTION_MAX_BYTES ((uint64_t)1 << 8 * SEGMENT_PLACE_BYTES)

uint64_t segment_hash(struct slice bytes)
{
    struct digest d;
    digest_of(bytes, &d);
    return segment_get_u64((const char *)d.bytes);
}

uint64_t segment_seed(const struct digest *content)
{
    return segment_get_u64((const char *)content->bytes);
}

static uint64_t aligned(uint64_t n)
{
    return (n + 7) & ~(uint64_t)7;
}

bool segment_layout_of(const struct segment_header *h, struct segment_layout *ret_layout)
{
    struct segment_layout l;
    if (h->id_bytes >= SECTION_MAX_BYTES || h->posting_bytes >= SECTION_MAX_BYTES) {
        return false;
    }
    l.lengths = SEGMENT_HEADER_BYTES;
    l.chunks = l.lengths + aligned((uint64_t)h->n_chunks * SEGMENT_LENGTH_BYTES);
    l.docs = l.chunks + (uint64_t)h->n_chunks * SEGMENT_CHUNK_BYTES;
    l.ids = l.docs + ((uint64_t)h->n_docs + 1) * SEGMENT_DOC_BYTES;
    l.directory = l.ids + aligned(h->id_bytes);
    l.records = l.directory + aligned(((uint64_t)h->n_buckets + 1) * SEGMENT_DIRECTORY_BYTES);
    l.postings = l.records + aligned(h->record_bytes);
    l.size = l.postings + h->posting_bytes;
    *ret_layout = l;
    return true;
}

void segment_put(char *at, uint64_t value, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        at[i] = (char)(value >> (8 * i) & 0xFF);
    }
}

void segment_add_varint(struct dynbuf *out, uint32_t value)
{
    char bytes[SEGMENT_VARINT_MAX_BYTES];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7) {
        bytes[n++] = (char)((value & 0x7F) | 0x80);
    }
    bytes[n++] = (char)value;
    dynbuf_add(out, (struct slice){bytes, n});
}

bool segment_read_varint(struct slice *rest, size_t max_bytes, uint32_t *ret_value)
{
    uint64_t value = 0;
    for (size_t i = 0; i < max_bytes && i < rest->n; i++) {
        unsigned char byte = (unsigned char)rest->p[i];
        value |= (uint64_t)(byte & 0x7F) << (7 * i);
        if (!(byte & 0x80)) {
            *rest = slice_skip(*rest, i + 1);
            *ret_value = (uint32_t)value;
            return value <= UINT32_MAX;
        }
    }
    return false;
}
