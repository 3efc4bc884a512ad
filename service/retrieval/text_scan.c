/* SPDX-License-Identifier: Apache-2.0 */
/* Segmentation of our own, over folded code points: the word boundaries of UAX #29 cut C++, .NET
 * and CVE-2023-44487 apart and leave scripts without spaces in one piece, and both are what people
 * search for. */
#include "service/retrieval/text_scan.h"

#include "service/retrieval/text.h"
#include "service/retrieval/text_pieces.h"

#include <utf8proc.h>

enum {
    BLOCK_BYTES = 16384, /* analysed at a time, to bound the buffer of code points */
};

static bool is_ascii_word(int32_t code)
{
    return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') ||
           (code >= '0' && code <= '9');
}

/* A letter, digit or mark (L*, N*, M*) beyond ASCII. */
static bool is_other_word(int32_t code)
{
    utf8proc_category_t c = utf8proc_category(code);
    return c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_NO;
}

static bool is_spaced_word(int32_t code)
{
    return code < 0x80 ? is_ascii_word(code) : is_other_word(code) && !code_is_unspaced(code);
}

static bool is_apostrophe(int32_t code)
{
    return code == '\'' || code == 0x2019;
}

/* Joins the parts of a compound that is also written as one word (e-mail, email). */
static bool is_hyphen(int32_t code)
{
    return code == '-' || code == '_' || code == 0x2010 || is_apostrophe(code);
}

/* Joins the parts of a compound where it stands between letters or digits. */
static bool is_connector(int32_t code)
{
    return code == '.' || code == '&' || is_hyphen(code);
}

/* As it stands in a term. */
static int32_t plain(int32_t code)
{
    if (code == 0x2010) {
        return '-';
    }
    if (code == 0x2019) {
        return '\'';
    }
    return code >= 'A' && code <= 'Z' ? code + ('a' - 'A') : code;
}

static const int32_t *codes_of(const struct text_scan *s)
{
    return s->codes->p;
}

/* Writes codes from..to as UTF-8, as many whole characters as fit; without the hyphens if
 * `joined`. */
static struct slice encode(const struct text_scan *s, size_t from, size_t to, bool joined,
                           char ret_term[TEXT_TERM_MAX_BYTES])
{
    const int32_t *codes = codes_of(s);
    size_t n = 0;
    for (size_t i = from; i < to; i++) {
        utf8proc_uint8_t bytes[4];
        int32_t code = plain(codes[i]);
        if (joined && is_hyphen(code)) {
            continue;
        }
        if (code < 0x80 && n < TEXT_TERM_MAX_BYTES) {
            ret_term[n++] = (char)code;
            continue;
        }
        size_t length = (size_t)utf8proc_encode_char(code, bytes);
        if (n + length > TEXT_TERM_MAX_BYTES) {
            break;
        }
        memcpy(ret_term + n, bytes, length);
        n += length;
    }
    return (struct slice){ret_term, n};
}

static void emit(const struct text_scan *s, struct slice term, bool is_part)
{
    struct text_token token = {term, s->position, is_part};
    s->on_token(s->arg, &token);
}

static void emit_codes(const struct text_scan *s, size_t from, size_t to)
{
    char term[TEXT_TERM_MAX_BYTES];
    emit(s, encode(s, from, to, false, term), false);
}

static void emit_stem(const struct text_scan *s, size_t from, size_t to, bool is_part)
{
    char word[TEXT_TERM_MAX_BYTES];
    bool plural = text_is_plural_abbreviation(codes_of(s), from, to);
    struct slice singular = encode(s, from, plural ? to - 1 : to, false, word);
    emit(s, stems_of(s->stems, singular), is_part);
}

/* multi-agents: multiag, which is the stem of multiagents too. */
static void emit_joined(const struct text_scan *s, size_t from, size_t to)
{
    char word[TEXT_TERM_MAX_BYTES];
    emit(s, stems_of(s->stems, encode(s, from, to, true, word)), false);
}

/* Whether codes from..to end in an English clitic behind an apostrophe; *ret_end is where the word
 * before it ends. */
static bool has_clitic(const struct text_scan *s, size_t from, size_t to, size_t *ret_end)
{
    static const char *const CLITICS[] = {"s", "t", "d", "m", "re", "ve", "ll"};
    const int32_t *codes = codes_of(s);
    if (to - from < 3 || !(is_apostrophe(codes[to - 2]) || is_apostrophe(codes[to - 3]))) {
        return false;
    }
    for (size_t i = 0; i < sizeof(CLITICS) / sizeof(CLITICS[0]); i++) {
        size_t n = strlen(CLITICS[i]);
        if (to - from <= n + 1 || !is_apostrophe(codes[to - n - 1])) {
            continue;
        }
        bool same = true;
        for (size_t k = 0; k < n; k++) {
            same = same && plain(codes[to - n + k]) == CLITICS[i][k];
        }
        if (same) {
            *ret_end = to - n - 1;
            return true;
        }
    }
    return false;
}

static size_t word_end(const struct text_scan *s, size_t from, size_t limit)
{
    const int32_t *codes = codes_of(s);
    size_t end = from;
    while (end < limit && is_spaced_word(codes[end])) {
        end++;
    }
    return end;
}

/* The word, and where it is an identifier the words in it. */
static void emit_word(const struct text_scan *s, size_t from, size_t to, bool is_part)
{
    size_t ends[TEXT_PIECES_MAX];
    size_t n = text_pieces(codes_of(s), from, to, ends);
    emit_stem(s, from, to, is_part);
    for (size_t i = 0; n > 1 && i < n; i++) {
        emit_stem(s, i ? ends[i - 1] : from, ends[i], true);
    }
}

/* The words between the connectors of from..to. */
static void emit_parts(const struct text_scan *s, size_t from, size_t to)
{
    while (from < to) {
        size_t end = word_end(s, from, to);
        emit_word(s, from, end, true);
        from = end + 1;
    }
}

/* End of the words from `from` on that connectors join. */
static size_t compound_end(const struct text_scan *s, size_t from)
{
    const int32_t *codes = codes_of(s);
    size_t n = s->codes->n;
    size_t end = word_end(s, from, n);
    while (end + 1 < n && is_connector(codes[end]) && is_spaced_word(codes[end + 1]) &&
           !code_is_mark(codes[end + 1])) {
        end = word_end(s, end + 1, n);
    }
    return end;
}

/* C++, C++17, g++, C#: signs that belong to the name, where no further sign or letter follows. */
static size_t suffix_length(const struct text_scan *s, size_t at)
{
    const int32_t *codes = codes_of(s);
    size_t n = 0;
    while (n < 2 && at + n < s->codes->n && codes[at + n] == '+') {
        n++;
    }
    if (n == 0 && at < s->codes->n && codes[at] == '#') {
        n = 1;
    }
    if (n == 0 || at + n == s->codes->n) {
        return n;
    }
    int32_t next = codes[at + n];
    bool version = n == 2 && next >= '0' && next <= '9';
    return version || !(is_spaced_word(next) || next == '+' || next == '#') ? n : 0;
}

/* .NET: a dot before a word that nothing stands before. */
static bool is_prefix(const struct text_scan *s, size_t at)
{
    const int32_t *codes = codes_of(s);
    return codes[at] == '.' && at + 1 < s->codes->n && is_spaced_word(codes[at + 1]) &&
           !code_is_mark(codes[at + 1]) && (at == 0 || code_is_space(codes[at - 1]));
}

/* Signs that tell names apart: C and C++, R&D and RD, 1.5 and 15. */
static bool has_sign(const struct text_scan *s, size_t from, size_t to)
{
    const int32_t *codes = codes_of(s);
    for (size_t i = from; i < to; i++) {
        if (codes[i] == '.' || codes[i] == '&' || codes[i] == '+' || codes[i] == '#') {
            return true;
        }
    }
    return false;
}

/* The token that begins at `from`: the whole where it is more than one plain word, and its parts,
 * at one position. Returns where it ends. */
static size_t scan_token(struct text_scan *s, size_t from)
{
    size_t words = from + (is_prefix(s, from) ? 1 : 0);
    size_t last = compound_end(s, words);
    size_t end = last + suffix_length(s, last);
    size_t core = last;
    size_t whole = end == last && has_clitic(s, words, last, &core) ? core : end;
    if (words == from && end == last && word_end(s, words, core) == core) {
        emit_word(s, words, core, false);
    } else if (has_sign(s, from, whole)) {
        emit_codes(s, from, whole);
        emit_parts(s, words, core);
    } else {
        emit_joined(s, from, whole);
        emit_parts(s, words, core);
    }
    s->position++;
    return end;
}

static bool in_unspaced_run(const struct text_scan *s, size_t at)
{
    int32_t code = at < s->codes->n ? codes_of(s)[at] : 0;
    return code >= 0x80 && code_is_unspaced(code) && is_other_word(code);
}

/* Each character with its follower, one position a character; the characters alone as well, so that
 * a query of one finds them. */
static size_t scan_unspaced(struct text_scan *s, size_t from)
{
    size_t at = from;
    for (; in_unspaced_run(s, at); at++) {
        bool follower = in_unspaced_run(s, at + 1);
        if (!s->for_query || (at == from && !follower)) {
            emit_codes(s, at, at + 1);
        }
        if (follower) {
            emit_codes(s, at, at + 2);
        }
        s->position++;
    }
    return at;
}

static void scan_block(struct text_scan *s, struct slice block)
{
    text_normalise(s->codes, block, NORMAL_FOLD);
    for (size_t at = 0; at < s->codes->n;) {
        int32_t code = codes_of(s)[at];
        if (in_unspaced_run(s, at)) {
            at = scan_unspaced(s, at);
        } else if (is_prefix(s, at) || (is_spaced_word(code) && !code_is_mark(code))) {
            at = scan_token(s, at);
        } else {
            at++;
        }
    }
}

/* How much of `text` to analyse next: up to and with the last ASCII white space within
 * BLOCK_BYTES, where no word and no normal form reaches across; else the first behind it. */
static size_t block_length(struct slice text)
{
    if (text.n <= BLOCK_BYTES) {
        return text.n;
    }
    for (size_t n = BLOCK_BYTES; n > 0; n--) {
        if (text.p[n - 1] == ' ' || text.p[n - 1] == '\n') {
            return n;
        }
    }
    for (size_t n = BLOCK_BYTES; n < text.n; n++) {
        if (text.p[n] == ' ' || text.p[n] == '\n') {
            return n + 1;
        }
    }
    return text.n;
}

void text_scan(struct text_scan *s, struct slice utf8)
{
    while (utf8.n > 0) {
        size_t n = block_length(utf8);
        scan_block(s, (struct slice){utf8.p, n});
        utf8 = slice_skip(utf8, n);
    }
}
