/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns are read once, at first use: folded exactly as texts are, by the same code, so that a
 * rule and a text can only agree or differ for a reason that a reader of the table can see. */
#include "service/retrieval/scan_compile.h"

#include <pthread.h>

/* The rule being read. */
struct reader {
    struct scan_program *program;
    size_t block, bit;   /* where the next element goes */
    size_t optional_run; /* optional elements just before it */
    bool bad;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct scan_program program;

static uint64_t bit_of(const struct reader *r)
{
    return UINT64_C(1) << r->bit;
}

/* --- alternatives --- */

static void take_word(struct reader *r, struct slice text)
{
    struct scan_words words;
    struct scan_word word;
    scan_words_init(&words, text);
    size_t n = 0;
    while (scan_words_next(&words, &word)) {
        if (word.is_mark) {
            r->bad = r->bad || word.text[0] != SCAN_LINE_START;
            continue;
        }
        unsigned id =
            scan_vocabulary_add(&r->program->vocabulary, (struct slice){word.text, word.n});
        r->bad = r->bad || id == 0 || ++n > 1;
        r->program->takes[id][r->block] |= bit_of(r);
    }
    r->bad = r->bad || n == 0;
    scan_words_done(&words);
}

/* word(ending): with and without. */
static void take_endings(struct reader *r, struct slice text)
{
    const char *open = memchr(text.p, '(', text.n);
    if (!open) {
        take_word(r, text);
        return;
    }
    char whole[SCAN_WORD_BYTES];
    size_t stem = (size_t)(open - text.p), ending = text.n - stem - 2;
    if (text.n > sizeof(whole) || text.n < stem + 3 || text.p[text.n - 1] != ')') {
        r->bad = true;
        return;
    }
    memcpy(whole, text.p, stem);
    memcpy(whole + stem, open + 1, ending);
    take_word(r, (struct slice){whole, stem});
    take_word(r, (struct slice){whole, stem + ending});
}

/* Cuts the part before `separator` off *rest. */
static struct slice next_part(struct slice *rest, char separator)
{
    const char *end = rest->n ? memchr(rest->p, separator, rest->n) : NULL;
    size_t n = end ? (size_t)(end - rest->p) : rest->n;
    struct slice part = {rest->p, n};
    *rest = slice_skip(*rest, end ? n + 1 : n);
    return part;
}

static void take_class(struct reader *r, struct slice name)
{
    for (size_t i = 0; i < SCAN_CLASSES_N; i++) {
        if (!slice_is(name, SCAN_CLASSES[i].name)) {
            continue;
        }
        struct slice rest = slice_of(SCAN_CLASSES[i].words);
        while (rest.n) {
            take_endings(r, next_part(&rest, ' '));
        }
        return;
    }
    r->bad = true;
}

static void take_alternatives(struct reader *r, struct slice text)
{
    while (text.n) {
        struct slice one = next_part(&text, '|');
        if (one.n && one.p[0] == '@') {
            take_class(r, slice_skip(one, 1));
        } else {
            take_endings(r, one);
        }
    }
}

static void take_mark(struct reader *r, char mark)
{
    struct scan_vocabulary *v = &r->program->vocabulary;
    uint16_t *id = &v->marks[(unsigned char)mark & 127];
    if (*id == 0) {
        *id = (uint16_t)scan_vocabulary_add(v, (struct slice){(char[]){'\0', mark}, 2});
    }
    r->bad = r->bad || *id == 0;
    r->program->takes[*id][r->block] |= bit_of(r);
}

/* --- elements --- */

static void end_element(struct reader *r, bool optional)
{
    if (optional) {
        r->program->optional[r->block] |= bit_of(r);
    }
    r->optional_run = optional ? r->optional_run + 1 : 0;
    r->bad = r->bad || r->optional_run > SCAN_OPTIONAL_MAX;
    r->bit++;
}

static void add_gap(struct reader *r, struct slice number)
{
    size_t n = 0;
    for (size_t i = 0; i < number.n; i++) {
        n = 10 * n + (size_t)(number.p[i] - '0');
    }
    r->bad = r->bad || n == 0 || n > SCAN_GAP_MAX;
    for (size_t i = 0; i < n && i < SCAN_GAP_MAX; i++) {
        r->program->gap[r->block] |= bit_of(r);
        end_element(r, true);
    }
}

static void add_marks(struct reader *r, struct slice marks)
{
    r->bad = r->bad || marks.n < 2 || marks.p[marks.n - 1] != '\'';
    for (size_t i = 0; i + 1 < marks.n; i++) {
        take_mark(r, marks.p[i]);
        end_element(r, false);
    }
}

static bool add_sign(struct reader *r, struct slice name)
{
    static const struct {
        const char *name;
        char mark;
    } SIGNS[] = {{"LINE", SCAN_LINE_START},
                 {"DISGUISED", SCAN_SIGN_DISGUISED},
                 {"HIDDEN", SCAN_SIGN_HIDDEN},
                 {"ENCODED", SCAN_SIGN_ENCODED}};
    for (size_t i = 0; i < sizeof(SIGNS) / sizeof(SIGNS[0]); i++) {
        if (slice_is(name, SIGNS[i].name)) {
            take_mark(r, SIGNS[i].mark);
            end_element(r, false);
            return true;
        }
    }
    return false;
}

static void add_element(struct reader *r, struct slice e)
{
    if (e.n > 2 && e.p[0] == '.') {
        add_gap(r, slice_skip(e, 2));
    } else if (e.n > 1 && e.p[0] == '\'') {
        add_marks(r, slice_skip(e, 1));
    } else if (e.n > 2 && e.p[0] == '[') {
        r->bad = r->bad || e.p[e.n - 1] != ']';
        take_alternatives(r, (struct slice){e.p + 1, e.n - 2});
        end_element(r, true);
    } else if (!add_sign(r, e)) {
        take_alternatives(r, e);
        end_element(r, false);
    }
}

/* As many bits as the elements can take at most. */
static size_t count_bits(struct slice pattern)
{
    size_t n = 0;
    while (pattern.n) {
        struct slice e = next_part(&pattern, ' ');
        n += e.n && e.p[0] == '.' ? SCAN_GAP_MAX : e.n && e.p[0] == '\'' ? e.n : 1;
    }
    return n;
}

static void add_rule(struct reader *r, size_t rule)
{
    struct slice pattern = slice_of(SCAN_RULES[rule].pattern);
    size_t bits = count_bits(pattern);
    if (r->bit + bits > 64) {
        r->block++;
        r->bit = 0;
    }
    if (bits == 0 || bits > 64 || r->block == SCAN_BLOCKS_MAX) {
        r->bad = true;
        return;
    }
    struct scan_program *p = r->program;
    uint64_t first = bit_of(r);
    r->optional_run = 0;
    while (pattern.n) {
        add_element(r, next_part(&pattern, ' '));
    }
    if (r->bit == 0 || r->bit > 64) {
        r->bad = true;
        return;
    }
    uint64_t last = UINT64_C(1) << (r->bit - 1);
    p->first[r->block] |= first;
    p->last[r->block] |= last;
    p->rule_at[r->block][r->bit - 1] = (uint8_t)rule;
    if (SCAN_RULES[rule].weight == SCAN_DESCRIBES) {
        p->within[r->block] |= (last | (last - 1)) & ~(first | (first - 1));
    }
    r->bad = r->bad || ((first | last) & p->optional[r->block]) != 0;
}

/* What a gap takes, and where each word begins a rule. */
static void finish(struct scan_program *p)
{
    for (size_t block = 0; block < SCAN_BLOCKS_MAX; block++) {
        p->within[block] |= p->gap[block];
    }
    bool is_mark[SCAN_VOCABULARY_MAX] = {false};
    for (size_t i = 0; i < 128; i++) {
        is_mark[p->vocabulary.marks[i]] = p->vocabulary.marks[i] != 0;
    }
    for (size_t id = 0; id < p->vocabulary.n; id++) {
        for (size_t block = 0; block < SCAN_BLOCKS_MAX; block++) {
            p->takes[id][block] |= is_mark[id] ? 0 : p->gap[block];
            bool begins = (p->takes[id][block] & p->first[block]) != 0;
            p->begins[id] |= (uint64_t)begins << block;
        }
    }
}

static void compile(void)
{
    struct reader r = {.program = &program};
    for (size_t i = 0; i < SCAN_RULES_N && i < SCAN_RULES_MAX; i++) {
        r.bad = false;
        add_rule(&r, i);
        if (r.bad && !program.bad) {
            program.bad = SCAN_RULES[i].name;
        }
    }
    finish(&program);
}

const struct scan_program *scan_program(void)
{
    pthread_once(&once, compile);
    return &program;
}
