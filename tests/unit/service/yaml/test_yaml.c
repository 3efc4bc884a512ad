/* SPDX-License-Identifier: Apache-2.0 */
/* What the subset takes and refuses, and what the table-driven reader makes of it. */
#include "service/base/dynbuf.h"
#include "service/yaml/yaml.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <time.h>

static struct err_detail detail;

static struct yaml_doc *parse(const char *text)
{
    detail.text[0] = '\0';
    return yaml_parse(slice_of(text), "f.yaml", &detail);
}

/* The text is refused, and the reason holds every part of `expected`. */
static void refuses(struct slice text, const char *line, const char *reason)
{
    detail.text[0] = '\0';
    struct yaml_doc *doc = yaml_parse(text, "f.yaml", &detail);
    cr_assert_null(doc, "accepted: %.*s", (int)text.n, text.p);
    cr_assert(strncmp(detail.text, line, strlen(line)) == 0, "%s: line is not %s", detail.text,
              line);
    cr_assert_not_null(strstr(detail.text, reason), "%s: lacks %s", detail.text, reason);
}

Test(yaml, keeps_order_kinds_lines_and_quotes)
{
    struct yaml_doc *doc = parse("a: no\nb: [x, \"y\"]\nc:\n  d: 'true'\n");
    cr_assert(doc, "%s", detail.text);
    const struct yaml_node *a = yaml_root(doc)->first;
    cr_assert_eq(yaml_root(doc)->n, 3);
    cr_assert(slice_is(a->key, "a") && slice_is(a->text, "no") && !a->quoted && a->line == 1);
    const struct yaml_node *b = a->next;
    cr_assert(b->kind == YAML_LIST && b->n == 2 && b->line == 2);
    cr_assert(!b->first->key.p && !b->first->quoted && b->first->next->quoted);
    const struct yaml_node *c = b->next;
    cr_assert(c->kind == YAML_MAP && c->next == NULL);
    cr_assert(slice_is(c->first->key, "d") && c->first->quoted && c->first->line == 4);
    yaml_doc_free(doc);
}

Test(yaml, takes_the_harmless_variants)
{
    static const char *const texts[] = {
        "---\na: b\n",
        "a: b\n...\n",
        "\xEF\xBB\xBF"
        "a: b\n",
        "a: b",
        "{a: b}",
        "a: b # c\n",
        "a: \"\"\n",
        "a: \"null\"\n",
        "a: \"~\"\n",
        "a: \"*\"\n",
        "a: x*\n",
        "a: []\n",
        "a: caf\xC3\xA9\n",
        "a: {}\n",
        "a: b\r\nc: d\r\n",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct yaml_doc *doc = parse(texts[i]);
        cr_assert(doc, "%s: %s", texts[i], detail.text);
        cr_assert(slice_is(yaml_root(doc)->first->key, "a"), "%s", texts[i]);
        yaml_doc_free(doc);
    }
}

Test(yaml, refuses_what_the_subset_leaves_out)
{
    static const struct {
        struct slice text;
        const char *line, *reason;
    } cases[] = {
        {SLICE_LIT("a: 1\nb: 2\na: 3\n"), "f.yaml:3: key `a`", "twice"},
        {SLICE_LIT("x:\n  a: 1\n  \"a\": 3\n"), "f.yaml:3: key `a`", "twice"},
        {SLICE_LIT("a: &x 1\n"), "f.yaml:1: key `a`", "anchors"},
        {SLICE_LIT("a: &x [1]\n"), "f.yaml:1: key `a`", "anchors"},
        {SLICE_LIT("a: &x {b: c}\n"), "f.yaml:1: key `a`", "anchors"},
        {SLICE_LIT("a: *x\n"), "f.yaml:1: key `a`", "aliases"},
        {SLICE_LIT("a: 1\nb: *\n"), "f.yaml:2: key `b`", "write \"*\" in quotes"},
        {SLICE_LIT("a: 1\nb: [*]\n"), "f.yaml:2: key `b`", "write \"*\" in quotes"},
        {SLICE_LIT("a: 1\nb: [x, *]\n"), "f.yaml:2: key `b`", "write \"*\" in quotes"},
        {SLICE_LIT("<<: {a: b}\n"), "f.yaml:1", "merge keys"},
        {SLICE_LIT("a: !!str b\n"), "f.yaml:1: key `a`", "tags"},
        {SLICE_LIT("a: ! b\n"), "f.yaml:1: key `a`", "tags"},
        {SLICE_LIT("a: !x [b]\n"), "f.yaml:1: key `a`", "tags"},
        {SLICE_LIT("!!map {a: b}\n"), "f.yaml:1", "tags"},
        {SLICE_LIT("a: b\n---\nc: d\n"), "f.yaml:2", "second document"},
        {SLICE_LIT("%YAML 1.1\n---\na: b\n"), "f.yaml:1", "directives"},
        {SLICE_LIT("%TAG ! tag:x,2000:\n---\na: b\n"), "f.yaml:1", "directives"},
        {SLICE_LIT("a: 1\nb:\nc: 2\n"), "f.yaml:", "no value"},
        {SLICE_LIT("a: ~\n"), "f.yaml:1: key `a`", "no value"},
        {SLICE_LIT("a: null\n"), "f.yaml:1: key `a`", "no value"},
        {SLICE_LIT("a: [b, NULL]\n"), "f.yaml:1: key `a`", "no value"},
        {SLICE_LIT("~: b\n"), "f.yaml:1", "no value"},
        {SLICE_LIT("\"\": b\n"), "f.yaml:1", "empty"},
        {SLICE_LIT("[a, b]: c\n"), "f.yaml:1", "key must be a text"},
        {SLICE_LIT("? {a: b}\n: c\n"), "f.yaml:1", "key must be a text"},
        {SLICE_LIT("a: \"x\\0y\"\n"), "f.yaml:1: key `a`", "control"},
        {SLICE_LIT("a: \"x\\ny\"\n"), "f.yaml:1: key `a`", "control"},
        {SLICE_LIT("\"x\\ty\": b\n"), "f.yaml:1", "control"},
        {SLICE_LIT("a: |\n  b\n"), "f.yaml:1: key `a`", "line break"},
        {SLICE_LIT("a: \"\\u0085\"\n"), "f.yaml:1: key `a`", "control"},
        {SLICE_LIT("a: b\nc: d\0\n"), "f.yaml:2", "control"},
        {SLICE_LIT("a: b\n# \x1b[0m\n"), "f.yaml:2", "control"},
        {SLICE_LIT("a: b\r\n# \x7f\r\n"), "f.yaml:2", "control"},
        {SLICE_LIT("a: b\nc: \xff\n"), "f.yaml:2", "UTF-8"},
        {SLICE_LIT("\xff\xfe"
                   "a\0:\0 \0b\0"),
         "f.yaml:1", "UTF-8"},
        {SLICE_LIT("a: cafe\xCC\x81\n"), "f.yaml:1: key `a`", "NFC"},
        {SLICE_LIT("cafe\xCC\x81: x\n"), "f.yaml:1", "NFC"},
        {SLICE_LIT("a: \"cafe\\u0301\"\n"), "f.yaml:1: key `a`", "NFC"},
        {SLICE_LIT("a:\n\t- b\n"), "f.yaml:2", "not well-formed"},
        {SLICE_LIT("a: [b\n"), "f.yaml:2", "not well-formed"},
        {SLICE_LIT("a: b: c\n"), "f.yaml:1", "not well-formed"},
        {SLICE_LIT("a: @b\n"), "f.yaml:1", "not well-formed"},
        {SLICE_LIT(""), "f.yaml:1", "empty"},
        {SLICE_LIT("# nothing\n"), "f.yaml:1", "empty"},
        {SLICE_LIT("just text\n"), "f.yaml:1", "must be a map"},
        {SLICE_LIT("- a\n- b\n"), "f.yaml:1", "must be a map"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        refuses(cases[i].text, cases[i].line, cases[i].reason);
    }
}

/* A map in `depth` - 1 lists: as deep as asked. */
static struct yaml_doc *parse_nested(size_t depth)
{
    struct dynbuf text;
    dynbuf_init(&text, YAML_MAX_BYTES);
    dynbuf_add_text(&text, "a: ");
    for (size_t i = 1; i < depth; i++) {
        dynbuf_add_byte(&text, '[');
    }
    for (size_t i = 1; i < depth; i++) {
        dynbuf_add_byte(&text, ']');
    }
    struct yaml_doc *doc = yaml_parse(dynbuf_get(&text), "f.yaml", &detail);
    dynbuf_done(&text);
    return doc;
}

Test(yaml, stops_at_depth_16)
{
    for (size_t depth = YAML_MAX_DEPTH - 1; depth <= YAML_MAX_DEPTH; depth++) {
        struct yaml_doc *doc = parse_nested(depth);
        cr_assert(doc, "depth %zu: %s", depth, detail.text);
        yaml_doc_free(doc);
    }
    cr_assert_null(parse_nested(YAML_MAX_DEPTH + 1));
    cr_assert_not_null(strstr(detail.text, "nested more than 16 deep"), "%s", detail.text);
}

Test(yaml, does_not_read_a_deep_file_to_its_end)
{
    struct dynbuf text;
    dynbuf_init(&text, YAML_MAX_BYTES);
    dynbuf_add_text(&text, "a: ");
    while (text.n < 200000) {
        dynbuf_add_byte(&text, '[');
    }
    clock_t begin = clock();
    cr_assert_null(yaml_parse(dynbuf_get(&text), "f.yaml", &detail));
    cr_assert_not_null(strstr(detail.text, "nested"), "%s", detail.text);
    /* Read to its end this takes minutes of CPU. */
    cr_assert_lt((clock() - begin) / CLOCKS_PER_SEC, 5);
    dynbuf_done(&text);
}

Test(yaml, caps_the_file_at_256_kib)
{
    for (size_t over = 0; over <= 2; over++) {
        struct dynbuf text;
        dynbuf_init(&text, YAML_MAX_BYTES + 2);
        dynbuf_add_text(&text, "a: b\n#");
        while (text.n < YAML_MAX_BYTES - 1 + over) {
            dynbuf_add_byte(&text, '-');
        }
        struct yaml_doc *doc = yaml_parse(dynbuf_get(&text), "f.yaml", &detail);
        cr_assert_eq(doc != NULL, over < 2, "%zu bytes", text.n);
        yaml_doc_free(doc);
        dynbuf_done(&text);
    }
    cr_assert_not_null(strstr(detail.text, "larger than 256 KiB"), "%s", detail.text);
}

Test(yaml, finds_a_repeat_among_very_many_keys)
{
    struct dynbuf text;
    dynbuf_init(&text, YAML_MAX_BYTES);
    for (int i = 0; i < 20000; i++) {
        dynbuf_add_byte(&text, 'k');
        dynbuf_add_int(&text, i);
        dynbuf_add_text(&text, ": v\n");
    }
    struct yaml_doc *doc = yaml_parse(dynbuf_get(&text), "f.yaml", &detail);
    cr_assert(doc, "%s", detail.text);
    cr_assert_eq(yaml_root(doc)->n, 20000);
    yaml_doc_free(doc);
    dynbuf_add_text(&text, "k777: v\n");
    refuses(dynbuf_get(&text), "f.yaml:20001: key `k777`", "twice");
    dynbuf_done(&text);
}

Test(yaml, names_the_first_repeat_in_the_file)
{
    refuses(SLICE_LIT("z: 1\na: 1\nz: 2\na: 2\n"), "f.yaml:3: key `z`", "twice");
}

Test(yaml, survives_a_caller_without_interest_in_the_reason)
{
    cr_assert_null(yaml_parse(SLICE_LIT("a: ~"), "f.yaml", NULL));
    yaml_doc_free(NULL);
}

Test(yaml, shortens_a_long_key_between_characters)
{
    struct dynbuf text;
    dynbuf_init(&text, 4096);
    dynbuf_add_byte(&text, 'k');
    for (int i = 0; i < 100; i++) {
        dynbuf_add_text(&text, "\xC3\xA9");
    }
    dynbuf_add_text(&text, ": ~\n");
    cr_assert_null(yaml_parse(dynbuf_get(&text), "f.yaml", &detail));
    cr_assert_not_null(strstr(detail.text, "\xA9`: has no value"), "%s", detail.text);
    cr_assert_lt(strlen(detail.text), 200);
    dynbuf_done(&text);
}
