/* SPDX-License-Identifier: Apache-2.0 */
/* The owner's search calls the engine itself instead of passing the pipeline with its gates
 * switched off: no such switch exists. */
#include "service/cli/search_local.h"

#include "service/cli/owner_answer.h"
#include "service/loop/loop.h"
#include "service/mcp/search_args.h"
#include "service/pipeline/gate.h"
#include "service/pipeline/gate_loop.h"
#include "service/pipeline/request.h"
#include "service/retrieval/embedded.h"
#include "service/retrieval/text.h"

enum { QUERY_MAX_BYTES = 64 * 1024 };

static const char *query_reason(enum text_query_result result)
{
    switch (result) {
    case TEXT_QUERY_OK: return NULL;
    case TEXT_QUERY_BLANK: return ARG_QUERY_BLANK;
    case TEXT_QUERY_NO_WORD: return ARG_QUERY_NO_WORD;
    case TEXT_QUERY_TOO_LONG: return ARG_QUERY_TOO_LONG;
    case TEXT_QUERY_NOT_UTF8:
    case TEXT_QUERY_CONTROL: break;
    }
    return ARG_QUERY_CONTROL;
}

static bool search_backend(struct backend *b, struct slice query, uint32_t top_k,
                           const struct answer_profile *profile, struct dynbuf *out,
                           struct err_detail *detail)
{
    struct filter *owner = filter_owner();
    struct view *view = b->ops->open_view(b, owner);
    const struct search_query q = {
        .text = query, .published_from = NO_DATE, .published_to = NO_DATE};
    struct hits *hits = NULL;
    enum err e = embedded_search_now(b, view, &q, &hits);
    if (e == ERR_OK) {
        owner_answer(out, hits, top_k, profile, view->index_version);
    } else {
        err_detail_set(detail, "the search failed: %s", err_name(e));
    }
    hits_free(hits);
    view_unref(view);
    filter_unref(owner);
    return e == ERR_OK;
}

bool search_store(const char *store_dir, const char *query, uint32_t top_k, struct dynbuf *out,
                  struct err_detail *detail)
{
    struct answer_profile profile;
    answer_profile_init(&profile);
    struct dynbuf canonical;
    dynbuf_init(&canonical, QUERY_MAX_BYTES);
    const char *reason = query_reason(text_canonical_query(slice_of(query), &canonical));
    bool good = !reason;
    if (reason) {
        err_detail_set(detail, "QUERY: %s", reason);
    } else {
        struct backend *b = embedded_open(store_dir, &profile, NULL, detail);
        good = b && search_backend(b, dynbuf_get(&canonical), top_k, &profile, out, detail);
        if (b) {
            b->ops->free(b);
        }
    }
    dynbuf_done(&canonical);
    return good;
}

struct waiting {
    struct loop *loop;
    struct dynbuf *out;
    int status;
};

static void on_reply(struct request *r, const struct reply *reply, void *door)
{
    struct waiting *w = door;
    w->status = reply->status;
    dynbuf_add(w->out, reply->body);
    request_free(r);
    loop_stop(w->loop);
}

static int run_request(struct gate *gate, struct loop *loop, const char *token,
                       struct slice arguments, struct dynbuf *out)
{
    struct dynbuf bearer;
    dynbuf_init(&bearer, QUERY_MAX_BYTES);
    dynbuf_add_text(&bearer, "Bearer ");
    dynbuf_add_text(&bearer, token);
    const struct request_input in = {.surface = SURFACE_REST,
                                     .authorization = dynbuf_get(&bearer),
                                     .n_authorization = 1,
                                     .content_type = SLICE_LIT("application/json"),
                                     .body = arguments};
    struct waiting w = {.loop = loop, .out = out};
    struct gate_loop *gl = gate_loop_open(gate, loop);
    request_run(request_new(gl, &in, on_reply, &w));
    loop_run(loop); /* returns at once where the answer came already */
    gate_loop_close(gl);
    dynbuf_done(&bearer);
    return w.status;
}

bool search_config(const char *config_path, const char *token, struct slice arguments,
                   struct dynbuf *out, struct err_detail *detail)
{
    struct config *config = config_load(config_path, detail);
    struct gate *gate = config ? gate_open(config, config_path, detail) : NULL;
    bool good = false;
    if (gate) {
        struct loop *loop = loop_new();
        int status = run_request(gate, loop, token, arguments, out);
        good = status == 200 || status == 400 || status == 429 || status == 503;
        if (!good) {
            err_detail_set(detail,
                           status == 401 ? "the token is refused; see kbgate check --token"
                           : status == 403
                               ? "the token is valid but opens no documents; see kbgate check "
                                 "--token"
                               : "the search failed");
        }
        gate_close(gate);
        loop_free(loop);
    }
    config_free(config);
    return good;
}
