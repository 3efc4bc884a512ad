/* SPDX-License-Identifier: Apache-2.0 */
/* What a text is searched by, spelt out: each table is the contract between ingest and query. */
#include "service/retrieval/text.h"

#include "service/base/utf8.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

/* "term@position term@position …" */
static void write_term(void *arg, struct slice term, uint32_t position)
{
    struct dynbuf *out = arg;
    if (out->n > 0) {
        dynbuf_add_byte(out, ' ');
    }
    dynbuf_add(out, term);
    dynbuf_add_byte(out, '@');
    dynbuf_add_int(out, position);
}

static void expect_terms(const char *text, const char *expected)
{
    struct text_analyser *a = text_analyser_new();
    struct dynbuf out;
    dynbuf_init(&out, 65536);
    text_analyse(a, slice_of(text), write_term, &out);
    cr_expect(slice_is(dynbuf_get(&out), expected), "%s\n gave %.*s\n  not %s", text, (int)out.n,
              out.p, expected);
    dynbuf_done(&out);
    text_analyser_free(a);
}

static void expect_query(const char *query, const char *expected)
{
    struct text_analyser *a = text_analyser_new();
    struct arena arena = {0};
    struct dynbuf out;
    struct slice *terms;
    dynbuf_init(&out, 65536);
    size_t n = text_query_terms(a, slice_of(query), &arena, &terms);
    for (size_t i = 0; i < n; i++) {
        dynbuf_add_text(&out, i ? " " : "");
        dynbuf_add(&out, terms[i]);
    }
    cr_expect(slice_is(dynbuf_get(&out), expected), "%s\n gave %.*s\n  not %s", query, (int)out.n,
              out.p, expected);
    dynbuf_done(&out);
    arena_done(&arena);
    text_analyser_free(a);
}

Test(text, folds_case_width_and_diacritics)
{
    expect_terms("CAFÉ café cafe\xCC\x81", "cafe@0 cafe@1 cafe@2");
    expect_terms("ＦＵＬＬ ﬁle m² Å", "full@0 file@1 m2@2 a@3");
    expect_terms("STRASSE straße", "strass@0 strass@1");
    expect_terms("Привет ПРИВЕТ", "привет@0 привет@1");
    expect_terms("so\xC2\xAD"
                 "ft zero\xE2\x80\x8Bwidth",
                 "soft@0 zerowidth@1");
}

Test(text, stems_english_and_keeps_stop_words)
{
    expect_terms("running the agents' policies", "run@0 the@1 agent@2 polici@3");
    expect_terms("the company's", "the@0 compani@1");
    expect_terms("Company’s isn't we'll", "compani@0 isn@1 we@2");
    expect_terms("these theses", "these@0 theses@1"); /* no stem may pass for a stop word */
    expect_terms("covid19s", "covid19s@0");
}

Test(text, keeps_names_with_signs_whole_and_in_parts)
{
    expect_terms("C++ vs C#", "c++@0 c@0 vs@1 c#@2 c@2");
    expect_terms("C++17, g++-12", "c++@0 c@0 17@1 g++@2 g@2 12@3");
    expect_terms("on .NET.", "on@0 .net@1 net@1");
    expect_terms("node.js", "node.js@0 node@0 js@0");
    expect_terms("multi-agents", "multi-agents@0 multi@0 agent@0");
    expect_terms("(38.101)", "38.101@0 38@0 101@0");
    expect_terms("CVE-2023-44487:", "cve-2023-44487@0 cve@0 2023@0 44487@0");
    expect_terms("snake_case R&D", "snake_case@0 snake@0 case@0 r&d@1 r@1 d@1");
    expect_terms("O’Brien multi\xE2\x80\x90"
                 "agent",
                 "o'brien@0 o@0 brien@0 multi-agent@1 multi@1 agent@1");
}

Test(text, splits_at_other_signs)
{
    expect_terms("a+b=c --flag ...and x/y", "a@0 b@1 c@2 flag@3 and@4 x@5 y@6");
    expect_terms("end. Next", "end@0 next@1");
    expect_terms("!!! ... +++ ### \xE2\x82\xAC \xF0\x9F\x98\x80", "");
    expect_terms("", "");
}

Test(text, pairs_characters_of_scripts_without_spaces)
{
    expect_terms("报", "报@0");
    expect_terms("报销", "报@0 报销@0 销@1");
    expect_terms("报销制", "报@0 报销@0 销@1 销制@1 制@2");
    expect_terms("ｶﾞｲ", "ガ@0 ガイ@0 イ@1");
    expect_terms("정부는 말", "정@0 정부@0 부@1 부는@1 는@2 말@3");
    expect_terms("がか", "が@0 がか@0 か@1"); /* the voicing mark is no diacritic */
    expect_terms("东京、大阪", "东@0 东京@0 京@1 大@2 大阪@2 阪@3");
}

Test(text, splits_latin_glued_to_cjk)
{
    expect_terms("使用Kubernetesの", "使@0 使用@0 用@1 kubernet@2 の@3");
    expect_terms("C++入門", "c++@0 c@0 入@1 入門@1 門@2");
    expect_terms("第3章", "第@0 3@1 章@2");
}

Test(text, queries_of_one_two_and_three_cjk_characters_search_what_is_indexed)
{
    expect_query("报", "报");
    expect_query("报销", "报销");
    expect_query("报销制", "报销 销制");
    expect_query("使用Kubernetes入門", "使用 kubernet 入門");
}

Test(text, queries_drop_stop_words_unless_there_is_nothing_else)
{
    expect_query("what is the parental leave", "parent leav");
    expect_query("to be or not to be", "to be or not");
    expect_query("The the THE", "the");
    expect_query("leave, leaves; leaving", "leav");
    expect_query("\xE3\x85\xA4", ""); /* U+3164, a letter that nobody can see */
}

Test(text, knows_its_stop_words)
{
    cr_assert(text_is_stop_word(SLICE_LIT("a")));
    cr_assert(text_is_stop_word(SLICE_LIT("the")));
    cr_assert(text_is_stop_word(SLICE_LIT("your")));
    cr_assert_not(text_is_stop_word(SLICE_LIT("")));
    cr_assert_not(text_is_stop_word(SLICE_LIT("th")));
    cr_assert_not(text_is_stop_word(SLICE_LIT("thee")));
    cr_assert_not(text_is_stop_word(SLICE_LIT("zebra")));
}

/* Distinct words of digits, which no stemmer changes. */
static void write_words(struct dynbuf *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        dynbuf_add_int(out, (int64_t)i);
        dynbuf_add_byte(out, ' ');
    }
}

Test(text, caps_the_terms_of_a_query)
{
    static const size_t COUNTS[] = {TEXT_QUERY_MAX_TERMS - 1, TEXT_QUERY_MAX_TERMS,
                                    TEXT_QUERY_MAX_TERMS + 1};
    struct text_analyser *a = text_analyser_new();
    for (size_t i = 0; i < 3; i++) {
        struct arena arena = {0};
        struct dynbuf query;
        struct slice *terms;
        dynbuf_init(&query, 65536);
        write_words(&query, COUNTS[i]);
        size_t n = text_query_terms(a, dynbuf_get(&query), &arena, &terms);
        cr_assert_eq(n, COUNTS[i] < TEXT_QUERY_MAX_TERMS ? COUNTS[i] : TEXT_QUERY_MAX_TERMS);
        cr_assert(slice_is(terms[0], "0"));
        cr_assert(slice_is(terms[254], "254"));
        dynbuf_done(&query);
        arena_done(&arena);
    }
    text_analyser_free(a);
}

static void keep_length(void *arg, struct slice term, uint32_t position)
{
    (void)position;
    cr_assert(utf8_is_valid(term));
    *(size_t *)arg = term.n;
}

Test(text, cuts_long_terms_at_a_character)
{
    static const struct {
        const char *unit;
        size_t count, expected;
    } TERMS[] = {
        {"7", 63, 63}, {"7", 64, 64},
        {"7", 65, 64}, {"д", 32, 64},
        {"д", 33, 64}, {"\xE2\xB0\xB6", 22, 63}, /* U+2C36: 3 bytes, of which 21 fit */
    };
    struct text_analyser *a = text_analyser_new();
    for (size_t i = 0; i < sizeof(TERMS) / sizeof(TERMS[0]); i++) {
        struct dynbuf text;
        size_t length = 0;
        dynbuf_init(&text, 1024);
        for (size_t k = 0; k < TERMS[i].count; k++) {
            dynbuf_add_text(&text, TERMS[i].unit);
        }
        text_analyse(a, dynbuf_get(&text), keep_length, &length);
        cr_assert_eq(length, TERMS[i].expected, "%zu: %zu", i, length);
        dynbuf_done(&text);
    }
    text_analyser_free(a);
}

struct tally {
    uint32_t n, last;
};

static void count_words(void *arg, struct slice term, uint32_t position)
{
    struct tally *t = arg;
    cr_assert(slice_is(term, "word"));
    cr_assert_eq(position, t->n);
    t->last = position;
    t->n++;
}

Test(text, long_texts_are_cut_nowhere)
{
    enum { WORDS = 20000 };
    struct text_analyser *a = text_analyser_new();
    struct dynbuf text;
    struct tally t = {0, 0};
    dynbuf_init(&text, 1 << 20);
    for (size_t i = 0; i < WORDS; i++) {
        dynbuf_add_text(&text, i % 7 ? "word "
                                     : "wor\xC2\xAD"
                                       "ds\n");
    }
    text_analyse(a, dynbuf_get(&text), count_words, &t);
    cr_assert_eq(t.n, WORDS);
    dynbuf_done(&text);
    text_analyser_free(a);
}

static void ignore_term(void *arg, struct slice term, uint32_t position)
{
    (void)term;
    *(uint32_t *)arg = position;
}

/* Quadratic ordering of marks would take hours here. */
Test(text, alternating_marks_cost_linear_time, .timeout = 60)
{
    struct text_analyser *a = text_analyser_new();
    struct dynbuf text, nfc;
    uint32_t last = 9;
    dynbuf_init(&text, 1 << 23);
    dynbuf_init(&nfc, 1 << 23);
    dynbuf_add_byte(&text, 'x');
    for (size_t i = 0; i < 500000; i++) {
        dynbuf_add_text(&text, "\xCC\x80\xCC\xA7"); /* classes 230 and 202 */
    }
    text_analyse(a, dynbuf_get(&text), ignore_term, &last);
    cr_assert_eq(last, 0);
    text_add_nfc(&nfc, dynbuf_get(&text));
    cr_assert_eq(nfc.n, text.n);
    cr_assert(slice_starts(dynbuf_get(&nfc), SLICE_LIT("x\xCC\xA7\xCC\xA7")));
    dynbuf_done(&text);
    dynbuf_done(&nfc);
    text_analyser_free(a);
}
