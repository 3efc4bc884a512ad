/* SPDX-License-Identifier: Apache-2.0 */
/* Words are folded further than for searching: what only hides a word from a matcher (invisible
 * characters, look-alikes, letters set apart, Unicode's tag characters) is seen through, and said.
 * One pass; what is looked at ahead is bounded or consumed. */
#include "service/retrieval/scan_words.h"

#include "service/retrieval/scan_glyph.h"

#include <utf8proc.h>

enum { SOFT_HYPHEN = 0xAD, BLACK_FLAG = 0x1F3F4, FLAG_TAGS = 6 };

/* --- building a word --- */

struct build {
    struct scan_word *word;
    size_t n; /* bytes wanted, perhaps more than there is room for */
    int32_t codes[SCAN_WORD_BYTES];
    size_t n_codes;
    bool foreign;   /* something beside ASCII */
    bool invisible; /* something between two letters that shows nothing */
};

static void put(struct build *b, char c)
{
    if (b->n < SCAN_WORD_BYTES) {
        b->word->text[b->n] = c;
    }
    b->n++;
}

static void put_code(struct build *b, int32_t code)
{
    utf8proc_uint8_t bytes[4];
    utf8proc_ssize_t n = utf8proc_encode_char(code, bytes);
    for (utf8proc_ssize_t i = 0; i < n; i++) {
        put(b, (char)bytes[i]);
    }
}

static void put_original(struct build *b, int32_t code)
{
    if (b->n_codes < SCAN_WORD_BYTES) {
        b->codes[b->n_codes++] = code;
    }
}

static void put_foreign(struct build *b, int32_t code)
{
    int32_t parts[32];
    int boundclass = 0;
    utf8proc_ssize_t n = utf8proc_decompose_char(
        code, parts, 32,
        (utf8proc_option_t)(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT |
                            UTF8PROC_CASEFOLD | UTF8PROC_IGNORE),
        &boundclass);
    for (utf8proc_ssize_t i = 0; i < n && i < 32; i++) {
        if (glyph_category(parts[i]) == GLYPH_LETTER) {
            put_code(b, parts[i]);
        }
    }
    put_original(b, code);
    b->foreign = true;
}

static void put_letter(struct build *b, int32_t code)
{
    if (b->invisible) {
        b->word->disguised = true;
    }
    if (code < 0x80) {
        put(b, glyph_lower((unsigned char)code));
        put_original(b, code);
    } else {
        put_foreign(b, code);
    }
}

/* What the word looks like, where that is ASCII throughout and not what it is. */
static void add_look(struct scan_words *w, const struct build *b)
{
    struct skeleton *s = &w->skeleton;
    skeleton_make(s, b->codes, b->n_codes);
    struct scan_word *word = b->word;
    for (size_t i = 0; i < s->looks.n && i < SCAN_WORD_BYTES; i++) {
        word->look[i] = (char)s->looks.p[i];
        if (s->looks.p[i] == SKELETON_OTHER) {
            return;
        }
    }
    struct slice look = {word->look, s->looks.n}, text = {word->text, word->n};
    word->n_look = look.n <= SCAN_WORD_BYTES && !slice_eq(look, text) ? look.n : 0;
}

static void finish_word(struct scan_words *w, struct build *b)
{
    b->word->n = b->n <= SCAN_WORD_BYTES ? b->n : 0;
    b->word->after_break = w->after_break;
    w->after_break = false;
    if (b->foreign && b->word->n) {
        add_look(w, b);
    }
}

/* Whether what stands at `at` goes on with the word; skips what shows nothing. */
static bool goes_on(const struct scan_words *w, struct build *b, size_t *at,
                    struct glyph *ret_glyph)
{
    struct glyph g = glyph_at(w->text, *at);
    while (g.kind == GLYPH_NOTHING && *at < w->text.n) {
        b->invisible = b->invisible ||
                       (g.code != SOFT_HYPHEN && utf8proc_category(g.code) == UTF8PROC_CATEGORY_CF);
        *at += g.bytes;
        g = glyph_at(w->text, *at);
    }
    if (g.kind == GLYPH_APOSTROPHE && b->n) {
        struct glyph next = glyph_at(w->text, *at + g.bytes);
        if (next.kind == GLYPH_LETTER) {
            *at += g.bytes;
            g = next;
        }
    }
    *ret_glyph = g;
    return g.kind == GLYPH_LETTER;
}

/* Most of most texts; returns where it ends. */
static size_t put_ascii(struct build *b, struct slice text, size_t at)
{
    while (at < text.n && glyph_is_alnum((unsigned char)text.p[at])) {
        put(b, glyph_lower((unsigned char)text.p[at]));
        put_original(b, text.p[at]);
        at++;
    }
    return at;
}

static void read_word(struct scan_words *w, struct scan_word *word)
{
    struct build b = {.word = word};
    size_t at = w->at;
    struct glyph g;
    while (goes_on(w, &b, &at, &g)) {
        put_letter(&b, g.code);
        b.invisible = false;
        at = put_ascii(&b, w->text, at + g.bytes);
    }
    w->at = at;
    finish_word(w, &b);
}

static void count_hidden(struct scan_words *w, size_t n)
{
    size_t of_flag = n < w->flag_left ? n : w->flag_left;
    w->flag_left -= of_flag;
    w->hidden += n - of_flag;
}

/* A word of tag characters; false where a blank or punctuation among them stands. */
static bool read_tags(struct scan_words *w, struct scan_word *word)
{
    struct build b = {.word = word};
    struct glyph g = glyph_at(w->text, w->at);
    size_t n = 0;
    for (; g.kind == GLYPH_TAG; n++) {
        unsigned char c = (unsigned char)(g.code - GLYPH_TAG_BASE);
        if (!glyph_is_alnum(c)) {
            break;
        }
        put(&b, glyph_lower(c));
        w->at += g.bytes;
        g = glyph_at(w->text, w->at);
    }
    w->at += n ? 0 : g.bytes;
    count_hidden(w, n ? n : 1);
    if (n) {
        word->disguised = true;
        finish_word(w, &b);
    }
    return n > 0;
}

/* Two characters, the second of which begins the next word; one that stands alone. */
static bool read_unspaced(struct scan_words *w, struct scan_word *word)
{
    struct build b = {.word = word};
    struct glyph g = glyph_at(w->text, w->at), next = glyph_at(w->text, w->at + g.bytes);
    bool paired = next.kind == GLYPH_UNSPACED, last = w->in_unspaced && !paired;
    w->at += g.bytes;
    w->in_unspaced = paired;
    if (last) {
        return false;
    }
    put_code(&b, g.code);
    if (paired) {
        put_code(&b, next.code);
    }
    finish_word(w, &b);
    return true;
}

/* --- letters set apart --- */

static bool is_lone_letter(struct slice text, size_t at)
{
    return at < text.n && glyph_is_alpha((unsigned char)text.p[at]) &&
           (at + 1 >= text.n || !glyph_is_alnum((unsigned char)text.p[at + 1]));
}

/* How many letters stand at `at` with one and the same separator between them. */
static size_t count_spelled(struct slice text, size_t at)
{
    char separator = '\0';
    size_t n = 0;
    if (at + 1 < text.n) {
        separator = text.p[at + 1];
    }
    while (is_lone_letter(text, at + 2 * n)) {
        n++;
        if (at + 2 * n - 1 >= text.n || text.p[at + 2 * n - 1] != separator) {
            break;
        }
    }
    return n;
}

static bool read_spelled(struct scan_words *w, struct scan_word *word)
{
    if (!is_lone_letter(w->text, w->at)) {
        return false;
    }
    size_t n = count_spelled(w->text, w->at);
    if (n < SCAN_SPELLED_MIN) {
        return false;
    }
    struct build b = {.word = word};
    for (size_t i = 0; i < n; i++) {
        put(&b, glyph_lower((unsigned char)w->text.p[w->at + 2 * i]));
    }
    w->at += 2 * n - 1;
    word->disguised = true;
    finish_word(w, &b);
    return true;
}

/* --- base64 --- */

static bool is_code(unsigned char c)
{
    return glyph_is_alnum(c) || c == '+' || c == '/' || c == '-' || c == '_';
}

/* A long word may be the beginning of something encoded; each run is handed out once. */
static void note_code(struct scan_words *w, struct scan_word *word, size_t from)
{
    if (from < w->code_end || w->at - from < SCAN_CODE_MIN / 2) {
        return;
    }
    size_t end = from;
    while (end < w->text.n && end - from < SCAN_CODE_MAX &&
           is_code((unsigned char)w->text.p[end])) {
        end++;
    }
    w->code_end = end;
    if (end - from >= SCAN_CODE_MIN) {
        word->code = (struct slice){w->text.p + from, end - from};
    }
}

/* --- everything else --- */

static bool is_blank(const struct scan_words *w, size_t at)
{
    enum glyph_kind kind = glyph_at(w->text, at).kind;
    return kind == GLYPH_SPACE || kind == GLYPH_NEWLINE;
}

static char mark_of(struct scan_words *w, int32_t code)
{
    if (code < 0x80) {
        return (char)code;
    }
    skeleton_make(&w->skeleton, &code, 1);
    int32_t look = w->skeleton.looks.n ? w->skeleton.looks.p[0] : SKELETON_OTHER;
    return (char)look;
}

static void set_mark(struct scan_word *word, char c)
{
    word->is_mark = true;
    word->text[0] = c;
    word->n = 1;
}

static bool ends_sentence(const struct scan_words *w, const struct glyph *g)
{
    if (g->code == 0x3002 || g->code == 0xFF01 || g->code == 0xFF1F) {
        return true;
    }
    return (g->code == '.' || g->code == '!' || g->code == '?') && is_blank(w, w->at + g->bytes);
}

/* The bytes of an HTML tag that only changes how words look; 0: none is here. */
static size_t count_tag(struct slice text, size_t at)
{
    static const char *const NAMES[] = {"b",    "i",   "u",   "s",  "p",  "em", "strong", "span",
                                        "code", "sub", "sup", "br", "td", "tr", "li",     "mark"};
    size_t from = at + 1 < text.n && text.p[at + 1] == '/' ? at + 2 : at + 1, end = from;
    while (end < text.n && end - from < 8 && glyph_is_alpha((unsigned char)text.p[end])) {
        end++;
    }
    struct slice name = {text.p + from, end - from};
    bool known = false;
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        known = known || slice_is(name, NAMES[i]);
    }
    return known && end < text.n && text.p[end] == '>' ? end + 1 - at : 0;
}

static bool is_escaped_newline(const struct scan_words *w, const struct glyph *g)
{
    if (g->code != '\\' || w->at + 1 >= w->text.n) {
        return false;
    }
    char next = w->text.p[w->at + 1];
    return next == 'n' || next == 'r' || next == 't';
}

static bool read_newline(struct scan_words *w, struct scan_word *word, size_t bytes)
{
    w->after_break = w->after_break || w->blank_line;
    w->blank_line = true;
    w->at += bytes;
    set_mark(word, SCAN_LINE_START);
    return true;
}

static bool read_mark(struct scan_words *w, struct scan_word *word, const struct glyph *g)
{
    size_t tag = g->code == '<' ? count_tag(w->text, w->at) : 0;
    if (tag) {
        w->at += tag;
        return false;
    }
    if (is_escaped_newline(w, g)) {
        return read_newline(w, word, 2);
    }
    w->after_break = ends_sentence(w, g);
    w->flag_left = g->code == BLACK_FLAG ? FLAG_TAGS : 0;
    w->at += g->bytes;
    set_mark(word, mark_of(w, g->code));
    return true;
}

static bool read_letters(struct scan_words *w, struct scan_word *word)
{
    size_t from = w->at;
    if (!read_spelled(w, word)) {
        read_word(w, word);
        note_code(w, word, from);
    }
    return true;
}

/* False: what stands there is no word and no mark, and has been skipped. */
static bool read_at(struct scan_words *w, struct scan_word *word)
{
    struct glyph g = glyph_at(w->text, w->at);
    if (g.kind == GLYPH_NEWLINE) {
        return read_newline(w, word, g.bytes);
    }
    w->blank_line = w->blank_line && (g.kind == GLYPH_SPACE || g.kind == GLYPH_NOTHING);
    if (g.kind == GLYPH_UNSPACED) {
        return read_unspaced(w, word);
    }
    w->in_unspaced = false;
    switch (g.kind) {
    case GLYPH_LETTER: w->flag_left = 0; return read_letters(w, word);
    case GLYPH_MARK: return read_mark(w, word, &g);
    case GLYPH_TAG: return read_tags(w, word);
    case GLYPH_UNSPACED:
    case GLYPH_SPACE:
    case GLYPH_NEWLINE:
    case GLYPH_APOSTROPHE:
    case GLYPH_NOTHING: break;
    }
    w->at += g.bytes;
    return false;
}

static void clear(struct scan_word *word)
{
    word->is_mark = word->after_break = word->disguised = false;
    word->n = word->n_look = 0;
    word->code = SLICE_NONE;
}

void scan_words_init(struct scan_words *w, struct slice text)
{
    *w = (struct scan_words){.text = text};
}

void scan_words_done(struct scan_words *w)
{
    skeleton_done(&w->skeleton);
}

bool scan_words_next(struct scan_words *w, struct scan_word *ret_word)
{
    clear(ret_word);
    if (!w->started) {
        w->started = w->after_break = true;
        set_mark(ret_word, SCAN_LINE_START);
        return true;
    }
    while (w->at < w->text.n) {
        if (read_at(w, ret_word)) {
            return true;
        }
    }
    return false;
}
