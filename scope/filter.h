/* SPDX-License-Identifier: Apache-2.0 */
/* filter: what one caller may see, as data (docs/design.md §2).
 *
 * None, or an OR of conjunctions over collections, doc_types and labels less an OR of denies.
 * Canonical: values sorted and distinct, grant ids left out, so equal rights have equal bytes and
 * one digest. A filter comes from policy_compile() or filter_owner() alone; "no filter" cannot be
 * built. Pure. Thread: any; immutable and reference-counted. */
#ifndef SCOPE_FILTER_H
#define SCOPE_FILTER_H

#include "service/digest/digest.h"

/* Where a document belongs: all that a filter looks at. */
struct doc_scope {
    struct slice collection, doc_type; /* an empty one matches nothing, not even "*" */
    const struct slice *labels; /* sorted bytewise, distinct; none: only labels "*" sees it */
    size_t n_labels;
};

/* Order by collection, doc_type, then labels; <0, 0, >0. */
int doc_scope_cmp(const struct doc_scope *a, const struct doc_scope *b);

/* 1..64 bytes: a letter or digit, then letters, digits, dot, underscore, hyphen (ASCII). The rule
 * for the names of collections, doc_types and labels. */
bool scope_name_is_valid(struct slice name);

struct filter; /* opaque */

/* The digest of a filter's canonical bytes. Only this module can make one, so that whoever holds
 * one has gone through a scope. */
struct filter_digest {
    struct digest value;
};

/* Everything: for the person who holds the store's files (`kbgate search --store`), never for a
 * token. */
struct filter *filter_owner(void);

struct filter *filter_ref(struct filter *f);
void filter_unref(struct filter *f);

/* True where no grant applies: the caller sees nothing and gets 403. */
bool filter_is_none(const struct filter *f);

/* Whether the caller may see a document that belongs there. */
bool filter_permits(const struct filter *f, const struct doc_scope *where);

/* Canonical JSON text, for `kbgate check` and the audit. */
struct slice filter_canonical(const struct filter *f);

const struct filter_digest *filter_digest(const struct filter *f);

#endif
