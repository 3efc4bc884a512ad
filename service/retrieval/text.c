/* SPDX-License-Identifier: Apache-2.0 */
/* Segmentation of our own, over folded code points: the word boundaries of UAX #29 cut C++, .NET
 * and CVE-2023-44487 apart and leave scripts without spaces in one piece, and both are what people
 * search for. */
#include "service/retrieval/text.h"

#include "service/base/mem.h"
#include "service/retrieval/text_normal.h"

#include <libstemmer.h>
#include <stdlib.h>
#include <utf8proc.h>

enum {
    BLOCK_BYTES = 16384, /* analysed at a time, to bound the buffer of code points */
};

struct text_analyser {
    struct sb_stemmer *stemmer;
    struct codes codes;
};

/* One pass over a text. */
struct scan {
    struct text_analyser *a;
    const int32_t *codes;
    size_t n;
    uint32_t position;
    bool for_query; /* a run of CJK gives single characters only where it is one */
    void (*on_term)(void *arg, struct slice term, uint32_t position);
    void *arg;
};

struct text_analyser *text_analyser_new(void)
{
    struct text_analyser *a = mem_alloc(sizeof(*a));
    a->stemmer = sb_stemmer_new("english", "UTF_8");
    if (!a->stemmer) {
        abort(); /* a libstemmer without English is not the one we were built with */
    }
    return a;
}

void text_analyser_free(struct text_analyser *a)
{
    if (a) {
        sb_stemmer_delete(a->stemmer);
        codes_done(&a->codes);
        free(a);
    }
}

static bool is_mark(int32_t code)
{
    utf8proc_category_t c = utf8proc_category(code);
    return c >= UTF8PROC_CATEGORY_MN && c <= UTF8PROC_CATEGORY_ME;
}

/* A letter, digit or mark (L*, N*, M*). */
static bool is_word(int32_t code)
{
    if (code < 0x80) {
        return (code >= 'a' && code <= 'z') || (code >= '0' && code <= '9');
    }
    utf8proc_category_t c = utf8proc_category(code);
    return c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_NO;
}

static bool is_spaced_word(int32_t code)
{
    return is_word(code) && !code_is_unspaced(code);
}

static bool is_apostrophe(int32_t code)
{
    return code == '\'' || code == 0x2019;
}

/* Joins the parts of a compound where it stands between letters or digits. */
static bool is_connector(int32_t code)
{
    return code == '.' || code == '-' || code == '_' || code == '&' || code == 0x2010 ||
           is_apostrophe(code);
}

static int32_t plain(int32_t code)
{
    if (code == 0x2010) {
        return '-';
    }
    return code == 0x2019 ? '\'' : code;
}

/* Writes codes from..to as UTF-8, as many whole characters as fit. */
static struct slice encode(const struct scan *s, size_t from, size_t to,
                           char ret_term[TEXT_TERM_MAX_BYTES])
{
    size_t n = 0;
    for (size_t i = from; i < to; i++) {
        utf8proc_uint8_t bytes[4];
        size_t length = (size_t)utf8proc_encode_char(plain(s->codes[i]), bytes);
        if (n + length > TEXT_TERM_MAX_BYTES) {
            break;
        }
        memcpy(ret_term + n, bytes, length);
        n += length;
    }
    return (struct slice){ret_term, n};
}

static void emit(const struct scan *s, size_t from, size_t to)
{
    char term[TEXT_TERM_MAX_BYTES];
    s->on_term(s->arg, encode(s, from, to, term), s->position);
}

static bool is_english(struct slice word)
{
    for (size_t i = 0; i < word.n; i++) {
        if (word.p[i] < 'a' || word.p[i] > 'z') {
            return false;
        }
    }
    return true;
}

/* The stem, or the word itself where it is no English or where its stem would pass for a stop word
 * (theses, these). */
static struct slice stem(const struct scan *s, struct slice word)
{
    if (!is_english(word) || text_is_stop_word(word)) {
        return word;
    }
    const sb_symbol *p = sb_stemmer_stem(s->a->stemmer, (const sb_symbol *)word.p, (int)word.n);
    if (!p) {
        abort(); /* out of memory, as mem.h */
    }
    struct slice stemmed = {(const char *)p, (size_t)sb_stemmer_length(s->a->stemmer)};
    return stemmed.n == 0 || text_is_stop_word(stemmed) ? word : stemmed;
}

/* Whether codes from..to end in an English clitic behind an apostrophe; *ret_end is where the word
 * before it ends. */
static bool has_clitic(const struct scan *s, size_t from, size_t to, size_t *ret_end)
{
    static const char *const CLITICS[] = {"s", "t", "d", "m", "re", "ve", "ll"};
    for (size_t i = 0; i < sizeof(CLITICS) / sizeof(CLITICS[0]); i++) {
        size_t n = strlen(CLITICS[i]);
        if (to - from <= n + 1 || !is_apostrophe(s->codes[to - n - 1])) {
            continue;
        }
        bool same = true;
        for (size_t k = 0; k < n; k++) {
            same = same && s->codes[to - n + k] == CLITICS[i][k];
        }
        if (same) {
            *ret_end = to - n - 1;
            return true;
        }
    }
    return false;
}

static void emit_word(const struct scan *s, size_t from, size_t to)
{
    char term[TEXT_TERM_MAX_BYTES];
    s->on_term(s->arg, stem(s, encode(s, from, to, term)), s->position);
}

static size_t word_end(const struct scan *s, size_t from, size_t limit)
{
    size_t end = from;
    while (end < limit && is_spaced_word(s->codes[end])) {
        end++;
    }
    return end;
}

/* The words between the connectors of from..to. */
static void emit_parts(const struct scan *s, size_t from, size_t to)
{
    while (from < to) {
        size_t end = word_end(s, from, to);
        emit_word(s, from, end);
        from = end + 1;
    }
}

/* End of the words from `from` on that connectors join. */
static size_t compound_end(const struct scan *s, size_t from)
{
    size_t end = word_end(s, from, s->n);
    while (end + 1 < s->n && is_connector(s->codes[end]) && is_spaced_word(s->codes[end + 1]) &&
           !is_mark(s->codes[end + 1])) {
        end = word_end(s, end + 1, s->n);
    }
    return end;
}

/* C++, C++17, g++, C#: signs that belong to the name, where no further sign or letter follows. */
static size_t suffix_length(const struct scan *s, size_t at)
{
    size_t n = 0;
    while (n < 2 && at + n < s->n && s->codes[at + n] == '+') {
        n++;
    }
    if (n == 0 && at < s->n && s->codes[at] == '#') {
        n = 1;
    }
    if (n == 0 || at + n == s->n) {
        return n;
    }
    int32_t next = s->codes[at + n];
    bool version = n == 2 && next >= '0' && next <= '9';
    return version || !(is_spaced_word(next) || next == '+' || next == '#') ? n : 0;
}

/* .NET: a dot before a word that nothing stands before. */
static bool is_prefix(const struct scan *s, size_t at)
{
    return s->codes[at] == '.' && at + 1 < s->n && is_spaced_word(s->codes[at + 1]) &&
           !is_mark(s->codes[at + 1]) && (at == 0 || code_is_space(s->codes[at - 1]));
}

/* The token that begins at `from`: the whole where it is more than one plain word, and its parts,
 * at one position. Returns where it ends. */
static size_t scan_token(struct scan *s, size_t from)
{
    size_t words = from + (is_prefix(s, from) ? 1 : 0);
    size_t last = compound_end(s, words);
    size_t end = last + suffix_length(s, last);
    size_t core = last;
    bool clitic = end == last && has_clitic(s, words, last, &core);
    if (words != from || end != last || word_end(s, words, core) != core) {
        emit(s, from, clitic ? core : end);
    }
    emit_parts(s, words, core);
    s->position++;
    return end;
}

static bool in_unspaced_run(const struct scan *s, size_t at)
{
    return at < s->n && code_is_unspaced(s->codes[at]) && is_word(s->codes[at]);
}

/* Each character with its follower, one position a character; the characters alone as well, so that
 * a query of one finds them. */
static size_t scan_unspaced(struct scan *s, size_t from)
{
    size_t at = from;
    for (; in_unspaced_run(s, at); at++) {
        bool follower = in_unspaced_run(s, at + 1);
        if (!s->for_query || (at == from && !follower)) {
            emit(s, at, at + 1);
        }
        if (follower) {
            emit(s, at, at + 2);
        }
        s->position++;
    }
    return at;
}

static void scan_block(struct scan *s, struct slice block)
{
    text_normalise(&s->a->codes, block, NORMAL_FOLD);
    s->codes = s->a->codes.p;
    s->n = s->a->codes.n;
    for (size_t at = 0; at < s->n;) {
        if (in_unspaced_run(s, at)) {
            at = scan_unspaced(s, at);
        } else if (is_prefix(s, at) || (is_spaced_word(s->codes[at]) && !is_mark(s->codes[at]))) {
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

static void scan_text(struct scan *s, struct slice utf8)
{
    while (utf8.n > 0) {
        size_t n = block_length(utf8);
        scan_block(s, (struct slice){utf8.p, n});
        utf8 = slice_skip(utf8, n);
    }
}

void text_analyse(struct text_analyser *a, struct slice utf8,
                  void (*on_term)(void *arg, struct slice term, uint32_t position), void *arg)
{
    struct scan s = {.a = a, .on_term = on_term, .arg = arg};
    scan_text(&s, utf8);
}

/* Distinct terms in first-seen order. */
struct term_list {
    struct arena *arena;
    struct slice *items;
    size_t n;
};

/* Both lists are kept apart, so that the cap on the one does not depend on the other. */
struct query_terms {
    struct term_list words, stops;
};

static void add_distinct(struct term_list *list, struct slice term)
{
    for (size_t i = 0; i < list->n; i++) {
        if (slice_eq(list->items[i], term)) {
            return;
        }
    }
    if (list->n < TEXT_QUERY_MAX_TERMS) {
        list->items[list->n++] = arena_copy(list->arena, term);
    }
}

static void on_query_term(void *arg, struct slice term, uint32_t position)
{
    struct query_terms *terms = arg;
    (void)position;
    add_distinct(text_is_stop_word(term) ? &terms->stops : &terms->words, term);
}

static void term_list_init(struct term_list *list, struct arena *arena)
{
    *list = (struct term_list){arena,
                               arena_alloc(arena, TEXT_QUERY_MAX_TERMS * sizeof(struct slice)), 0};
}

size_t text_query_terms(struct text_analyser *a, struct slice canonical_query, struct arena *arena,
                        struct slice **ret_terms)
{
    struct query_terms terms;
    term_list_init(&terms.words, arena);
    term_list_init(&terms.stops, arena);
    struct scan s = {.a = a, .for_query = true, .on_term = on_query_term, .arg = &terms};
    scan_text(&s, canonical_query);
    struct term_list *list = terms.words.n ? &terms.words : &terms.stops;
    *ret_terms = list->items;
    return list->n;
}
