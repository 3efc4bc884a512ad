/* SPDX-License-Identifier: Apache-2.0 */
#include "service/retrieval/segment_write_terms.h"

#include "service/retrieval/segment_format.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum { CHUNKS = 400 };

static struct term_index terms;
static struct term_sections out;
static uint32_t lengths[CHUNKS];

static void make_sections(size_t max_record_bytes)
{
    dynbuf_init(&out.directory, 1 << 20);
    dynbuf_init(&out.records, max_record_bytes);
    dynbuf_init(&out.postings, 1 << 20);
}

static void sections_done(void)
{
    dynbuf_done(&out.directory);
    dynbuf_done(&out.records);
    dynbuf_done(&out.postings);
}

static void setup(void)
{
    term_index_init(&terms);
    make_sections(1 << 20);
    for (size_t i = 0; i < CHUNKS; i++) {
        lengths[i] = 1;
    }
}

static void teardown(void)
{
    term_index_done(&terms);
    sections_done();
}

TestSuite(segment_write_terms, .init = setup, .fini = teardown);

static void count(const char *term, uint32_t weight)
{
    term_index_count(&terms, term_index_id(&terms, slice_of(term)), weight);
}

static void write_all(uint64_t seed)
{
    segment_write_terms(&terms, seed, lengths, CHUNKS, &out);
}

Test(segment_write_terms, no_terms_are_one_empty_bucket)
{
    write_all(1);
    cr_assert_eq(out.records.n, 0);
    cr_assert_eq(out.postings.n, 0);
    cr_assert_eq(out.directory.n, 2 * SEGMENT_DIRECTORY_BYTES);
    cr_assert_eq(segment_get_u32(out.directory.p), 0);
    cr_assert_eq(segment_get_u32(out.directory.p + SEGMENT_DIRECTORY_BYTES), 0);
}

/* A bucket keeps the order in which its terms were first seen. */
Test(segment_write_terms, a_rare_term_is_a_few_bytes)
{
    count("opal", 1);
    count("a", 5);
    term_index_end_chunk(&terms, 0);
    count("opal", 1);
    term_index_end_chunk(&terms, 3);
    write_all(1);
    cr_assert_eq(out.records.n, 13);
    cr_assert_eq(memcmp(out.records.p, "\4opal\x12\0\4\1a\x11\1\3", 13), 0);
    cr_assert_eq(segment_get_u32(out.directory.p + SEGMENT_DIRECTORY_BYTES), 13);
    cr_assert_eq(out.postings.n, 0);
}

/* df 7 and 8, each in chunks next to each other: df shares a byte with the size or follows. */
Test(segment_write_terms, a_df_too_large_for_the_shared_byte_follows)
{
    for (uint32_t i = 0; i < 8; i++) {
        if (i < 7) {
            count("seven", 1);
        }
        count("eight", 1);
        term_index_end_chunk(&terms, i);
    }
    write_all(1);
    cr_assert_eq(out.records.n, 14 + 14);
    cr_assert_eq(memcmp(out.records.p, "\5seven\x3F\0\0\0\0\0\0\0\5eight\x30\x8", 14 + 8), 0);
}

/* A list of n postings with counts of 8 bits takes 6 + n bytes. */
Test(segment_write_terms, long_postings_lie_outside)
{
    enum { AT_MOST = SEGMENT_INLINE_MAX - 6, ABOVE = AT_MOST + 1 };
    for (uint32_t i = 0; i < ABOVE; i++) {
        if (i < AT_MOST) {
            count("near", 256);
        }
        count("far", 256);
        count("opal", 256);
        term_index_end_chunk(&terms, i);
    }
    write_all(1);
    const size_t far = 1 + 4 + 2 + SEGMENT_INLINE_MAX;
    cr_assert_eq(memcmp(out.records.p, "\4near\xF8\x19", far - SEGMENT_INLINE_MAX), 0);
    cr_assert_eq(memcmp(out.records.p + far, "\3far\0\x1A\x20\0\0\0\0\0", 12), 0);
    cr_assert_eq(memcmp(out.records.p + far + 12, "\4opal\0\x1A\x20\x20\0\0\0\0", 13), 0);
    cr_assert_eq(out.records.n, far + 12 + 13);
    cr_assert_eq(out.postings.n, 2 * (SEGMENT_INLINE_MAX + 1));
}

Test(segment_write_terms, what_lies_where_depends_on_the_seed_alone)
{
    struct dynbuf first;
    char term[16];
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(term, sizeof(term), "t%u", i);
        count(term, 1);
    }
    term_index_end_chunk(&terms, 0);
    write_all(1);
    dynbuf_init(&first, 1 << 20);
    dynbuf_add(&first, dynbuf_get(&out.records));
    sections_done();
    write_all(1);
    cr_assert(slice_eq(dynbuf_get(&first), dynbuf_get(&out.records)));
    sections_done();
    write_all(2);
    cr_assert_eq(first.n, out.records.n);
    cr_assert(!slice_eq(dynbuf_get(&first), dynbuf_get(&out.records)));
    dynbuf_done(&first);
}

/* Each term in the bucket that its hash and the seed choose. */
Test(segment_write_terms, the_directory_leads_to_every_term)
{
    enum { TERMS = 1000 };
    char term[16];
    for (unsigned i = 0; i < TERMS; i++) {
        snprintf(term, sizeof(term), "t%u", i);
        count(term, 1);
    }
    term_index_end_chunk(&terms, 0);
    write_all(99);
    const uint32_t n_buckets = segment_buckets_for(TERMS);
    cr_assert_eq(n_buckets, TERMS / SEGMENT_BUCKET_TERMS + 1);
    cr_assert_eq(out.directory.n, (n_buckets + 1) * SEGMENT_DIRECTORY_BYTES);
    uint32_t found = 0;
    for (uint32_t b = 0; b < n_buckets; b++) {
        const char *entry = out.directory.p + b * SEGMENT_DIRECTORY_BYTES;
        uint32_t at = segment_get_u32(entry),
                 end = segment_get_u32(entry + SEGMENT_DIRECTORY_BYTES);
        for (; at < end; found++) {
            struct slice text = {out.records.p + at + 1, (unsigned char)out.records.p[at]};
            cr_assert_eq(segment_bucket_of(segment_hash(text), 99, n_buckets), b);
            at += 1 + (uint32_t)text.n + 2; /* one posting of one byte */
        }
        cr_assert_eq(at, end);
    }
    cr_assert_eq(found, TERMS);
}

Test(segment_write_terms, records_past_their_ceiling_are_a_failure)
{
    static const struct {
        size_t max;
        bool failed;
    } cases[] = {{14, false}, {13, false}, {12, true}, {0, true}};
    count("opal", 1);
    count("a", 5);
    term_index_end_chunk(&terms, 0);
    count("opal", 1);
    term_index_end_chunk(&terms, 3);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        sections_done();
        make_sections(cases[i].max);
        write_all(1);
        cr_assert_eq(out.records.failed, cases[i].failed, "at most %zu", cases[i].max);
    }
}
