/* SPDX-License-Identifier: Apache-2.0 */
/* Everything a caller can get by: both eras of MCP and both forms of /v1/search; what is there,
 * what is hidden, what is missing; what is refused. */
#include "tests/unit/whole/asks.h"

#include "service/mcp/uri.h"
#include "tests/unit/whole/door.h"

#include <stdarg.h>

#define MODERN "2026-07-28"
#define META                                                                                       \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" MODERN "\","                       \
    "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"tests\",\"version\":\"1\"},"               \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"

enum { BODY_MAX_BYTES = 64 * 1024 };

static const char *const NO_NAME = "nowhere";

struct slice asks_text(struct asks *list, const char *format, ...)
{
    char bytes[BODY_MAX_BYTES];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(bytes, sizeof(bytes), format, args);
    va_end(args);
    MUST(n >= 0 && (size_t)n < sizeof(bytes), "%d bytes", n);
    return arena_copy(list->author->arena, (struct slice){bytes, (size_t)n});
}

static struct ask *add(struct asks *list, enum surface surface, struct slice body)
{
    MUST(list->n < MAX_ASKS, "too many asks");
    struct ask *a = &list->items[list->n++];
    *a = (struct ask){.in = {.surface = surface,
                             .authorization = list->authorization,
                             .n_authorization = 1,
                             .content_type = SLICE_LIT("application/json"),
                             .accept = SLICE_LIT("application/json, text/event-stream"),
                             .body = body}};
    return a;
}

/* params: JSON members. name: what the modern era repeats in a header; NULL: nothing. */
static struct ask *add_mcp(struct asks *list, bool modern, const char *method, const char *params,
                           const char *name)
{
    struct slice body =
        asks_text(list, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{%s%s%s}}",
                  method, params, modern && *params ? "," : "", modern ? META : "");
    struct ask *a = add(list, SURFACE_MCP, body);
    a->in.mcp_version = modern ? SLICE_LIT(MODERN) : SLICE_LIT("2025-11-25");
    a->in.mcp_method = modern ? slice_of(method) : SLICE_NONE;
    a->in.mcp_name = modern ? slice_of(name) : SLICE_NONE;
    return a;
}

/* Reads */

static void add_escaped(struct dynbuf *out, struct slice s)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789-._/";
    for (size_t i = 0; i < s.n; i++) {
        char escape[8];
        snprintf(escape, sizeof(escape), "%%%02X", (unsigned char)s.p[i]);
        if (s.p[i] && strchr(plain, s.p[i])) {
            dynbuf_add_byte(out, s.p[i]);
        } else {
            dynbuf_add_text(out, escape);
        }
    }
}

static struct ask *add_read(struct asks *list, struct slice uri, bool modern)
{
    struct slice params = asks_text(list, "\"uri\":\"%s\"", uri.p);
    return add_mcp(list, modern, "resources/read", params.p, uri.p);
}

/* position < 0: the document. */
static struct slice uri_of(struct asks *list, const char *collection, struct slice doc_id,
                           int64_t position)
{
    struct dynbuf uri;
    dynbuf_init(&uri, BODY_MAX_BYTES);
    if (position < 0) {
        dynbuf_add_text(&uri, "kb://doc/");
        dynbuf_add_text(&uri, collection);
        dynbuf_add_text(&uri, "/");
        add_escaped(&uri, doc_id);
    } else {
        resource_uri_add_chunk(&uri, slice_of(collection), doc_id, (uint32_t)position);
    }
    struct slice made = arena_copy(list->author->arena, dynbuf_get(&uri));
    dynbuf_done(&uri);
    return made;
}

static void read_seen(struct asks *list, const struct world *w)
{
    struct author *a = list->author;
    const struct paper *p = world_pick(w, a, true);
    if (p) {
        const char *collection = COLLECTIONS[p->place.collection];
        uint32_t position = p->input.chunks[draw_below(a->draw, p->input.n_chunks)].position;
        add_read(list, uri_of(list, collection, p->input.doc_id, -1), draw_below(a->draw, 2));
        add_read(list, uri_of(list, collection, p->input.doc_id, position), false);
    }
}

/* A hidden document and one that nobody has: the same but for the name. */
static void read_hidden(struct asks *list, const struct world *w)
{
    struct author *a = list->author;
    const struct paper *p = world_pick(w, a, false);
    if (!p) {
        return;
    }
    const char *collection = COLLECTIONS[p->place.collection];
    int64_t position = draw_below(a->draw, 2) ? -1 : (int64_t)p->input.chunks[0].position;
    bool modern = draw_below(a->draw, 2);
    struct slice uris[] = {
        uri_of(list, collection, p->input.doc_id, position),
        uri_of(list, draw_below(a->draw, 2) ? collection : NO_NAME, slice_of(NO_NAME), position)};
    for (int i = 0; i < 2; i++) {
        struct ask *made = add_read(list, uris[i], modern);
        made->names_veiled = i == 0;
        made->name = uris[i];
        made->twin = i ? list->n - 2 : 0;
    }
}

/* Searches */

struct ask *asks_search(struct asks *list, enum surface surface, bool modern,
                        struct slice arguments)
{
    struct ask *a;
    if (surface == SURFACE_REST) {
        a = add(list, surface, asks_text(list, "{%s}", arguments.p));
    } else {
        struct slice params =
            asks_text(list, "\"name\":\"search_kb\",\"arguments\":{%s}", arguments.p);
        a = add_mcp(list, modern, "tools/call", params.p, "search_kb");
    }
    a->searches = true;
    return a;
}

static void add_get(struct asks *list, struct slice query, uint32_t top_k)
{
    struct dynbuf string;
    dynbuf_init(&string, BODY_MAX_BYTES);
    dynbuf_add_text(&string, "top_k=");
    dynbuf_add_int(&string, top_k);
    dynbuf_add_text(&string, "&q=");
    add_escaped(&string, query);
    struct ask *a = add(list, SURFACE_REST, SLICE_NONE);
    a->in.is_get = true;
    a->in.query_string = arena_copy(list->author->arena, dynbuf_get(&string));
    a->searches = true;
    dynbuf_done(&string);
}

static struct slice draw_query(struct author *a, const struct world *w)
{
    const struct paper *p =
        draw_one_in(a->draw, 3) ? NULL : world_pick(w, a, draw_below(a->draw, 2));
    struct slice of = p ? p->input.chunks[0].text : SLICE_NONE;
    of = p && p->input.title.n && draw_one_in(a->draw, 4) ? p->input.title : of;
    bool has_words = of.n && of.p[0] > ' ' && of.p[0] != '.';
    return world_words(a, 1 + draw_below(a->draw, 4), has_words ? of : SLICE_NONE);
}

/* Arguments that narrow, to what is seen or not. */
static struct slice draw_arguments(struct asks *list, struct slice query)
{
    struct draw *d = list->author->draw;
    struct slice names = SLICE_LIT("");
    switch (draw_below(d, 4)) {
    case 0:
        names =
            asks_text(list, ",\"collection\":\"%s\"", COLLECTIONS[draw_below(d, N_COLLECTIONS)]);
        break;
    case 1:
        names = asks_text(list, ",\"doc_type\":\"%s\"", DOC_TYPES[draw_below(d, N_DOC_TYPES)]);
        break;
    case 2:
        names =
            asks_text(list, ",\"published_from\":\"2022-01-%02u\",\"published_to\":\"2022-03-01\"",
                      8 + draw_below(d, 20));
        break;
    default: break;
    }
    return asks_text(list, "\"query\":\"%s\",\"top_k\":%u%s", query.p, 1 + draw_below(d, 20),
                     names.p);
}

static void search_one(struct asks *list, const struct world *w)
{
    struct draw *d = list->author->draw;
    struct slice query = draw_query(list->author, w);
    asks_search(list, SURFACE_MCP, draw_below(d, 2), asks_text(list, "\"query\":\"%s\"", query.p));
    asks_search(list, draw_below(d, 2) ? SURFACE_MCP : SURFACE_REST, false,
                draw_arguments(list, query));
    asks_search(list, draw_below(d, 2) ? SURFACE_MCP : SURFACE_REST, draw_below(d, 2),
                draw_arguments(list, query));
    add_get(list, query, 1 + draw_below(d, 20));
}

static bool is_seen_name(const struct world *w, bool collection, unsigned at)
{
    for (size_t i = 0; i < w->n; i++) {
        const struct place p = w->papers[i].place;
        if (w->papers[i].seen && (collection ? p.collection : p.doc_type) == at) {
            return true;
        }
    }
    return false;
}

/* A name that stands in no visible document, and one that stands in none: no answer repeats them.
 */
static void search_by_name(struct asks *list, const struct world *w, bool collection)
{
    struct draw *d = list->author->draw;
    unsigned at = draw_below(d, collection ? N_COLLECTIONS : N_DOC_TYPES);
    if (is_seen_name(w, collection, at)) {
        return;
    }
    enum surface surface = draw_below(d, 2) ? SURFACE_MCP : SURFACE_REST;
    const char *const names[] = {collection ? COLLECTIONS[at] : DOC_TYPES[at], NO_NAME};
    for (int i = 0; i < 2; i++) {
        struct ask *a = asks_search(list, surface, false,
                                    asks_text(list, "\"query\":\"kilo\",\"%s\":\"%s\"",
                                              collection ? "collection" : "doc_type", names[i]));
        a->searches = false;
        a->twin = i ? list->n - 2 : 0;
    }
}

/* Lists and refusals */

static void ask_lists(struct asks *list)
{
    static const char *const methods[] = {"tools/list", "resources/list",
                                          "resources/templates/list", "prompts/list"};
    for (int i = 0; i < 4; i++) {
        add_mcp(list, false, methods[i], "", NULL);
    }
    add_mcp(list, true, "tools/list", "", NULL);
    add_mcp(list, false, "prompts/get",
            "\"name\":\"literature_summary\",\"arguments\":{\"topic\":\"opal\"}", NULL);
}

static void ask_badly(struct asks *list)
{
    asks_search(list, SURFACE_MCP, false, SLICE_LIT("\"query\":\"\\u2026\""))->searches = false;
    asks_search(list, SURFACE_REST, false, SLICE_LIT("\"query\":\"x\",\"top_k\":21"))->searches =
        false;
    add_read(list, SLICE_LIT("kb://docs/x"), false);
    add(list, SURFACE_MCP, SLICE_LIT("{"))->in.n_authorization = 0;
}

void asks_draw(struct asks *list, const struct world *before, const struct world *after)
{
    add_read(list, SLICE_LIT("kb://index"), false);
    add_read(list, SLICE_LIT("kb://index"), true);
    ask_lists(list);
    read_seen(list, before);
    read_hidden(list, before);
    read_hidden(list, after);
    for (int i = 0; i < 3; i++) {
        search_one(list, i == 1 ? after : before);
    }
    search_by_name(list, before, true);
    search_by_name(list, before, false);
    ask_badly(list);
}
