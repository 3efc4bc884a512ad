/* SPDX-License-Identifier: Apache-2.0 */
/* head_check: refuses request heads that two HTTP parsers may read differently.
 *
 * Request smuggling needs a proxy and a server that disagree where a request ends. libh2o takes the
 * first of two Content-Lengths, prefers Transfer-Encoding over Content-Length, accepts bare LF and
 * folded lines (RFC 9112 §2.2, §5.2, §6.3 allow or demand a refusal). Pure. */
#ifndef HTTP_HEAD_CHECK_H
#define HTTP_HEAD_CHECK_H

#include "service/base/slice.h"

enum { HEAD_MAX_BYTES = 32 * 1024 };

enum head_verdict {
    HEAD_OK,
    HEAD_MALFORMED, /* 400 */
    HEAD_TOO_LARGE, /* 431 */
};

struct head_facts {
    bool has_chunked_body; /* its framing is out of this check's reach: close after the answer */
};

/* bytes: what the connection has received from the start of the request on, the whole head at
 * least. HTTP version, framing headers and Host are judged; the rest is only measured. */
enum head_verdict head_check(struct slice bytes, struct head_facts *ret_facts);

#endif
