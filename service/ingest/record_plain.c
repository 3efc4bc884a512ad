/* SPDX-License-Identifier: Apache-2.0 */
/* A tree of a record costs more than all else that is done to read it. First everything is looked
 * at where it stands, so that giving up costs no memory; then the texts are copied (RFC 8259). */
#include "service/ingest/record_plain.h"

#include "service/base/encode.h"
#include "service/base/utf8.h"

enum { FORMAT = RECORD_TEXTS_N, LABELS };

struct plain {
    struct slice rest;
    unsigned seen;        /* a bit for each member */
    struct record record; /* its texts as they stand in the line */
    struct slice format, labels[FIELD_LABELS_MAX];
};

static void pass_space(struct plain *p)
{
    size_t n = 0;
    while (n < p->rest.n && (p->rest.p[n] == ' ' || p->rest.p[n] == '\t' || p->rest.p[n] == '\n' ||
                             p->rest.p[n] == '\r')) {
        n++;
    }
    p->rest = slice_skip(p->rest, n);
}

static bool take(struct plain *p, const char *token)
{
    pass_space(p);
    bool there = slice_starts(p->rest, slice_of(token));
    p->rest = slice_skip(p->rest, there ? strlen(token) : 0);
    return there;
}

/* Escapes */

/* Of \uXXXX at the start of s; UTF8_BAD where there is none. */
static uint32_t code_unit(struct slice s)
{
    uint32_t code = 0;
    if (s.n < 6 || s.p[0] != '\\' || s.p[1] != 'u') {
        return UTF8_BAD;
    }
    for (size_t i = 2; i < 6; i++) {
        int digit = hex_value(s.p[i]);
        if (digit < 0) {
            return UTF8_BAD;
        }
        code = code << 4 | (uint32_t)digit;
    }
    return code;
}

/* The length of \uXXXX, or of two that are one character; 0: NUL, half a character or broken. */
static size_t long_escape(struct slice s, uint32_t *ret_code)
{
    uint32_t high = code_unit(s);
    *ret_code = high;
    if (high == UTF8_BAD || high == 0) {
        return 0;
    }
    if (high < 0xD800 || high > 0xDFFF) {
        return 6;
    }
    uint32_t low = code_unit(slice_skip(s, 6));
    *ret_code = 0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF);
    return high < 0xDC00 && low >= 0xDC00 && low <= 0xDFFF ? 12 : 0;
}

/* s begins with a backslash. */
static size_t escape(struct slice s, uint32_t *ret_code)
{
    static const char NAMES[] = "\"\\/bfnrt", CODES[] = "\"\\/\b\f\n\r\t";
    if (s.n < 2 || !s.p[1]) {
        return 0;
    }
    const char *at = strchr(NAMES, s.p[1]);
    if (!at) {
        return long_escape(s, ret_code);
    }
    *ret_code = (unsigned char)CODES[at - NAMES];
    return 2;
}

static struct slice copy(struct slice raw, struct arena *arena)
{
    struct dynbuf b;
    uint32_t code = 0;
    if (!raw.p || !memchr(raw.p, '\\', raw.n)) {
        return arena_copy(arena, raw);
    }
    dynbuf_init(&b, SIZE_MAX);
    for (const char *at; (at = memchr(raw.p, '\\', raw.n)) != NULL;) {
        size_t n = (size_t)(at - raw.p);
        dynbuf_add(&b, (struct slice){raw.p, n});
        raw = slice_skip(raw, n);
        raw = slice_skip(raw, escape(raw, &code));
        utf8_add(&b, code);
    }
    dynbuf_add(&b, raw);
    struct slice text = arena_copy(arena, dynbuf_get(&b));
    dynbuf_done(&b);
    return text;
}

/* Values */

static bool take_text(struct plain *p, struct slice *ret_raw)
{
    if (!take(p, "\"")) {
        return false;
    }
    const struct slice rest = p->rest;
    size_t n = 0, step = 1;
    uint32_t code;
    for (; n < rest.n && rest.p[n] != '"'; n += step) {
        step = rest.p[n] == '\\' ? escape(slice_skip(rest, n), &code) : 1;
        if (step == 0 || (unsigned char)rest.p[n] < 0x20) {
            return false;
        }
    }
    *ret_raw = (struct slice){rest.p, n};
    p->rest = slice_skip(rest, n < rest.n ? n + 1 : n);
    return n < rest.n;
}

static bool take_labels(struct plain *p)
{
    struct fields *f = &p->record.fields;
    f->has_labels = take(p, "[");
    if (!f->has_labels || take(p, "]")) {
        return f->has_labels;
    }
    do {
        if (f->n_labels == FIELD_LABELS_MAX || !take_text(p, &p->labels[f->n_labels++])) {
            return false;
        }
    } while (take(p, ","));
    return take(p, "]");
}

static unsigned member_of(struct slice key)
{
    for (unsigned i = 0; i < RECORD_TEXTS_N; i++) {
        if (slice_is(key, RECORD_TEXTS[i].key)) {
            return i;
        }
    }
    return slice_is(key, "format") ? FORMAT : slice_is(key, "labels") ? LABELS : LABELS + 1;
}

static bool take_value(struct plain *p, unsigned member)
{
    if (take(p, "null")) {
        return true;
    }
    if (member == LABELS) {
        return take_labels(p);
    }
    return take_text(p, member == FORMAT
                            ? &p->format
                            : (struct slice *)((char *)&p->record + RECORD_TEXTS[member].offset));
}

static bool take_member(struct plain *p)
{
    struct slice key;
    if (!take_text(p, &key) || !take(p, ":")) {
        return false;
    }
    unsigned member = member_of(key);
    if (member > LABELS || (p->seen & 1U << member)) {
        return false;
    }
    p->seen |= 1U << member;
    return take_value(p, member);
}

static bool take_object(struct plain *p)
{
    bool good = take(p, "{") && take_member(p);
    while (good && take(p, ",")) {
        good = take_member(p);
    }
    good = good && take(p, "}");
    pass_space(p);
    return good && p->rest.n == 0;
}

static void copy_texts(const struct plain *p, struct arena *arena, struct record *r)
{
    for (size_t i = 0; i < RECORD_TEXTS_N; i++) {
        struct slice *text = (struct slice *)((char *)r + RECORD_TEXTS[i].offset);
        *text = copy(*text, arena);
    }
    if (r->fields.has_labels) {
        struct slice *labels = arena_alloc(arena, r->fields.n_labels * sizeof(*labels));
        for (size_t i = 0; i < r->fields.n_labels; i++) {
            labels[i] = copy(p->labels[i], arena);
        }
        r->fields.labels = labels;
    }
}

bool record_read_plain(struct slice line, struct arena *arena, struct record *ret_record)
{
    struct plain p = {.rest = line};
    char reason[FIELD_REASON_BYTES];
    if (!utf8_is_valid(line) || !take_object(&p) ||
        (p.format.p && memchr(p.format.p, '\\', p.format.n))) {
        return false;
    }
    p.record.format = record_format_of(p.format);
    *ret_record = p.record;
    copy_texts(&p, arena, ret_record);
    return record_check(ret_record, reason);
}
