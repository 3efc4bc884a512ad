/* SPDX-License-Identifier: Apache-2.0 */
/* cache: an answer that was given before, to a caller with equal rights of the same tenant, on the
 * same version, is given again for free. */
#include "service/pipeline/respond.h"

enum step_result cache_begin(struct request *r)
{
    const struct cache_key_parts parts = {
        .tenant = r->claims.tenant,
        .index_version = r->view->index_version,
        .filter = filter_digest(r->filter),
        .tool = metrics_tool_name(r->tool),
        .rendering = r->in.surface == SURFACE_REST ? "rest" : "mcp",
        .canonical_request = r->canonical,
    };
    cache_key_make(&parts, &r->key);
    r->cached = cache_get(r->gate->cache, &r->key);
    struct metrics *m = &r->gate->metrics;
    atomic_fetch_add(r->cached ? &m->cache_hits : &m->cache_misses, 1);
    return r->cached ? respond_cached(r) : STEP_NEXT;
}
