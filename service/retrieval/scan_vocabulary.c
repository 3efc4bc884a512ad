/* SPDX-License-Identifier: Apache-2.0 */
/* A closed set of words in an open-addressed table. A word of an attack with one letter too many,
 * too few or wrong is still read by a model, so long ones are found all the same; short ones are
 * not, since another word is too near. */
#include "service/retrieval/scan_compile.h"

static uint64_t hash(struct slice word)
{
    uint64_t h = slice_hash(word);
    return h ^ h >> 32;
}

static struct slice word_of(const struct scan_vocabulary *v, unsigned id)
{
    return (struct slice){v->pool + v->entries[id].at, v->entries[id].n};
}

/* Where the word is, or where it would be put. */
static size_t slot_of(const struct scan_vocabulary *v, struct slice word)
{
    size_t slot = hash(word) % SCAN_SLOTS;
    while (v->slots[slot] && !slice_eq(word_of(v, v->slots[slot]), word)) {
        slot = (slot + 1) % SCAN_SLOTS;
    }
    return slot;
}

unsigned scan_vocabulary_find(const struct scan_vocabulary *v, struct slice word)
{
    return v->slots[slot_of(v, word)];
}

static bool may_have_typos(struct slice word)
{
    return word.n >= SCAN_TYPO_MIN && word.p[0] >= 'a' && word.p[0] <= 'z';
}

unsigned scan_vocabulary_add(struct scan_vocabulary *v, struct slice word)
{
    size_t slot = slot_of(v, word);
    if (v->slots[slot]) {
        return v->slots[slot];
    }
    v->n = v->n ? v->n : 1;
    if (v->n == SCAN_VOCABULARY_MAX || SCAN_POOL_BYTES - v->used < word.n) {
        return 0;
    }
    unsigned id = (unsigned)v->n++;
    struct scan_entry *e = &v->entries[id];
    *e = (struct scan_entry){(uint16_t)v->used, (uint16_t)word.n, 0};
    memcpy(v->pool + v->used, word.p, word.n);
    v->used += word.n;
    v->slots[slot] = (uint16_t)id;
    if (may_have_typos(word)) {
        e->next_typo = v->first_typo[word.p[0] - 'a'];
        v->first_typo[word.p[0] - 'a'] = (uint16_t)id;
    }
    return id;
}

static size_t common_start(struct slice a, struct slice b)
{
    size_t n = 0;
    while (n < a.n && n < b.n && a.p[n] == b.p[n]) {
        n++;
    }
    return n;
}

static size_t common_end(struct slice a, struct slice b)
{
    size_t n = 0;
    while (n < a.n && n < b.n && a.p[a.n - 1 - n] == b.p[b.n - 1 - n]) {
        n++;
    }
    return n;
}

static bool are_swapped(struct slice right, struct slice word, size_t at)
{
    return right.p[at] == word.p[at + 1] && right.p[at + 1] == word.p[at];
}

/* One letter too many, too few or wrong, or two swapped; not the last, so that no ending of grammar
 * counts. */
static bool is_typo(struct slice right, struct slice word)
{
    size_t longer = right.n > word.n ? right.n : word.n;
    size_t shorter = right.n + word.n - longer;
    if (longer - shorter > 1 || right.p[right.n - 1] != word.p[word.n - 1]) {
        return false;
    }
    size_t start = common_start(right, word), tail = common_end(right, word);
    return start + tail + 1 >= longer ||
           (longer == shorter && start + tail + 2 == longer && are_swapped(right, word, start));
}

unsigned scan_vocabulary_find_typo(const struct scan_vocabulary *v, struct slice word)
{
    if (!may_have_typos(word)) {
        return 0;
    }
    unsigned id = v->first_typo[word.p[0] - 'a'];
    while (id && !is_typo(word_of(v, id), word)) {
        id = v->entries[id].next_typo;
    }
    return id;
}
