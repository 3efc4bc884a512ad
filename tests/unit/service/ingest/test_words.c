/* SPDX-License-Identifier: Apache-2.0 */
#include "service/base/utf8.h"
#include "service/ingest/words.h"

#include <criterion/criterion.h>
#include <stdint.h>

Test(words, counts_quarters_of_words)
{
    static const struct {
        const char *text;
        size_t quarters;
    } cases[] = {
        {"", 0},
        {"one", 4},
        {"  one\n two\tthree ", 12},
        {"one\xC2\xA0two\xE2\x80\x83three", 12},                 /* no-break and em space */
        {"multi-agent, node.js", 8},                             /* punctuation is no gap */
        {"\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E\xE3\x81\xA7", 8}, /* four Han and kana */
        {"\xE3\x81\x82 one \xE3\x81\x84", 8},                    /* kana, word, kana */
        {"\xED\x95\x9C\xEA\xB5\xAD \xEB\xA7\x90", 8},            /* Hangul has spaces: two words */
        {"\xE0\xB8\x81\xE0\xB8\x82\xE0\xB8\x83", 3},             /* Thai */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_expect_eq(words_quarters(slice_of(cases[i].text)), cases[i].quarters, "case %zu: %zu", i,
                     words_quarters(slice_of(cases[i].text)));
    }
}

Test(words, a_long_word_counts_more_than_once)
{
    char text[100];
    memset(text, 'x', sizeof(text));
    cr_expect_eq(words_quarters((struct slice){text, 31}), 4);
    cr_expect_eq(words_quarters((struct slice){text, 32}), 4);
    cr_expect_eq(words_quarters((struct slice){text, 33}), 8);
    cr_expect_eq(words_quarters((struct slice){text, 64}), 8);
    cr_expect_eq(words_quarters((struct slice){text, 65}), 12);
}

Test(words, finds_the_end_of_a_sentence)
{
    static const struct {
        const char *text, *first;
    } cases[] = {
        {"", ""},
        {"No end", "No end"},
        {"One. Two.", "One. "},
        {"One.  \n Two", "One.  \n "},
        {"Version 1.2 is out. Next", "Version 1.2 is out. "},
        {"He said \"go.\" Then", "He said \"go.\" "},
        {"Really?! Yes", "Really?! "},
        {"node.js", "node.js"},
        {"\xE4\xB8\x80\xE3\x80\x82\xE4\xBA\x8C\xE3\x80\x82", "\xE4\xB8\x80\xE3\x80\x82"},
        {"\xE4\xB8\x80\xE3\x80\x82\xE3\x80\x8D\xE4\xBA\x8C",
         "\xE4\xB8\x80\xE3\x80\x82\xE3\x80\x8D"}, /* the closing bracket stays with it */
        {"\xE4\xB8\x80\xEF\xBC\x81\xEF\xBC\x9F\xE4\xBA\x8C",
         "\xE4\xB8\x80\xEF\xBC\x81\xEF\xBC\x9F"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_expect_eq(words_sentence(slice_of(cases[i].text)), strlen(cases[i].first), "case %zu",
                     i);
    }
}

Test(words, fit_prefers_lines_then_spaces_then_characters)
{
    static const struct {
        const char *text;
        size_t max_quarters, max_bytes, n;
    } cases[] = {
        {"all of it", SIZE_MAX, 9, 9},
        {"all of it!", SIZE_MAX, 9, 7},
        {"aaaa bbbb\ncc dd", SIZE_MAX, 12, 10},
        {"a\nbbbb cccc dddd", SIZE_MAX, 12, 12}, /* a newline too near the beginning */
        {"one two three", 8, 100, 8},
        {"abcdefgh", SIZE_MAX, 3, 3},
        {"\xC3\xA9\xC3\xA9", SIZE_MAX, 3, 2},
        {"\xF0\x9F\x98\x80x", SIZE_MAX, 1, 4}, /* never less than one character */
        {"x", 0, 0, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t n = words_fit(slice_of(cases[i].text), cases[i].max_quarters, cases[i].max_bytes);
        cr_expect_eq(n, cases[i].n, "case %zu: %zu", i, n);
    }
}

Test(words, line_includes_its_newline)
{
    cr_expect_eq(words_line(SLICE_LIT("ab\ncd")), 3);
    cr_expect_eq(words_line(SLICE_LIT("ab")), 2);
    cr_expect_eq(words_line(SLICE_LIT("")), 0);
}
