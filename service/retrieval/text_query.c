/* SPDX-License-Identifier: Apache-2.0 */
/* Canonical queries: one spelling for every query that means the same to Unicode, so that it is
 * searched, hashed and cached as one. */
#include "service/base/utf8.h"
#include "service/retrieval/text.h"
#include "service/retrieval/text_normal.h"

#include <utf8proc.h>

static bool is_control(int32_t code)
{
    return utf8proc_category(code) == UTF8PROC_CATEGORY_CC && !code_is_space(code);
}

static bool is_letter_or_digit(int32_t code)
{
    utf8proc_category_t c = utf8proc_category(code);
    return (c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO) ||
           (c >= UTF8PROC_CATEGORY_ND && c <= UTF8PROC_CATEGORY_NO);
}

/* In place: runs of white space as one space, none at the ends. */
static void collapse(struct codes *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (!code_is_space(c->p[i])) {
            c->p[n++] = c->p[i];
        } else if (n > 0 && c->p[n - 1] != ' ') {
            c->p[n++] = ' ';
        }
    }
    c->n = n > 0 && c->p[n - 1] == ' ' ? n - 1 : n;
}

static enum text_query_result judge(const struct codes *c)
{
    bool word = false;
    for (size_t i = 0; i < c->n; i++) {
        if (is_control(c->p[i])) {
            return TEXT_QUERY_CONTROL;
        }
        word = word || is_letter_or_digit(c->p[i]);
    }
    if (c->n == 0) {
        return TEXT_QUERY_BLANK;
    }
    if (c->n > TEXT_QUERY_MAX_CHARS) {
        return TEXT_QUERY_TOO_LONG;
    }
    return word ? TEXT_QUERY_OK : TEXT_QUERY_NO_WORD;
}

static void add_codes(struct dynbuf *out, const struct codes *c)
{
    for (size_t i = 0; i < c->n; i++) {
        utf8_add(out, (uint32_t)c->p[i]);
    }
}

enum text_query_result text_canonical_query(struct slice query, struct dynbuf *out)
{
    if (!utf8_is_valid(query)) {
        return TEXT_QUERY_NOT_UTF8;
    }
    struct codes c = {0};
    text_normalise(&c, query, NORMAL_NFC);
    collapse(&c);
    enum text_query_result result = judge(&c);
    if (result == TEXT_QUERY_OK) {
        add_codes(out, &c);
    }
    codes_done(&c);
    return result;
}

void text_add_nfc(struct dynbuf *out, struct slice utf8)
{
    struct codes c = {0};
    if (utf8_ascii_length(utf8) == utf8.n) {
        dynbuf_add(out, utf8); /* its own normal form */
        return;
    }
    text_normalise(&c, utf8, NORMAL_NFC);
    add_codes(out, &c);
    codes_done(&c);
}

struct slice text_nfc(struct slice utf8, struct arena *arena)
{
    struct dynbuf b;
    if (utf8_ascii_length(utf8) == utf8.n) {
        return utf8;
    }
    dynbuf_init(&b, SIZE_MAX);
    text_add_nfc(&b, utf8);
    struct slice copy = arena_copy(arena, dynbuf_get(&b));
    dynbuf_done(&b);
    return copy;
}
