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
    struct text_query q;
    dynbuf_init(&out, 65536);
    text_query_terms(a, slice_of(query), &arena, &q);
    for (size_t i = 0; i < q.n; i++) {
        dynbuf_add_text(&out, i ? " " : "");
        dynbuf_add(&out, q.terms[i]);
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
    expect_terms("ＦＵＬＬ ﬁle m² Å", "full@0 file@1 m2@2 m@2 2@2 a@3");
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
    expect_terms("Company’s COMPANY'S isn't we'll", "compani@0 compani@1 isn@2 we@3");
    expect_terms("these theses", "these@0 theses@1"); /* no stem may pass for a stop word */
    expect_terms("used uses user", "used@0 uses@1 user@2");
}

Test(text, spells_american)
{
    expect_terms("behaviour behaviors", "behavior@0 behavior@1");
    expect_terms("colours colored", "color@0 color@1");
    expect_terms("licence licensing licenses", "licens@0 licens@1 licens@2");
    expect_terms("hour hours four pour fence", "hour@0 hour@1 four@2 pour@3 fenc@4");
}

/* The memo of stems must never show: the same text twice, and words that share a place in it. */
Test(text, stems_do_not_depend_on_what_came_before)
{
    enum { WORDS = 20000 };
    struct text_analyser *warm = text_analyser_new();
    struct dynbuf first, again;
    for (uint32_t i = 0; i < WORDS; i++) {
        char word[] = "xxxxxings";
        for (uint32_t k = 0, rest = i * 2654435761u; k < 5; k++, rest /= 26) {
            word[k] = (char)('a' + rest % 26);
        }
        dynbuf_init(&first, 256);
        dynbuf_init(&again, 256);
        text_analyse(warm, slice_of(word), write_term, &first);
        text_analyse(warm, slice_of(word), write_term, &again);
        cr_assert(slice_eq(dynbuf_get(&first), dynbuf_get(&again)), "%s", word);
        if (i % 100 == 0) {
            struct text_analyser *cold = text_analyser_new();
            again.n = 0;
            text_analyse(cold, slice_of(word), write_term, &again);
            cr_assert(slice_eq(dynbuf_get(&first), dynbuf_get(&again)), "%s", word);
            text_analyser_free(cold);
        }
        dynbuf_done(&first);
        dynbuf_done(&again);
    }
    text_analyser_free(warm);
}

Test(text, keeps_names_with_signs_whole_and_in_parts)
{
    expect_terms("C++ vs C#", "c++@0 c@0 vs@1 c#@2 c@2");
    expect_terms("C++17, g++-12", "c++@0 c@0 17@1 g++@2 g@2 12@3");
    expect_terms("on .NET.", "on@0 .net@1 net@1");
    expect_terms("node.js", "node.js@0 node@0 js@0");
    expect_terms("(38.101)", "38.101@0 38@0 101@0");
    expect_terms("R&D", "r&d@0 r@0 d@0");
    expect_terms("e.g. 1.5 15", "e.g@0 e@0 g@0 1.5@1 1@1 5@1 15@2");
    expect_terms("Node.JS O’Neill.org", "node.js@0 node@0 js@0 o'neill.org@1 o@1 neill@1 org@1");
}

Test(text, joins_what_is_also_written_as_one_word)
{
    expect_terms("multi-agents multiagent", "multiag@0 multi@0 agent@0 multiag@1");
    expect_terms("multi\xE2\x80\x90"
                 "agent e-mail email",
                 "multiag@0 multi@0 agent@0 email@1 e@1 mail@1 email@2");
    expect_terms("CVE-2023-44487:", "cve202344487@0 cve@0 2023@0 44487@0");
    expect_terms("O’Brien's", "obrien@0 o@0 brien@0");
    expect_terms("a--b 'quoted' -x- _y_", "a@0 b@1 quot@2 x@3 y@4");
    expect_terms("state-of-the-art", "stateoftheart@0 state@0 of@0 the@0 art@0");
}

Test(text, cuts_identifiers_into_their_words)
{
    static const char WHOLE[] = "getusernam@0 get@0 user@0 name@0";
    expect_terms("getUserName", "getusernam@0 get@0 user@0 name@0");
    expect_terms("GetUserName", WHOLE);
    expect_terms("get_user_name", WHOLE);
    expect_terms("GET_USER_NAME", WHOLE);
    expect_terms("XMLParsers", "xmlparser@0 xml@0 parser@0");
    expect_terms("sha256 H2O 2nd", "sha256@0 sha@0 256@0 h2o@1 h@1 2@1 o@1 2nd@2 2@2 nd@2");
    expect_terms("crate::io::BufReader", "crate@0 io@1 bufread@2 buf@2 reader@2");
    expect_terms("ÉcoleNationale", "ecolenational@0 ecol@0 national@0");
    expect_terms("my_HttpClient", "myhttpclient@0 my@0 httpclient@0 http@0 client@0");
}

Test(text, leaves_other_words_in_one_piece)
{
    expect_terms("Policy POLICY policy", "polici@0 polici@1 polici@2");
    expect_terms("APIs URLs' PDFs IDs", "api@0 url@1 pdf@2 id@3");
    expect_terms("pdfs Is As DoS", "pdfs@0 is@1 as@2 dos@3 do@3 s@3");
    expect_terms("CAFÉ MÜLLER Müller SØREN", "cafe@0 muller@1 muller@2 søren@3");
    expect_terms("ＰＤＦｓ ＨｔｔｐＣｌｉｅｎｔ", "pdf@0 httpclient@1 http@1 client@1");
    expect_terms("ПриветМир", "приветмир@0"); /* capitals of ASCII alone */
    /* ten pieces are an identifier, eleven a key */
    expect_terms("a1b2c3d4e5", "a1b2c3d4e5@0 a@0 1@0 b@0 2@0 c@0 3@0 d@0 4@0 e@0 5@0");
    expect_terms("a1b2c3d4e5f", "a1b2c3d4e5f@0");
}

Test(text, queries_find_an_identifier_by_its_words_and_by_any_spelling)
{
    expect_query("diff executor", "diff executor");
    expect_query("DiffExecutor", "diffexecutor diff executor");
    expect_query("diff-executor", "diffexecutor diff executor");
    expect_query("diffexecutor", "diffexecutor");
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
    expect_query("please, I need to use it", "please i need to use it");
    expect_query("Could you please help me using the VPN?", "help vpn");
    expect_query("how do I opt out", "opt out"); /* small words that carry the topic stay */
    expect_query("\xE3\x85\xA4", "");            /* U+3164, a letter that nobody can see */
}

Test(text, knows_its_stop_words)
{
    cr_assert(text_is_stop_word(SLICE_LIT("a")));
    cr_assert(text_is_stop_word(SLICE_LIT("the")));
    cr_assert(text_is_stop_word(SLICE_LIT("yourselves")));
    cr_assert_not(text_is_stop_word(SLICE_LIT("")));
    cr_assert_not(text_is_stop_word(SLICE_LIT("th")));
    cr_assert_not(text_is_stop_word(SLICE_LIT("thee")));
    cr_assert_not(text_is_stop_word(SLICE_LIT("zebra")));
    cr_assert_not(text_is_stop_word(SLICE_LIT("the\0")));
    cr_assert_not(text_is_stop_word(SLICE_LIT("yourselvesyours")));
    cr_assert_not(text_is_stop_word(SLICE_LIT("yourselvesyourself")));
}

Test(text, leaves_ascii_where_it_is_and_normalises_the_rest)
{
    struct arena arena = {0};
    struct slice ascii = SLICE_LIT("plain\x7F\n");
    cr_expect_eq(text_nfc(ascii, &arena).p, ascii.p);
    cr_expect_null(arena.newest, "nothing is copied");
    cr_expect_null(text_nfc(SLICE_NONE, &arena).p);
    cr_expect(slice_is(text_nfc(SLICE_LIT("plain plain e\xCC\x81"), &arena), "plain plain \u00E9"));
    arena_done(&arena);
}

/* Distinct words of digits, which no stemmer changes. */
static void write_words(struct dynbuf *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        dynbuf_add_int(out, (int64_t)i);
        dynbuf_add_byte(out, ' ');
    }
}

Test(text, odd_texts_have_terms_or_none)
{
    expect_terms("x", "x@0");
    expect_terms("\xE2\x80\x8Fשלום\xE2\x80\x8F world", "שלום@0 world@1"); /* right-to-left marks */
    expect_terms("ab\xE2\x80\xAE"
                 "cd",
                 "abcd@0");
    expect_terms("vpn設定Привет", "vpn@0 設@1 設定@1 定@2 привет@3");
    expect_terms("使用Python编程 USB接口",
                 "使@0 使用@0 用@1 python@2 编@3 编程@3 程@4 usb@5 接@6 接口@6 口@7");
    expect_query("编程", "编程");
    expect_query("USB接口", "usb 接口");
}

static uint32_t weight_in(const char *query, const char *term)
{
    struct text_analyser *a = text_analyser_new();
    struct arena arena = {0};
    struct text_query q;
    uint32_t weight = 0;
    text_query_terms(a, slice_of(query), &arena, &q);
    for (size_t i = 0; i < q.n; i++) {
        weight = slice_is(q.terms[i], term) ? q.weights[i] : weight;
    }
    arena_done(&arena);
    text_analyser_free(a);
    return weight;
}

Test(text, a_repeated_word_counts_by_its_square_root_and_a_part_half)
{
    cr_assert_eq(weight_in("leave", "leav"), TEXT_WEIGHT_ONE);
    cr_assert_eq(weight_in("leave leaves policy", "leav"), 22); /* 16 * sqrt 2 */
    cr_assert_eq(weight_in("leave leaves policy", "polici"), TEXT_WEIGHT_ONE);
    cr_assert_eq(weight_in("leave leaving leaves leave", "leav"), 32);
    cr_assert_eq(weight_in("the the", "the"), 22);
    cr_assert_eq(weight_in("multi-agent", "multiag"), TEXT_WEIGHT_ONE);
    cr_assert_eq(weight_in("multi-agent", "agent"), 11);       /* 16 * sqrt 1/2 */
    cr_assert_eq(weight_in("multi-agent agent", "agent"), 19); /* 16 * sqrt 3/2 */
    cr_assert_eq(weight_in("DiffExecutor", "executor"), 11);
    cr_assert_eq(weight_in("C++", "c"), 11);
    cr_assert_eq(weight_in("C++", "c++"), TEXT_WEIGHT_ONE);
    cr_assert_eq(weight_in("报销报销", "报销"), 22);
}

Test(text, the_weight_of_a_term_is_capped_at_sixteen_occurrences)
{
    static const struct {
        size_t n;
        uint32_t weight;
    } CASES[] = {{15, 61}, {16, TEXT_WEIGHT_MAX}, {17, TEXT_WEIGHT_MAX}, {400, TEXT_WEIGHT_MAX}};
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        char query[2001] = "";
        for (size_t k = 0; k < CASES[i].n; k++) {
            memcpy(query + 4 * k, "abc ", 5);
        }
        cr_assert_eq(weight_in(query, "abc"), CASES[i].weight, "%zu", CASES[i].n);
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
        struct text_query q;
        dynbuf_init(&query, 65536);
        write_words(&query, COUNTS[i]);
        text_query_terms(a, dynbuf_get(&query), &arena, &q);
        cr_assert_eq(q.n, COUNTS[i] < TEXT_QUERY_MAX_TERMS ? COUNTS[i] : TEXT_QUERY_MAX_TERMS);
        cr_assert(slice_is(q.terms[0], "0"));
        cr_assert(slice_is(q.terms[254], "254"));
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
