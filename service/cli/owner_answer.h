/* SPDX-License-Identifier: Apache-2.0 */
/* owner_answer: what /v1/search would answer the owner of a store's files. Pure. */
#ifndef CLI_OWNER_ANSWER_H
#define CLI_OWNER_ANSWER_H

#include "service/retrieval/backend.h"

/* Appends the JSON. Where the profile's rule abstains, hits->n becomes 0. */
void owner_answer(struct dynbuf *out, struct hits *hits, uint32_t top_k,
                  const struct answer_profile *profile, const char *index_version);

#endif
