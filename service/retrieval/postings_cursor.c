/* SPDX-License-Identifier: Apache-2.0 */
/* A block is decoded when somebody asks for a chunk in it, a tf when somebody asks for that tf: a
 * search that skips well touches little more than the heads. Packed bytes are copied before they
 * are unpacked, so that reading eight at a time never leaves the list. */
#include "service/retrieval/postings_format.h"
#include "service/retrieval/segment_format.h"

enum { VARINT_MAX_BYTES = 4 }; /* 28 bits: a distance and a flag fit */

/* bits <= 25 */
static uint32_t unpack(const unsigned char *packed, uint32_t i, uint32_t bits)
{
    uint32_t bit = i * bits;
    uint32_t word = segment_get_u32((const char *)packed + bit / 8);
    return word >> bit % 8 & ((UINT32_C(1) << bits) - 1);
}

static bool read_varint(struct slice *rest, uint32_t *ret_value)
{
    return segment_read_varint(rest, VARINT_MAX_BYTES, ret_value);
}

static const char *entry_of(const struct postings_cursor *c, uint32_t block)
{
    return c->bytes.p + POSTINGS_BOUND_BYTES + (size_t)block * POSTINGS_ENTRY_BYTES;
}

static const char *head_of(const struct postings_cursor *c, uint32_t block)
{
    return c->n_blocks == 1 ? c->bytes.p : entry_of(c, block) + 8;
}

static uint32_t last_chunk_of(const struct postings_cursor *c, uint32_t block)
{
    return c->n_blocks == 1 ? c->n_chunks - 1 : segment_get_u32(entry_of(c, block));
}

static bool fail(struct postings_cursor *c)
{
    c->bad = true;
    c->block = c->n_blocks;
    return false;
}

/* tf is kept with 16 bits, as a packed block of that width. */
static bool decode_short(struct postings_cursor *c)
{
    struct slice rest = c->bytes;
    uint32_t next_chunk = 0;
    for (uint32_t i = 0; i < c->df; i++) {
        uint32_t distance = 0, above = 0;
        bool good = read_varint(&rest, &distance);
        bool more = distance & 1;
        good = good && (!more || read_varint(&rest, &above)) &&
               distance / 2 < c->n_chunks - next_chunk && above <= SEGMENT_TF_MAX - 2;
        if (!good) {
            return false;
        }
        c->chunks[i] = next_chunk + distance / 2;
        next_chunk = c->chunks[i] + 1;
        segment_put((char *)c->tfs + (size_t)2 * i, above + more, 2);
    }
    c->n = c->df;
    c->tf_bits = POSTINGS_TF_BITS;
    return rest.n == 0;
}

/* Where the packed part of a block lies; false where that is outside of the list. */
static bool find_packed(const struct postings_cursor *c, uint32_t block, uint32_t n,
                        struct slice *ret_packed)
{
    const unsigned char *head = (const unsigned char *)head_of(c, block);
    size_t at = c->data + (c->n_blocks == 1 ? 0 : segment_get_u32(entry_of(c, block) + 4));
    if (head[0] > POSTINGS_CHUNK_BITS || head[1] > POSTINGS_TF_BITS || at > c->bytes.n) {
        return false;
    }
    size_t size = postings_packed_bytes(n, head[0]) + postings_packed_bytes(n, head[1]);
    *ret_packed = (struct slice){c->bytes.p + at, size};
    return size <= c->bytes.n - at && (block + 1 < c->n_blocks || size == c->bytes.n - at);
}

static uint32_t postings_in(const struct postings_cursor *c, uint32_t block)
{
    return block + 1 < c->n_blocks ? POSTINGS_BLOCK : c->df - block * POSTINGS_BLOCK;
}

/* A sum of 128 distances of 24 bits fits 32. Chunks ascend by themselves; the last is compared. */
static bool decode_chunks(struct postings_cursor *c, struct slice packed, uint32_t bits)
{
    unsigned char copy[POSTINGS_BLOCK * POSTINGS_CHUNK_BITS / 8 + POSTINGS_PADDING];
    uint32_t before = c->block ? last_chunk_of(c, c->block - 1) : 0;
    uint32_t next_chunk = c->block ? before + 1 : 0;
    if (before >= c->n_chunks) {
        return false;
    }
    memcpy(copy, packed.p, packed.n);
    memset(copy + packed.n, 0, POSTINGS_PADDING);
    for (uint32_t i = 0; i < c->n; i++) {
        next_chunk += unpack(copy, i, bits);
        c->chunks[i] = next_chunk++;
    }
    uint32_t last = next_chunk - 1;
    return last < c->n_chunks && (c->n_blocks == 1 || last == last_chunk_of(c, c->block));
}

static bool decode_packed(struct postings_cursor *c)
{
    struct slice packed;
    c->n = postings_in(c, c->block);
    if (!find_packed(c, c->block, c->n, &packed)) {
        return false;
    }
    const unsigned char *head = (const unsigned char *)head_of(c, c->block);
    size_t n_chunk_bytes = postings_packed_bytes(c->n, head[0]);
    struct slice tfs = slice_skip(packed, n_chunk_bytes);
    c->tf_bits = head[1];
    memcpy(c->tfs, tfs.p, tfs.n);
    memset(c->tfs + tfs.n, 0, POSTINGS_PADDING);
    return decode_chunks(c, (struct slice){packed.p, n_chunk_bytes}, head[0]);
}

/* Stands at the block's first posting. */
static bool decode_block(struct postings_cursor *c)
{
    bool good = c->df < POSTINGS_SHORT ? decode_short(c) : decode_packed(c);
    if (!good) {
        return fail(c);
    }
    c->decoded = c->block + 1;
    c->at = 0;
    c->chunk = c->chunks[0];
    return true;
}

/* The heads must be there before anybody may look at them. */
static bool find_data(struct postings_cursor *c)
{
    size_t heads = POSTINGS_HEAD_BYTES;
    if (c->df < POSTINGS_SHORT) {
        heads = 0;
    } else if (c->n_blocks > 1) {
        heads = POSTINGS_BOUND_BYTES + (size_t)c->n_blocks * POSTINGS_ENTRY_BYTES;
    }
    struct slice last;
    c->data = heads;
    return heads <= c->bytes.n &&
           (heads == 0 || find_packed(c, c->n_blocks - 1, postings_in(c, c->n_blocks - 1), &last));
}

void postings_open(struct postings_cursor *c, struct slice bytes, uint32_t df, uint32_t n_chunks)
{
    c->bytes = bytes;
    c->df = df;
    c->n_chunks = n_chunks;
    c->n_blocks = df / POSTINGS_BLOCK + (df % POSTINGS_BLOCK > 0);
    c->block = 0;
    c->decoded = 0;
    c->n = 0;
    c->at = 0;
    c->chunk = 0;
    c->bad = false;
    if (df == 0 || df > n_chunks || n_chunks > SEGMENT_MAX_CHUNKS || !find_data(c)) {
        fail(c);
    }
}

uint32_t postings_tf(const struct postings_cursor *c)
{
    uint32_t tf = unpack(c->tfs, c->at, c->tf_bits) + 1;
    return tf < SEGMENT_TF_MAX ? tf : SEGMENT_TF_MAX;
}

bool postings_next_block(struct postings_cursor *c)
{
    if (c->block == c->n_blocks) {
        return false;
    }
    c->block += c->decoded == c->block + 1;
    return c->block < c->n_blocks && decode_block(c);
}

bool postings_seek_block(struct postings_cursor *c, uint32_t chunk)
{
    while (c->block < c->n_blocks && last_chunk_of(c, c->block) < chunk) {
        c->block++;
    }
    return c->block < c->n_blocks;
}

bool postings_seek(struct postings_cursor *c, uint32_t chunk)
{
    if (!postings_seek_block(c, chunk) || (c->decoded != c->block + 1 && !decode_block(c))) {
        return false;
    }
    while (c->at < c->n && c->chunks[c->at] < chunk) {
        c->at++;
    }
    if (c->at == c->n) { /* only where the list has one block, whose last chunk no entry tells */
        c->block = c->n_blocks;
        return false;
    }
    c->chunk = c->chunks[c->at];
    return true;
}

static struct postings_bound get_bound(const char *at)
{
    struct postings_bound b;
    for (size_t i = 0; i < 2; i++) {
        uint32_t tf = postings_code_value((unsigned char)at[2 * i]);
        b.tf[i] = tf < SEGMENT_TF_MAX ? tf : SEGMENT_TF_MAX;
        b.length[i] = postings_code_value((unsigned char)at[2 * i + 1]);
    }
    return b;
}

/* A short list has none: its postings could score as in the shortest of chunks. */
static struct postings_bound short_bound(const struct postings_cursor *c)
{
    struct postings_bound b = {{1, 0}, {0, 0}};
    struct slice rest = c->bytes;
    uint32_t distance = 0, above = 0;
    while (read_varint(&rest, &distance)) {
        if ((distance & 1) && read_varint(&rest, &above) && above <= SEGMENT_TF_MAX - 2) {
            b.tf[0] = above + 2 > b.tf[0] ? above + 2 : b.tf[0];
        }
    }
    return b;
}

struct postings_bound postings_block_bound(const struct postings_cursor *c)
{
    return c->df < POSTINGS_SHORT ? short_bound(c) : get_bound(head_of(c, c->block) + 2);
}

struct postings_bound postings_list_bound(const struct postings_cursor *c)
{
    if (c->df < POSTINGS_SHORT) {
        return short_bound(c);
    }
    return get_bound(c->n_blocks == 1 ? c->bytes.p + 2 : c->bytes.p);
}
