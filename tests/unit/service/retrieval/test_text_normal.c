/* SPDX-License-Identifier: Apache-2.0 */
/* NFC against utf8proc's own, for every character and what may follow it: a text that passes the
 * quick check must be one that needs nothing. */
#include "service/retrieval/text_normal.h"

#include "service/base/utf8.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <utf8proc.h>

static void expect_nfc(struct codes *c, const struct dynbuf *text, uint32_t code)
{
    utf8proc_uint8_t *expected = NULL;
    utf8proc_ssize_t n =
        utf8proc_map((const utf8proc_uint8_t *)text->p, (utf8proc_ssize_t)text->n, &expected,
                     (utf8proc_option_t)(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    cr_assert_geq(n, 0);
    text_normalise(c, dynbuf_get(text), NORMAL_NFC);
    struct dynbuf found;
    dynbuf_init(&found, 256);
    for (size_t i = 0; i < c->n; i++) {
        utf8_add(&found, (uint32_t)c->p[i]);
    }
    cr_assert(slice_eq(dynbuf_get(&found), (struct slice){(const char *)expected, (size_t)n}),
              "U+%04X", (unsigned)code);
    dynbuf_done(&found);
    free(expected);
}

Test(text_normal, nfc_is_what_unicode_says_for_each_character_and_its_company)
{
    /* marks above and below, an overlay, kana voicing, Hangul vowel and final */
    static const uint32_t BEHIND[] = {0x301, 0x323, 0x338, 0x3099, 0x1161, 0x11A8};
    struct codes c = {0};
    struct dynbuf text;
    dynbuf_init(&text, 256);
    for (uint32_t code = 1; code < 0x20000; code = code == 0xD7FF ? 0xE000 : code + 1) {
        dynbuf_cut(&text, 0);
        utf8_add(&text, code);
        expect_nfc(&c, &text, code); /* alone, and in one text behind each of the others */
        dynbuf_cut(&text, 0);
        for (size_t i = 0; i < sizeof(BEHIND) / sizeof(BEHIND[0]); i++) {
            utf8_add(&text, code);
            utf8_add(&text, BEHIND[i]);
            utf8_add(&text, 'e');
            utf8_add(&text, code);
        }
        expect_nfc(&c, &text, code);
    }
    codes_done(&c);
    dynbuf_done(&text);
}

/* No character of a text that passed the quick check could have composed with one before it. */
Test(text_normal, nothing_that_follows_a_character_is_left_uncomposed)
{
    struct codes c = {0};
    struct dynbuf text;
    dynbuf_init(&text, 256);
    for (uint32_t code = 0x80; code < 0x20000; code = code == 0xD7FF ? 0xE000 : code + 1) {
        int32_t parts[32];
        int boundclass = 0;
        utf8proc_ssize_t n = utf8proc_decompose_char(
            (int32_t)code, parts, 32, (utf8proc_option_t)UTF8PROC_DECOMPOSE, &boundclass);
        cr_assert(n >= 0 && n <= 32);
        dynbuf_cut(&text, 0);
        for (utf8proc_ssize_t i = 0; i < n; i++) {
            utf8_add(&text, (uint32_t)parts[i]);
        }
        if (n > 1) {
            expect_nfc(&c, &text, code);
        }
    }
    codes_done(&c);
    dynbuf_done(&text);
}

Test(text_normal, ill_formed_bytes_are_replaced_in_every_form)
{
    struct codes c = {0};
    for (int form = NORMAL_NFC; form <= NORMAL_FOLD; form++) {
        text_normalise(&c, SLICE_LIT("a\xFFz\xE2\x80"), (enum normal_form)form);
        cr_expect(c.n == 4 && c.p[0] == 'a' && c.p[1] == 0xFFFD && c.p[2] == 'z' &&
                  c.p[3] == 0xFFFD);
    }
    codes_done(&c);
}
