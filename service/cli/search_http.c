/* SPDX-License-Identifier: Apache-2.0 */
#include "service/cli/search_http.h"

#include "service/base/json_write.h"

#include <curl/curl.h>
#include <jansson.h>
#include <stdlib.h>

enum {
    ANSWER_MAX_BYTES = 8 * 1024 * 1024,
    CONNECT_TIMEOUT_MS = 5000,
    TIMEOUT_MS = 30000,
    FIELD_MAX_BYTES = 64 * 1024
};

static size_t on_bytes(char *bytes, size_t size, size_t n, void *arg)
{
    struct dynbuf *answer = arg;
    dynbuf_add(answer, (struct slice){bytes, size * n});
    return answer->failed ? 0 : size * n;
}

static void write_call(struct dynbuf *body, struct slice arguments)
{
    struct json_writer w = json_writer_on(body);
    json_object_begin(&w);
    json_member_text_z(&w, "jsonrpc", "2.0");
    json_member_int(&w, "id", 1);
    json_member_text_z(&w, "method", "tools/call");
    json_key(&w, "params");
    json_object_begin(&w);
    json_member_text_z(&w, "name", "search_kb");
    json_member_raw(&w, "arguments", arguments);
    json_object_end(&w);
    json_object_end(&w);
}

static struct curl_slist *make_headers(const char *token)
{
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Accept: application/json, text/event-stream");
    headers = curl_slist_append(headers, "MCP-Protocol-Version: 2025-11-25");
    if (token) {
        struct dynbuf line;
        dynbuf_init(&line, FIELD_MAX_BYTES);
        dynbuf_add_text(&line, "Authorization: Bearer ");
        dynbuf_add_text(&line, token);
        headers =
            curl_slist_append(headers, line.failed ? "Authorization: Bearer" : dynbuf_text(&line));
        dynbuf_done(&line);
    }
    return headers;
}

/* The address the caller gave and no other: no redirect, proxy or .netrc. */
static CURLcode post(CURL *curl, const char *url, const char *body, struct curl_slist *headers,
                     struct dynbuf *answer, long *ret_status)
{
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)TIMEOUT_MS);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, ret_status);
    return code;
}

/* Takes the outcome out of a JSON-RPC answer: the text block, which is the outcome's exact JSON. */
static bool take_outcome(struct slice answer, long status, struct dynbuf *out,
                         struct err_detail *detail)
{
    json_t *message = json_loadb(answer.p, answer.n, JSON_ALLOW_NUL, NULL);
    const json_t *content = json_object_get(json_object_get(message, "result"), "content");
    const json_t *outcome = json_object_get(json_array_get(content, 0), "text");
    bool good = json_is_string(outcome);
    if (good) {
        dynbuf_add(out, (struct slice){json_string_value(outcome), json_string_length(outcome)});
    } else {
        const char *reason =
            json_string_value(json_object_get(json_object_get(message, "error"), "message"));
        err_detail_set(detail, "the service answered HTTP %ld%s%s%s", status, reason ? ": " : "",
                       reason ? reason : "",
                       status == 401 ? "; the token is missing or refused: kbgate check --token "
                                       "says why"
                       : status == 403
                           ? "; the token opens no documents: kbgate check --token says "
                             "why"
                       : status == 404 ? "; --url takes the /mcp address"
                                       : "");
    }
    json_decref(message);
    return good;
}

bool search_http(const char *url, const char *token, struct slice arguments, struct dynbuf *out,
                 struct err_detail *detail)
{
    struct dynbuf body, answer;
    long status = 0;
    dynbuf_init(&body, ANSWER_MAX_BYTES);
    dynbuf_init(&answer, ANSWER_MAX_BYTES);
    write_call(&body, arguments);
    struct curl_slist *headers = make_headers(token);
    CURL *curl = curl_easy_init();
    const char *text = dynbuf_text(&body);
    CURLcode code = text ? post(curl, url, text, headers, &answer, &status) : CURLE_OUT_OF_MEMORY;
    bool good = code == CURLE_OK;
    if (good) {
        good = take_outcome(dynbuf_get(&answer), status, out, detail);
    } else {
        err_detail_set(detail, "%s: %s", url, curl_easy_strerror(code));
    }
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    dynbuf_done(&body);
    dynbuf_done(&answer);
    return good;
}
