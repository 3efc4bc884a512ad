/* SPDX-License-Identifier: Apache-2.0 */
#include "service/retrieval/term_index.h"

#include "service/retrieval/segment_format.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct term_index index_of;

static void setup(void)
{
    term_index_init(&index_of);
}

static void teardown(void)
{
    term_index_done(&index_of);
}

TestSuite(term_index, .init = setup, .fini = teardown);

static void count(const char *term, uint32_t weight)
{
    term_index_count(&index_of, term_index_id(&index_of, slice_of(term)), weight);
}

static const struct term_entry *find(const char *term)
{
    return &index_of.entries[term_index_id(&index_of, slice_of(term))];
}

Test(term_index, counts_by_chunk)
{
    struct postings_reader c;
    count("lynx", 1);
    count("lynx", 2);
    count("opal", 1);
    cr_assert_eq(term_index_end_chunk(&index_of, 0), 4);
    cr_assert_eq(term_index_end_chunk(&index_of, 1), 0);
    count("lynx", 1);
    cr_assert_eq(term_index_end_chunk(&index_of, 2), 1);

    const struct term_entry *e = find("lynx");
    cr_assert_eq(e->postings.df, 2);
    postings_reader_open(&c, dynbuf_get(&e->postings.bytes), 2, 3);
    cr_assert(postings_reader_next(&c) && c.chunk == 0 && c.tf == 3);
    cr_assert(postings_reader_next(&c) && c.chunk == 2 && c.tf == 1);
    cr_assert_eq(find("opal")->postings.df, 1);
}

Test(term_index, many_terms_stay_apart)
{
    char term[16];
    for (unsigned i = 0; i < 5000; i++) {
        snprintf(term, sizeof(term), "t%u", i);
        cr_assert_eq(term_index_id(&index_of, slice_of(term)), i);
    }
    for (unsigned i = 0; i < 5000; i++) {
        snprintf(term, sizeof(term), "t%u", i);
        cr_assert_eq(term_index_id(&index_of, slice_of(term)), i);
    }
}

Test(term_index, frequency_and_length_are_capped)
{
    static const struct {
        uint32_t times, tf, length;
    } cases[] = {
        {SEGMENT_TF_MAX - 1, SEGMENT_TF_MAX - 1, SEGMENT_TF_MAX - 1},
        {SEGMENT_TF_MAX, SEGMENT_TF_MAX, SEGMENT_TF_MAX},
        {SEGMENT_TF_MAX + 1, SEGMENT_TF_MAX, SEGMENT_TF_MAX + 1},
        {SEGMENT_LENGTH_MAX, SEGMENT_TF_MAX, SEGMENT_LENGTH_MAX},
        {SEGMENT_LENGTH_MAX + 1, SEGMENT_TF_MAX, SEGMENT_LENGTH_MAX},
    };
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint32_t id = term_index_id(&index_of, SLICE_LIT("lynx"));
        for (uint32_t n = 0; n < cases[i].times; n++) {
            term_index_count(&index_of, id, 1);
        }
        cr_assert_eq(index_of.entries[id].tf, cases[i].tf, "case %u", i);
        cr_assert_eq(term_index_end_chunk(&index_of, i), cases[i].length, "case %u", i);
    }
}

Test(term_index, sorts_by_signed_hash)
{
    char term[16];
    for (unsigned i = 0; i < 300; i++) {
        snprintf(term, sizeof(term), "t%u", i);
        count(term, 1);
    }
    term_index_end_chunk(&index_of, 0);
    term_index_hash(&index_of);
    cr_assert(term_index_sort(&index_of, NULL));
    for (size_t i = 0; i < index_of.n; i++) {
        const struct term_entry *e = &index_of.entries[i];
        cr_assert_eq(e->hash, segment_hash(e->term));
        cr_assert(i == 0 || (int64_t)e[-1].hash < (int64_t)e->hash);
    }
}

/* No two words with one hash are known, so one of them is forged. */
Test(term_index, refuses_two_terms_with_one_hash)
{
    struct err_detail why = {{0}};
    count("lynx", 1);
    count("opal", 1);
    count("onyx", 1);
    term_index_end_chunk(&index_of, 0);
    term_index_hash(&index_of);
    index_of.entries[2].hash = index_of.entries[0].hash;
    cr_assert(!term_index_sort(&index_of, &why));
    cr_assert(strstr(why.text, "lynx") && strstr(why.text, "onyx"), "%s", why.text);
    cr_assert(!strstr(why.text, "opal"), "%s", why.text);
}
