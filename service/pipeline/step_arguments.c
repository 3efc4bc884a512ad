/* SPDX-License-Identifier: Apache-2.0 */
/* arguments: from what was sent to the canonical request, which is what is searched, hashed and
 * cached. A name the caller may not see and a name nobody has are refused in the same words. */
#include "service/pipeline/respond.h"
#include "service/retrieval/text.h"

enum { CANONICAL_MAX_BYTES = 64 * 1024 };

static bool reject(struct request *r, const char *field, const char *message)
{
    r->arg_error = (struct arg_error){field, message};
    return false;
}

static bool take_query(struct request *r)
{
    struct dynbuf canonical;
    dynbuf_init(&canonical, CANONICAL_MAX_BYTES);
    enum text_query_result result = text_canonical_query(r->args.query, &canonical);
    if (canonical.failed) {
        result = TEXT_QUERY_TOO_LONG;
    }
    r->query.text = arena_copy(&r->arena, dynbuf_get(&canonical));
    dynbuf_done(&canonical);
    switch (result) {
    case TEXT_QUERY_OK: return true;
    case TEXT_QUERY_BLANK: return reject(r, "query", ARG_QUERY_BLANK);
    case TEXT_QUERY_NO_WORD: return reject(r, "query", ARG_QUERY_NO_WORD);
    case TEXT_QUERY_TOO_LONG: return reject(r, "query", ARG_QUERY_TOO_LONG);
    case TEXT_QUERY_NOT_UTF8:
    case TEXT_QUERY_CONTROL: break;
    }
    return reject(r, "query", ARG_QUERY_CONTROL);
}

static bool contains(const struct slice *names, size_t n, struct slice name)
{
    for (size_t i = 0; i < n; i++) {
        if (slice_eq(names[i], name)) {
            return true;
        }
    }
    return false;
}

static bool take_names(struct request *r)
{
    size_t n;
    const struct slice *names = view_collections(r->view, &r->arena, &n);
    if (r->args.collection.p && !contains(names, n, r->args.collection)) {
        return reject(r, "collection", ARG_COLLECTION_UNKNOWN);
    }
    names = view_doc_types(r->view, &r->arena, &n);
    if (r->args.doc_type.p && !contains(names, n, r->args.doc_type)) {
        return reject(r, "doc_type", ARG_DOC_TYPE_UNKNOWN);
    }
    r->query.collection = r->args.collection;
    r->query.doc_type = r->args.doc_type;
    return true;
}

static bool take_date(struct request *r, const char *field, struct slice text, int32_t *ret_days)
{
    *ret_days = NO_DATE;
    return !text.p || date_parse(text, ret_days) || reject(r, field, ARG_DATE_INVALID);
}

static bool take_dates(struct request *r)
{
    struct search_query *q = &r->query;
    if (!take_date(r, "published_from", r->args.published_from, &q->published_from) ||
        !take_date(r, "published_to", r->args.published_to, &q->published_to)) {
        return false;
    }
    bool crossed = q->published_from != NO_DATE && q->published_to != NO_DATE &&
                   q->published_from > q->published_to;
    return !crossed || reject(r, "published_from", ARG_DATE_ORDER);
}

static void member_date(struct json_writer *w, const char *key, int32_t days)
{
    if (days != NO_DATE) {
        json_key(w, key);
        dynbuf_add_byte(w->out, '"');
        date_add(w->out, days);
        dynbuf_add_byte(w->out, '"');
        w->comma = true;
    }
}

/* Every argument in schema order, defaults filled in, absent ones left out. */
static void write_search(struct json_writer *w, const struct request *r)
{
    json_member_text(w, "query", r->query.text);
    json_member_int(w, "top_k", r->args.top_k);
    if (r->query.collection.p) {
        json_member_text(w, "collection", r->query.collection);
    }
    if (r->query.doc_type.p) {
        json_member_text(w, "doc_type", r->query.doc_type);
    }
    member_date(w, "published_from", r->query.published_from);
    member_date(w, "published_to", r->query.published_to);
}

static void write_read(struct json_writer *w, const struct request *r)
{
    json_member_int(w, "kind", r->uri.kind);
    json_member_text(w, "collection", r->uri.collection);
    json_member_text(w, "doc_id", r->uri.doc_id);
    json_member_int(w, "position", r->uri.position);
}

static void make_canonical(struct request *r)
{
    struct dynbuf bytes;
    dynbuf_init(&bytes, CANONICAL_MAX_BYTES);
    struct json_writer w = json_writer_on(&bytes);
    json_object_begin(&w);
    if (r->tool == TOOL_SEARCH) {
        write_search(&w, r);
    } else {
        write_read(&w, r);
    }
    json_object_end(&w);
    r->canonical = arena_copy(&r->arena, dynbuf_get(&bytes));
    dynbuf_done(&bytes);
}

enum step_result arguments_begin(struct request *r)
{
    if (r->tool == TOOL_NONE) {
        return STEP_NEXT;
    }
    if (r->tool == TOOL_SEARCH &&
        (r->arg_error.field || !take_query(r) || !take_names(r) || !take_dates(r))) {
        return respond_invalid(r);
    }
    if (r->tool == TOOL_READ && !r->uri_is_valid) {
        r->failure = ERR_NOT_FOUND;
        return STEP_FAIL;
    }
    make_canonical(r);
    return STEP_NEXT;
}
