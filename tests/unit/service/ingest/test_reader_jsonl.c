/* SPDX-License-Identifier: Apache-2.0 */
#include "service/ingest/jsonl.h"

#include <criterion/criterion.h>
#include <stdio.h>

struct seen {
    char text[512];
};

static void on_line(void *arg, uint64_t line, const json_t *object, const char *reason)
{
    struct seen *s = arg;
    size_t n = strlen(s->text);
    const char *id = json_string_value(json_object_get(object, "id"));
    snprintf(s->text + n, sizeof(s->text) - n, "%llu:%s ", (unsigned long long)line,
             object ? id : "broken");
    cr_expect(object || strlen(reason) > 0);
}

Test(reader_jsonl, a_broken_line_costs_itself_alone)
{
    struct seen s = {""};
    struct slice lines = SLICE_LIT("{\"id\":\"a\"}\n\n{\"id\":\n[1]\n{\"id\":\"b\"}\r\n"
                                   "{\"id\":\"c\",\"id\":\"d\"}\n{\"id\":\"\xFF\"}\n"
                                   "{\"id\":\"e\"} x\n{\"id\":\"f\"}");
    jsonl_each(lines, on_line, &s);
    cr_expect_str_eq(s.text, "1:a 3:broken 4:broken 5:b 6:broken 7:broken 8:broken 9:f ");
}

Test(reader_jsonl, one_byte_order_mark_is_no_part_of_a_file)
{
    cr_expect(slice_is(jsonl_without_mark(SLICE_LIT("\xEF\xBB\xBF{}")), "{}"));
    cr_expect(slice_is(jsonl_without_mark(SLICE_LIT("\xEF\xBB{}")), "\xEF\xBB{}"));
    cr_expect_eq(jsonl_without_mark(SLICE_LIT("\xEF\xBB\xBF\xEF\xBB\xBF")).n, 3);
    cr_expect_eq(jsonl_without_mark(SLICE_LIT("")).n, 0);
}

Test(reader_jsonl, deep_json_is_a_broken_line)
{
    struct seen s = {""};
    static char text[20000];
    memset(text, '[', sizeof(text));
    jsonl_each((struct slice){text, sizeof(text)}, on_line, &s);
    cr_expect_str_eq(s.text, "1:broken ");
}

static bool read(const char *text, struct arena *arena, struct record *ret, char *reason)
{
    json_t *object = json_loads(text, JSON_ALLOW_NUL, NULL);
    cr_assert_not_null(object, "%s", text);
    bool ok = record_from_json(object, arena, ret, reason);
    json_decref(object);
    return ok;
}

Test(reader_jsonl, a_record_is_a_chunk_or_a_document)
{
    struct arena arena = {0};
    struct record r;
    char reason[FIELD_REASON_BYTES];
    cr_assert(read("{\"id\":\"i\",\"text\":\"t\",\"context\":\"c\",\"body\":null,\"page\":7,"
                   "\"tables\":1,\"Title\":\"t\"}",
                   &arena, &r, reason));
    cr_expect(slice_is(r.text, "t"));
    cr_expect(slice_is(r.context, "c"));
    cr_expect_null(r.body.p);
    cr_assert(read("{\"id\":\"i\",\"body\":\"b\"}", &arena, &r, reason));
    cr_expect(slice_is(r.body, "b"));
    cr_expect_eq(r.format, RECORD_TEXT);
    cr_assert(read("{\"body\":\"b\",\"format\":\"markdown\"}", &arena, &r, reason));
    cr_expect_eq(r.format, RECORD_MARKDOWN);
    cr_assert(read("{\"body\":\"b\",\"format\":\"html\"}", &arena, &r, reason));
    cr_expect_eq(r.format, RECORD_HTML);
    cr_assert(read("{\"body\":\"b\",\"format\":7}", &arena, &r, reason));
    cr_expect_eq(r.format, RECORD_TEXT);
    arena_done(&arena);
}

Test(reader_jsonl, a_title_alone_is_a_ready_chunk)
{
    struct arena arena = {0};
    struct record r;
    char reason[FIELD_REASON_BYTES] = "";
    cr_assert(read("{\"id\":\"i\",\"title\":\"t\",\"text\":\"\"}", &arena, &r, reason), "%s",
              reason);
    cr_expect(r.text.p && r.text.n == 0);
    cr_expect(slice_is(r.fields.title, "t"));
    arena_done(&arena);
}

Test(reader_jsonl, reasons_say_what_to_write)
{
    static const struct {
        const char *record, *reason;
    } cases[] = {
        {"{\"id\":\"i\",\"text\":5}", "text: has to be a text without NUL"},
        {"{\"id\":\"i\",\"body\":\"a\\u0000b\"}", "body: has to be a text without NUL"},
        {"{\"id\":\"i\",\"body\":\"b\",\"context\":\"c\"}",
         "`context` goes with `text`, not with `body`"},
        {"{\"id\":\"i\",\"title\":\"t\",\"content\":\"c\"}",
         "neither `text` (a ready chunk) nor `body` (a "
         "document); for a title alone write \"text\": "
         "\"\""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena arena = {0};
        struct record r;
        char reason[FIELD_REASON_BYTES] = "";
        cr_expect_not(read(cases[i].record, &arena, &r, reason), "%s", cases[i].record);
        cr_expect_str_eq(reason, cases[i].reason);
        arena_done(&arena);
    }
}

Test(reader_jsonl, a_title_alone_is_a_chunk_with_or_without_an_empty_text)
{
    static const char *const texts[] = {
        "{\"id\":\"i\",\"title\":\"t\",\"text\":\"\"}",
        "{\"id\":\"i\",\"title\":\"t\",\"text\":null,\"body\":null}",
        "{\"id\":\"i\",\"title\":\"t\",\"context\":\"c\",\"labels\":[\"l\"],"
        "\"collection\":\"c\",\"doc_type\":\"d\",\"published\":\"2025-01-01\","
        "\"source_url\":\"https://a.example/\",\"format\":\"html\"}",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct arena arena = {0};
        struct record r;
        char reason[FIELD_REASON_BYTES] = "";
        cr_assert(read(texts[i], &arena, &r, reason), "%s: %s", texts[i], reason);
        cr_expect(r.text.p && r.text.n == 0 && !r.body.p);
        cr_expect(slice_is(r.fields.title, "t"));
        arena_done(&arena);
    }
}

Test(reader_jsonl, an_empty_context_is_none)
{
    struct arena arena = {0};
    struct record r;
    char reason[FIELD_REASON_BYTES] = "";
    cr_expect(read("{\"id\":\"i\",\"body\":\"b\",\"context\":\"\"}", &arena, &r, reason), "%s",
              reason);
    arena_done(&arena);
}

Test(reader_jsonl, records_that_are_neither_are_refused)
{
    static const char *const texts[] = {
        "{\"id\":\"i\"}",
        "{\"id\":\"i\",\"title\":\" \"}",
        "{\"id\":\"i\",\"text\":\"t\",\"body\":\"b\"}",
        "{\"id\":\"i\",\"text\":\" \\n\"}",
        "{\"id\":\"i\",\"text\":\"\",\"title\":\" \"}",
        "{\"id\":\"i\",\"body\":\"\",\"title\":\"t\"}",
        "{\"id\":\"i\",\"body\":\"\"}",
        "{\"id\":\"i\",\"text\":7}",
        "{\"id\":\"i\",\"text\":\"a\\u0000b\"}",
        "{\"id\":\"i\",\"text\":\"t\",\"context\":[]}",
        "{\"id\":7,\"text\":\"t\"}",
        "{\"id\":\"i\",\"text\":\"t\",\"lables\":[\"hr\"]}",
        "{\"id\":\"i\",\"text\":\"t\",\"label\":\"hr\"}",
        "{\"id\":\"i\",\"text\":\"t\",\"Labels\":[\"hr\"],\"labels\":[]}",
        "{\"id\":\"i\",\"text\":\"t\",\"Collection\":\"c\"}",
        "{\"id\":\"i\",\"text\":\"t\",\"docType\":\"c\"}",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct arena arena = {0};
        struct record r;
        char reason[FIELD_REASON_BYTES] = "";
        cr_expect_not(read(texts[i], &arena, &r, reason), "%s", texts[i]);
        cr_expect_gt(strlen(reason), 0);
        arena_done(&arena);
    }
}

static bool read_lengths(size_t text, size_t context)
{
    static char x[RECORD_TEXT_MAX_BYTES + 1];
    struct arena arena = {0};
    struct record r;
    char reason[FIELD_REASON_BYTES];
    memset(x, 'x', sizeof(x));
    json_t *object = json_pack("{s:s%, s:s%}", "text", x, text, "context", x, context);
    bool ok = record_from_json(object, &arena, &r, reason);
    json_decref(object);
    arena_done(&arena);
    return ok;
}

Test(reader_jsonl, ready_chunks_are_limited)
{
    cr_expect(read_lengths(RECORD_TEXT_MAX_BYTES - 1, RECORD_CONTEXT_MAX_BYTES - 1));
    cr_expect(read_lengths(RECORD_TEXT_MAX_BYTES, RECORD_CONTEXT_MAX_BYTES));
    cr_expect_not(read_lengths(RECORD_TEXT_MAX_BYTES + 1, 1));
    cr_expect_not(read_lengths(1, RECORD_CONTEXT_MAX_BYTES + 1));
}
