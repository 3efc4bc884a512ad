/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges instead of a dictionary: a chunk needs a length and a decent place to cut, not words. */
#include "service/ingest/words.h"

#include "service/base/utf8.h"

struct range {
    uint32_t first, last;
    unsigned quarters; /* of a word, for one character */
};

/* Scripts without spaces between words, in code point order. */
static const struct range SPACELESS[] = {
    {0x0E00, 0x0EFF, 1},   /* Thai, Lao */
    {0x1000, 0x109F, 1},   /* Myanmar */
    {0x1780, 0x17FF, 1},   /* Khmer */
    {0x2E80, 0x2FDF, 2},   /* radicals */
    {0x3005, 0x3007, 2},   /* iteration mark, zero */
    {0x3040, 0x312F, 2},   /* kana, bopomofo */
    {0x31A0, 0x31FF, 2},   /* bopomofo, kana extensions */
    {0x3400, 0x4DBF, 2},   /* Han extension A */
    {0x4E00, 0x9FFF, 2},   /* Han */
    {0xF900, 0xFAFF, 2},   /* compatibility ideographs */
    {0xFF66, 0xFF9F, 2},   /* half-width kana */
    {0x1B000, 0x1B16F, 2}, /* kana supplements */
    {0x20000, 0x3FFFF, 2}, /* Han extensions */
};

static unsigned spaceless(uint32_t code)
{
    for (size_t i = 0; i < sizeof(SPACELESS) / sizeof(SPACELESS[0]); i++) {
        if (code <= SPACELESS[i].last) {
            return code >= SPACELESS[i].first ? SPACELESS[i].quarters : 0;
        }
    }
    return 0;
}

static bool is_space(uint32_t code)
{
    return code == ' ' || (code >= '\t' && code <= '\r') || code == 0x85 || code == 0xA0 ||
           code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
           code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

/* Ends a sentence only where white space follows. */
static bool is_stop(uint32_t code)
{
    return code == '.' || code == '!' || code == '?' || code == 0x2026 || /* … */
           code == 0x0964 || code == 0x0965 ||                            /* danda */
           code == 0x061F || code == 0x06D4;                              /* Arabic */
}

/* Ends a sentence by itself. */
static bool is_full_width_stop(uint32_t code)
{
    return code == 0x3002 || code == 0xFF01 || code == 0xFF0E || code == 0xFF1F || code == 0xFF61;
}

static bool is_closer(uint32_t code)
{
    return code == '"' || code == '\'' || code == ')' || code == ']' || code == '*' ||
           code == 0x2019 || code == 0x201D || code == 0xBB || code == 0x300D || code == 0x300F ||
           code == 0xFF09 || code == 0x3011;
}

/* The length of a text, one character at a time. */
struct meter {
    size_t quarters, word_chars; /* word_chars: of the word that is still open */
};

static void meter_add(struct meter *m, uint32_t code)
{
    unsigned own = spaceless(code);
    if (own || is_space(code)) {
        m->quarters += own;
        m->word_chars = 0;
        return;
    }
    if (m->word_chars++ % WORD_LONG_CHARS == 0) {
        m->quarters += WORD_QUARTERS;
    }
}

size_t words_quarters(struct slice text)
{
    struct meter m = {0};
    while (text.n) {
        uint32_t code;
        text = slice_skip(text, utf8_decode(text, &code));
        meter_add(&m, code);
    }
    return m.quarters;
}

static size_t spaces(struct slice text)
{
    size_t at = 0;
    while (at < text.n) {
        uint32_t code;
        size_t n = utf8_decode(slice_skip(text, at), &code);
        if (!is_space(code)) {
            break;
        }
        at += n;
    }
    return at;
}

size_t words_sentence(struct slice text)
{
    bool stop = false, wide = false;
    for (size_t at = 0; at < text.n;) {
        uint32_t code;
        size_t n = utf8_decode(slice_skip(text, at), &code);
        bool more = (stop || wide) && is_closer(code);
        if (!more && (wide || (stop && is_space(code))) && !is_full_width_stop(code)) {
            return at + spaces(slice_skip(text, at));
        }
        wide = is_full_width_stop(code) || (wide && more);
        stop = is_stop(code) || (stop && more);
        at += n;
    }
    return text.n;
}

size_t words_line(struct slice text)
{
    const char *end = text.n ? memchr(text.p, '\n', text.n) : NULL;
    return end ? (size_t)(end - text.p) + 1 : text.n;
}

size_t words_fit(struct slice text, size_t max_quarters, size_t max_bytes)
{
    struct meter m = {0};
    size_t at = 0, line = 0, space = 0;
    while (at < text.n) {
        uint32_t code;
        size_t n = utf8_decode(slice_skip(text, at), &code);
        meter_add(&m, code);
        if (at && (m.quarters > max_quarters || at + n > max_bytes)) {
            break;
        }
        at += n;
        line = code == '\n' ? at : line;
        space = is_space(code) || spaceless(code) ? at : space;
    }
    if (at == text.n) {
        return at;
    }
    /* A newline near the beginning is no good place: the piece would be nearly empty. */
    return line > at / 2 ? line : space ? space : at;
}
