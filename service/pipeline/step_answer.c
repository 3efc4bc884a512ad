/* SPDX-License-Identifier: Apache-2.0 */
/* answer: the bytes. A pure function of the canonical request, the filter and the version, which is
 * why they may be kept and given to the next equal call. */
#include "service/pipeline/respond.h"

enum { NOTE_MAX_CHUNKS = 64, NOTE_MAX_BYTES = 48 * 1024 };

static struct shape_options options_of(const struct request *r)
{
    return (struct shape_options){
        .rendering = r->in.surface == SURFACE_REST ? RENDER_REST : RENDER_MCP,
        .top_k = r->args.top_k,
        .profile = &r->gate->profile,
        .fence_key = dynbuf_get(&r->gate->fence_key),
        .index_version = r->view->index_version,
    };
}

static void add_chunk(struct json_writer *w, const char *id, size_t n)
{
    if (w->out->n + n < NOTE_MAX_BYTES / 2) {
        json_text(w, (struct slice){id, n});
    }
}

/* The chunk ids that were really returned, read back from the answer: the byte budget may have left
 * some of the ranked ones out. */
static void note_results(struct json_writer *w, struct slice answer)
{
    json_t *parsed = json_loadb(answer.p, answer.n, JSON_ALLOW_NUL, NULL);
    size_t i;
    json_t *result;
    json_array_foreach(json_object_get(parsed, "results"), i, result)
    {
        const json_t *id = json_object_get(result, "chunk_id");
        add_chunk(w, json_string_value(id), json_string_length(id));
    }
    json_decref(parsed);
}

static void note_passages(struct json_writer *w, const struct hits *hits)
{
    for (size_t i = 0; hits && i < hits->n && i < NOTE_MAX_CHUNKS; i++) {
        add_chunk(w, hits->items[i].chunk_id.p, hits->items[i].chunk_id.n);
    }
}

static void make_note(struct request *r)
{
    struct dynbuf note;
    dynbuf_init(&note, NOTE_MAX_BYTES);
    struct json_writer w = json_writer_on(&note);
    json_array_begin(&w);
    if (r->tool == TOOL_SEARCH) {
        note_results(&w, dynbuf_get(&r->answer));
    } else {
        note_passages(&w, r->hits);
    }
    json_array_end(&w);
    r->note = note.failed ? SLICE_NONE : arena_copy(&r->arena, dynbuf_get(&note));
    dynbuf_done(&note);
}

static void write_answer(struct request *r)
{
    const struct shape_options options = options_of(r);
    if (r->tool == TOOL_SEARCH) {
        shape_answer(&r->answer, r->ranked, r->n_ranked, &options);
    } else if (r->uri.kind == RESOURCE_INDEX) {
        shape_index(&r->answer, r->view);
    } else {
        shape_passages(&r->answer, r->hits, &options);
    }
}

enum step_result answer_begin(struct request *r)
{
    bool reads_passages = r->tool == TOOL_READ && r->uri.kind != RESOURCE_INDEX;
    if (reads_passages && r->hits->n == 0) {
        r->failure = ERR_NOT_FOUND;
        return STEP_FAIL;
    }
    write_answer(r);
    if (r->answer.failed) {
        r->failure = ERR_INTERNAL;
        return STEP_FAIL;
    }
    make_note(r);
    bool is_empty = r->tool == TOOL_SEARCH && r->n_ranked == 0;
    const struct cache_value value = {dynbuf_get(&r->answer), r->note, is_empty};
    cache_put(r->gate->cache, &r->key, &value);
    return respond_outcome(r, dynbuf_get(&r->answer), is_empty);
}
