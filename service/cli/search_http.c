/* SPDX-License-Identifier: Apache-2.0 */
#include "service/cli/search_http.h"

#include "service/base/json_write.h"
#include "service/cli/http_post.h"

#include <jansson.h>

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
    dynbuf_init(&body, HTTP_ANSWER_MAX_BYTES);
    dynbuf_init(&answer, HTTP_ANSWER_MAX_BYTES);
    write_call(&body, arguments);
    struct curl_slist *headers =
        curl_slist_append(http_json_headers(token), "MCP-Protocol-Version: 2025-11-25");
    CURL *curl = curl_easy_init();
    bool good = http_post(curl, url, headers, dynbuf_get(&body), &answer, &status, detail) &&
                take_outcome(dynbuf_get(&answer), status, out, detail);
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    dynbuf_done(&body);
    dynbuf_done(&answer);
    return good;
}
