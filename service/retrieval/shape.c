/* SPDX-License-Identifier: Apache-2.0 */
/* Results fill the byte budget in order, and what one costs depends on itself and those before it
 * alone: so a longer list begins with the shorter one, byte for byte, and the room for "truncated"
 * is kept from the start. */
#include "service/retrieval/shape.h"

#include "service/retrieval/fence.h"
#include "service/retrieval/neutralise.h"
#include "service/retrieval/scan.h"
#include "service/retrieval/shape_part.h"
#include "service/retrieval/text_normal.h"

static void add_score(struct json_writer *w, uint32_t millionths)
{
    char digits[] = "0.000000";
    digits[0] = (char)('0' + millionths / 1000000);
    for (size_t i = sizeof(digits) - 2; i >= 2; i--, millionths /= 10) {
        digits[i] = (char)('0' + millionths % 10);
    }
    json_member_raw(w, "score", slice_of(digits));
}

static void add_also_in(struct json_writer *w, const struct hit *hit)
{
    json_key(w, "also_in");
    json_array_begin(w);
    for (size_t i = 0; i < hit->n_also; i++) {
        struct dynbuf line;
        dynbuf_init(&line, SIZE_MAX);
        neutralise_line(&line, hit->also[i].chunk_id, NULL);
        json_text(w, dynbuf_get(&line));
        dynbuf_done(&line);
    }
    json_array_end(w);
}

static void add_title(struct json_writer *w, struct slice title)
{
    struct dynbuf line;
    dynbuf_init(&line, SIZE_MAX);
    neutralise_line(&line, title, NULL);
    size_t n = text_cut(dynbuf_get(&line), SHAPE_TITLE_MAX_BYTES);
    if (n < line.n) {
        dynbuf_cut(&line, n);
        dynbuf_add_text(&line, "\xE2\x80\xA6");
    }
    json_member_text(w, "title", dynbuf_get(&line));
    dynbuf_done(&line);
}

static void add_published(struct json_writer *w, int32_t days)
{
    char room[10];
    struct dynbuf date;
    dynbuf_init(&date, sizeof(room));
    date_add(&date, days);
    json_member_text(w, "published", dynbuf_get(&date));
    dynbuf_done(&date);
}

static void add_text(struct json_writer *w, const struct hit *hit, struct slice text,
                     const struct shape_options *o)
{
    if (o->rendering == RENDER_REST) {
        json_member_text(w, "text", text);
        return;
    }
    struct dynbuf fenced;
    dynbuf_init(&fenced, SIZE_MAX);
    fence_add(&fenced, o->fence_key, hit->chunk_id, text);
    json_member_text(w, "text", dynbuf_get(&fenced));
    dynbuf_done(&fenced);
}

/* One result on its way into an answer with `room` bytes left. */
struct fitting {
    const struct ranked *ranked;
    const struct shape_options *o;
    struct slice text; /* neutralised */
    bool suspicious;
    struct dynbuf json;
    size_t size; /* of json as last written, in a reply */
    size_t room;
};

/* The object of one result over its text, or the first part of it. */
static void add_result(struct fitting *f, struct slice text, bool also)
{
    const struct ranked *r = f->ranked;
    const struct hit *hit = r->hit;
    struct json_writer w = json_writer_on(&f->json);
    json_object_begin(&w);
    shape_member_line(&w, "chunk_id", hit->chunk_id);
    shape_member_line(&w, "doc_id", hit->doc_id);
    add_title(&w, hit->title);
    shape_member_line(&w, "collection", hit->scope.collection);
    shape_member_line(&w, "doc_type", hit->scope.doc_type);
    if (hit->published != NO_DATE) {
        add_published(&w, hit->published);
    }
    if (hit->source_url.p && hit->source_url.n > 0 && hit->source_url.n <= SHAPE_URL_MAX_BYTES) {
        shape_member_line(&w, "source_url", hit->source_url);
    }
    json_member_int(&w, "position", hit->position);
    add_score(&w, r->score_millionths);
    add_text(&w, hit, text, f->o);
    if (also && hit->n_also > 0) {
        add_also_in(&w, hit);
    }
    if (f->suspicious) {
        json_member_bool(&w, "suspicious", true);
    }
    json_object_end(&w);
}

/* Of the whole passage as stored: neither a cut nor a broken look-alike may hide it. */
static bool is_suspicious(const struct hit *hit)
{
    return scan_passage(hit->title, NULL) || scan_passage(hit->text, NULL);
}

/* Writes the result with at most max bytes of text; whether it fits the room. */
static bool try_fit(struct fitting *f, size_t max, bool also)
{
    struct slice text = {f->text.p, text_cut(f->text, max)};
    dynbuf_cut(&f->json, 0);
    add_result(f, text, also);
    f->size = shape_reply_size(dynbuf_get(&f->json), f->o->rendering) + 2; /* commas */
    return f->size <= f->room;
}

/* What the first max bytes of the text, or what a cut leaves of them, add to a reply: they are
 * escaped once and, within the copy of the JSON, twice; a fence marks each line. */
static size_t text_cost(const struct fitting *f, size_t max)
{
    bool mcp = f->o->rendering == RENDER_MCP;
    size_t n = text_cut(f->text, max), cost = mcp ? 2 * n : n;
    for (size_t i = 0; i < n; i++) {
        switch (f->text.p[i]) {
        case '"':
        case '\\': cost += mcp ? 1 + 3 : 1; break;
        case '\t': cost += mcp ? 1 + 2 : 1; break;
        case '\n': cost += mcp ? 1 + 2 + 2 * FENCE_MARK_BYTES : 1; break;
        default: break;
        }
    }
    return cost;
}

/* The longest part of the text that fits without also_in, by bisection: more text is never a
 * shorter result. All but the text costs the same for each part. */
static bool fit_cut(struct fitting *f)
{
    size_t fits = SHAPE_TEXT_MIN_BYTES, too_long = f->text.n + 1;
    if (!try_fit(f, fits, false)) {
        return false;
    }
    size_t room = f->room - f->size + text_cost(f, fits);
    if (room < f->text.n) {
        too_long = room + 1 > fits ? room + 1 : fits + 1; /* a byte costs one at least */
    }
    while (fits + 1 < too_long) {
        size_t middle = fits + (too_long - fits) / 2;
        if (text_cost(f, middle) <= room) {
            fits = middle;
        } else {
            too_long = middle;
        }
    }
    return try_fit(f, fits, false);
}

enum fit { FIT_WHOLE, FIT_CUT, FIT_NOT };

static enum fit fit_result(struct fitting *f)
{
    if (f->text.n <= f->room && try_fit(f, f->text.n, true)) {
        return FIT_WHOLE;
    }
    return fit_cut(f) ? FIT_CUT : FIT_NOT;
}

/* The results so far and the room for more. */
struct filling {
    struct json_writer *w;
    const struct shape_options *o;
    size_t room, n;
    const struct hit **ret_shown; /* NULL: nobody asks */
};

/* Appends one result if there is room, and takes that from it. The first result stays even where
 * there is none, with the few words it was tried with last: an answer without any would be read as
 * "nothing found". */
static enum fit add_fitting(struct filling *a, const struct ranked *r)
{
    struct dynbuf text;
    dynbuf_init(&text, SIZE_MAX);
    neutralise_text(&text, r->hit->text, NULL);
    struct fitting f = {.ranked = r,
                        .o = a->o,
                        .text = dynbuf_get(&text),
                        .suspicious = is_suspicious(r->hit),
                        .room = a->room};
    dynbuf_init(&f.json, SIZE_MAX);
    enum fit fit = fit_result(&f);
    if (fit != FIT_NOT || a->n == 0) {
        a->room -= f.size < a->room ? f.size : a->room;
        json_raw_value(a->w, dynbuf_get(&f.json));
        if (a->ret_shown) {
            a->ret_shown[a->n] = r->hit;
        }
        a->n++;
    }
    dynbuf_done(&f.json);
    dynbuf_done(&text);
    return fit;
}

static bool same_document(const struct hit *a, const struct hit *b)
{
    return slice_eq(a->doc_id, b->doc_id) && slice_eq(a->scope.collection, b->scope.collection);
}

/* Whether the document of ranked[at] has as many better passages as one may have. */
static bool is_over_cap(const struct ranked *ranked, size_t at, uint32_t cap)
{
    uint32_t before = 0;
    for (size_t i = 0; cap && i < at; i++) {
        before += same_document(ranked[i].hit, ranked[at].hit);
    }
    return cap && before >= cap;
}

/* Room for results within the budget, once all that is always there has its own. */
static size_t room_for_results(const struct dynbuf *head, const struct shape_options *o)
{
    static const char TAIL[] = "],\"truncated\":true}";
    size_t fixed = shape_reply_size(dynbuf_get(head), o->rendering) +
                   shape_reply_size(slice_of(TAIL), o->rendering) +
                   (o->rendering == RENDER_MCP ? SHAPE_ENVELOPE_BYTES : 0);
    return fixed < o->profile->byte_budget ? o->profile->byte_budget - fixed : 0;
}

/* Returns whether something was cut off. */
static bool add_results(struct filling *a, const struct ranked *ranked, size_t n)
{
    for (size_t i = 0; i < n && a->n < a->o->top_k; i++) {
        if (!is_over_cap(ranked, i, a->o->profile->chunks_per_document) &&
            add_fitting(a, &ranked[i]) != FIT_WHOLE) {
            return true;
        }
    }
    return false;
}

size_t shape_answer_shown(struct dynbuf *out, const struct ranked *ranked, size_t n,
                          const struct shape_options *o, const struct hit **ret_shown)
{
    if (n == 0 || o->top_k == 0) {
        const struct shape_error empty = {"empty", SHAPE_EMPTY_MESSAGE, NULL, NULL, -1};
        shape_error(out, &empty, o->index_version);
        return 0;
    }
    struct dynbuf json;
    struct json_writer w = json_writer_on(&json);
    dynbuf_init(&json, SIZE_MAX);
    json_object_begin(&w);
    shape_member_version(&w, o->index_version);
    json_key(&w, "results");
    json_array_begin(&w);
    struct filling a = {
        .w = &w, .o = o, .room = room_for_results(&json, o), .ret_shown = ret_shown};
    bool truncated = add_results(&a, ranked, n);
    json_array_end(&w);
    if (truncated) {
        json_member_bool(&w, "truncated", true);
    }
    json_object_end(&w);
    dynbuf_add(out, dynbuf_get(&json));
    dynbuf_done(&json);
    return a.n;
}

void shape_answer(struct dynbuf *out, const struct ranked *ranked, size_t n,
                  const struct shape_options *o)
{
    shape_answer_shown(out, ranked, n, o, NULL);
}
