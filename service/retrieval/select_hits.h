/* SPDX-License-Identifier: Apache-2.0 */
/* select_hits: from candidates to hits: order, equal texts, depth. Blocking: yes. */
#ifndef RETRIEVAL_SELECT_HITS_H
#define RETRIEVAL_SELECT_HITS_H

#include "service/retrieval/candidates.h"

/* As lexical_search. Changes the candidates' order. */
enum err select_hits(const struct lexical_query *q, struct candidates *c, struct hits **ret_hits);

#endif
