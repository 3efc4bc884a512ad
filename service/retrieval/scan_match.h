/* SPDX-License-Identifier: Apache-2.0 */
/* scan_match: all rules at once over a stream of words, a bounded number of steps a word.
 *
 * The rules are compiled at first use. Thread: any, a matcher one at a time. */
#ifndef RETRIEVAL_SCAN_MATCH_H
#define RETRIEVAL_SCAN_MATCH_H

#include "service/retrieval/scan_words.h"

#include <stdint.h>

enum {
    SCAN_BLOCKS_MAX = 40,   /* of 64 pattern elements */
    SCAN_GAP_MAX = 12,      /* words that a gap may pass over */
    SCAN_DISGUISED_MIN = 5, /* letters of a word whose disguise is a sign */
    /* What a pattern names in capitals, fed as marks. */
    SCAN_SIGN_DISGUISED = 2,
    SCAN_SIGN_HIDDEN = 3,
    SCAN_SIGN_ENCODED = 4,
};

/* A zeroed matcher has seen nothing. */
struct scan_matcher {
    uint64_t state[SCAN_BLOCKS_MAX];
    uint64_t live;  /* blocks with a state */
    uint64_t steps; /* blocks looked at so far */
};

/* Called for each rule that ends at the word being fed. */
typedef void scan_on_hit(void *context, size_t rule);

void scan_match_feed(struct scan_matcher *m, const struct scan_word *word, scan_on_hit *on_hit,
                     void *context);

/* The name of the first rule or class that could not be compiled, NULL when all could. */
const char *scan_match_bad_rule(void);

#endif
