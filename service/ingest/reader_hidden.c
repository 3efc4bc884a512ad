/* SPDX-License-Identifier: Apache-2.0 */
/* Hidden text is where orders to a model hide. Only what an element says of itself is seen: style
 * sheets would need a layout engine. CSS is compared in lower case and without white space and
 * comments; of two declarations of one property the hiding one counts. */
#include "service/ingest/reader.h"

enum { DECLARATION_MAX = 64 }; /* a longer one is none that hides */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The next declaration of *style, folded; false: there is none. */
static bool next_declaration(struct slice *style, char ret_text[DECLARATION_MAX])
{
    size_t n = 0;
    if (style->n == 0) {
        return false;
    }
    while (style->n && style->p[0] != ';') {
        if (slice_starts(*style, SLICE_LIT("/*"))) {
            const char *end = memmem(style->p + 2, style->n - 2, "*/", 2);
            *style = slice_skip(*style, end ? (size_t)(end - style->p) + 2 : style->n);
            continue;
        }
        char c = style->p[0];
        if (!is_space(c) && n < DECLARATION_MAX - 1) {
            ret_text[n++] = c;
            if (c >= 'A' && c <= 'Z') {
                ret_text[n - 1] = (char)(c | 0x20);
            }
        }
        *style = slice_skip(*style, 1);
    }
    *style = slice_skip(*style, style->n ? 1 : 0);
    ret_text[n] = 0;
    return true;
}

/* 0, 0px, 0.0em, .0%, +0 */
static bool is_zero(const char *value)
{
    value += *value == '+' || *value == '-';
    size_t n = strspn(value, "0.");
    return n && memchr(value, '0', n) && (value[n] < '0' || value[n] > '9');
}

static bool is_value(const char *value, const char *name)
{
    size_t n = strlen(name);
    return strncmp(value, name, n) == 0 && (value[n] == 0 || value[n] == '!');
}

static bool hides(const char *declaration)
{
    const char *colon = strchr(declaration, ':');
    if (!colon) {
        return false;
    }
    struct slice name = {declaration, (size_t)(colon - declaration)};
    const char *value = colon + 1;
    if (slice_is(name, "display")) {
        return is_value(value, "none");
    }
    if (slice_is(name, "visibility")) {
        return is_value(value, "hidden") || is_value(value, "collapse");
    }
    return (slice_is(name, "font-size") || slice_is(name, "opacity")) && is_zero(value);
}

bool reader_style_hides(struct slice style)
{
    char declaration[DECLARATION_MAX];
    while (next_declaration(&style, declaration)) {
        if (hides(declaration)) {
            return true;
        }
    }
    return false;
}
