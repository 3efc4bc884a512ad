/* SPDX-License-Identifier: Apache-2.0 */
/* Terms are dealt into their buckets by counting, in the order of their numbers: each bucket keeps
 * the order in which its terms were first seen, so equal content gives equal bytes. */
#include "service/retrieval/segment_write_terms.h"

#include "service/base/mem.h"
#include "service/retrieval/segment_format.h"
#include "service/retrieval/text.h"

#include <limits.h>
#include <stdlib.h>

_Static_assert(TEXT_TERM_MAX_BYTES <= UCHAR_MAX, "a record has one byte for the length");
_Static_assert(SEGMENT_INLINE_MAX << SEGMENT_DF_BITS <= UCHAR_MAX,
               "the size shares a byte with df");

struct deal {
    uint32_t n_buckets;
    uint32_t *bucket_of; /* each term */
    uint32_t *ends;      /* of each bucket, in `order` */
    uint32_t *order;     /* the terms, by bucket */
};

uint32_t segment_buckets_for(size_t n_terms)
{
    return (uint32_t)(n_terms / SEGMENT_BUCKET_TERMS) + 1;
}

/* Counts the terms of each bucket one place further, so that the sums say where buckets begin; each
 * term that is dealt moves its bucket's place on, at last to where the bucket ends. */
static void deal_terms(struct deal *d, const struct term_index *terms, uint64_t seed)
{
    d->n_buckets = segment_buckets_for(terms->n);
    d->bucket_of = mem_array(terms->n, sizeof(*d->bucket_of));
    d->ends = mem_array((size_t)d->n_buckets + 1, sizeof(*d->ends));
    d->order = mem_array(terms->n, sizeof(*d->order));
    for (size_t i = 0; i < terms->n; i++) {
        uint64_t hash = segment_hash(terms->entries[i].term);
        d->bucket_of[i] = segment_bucket_of(hash, seed, d->n_buckets);
        d->ends[d->bucket_of[i] + 1]++;
    }
    for (size_t b = 1; b < d->n_buckets; b++) {
        d->ends[b] += d->ends[b - 1];
    }
    for (size_t i = 0; i < terms->n; i++) {
        d->order[d->ends[d->bucket_of[i]]++] = (uint32_t)i;
    }
}

static void deal_done(struct deal *d)
{
    free(d->bucket_of);
    free(d->ends);
    free(d->order);
}

static void add_number(struct dynbuf *b, uint64_t value, size_t n_bytes)
{
    char *at = dynbuf_extend(b, n_bytes);
    if (at) {
        segment_put(at, value, n_bytes);
    }
}

static void add_record(struct term_sections *out, const struct term_entry *e, struct slice postings)
{
    const bool frequent = e->df >> SEGMENT_DF_BITS, far = postings.n > SEGMENT_INLINE_MAX;
    dynbuf_add_byte(&out->records, (char)e->term.n);
    dynbuf_add(&out->records, e->term);
    add_number(&out->records, (far ? 0 : postings.n << SEGMENT_DF_BITS) | (frequent ? 0 : e->df),
               1);
    if (frequent) {
        segment_add_varint(&out->records, e->df);
    }
    if (far) {
        segment_add_varint(&out->records, (uint32_t)postings.n);
        add_number(&out->records, out->postings.n, SEGMENT_PLACE_BYTES);
    }
    dynbuf_add(far ? &out->postings : &out->records, postings);
}

struct encoder {
    const struct term_index *terms;
    const uint32_t *lengths;
    struct posting *list;
    struct dynbuf bytes;
};

static void encode_term(struct encoder *k, uint32_t term, struct term_sections *out)
{
    const struct term_entry *e = &k->terms->entries[term];
    term_index_postings(k->terms, term, k->list);
    dynbuf_cut(&k->bytes, 0);
    postings_encode(&k->bytes, k->list, e->df, k->lengths);
    add_record(out, e, dynbuf_get(&k->bytes));
}

void segment_write_terms(const struct term_index *terms, uint64_t seed, const uint32_t *lengths,
                         uint32_t n_chunks, struct term_sections *out)
{
    struct deal d;
    struct encoder k = {.terms = terms, .lengths = lengths};
    uint32_t at = 0;
    deal_terms(&d, terms, seed);
    k.list = mem_array(n_chunks, sizeof(*k.list));
    dynbuf_init(&k.bytes, UINT32_MAX);
    for (uint32_t b = 0; b < d.n_buckets; b++) {
        add_number(&out->directory, out->records.n, SEGMENT_DIRECTORY_BYTES);
        for (; at < d.ends[b]; at++) {
            encode_term(&k, d.order[at], out);
        }
    }
    add_number(&out->directory, out->records.n, SEGMENT_DIRECTORY_BYTES);
    out->postings.failed = out->postings.failed || k.bytes.failed;
    dynbuf_done(&k.bytes);
    free(k.list);
    deal_done(&d);
}
