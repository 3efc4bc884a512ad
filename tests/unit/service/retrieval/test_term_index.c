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

/* "chunk:tf …" */
static const char *postings_of(const char *term)
{
    static char text[256];
    struct posting list[16];
    uint32_t id = term_index_id(&index_of, slice_of(term));
    size_t n = 0;
    text[0] = 0;
    term_index_postings(&index_of, id, list);
    for (uint32_t i = 0; i < index_of.entries[id].df; i++) {
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%u:%u ", list[i].chunk, list[i].tf);
    }
    return text;
}

Test(term_index, counts_by_chunk)
{
    count("lynx", 1);
    count("lynx", 2);
    count("opal", 1);
    cr_assert_eq(term_index_end_chunk(&index_of, 0), 4);
    cr_assert_eq(term_index_end_chunk(&index_of, 1), 0);
    count("lynx", 1);
    cr_assert_eq(term_index_end_chunk(&index_of, 2), 1);

    cr_assert_str_eq(postings_of("lynx"), "0:3 2:1 ");
    cr_assert_str_eq(postings_of("opal"), "0:1 ");
}

/* Whatever was counted is read back: few and many chunks, near and far, small and large counts. */
Test(term_index, postings_are_read_back)
{
    enum { TERMS = 50, CHUNKS = 20000 };
    static uint32_t tf[TERMS][CHUNKS];
    static struct posting list[CHUNKS];
    uint64_t state = 20260301;
    char term[16];
    for (uint32_t chunk = 0; chunk < CHUNKS; chunk++) {
        for (unsigned t = 0; t < TERMS; t++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            bool held = (state >> 33) % (1 + t * t) == 0;
            tf[t][chunk] = held ? 1 + (uint32_t)(state >> 60 ? state >> 63 : state >> 48) : 0;
            snprintf(term, sizeof(term), "t%u", t);
            if (held) {
                count(term, tf[t][chunk]);
            }
        }
        term_index_end_chunk(&index_of, chunk * 3);
    }
    for (unsigned t = 0; t < TERMS; t++) {
        snprintf(term, sizeof(term), "t%u", t);
        uint32_t id = term_index_id(&index_of, slice_of(term)), n = 0;
        term_index_postings(&index_of, id, list);
        for (uint32_t chunk = 0; chunk < CHUNKS; chunk++) {
            if (tf[t][chunk]) {
                uint32_t expected = tf[t][chunk] > SEGMENT_TF_MAX ? SEGMENT_TF_MAX : tf[t][chunk];
                cr_assert_lt(n, index_of.entries[id].df);
                cr_assert_eq(list[n].chunk, chunk * 3);
                cr_assert_eq(list[n++].tf, expected);
            }
        }
        cr_assert_eq(n, index_of.entries[id].df);
        cr_assert_gt(n, 0);
    }
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
