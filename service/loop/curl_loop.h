/* SPDX-License-Identifier: Apache-2.0 */
/* curl_loop: HTTP/1.1 requests to configured hosts, through libcurl on a loop.
 *
 * Only the host of the request's URL is contacted: redirects are answers like any other, and proxy
 * variables, .netrc, cookies and credentials in URLs are not used. TLS is 1.2 or later, with the
 * peer's chain and name verified. One curl_loop has one set of trusted CAs, so that a kept
 * connection never serves a request that trusts others.
 * Thread:    the loop's own, or before it runs and after it ended.     Blocking: never.
 * Ownership: requests still in flight when it is freed end as if cancelled. */
#ifndef LOOP_CURL_LOOP_H
#define LOOP_CURL_LOOP_H

#include "service/base/dynbuf.h"
#include "service/base/op.h"
#include "service/loop/loop.h"

enum {
    CURL_LOOP_CONNECT_MS = 2000,          /* longest wait for a connection, TLS included */
    CURL_LOOP_HEAD_MAX_BYTES = 16 * 1024, /* of a response's status lines and fields */
};

struct curl_loop; /* opaque */

struct curl_loop_options {
    struct slice ca_pem;  /* these CAs alone, copied; SLICE_NONE: the system's */
    bool plain_http;      /* http:// as well as https://: for servers on this machine */
    long max_connections; /* at once; further requests wait for one. 0: no limit */
};

struct curl_loop *curl_loop_new(struct loop *l, const struct curl_loop_options *options);
void curl_loop_free(struct curl_loop *c);

struct curl_field {
    struct slice name, value;
};

/* Copied before curl_loop_start returns. */
struct curl_request {
    const char *method; /* NULL: GET, with a body POST */
    const char *url;
    const struct curl_field *fields;
    size_t n_fields;
    struct slice body; /* SLICE_NONE: none */
    size_t max_body_bytes;
    int64_t deadline_ms; /* from start to the last byte of the response */
};

/* Why there is no whole response: a bounded list for logs and metrics. */
#define CURL_FAILURE_TABLE(X)                                                                      \
    X(CURL_FAILURE_NONE, "none")                                                                   \
    X(CURL_FAILURE_URL, "url")         /* not one this curl_loop may ask for */                    \
    X(CURL_FAILURE_CONNECT, "connect") /* no address, or nobody listens */                         \
    X(CURL_FAILURE_TLS, "tls")         /* handshake, chain or name */                              \
    X(CURL_FAILURE_TIMEOUT, "timeout")                                                             \
    X(CURL_FAILURE_TOO_LARGE, "too_large") /* body or head past its cap */                         \
    X(CURL_FAILURE_BROKEN, "broken")       /* closed early, or no HTTP */

enum curl_failure {
#define X(name, text) name,
    CURL_FAILURE_TABLE(X)
#undef X
        CURL_FAILURE_COUNT
};

const char *curl_failure_name(enum curl_failure failure);

struct curl_response {
    enum curl_failure failure; /* CURL_FAILURE_NONE: the rest is whole */
    const char *detail;        /* libcurl's words for it, static; for the log only */
    int status;
    struct dynbuf head, body;
};

/* Starts one request. *ret_response is set when op is done, whatever its result, and is the
 * caller's from then on; it is left alone when op is cancelled.
 * result     ERR_OK (any status), ERR_DEADLINE, ERR_BACKEND_DOWN (no whole response) */
void curl_loop_start(struct curl_loop *c, const struct curl_request *request,
                     struct curl_response **ret_response, struct op *op);

/* The first field of that name, in any case, without the blanks around it; SLICE_NONE: absent. */
struct slice curl_response_field(const struct curl_response *r, const char *name);
void curl_response_free(struct curl_response *r);

#endif
