/* SPDX-License-Identifier: Apache-2.0 */
/* One answer for every cause of its kind: a caller who learns why a token was refused learns how to
 * forge the next one. */
#include "auth/challenge.h"

#include "service/base/json_write.h"

static const struct {
    int status;
    const char *error;
} KINDS[] = {
    [CHALLENGE_NO_TOKEN] = {401, NULL}, /* RFC 6750 §3.1: no credentials, no error code */
    [CHALLENGE_INVALID_TOKEN] = {401, "invalid_token"},
    [CHALLENGE_INVALID_REQUEST] = {400, "invalid_request"},
    [CHALLENGE_INSUFFICIENT_SCOPE] = {403, "insufficient_scope"},
};

int challenge_status(enum challenge c)
{
    return KINDS[c].status;
}

/* A quoted-string's inside (RFC 9110 §5.6.4). Control bytes are left out, whatever a file held, so
 * that no value can end the header line. */
static void add_quoted_inside(struct dynbuf *out, struct slice text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c < 0x20 || c == 0x7F) {
            continue;
        }
        if (c == '"' || c == '\\') {
            dynbuf_add_byte(out, '\\');
        }
        dynbuf_add_byte(out, text.p[i]);
    }
}

static void add_scope(struct dynbuf *out, const struct challenge_options *o)
{
    dynbuf_add_text(out, "scope=\"");
    for (size_t i = 0; i < o->n_scopes; i++) {
        if (i > 0) {
            dynbuf_add_byte(out, ' ');
        }
        add_quoted_inside(out, o->scopes[i]);
    }
    dynbuf_add_text(out, "\", ");
}

void challenge_header(struct dynbuf *out, const struct challenge_options *o, enum challenge c)
{
    dynbuf_add_text(out, "Bearer ");
    if (KINDS[c].error) {
        dynbuf_add_text(out, "error=\"");
        dynbuf_add_text(out, KINDS[c].error);
        dynbuf_add_text(out, "\", ");
    }
    if (o->n_scopes) {
        add_scope(out, o);
    }
    struct dynbuf url;
    dynbuf_init(&url, out->max_bytes);
    challenge_metadata_url(&url, o->resource);
    dynbuf_add_text(out, "resource_metadata=\"");
    add_quoted_inside(out, dynbuf_get(&url));
    dynbuf_add_byte(out, '"');
    dynbuf_done(&url);
}

struct slice challenge_body(enum challenge c)
{
    switch (c) {
    case CHALLENGE_NO_TOKEN: return SLICE_LIT("");
    case CHALLENGE_INVALID_TOKEN: return SLICE_LIT("{\"error\":\"invalid_token\"}");
    case CHALLENGE_INVALID_REQUEST: return SLICE_LIT("{\"error\":\"invalid_request\"}");
    case CHALLENGE_INSUFFICIENT_SCOPE: return SLICE_LIT("{\"error\":\"insufficient_scope\"}");
    }
    return SLICE_LIT("");
}

static void add_list(struct json_writer *w, const char *key, const struct slice *items, size_t n)
{
    json_key(w, key);
    json_array_begin(w);
    for (size_t i = 0; i < n; i++) {
        json_text(w, items[i]);
    }
    json_array_end(w);
}

void challenge_metadata(struct dynbuf *out, const struct challenge_options *o)
{
    static const struct slice METHODS[] = {SLICE_LIT("header")};
    struct json_writer w = json_writer_on(out);
    json_object_begin(&w);
    json_member_text(&w, "resource", o->resource);
    add_list(&w, "authorization_servers", o->authorization_servers, o->n_authorization_servers);
    if (o->n_scopes) { /* RFC 9728 §3.2: an empty list is left out */
        add_list(&w, "scopes_supported", o->scopes, o->n_scopes);
    }
    add_list(&w, "bearer_methods_supported", METHODS, 1);
    json_object_end(&w);
}

/* Where the authority of a URL ends. */
static size_t authority_end(struct slice url)
{
    size_t at = 0;
    while (at < url.n && !slice_starts(slice_skip(url, at), SLICE_LIT("://"))) {
        at++;
    }
    at = at < url.n ? at + 3 : 0;
    while (at < url.n && url.p[at] != '/' && url.p[at] != '?') {
        at++;
    }
    return at;
}

void challenge_metadata_url(struct dynbuf *out, struct slice resource)
{
    size_t end = authority_end(resource);
    struct slice path = slice_skip(resource, end);
    if (path.n && path.p[path.n - 1] == '/') {
        path.n--;
    }
    dynbuf_add(out, (struct slice){resource.p, end});
    dynbuf_add_text(out, "/.well-known/oauth-protected-resource");
    dynbuf_add(out, path);
}
