/* SPDX-License-Identifier: Apache-2.0 */
/* Not a parser of HTML: a tag that is spelt so oddly that it is not seen here hides nothing, and
 * its text is shown as it was before. */
#include "service/ingest/reader_tags.h"

#include "service/ingest/reader.h"

#include <stdint.h>
#include <strings.h>

struct attribute {
    struct slice name, value;
};

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool equals(struct slice s, const char *text)
{
    return s.n == strlen(text) && strncasecmp(s.p, text, s.n) == 0;
}

/* Bytes before the first of the characters in `ends` or white space. */
static size_t span_until(struct slice s, const char *ends)
{
    size_t n = 0;
    while (n < s.n && !is_space(s.p[n]) && !strchr(ends, s.p[n])) {
        n++;
    }
    return n;
}

static struct slice skip_spaces(struct slice s)
{
    while (s.n && is_space(s.p[0])) {
        s = slice_skip(s, 1);
    }
    return s;
}

static struct slice take_value(struct slice *s)
{
    *s = skip_spaces(slice_skip(*s, 1));
    struct slice value;
    if (s->n && (s->p[0] == '"' || s->p[0] == '\'')) {
        const char *end = memchr(s->p + 1, s->p[0], s->n - 1);
        value = (struct slice){s->p + 1, end ? (size_t)(end - s->p) - 1 : s->n - 1};
        *s = slice_skip(*s, end ? value.n + 2 : s->n);
        return value;
    }
    value = (struct slice){s->p, span_until(*s, "")};
    *s = slice_skip(*s, value.n);
    return value;
}

static bool next_attribute(struct slice *s, struct attribute *ret_attribute)
{
    *s = skip_spaces(*s);
    while (s->n && (s->p[0] == '/' || s->p[0] == '=')) {
        *s = skip_spaces(slice_skip(*s, 1));
    }
    if (s->n == 0) {
        return false;
    }
    size_t n = span_until(*s, "=/");
    *ret_attribute = (struct attribute){{s->p, n}, SLICE_NONE};
    *s = slice_skip(*s, n);
    struct slice rest = skip_spaces(*s);
    if (rest.n && rest.p[0] == '=') {
        *s = rest;
        ret_attribute->value = take_value(s);
    }
    return true;
}

static bool hides(struct slice attributes)
{
    struct attribute a;
    while (next_attribute(&attributes, &a)) {
        if (equals(a.name, "hidden") ||
            (equals(a.name, "aria-hidden") && equals(a.value, "true")) ||
            (equals(a.name, "style") && reader_style_hides(a.value))) {
            return true;
        }
    }
    return false;
}

/* Without an end tag, or with one that authors may leave out: nobody could tell where it ends. */
static bool lacks_end(struct slice name)
{
    static const char *const names[] = {"area",  "base", "br",   "col",   "embed",  "hr",    "img",
                                        "input", "link", "meta", "param", "source", "track", "wbr",
                                        "p",     "li",   "dt",   "dd",    "tr",     "td",    "th"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (equals(name, names[i])) {
            return true;
        }
    }
    return false;
}

/* inner: what stands between < and >. */
static void take_tag(struct tags *t, struct slice inner)
{
    bool closes = inner.n && inner.p[0] == '/';
    inner = slice_skip(inner, closes ? 1 : 0);
    struct slice name = {inner.p, span_until(inner, "/")};
    if (t->depth) {
        bool same = equals(name, t->name);
        t->depth -= same && closes ? 1 : 0;
        t->depth += same && !closes ? 1 : 0;
    } else if (!closes && name.n < TAG_NAME_MAX && !lacks_end(name) &&
               hides(slice_skip(inner, name.n))) {
        memcpy(t->name, name.p, name.n);
        t->name[name.n] = 0;
        t->depth = 1;
    }
}

/* To look for tags inside one that never ends would take quadratic time. */
static const size_t UNFINISHED = SIZE_MAX;

/* Bytes of the tag or comment that begins html, its > included; 0: none does. */
static size_t tag_size(struct slice html)
{
    if (slice_starts(html, SLICE_LIT("<!--"))) {
        const char *end = memmem(html.p, html.n, "-->", 3);
        return end ? (size_t)(end - html.p) + 3 : UNFINISHED;
    }
    size_t at = html.n > 1 && html.p[1] == '/' ? 2 : 1;
    if (html.p[0] != '<' || at >= html.n || !is_letter(html.p[at])) {
        return 0;
    }
    for (char quote = 0; at < html.n; at++) {
        char c = html.p[at];
        if (quote == 0 && c == '>') {
            return at + 1;
        }
        if (c == quote) {
            quote = 0;
        } else if (quote == 0 && (c == '"' || c == '\'')) {
            quote = c;
        }
    }
    return UNFINISHED;
}

size_t tags_scan(struct tags *t, struct slice html)
{
    bool began_hidden = t->depth > 0;
    size_t at = 0;
    while (at < html.n) {
        struct slice rest = slice_skip(html, at);
        size_t n = tag_size(rest);
        if (n == UNFINISHED) {
            return html.n;
        }
        at += n ? n : 1;
        if (n > 2 && rest.p[1] != '!') {
            take_tag(t, (struct slice){rest.p + 1, n - 2});
        }
        if (began_hidden && t->depth == 0) {
            return at;
        }
    }
    return at;
}
