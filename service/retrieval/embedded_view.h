/* SPDX-License-Identifier: Apache-2.0 */
/* embedded_view: a snapshot seen through a filter, and what is read through it.
 *
 * A search or fetch gets at segments only here, and a view holds the permitted ones alone. */
#ifndef RETRIEVAL_EMBEDDED_VIEW_H
#define RETRIEVAL_EMBEDDED_VIEW_H

#include "service/retrieval/backend.h"
#include "service/retrieval/snapshot.h"
#include "service/retrieval/text.h"

#include <stdatomic.h>

/* Refs filter and snapshot. */
struct view *embedded_view_new(struct snapshot *s, struct filter *f,
                               const struct answer_profile *profile);

/* What the reading thread brings along. */
struct embedded_reader {
    unsigned slot;
    struct text_analyser *analyser;
    const struct answer_profile *profile;
    atomic_bool *cancelled; /* may be NULL */
};

/* Blocking. *ret_hits is set on ERR_OK only. */
enum err embedded_view_search(struct view *v, const struct embedded_reader *reader,
                              const struct search_query *q, struct hits **ret_hits);
enum err embedded_view_fetch(struct view *v, const struct embedded_reader *reader,
                             const struct fetch_query *q, struct hits **ret_hits);

#endif
