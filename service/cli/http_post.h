/* SPDX-License-Identifier: Apache-2.0 */
/* http_post: one request of a command to a running service. Blocking. */
#ifndef CLI_HTTP_POST_H
#define CLI_HTTP_POST_H

#include "service/base/dynbuf.h"
#include "service/base/err.h"

#include <curl/curl.h>

enum { HTTP_ANSWER_MAX_BYTES = 8 * 1024 * 1024 };

/* Header lines for JSON and, unless it is NULL, this bearer token; for curl_slist_free_all. */
struct curl_slist *http_json_headers(const char *token);

/* Posts to `url` itself: redirects, proxy variables and .netrc are not followed. The handle keeps
 * its connection for the next call. False with a reason where there was no answer. */
bool http_post(CURL *curl, const char *url, struct curl_slist *headers, struct slice body,
               struct dynbuf *answer, long *ret_status, struct err_detail *detail);

#endif
