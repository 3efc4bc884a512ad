/* SPDX-License-Identifier: Apache-2.0 */
#include "service/cli/http_post.h"

enum { CONNECT_TIMEOUT_MS = 5000, TIMEOUT_MS = 30000, FIELD_MAX_BYTES = 64 * 1024 };

static size_t on_bytes(char *bytes, size_t size, size_t n, void *arg)
{
    struct dynbuf *answer = arg;
    dynbuf_add(answer, (struct slice){bytes, size * n});
    return answer->failed ? 0 : size * n;
}

struct curl_slist *http_json_headers(const char *token)
{
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Accept: application/json, text/event-stream");
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

bool http_post(CURL *curl, const char *url, struct curl_slist *headers, struct slice body,
               struct dynbuf *answer, long *ret_status, struct err_detail *detail)
{
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)TIMEOUT_MS);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.n);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.p);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, ret_status);
    if (code != CURLE_OK) {
        err_detail_set(detail, "%s: %s", url, curl_easy_strerror(code));
    }
    return code == CURLE_OK;
}
