/* SPDX-License-Identifier: Apache-2.0 */
/* abstain: whether what was found is about the query at all (docs/design.md §4).
 *
 * The rule knows the analysed query and which of its terms each candidate holds, and nothing that
 * only one engine could say. Pure; integers only. */
#ifndef RETRIEVAL_ABSTAIN_H
#define RETRIEVAL_ABSTAIN_H

#include "service/retrieval/backend.h"

enum { ABSTAIN_VERSION = 1 };

/* True: answer `empty`. Hits are a leg's, best first, with terms and matched set; none of them is
 * true. The profile's abstain settings decide; the one that switches the rule off gives false for
 * whatever has a hit. */
bool abstain(const struct hits *hits, const struct answer_profile *profile);

#endif
