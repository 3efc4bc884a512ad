/* SPDX-License-Identifier: Apache-2.0 */
/* Each refusal stands beside its nearest accepted neighbour. */
#include "auth/strict_json.h"

#include "service/base/dynbuf.h"

#include <criterion/criterion.h>

static bool accepts_within(struct slice text, size_t max_members)
{
    json_t *value = strict_json_object(text, max_members);
    bool accepted = value != NULL;
    json_decref(value);
    return accepted;
}

static bool accepts(struct slice text)
{
    return accepts_within(text, 64);
}

Test(strict_json, accepts_objects)
{
    static const char *const GOOD[] = {"{}",
                                       " { } ",
                                       "{\"a\":1}",
                                       "{\"a\":[{\"b\":\"\\u00e9\"}]}",
                                       "{\"a\":{\"x\":1},\"b\":{\"x\":2}}",
                                       "{\"\xC3\xA9\":1e9}"};
    for (size_t i = 0; i < sizeof(GOOD) / sizeof(GOOD[0]); i++) {
        cr_expect(accepts(slice_of(GOOD[i])), "%s", GOOD[i]);
    }
}

Test(strict_json, refuses_all_but_objects)
{
    static const char *const BAD[] = {"", "[]", "[1]", "\"a\"", "1", "null", "true", "[{}]"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        cr_expect_not(accepts(slice_of(BAD[i])), "%s", BAD[i]);
    }
    cr_expect_not(accepts(SLICE_NONE));
}

Test(strict_json, refuses_duplicates_at_any_depth)
{
    static const char *const BAD[] = {"{\"a\":1,\"a\":1}", "{\"a\":{\"b\":1,\"b\":2}}",
                                      "{\"a\":[{\"b\":1,\"b\":2}]}", "{\"a\":1,\"\\u0061\":2}"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        cr_expect_not(accepts(slice_of(BAD[i])), "%s", BAD[i]);
    }
}

Test(strict_json, refuses_bytes_after_the_value)
{
    static const char *const BAD[] = {"{}x", "{}{}", "{},", "{} 1", "{}}"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        cr_expect_not(accepts(slice_of(BAD[i])), "%s", BAD[i]);
    }
}

Test(strict_json, refuses_nul_in_every_form)
{
    cr_expect_not(accepts((struct slice){"{}\0", 3}));
    cr_expect_not(accepts((struct slice){"{}\0junk", 7}));
    cr_expect_not(accepts((struct slice){"{\"a\":\"x\0y\"}", 11}));
    cr_expect_not(accepts(SLICE_LIT("{\"a\":\"x\\u0000y\"}")));
    cr_expect_not(accepts(SLICE_LIT("{\"a\\u0000b\":1}")));
}

Test(strict_json, refuses_ill_formed_text)
{
    static const char *const BAD[] = {
        "{\"a\":\"\xFF\"}",     "{\"a\":\"\xC0\xAF\"}", "{\"a\":\"\xED\xA0\x80\"}",
        "{\"a\":\"\\ud800\"}",  "{\"a\":1e400}",        "{\"a\":99999999999999999999}",
        "{\"a\":NaN}",          "{\"a\":Infinity}",     "{'a':1}",
        "{\"a\":1,}",           "{\"a\":01}",           "{\"a\":\"\n\"}",
        "\xEF\xBB\xBF{\"a\":1}"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        cr_expect_not(accepts(slice_of(BAD[i])), "%zu", i);
    }
}

/* {"a":[[…]]} of the given depth. */
static bool accepts_depth(size_t depth)
{
    struct dynbuf b;
    dynbuf_init(&b, 1 << 20);
    dynbuf_add_text(&b, "{\"a\":");
    for (size_t i = 1; i < depth; i++) {
        dynbuf_add_byte(&b, '[');
    }
    for (size_t i = 1; i < depth; i++) {
        dynbuf_add_byte(&b, ']');
    }
    dynbuf_add_text(&b, depth > 1 ? "}" : "1}");
    bool accepted = accepts(dynbuf_get(&b));
    dynbuf_done(&b);
    return accepted;
}

Test(strict_json, caps_depth)
{
    cr_expect(accepts_depth(7));
    cr_expect(accepts_depth(8));
    cr_expect_not(accepts_depth(9));
    cr_expect_not(accepts_depth(100000));
}

Test(strict_json, brackets_and_colons_in_text_count_for_nothing)
{
    cr_expect(accepts_within(SLICE_LIT("{\"a:{[{[{[{[{[\":\"\\\":[[[[[[[[[[::\"}"), 1));
}

Test(strict_json, caps_members_of_all_objects_together)
{
    struct slice three = SLICE_LIT("{\"a\":{\"b\":1},\"c\":2}");
    cr_expect(accepts_within(three, 4));
    cr_expect(accepts_within(three, 3));
    cr_expect_not(accepts_within(three, 2));
}
