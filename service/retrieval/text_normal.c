/* SPDX-License-Identifier: Apache-2.0 */
/* utf8proc decomposes and composes; the canonical ordering between the two is ours (UAX #15), since
 * its own is an insertion sort that a text of a hundred thousand alternating marks turns quadratic.
 */
#include "service/retrieval/text_normal.h"

#include "service/base/mem.h"
#include "service/base/utf8.h"

#include <stdlib.h>
#include <utf8proc.h>

enum {
    DECOMPOSED_MAX = 32, /* code points of one; the longest today is U+FDFA with 18 */
    SHORT_RUN = 16,      /* marks in a row that are cheaper to sort by insertion */
    CLASSES = 256,
};

static const struct range {
    int32_t first, last;
} DIACRITICS[] = {
    /* Marks that readers leave out when they type. Not: kana voicing, Indic vowel signs. */
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x05BF, 0x05BF}, {0x05C1, 0x05C2},
    {0x05C4, 0x05C5}, {0x05C7, 0x05C7}, {0x0610, 0x061A}, {0x064B, 0x065F}, {0x0670, 0x0670},
    {0x06D6, 0x06DC}, {0x06DF, 0x06E4}, {0x06E7, 0x06E8}, {0x06EA, 0x06ED}, {0x1AB0, 0x1AFF},
    {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0xFE20, 0xFE2F},
};

static bool is_diacritic(int32_t code)
{
    for (size_t i = 0; i < sizeof(DIACRITICS) / sizeof(DIACRITICS[0]); i++) {
        if (code >= DIACRITICS[i].first && code <= DIACRITICS[i].last) {
            return true;
        }
    }
    return false;
}

void codes_done(struct codes *c)
{
    free(c->p);
    *c = (struct codes){0};
}

void codes_reserve(struct codes *c, size_t n)
{
    if (c->cap - c->n >= n) {
        return;
    }
    size_t cap = c->cap ? c->cap : 256;
    while (cap - c->n < n) {
        cap *= 2;
    }
    c->p = mem_realloc(c->p, cap * sizeof(*c->p));
    c->cap = cap;
}

static utf8proc_option_t decompose_options(enum normal_form form)
{
    unsigned options = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE;
    if (form != NORMAL_NFC) {
        options |= UTF8PROC_COMPAT;
    }
    if (form == NORMAL_FOLD) {
        options |= UTF8PROC_CASEFOLD | UTF8PROC_IGNORE;
    }
    return (utf8proc_option_t)options;
}

/* É is e folded, but begins a word like E. */
static int32_t with_case(int32_t folded, int32_t code)
{
    bool ascii = folded >= 'a' && folded <= 'z';
    return ascii && utf8proc_category(code) == UTF8PROC_CATEGORY_LU ? folded - ('a' - 'A') : folded;
}

static void add_decomposed(struct codes *c, int32_t code, enum normal_form form)
{
    int boundclass = 0;
    codes_reserve(c, DECOMPOSED_MAX);
    int32_t *at = c->p + c->n;
    utf8proc_ssize_t n =
        utf8proc_decompose_char(code, at, DECOMPOSED_MAX, decompose_options(form), &boundclass);
    for (utf8proc_ssize_t i = 0; i < n && i < DECOMPOSED_MAX; i++) {
        if (form != NORMAL_FOLD) {
            c->p[c->n++] = at[i];
        } else if (!is_diacritic(at[i])) {
            c->p[c->n++] = with_case(at[i], code);
        }
    }
}

/* Its length in bytes. */
static size_t add_ascii(struct codes *c, struct slice utf8)
{
    size_t n = 0;
    codes_reserve(c, utf8.n);
    while (n < utf8.n && (unsigned char)utf8.p[n] < 0x80) {
        c->p[c->n + n] = (unsigned char)utf8.p[n];
        n++;
    }
    c->n += n;
    return n;
}

/* Whether anything but ASCII came out, which is its own normal form. */
static bool decompose(struct codes *c, struct slice utf8, enum normal_form form)
{
    c->n = 0;
    size_t ascii = 0;
    for (size_t at = 0; at < utf8.n;) {
        size_t n = add_ascii(c, slice_skip(utf8, at));
        ascii += n;
        at += n;
        if (at < utf8.n) {
            uint32_t code;
            at += utf8_decode(slice_skip(utf8, at), &code);
            add_decomposed(c, code == UTF8_BAD ? 0xFFFD : (int32_t)code, form);
        }
    }
    return ascii < utf8.n;
}

static unsigned combining_class(int32_t code)
{
    return code < 0x300 ? 0 : (unsigned)utf8proc_get_property(code)->combining_class % CLASSES;
}

static void sort_short(int32_t *run, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        int32_t code = run[i];
        size_t at = i;
        while (at > 0 && combining_class(run[at - 1]) > combining_class(code)) {
            run[at] = run[at - 1];
            at--;
        }
        run[at] = code;
    }
}

static void sort_long(int32_t *run, size_t n)
{
    size_t start[CLASSES + 1] = {0};
    for (size_t i = 0; i < n; i++) {
        start[combining_class(run[i]) + 1]++;
    }
    for (size_t i = 0; i < CLASSES; i++) {
        start[i + 1] += start[i];
    }
    int32_t *sorted = mem_array(n, sizeof(*sorted));
    for (size_t i = 0; i < n; i++) {
        sorted[start[combining_class(run[i])]++] = run[i];
    }
    memcpy(run, sorted, n * sizeof(*run));
    free(sorted);
}

static void order_marks(struct codes *c)
{
    for (size_t i = 0; i < c->n;) {
        size_t end = i;
        while (end < c->n && combining_class(c->p[end]) != 0) {
            end++;
        }
        if (end - i > SHORT_RUN) {
            sort_long(c->p + i, end - i);
        } else {
            sort_short(c->p + i, end - i);
        }
        i = end + 1;
    }
}

/* Scripts and signs that many texts hold and that, as NFC_Quick_Check has it, neither change nor
 * combine with what stands before them. */
static bool is_own_nfc(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } RANGES[] = {
        {0x0400, 0x0482}, {0x2010, 0x205E}, {0x2500, 0x27FF}, {0x3040, 0x3096},
        {0x30A0, 0x30FF}, {0x4E00, 0x9FFF}, {0xAC00, 0xD7A3}, {0x1F300, 0x1FAFF},
    };
    for (size_t i = 0; code >= 0x300 && i < sizeof(RANGES) / sizeof(RANGES[0]); i++) {
        if (code >= RANGES[i].first && code <= RANGES[i].last) {
            return true;
        }
    }
    return code < 0x300;
}

/* Whether a look at each character shows that the text is NFC; if so, c holds it (UAX #15 §9). */
static bool take_nfc(struct codes *c, struct slice utf8)
{
    c->n = 0;
    for (size_t at = 0; at < utf8.n;) {
        uint32_t code;
        at += add_ascii(c, slice_skip(utf8, at));
        if (at == utf8.n) {
            break;
        }
        at += utf8_decode(slice_skip(utf8, at), &code);
        if (!is_own_nfc(code)) {
            return false;
        }
        codes_add(c, (int32_t)code);
    }
    return true;
}

void text_normalise(struct codes *c, struct slice utf8, enum normal_form form)
{
    if ((form == NORMAL_NFC && take_nfc(c, utf8)) || !decompose(c, utf8, form)) {
        return;
    }
    order_marks(c);
    utf8proc_ssize_t n = utf8proc_normalize_utf32(
        c->p, (utf8proc_ssize_t)c->n, (utf8proc_option_t)(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    c->n = n > 0 ? (size_t)n : 0;
}

bool code_is_mark(int32_t code)
{
    if (code < 0x80) {
        return false;
    }
    utf8proc_category_t c = utf8proc_category(code);
    return c >= UTF8PROC_CATEGORY_MN && c <= UTF8PROC_CATEGORY_ME;
}

bool code_is_space(int32_t code)
{
    return (code >= 0x09 && code <= 0x0D) || code == 0x20 || code == 0x85 || code == 0xA0 ||
           code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
           code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

bool code_is_unspaced(int32_t code)
{
    static const struct {
        int32_t first, last;
    } RANGES[] = {
        {0x0E01, 0x0EFF},                                         /* Thai, Lao */
        {0x1000, 0x109F},                                         /* Myanmar */
        {0x1100, 0x11FF},                                         /* Hangul Jamo */
        {0x1780, 0x17DD},                                         /* Khmer */
        {0x2E80, 0x2FDF},                                         /* radicals */
        {0x3005, 0x3007},   {0x3021, 0x3029},   {0x3031, 0x303C}, /* Han marks and numerals */
        {0x3041, 0x309F},   {0x30A1, 0x30FA},   {0x30FC, 0x31BF}, /* kana, Bopomofo, Hangul */
        {0x31F0, 0x31FF},   {0x3400, 0x4DBF},   {0x4E00, 0x9FFF}, /* kana, Han */
        {0xA960, 0xA97F},   {0xAC00, 0xD7FF},   {0xF900, 0xFAFF}, /* Hangul, Han */
        {0x1AFF0, 0x1B16F}, {0x20000, 0x3FFFD},                   /* kana, Han */
    };
    for (size_t i = 0; code >= RANGES[0].first && i < sizeof(RANGES) / sizeof(RANGES[0]); i++) {
        if (code >= RANGES[i].first && code <= RANGES[i].last) {
            return true;
        }
    }
    return false;
}
