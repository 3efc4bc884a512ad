/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle is the other way to read a record: parse the line to a tree and look its members up.
 */
#include "service/ingest/record_plain.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static bool read_by_tree(struct slice line, struct arena *arena, struct record *ret_record)
{
    char reason[FIELD_REASON_BYTES];
    json_t *object = jsonl_parse(line, reason);
    bool good = object && record_from_json(object, arena, ret_record, reason);
    json_decref(object);
    return good;
}

static void expect_text(struct slice a, struct slice b, const char *what, struct slice line)
{
    cr_assert_eq(a.p == NULL, b.p == NULL, "%s: %.*s", what, (int)line.n, line.p);
    cr_assert(slice_eq(a, b), "%s: %.*s", what, (int)line.n, line.p);
    cr_assert(!a.p || a.p[a.n] == '\0', "%s: no NUL behind it: %.*s", what, (int)line.n, line.p);
}

static void expect_same(const struct record *a, const struct record *b, struct slice line)
{
    expect_text(a->text, b->text, "text", line);
    expect_text(a->context, b->context, "context", line);
    expect_text(a->body, b->body, "body", line);
    expect_text(a->fields.id, b->fields.id, "id", line);
    expect_text(a->fields.title, b->fields.title, "title", line);
    expect_text(a->fields.source_url, b->fields.source_url, "source_url", line);
    expect_text(a->fields.collection, b->fields.collection, "collection", line);
    expect_text(a->fields.doc_type, b->fields.doc_type, "doc_type", line);
    expect_text(a->fields.published, b->fields.published, "published", line);
    cr_assert_eq(a->format, b->format, "%.*s", (int)line.n, line.p);
    cr_assert_eq(a->fields.has_labels, b->fields.has_labels, "%.*s", (int)line.n, line.p);
    cr_assert_eq(a->fields.n_labels, b->fields.n_labels, "%.*s", (int)line.n, line.p);
    for (size_t i = 0; i < a->fields.n_labels; i++) {
        expect_text(a->fields.labels[i], b->fields.labels[i], "label", line);
    }
}

/* Whether the line is plain; if it is, both ways must agree. */
static bool is_plain(struct slice line)
{
    struct arena arena = {0};
    struct record plain, other;
    bool taken = record_read_plain(line, &arena, &plain);
    if (taken) {
        cr_assert(read_by_tree(line, &arena, &other), "%.*s", (int)line.n, line.p);
        expect_same(&plain, &other, line);
    }
    arena_done(&arena);
    return taken;
}

Test(record_plain, takes_plain_records)
{
    static const char *const LINES[] = {
        "{\"id\":\"i\",\"text\":\"t\"}\n",
        " {\t\"id\" : \"i\" ,\r\"text\": \"t\" } \r\n",
        "{\"id\":\"i\",\"title\":\"\",\"body\":\"b\",\"format\":\"markdown\"}",
        "{\"id\":\"i\",\"body\":\"b\",\"format\":\"html\"}",
        "{\"id\":\"i\",\"body\":\"b\",\"format\":\"rtf\"}",
        "{\"id\":\"i\",\"body\":\"b\",\"format\":null,\"text\":null,\"labels\":null,\"id2\":null}",
        "{\"text\":\"t\",\"labels\":[]}",
        "{\"text\":\"t\",\"labels\":[ \"a\" , \"b\\u00e9\" ]}",
        "{\"text\":\"t\",\"labels\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\",\"10\","
        "\"11\",\"12\",\"13\",\"14\",\"15\",\"16\"]}",
        "{\"collection\":\"c\",\"doc_type\":\"d\",\"published\":\"2025-01-01\",\"source_url\":"
        "\"u\","
        "\"context\":\"x\",\"title\":\"y\",\"text\":\"caf\u00E9 \U0001F600\"}",
        "{\"text\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00E9\\u20ac\\ud83d\\uDE00\\uFFFF\"}",
        "{\"text\":\"\x7F\"}",
        "{\"text\":null,\"title\":\"a\",\"body\":\"b\"}",
    };
    for (size_t i = 0; i < sizeof(LINES) / sizeof(LINES[0]); i++) {
        bool foreign = strstr(LINES[i], "id2") != NULL;
        cr_expect_eq(is_plain(slice_of(LINES[i])), !foreign, "%s", LINES[i]);
    }
}

Test(record_plain, leaves_the_rest_to_others_and_takes_no_memory)
{
    static const char *const LINES[] = {
        "",
        "[]",
        "{}",
        "{\"text\":\"t\"",
        "{\"text\":\"t\",}",
        "{\"text\":\"t\"}x",
        "{\"text\" \"t\"}",
        "{\"text\":\"t\"}{}",
        "{\"text\":\"t}",
        "{\"text\":\"t\\\"}",
        "{\"text\":\"t\\",
        "{\"text",
        "{\"text\":\"t\",\"text\":\"t\"}",
        "{\"text\":null,\"text\":\"t\"}", /* twice */
        "{\"te\\u0078t\":\"t\"}",
        "{\"text\":\"t\",\"page\":7}",
        "{\"text\":\"t\",\"label\":[]}",
        "{\"text\":7}",
        "{\"text\":[\"t\"]}",
        "{\"text\":nullx}",
        "{\"text\":true}",
        "{\"text\":\"a\nb\"}",
        "{\"text\":\"a\x01\"}",
        "{\"text\":\"\\x\"}",
        "{\"text\":\"\\u00g0\"}",
        "{\"text\":\"\\u0000\"}",
        "{\"text\":\"\\ud83d\"}",
        "{\"text\":\"\\ude00\"}",
        "{\"text\":\"\\ud83d\\u0041\"}",
        "{\"text\":\"\\ud83dx\"}",
        "{\"text\":\"\\u00e\"}",
        "{\"text\":\"\xFF\"}",
        "{\"text\":\"\xED\xA0\x80\"}",
        "\xEF\xBB\xBF{\"text\":\"t\"}",
        "{\"text\":\"t\",\"labels\":\"a\"}",
        "{\"text\":\"t\",\"labels\":[\"a\",]}",
        "{\"text\":\"t\",\"labels\":[\"a\" \"b\"]}",
        "{\"text\":\"t\",\"labels\":[7]}",
        "{\"text\":\"t\",\"labels\":[\"a\"}",
        "{\"text\":\"t\",\"labels\":[[\"a\"]]}",
        "{\"text\":\"t\",\"labels\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\",\"10\","
        "\"11\",\"12\",\"13\",\"14\",\"15\",\"16\",\"17\"]}",
        "{\"body\":\"b\",\"format\":\"\\u0068tml\"}", /* html, spelt so that it has to be read */
    };
    for (size_t i = 0; i < sizeof(LINES) / sizeof(LINES[0]); i++) {
        struct arena arena = {0};
        struct record r;
        cr_expect_not(record_read_plain(slice_of(LINES[i]), &arena, &r), "%s", LINES[i]);
        cr_expect_null(arena.newest, "%s", LINES[i]);
        arena_done(&arena);
    }
    struct slice nul = SLICE_LIT("{\"text\":\"a\0b\"}");
    cr_expect_not(is_plain(nul));
}

Test(record_plain, leaves_records_that_are_not_good_to_others)
{
    static const char *const LINES[] = {
        "{\"id\":\"i\"}",     "{\"text\":\"t\",\"body\":\"b\"}",        "{\"text\":\"\"}",
        "{\"text\":\"\\n\"}", "{\"body\":\"\\t \\r\",\"title\":\"t\"}",
    };
    for (size_t i = 0; i < sizeof(LINES) / sizeof(LINES[0]); i++) {
        cr_expect_not(is_plain(slice_of(LINES[i])), "%s", LINES[i]);
    }
}

/* Lines put together of what matters to a parser, most of them a little broken. */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static const char *const KEYS[] = {"id",         "title",      "text",    "collection", "doc_type",
                                   "body",       "published",  "context", "labels",     "format",
                                   "source_url", "te\\u0078t", "page",    "label"};
static const char *const VALUES[] = {
    "x",        "caf\u00E9", "\\n",     "\\u00e9",    "\\ud83d\\ude00",
    " ",        "\\\"",      "\\\\",    "\\/",        "html",
    "markdown", "",          "\\ud83d", "\\u0000",    "\\q",
    "\xC3",     "\x01",      "}",       "\U0001F600", ",",
    "[",        "\\u20AC",   ":",       "null"};

static const char *pick(uint64_t *state, const char *const *list, size_t n, size_t n_common)
{
    return list[next_random(state) % (next_random(state) % 8 ? n_common : n)];
}

static void add_string(struct dynbuf *out, uint64_t *state)
{
    dynbuf_add_text(out, "\"");
    for (uint64_t n = next_random(state) % 4; n > 0; n--) {
        dynbuf_add_text(out, pick(state, VALUES, sizeof(VALUES) / sizeof(VALUES[0]), 11));
    }
    dynbuf_add_text(out, "\"");
}

static void add_value(struct dynbuf *out, uint64_t *state, bool labels)
{
    uint64_t kind = next_random(state) % 16;
    if (kind == 0) {
        dynbuf_add_text(out, "null");
    } else if (kind == 1) {
        dynbuf_add_text(out, "-1.5e3");
    } else if (labels != (kind == 2)) {
        dynbuf_add_text(out, "[");
        for (uint64_t n = next_random(state) % 18, i = 0; i < n; i++) {
            dynbuf_add_text(out, i ? ", " : "");
            add_string(out, state);
        }
        dynbuf_add_text(out, "]");
    } else {
        add_string(out, state);
    }
}

static void make_line(struct dynbuf *out, uint64_t *state)
{
    size_t first = next_random(state) % 11;
    dynbuf_add_text(out, "{");
    for (uint64_t n = 1 + next_random(state) % 6, i = 0; i < n; i++) {
        const char *key =
            next_random(state) % 16 ? KEYS[(first + i) % 11] : KEYS[next_random(state) % 14];
        dynbuf_add_text(out, i ? " ,\"" : "\"");
        dynbuf_add_text(out, key);
        dynbuf_add_text(out, "\":");
        add_value(out, state, strcmp(key, "labels") == 0);
    }
    dynbuf_add_text(out, "}\n");
    if (next_random(state) % 8 == 0) { /* a byte lost or another */
        char *at = out->p + next_random(state) % out->n;
        *at = "\"\\{}[],: x"[next_random(state) % 10];
    }
}

Test(record_plain, reads_what_the_tree_reads)
{
    enum { LINES = 100000 };
    const char *given = getenv("KB_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 20260211, state = seed;
    size_t n_plain = 0, n_good = 0;
    printf("record_plain: KB_SEED=%llu\n", (unsigned long long)seed);
    for (size_t i = 0; i < LINES; i++) {
        struct dynbuf line;
        struct arena arena = {0};
        struct record r;
        dynbuf_init(&line, 4096);
        make_line(&line, &state);
        n_plain += is_plain(dynbuf_get(&line));
        n_good += read_by_tree(dynbuf_get(&line), &arena, &r);
        arena_done(&arena);
        dynbuf_done(&line);
    }
    cr_expect_gt(n_plain, LINES / 20, "only %zu of %zu good ones are plain", n_plain, n_good);
    cr_expect_leq(n_plain, n_good);
}
