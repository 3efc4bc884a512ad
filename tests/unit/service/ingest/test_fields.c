/* SPDX-License-Identifier: Apache-2.0 */
#include "service/ingest/fields.h"

#include <criterion/criterion.h>

static bool from_json(const char *text, struct arena *arena, struct fields *ret, char *reason)
{
    json_t *object = json_loads(text, JSON_ALLOW_NUL, NULL);
    cr_assert_not_null(object, "%s", text);
    bool ok = fields_from_json(object, arena, ret, reason);
    json_decref(object);
    return ok;
}

static bool resolve(const char *text, struct arena *arena, struct document_head *ret, char *reason)
{
    struct fields f;
    return from_json(text, arena, &f, reason) && fields_resolve(&f, arena, ret, reason);
}

Test(fields, reads_what_it_knows_and_nothing_else)
{
    struct arena arena = {0};
    struct fields f;
    char reason[FIELD_REASON_BYTES];
    cr_assert(
        from_json("{\"id\":\"i\",\"title\":null,\"collection\":\"c\",\"labels\":[\"b\",\"a\"],"
                  "\"unknown\":{\"id\":1}}",
                  &arena, &f, reason));
    cr_expect(slice_is(f.id, "i"));
    cr_expect_null(f.title.p);
    cr_expect_null(f.doc_type.p);
    cr_expect(f.has_labels);
    cr_expect_eq(f.n_labels, 2);
    cr_assert(from_json("{\"labels\":[]}", &arena, &f, reason));
    cr_expect(f.has_labels);
    cr_assert(from_json("{}", &arena, &f, reason));
    cr_expect_not(f.has_labels);
    arena_done(&arena);
}

Test(fields, a_wrong_type_is_named)
{
    static const struct {
        const char *text, *field;
    } cases[] = {
        {"{\"id\":1}", "id:"},
        {"{\"published\":20240101}", "published:"},
        {"{\"collection\":[\"c\"]}", "collection:"},
        {"{\"labels\":\"hr\"}", "labels:"},
        {"{\"labels\":[\"hr\",null]}", "labels:"},
        {"{\"labels\":{\"hr\":1}}", "labels:"},
        {"{\"labels\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\",\"10\",\"11\",\"12\","
         "\"13\",\"14\",\"15\",\"16\",\"17\"]}",
         "labels:"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena arena = {0};
        struct fields f;
        char reason[FIELD_REASON_BYTES] = "";
        cr_expect_not(from_json(cases[i].text, &arena, &f, reason), "%s", cases[i].text);
        cr_expect_eq(strncmp(reason, cases[i].field, strlen(cases[i].field)), 0, "%s", reason);
        arena_done(&arena);
    }
}

Test(fields, defaults_fill_gaps_and_labels_are_never_mixed)
{
    static const struct slice hr[] = {{"hr", 2}}, public[] = {{"public", 6}};
    const struct fields options = {.collection = SLICE_LIT("options"),
                                   .doc_type = SLICE_LIT("options"),
                                   .labels = public,
                                   .n_labels = 1,
                                   .has_labels = true};
    struct fields f = {
        .collection = SLICE_LIT("own"), .labels = hr, .n_labels = 1, .has_labels = true};
    fields_default(&f, &options);
    cr_expect(slice_is(f.collection, "own"));
    cr_expect(slice_is(f.doc_type, "options"));
    cr_expect_eq(f.n_labels, 1);
    cr_expect(slice_is(f.labels[0], "hr"));
    struct fields none = {.has_labels = true};
    fields_default(&none, &options);
    cr_expect_eq(none.n_labels, 0, "an empty list is an answer");
    struct fields silent = {0};
    fields_default(&silent, &options);
    cr_expect_eq(silent.n_labels, 1);
}

Test(fields, resolves_to_canonical_form)
{
    struct arena arena = {0};
    struct document_head h;
    char reason[FIELD_REASON_BYTES];
    cr_assert(resolve("{\"id\":\"cafe\\u0301.md\",\"title\":\" A\\n  title \",\"collection\":\"c\","
                      "\"doc_type\":\"t\",\"labels\":[\"hr\",\"a\",\"hr\"],\"published\":"
                      "\"1970-01-02\",\"source_url\":\"\"}",
                      &arena, &h, reason),
              "%s", reason);
    cr_expect(slice_is(h.doc_id, "caf\xC3\xA9.md"));
    cr_expect(slice_is(h.title, "A title"));
    cr_expect_eq(h.published, 1);
    cr_expect_null(h.source_url.p);
    cr_assert_eq(h.scope.n_labels, 2);
    cr_expect(slice_is(h.scope.labels[0], "a"));
    cr_expect(slice_is(h.scope.labels[1], "hr"));
    cr_assert(
        resolve("{\"id\":\"i\",\"collection\":\"c\",\"doc_type\":\"t\"}", &arena, &h, reason));
    cr_expect_eq(h.published, NO_DATE);
    cr_expect_eq(h.scope.n_labels, 0);
    cr_expect_eq(h.title.n, 0);
    arena_done(&arena);
}

Test(fields, breaches_are_named_with_the_field)
{
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"{\"id\":\"i\",\"doc_type\":\"t\"}", "collection: not given"},
        {"{\"id\":\"i\",\"collection\":\"c\"}", "doc_type: not given"},
        {"{\"id\":\"i\",\"collection\":\"c d\",\"doc_type\":\"t\"}", "collection: a name"},
        {"{\"id\":\"i\",\"collection\":\"\",\"doc_type\":\"t\"}", "collection: a name"},
        {"{\"id\":\"i\",\"collection\":\"c\",\"doc_type\":\"../t\"}", "doc_type: a name"},
        {"{\"id\":\"i\",\"collection\":\"c\",\"doc_type\":\"t\",\"labels\":[\"*\"]}", "labels:"},
        {"{\"id\":\"i\",\"collection\":\"c\",\"doc_type\":\"t\",\"labels\":[\"\"]}", "labels:"},
        {"{\"collection\":\"c\",\"doc_type\":\"t\"}", "id: not given"},
        {"{\"id\":\"\",\"collection\":\"c\",\"doc_type\":\"t\"}", "id: not given"},
        {"{\"id\":\"a\\nb\",\"collection\":\"c\",\"doc_type\":\"t\"}", "id:"},
        {"{\"id\":\"i\",\"collection\":\"c\",\"doc_type\":\"t\",\"published\":\"2024-02-30\"}",
         "published:"},
        {"{\"id\":\"i\",\"collection\":\"c\",\"doc_type\":\"t\",\"published\":\"\"}", "published:"},
        {"{\"id\":\"i\",\"collection\":\"c\",\"doc_type\":\"t\",\"source_url\":\"a\\u0000\"}",
         "source_url:"},
        {"{\"id\":\"i\",\"collection\":\"c\",\"doc_type\":\"t\",\"title\":\"a\\u0000\"}", "title:"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena arena = {0};
        struct document_head h;
        char reason[FIELD_REASON_BYTES] = "";
        cr_expect_not(resolve(cases[i].text, &arena, &h, reason), "case %zu", i);
        cr_expect_eq(strncmp(reason, cases[i].reason, strlen(cases[i].reason)), 0, "case %zu: %s",
                     i, reason);
        arena_done(&arena);
    }
}

static bool resolve_lengths(size_t id, size_t url, struct arena *arena, struct document_head *ret)
{
    char text[4096], reason[FIELD_REASON_BYTES];
    memset(text, 'x', sizeof(text));
    struct fields f = {.id = {text, id},
                       .source_url = {text, url},
                       .title = {text, sizeof(text)},
                       .collection = SLICE_LIT("c"),
                       .doc_type = SLICE_LIT("t")};
    return fields_resolve(&f, arena, ret, reason);
}

Test(fields, lengths_are_limited)
{
    struct arena arena = {0};
    struct document_head h;
    cr_expect(resolve_lengths(FIELD_ID_MAX_BYTES, FIELD_URL_MAX_BYTES, &arena, &h));
    cr_expect_eq(h.title.n, FIELD_TITLE_MAX_BYTES);
    cr_expect_not(resolve_lengths(FIELD_ID_MAX_BYTES + 1, FIELD_URL_MAX_BYTES, &arena, &h));
    cr_expect_not(resolve_lengths(FIELD_ID_MAX_BYTES, FIELD_URL_MAX_BYTES + 1, &arena, &h));
    cr_expect(resolve_lengths(1, FIELD_URL_MAX_BYTES - 1, &arena, &h));
    arena_done(&arena);
}
