/* SPDX-License-Identifier: Apache-2.0 */
/* abstain: whether what was found is about the query at all (docs/design.md §4).
 *
 * The rule knows the analysed query, which of its terms each candidate holds, the candidates' order
 * and the length of their title and text: nothing that only one engine could say. Pure; integers
 * only. */
#ifndef RETRIEVAL_ABSTAIN_H
#define RETRIEVAL_ABSTAIN_H

#include "service/retrieval/backend.h"

enum {
    ABSTAIN_VERSION = 2,
    ABSTAIN_JUDGED = 5, /* the best hits; one of them has to be about the query */
};

/* True: answer `empty`. Hits are a leg's, best first, with terms and matched set; none of them is
 * true. profile->abstain_coverage 0 switches the rule off: false for whatever has a hit. A hit that
 * holds every term of the query is always an answer; so is one of the best ABSTAIN_JUDGED that
 * holds half of them, counted plainly, or the share that abstain_coverage asks for. One of these
 * never turns an answer into `empty` by holding one term more. */
bool abstain(const struct hits *hits, const struct answer_profile *profile);

#endif
