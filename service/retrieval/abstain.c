/* SPDX-License-Identifier: Apache-2.0 */
/* A question put to the wrong knowledge base still finds passages: they hold its common words.
 *
 * How common a word is, only an index knows, and each engine's index says it differently. What
 * stands in for it is the tail of the candidate list: a term that many of the lower ranks hold is
 * common here, one that none of them holds is not. docs/measured/abstain.md has the measurements
 * that the form and the constants come from. */
#include "service/retrieval/abstain.h"

#include "service/retrieval/abstain_words.h"
#include "service/retrieval/text.h"

#include <stdlib.h>

enum {
    TOPIC_WEIGHT = 10000, /* of a term, divided by the candidates behind the judged that hold it */
    GENERIC_WEIGHT = 2000,
    TAIL_PRIOR = 8, /* added to that number, so that a few more or less mean little */
    WHOLE = 10000,  /* the share of a hit that holds every term */

    /* Where the coverage that is asked for is abstain_coverage itself. A passage of fewer bytes, or
     * a question of more terms, is about it with less. */
    USUAL_TERMS = 9,
    USUAL_BYTES = 1024,
    LEAST_BYTES = 64, /* what is shorter counts as this long */
};

static uint64_t square_root(uint64_t x)
{
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1) {
        if ((root + bit) * (root + bit) <= x) {
            root += bit;
        }
    }
    return root;
}

static uint64_t term_weight(const struct hits *hits, size_t term)
{
    uint64_t tail = 0;
    for (size_t i = ABSTAIN_JUDGED; i < hits->n; i++) {
        tail += hit_matches(&hits->items[i], term);
    }
    return (abstain_is_generic(hits->terms[term]) ? GENERIC_WEIGHT : TOPIC_WEIGHT) /
           (TAIL_PRIOR + tail);
}

/* How much of the query's weight a hit holds: 0..WHOLE, which only a hit with every term has. */
static uint64_t share(const struct hit *hit, const uint64_t *weights, size_t n_terms)
{
    uint64_t held = 0, all = 0;
    for (size_t t = 0; t < n_terms; t++) {
        all += weights[t];
        held += hit_matches(hit, t) ? weights[t] : 0;
    }
    return all ? held * WHOLE / all : 0; /* a query without terms finds nothing */
}

/* share / WHOLE >= abstain_coverage / 1000 * sqrt(USUAL_TERMS / terms) * (bytes / USUAL_BYTES)^1/4,
 * squared. A text of 2^32 bytes stays below 2^63. */
static bool is_about(const struct hit *hit, uint64_t share, size_t n_terms, uint64_t coverage)
{
    uint64_t bytes = hit->title.n + hit->text.n;
    uint64_t length = square_root(256 * (bytes < LEAST_BYTES ? LEAST_BYTES : bytes));
    uint64_t asked = coverage * (WHOLE / 1000);
    return share * share * n_terms * square_root(UINT64_C(256) * USUAL_BYTES) >=
           asked * asked * USUAL_TERMS * length;
}

static size_t count_held(const struct hit *hit, size_t n_terms)
{
    size_t held = 0;
    for (size_t t = 0; t < n_terms; t++) {
        held += hit_matches(hit, t);
    }
    return held;
}

/* Half of the terms are enough, whatever they weigh: a short question has a slip of the pen, a
 * hyphen or a word of its asker's in it, and the page on top is still the right one. */
static bool any_is_about(const struct hits *hits, const uint64_t *weights, uint64_t coverage)
{
    for (size_t i = 0; i < hits->n; i++) {
        const struct hit *hit = &hits->items[i];
        size_t held = count_held(hit, hits->n_terms);
        if (held == hits->n_terms ||
            (i < ABSTAIN_JUDGED &&
             (2 * held >= hits->n_terms ||
              is_about(hit, share(hit, weights, hits->n_terms), hits->n_terms, coverage)))) {
            return true;
        }
    }
    return false;
}

bool abstain(const struct hits *hits, const struct answer_profile *profile)
{
    uint64_t weights[TEXT_QUERY_MAX_TERMS];
    if (hits->n == 0 || profile->abstain_coverage == 0) {
        return hits->n == 0;
    }
    for (size_t t = 0; t < hits->n_terms; t++) {
        weights[t] = term_weight(hits, t);
    }
    return !any_is_about(hits, weights, profile->abstain_coverage);
}
