/* SPDX-License-Identifier: Apache-2.0 */
#include "service/pipeline/rest_arguments.h"

#include "service/base/mem.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static bool gives(const char *query_string, const char *expected)
{
    json_t *got = rest_arguments_parse(slice_of(query_string));
    json_t *want = expected ? json_loads(expected, 0, NULL) : NULL;
    bool equal = want ? json_equal(got, want) : got == NULL;
    json_decref(got);
    json_decref(want);
    return equal;
}

Test(rest_arguments, reads_the_query_string_as_the_body_of_post)
{
    cr_assert(gives("q=a+b%20c&top_k=5", "{\"query\":\"a b c\",\"top_k\":\"5\"}"));
    cr_assert(gives("q=%E6%97%A5", "{\"query\":\"\xE6\x97\xA5\"}"));
    cr_assert(gives("query=a", "{\"query\":\"a\"}"));
    cr_assert(gives("q=", "{\"query\":\"\"}"));
    cr_assert(gives("q", "{\"query\":\"\"}"));
    cr_assert(gives("", "{}"));
    cr_assert(gives("&&q=x&", "{\"query\":\"x\"}"));
    cr_assert(gives("other=1", "{\"other\":\"1\"}"));
    cr_assert(gives("q=a%26b%3Dc", "{\"query\":\"a&b=c\"}"));
}

Test(rest_arguments, refuses_what_is_ambiguous_or_broken)
{
    static const char *const BAD[] = {"q=%",         "q=%4",  "q=%zz", "q=a&q=b",
                                      "q=a&query=b", "q=%FF", "q=%00", "%=1"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        cr_assert(gives(BAD[i], NULL), "%s", BAD[i]);
    }
}

Test(rest_arguments, has_a_limit)
{
    char *text = mem_alloc(REST_QUERY_MAX_BYTES + 2);
    memset(text, 'a', REST_QUERY_MAX_BYTES + 1);
    json_t *at = rest_arguments_parse((struct slice){text, REST_QUERY_MAX_BYTES});
    cr_assert_null(rest_arguments_parse((struct slice){text, REST_QUERY_MAX_BYTES + 1}));
    json_t *below = rest_arguments_parse((struct slice){text, REST_QUERY_MAX_BYTES - 1});
    cr_assert(below != NULL);
    (void)at; /* a name of the full limit needs a NUL behind it and does not fit */
    json_decref(at);
    json_decref(below);
    free(text);
}
