/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds come from Unicode's general categories; ASCII, nearly all of most texts, from itself. */
#include "service/retrieval/scan_glyph.h"

#include "service/base/utf8.h"
#include "service/retrieval/text_normal.h"

#include <utf8proc.h>

enum { TAG_FIRST = 0xE0020, TAG_LAST = 0xE007E };

static enum glyph_kind ascii_kind(unsigned char c)
{
    if (glyph_is_alnum(c)) {
        return GLYPH_LETTER;
    }
    if (c == '\n' || c == '\r' || c == '\v' || c == '\f') {
        return GLYPH_NEWLINE;
    }
    if (c == ' ' || c == '\t' || c == '_') {
        return GLYPH_SPACE;
    }
    if (c == '\'') {
        return GLYPH_APOSTROPHE;
    }
    return c < ' ' || c == 0x7F ? GLYPH_NOTHING : GLYPH_MARK;
}

static bool is_quote(int32_t code)
{
    return code == 0x2018 || code == 0x2019 || code == 0x02BC || code == 0x0060 || code == 0x00B4;
}

enum glyph_kind glyph_category(int32_t code)
{
    utf8proc_category_t c = utf8proc_category(code);
    if (c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO) {
        return GLYPH_LETTER;
    }
    if (c >= UTF8PROC_CATEGORY_ND && c <= UTF8PROC_CATEGORY_NO) {
        return GLYPH_LETTER;
    }
    if (c >= UTF8PROC_CATEGORY_MN && c <= UTF8PROC_CATEGORY_ME) {
        return GLYPH_NOTHING;
    }
    if (c >= UTF8PROC_CATEGORY_PC && c <= UTF8PROC_CATEGORY_SO) {
        return GLYPH_MARK;
    }
    return c == UTF8PROC_CATEGORY_CF ? GLYPH_NOTHING : GLYPH_SPACE;
}

static enum glyph_kind other_kind(int32_t code)
{
    if (code >= TAG_FIRST && code <= TAG_LAST) {
        return GLYPH_TAG;
    }
    if (code == 0x85 || code == 0x2028 || code == 0x2029) {
        return GLYPH_NEWLINE;
    }
    if (is_quote(code)) {
        return GLYPH_APOSTROPHE;
    }
    return code_is_unspaced(code) ? GLYPH_UNSPACED : glyph_category(code);
}

struct glyph glyph_at(struct slice text, size_t at)
{
    if (at >= text.n) {
        return (struct glyph){GLYPH_SPACE, 0, 0};
    }
    unsigned char c = (unsigned char)text.p[at];
    if (c < 0x80) {
        return (struct glyph){ascii_kind(c), 1, c};
    }
    uint32_t code;
    size_t bytes = utf8_decode(slice_skip(text, at), &code);
    if (code == UTF8_BAD) {
        return (struct glyph){GLYPH_SPACE, bytes, ' '};
    }
    return (struct glyph){other_kind((int32_t)code), bytes, (int32_t)code};
}
