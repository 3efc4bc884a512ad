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
        {"{\"id\":\"i\",\"collection\":\"c\",\"doc_type\":\"t\","
         "\"source_url\":\"javascript:alert(1)\"}",
         "source_url: write an address with http:"},
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
    char address[4096];
    memset(text, 'x', sizeof(text));
    memset(address, 'x', sizeof(address));
    memcpy(address, "https://", 8);
    struct fields f = {.id = {text, id},
                       .source_url = {address, url},
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

static bool resolves_with(struct fields f, char *reason)
{
    struct arena arena = {0};
    struct document_head h;
    f.id = f.id.p ? f.id : SLICE_LIT("i");
    f.collection = SLICE_LIT("c");
    f.doc_type = SLICE_LIT("t");
    bool good = fields_resolve(&f, &arena, &h, reason);
    arena_done(&arena);
    return good;
}

Test(fields, an_id_that_an_answer_would_change_is_refused)
{
    static const char *const refused[] = {
        "rtl\xE2\x80\xAEgpj.md",
        "zero\xE2\x80\x8B.md",
        "bom\xEF\xBB\xBF.md",
        "tag\xF3\xA0\x81\x81.md",
        "c1\xC2\x9B.md",
        "line\xE2\x80\xA8.md",
        "esc\x1B[31m.md",
        "tab\t.md",
        "del\x7F.md",
        "<|im_start|>.md",
        "soft\xC2\xAD.md",
    };
    static const char *const kept[] = {
        "a.md",
        "caf\xC3\xA9.md",
        "cafe\xCC\x81.md",
        "\xE6\x97\xA5\xE6\x9C\xAC/\xE8\xAA\x9E.md",
        "a b (1) [x]_~&'+,;=@#%.md",
        "\xD8\xB9\xD8\xB1.md",
        "a\\b.md",
    };
    char reason[FIELD_REASON_BYTES];
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        cr_expect_not(resolves_with((struct fields){.id = slice_of(refused[i])}, reason), "%zu", i);
        cr_expect_eq(strncmp(reason, "id: ", 4), 0, "%zu: %s", i, reason);
    }
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        cr_expect(resolves_with((struct fields){.id = slice_of(kept[i])}, reason), "%s: %s",
                  kept[i], reason);
    }
}

Test(fields, only_addresses_that_are_safe_to_click_on)
{
    static const char *const kept[] = {"", "https://e.org", "http://e.org/x?y#z", "HTTPS://E.org",
                                       "mailto:a@e.org"};
    static const char *const refused[] = {
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        " javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "vbscript:x",
        "//e.org/",
        "/docs/a",
        "a.md",
        "https://",
        "mailto:",
        "https:e.org",
        "ftp://e.org/",
        " https://e.org",
    };
    char reason[FIELD_REASON_BYTES];
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        cr_expect(resolves_with((struct fields){.source_url = slice_of(kept[i])}, reason), "%s",
                  kept[i]);
    }
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        cr_expect_not(resolves_with((struct fields){.source_url = slice_of(refused[i])}, reason),
                      "%s", refused[i]);
        cr_expect_eq(strncmp(reason, "source_url: ", 12), 0, "%s", reason);
    }
}

Test(fields, what_is_said_can_be_checked_alone)
{
    struct arena arena = {0};
    char reason[FIELD_REASON_BYTES];
    const struct fields silent = {0}, dated = {.published = SLICE_LIT("soon")},
                        named = {.id = SLICE_LIT("")};
    cr_expect(fields_check(&silent, &arena, reason));
    cr_expect_not(fields_check(&dated, &arena, reason));
    cr_expect_eq(strncmp(reason, "published: ", 11), 0, "%s", reason);
    cr_expect_not(fields_check(&named, &arena, reason));
    arena_done(&arena);
}
