/* SPDX-License-Identifier: Apache-2.0 */
/* What a program gets from /v1/search, on one connection. `retryable` is obeyed: the wait it names,
 * a bounded number of times, since a day's budget would have it wait for hours. */
#include "service/cli/eval_engine.h"

#include "service/base/json_write.h"
#include "service/base/mem.h"
#include "service/cli/http_post.h"

#include <jansson.h>
#include <stdlib.h>
#include <time.h>

enum {
    TRIES = 20,
    WAIT_MAX_MS = 120000,
    WAIT_DEFAULT_MS = 1000,
    BODY_MAX_BYTES = 16 * 1024 * 1024
};

struct http_engine {
    struct eval_engine base;
    const struct eval_source *source;
    CURL *curl;
    struct curl_slist *headers;
    struct dynbuf url;
};

static bool ends_with(struct slice s, const char *end)
{
    size_t n = strlen(end);
    return s.n >= n && memcmp(s.p + s.n - n, end, n) == 0;
}

/* The address of /v1/search beside the /mcp address that was given. */
static void write_url(struct dynbuf *out, struct slice url)
{
    while (ends_with(url, "/")) {
        url.n--;
    }
    if (ends_with(url, "/v1/search")) {
        dynbuf_add(out, url);
        return;
    }
    url.n -= ends_with(url, "/mcp") ? strlen("/mcp") : 0;
    dynbuf_add(out, url);
    dynbuf_add_text(out, "/v1/search");
}

static void write_body(struct dynbuf *out, struct slice query, const char *collection)
{
    struct json_writer w = json_writer_on(out);
    json_object_begin(&w);
    json_member_text(&w, "query", query);
    json_member_int(&w, "top_k", EVAL_SERVED_TOP_K);
    if (collection) {
        json_member_text_z(&w, "collection", collection);
    }
    json_object_end(&w);
}

static void sleep_ms(int64_t ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&left, &left) != 0) {
    }
}

static bool refuse(long status, const char *reason, struct err_detail *detail)
{
    err_detail_set(detail, "the service answered HTTP %ld%s%s%s", status, *reason ? ": " : "",
                   reason,
                   status == 401   ? "; the token is missing or refused: kbgate check --token says "
                                     "why"
                   : status == 403 ? "; the token opens no documents: kbgate check --token says why"
                   : status == 404 ? "; --url takes the service's /mcp address"
                                   : "");
    return false;
}

static const char *member(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

enum step { STEP_DONE, STEP_AGAIN, STEP_FAILED };

/* What to do with an answer that is no list of results. */
static enum step take_error(long status, const json_t *error, enum eval_outcome *ret_outcome,
                            struct err_detail *detail)
{
    if (status == 400 && strcmp(member(error, "field"), "query") == 0) {
        *ret_outcome = EVAL_REFUSED;
        return STEP_DONE;
    }
    if (status != 429 && status != 503) {
        (void)refuse(status, member(error, "message"), detail);
        return STEP_FAILED;
    }
    const json_t *wait = json_object_get(error, "retry_after_ms");
    int64_t ms = json_is_integer(wait) ? json_integer_value(wait) : WAIT_DEFAULT_MS;
    if (ms > WAIT_MAX_MS) {
        err_detail_set(detail,
                       "the service answered HTTP %ld and asks to wait %lld s%s%s; measure with a "
                       "token whose budget suffices",
                       status, (long long)ms / 1000, *member(error, "budget") ? ", budget " : "",
                       member(error, "budget"));
        return STEP_FAILED;
    }
    sleep_ms(ms > 0 ? ms : 1);
    return STEP_AGAIN;
}

static enum step take_answer(struct http_engine *h, long status, struct slice answer,
                             struct ranking *ranking, enum eval_outcome *ret_outcome,
                             struct err_detail *detail)
{
    if (status == 200) {
        return eval_take_results(&h->base, answer, ranking, ret_outcome, detail) ? STEP_DONE
                                                                                 : STEP_FAILED;
    }
    json_t *parsed = json_loadb(answer.p, answer.n, JSON_ALLOW_NUL, NULL);
    enum step step = take_error(status, json_object_get(parsed, "error"), ret_outcome, detail);
    json_decref(parsed);
    return step;
}

static enum step try_once(struct http_engine *h, struct slice body, struct ranking *ranking,
                          enum eval_outcome *ret_outcome, struct err_detail *detail)
{
    struct dynbuf answer;
    long status = 0;
    dynbuf_init(&answer, HTTP_ANSWER_MAX_BYTES);
    enum step step =
        http_post(h->curl, dynbuf_text(&h->url), h->headers, body, &answer, &status, detail)
            ? take_answer(h, status, dynbuf_get(&answer), ranking, ret_outcome, detail)
            : STEP_FAILED;
    dynbuf_done(&answer);
    return step;
}

static bool ask(struct eval_engine *e, struct slice query, struct ranking *ranking,
                enum eval_outcome *ret_outcome, struct err_detail *detail)
{
    struct http_engine *h = (struct http_engine *)e;
    struct dynbuf body;
    dynbuf_init(&body, BODY_MAX_BYTES);
    write_body(&body, query, h->source->collection);
    enum step step = STEP_AGAIN;
    for (int i = 0; i < TRIES && step == STEP_AGAIN; i++) {
        step = try_once(h, dynbuf_get(&body), ranking, ret_outcome, detail);
    }
    dynbuf_done(&body);
    if (step == STEP_AGAIN) {
        err_detail_set(detail, "the service answered retryable %d times in a row", TRIES);
    }
    return step == STEP_DONE;
}

static void free_http(struct eval_engine *e)
{
    struct http_engine *h = (struct http_engine *)e;
    curl_easy_cleanup(h->curl);
    curl_slist_free_all(h->headers);
    dynbuf_done(&h->url);
    free(h);
}

static const struct eval_engine_ops OPS = {ask, NULL, free_http};

struct eval_engine *eval_http_open(const struct eval_source *source, struct err_detail *detail)
{
    struct http_engine *h = mem_alloc(sizeof(*h));
    h->base.ops = &OPS;
    h->base.n_documents = -1;
    h->source = source;
    h->curl = curl_easy_init();
    h->headers = http_json_headers(source->token);
    dynbuf_init(&h->url, 4096);
    write_url(&h->url, slice_of(source->url));
    if (!h->curl || h->url.failed) {
        err_detail_set(detail, "--url: no address that can be asked");
        free_http(&h->base);
        return NULL;
    }
    return &h->base;
}
