/* SPDX-License-Identifier: Apache-2.0 */
/* The words that a reader sees, whatever the bytes. Shown as one line: words parted by blanks, '/'
 * before the first of a sentence, '*' behind a disguised one, '~' for one that is too long. */
#include "service/retrieval/scan_words.h"

#include "service/base/dynbuf.h"
#include "service/base/mem.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static void show_word(struct dynbuf *out, const struct scan_word *w)
{
    if (w->is_mark) {
        return;
    }
    dynbuf_add_text(out, out->n ? " " : "");
    dynbuf_add_text(out, w->after_break ? "/" : "");
    dynbuf_add(out, w->n ? (struct slice){w->text, w->n} : SLICE_LIT("~"));
    dynbuf_add_text(out, w->disguised ? "*" : "");
}

static void expect_words(struct slice text, const char *expected)
{
    struct scan_words words;
    struct scan_word word;
    struct dynbuf out;
    dynbuf_init(&out, 1 << 16);
    scan_words_init(&words, text);
    while (scan_words_next(&words, &word)) {
        show_word(&out, &word);
    }
    scan_words_done(&words);
    cr_expect(slice_is(dynbuf_get(&out), expected), "%.*s gave %s", (int)text.n, text.p,
              dynbuf_text(&out));
    dynbuf_done(&out);
}

Test(scan_words, folds_what_only_looks_different)
{
    static const struct {
        const char *text, *words;
    } CASES[] = {
        {"", ""},
        {"a", "/a"},
        {"Don't  STOP", "/dont stop"},
        {"don\u2019t read_file a-b", "/dont read file a b"},
        {"rock 'n' roll", "/rock n roll"},
        {"One. Two? Three!Four", "/one /two /three four"},
        {"one\ntwo\n\nthree\r\n\r\nfour", "/one two /three /four"},
        {"one. (two three", "/one two three"},
        {"one\\ntwo\\\\ three", "/one two three"},
        {"<b>one</b><i>two</i> <a>three", "/one two a three"},
        {"\uFF21\uFF42\u00E7 \u00C9t\u00E9", "/abc ete"},
        {"in\u200Bner inner\u200B in\u00ADner", "/inner* inner inner"},
        {"s p e l t  o u t", "/spelt* o u t"},
        {"s-p-e-l-t o u t", "/spelt* o u t"},
        {"f.o.u.r t r e", "/four* t r e"},
        {"f-o u-r", "/f o u r"},
        {"\u5FFD\u7565\u6307\u4EE4 x \u5FFD", "/\u5FFD\u7565 \u7565\u6307 \u6307\u4EE4 x \u5FFD"},
        {"\U000E0069\U000E0067\U000E0020\U000E0061", "/ig* a*"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        expect_words(slice_of(CASES[i].text), CASES[i].words);
    }
}

Test(scan_words, shows_what_look_alikes_spell)
{
    struct scan_words words;
    struct scan_word word;
    scan_words_init(&words, slice_of("\u0455\u0435\u0441ret \u0440\u0435\u043A\u0430 caf\u00E9"));
    struct scan_word seen[3];
    size_t n = 0;
    while (scan_words_next(&words, &word)) {
        if (!word.is_mark) {
            seen[n++] = word;
        }
    }
    scan_words_done(&words);
    cr_assert_eq(n, 3);
    cr_expect(slice_is((struct slice){seen[0].look, seen[0].n_look}, "secret"));
    cr_expect(slice_is((struct slice){seen[1].look, seen[1].n_look}, "peka"));
    cr_expect_eq(seen[2].n_look, 0, "it reads as it is");
}

Test(scan_words, has_a_limit_for_a_word)
{
    for (size_t n = SCAN_WORD_BYTES - 1; n <= SCAN_WORD_BYTES + 1; n++) {
        char text[SCAN_WORD_BYTES + 3] = {0};
        memset(text, 'x', n);
        struct scan_words words;
        struct scan_word word;
        scan_words_init(&words, slice_of(text));
        cr_expect(scan_words_next(&words, &word) && word.is_mark);
        cr_expect(scan_words_next(&words, &word));
        cr_expect_eq(word.n, n <= SCAN_WORD_BYTES ? n : 0, "%zu", n);
        cr_expect_not(scan_words_next(&words, &word));
        scan_words_done(&words);
    }
}

static size_t code_of(struct slice text)
{
    struct scan_words words;
    struct scan_word word;
    size_t n = 0, times = 0;
    scan_words_init(&words, text);
    while (scan_words_next(&words, &word)) {
        n += word.code.n;
        times += word.code.p != NULL;
    }
    scan_words_done(&words);
    cr_expect(times <= text.n / SCAN_CODE_MIN + 1);
    return n;
}

Test(scan_words, hands_out_what_may_be_encoded_once)
{
    size_t sizes[] = {SCAN_CODE_MIN - 1, SCAN_CODE_MIN, SCAN_CODE_MIN + 1,
                      SCAN_CODE_MAX - 1, SCAN_CODE_MAX, SCAN_CODE_MAX + 1};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char *text = mem_alloc(sizes[i] + 1);
        memset(text, 'x', sizes[i]);
        size_t expected = sizes[i] < SCAN_CODE_MIN   ? 0
                          : sizes[i] > SCAN_CODE_MAX ? SCAN_CODE_MAX
                                                     : sizes[i];
        cr_expect_eq(code_of((struct slice){text, sizes[i]}), expected, "%zu", sizes[i]);
        free(text);
    }
    /* Parted by what base64 has too: still each byte at most once. */
    char run[2048];
    for (size_t i = 0; i < sizeof(run); i++) {
        run[i] = i % 17 == 16 ? '/' : 'x';
    }
    cr_expect_eq(code_of((struct slice){run, sizeof(run)}), sizeof(run));
}

Test(scan_words, counts_tag_characters_but_not_those_of_flags)
{
    static const struct {
        const char *text;
        size_t hidden;
    } CASES[] = {
        {"\U000E0069\U000E0067", 2},
        {"x\U000E0069\U000E0020\U000E0067", 3},
        {"\U0001F3F4\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F", 0},
        {"\U0001F3F4 x \U000E0067", 1},
        {"\U0001F3F4\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E0067\U000E0067", 1},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct scan_words words;
        struct scan_word word;
        scan_words_init(&words, slice_of(CASES[i].text));
        while (scan_words_next(&words, &word)) {
            continue;
        }
        cr_expect_eq(words.hidden, CASES[i].hidden, "%zu: %zu", i, words.hidden);
        scan_words_done(&words);
    }
}
