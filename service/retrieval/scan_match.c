/* SPDX-License-Identifier: Apache-2.0 */
/* A bit-parallel automaton (extended Shift-And: Navarro, Raffinot, "Flexible Pattern Matching in
 * Strings", 4.4): one bit for each element of each pattern, so that alternatives, optional words
 * and gaps cost no backtracking. Rules lie side by side in blocks of 64 bits; a block is looked at
 * only while it has a state or when the word begins one of its rules. */
#include "service/retrieval/scan_match.h"

#include "service/retrieval/scan_compile.h"

/* Adds what is reached by leaving out optional elements, at most SCAN_OPTIONAL_MAX in a row. */
static uint64_t skip_optional(uint64_t state, uint64_t optional)
{
    for (unsigned n = 1; n <= SCAN_OPTIONAL_MAX / 2 + 1; n *= 2) {
        state |= (state << n) & optional;
        optional &= optional << n;
    }
    return state;
}

static void report(const struct scan_program *p, size_t block, uint64_t ends, scan_on_hit *on_hit,
                   void *context)
{
    for (; ends; ends &= ends - 1) {
        on_hit(context, p->rule_at[block][__builtin_ctzll(ends)]);
    }
}

struct feed {
    const struct scan_program *program;
    unsigned id;
    bool keep;   /* a mark: what has been seen stays seen */
    bool no_gap; /* no gap passes over this word, nor does what describes */
    scan_on_hit *on_hit;
    void *context;
};

static void feed_block(struct scan_matcher *m, const struct feed *f, size_t block)
{
    const struct scan_program *p = f->program;
    uint64_t old = m->state[block], takes = p->takes[f->id][block];
    takes = f->no_gap ? takes & ~p->within[block] : takes;
    uint64_t now = ((old << 1) | p->first[block]) & takes;
    report(p, block, now & p->last[block] & (f->keep ? ~old : ~UINT64_C(0)), f->on_hit, f->context);
    now = skip_optional(f->keep ? old | now : now, p->optional[block]);
    m->state[block] = now;
    uint64_t bit = UINT64_C(1) << block;
    m->live = now ? m->live | bit : m->live & ~bit;
    m->steps++;
}

static void feed(struct scan_matcher *m, const struct feed *f)
{
    for (uint64_t blocks = m->live | f->program->begins[f->id]; blocks; blocks &= blocks - 1) {
        feed_block(m, f, (size_t)__builtin_ctzll(blocks));
    }
}

/* --- which word it is --- */

/* Digits for letters, "s3cret"; not those at the end, where names of things have numbers. */
static unsigned find_leet(const struct scan_vocabulary *v, struct slice word)
{
    static const char LETTERS[] = "oizeasgtbg"; /* of the digits 0 to 9 */
    char as[SCAN_WORD_BYTES];
    bool replaced = false, digit = false;
    for (size_t i = 0; i < word.n; i++) {
        replaced = replaced || digit;
        digit = word.p[i] >= '0' && word.p[i] <= '9';
        as[i] = word.p[i];
        if (digit) {
            as[i] = LETTERS[word.p[i] - '0'];
        }
    }
    return replaced && !digit ? scan_vocabulary_find(v, (struct slice){as, word.n}) : 0;
}

/* Sets *disguised where the word was seen through something that no honest text does to it. */
static unsigned identify(const struct scan_vocabulary *v, const struct scan_word *word,
                         bool *disguised)
{
    struct slice text = {word->text, word->n}, look = {word->look, word->n_look};
    *disguised = word->disguised;
    unsigned id = word->n ? scan_vocabulary_find(v, text) : 0;
    if (id || word->n == 0) {
        return id;
    }
    id = word->n_look ? scan_vocabulary_find(v, look) : 0;
    *disguised = word->disguised || id != 0;
    id = id ? id : find_leet(v, text);
    return id ? id : scan_vocabulary_find_typo(v, text);
}

/* Letters of the word as it is read. */
static bool is_long(const struct scan_word *word)
{
    return (word->n_look ? word->n_look : word->n) >= SCAN_DISGUISED_MIN;
}

static void feed_sign(struct scan_matcher *m, struct feed *f, unsigned char sign)
{
    f->id = f->program->vocabulary.marks[sign];
    f->keep = true;
    f->no_gap = false;
    feed(m, f);
}

void scan_match_feed(struct scan_matcher *m, const struct scan_word *word, scan_on_hit *on_hit,
                     void *context)
{
    struct feed f = {.program = scan_program(), .on_hit = on_hit, .context = context};
    if (word->is_mark) {
        unsigned char mark = (unsigned char)word->text[0];
        if (mark < 128 && f.program->vocabulary.marks[mark]) {
            feed_sign(m, &f, mark);
        }
        return;
    }
    bool disguised;
    f.id = identify(&f.program->vocabulary, word, &disguised);
    f.no_gap = word->after_break;
    feed(m, &f);
    if (f.id && disguised && is_long(word)) {
        feed_sign(m, &f, SCAN_SIGN_DISGUISED);
    }
}

const char *scan_match_bad_rule(void)
{
    return scan_program()->bad;
}
