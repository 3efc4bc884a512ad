/* SPDX-License-Identifier: Apache-2.0 */
/* One shape for every outcome: a client that validated a success can read an error too. */
#include "service/pipeline/respond.h"

#include "service/base/encode.h"
#include "service/base/log.h"
#include "service/base/mem.h"

/* How long a caller should wait where the server cannot know it exactly; constants, so that equal
 * failures have equal bytes. */
static int64_t retry_after_ms(const struct request *r)
{
    switch (r->failure) {
    case ERR_BUDGET_SPENT: return r->verdict.retry_after_ms;
    case ERR_BUSY: return 500;
    case ERR_DEADLINE: return 1000;
    case ERR_BUDGET_DOWN:
    case ERR_BACKEND_DOWN: return 2000;
    case ERR_KEYS_DOWN: return 5000;
    case ERR_OK:
    case ERR_INVALID_INPUT:
    case ERR_INTERNAL:
    case ERR_SCOPE_VIOLATION:
    case ERR_NOT_FOUND: break;
    }
    return -1;
}

static enum step_result finish(struct request *r, int status, enum metrics_outcome outcome)
{
    r->reply.status = status;
    r->reply.request_id = (struct slice){r->id, strlen(r->id)};
    r->outcome = outcome;
    return STEP_RESPOND;
}

enum step_result respond_empty(struct request *r, int status, enum metrics_outcome outcome)
{
    r->reply.content_type = SLICE_NONE;
    r->reply.body = SLICE_LIT("");
    return finish(r, status, outcome);
}

enum step_result respond_json(struct request *r, int status, enum metrics_outcome outcome)
{
    if (r->body.failed) { /* larger than any answer may be: a fault of ours */
        dynbuf_done(&r->body);
        r->failure = ERR_INTERNAL;
        return respond_empty(r, 500, OUTCOME_PERMANENT);
    }
    r->reply.content_type = SLICE_LIT("application/json");
    r->reply.body = dynbuf_get(&r->body);
    r->reply.private_no_cache = true;
    return finish(r, status, outcome);
}

enum step_result respond_refusal(struct request *r, int status, const char *message)
{
    if (r->in.surface == SURFACE_REST) {
        struct json_writer w = json_writer_on(&r->body);
        json_object_begin(&w);
        json_member_text_z(&w, "error", message);
        json_object_end(&w);
    } else {
        mcp_render_error(&r->body, SLICE_NONE, MCP_ERROR_REQUEST, message, SLICE_NONE);
    }
    return respond_json(r, status, OUTCOME_PROTOCOL);
}

/* stdio has no HTTP status: what stops a call before the body is looked at becomes an error that
 * names the call it answers. False: a notification, which nobody answers. */
static bool names_call_on_stdio(struct request *r)
{
    int status;
    struct dynbuf ignored;
    dynbuf_init(&ignored, BODY_MAX_BYTES);
    const struct mcp_headers none = {0};
    enum mcp_verdict verdict =
        mcp_parse(r->in.body, MCP_STDIO, &none, &r->arena, &r->mcp, &status, &ignored);
    dynbuf_done(&ignored);
    return verdict != MCP_ACCEPTED;
}

static enum step_result challenge_on_stdio(struct request *r, enum challenge c)
{
    if (!names_call_on_stdio(r)) {
        return respond_empty(r, 202, OUTCOME_UNAUTHORISED);
    }
    bool no_grant = c == CHALLENGE_INSUFFICIENT_SCOPE;
    mcp_render_error(
        &r->body, r->mcp.id, no_grant ? MCP_ERROR_NO_GRANT : MCP_ERROR_TOKEN,
        no_grant ? "the token is valid but opens no documents here; ask for a token with more "
                   "scopes"
                 : "the token is missing, invalid or expired; provide a new one",
        SLICE_NONE);
    return respond_json(r, 200, OUTCOME_UNAUTHORISED);
}

enum step_result respond_challenge(struct request *r, enum challenge c)
{
    if (r->in.surface == SURFACE_STDIO) {
        return challenge_on_stdio(r, c);
    }
    challenge_header(&r->challenge, &r->access->challenge, c);
    r->reply.www_authenticate = dynbuf_get(&r->challenge);
    struct slice body = challenge_body(c);
    if (!body.n) {
        return respond_empty(r, challenge_status(c), OUTCOME_UNAUTHORISED);
    }
    dynbuf_add(&r->body, body);
    return respond_json(r, challenge_status(c), OUTCOME_UNAUTHORISED);
}

static bool etag_matches(const struct request *r)
{
    struct slice sent = r->in.if_none_match;
    return sent.p && (slice_is(sent, "*") ||
                      memmem(sent.p, sent.n, r->reply.etag.p, r->reply.etag.n) != NULL);
}

/* ETag is the SHA-256 of the body (RFC 9110 §8.8.3). */
static enum step_result respond_rest(struct request *r, int status, enum metrics_outcome outcome)
{
    if (status == 200) {
        struct digest hash;
        digest_of(dynbuf_get(&r->body), &hash);
        dynbuf_add_byte(&r->etag, '"');
        digest_add_hex(&r->etag, &hash);
        dynbuf_add_byte(&r->etag, '"');
        r->reply.etag = dynbuf_get(&r->etag);
        if (etag_matches(r)) {
            r->reply.private_no_cache = true;
            return respond_empty(r, 304, outcome);
        }
    }
    return respond_json(r, status, outcome);
}

enum step_result respond_outcome(struct request *r, struct slice answer, bool is_empty)
{
    enum metrics_outcome outcome = is_empty ? OUTCOME_EMPTY : OUTCOME_OK;
    if (r->in.surface == SURFACE_REST) {
        dynbuf_add(&r->body, answer);
        return respond_rest(r, 200, outcome);
    }
    if (r->tool == TOOL_READ) {
        bool is_index = r->uri.kind == RESOURCE_INDEX;
        mcp_render_resource(&r->body, &r->mcp, is_index ? "application/json" : "text/plain",
                            answer);
    } else {
        mcp_render_tool_result(&r->body, &r->mcp, answer, false);
    }
    return respond_json(r, 200, outcome);
}

enum step_result respond_cached(struct request *r)
{
    r->note = r->cached->note;
    return respond_outcome(r, r->cached->body, r->cached->is_empty_outcome);
}

/* An error outcome in the one shape, worded in r->answer. */
static enum step_result respond_error(struct request *r, const struct shape_error *e, int status,
                                      enum metrics_outcome outcome)
{
    dynbuf_cut(&r->answer, 0);
    shape_error(&r->answer, e, request_version(r));
    if (r->in.surface == SURFACE_REST) {
        dynbuf_add(&r->body, dynbuf_get(&r->answer));
        return respond_rest(r, status, outcome);
    }
    mcp_render_tool_result(&r->body, &r->mcp, dynbuf_get(&r->answer), true);
    return respond_json(r, 200, outcome);
}

enum step_result respond_invalid(struct request *r)
{
    r->failure = ERR_INVALID_INPUT;
    const struct shape_error e = {.type = "invalid_input",
                                  .message = r->arg_error.message,
                                  .field = r->arg_error.field,
                                  .retry_after_ms = -1};
    return respond_error(r, &e, 400, OUTCOME_INVALID_INPUT);
}

static void write_read_error(struct dynbuf *out, const struct request *r)
{
    struct json_writer w = json_writer_on(out);
    json_object_begin(&w);
    json_member_text_z(&w, "type", "retryable");
    json_member_text_z(&w, "message", err_public_text(r->failure));
    if (r->failure == ERR_BUDGET_SPENT) {
        json_member_text_z(&w, "budget", r->verdict.budget);
    }
    json_member_int(&w, "retry_after_ms", retry_after_ms(r));
    json_object_end(&w);
}

static enum step_result respond_read_retryable(struct request *r)
{
    dynbuf_cut(&r->answer, 0);
    write_read_error(&r->answer, r);
    mcp_render_error(&r->body, r->mcp.id, MCP_ERROR_READ_RETRY, err_public_text(r->failure),
                     dynbuf_get(&r->answer));
    return respond_json(r, 200, OUTCOME_RETRYABLE);
}

static enum step_result respond_retryable(struct request *r)
{
    if (r->tool == TOOL_READ) {
        return respond_read_retryable(r);
    }
    const struct shape_error e = {.type = "retryable",
                                  .message = err_public_text(r->failure),
                                  .budget =
                                      r->failure == ERR_BUDGET_SPENT ? r->verdict.budget : NULL,
                                  .retry_after_ms = retry_after_ms(r)};
    if (r->in.surface == SURFACE_REST) {
        r->reply.retry_after_ms = e.retry_after_ms;
    }
    return respond_error(r, &e, err_http_status(r->failure), OUTCOME_RETRYABLE);
}

static enum step_result respond_permanent(struct request *r)
{
    struct json_writer w = json_writer_on(&r->answer);
    dynbuf_cut(&r->answer, 0);
    json_object_begin(&w);
    if (r->in.surface == SURFACE_REST) {
        json_member_text_z(&w, "error", err_public_text(r->failure));
    }
    json_member_text_z(&w, "request_id", r->id);
    json_object_end(&w);
    if (r->in.surface == SURFACE_REST) {
        dynbuf_add(&r->body, dynbuf_get(&r->answer));
        return respond_json(r, 500, OUTCOME_PERMANENT);
    }
    mcp_render_error(&r->body, r->mcp.id, MCP_ERROR_INTERNAL, err_public_text(r->failure),
                     dynbuf_get(&r->answer));
    return respond_json(r, 200, OUTCOME_PERMANENT);
}

/* Before there is a call nobody can be given a typed outcome: overload is plain HTTP then. */
static enum step_result respond_without_call(struct request *r)
{
    if (r->in.surface == SURFACE_STDIO) {
        return names_call_on_stdio(r) ? respond_read_retryable(r)
                                      : respond_empty(r, 202, OUTCOME_RETRYABLE);
    }
    r->reply.retry_after_ms = retry_after_ms(r);
    return respond_empty(r, err_http_status(r->failure), OUTCOME_RETRYABLE);
}

enum step_result respond_failure(struct request *r)
{
    switch (err_kind(r->failure)) {
    case ERR_KIND_RETRYABLE:
        return r->tool == TOOL_NONE ? respond_without_call(r) : respond_retryable(r);
    case ERR_KIND_INVALID_INPUT:
        if (r->failure == ERR_NOT_FOUND) {
            mcp_render_resource_missing(&r->body, &r->mcp);
            return respond_json(r, 200, OUTCOME_INVALID_INPUT);
        }
        return respond_invalid(r);
    case ERR_KIND_NONE:
    case ERR_KIND_PERMANENT: break;
    }
    return respond_permanent(r);
}
