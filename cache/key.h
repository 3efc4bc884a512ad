/* SPDX-License-Identifier: Apache-2.0 */
/* key: what one answer is an answer to (docs/design.md §7).
 *
 * A key needs a filter digest, which only scope/filter can make: no key without a scope. Pure. */
#ifndef CACHE_KEY_H
#define CACHE_KEY_H

#include "scope/filter.h"

struct cache_key_parts {
    struct slice tenant;
    const char *index_version;
    const struct filter_digest *filter;
    const char *tool;      /* "search_kb", "read" */
    const char *rendering; /* "mcp", "rest" */
    struct slice canonical_request;
};

struct cache_key {
    struct digest value;
};

/* SHA-256 over the schema's version and the parts, length-prefixed. */
void cache_key_make(const struct cache_key_parts *parts, struct cache_key *ret_key);

#endif
