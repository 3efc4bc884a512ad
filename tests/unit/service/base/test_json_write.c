/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes are the contract: they are hashed, cached and compared. */
#include "service/base/json_write.h"

#include <criterion/criterion.h>

Test(json_write, writes_members_in_the_order_of_the_calls)
{
    struct dynbuf b;
    dynbuf_init(&b, 1024);
    struct json_writer w = json_writer_on(&b);
    json_object_begin(&w);
    json_member_text_z(&w, "z", "last");
    json_key(&w, "a");
    json_array_begin(&w);
    json_int(&w, -3);
    json_bool(&w, true);
    json_object_begin(&w);
    json_object_end(&w);
    json_array_begin(&w);
    json_array_end(&w);
    json_raw_value(&w, SLICE_LIT("0.968254"));
    json_array_end(&w);
    json_member_bool(&w, "f", false);
    json_member_int(&w, "n", INT64_MIN);
    json_member_raw(&w, "r", SLICE_LIT("null"));
    json_member_text(&w, "t", SLICE_NONE);
    json_object_end(&w);
    cr_expect(slice_is(dynbuf_get(&b), "{\"z\":\"last\",\"a\":[-3,true,{},[],0.968254],\"f\":false,"
                                       "\"n\":-9223372036854775808,\"r\":null,\"t\":\"\"}"));
    dynbuf_done(&b);
}

static const struct {
    struct slice in;
    const char *out;
} TEXTS[] = {
    {{"", 0}, "\"\""},
    {{"caf\xC3\xA9 \xE6\x97\xA5\xE6\x9C\xAC \xF0\x9F\x98\x80", 17},
     "\"caf\xC3\xA9 \xE6\x97\xA5\xE6\x9C\xAC \xF0\x9F\x98\x80\""}, /* UTF-8 as it stands */
    {{"a\"b\\c/d", 7}, "\"a\\\"b\\\\c/d\""},
    {{"\n\r\t\b\f", 5}, "\"\\n\\r\\t\\b\\f\""},
    {{"\0\x01\x1f\x7f", 4}, "\"\\u0000\\u0001\\u001f\x7f\""},
    {{"x\xFFy\xED\xA0\x80", 6}, "\"x\uFFFDy\uFFFD\uFFFD\uFFFD\""},
    {{"\xE2\x80\xA8", 3}, "\"\xE2\x80\xA8\""}, /* U+2028 is legal in JSON */
};

Test(json_write, escapes_what_rfc_8259_demands_and_no_more)
{
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++) {
        struct dynbuf b;
        dynbuf_init(&b, 256);
        struct json_writer w = json_writer_on(&b);
        json_text(&w, TEXTS[i].in);
        cr_expect(slice_is(dynbuf_get(&b), TEXTS[i].out), "row %zu: %.*s", i, (int)b.n, b.p);
        cr_expect_eq(json_text_size(TEXTS[i].in), b.n - 2, "row %zu", i);
        dynbuf_done(&b);
    }
}

Test(json_write, separates_values_at_the_top_by_itself)
{
    struct dynbuf b;
    dynbuf_init(&b, 64);
    struct json_writer w = json_writer_on(&b);
    json_array_begin(&w);
    json_text_z(&w, "a");
    json_text_z(&w, "b");
    json_array_end(&w);
    cr_expect(slice_is(dynbuf_get(&b), "[\"a\",\"b\"]"));
    dynbuf_done(&b);
}

Test(json_write, leaves_the_ceiling_to_the_buffer)
{
    struct dynbuf b;
    dynbuf_init(&b, 6);
    struct json_writer w = json_writer_on(&b);
    json_text_z(&w, "abcd");
    cr_expect_not(b.failed);
    dynbuf_cut(&b, 0);
    w = json_writer_on(&b);
    json_text_z(&w, "abcde");
    cr_expect(b.failed);
    dynbuf_done(&b);
}
