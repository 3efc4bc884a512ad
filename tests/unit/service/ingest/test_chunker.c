/* SPDX-License-Identifier: Apache-2.0 */
#include "service/base/utf8.h"
#include "service/ingest/chunker.h"
#include "service/ingest/ingest.h"
#include "service/ingest/words.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

struct bench {
    struct outline o;
    struct arena arena;
    const struct chunk_input *chunks;
    size_t n;
};

static void start(struct bench *b)
{
    *b = (struct bench){0};
    outline_init(&b->o);
}

static void cut(struct bench *b, const char *title)
{
    b->chunks = chunk_outline(&b->o, slice_of(title), &b->arena, &b->n);
}

static void stop(struct bench *b)
{
    outline_done(&b->o);
    arena_done(&b->arena);
}

/* n words in sentences of ten. */
static void add_words(struct outline *o, const char *word, size_t n)
{
    struct dynbuf text;
    dynbuf_init(&text, 1 << 24);
    for (size_t i = 0; i < n; i++) {
        dynbuf_add_text(&text, word);
        dynbuf_add_text(&text, i % 10 == 9 ? ". " : " ");
    }
    outline_add(o, BLOCK_PARAGRAPH, 0, dynbuf_get(&text));
    dynbuf_done(&text);
}

static void expect_text(const struct bench *b, size_t i, const char *text)
{
    cr_assert_lt(i, b->n);
    cr_expect(slice_is(b->chunks[i].text, text), "chunk %zu is \"%.*s\"", i,
              (int)b->chunks[i].text.n, b->chunks[i].text.p);
}

Test(chunker, nothing_gives_nothing)
{
    struct bench b;
    start(&b);
    outline_add(&b.o, BLOCK_HEADING, 1, SLICE_LIT("Only the title"));
    cut(&b, "Only the title");
    cr_expect_eq(b.n, 0);
    stop(&b);
}

Test(chunker, the_heading_path_is_the_first_line_without_the_title)
{
    struct bench b;
    start(&b);
    outline_add(&b.o, BLOCK_HEADING, 1, SLICE_LIT("Handbook"));
    outline_add(&b.o, BLOCK_HEADING, 2, SLICE_LIT("Leave"));
    outline_add(&b.o, BLOCK_HEADING, 3, SLICE_LIT("Sick leave"));
    outline_add(&b.o, BLOCK_PARAGRAPH, 0, SLICE_LIT("Ask first."));
    outline_add(&b.o, BLOCK_ITEM, 0, SLICE_LIT("- one"));
    outline_add(&b.o, BLOCK_ITEM, 0, SLICE_LIT("- two"));
    outline_add(&b.o, BLOCK_HEADING, 3, SLICE_LIT("Parental leave"));
    outline_add(&b.o, BLOCK_PARAGRAPH, 0, SLICE_LIT("Ask too."));
    cut(&b, "Handbook");
    cr_assert_eq(b.n, 1);
    expect_text(&b, 0,
                "Leave > Sick leave\nAsk first.\n\n- one\n- two\n\n"
                "Leave > Parental leave\nAsk too.");
    cr_expect_null(b.chunks[0].context.p);
    cr_expect_eq(b.chunks[0].position, 0);
    stop(&b);
}

Test(chunker, a_title_that_is_no_heading_leaves_the_path_whole)
{
    struct bench b;
    start(&b);
    outline_add(&b.o, BLOCK_HEADING, 1, SLICE_LIT("Handbook"));
    outline_add(&b.o, BLOCK_PARAGRAPH, 0, SLICE_LIT("Text."));
    cut(&b, "Another title");
    cr_assert_eq(b.n, 1);
    expect_text(&b, 0, "Handbook\nText.");
    stop(&b);
}

Test(chunker, a_heading_without_text_is_kept)
{
    struct bench b;
    start(&b);
    outline_add(&b.o, BLOCK_HEADING, 2, SLICE_LIT("Closed offices"));
    outline_add(&b.o, BLOCK_HEADING, 2, SLICE_LIT("Open offices"));
    cut(&b, "");
    cr_assert_eq(b.n, 1);
    expect_text(&b, 0, "Closed offices\n\n\nOpen offices");
    stop(&b);
}

Test(chunker, long_sections_are_cut_near_the_aim_and_say_where_they_are)
{
    struct bench b;
    start(&b);
    outline_add(&b.o, BLOCK_HEADING, 1, SLICE_LIT("Long"));
    for (int i = 0; i < 20; i++) {
        add_words(&b.o, "word", 60);
    }
    cut(&b, "");
    cr_assert_geq(b.n, 4);
    for (size_t i = 0; i < b.n; i++) {
        size_t words = words_quarters(b.chunks[i].text) / WORD_QUARTERS;
        cr_expect(slice_starts(b.chunks[i].text, SLICE_LIT("Long\nword")));
        cr_expect_eq(b.chunks[i].position, i);
        cr_expect(i + 1 == b.n || words >= CHUNK_CLOSE_WORDS, "chunk %zu: %zu words", i, words);
        cr_expect_leq(words, CHUNK_MAX_WORDS, "chunk %zu: %zu words", i, words);
    }
    stop(&b);
}

Test(chunker, a_long_paragraph_is_cut_between_sentences)
{
    struct bench b;
    start(&b);
    add_words(&b.o, "word", 1000);
    cut(&b, "");
    cr_assert_eq(b.n, 4);
    for (size_t i = 0; i < b.n; i++) {
        struct slice t = b.chunks[i].text;
        cr_expect_eq(t.p[t.n - 1], '.', "chunk %zu", i);
    }
    stop(&b);
}

Test(chunker, a_short_passage_goes_on_behind_the_next_heading_a_long_one_does_not)
{
    static const struct {
        size_t words, chunks;
    } cases[] = {{CHUNK_MIN_WORDS - 1, 1}, {CHUNK_MIN_WORDS, 2}, {CHUNK_MIN_WORDS + 1, 2}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench b;
        start(&b);
        add_words(&b.o, "word", cases[i].words);
        outline_add(&b.o, BLOCK_HEADING, 2, SLICE_LIT("Next"));
        add_words(&b.o, "more", 20);
        cut(&b, "");
        cr_expect_eq(b.n, cases[i].chunks, "case %zu: %zu", i, b.n);
        stop(&b);
    }
}

/* Whatever stands in a document, a chunk stays within its bytes and cuts no character. */
static void expect_bounded(const struct bench *b)
{
    for (size_t i = 0; i < b->n; i++) {
        cr_expect_leq(b->chunks[i].text.n, CHUNK_MAX_BYTES);
        cr_expect(utf8_is_valid(b->chunks[i].text));
        cr_expect_gt(b->chunks[i].text.n, 0);
    }
}

Test(chunker, endless_words_and_lines_are_cut_at_characters)
{
    static const char *const units[] = {"x", "\xC3\xA9", "\xE6\x97\xA5", "\xF0\x9F\x98\x80"};
    static const enum block_kind kinds[] = {BLOCK_PARAGRAPH, BLOCK_ITEM, BLOCK_ROW, BLOCK_CODE};
    for (size_t u = 0; u < 4; u++) {
        for (size_t k = 0; k < 4; k++) {
            struct bench b;
            struct dynbuf text;
            size_t total = 0;
            start(&b);
            dynbuf_init(&text, 1 << 24);
            for (int i = 0; i < 30000; i++) {
                dynbuf_add_text(&text, units[u]);
            }
            outline_add(&b.o, BLOCK_HEADING, 1, dynbuf_get(&text));
            outline_add(&b.o, kinds[k], 0, dynbuf_get(&text));
            cut(&b, "");
            expect_bounded(&b);
            cr_expect_geq(b.n, text.n / CHUNK_MAX_BYTES);
            for (size_t i = 0; i < b.n; i++) {
                total += b.chunks[i].text.n;
            }
            cr_expect_geq(total, text.n);
            dynbuf_done(&text);
            stop(&b);
        }
    }
}

/* A small generator whose seed tells everything (Knuth's MMIX constants). */
static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static void add_random_block(struct outline *o, uint64_t *state)
{
    static const char *const words[] = {
        "alpha",   "beta.",           "\xE6\x97\xA5\xE6\x9C\xAC\xE3\x80\x82", "\xC3\xA9t\xC3\xA9",
        "gamma\n", "\xF0\x9F\x98\x80"};
    struct dynbuf text;
    dynbuf_init(&text, 1 << 24);
    uint32_t n = next_random(state) % 400, kind = next_random(state) % 6;
    for (uint32_t i = 0; i < n; i++) {
        dynbuf_add_text(&text, words[next_random(state) % 6]);
        dynbuf_add_text(&text, next_random(state) % 3 ? " " : "");
    }
    enum block_kind kinds[] = {BLOCK_HEADING, BLOCK_PARAGRAPH, BLOCK_PARAGRAPH,
                               BLOCK_ITEM,    BLOCK_ROW,       BLOCK_CODE};
    outline_add(o, kinds[kind], next_random(state) % 6 + 1, dynbuf_get(&text));
    dynbuf_done(&text);
}

static size_t letters(struct slice s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        n += s.p[i] != ' ' && s.p[i] != '\n';
    }
    return n;
}

Test(chunker, loses_no_text_and_stays_bounded_whatever_comes)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct bench b;
        uint64_t state = seed;
        size_t in = 0, out = 0;
        start(&b);
        for (int i = 0; i < 12; i++) {
            add_random_block(&b.o, &state);
        }
        cut(&b, "");
        expect_bounded(&b);
        for (size_t i = 0; i < b.o.n; i++) {
            in += b.o.blocks[i].kind == BLOCK_HEADING ? 0
                                                      : letters(outline_text(&b.o, &b.o.blocks[i]));
        }
        for (size_t i = 0; i < b.n; i++) {
            out += letters(b.chunks[i].text);
        }
        cr_assert_geq(out, in, "seed %llu", (unsigned long long)seed);
        stop(&b);
    }
}
