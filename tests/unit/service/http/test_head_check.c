/* SPDX-License-Identifier: Apache-2.0 */
#include "service/http/head_check.h"

#include "service/base/mem.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* The bytes stand in a buffer of their exact size, so reading past them is seen. */
static enum head_verdict check(struct slice bytes, struct head_facts *ret_facts)
{
    char *exact = malloc(bytes.n);
    memcpy(exact, bytes.p, bytes.n);
    enum head_verdict v = head_check((struct slice){exact, bytes.n}, ret_facts);
    free(exact);
    return v;
}

#define START "POST /mcp HTTP/1.1\r\n"
#define HOST "host: a\r\n"

Test(head_check, judges_framing)
{
    static const struct {
        const char *what, *bytes;
        enum head_verdict verdict;
    } CASES[] = {
        {"plain", START HOST "content-length: 0\r\n\r\n", HEAD_OK},
        {"body behind it is not looked at", START HOST "content-length: 9\r\n\r\na\nb: c\n\n d",
         HEAD_OK},
        {"chunked", START HOST "transfer-encoding: chunked\r\n\r\n", HEAD_OK},
        {"empty line before", "\r\n" START HOST "\r\n", HEAD_OK},
        {"HTTP/1.0 with a length", "GET / HTTP/1.0\r\n" HOST "content-length: 1\r\n\r\nx", HEAD_OK},
        {"longer names", START HOST "content-length-x: 1\r\nx-host: b\r\ncontent-length: 1\r\n\r\n",
         HEAD_OK},
        {"names as the client wrote them", START "HOST: a\r\nContent-Length: 1\r\n\r\n", HEAD_OK},
        {"colon in a value", START "host: a:80\r\n\r\n", HEAD_OK},
        {"two empty lines before", "\r\n\r\n" START HOST "\r\n", HEAD_MALFORMED},
        {"bare LF before", "\n" START HOST "\r\n", HEAD_MALFORMED},
        {"bare LF after the request line", "POST /mcp HTTP/1.1\n" HOST "\r\n", HEAD_MALFORMED},
        {"bare LF after a header", START "host: a\n\r\n", HEAD_MALFORMED},
        {"bare LF at the end", START HOST "\n", HEAD_MALFORMED},
        {"no end", START HOST, HEAD_MALFORMED},
        {"cut in a line", START "host: a", HEAD_MALFORMED},
        {"request line only", "POST /mcp HTTP/1.1", HEAD_MALFORMED},
        {"folded by a space", START HOST "x: 1\r\n 2\r\n\r\n", HEAD_MALFORMED},
        {"folded by a tab", START HOST "x: 1\r\n\t2: 3\r\n\r\n", HEAD_MALFORMED},
        {"no colon", START HOST "x\r\n\r\n", HEAD_MALFORMED},
        {"two lengths", START HOST "content-length: 1\r\ncontent-length: 1\r\n\r\n",
         HEAD_MALFORMED},
        {"two lengths, other case", START HOST "Content-Length: 1\r\ncontent-lengTH: 2\r\n\r\n",
         HEAD_MALFORMED},
        {"two encodings",
         START HOST "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n",
         HEAD_MALFORMED},
        {"length and encoding",
         START HOST "content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n", HEAD_MALFORMED},
        {"encoding and length",
         START HOST "transfer-encoding: chunked\r\ncontent-length: 1\r\n\r\n", HEAD_MALFORMED},
        {"encoding in HTTP/1.0", "POST /mcp HTTP/1.0\r\n" HOST "transfer-encoding: chunked\r\n\r\n",
         HEAD_MALFORMED},
        {"no host", START "content-length: 0\r\n\r\n", HEAD_MALFORMED},
        {"two hosts", START HOST HOST "\r\n", HEAD_MALFORMED},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct head_facts facts;
        cr_expect_eq(check(slice_of(CASES[i].bytes), &facts), CASES[i].verdict, "%s",
                     CASES[i].what);
    }
}

Test(head_check, tells_a_chunked_body)
{
    struct head_facts facts;
    check(SLICE_LIT(START HOST "Transfer-Encoding: chunked\r\n\r\n"), &facts);
    cr_assert(facts.has_chunked_body);
    check(SLICE_LIT(START HOST "content-length: 4\r\n\r\n"), &facts);
    cr_assert_not(facts.has_chunked_body);
}

/* A head of exactly n bytes, with `behind` bytes of body. */
static enum head_verdict check_size(size_t n, size_t behind)
{
    static const char BEGIN[] = START HOST "x: ";
    char *bytes = mem_alloc(n + behind);
    struct head_facts facts;
    memset(bytes, 'y', n + behind);
    memcpy(bytes, BEGIN, sizeof(BEGIN) - 1);
    memcpy(bytes + n - 4, "\r\n\r\n", 4);
    enum head_verdict v = check((struct slice){bytes, n + behind}, &facts);
    free(bytes);
    return v;
}

Test(head_check, bounds_the_head_and_not_the_body)
{
    cr_assert_eq(check_size(HEAD_MAX_BYTES - 1, 0), HEAD_OK);
    cr_assert_eq(check_size(HEAD_MAX_BYTES, 0), HEAD_OK);
    cr_assert_eq(check_size(HEAD_MAX_BYTES, 5000), HEAD_OK);
    cr_assert_eq(check_size(HEAD_MAX_BYTES + 1, 0), HEAD_TOO_LARGE);
}
