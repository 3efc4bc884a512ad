/* SPDX-License-Identifier: Apache-2.0 */
/* filter_build: the one constructor of a filter. Private to this folder: policy_compile() and
 * filter_owner() alone call it, so nobody else can make a scope. */
#ifndef SCOPE_FILTER_BUILD_H
#define SCOPE_FILTER_BUILD_H

#include "scope/filter.h"

/* The values of one dimension. `all` is set where a policy file says "*" and nowhere else; a value
 * that happens to be "*" is a name like any other. A zeroed set matches nothing. */
struct filter_set {
    bool all;
    const struct slice *items; /* any order, repeats allowed */
    size_t n;
};

/* A conjunction: any collection, any doc_type, every label of the document. */
struct filter_grant {
    struct filter_set collections, doc_types, labels;
};

/* A dimension that is not written is NULL and does not matter; labels: any one of the document's.
 */
struct filter_deny {
    const struct filter_set *collections, *doc_types, *labels_any;
};

/* Everything is copied. None: no grants (whatever the denies), or a text of over 4 MiB. */
struct filter *filter_build(const struct filter_grant *grants, size_t n_grants,
                            const struct filter_deny *denies, size_t n_denies);

#endif
