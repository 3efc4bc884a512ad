/* SPDX-License-Identifier: Apache-2.0 */
/* Table 3-7 as ranges of the second byte, so that surrogates, overlong forms and code points past
 * U+10FFFF have no accepted form. */
#include "service/base/utf8.h"

struct lead {
    unsigned char first, last; /* range of the first byte */
    unsigned char low, high;   /* range of the second byte */
    size_t length;
};

static const struct lead LEADS[] = {
    {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3}, {0xE1, 0xEC, 0x80, 0xBF, 3},
    {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3}, {0xF0, 0xF0, 0x90, 0xBF, 4},
    {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
};

static const struct lead *find_lead(unsigned char byte)
{
    for (size_t i = 0; i < sizeof(LEADS) / sizeof(LEADS[0]); i++) {
        if (byte >= LEADS[i].first && byte <= LEADS[i].last) {
            return &LEADS[i];
        }
    }
    return NULL;
}

size_t utf8_decode(struct slice s, uint32_t *ret_code)
{
    const unsigned char *p = (const unsigned char *)s.p;
    if (p[0] < 0x80) {
        *ret_code = p[0];
        return 1;
    }
    *ret_code = UTF8_BAD;
    const struct lead *lead = find_lead(p[0]);
    if (!lead || s.n < 2 || p[1] < lead->low || p[1] > lead->high) {
        return 1;
    }
    uint32_t code = (uint32_t)(p[0] & (0x7F >> lead->length)) << 6 | (p[1] & 0x3F);
    for (size_t i = 2; i < lead->length; i++) {
        if (i >= s.n || (p[i] & 0xC0) != 0x80) {
            return i;
        }
        code = code << 6 | (p[i] & 0x3F);
    }
    *ret_code = code;
    return lead->length;
}

void utf8_add(struct dynbuf *b, uint32_t code)
{
    char bytes[4];
    size_t n;
    if (code < 0x80) {
        bytes[0] = (char)code;
        n = 1;
    } else if (code < 0x800) {
        bytes[0] = (char)(0xC0 | code >> 6);
        n = 2;
    } else if (code < 0x10000) {
        bytes[0] = (char)(0xE0 | code >> 12);
        n = 3;
    } else {
        bytes[0] = (char)(0xF0 | code >> 18);
        n = 4;
    }
    for (size_t i = 1; i < n; i++) {
        bytes[i] = (char)(0x80 | (code >> (6 * (n - 1 - i)) & 0x3F));
    }
    dynbuf_add(b, (struct slice){bytes, n});
}

size_t utf8_ascii_length(struct slice s)
{
    size_t n = 0;
    uint64_t word;
    for (; s.n - n >= sizeof(word); n += sizeof(word)) {
        memcpy(&word, s.p + n, sizeof(word));
        if (word & 0x8080808080808080u) {
            break;
        }
    }
    while (n < s.n && (unsigned char)s.p[n] < 0x80) {
        n++;
    }
    return n;
}

bool utf8_is_valid(struct slice s)
{
    for (size_t at = utf8_ascii_length(s); at < s.n;) {
        uint32_t code;
        at += utf8_decode(slice_skip(s, at), &code);
        if (code == UTF8_BAD) {
            return false;
        }
        at += utf8_ascii_length(slice_skip(s, at));
    }
    return true;
}

size_t utf8_count(struct slice s)
{
    size_t count = 0;
    for (size_t i = 0; i < s.n; i++) {
        count += (s.p[i] & 0xC0) != 0x80;
    }
    return count;
}

size_t utf8_add_valid(struct dynbuf *b, struct slice s)
{
    size_t replaced = 0;
    for (size_t at = 0; at < s.n;) {
        uint32_t code;
        size_t n = utf8_decode(slice_skip(s, at), &code);
        if (code == UTF8_BAD) {
            dynbuf_add_text(b, "\xEF\xBF\xBD");
            replaced++;
        } else {
            dynbuf_add(b, (struct slice){s.p + at, n});
        }
        at += n;
    }
    return replaced;
}
