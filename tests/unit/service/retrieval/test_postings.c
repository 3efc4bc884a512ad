/* SPDX-License-Identifier: Apache-2.0 */
#include "service/retrieval/postings.h"

#include "corpus.h"
#include "service/retrieval/bm25.h"
#include "service/retrieval/segment_format.h"

enum { MAX = 3000, CHUNKS = 200000 };

static struct posting list[MAX];
static uint32_t lengths[CHUNKS];

static void make_list(struct random *r, uint32_t n, uint32_t n_chunks)
{
    uint32_t left = n;
    uint32_t tf_max = random_below(r, 3) ? 1 + random_below(r, 6) : SEGMENT_TF_MAX;
    for (uint32_t chunk = 0; left; chunk++) {
        lengths[chunk] = random_below(r, random_below(r, 9) ? 300 : SEGMENT_LENGTH_MAX + 1);
        if (random_below(r, n_chunks - chunk) < left) {
            list[n - left--] = (struct posting){chunk, 1 + random_below(r, tf_max)};
        }
    }
}

static struct slice encode(struct dynbuf *b, uint32_t n)
{
    dynbuf_init(b, 1 << 24);
    postings_encode(b, list, n, lengths);
    cr_assert(!b->failed);
    /* exactly as large, so that a sanitizer sees a step too far */
    char *exact = malloc(b->n ? b->n : 1);
    cr_assert(exact);
    memcpy(exact, b->p, b->n);
    return (struct slice){exact, b->n};
}

static void release(struct dynbuf *b, struct slice bytes)
{
    free((void *)(uintptr_t)bytes.p);
    dynbuf_done(b);
}

/* Lists around the borders of the forms, then of any size. */
static uint32_t some_size(struct random *r, int round)
{
    static const uint32_t sizes[] = {1, 2, 3, 7, 8, 9, 127, 128, 129, 255, 256, 257, 384};
    enum { N = sizeof(sizes) / sizeof(*sizes) };
    return round < 3 * N ? sizes[round % N] : 1 + random_below(r, MAX);
}

static int n_rounds(int in_short)
{
    return getenv("KB_LONG") ? 100 * in_short : in_short;
}

Test(postings, what_is_written_is_read)
{
    for (int round = 0; round < n_rounds(150); round++) {
        struct random r = {(uint64_t)round + 1};
        uint32_t n = some_size(&r, round);
        uint32_t n_chunks = n + random_below(&r, CHUNKS - n);
        struct dynbuf b;
        struct postings_cursor c;
        make_list(&r, n, n_chunks);
        struct slice bytes = encode(&b, n);
        postings_open(&c, bytes, n, n_chunks);
        for (uint32_t i = 0; i < n; i++) {
            cr_assert(postings_next(&c), "seed %d, %u of %u", round + 1, i, n);
            cr_assert_eq(c.chunk, list[i].chunk);
            cr_assert_eq(postings_tf(&c), list[i].tf, "seed %d", round + 1);
        }
        cr_assert(!postings_next(&c));
        cr_assert(!postings_next(&c), "and stays at the end");
        cr_assert(!c.bad, "seed %d", round + 1);
        release(&b, bytes);
    }
}

Test(postings, the_largest_numbers_fit)
{
    static uint32_t none[SEGMENT_MAX_CHUNKS];
    for (uint32_t n = 2; n < 300; n += 37) {
        struct dynbuf b;
        struct postings_cursor c;
        for (uint32_t i = 0; i < n; i++) {
            list[i] = (struct posting){i, SEGMENT_TF_MAX - i % 2};
        }
        list[n - 1].chunk = SEGMENT_MAX_CHUNKS - 1;
        dynbuf_init(&b, 1 << 20);
        postings_encode(&b, list, n, none);
        postings_open(&c, dynbuf_get(&b), n, SEGMENT_MAX_CHUNKS);
        for (uint32_t i = 0; i < n; i++) {
            cr_assert(postings_next(&c));
            cr_assert_eq(c.chunk, list[i].chunk);
            cr_assert_eq(postings_tf(&c), list[i].tf);
        }
        cr_assert(!postings_next(&c) && !c.bad);
        dynbuf_done(&b);
    }
}

/* Bytes by hand. */
Test(postings, a_rare_term_costs_a_few_bytes)
{
    static const struct {
        struct posting p[2];
        uint32_t n;
        const char *bytes;
        size_t n_bytes;
    } cases[] = {
        {{{0, 1}}, 1, "\x00", 1},
        {{{63, 1}}, 1, "\x7E", 1},
        {{{63, 2}}, 1, "\x7F\x00", 2},
        {{{64, 5}}, 1, "\x81\x01\x03", 3},
        {{{8191, 1}, {8192, 1}}, 2, "\xFE\x7F\x00", 3},
        {{{SEGMENT_MAX_CHUNKS - 1, SEGMENT_TF_MAX}}, 1, "\xFF\xFF\xFF\x0F\xFD\xFF\x03", 7},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct dynbuf b;
        dynbuf_init(&b, 100);
        postings_encode(&b, cases[i].p, cases[i].n, lengths);
        cr_assert(slice_eq(dynbuf_get(&b), (struct slice){cases[i].bytes, cases[i].n_bytes}), "%zu",
                  i);
        dynbuf_done(&b);
    }
}

/* Dense, with small frequencies: a distance of 3 bits at most, a tf of 2. */
Test(postings, a_frequent_term_costs_less_than_a_byte)
{
    struct dynbuf b;
    for (uint32_t i = 0; i < MAX; i++) {
        list[i] = (struct posting){i * 4 + i % 3, 1 + i % 4};
    }
    struct slice bytes = encode(&b, MAX);
    cr_assert_leq(bytes.n, (size_t)MAX * 6 / 8, "%zu bytes", bytes.n);
    release(&b, bytes);
}

Test(postings, going_past_the_ceiling_is_noticed)
{
    struct random r = {9};
    struct dynbuf whole, b;
    make_list(&r, 300, CHUNKS);
    struct slice bytes = encode(&whole, 300);
    for (size_t max = 0; max <= bytes.n; max++) {
        dynbuf_init(&b, max);
        postings_encode(&b, list, 300, lengths);
        cr_assert_eq(b.failed, max < bytes.n);
        dynbuf_done(&b);
    }
    release(&whole, bytes);
}

static uint32_t first_at_or_behind(uint32_t n, uint32_t chunk)
{
    uint32_t i = 0;
    while (i < n && list[i].chunk < chunk) {
        i++;
    }
    return i;
}

/* Any mixture of next, seek and block seek goes where a walk over the list goes. */
static void check_moves(struct random *r, struct slice bytes, uint32_t n, uint32_t n_chunks)
{
    struct postings_cursor c;
    uint32_t at = UINT32_MAX, chunk = 0; /* at + 1 is the next one */
    postings_open(&c, bytes, n, n_chunks);
    while (at == UINT32_MAX || at < n) {
        bool there = false;
        if (random_below(r, 3) == 0 || chunk == n_chunks - 1) {
            at++;
            there = postings_next(&c);
        } else {
            uint32_t step = random_below(r, 4) ? 50 : n_chunks / 3 + 1;
            chunk += random_below(r, step);
            chunk = chunk < n_chunks ? chunk : n_chunks - 1;
            uint32_t found = first_at_or_behind(n, chunk);
            at = at != UINT32_MAX && found < at ? at : found;
            if (random_below(r, 2)) {
                bool block = postings_seek_block(&c, chunk);
                cr_assert(block || at == n);
            }
            there = postings_seek(&c, chunk);
        }
        cr_assert_eq(there, at < n);
        if (there) {
            cr_assert_eq(c.chunk, list[at].chunk);
            cr_assert_eq(postings_tf(&c), list[at].tf);
            chunk = c.chunk;
        }
    }
    cr_assert(!c.bad);
}

Test(postings, seeking_finds_what_walking_finds)
{
    for (int round = 0; round < n_rounds(200); round++) {
        struct random r = {(uint64_t)round + 7000};
        uint32_t n = some_size(&r, round);
        uint32_t n_chunks = n + random_below(&r, random_below(&r, 2) ? 10 * n : CHUNKS - n);
        n_chunks = n_chunks < CHUNKS ? n_chunks : CHUNKS;
        struct dynbuf b;
        make_list(&r, n, n_chunks);
        struct slice bytes = encode(&b, n);
        for (int i = 0; i < 5; i++) {
            check_moves(&r, bytes, n, n_chunks);
        }
        release(&b, bytes);
    }
}

/* Skipping a block must not decode it. */
Test(postings, a_block_seek_decodes_nothing)
{
    struct random r = {3};
    struct dynbuf b;
    struct postings_cursor c;
    make_list(&r, MAX, CHUNKS);
    struct slice bytes = encode(&b, MAX);
    postings_open(&c, bytes, MAX, CHUNKS);
    for (uint32_t block = 0; block < MAX / POSTINGS_BLOCK; block++) {
        cr_assert(postings_seek_block(&c, list[block * POSTINGS_BLOCK].chunk));
        cr_assert_eq(c.block, block);
        cr_assert_eq(c.decoded, 0);
    }
    release(&b, bytes);
}

static uint64_t highest(const struct bm25 *m, uint64_t weight, const struct postings_bound *b)
{
    uint64_t best = 0;
    for (unsigned i = 0; i < 2 && b->tf[i]; i++) {
        uint64_t score = bm25_contribution(weight, bm25_norm(m, b->length[i]), b->tf[i]);
        best = score > best ? score : best;
    }
    return best;
}

/* Whatever the parameters and the statistics of the caller's scope. */
static struct bm25 any_model(struct random *r)
{
    struct answer_profile p;
    struct bm25 m;
    answer_profile_init(&p);
    p.bm25_k1_milli = random_below(r, 4) ? 1200 : random_below(r, 10001);
    p.bm25_b_milli = random_below(r, 4) ? 750 : random_below(r, 1001);
    const uint64_t n = 1 + random_below(r, 1 << 20);
    const struct bm25_statistics statistics = {n, n * random_below(r, 2000)};
    bm25_init(&m, &p, &statistics);
    return m;
}

Test(postings, bounds_hold_for_every_scope)
{
    uint64_t sum_bounds = 0, sum_best = 0;
    for (int round = 0; round < n_rounds(100); round++) {
        struct random r = {(uint64_t)round + 90};
        uint32_t n = some_size(&r, round);
        struct dynbuf b;
        make_list(&r, n, CHUNKS);
        struct slice bytes = encode(&b, n);
        for (int i = 0; i < 4; i++) {
            struct bm25 m = any_model(&r);
            uint64_t weight = bm25_weight(&m, 1 + random_below(&r, (uint32_t)m.n_chunks));
            struct postings_cursor c;
            postings_open(&c, bytes, n, CHUNKS);
            struct postings_bound whole = postings_list_bound(&c);
            uint64_t best = 0;
            while (postings_next(&c)) {
                struct postings_bound block = postings_block_bound(&c);
                uint64_t score =
                    bm25_contribution(weight, bm25_norm(&m, lengths[c.chunk]), postings_tf(&c));
                cr_assert_leq(score, highest(&m, weight, &block), "seed %d", round + 90);
                cr_assert_leq(score, highest(&m, weight, &whole), "seed %d", round + 90);
                best = score > best ? score : best;
            }
            sum_best += best;
            sum_bounds += highest(&m, weight, &whole);
        }
        release(&b, bytes);
    }
    /* a bound that is never near would hold, too */
    cr_assert_leq(sum_bounds, sum_best + sum_best / 4);
}

/* Damage */

/* Reads all in several ways; whatever the bytes, chunks ascend and stay in the segment. */
static bool is_bad(struct slice bytes, uint32_t df, uint32_t n_chunks)
{
    struct postings_cursor c;
    uint32_t read = 0, next = 0;
    postings_open(&c, bytes, df, n_chunks);
    if (!c.bad) {
        postings_list_bound(&c);
    }
    while (postings_next(&c)) {
        postings_block_bound(&c);
        cr_assert(c.chunk >= next && c.chunk < n_chunks);
        cr_assert(postings_tf(&c) >= 1 && postings_tf(&c) <= SEGMENT_TF_MAX);
        next = c.chunk + 1;
        cr_assert_leq(++read, df);
    }
    bool bad = c.bad;
    cr_assert(bad || read == df);
    for (uint32_t step = 1; step < n_chunks; step = 3 * step + 1) {
        postings_open(&c, bytes, df, n_chunks);
        for (uint32_t chunk = step / 2; chunk < n_chunks; chunk += step) {
            bool block = postings_seek_block(&c, chunk);
            if (block) {
                postings_block_bound(&c);
            }
            cr_assert(!postings_seek(&c, chunk) || (c.chunk >= chunk && c.chunk < n_chunks));
        }
    }
    return bad;
}

Test(postings, damage_is_noticed)
{
    static const struct {
        const char *bytes;
        size_t n;
        uint32_t df, n_chunks;
        bool bad;
        const char *what;
    } cases[] = {
        {"\x00\x00", 2, 2, 2, false, "two postings"},
        {"\x00\x00", 2, 2, 1, true, "a chunk past the segment's end"},
        {"\x00\x00", 2, 1, 2, true, "bytes behind the last posting"},
        {"\x00\x01", 2, 2, 2, true, "cut"},
        {"\x00", 1, 2, 2, true, "cut between postings"},
        {"\x01\xFE\xFF\x03", 4, 1, 2, true, "tf above its maximum"},
        {"\x01\xFD\xFF\x03", 4, 1, 2, false, "tf at its maximum"},
        {"\x80\x80\x80\x80\x00", 5, 1, 2, true, "a number that never ends"},
        {"\xFE\xFF\xFF\xFF\x1F", 5, 1, 2, true, "a number above 32 bits"},
        {"", 0, 1, 2, true, "nothing"},
        {"", 0, 0, 2, true, "df 0"},
        {"\x00\x00\x00", 3, 3, 2, true, "df above the number of chunks"},
        {"\x00", 1, 1, SEGMENT_MAX_CHUNKS + 1, true, "too many chunks"},
        {"\0\0\0\0\0\0", 6, 8, 8, false, "one block"},
        {"\0\0\0\0\0\0", 6, 8, 7, true, "df above the number of chunks"},
        {"\0\0\0\0\0", 5, 8, 8, true, "a head that is cut"},
        {"\0\0\0\0\0\0\0", 7, 8, 8, true, "a block that is too long"},
        {"\1\0\0\0\0\0\0", 7, 8, 8, false, "one block, one bit a distance"},
        {"\1\0\0\0\0\0\1", 7, 8, 8, true, "a block that leaves the segment"},
        {"\31\0\0\0\0\0", 6, 8, 8, true, "too many bits"},
        {"\0\21\0\0\0\0", 6, 8, 8, true, "too many bits of a tf"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct slice bytes = {cases[i].bytes, cases[i].n};
        cr_assert_eq(is_bad(bytes, cases[i].df, cases[i].n_chunks), cases[i].bad, "%s",
                     cases[i].what);
    }
}

Test(postings, a_cut_list_is_bad)
{
    static const uint32_t sizes[] = {1, 7, 8, 100, 128, 129, 300};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct random r = {i + 1};
        struct dynbuf b;
        make_list(&r, sizes[i], 5000);
        struct slice bytes = encode(&b, sizes[i]);
        cr_assert(!is_bad(bytes, sizes[i], 5000));
        for (size_t n = 0; n < bytes.n; n++) {
            char *cut = malloc(n ? n : 1);
            cr_assert(cut);
            memcpy(cut, bytes.p, n);
            cr_assert(is_bad((struct slice){cut, n}, sizes[i], 5000), "%zu of %zu", n, bytes.n);
            free(cut);
        }
        release(&b, bytes);
    }
}

Test(postings, flipped_bytes_are_safe)
{
    unsigned n_bad = 0;
    for (int round = 0; round < n_rounds(2000); round++) {
        struct random r = {(uint64_t)round + 40};
        uint32_t n = random_below(&r, 3) ? 1 + random_below(&r, 400) : 1 + random_below(&r, 9);
        uint32_t n_chunks = n + random_below(&r, 1000);
        struct dynbuf b;
        make_list(&r, n, n_chunks);
        struct slice bytes = encode(&b, n);
        char *p = (char *)(uintptr_t)bytes.p;
        for (uint32_t i = 1 + random_below(&r, 3); i > 0; i--) {
            size_t at = random_below(&r, 2)
                            ? random_below(&r, (uint32_t)bytes.n)
                            : random_below(&r, bytes.n < 60 ? (uint32_t)bytes.n : 60);
            p[at] = (char)random_next(&r);
        }
        n_bad += is_bad(bytes, random_below(&r, 9) ? n : 1 + random_below(&r, n_chunks), n_chunks);
        release(&b, bytes);
    }
    cr_assert_gt(n_bad, 500u);
}
