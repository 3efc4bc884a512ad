/* SPDX-License-Identifier: Apache-2.0 */
/* A passage is marked where the rules that agree within a stretch of words weigh enough. Words that
 * speak of attacks near by raise what is enough, since a manual of security quotes what it warns
 * of; one can be raised so only up to a point, or an author could talk the scanner out of it. */
#include "service/retrieval/scan.h"

#include "service/base/encode.h"
#include "service/base/utf8.h"
#include "service/retrieval/scan_match.h"
#include "service/retrieval/scan_rules.h"

enum {
    HITS_MAX = 256,      /* weighed together, then forgotten */
    STRETCH_WORDS = 60,  /* within which evidence adds up */
    ABOUT_WORDS = 100,   /* within which talk of attacks excuses */
    ABOUT_MAX = 2,       /* rules of it that count */
    ABOUT_WEIGHT = 2,    /* by which each raises what is enough */
    DESCRIBED_WORDS = 3, /* before the end of what describes it */
    HIDDEN_MIN = 8,      /* tag characters that no flag explains */
    NESTING_MAX = 1,     /* encoded text within encoded text is not looked at */
};

struct hit {
    size_t word, rule;
    unsigned weight;
};

struct evidence {
    struct scan_matcher matcher;
    size_t word; /* words so far */
    struct hit hits[HITS_MAX];
    size_t n;
    size_t rule; /* that decided; SCAN_RULES_MAX: none yet */
};

/* --- weighing --- */

struct rule_set {
    uint64_t bits[SCAN_RULES_MAX / 64];
};

static bool add_rule(struct rule_set *s, size_t rule)
{
    uint64_t bit = UINT64_C(1) << rule % 64;
    bool is_new = (s->bits[rule / 64] & bit) == 0;
    s->bits[rule / 64] |= bit;
    return is_new;
}

/* How many rules that speak of attacks are near hit i. */
static unsigned count_about(const struct evidence *e, size_t i)
{
    struct rule_set seen = {0};
    unsigned n = 0;
    size_t at = e->hits[i].word;
    for (size_t k = 0; k < e->n && n < ABOUT_MAX; k++) {
        size_t word = e->hits[k].word, rule = e->hits[k].rule;
        size_t apart = word > at ? word - at : at - word;
        n += SCAN_RULES[rule].weight == 0 && apart <= ABOUT_WORDS && add_rule(&seen, rule);
    }
    return n;
}

/* What the rules of the stretch that ends with hit i weigh; the first of the heaviest. */
static unsigned weigh(const struct evidence *e, size_t i, size_t *ret_rule)
{
    struct rule_set seen = {0};
    unsigned sum = 0, most = 0;
    for (size_t k = i + 1; k-- > 0 && e->hits[i].word - e->hits[k].word <= STRETCH_WORDS;) {
        size_t rule = e->hits[k].rule;
        unsigned weight = e->hits[k].weight;
        sum += weight && add_rule(&seen, rule) ? weight : 0;
        if (weight >= most) {
            most = weight;
            *ret_rule = rule;
        }
    }
    return sum;
}

/* Takes the weight of what hit i tells of. */
static void describe(struct evidence *e, size_t i)
{
    size_t word = e->hits[i].word;
    for (size_t k = i; k-- > 0 && word - e->hits[k].word <= DESCRIBED_WORDS;) {
        e->hits[k].weight = 0;
    }
    for (size_t k = i + 1; k < e->n && e->hits[k].word == word; k++) {
        e->hits[k].weight = 0;
    }
}

static void describe_all(struct evidence *e)
{
    for (size_t i = 0; i < e->n; i++) {
        if (SCAN_RULES[e->hits[i].rule].weight == SCAN_DESCRIBES) {
            describe(e, i);
        }
    }
}

static void decide(struct evidence *e)
{
    describe_all(e);
    for (size_t i = 0; i < e->n && e->rule == SCAN_RULES_MAX; i++) {
        size_t rule = SCAN_RULES_MAX;
        unsigned sum = e->hits[i].weight ? weigh(e, i, &rule) : 0;
        if (sum >= SCAN_CLEAR && sum >= SCAN_CLEAR + ABOUT_WEIGHT * count_about(e, i)) {
            e->rule = rule;
        }
    }
    e->n = 0;
}

/* Of a run of one rule the first and the last hit are kept: the last may be described. */
static bool ends_run(const struct evidence *e, size_t rule)
{
    return e->n >= 2 && e->hits[e->n - 1].rule == rule && e->hits[e->n - 2].rule == rule;
}

static void on_hit(void *context, size_t rule)
{
    struct evidence *e = context;
    if (ends_run(e, rule)) {
        e->hits[e->n - 1].word = e->word;
        return;
    }
    if (e->n == HITS_MAX) {
        decide(e);
    }
    int weight = SCAN_RULES[rule].weight;
    e->hits[e->n++] = (struct hit){e->word, rule, weight > 0 ? (unsigned)weight : 0};
}

/* --- reading --- */

static void feed_text(struct evidence *e, struct slice text, unsigned depth);

static void feed_sign(struct evidence *e, char which)
{
    struct scan_word sign = {.is_mark = true, .n = 1, .text = {which}};
    scan_match_feed(&e->matcher, &sign, on_hit, e);
}

static bool is_text(struct slice s)
{
    bool blank = false;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        blank = blank || c == ' ';
        if (c < ' ' && c != '\n' && c != '\r' && c != '\t') {
            return false;
        }
    }
    return blank && utf8_is_valid(s);
}

/* Whole groups of four characters, in either alphabet. */
static void decode(struct dynbuf *out, struct slice code)
{
    char url[SCAN_CODE_MAX];
    size_t n = code.n - code.n % 4;
    memcpy(url, code.p, n);
    for (size_t i = 0; i < n; i++) {
        if (url[i] == '+') {
            url[i] = '-';
        } else if (url[i] == '/') {
            url[i] = '_';
        }
    }
    (void)decode_base64url(out, (struct slice){url, n});
}

static void feed_code(struct evidence *e, struct slice code, unsigned depth)
{
    struct dynbuf text;
    dynbuf_init(&text, SCAN_CODE_MAX);
    decode(&text, code);
    struct slice plain = dynbuf_get(&text);
    if (is_text(plain)) {
        feed_sign(e, SCAN_SIGN_ENCODED);
        feed_text(e, plain, depth + 1);
    }
    dynbuf_done(&text);
}

static void feed_text(struct evidence *e, struct slice text, unsigned depth)
{
    struct scan_words words;
    struct scan_word word;
    scan_words_init(&words, text);
    while (e->rule == SCAN_RULES_MAX && scan_words_next(&words, &word)) {
        e->word += !word.is_mark;
        if (word.code.p && depth < NESTING_MAX) {
            feed_code(e, word.code, depth);
        }
        scan_match_feed(&e->matcher, &word, on_hit, e);
    }
    if (words.hidden >= HIDDEN_MIN) {
        feed_sign(e, SCAN_SIGN_HIDDEN);
    }
    scan_words_done(&words);
}

bool scan_passage(struct slice text, const char **ret_rule)
{
    struct evidence e = {.rule = SCAN_RULES_MAX};
    feed_text(&e, text, 0);
    decide(&e);
    bool found = e.rule != SCAN_RULES_MAX;
    if (ret_rule) {
        *ret_rule = found ? SCAN_RULES[e.rule].name : NULL;
    }
    return found;
}
