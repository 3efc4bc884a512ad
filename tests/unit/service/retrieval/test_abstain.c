/* SPDX-License-Identifier: Apache-2.0 */
#include "service/retrieval/abstain.h"

#include "service/retrieval/abstain_words.h"
#include "service/retrieval/text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

enum { HITS_MAX = 200, TEXT_MAX = 65536 };

/* A query's terms and hits that hold some of them. */
struct answer {
    struct arena arena;
    struct hits hits;
    struct hit items[HITS_MAX];
};

static char text[TEXT_MAX]; /* only lengths are looked at */

static struct answer *answer_new(void)
{
    struct answer *a = calloc(1, sizeof(*a));
    cr_assert(a);
    a->hits.items = a->items;
    return a;
}

static void answer_free(struct answer *a)
{
    arena_done(&a->arena);
    free(a);
}

/* As a query would be analysed. */
static struct answer *ask(const char *query)
{
    struct answer *a = answer_new();
    struct text_analyser *analyser = text_analyser_new();
    struct text_query analysed;
    text_query_terms(analyser, slice_of(query), &a->arena, &analysed);
    a->hits.terms = analysed.terms;
    a->hits.n_terms = analysed.n;
    text_analyser_free(analyser);
    return a;
}

static void hold(struct answer *a, size_t hit, size_t term)
{
    a->items[hit].matched[term / 64] |= UINT64_C(1) << term % 64;
}

/* One more hit of so many bytes; held is a character a term: '1' where it is held. */
static void add_hit(struct answer *a, size_t bytes, const char *held)
{
    size_t hit = a->hits.n++;
    a->items[hit].text = (struct slice){text, bytes};
    for (size_t t = 0; held[t]; t++) {
        if (held[t] == '1') {
            hold(a, hit, t);
        }
    }
}

static bool is_empty_at(const struct answer *a, uint32_t coverage)
{
    struct answer_profile profile;
    answer_profile_init(&profile);
    profile.abstain_coverage = coverage;
    return abstain(&a->hits, &profile);
}

static bool is_empty(const struct answer *a)
{
    struct answer_profile profile;
    answer_profile_init(&profile);
    return abstain(&a->hits, &profile);
}

/* The largest setting under which there is an answer, if it is one that has a hit at all. */
static uint32_t coverage_of(const struct answer *a)
{
    uint32_t coverage = 0;
    while (coverage < 1000 && !is_empty_at(a, coverage + 1)) {
        coverage++;
    }
    return coverage;
}

/* Nine terms, none of them generic. */
static const char NINE[] = "penguin glacier walrus iceberg seal krill albatross tundra blizzard";

static uint32_t coverage_of_one(const char *query, size_t bytes, const char *held)
{
    struct answer *a = ask(query);
    cr_assert_eq(a->hits.n_terms, strlen(held), "%s", query);
    add_hit(a, bytes, held);
    uint32_t coverage = coverage_of(a);
    answer_free(a);
    return coverage;
}

Test(abstain, the_setting_is_the_share_of_a_usual_query_in_a_usual_passage)
{
    cr_assert_eq(coverage_of_one(NINE, 1024, "100000000"), 111);
    cr_assert_eq(coverage_of_one(NINE, 1024, "110000000"), 222);
    cr_assert_eq(coverage_of_one(NINE, 1024, "111000000"), 333);
    cr_assert_eq(coverage_of_one(NINE, 1024, "111100000"), 444);
}

Test(abstain, a_passage_is_judged_below_at_and_above_the_setting)
{
    struct answer *a = ask(NINE);
    add_hit(a, 1024, "001100100");
    cr_assert(!is_empty_at(a, 332));
    cr_assert(!is_empty_at(a, 333));
    cr_assert(is_empty_at(a, 334));
    answer_free(a);
}

Test(abstain, zero_switches_the_rule_off)
{
    struct answer *a = ask(NINE);
    add_hit(a, TEXT_MAX, "000000000");
    cr_assert(is_empty_at(a, 1000));
    cr_assert(is_empty_at(a, 1));
    cr_assert(!is_empty_at(a, 0));
    answer_free(a);
}

Test(abstain, without_a_hit_there_is_no_answer_whatever_the_setting)
{
    struct answer *a = ask(NINE);
    cr_assert(is_empty_at(a, 0));
    cr_assert(is_empty_at(a, 1000));
    answer_free(a);
}

Test(abstain, a_name_that_exists_is_found)
{
    static const char *const queries[] = {"penguin", "find", "x", "42", "CVE", "the"};
    for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
        cr_assert_eq(coverage_of_one(queries[i], TEXT_MAX, "1"), 1000, "%s", queries[i]);
    }
}

Test(abstain, a_hit_with_every_term_is_an_answer_at_any_rank)
{
    struct answer *a = ask("penguin glacier walrus");
    for (size_t i = 0; i < 40; i++) {
        add_hit(a, TEXT_MAX, "100");
    }
    cr_assert(is_empty_at(a, 1000));
    add_hit(a, TEXT_MAX, "111");
    cr_assert(!is_empty_at(a, 1000));
    answer_free(a);
}

Test(abstain, stop_words_alone_are_a_query)
{
    struct answer *a = ask("to be or not to be");
    cr_assert_eq(a->hits.n_terms, 4);
    add_hit(a, 1024, "1000");
    uint32_t one = coverage_of(a);
    hold(a, 0, 1);
    hold(a, 0, 2);
    hold(a, 0, 3);
    cr_assert(one > 0 && one < 1000);
    cr_assert_eq(coverage_of(a), 1000);
    answer_free(a);
}

/* Characters glued together: 機密情報 gives three pairs. */
Test(abstain, pairs_of_characters_are_terms)
{
    cr_assert_eq(coverage_of_one("機密情報", 600, "111"), 1000);
    struct answer *a = ask("機密情報の取扱規程");
    cr_assert_eq(a->hits.n_terms, 8);
    add_hit(a, 600, "00100000");
    cr_assert(is_empty(a));
    add_hit(a, 600, "11100000");
    cr_assert(!is_empty(a));
    answer_free(a);
}

Test(abstain, the_most_terms_a_query_can_have)
{
    struct answer *a = answer_new();
    struct slice terms[TEXT_QUERY_MAX_TERMS];
    char names[TEXT_QUERY_MAX_TERMS][8];
    for (size_t t = 0; t < TEXT_QUERY_MAX_TERMS; t++) {
        snprintf(names[t], sizeof(names[t]), "term%zu", t);
        terms[t] = slice_of(names[t]);
    }
    a->hits.terms = terms;
    a->hits.n_terms = TEXT_QUERY_MAX_TERMS;
    for (size_t i = 0; i < HITS_MAX; i++) {
        add_hit(a, 1024, "1");
    }
    uint32_t one = coverage_of(a);
    hold(a, 0, TEXT_QUERY_MAX_TERMS - 1);
    uint32_t last = coverage_of(a);
    for (size_t t = 1; t < TEXT_QUERY_MAX_TERMS - 1; t++) {
        hold(a, 0, t);
    }
    cr_assert(one < last && last < 1000, "%u %u", one, last);
    cr_assert_eq(coverage_of(a), 1000);
    answer_free(a);
}

Test(abstain, the_more_terms_the_smaller_the_share_that_is_asked_for)
{
    uint32_t one_of_four = coverage_of_one("penguin glacier walrus iceberg", 1024, "1000");
    uint32_t two_of_eight =
        coverage_of_one("penguin glacier walrus iceberg seal krill tundra owl", 1024, "11000000");
    cr_assert_eq(one_of_four, 166); /* a quarter of sqrt(4/9) */
    cr_assert_eq(two_of_eight, 235);
}

Test(abstain, the_longer_a_passage_the_more_it_has_to_hold)
{
    static const struct {
        size_t bytes;
        uint32_t coverage;
    } cases[] = {{0, 666},   {63, 666},   {64, 666},   {100, 596},
                 {256, 471}, {1024, 333}, {4096, 235}, {16384, 166}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        cr_assert_eq(coverage_of_one(NINE, cases[i].bytes, "111000000"), cases[i].coverage,
                     "%zu bytes: %u", cases[i].bytes,
                     coverage_of_one(NINE, cases[i].bytes, "111000000"));
    }
}

Test(abstain, a_title_is_part_of_the_length)
{
    struct answer *a = ask(NINE);
    add_hit(a, 1000, "111000000");
    a->items[0].title = (struct slice){text, 24};
    cr_assert_eq(coverage_of(a), 333);
    answer_free(a);
}

Test(abstain, one_of_the_best_hits_has_to_be_about_the_query)
{
    struct answer *a = ask(NINE);
    for (size_t i = 0; i < ABSTAIN_JUDGED; i++) {
        add_hit(a, 1024, "000000000");
    }
    add_hit(a, 1024, "111100000");
    cr_assert_eq(coverage_of(a), 0);
    a->items[ABSTAIN_JUDGED - 1] = a->items[ABSTAIN_JUDGED];
    cr_assert_eq(coverage_of(a), 415); /* four of nine that one more candidate holds */
    answer_free(a);
}

Test(abstain, what_many_other_candidates_hold_weighs_little)
{
    const char *query = "penguin glacier walrus";
    struct answer *common = ask(query), *rare = ask(query);
    for (size_t i = 0; i < 50; i++) {
        add_hit(common, 1024, i == 0 ? "100" : i < ABSTAIN_JUDGED ? "000" : "100");
        add_hit(rare, 1024, i == 0 ? "100" : i < ABSTAIN_JUDGED ? "000" : "010");
    }
    cr_assert_lt(coverage_of(common), 100);
    cr_assert_gt(coverage_of(rare), 250);
    answer_free(common);
    answer_free(rare);
}

Test(abstain, words_around_a_question_weigh_little)
{
    const char *query = "recommend a level report: effects penguin glacier walrus iceberg seal";
    struct answer *a = ask(query);
    cr_assert_eq(a->hits.n_terms, 9);
    cr_assert(slice_is(a->hits.terms[4], "penguin"));
    answer_free(a);
    cr_assert_gt(coverage_of_one(query, 1024, "000010000"),
                 coverage_of_one(query, 1024, "111100000"));
}

/* So long that what is held says nothing by its weight: only half of the terms helps. */
static bool is_empty_with(const char *query, const char *held)
{
    struct answer *a = ask(query);
    cr_assert_eq(a->hits.n_terms, strlen(held), "%s", query);
    add_hit(a, TEXT_MAX, held);
    bool empty = is_empty_at(a, 1000);
    answer_free(a);
    return empty;
}

Test(abstain, half_of_the_terms_is_enough)
{
    static const struct {
        const char *query, *held;
        bool empty;
    } cases[] = {
        {"penguin glacier", "00", true},
        {"penguin glacier", "10", false},
        {"penguin glacier", "01", false},
        {"penguin glacier walrus", "100", true},
        {"penguin glacier walrus", "001", true},
        {"penguin glacier walrus", "011", false},
        {"penguin glacier walrus iceberg", "0010", true},
        {"penguin glacier walrus iceberg", "1001", false},
        {NINE, "111100000", true},
        {NINE, "010101010", true},
        {NINE, "111110000", false},
        {NINE, "101010101", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        cr_assert_eq(is_empty_with(cases[i].query, cases[i].held), cases[i].empty, "%s %s",
                     cases[i].query, cases[i].held);
    }
}

Test(abstain, half_is_half_of_any_number_of_terms)
{
    static struct slice terms[TEXT_QUERY_MAX_TERMS]; /* topics of no bytes */
    for (size_t n = 1; n <= TEXT_QUERY_MAX_TERMS; n++) {
        struct answer *a = answer_new();
        a->hits.terms = terms;
        a->hits.n_terms = n;
        add_hit(a, TEXT_MAX, "");
        for (size_t held = 0; held <= n; held++) {
            cr_assert_eq(is_empty_at(a, 1000), 2 * held < n, "%zu of %zu", held, n);
            if (held < n) {
                hold(a, 0, held);
            }
        }
        answer_free(a);
    }
}

Test(abstain, half_counts_terms_whatever_they_weigh)
{
    struct answer *a = ask("recommend penguin level glacier");
    add_hit(a, TEXT_MAX, "1010");
    for (size_t i = 1; i < 50; i++) {
        add_hit(a, TEXT_MAX, i < ABSTAIN_JUDGED ? "0000" : "1000");
    }
    cr_assert(!is_empty_at(a, 1000));
    a->items[0].matched[0] = 1; /* "recommend" alone */
    cr_assert(is_empty_at(a, 1000));
    cr_assert(is_empty(a));
    answer_free(a);
}

Test(abstain, half_is_enough_only_among_the_best_hits)
{
    struct answer *a = ask("penguin glacier walrus iceberg");
    for (size_t i = 0; i < ABSTAIN_JUDGED; i++) {
        add_hit(a, TEXT_MAX, "0000");
    }
    add_hit(a, TEXT_MAX, "1110");
    cr_assert(is_empty_at(a, 1000));
    cr_assert(is_empty_at(a, 1));
    a->items[ABSTAIN_JUDGED - 1] = a->items[ABSTAIN_JUDGED];
    cr_assert(!is_empty_at(a, 1000));
    answer_free(a);
}

static void match_term(void *arg, struct slice term, uint32_t position)
{
    struct answer *a = arg;
    (void)position;
    for (size_t t = 0; t < a->hits.n_terms; t++) {
        if (slice_eq(a->hits.terms[t], term)) {
            hold(a, a->hits.n - 1, t);
        }
    }
}

static void add_passage(struct answer *a, size_t bytes, const char *passage)
{
    struct text_analyser *analyser = text_analyser_new();
    add_hit(a, bytes, "");
    text_analyse(analyser, slice_of(passage), match_term, a);
    text_analyser_free(analyser);
}

/* Where the whole corpus is about the rest of the question, the rest weighs next to nothing. */
Test(abstain, a_slip_of_the_pen_a_hyphen_or_a_word_too_many_leaves_the_answer)
{
    static const struct {
        const char *query, *passage;
    } cases[] = {
        {"vpn acess", "VPN access"},
        {"shared-libraries", "shared libraries"},
        {"orbit definition", "an orbit"},
        {"shared libraries pls", "shared libraries"},
        {"can you walk me through shared libraries?", "shared libraries"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct answer *about = ask(cases[i].query), *other = ask(cases[i].query);
        for (size_t n = 0; n < 50; n++) {
            add_passage(about, 4096, cases[i].passage);
            add_passage(other, 4096, "a recipe for pancakes");
        }
        cr_assert(!is_empty(about), "%s", cases[i].query);
        cr_assert(is_empty(other), "%s", cases[i].query);
        answer_free(about);
        answer_free(other);
    }
}

static void keep_term(void *arg, struct slice term, uint32_t position)
{
    (void)position;
    *(bool *)arg = abstain_is_generic(term);
}

static bool is_generic_word(struct text_analyser *a, const char *word)
{
    bool generic = false;
    text_analyse(a, slice_of(word), keep_term, &generic);
    return generic;
}

Test(abstain, generic_words_are_known_by_their_stems)
{
    static const char *const generic[] = {"above",    "Providing", "studies", "recommendation",
                                          "yourself", "effects",   "need",    "anything"};
    static const char *const topics[] = {"penguin", "policy", "zebra", "", "3", "機密", "a-b"};
    struct text_analyser *a = text_analyser_new();
    for (size_t i = 0; i < sizeof(generic) / sizeof(*generic); i++) {
        cr_assert(is_generic_word(a, generic[i]), "%s", generic[i]);
    }
    for (size_t i = 0; i < sizeof(topics) / sizeof(*topics); i++) {
        cr_assert(!is_generic_word(a, topics[i]), "%s", topics[i]);
    }
    text_analyser_free(a);
}

/* xorshift64* */
static uint64_t next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static struct answer *random_answer(uint64_t *state)
{
    static const char *const words[] = {
        "find penguin",
        "some penguin glacier effects",
        "penguin glacier walrus",
        NINE,
        "recommend papers about seal krill tundra studies and their impact on walrus health",
    };
    struct answer *a = ask(words[next(state) % (sizeof(words) / sizeof(*words))]);
    size_t n = 1 + next(state) % 60;
    uint64_t odds = 2 + next(state) % 8;
    for (size_t i = 0; i < n; i++) {
        add_hit(a, next(state) % 5000, "");
        for (size_t t = 0; t < a->hits.n_terms; t++) {
            if (next(state) % odds == 0) {
                hold(a, i, t);
            }
        }
    }
    return a;
}

/* One more term in one of the judged hits never makes an answer `empty`, nor does a lower setting
 * or a shorter passage. */
Test(abstain, holding_more_never_turns_an_answer_into_empty)
{
    const char *given = getenv("KB_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 20250301, state = seed;
    size_t answers = 0, empties = 0;
    for (int round = 0; round < 2000; round++) {
        struct answer *a = random_answer(&state);
        uint32_t setting = 1 + (uint32_t)(next(&state) % 1000);
        bool before = is_empty_at(a, setting);
        answers += !before;
        empties += before;
        size_t judged = a->hits.n < ABSTAIN_JUDGED ? a->hits.n : ABSTAIN_JUDGED;
        size_t hit = next(&state) % judged;
        cr_assert(before || !is_empty_at(a, setting - 1), "seed %llu", (unsigned long long)seed);
        hold(a, hit, next(&state) % a->hits.n_terms);
        a->items[hit].text.n -= next(&state) % (a->items[hit].text.n + 1);
        cr_assert(before || !is_empty_at(a, setting), "seed %llu, round %d",
                  (unsigned long long)seed, round);
        answer_free(a);
    }
    cr_assert(answers > 200 && empties > 200, "%zu answers, %zu empty", answers, empties);
}
