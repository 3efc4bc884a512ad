/* SPDX-License-Identifier: Apache-2.0 */
/* The table-driven reader: each type, its limits, and what an error text tells. */
#include "service/yaml/yaml.h"

#include <criterion/criterion.h>

struct sample {
    struct slice text;
    bool flag;
    int64_t number;
    struct yaml_texts list;
    const struct yaml_node *tree;
};

static const struct yaml_field FIELDS[] = {
    {"text", YAML_TEXT, true, offsetof(struct sample, text), 0, 0},
    {"flag", YAML_FLAG, false, offsetof(struct sample, flag), 0, 0},
    {"number", YAML_INTEGER, false, offsetof(struct sample, number), -5, 300},
    {"labels", YAML_TEXT_LIST, false, offsetof(struct sample, list), 0, 0},
    {"tree", YAML_SUBTREE, false, offsetof(struct sample, tree), 0, 0},
};

static struct err_detail detail;

/* The document, if it reads; *ret_sample begins with its defaults. */
static struct yaml_doc *read_sample(const char *text, struct sample *ret_sample)
{
    struct yaml_doc *doc = yaml_parse(slice_of(text), "f.yaml", &detail);
    cr_assert(doc, "%s: %s", text, detail.text);
    *ret_sample = (struct sample){.number = 7, .flag = true};
    if (!yaml_read(doc, yaml_root(doc), FIELDS, sizeof(FIELDS) / sizeof(FIELDS[0]), ret_sample,
                   &detail)) {
        yaml_doc_free(doc);
        return NULL;
    }
    return doc;
}

Test(yaml_read, fills_every_type)
{
    struct sample s;
    struct yaml_doc *doc =
        read_sample("text: on\nflag: false\nnumber: -5\nlabels: [a, \"b\"]\ntree: {x: 1}\n", &s);
    cr_assert(doc, "%s", detail.text);
    cr_assert(slice_is(s.text, "on"));
    cr_assert(!s.flag);
    cr_assert_eq(s.number, -5);
    cr_assert_eq(s.list.n, 2);
    cr_assert(slice_is(s.list.items[0], "a") && slice_is(s.list.items[1], "b"));
    cr_assert(s.tree->kind == YAML_MAP && slice_is(s.tree->first->key, "x"));
    yaml_doc_free(doc);
}

Test(yaml_read, leaves_defaults_where_a_key_is_absent)
{
    struct sample s;
    struct yaml_doc *doc = read_sample("text: 1.0\n", &s);
    cr_assert(doc, "%s", detail.text);
    cr_assert(slice_is(s.text, "1.0"));
    cr_assert(s.flag && s.number == 7 && s.list.n == 0 && !s.tree);
    yaml_doc_free(doc);
}

Test(yaml_read, takes_whole_numbers_at_their_limits)
{
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {{"text: x\nnumber: 300", 300}, {"text: x\nnumber: 0", 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sample s;
        struct yaml_doc *doc = read_sample(cases[i].text, &s);
        cr_assert(doc, "%s", detail.text);
        cr_assert_eq(s.number, cases[i].value);
        yaml_doc_free(doc);
    }
}

Test(yaml_read, takes_an_empty_list)
{
    struct sample s;
    struct yaml_doc *doc = read_sample("text: x\nlabels: []\n", &s);
    cr_assert(doc, "%s", detail.text);
    cr_assert_eq(s.list.n, 0);
    yaml_doc_free(doc);
}

Test(yaml_read, refuses_with_file_line_key_and_fix)
{
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"text: x\nlabel: [a]\n",
         "f.yaml:2: key `label`: is unknown; the nearest known key is `labels`"},
        {"text: x\nNumber: 1\n",
         "f.yaml:2: key `Number`: is unknown; the nearest known key is `number`"},
        {"flag: true\n", "f.yaml:1: key `text`: is missing; add it"},
        {"text: \"\"\n", "f.yaml:1: key `text`: is an empty text"},
        {"text: [a]\n", "f.yaml:1: key `text`: must be a text; it is a list"},
        {"text: {a: b}\n", "must be a text; it is a map"},
        {"text: x\nflag: yes\n", "f.yaml:2: key `flag`: must be true or false"},
        {"text: x\nflag: True\n", "must be true or false"},
        {"text: x\nflag: \"true\"\n", "without quotes"},
        {"text: x\nflag: [true]\n", "must be true or false"},
        {"text: x\nnumber: 301\n", "f.yaml:2: key `number`: must be a whole number from -5 to 300"},
        {"text: x\nnumber: -6\n", "from -5 to 300"},
        {"text: x\nnumber: \"7\"\n", "without quotes"},
        {"text: x\nnumber: 07\n", "whole number"},
        {"text: x\nnumber: +7\n", "whole number"},
        {"text: x\nnumber: -0\n", "whole number"},
        {"text: x\nnumber: -x\n", "whole number"},
        {"text: x\nnumber: 1.0\n", "whole number"},
        {"text: x\nnumber: 1_0\n", "whole number"},
        {"text: x\nnumber: 0x7\n", "whole number"},
        {"text: x\nnumber: 99999999999999999999\n", "whole number"},
        {"text: x\nnumber: {a: b}\n", "whole number"},
        {"text: x\nlabels: a\n",
         "f.yaml:2: key `labels`: must be a list, as in [one, two]; it is a text"},
        {"text: x\nlabels:\n  - a\n  - b\n  - a\n", "f.yaml:5: key `labels`: lists `a` twice"},
        {"text: x\nlabels:\n  - a\n  - [b]\n", "f.yaml:4: key `labels`: must be a list of texts"},
        {"text: x\nlabels: [\"\"]\n", "not empty"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sample s;
        cr_assert_null(read_sample(cases[i].text, &s), "accepted: %s", cases[i].text);
        cr_assert_not_null(strstr(detail.text, cases[i].reason), "%s\nlacks %s", detail.text,
                           cases[i].reason);
    }
}

Test(yaml_read, names_the_map_a_key_is_missing_from)
{
    struct yaml_doc *doc = yaml_parse(SLICE_LIT("a: 1\nlimits:\n  b: 2\n"), "f.yaml", &detail);
    static const struct yaml_field fields[] = {
        {"b", YAML_INTEGER, true, offsetof(struct sample, number), 0, 9},
        {"text", YAML_TEXT, true, offsetof(struct sample, text), 0, 0},
    };
    struct sample s = {0};
    cr_assert_not(yaml_read(doc, yaml_root(doc)->first->next, fields, 2, &s, &detail));
    cr_assert_str_eq(detail.text, "f.yaml:2: key `text`: is missing from limits; add it");
    yaml_doc_free(doc);
}

Test(yaml_read, refuses_a_node_that_is_no_map)
{
    struct yaml_doc *doc = yaml_parse(SLICE_LIT("a: 1\nb: [x]\n"), "f.yaml", &detail);
    struct sample s;
    for (const struct yaml_node *n = yaml_root(doc)->first; n; n = n->next) {
        cr_assert_not(yaml_read(doc, n, FIELDS, 5, &s, &detail));
        cr_assert_not_null(strstr(detail.text, "must be a map"), "%s", detail.text);
    }
    yaml_doc_free(doc);
}

/* The key before it was left out; a comma cut it in two; it stands twice. */
Test(yaml_read, shows_no_key_that_may_be_a_url_with_a_password)
{
    static const char *const texts[] = {
        "redis://kb:hunter2@h: 1\n",
        "{text: redis://kb:a,hunter2@h}\n",
        "a@hunter2: 1\na@hunter2: 2\n",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct yaml_doc *doc = yaml_parse(slice_of(texts[i]), "f.yaml", &detail);
        struct sample s = {0};
        cr_expect_not(doc && yaml_read(doc, yaml_root(doc), FIELDS, 5, &s, &detail), "accepted: %s",
                      texts[i]);
        cr_expect_not_null(strstr(detail.text, "a key that is not shown"), "%s", detail.text);
        cr_expect_null(strstr(detail.text, "hunter2"), "%s", detail.text);
        yaml_doc_free(doc);
    }
}
