/* SPDX-License-Identifier: Apache-2.0 */
/* Origin comes first and for every path, since a browser page that is not ours must learn nothing;
 * the metadata document comes before Host, since clients fetch it before they know anything. A Host
 * that is not ours means a name that was pointed at us (DNS rebinding). */
#include "service/http/route.h"

#include <strings.h>

static bool same_text(struct slice a, struct slice b)
{
    return a.n == b.n && strncasecmp(a.p, b.p, a.n) == 0;
}

/* Without ":port", which is one to five digits; an IPv6 literal keeps its brackets. */
static struct slice without_port(struct slice host)
{
    size_t digits = 0;
    while (digits < host.n && host.p[host.n - 1 - digits] >= '0' &&
           host.p[host.n - 1 - digits] <= '9') {
        digits++;
    }
    bool has_port =
        digits >= 1 && digits <= 5 && digits < host.n && host.p[host.n - 1 - digits] == ':';
    return has_port ? (struct slice){host.p, host.n - 1 - digits} : host;
}

static bool host_is_served(const struct http_options *o, struct slice host)
{
    struct slice name = without_port(host);
    for (size_t i = 0; i < o->n_hosts; i++) {
        if (same_text(o->hosts[i], host) || same_text(o->hosts[i], name)) {
            return true;
        }
    }
    return false;
}

static bool origin_is_served(const struct http_options *o, const struct route_input *in)
{
    bool listed = false;
    for (size_t i = 0; i < o->n_origins; i++) {
        listed |= slice_eq(o->origins[i], in->origin);
    }
    return in->n_origins == 0 || (in->n_origins == 1 && listed);
}

static bool is_metadata(const struct route_input *in)
{
    return slice_is(in->method, "GET") &&
           (slice_is(in->path, "/.well-known/oauth-protected-resource") ||
            slice_is(in->path, "/.well-known/oauth-protected-resource/mcp"));
}

static enum route find_endpoint(const struct route_input *in)
{
    bool is_post = slice_is(in->method, "POST");
    if (slice_is(in->path, "/mcp") || slice_is(in->path, "/mcp/")) {
        return is_post ? ROUTE_MCP : ROUTE_ONLY_POST;
    }
    if (!slice_is(in->path, "/v1/search")) {
        return ROUTE_NOT_FOUND;
    }
    if (slice_is(in->method, "GET")) {
        return ROUTE_SEARCH_GET;
    }
    return is_post ? ROUTE_SEARCH_POST : ROUTE_ONLY_GET_POST;
}

static bool has_work(enum route r)
{
    return r == ROUTE_MCP || r == ROUTE_SEARCH_GET || r == ROUTE_SEARCH_POST;
}

enum route route_find(const struct http_options *o, const struct route_input *in)
{
    if (!origin_is_served(o, in)) {
        return ROUTE_BAD_ORIGIN;
    }
    if (is_metadata(in)) {
        return ROUTE_METADATA;
    }
    if (!host_is_served(o, in->host)) {
        return ROUTE_BAD_HOST;
    }
    if (in->n_origins && slice_is(in->method, "OPTIONS")) {
        return ROUTE_PREFLIGHT;
    }
    enum route r = find_endpoint(in);
    return has_work(r) && in->body_bytes > o->max_body_bytes ? ROUTE_BODY_TOO_LARGE : r;
}
