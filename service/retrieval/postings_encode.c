/* SPDX-License-Identifier: Apache-2.0 */
/* Most terms of a corpus stand in one chunk, so a short list is nothing but its numbers. In a long
 * one the heads of the blocks lie together in front: skipping reads them alone. */
#include "service/retrieval/postings_format.h"
#include "service/retrieval/segment_format.h"

static void encode_short(struct dynbuf *out, const struct posting *p, uint32_t n)
{
    uint32_t next_chunk = 0;
    for (uint32_t i = 0; i < n; i++) {
        segment_add_varint(out, 2 * (p[i].chunk - next_chunk) + (p[i].tf > 1));
        if (p[i].tf > 1) {
            segment_add_varint(out, p[i].tf - 2);
        }
        next_chunk = p[i].chunk + 1;
    }
}

static uint32_t code_down(uint32_t value)
{
    uint32_t code = POSTINGS_CODE_MAX;
    if (value < 32) {
        return value; /* the codes below 32 are the numbers themselves */
    }
    uint32_t shift = 27 - (uint32_t)__builtin_clz(value); /* leaves 5 bits */
    uint32_t found = ((shift + 1) << 4) + ((value >> shift) & 15);
    return found < code ? found : code;
}

static uint32_t code_up(uint32_t value)
{
    uint32_t code = code_down(value);
    return code + (postings_code_value(code) < value);
}

/* The largest tf with the shortest chunk that has it, and the next tf with the shortest chunk of
 * the rest. */
static struct postings_bound bound_of(const struct posting *p, uint32_t n, const uint32_t *lengths)
{
    struct postings_bound b = {{0, 0}, {SEGMENT_LENGTH_MAX, SEGMENT_LENGTH_MAX}};
    for (uint32_t i = 0; i < n; i++) {
        b.tf[0] = p[i].tf > b.tf[0] ? p[i].tf : b.tf[0];
    }
    for (uint32_t i = 0; i < n; i++) {
        unsigned pair = p[i].tf < b.tf[0];
        uint32_t length = lengths[p[i].chunk];
        b.tf[1] = pair && p[i].tf > b.tf[1] ? p[i].tf : b.tf[1];
        b.length[pair] = length < b.length[pair] ? length : b.length[pair];
    }
    return b;
}

static void put_bound(char *at, const struct postings_bound *b)
{
    for (size_t i = 0; i < 2; i++) {
        segment_put(at + 2 * i, code_up(b->tf[i]), 1);
        segment_put(at + 2 * i + 1, code_down(b->length[i]), 1);
    }
}

struct packer {
    struct dynbuf *out;
    uint64_t held;
    unsigned n_held;
};

static void pack(struct packer *k, uint32_t value, unsigned bits)
{
    k->held |= (uint64_t)value << k->n_held;
    k->n_held += bits;
    while (k->n_held >= 8) {
        dynbuf_add_byte(k->out, (char)(k->held & 0xFF));
        k->held >>= 8;
        k->n_held -= 8;
    }
}

static void pack_end(struct packer *k)
{
    if (k->n_held) {
        dynbuf_add_byte(k->out, (char)(k->held & 0xFF));
    }
    k->held = 0;
    k->n_held = 0;
}

static unsigned bits_of(uint32_t value)
{
    return value ? 32 - (unsigned)__builtin_clz(value) : 0;
}

static void put_head(char *at, const struct posting *p, uint32_t n, uint32_t first_chunk,
                     const uint32_t *lengths)
{
    uint32_t distances = 0, tfs = 0; /* all bits that occur */
    for (uint32_t i = 0; i < n; i++) {
        distances |= p[i].chunk - (i ? p[i - 1].chunk + 1 : first_chunk);
        tfs |= p[i].tf - 1;
    }
    struct postings_bound bound = bound_of(p, n, lengths);
    segment_put(at, bits_of(distances), 1);
    segment_put(at + 1, bits_of(tfs), 1);
    put_bound(at + 2, &bound);
}

static void add_packed(struct dynbuf *out, const struct posting *p, uint32_t n,
                       uint32_t first_chunk, const char *head)
{
    struct packer k = {.out = out};
    for (uint32_t i = 0; i < n; i++) {
        pack(&k, p[i].chunk - (i ? p[i - 1].chunk + 1 : first_chunk), (unsigned char)head[0]);
    }
    pack_end(&k);
    for (uint32_t i = 0; i < n; i++) {
        pack(&k, p[i].tf - 1, (unsigned char)head[1]);
    }
    pack_end(&k);
}

static void encode_one_block(struct dynbuf *out, const struct posting *p, uint32_t n,
                             const uint32_t *lengths)
{
    char head[POSTINGS_HEAD_BYTES];
    put_head(head, p, n, 0, lengths);
    dynbuf_add(out, (struct slice){head, sizeof(head)});
    add_packed(out, p, n, 0, head);
}

/* The entries' room is taken first and filled block by block; `out` may move meanwhile. */
static void encode_blocks(struct dynbuf *out, const struct posting *p, uint32_t n,
                          const uint32_t *lengths)
{
    const uint32_t n_blocks = (n + POSTINGS_BLOCK - 1) / POSTINGS_BLOCK;
    const size_t start = out->n;
    struct postings_bound bound = bound_of(p, n, lengths);
    char *list = dynbuf_extend(out, POSTINGS_BOUND_BYTES + (size_t)n_blocks * POSTINGS_ENTRY_BYTES);
    if (!list) {
        return;
    }
    put_bound(list, &bound);
    const size_t data = out->n;
    for (uint32_t i = 0; i < n_blocks && !out->failed; i++) {
        const struct posting *first = p + (size_t)i * POSTINGS_BLOCK;
        uint32_t in_block = i + 1 < n_blocks ? POSTINGS_BLOCK : n - i * POSTINGS_BLOCK;
        uint32_t first_chunk = i ? first[-1].chunk + 1 : 0;
        char entry[POSTINGS_ENTRY_BYTES];
        segment_put(entry, first[in_block - 1].chunk, 4);
        segment_put(entry + 4, out->n - data, 4);
        put_head(entry + 8, first, in_block, first_chunk, lengths);
        memcpy(out->p + start + POSTINGS_BOUND_BYTES + (size_t)i * sizeof(entry), entry,
               sizeof(entry));
        add_packed(out, first, in_block, first_chunk, entry + 8);
    }
}

void postings_encode(struct dynbuf *out, const struct posting *p, uint32_t n,
                     const uint32_t *lengths)
{
    if (n < POSTINGS_SHORT) {
        encode_short(out, p, n);
    } else if (n <= POSTINGS_BLOCK) {
        encode_one_block(out, p, n, lengths);
    } else {
        encode_blocks(out, p, n, lengths);
    }
}
