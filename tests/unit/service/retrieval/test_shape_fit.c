/* SPDX-License-Identifier: Apache-2.0 */
/* That a cut passage is the longest that fits, by asking what one word more would have done, and
 * that the hits said to be shown are the results. */
#include "service/retrieval/shape.h"

#include "service/retrieval/fence.h"
#include "service/retrieval/text_normal.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>

enum { HITS = 6 };

static struct answer_profile profile;

static struct shape_options options(enum rendering rendering, uint32_t top_k, uint32_t budget)
{
    answer_profile_init(&profile);
    profile.byte_budget = budget;
    return (struct shape_options){rendering, top_k, &profile,
                                  SLICE_LIT("0123456789abcdef0123456789abcdef"), "kb1-test"};
}

static struct hit hit_of(struct slice text)
{
    return (struct hit){
        .scope = {SLICE_LIT("faq"), SLICE_LIT("guide"), NULL, 0},
        .chunk_id = SLICE_LIT("faq/a/guide.md/3"),
        .doc_id = SLICE_LIT("a/guide.md"),
        .title = SLICE_LIT("A guide"),
        .source_url = SLICE_NONE,
        .text = text,
        .published = NO_DATE,
    };
}

static json_t *shape(const struct ranked *ranked, size_t n, const struct shape_options *o,
                     const struct hit **ret_shown, size_t *ret_n)
{
    struct dynbuf json;
    dynbuf_init(&json, 1 << 22);
    *ret_n = shape_answer_shown(&json, ranked, n, o, ret_shown);
    json_t *root = json_loadb(json.p, json.n, 0, NULL);
    cr_assert_not_null(root);
    dynbuf_done(&json);
    return root;
}

/* How many bytes of the passage a text member shows. */
static size_t shown_bytes(const char *text, enum rendering rendering)
{
    if (rendering == RENDER_REST) {
        return strlen(text);
    }
    size_t n = 0, lines = 0;
    for (const char *line = strchr(text, '\n') + 1; strchr(line, '\n'); lines++) {
        const char *end = strchr(line, '\n');
        n += (size_t)(end - line) - FENCE_MARK_BYTES;
        line = end + 1;
    }
    return n + lines - 1;
}

/* How much of `text` an answer shows that holds nothing else; *ret_cut: not all of it. */
static size_t fitting_bytes(struct slice text, const struct shape_options *o, bool *ret_cut)
{
    struct hit hit = hit_of(text);
    const struct ranked ranked = {&hit, 1000000};
    size_t n;
    json_t *root = shape(&ranked, 1, o, NULL, &n);
    const json_t *result = json_array_get(json_object_get(root, "results"), 0);
    const char *shown = json_string_value(json_object_get(result, "text"));
    size_t bytes = shown_bytes(shown, o->rendering);
    *ret_cut = json_is_true(json_object_get(root, "truncated"));
    json_decref(root);
    return bytes;
}

/* The next longer part that a cut could leave. */
static size_t next_cut(struct slice text, size_t n)
{
    size_t max = n + 1;
    while (text_cut(text, max) <= n) {
        max++;
    }
    return text_cut(text, max);
}

static void expect_longest(struct slice text, const struct shape_options *o)
{
    bool cut;
    size_t n = fitting_bytes(text, o, &cut);
    cr_assert(cut && n < text.n);
    cr_assert_eq(fitting_bytes((struct slice){text.p, n}, o, &cut), n);
    cr_assert_not(cut, "%zu bytes fit", n);
    size_t longer = next_cut(text, n);
    cr_assert_eq(fitting_bytes((struct slice){text.p, longer}, o, &cut), n);
    cr_assert(cut, "%u: %zu bytes would fit, %zu are shown", o->profile->byte_budget, longer, n);
}

Test(shape_fit, a_cut_is_the_longest_that_fits)
{
    static const char *const UNITS[] = {"w ",   "\"\\ ",      "line\n", "\n",   "a\tb ",
                                        "報告", "words and ", "\\",     "é \"", "w "};
    struct dynbuf text;
    dynbuf_init(&text, 1 << 20);
    for (size_t u = 0; u + 1 < sizeof(UNITS) / sizeof(UNITS[0]); u++) {
        dynbuf_cut(&text, 0);
        while (text.n < 12000) {
            bool other = text.n / 1500 % 2; /* its neighbour, by stretches */
            dynbuf_add_text(&text, UNITS[u + other]);
            dynbuf_add_text(&text, text.n % 1900 < 10 ? "\n" : ""); /* longer lines are wrapped */
        }
        for (uint32_t budget = 2000; budget < 8000; budget += 217) {
            struct shape_options mcp = options(RENDER_MCP, 1, budget);
            expect_longest(dynbuf_get(&text), &mcp);
            struct shape_options rest = options(RENDER_REST, 1, budget);
            expect_longest(dynbuf_get(&text), &rest);
        }
    }
    dynbuf_done(&text);
}

/* Hits of three documents; some are passed over, the last one may not fit. */
static size_t make_list(struct hit *hits, struct ranked *ranked, char ids[HITS][32])
{
    static const char TEXT[] = "Some words that take a little room in every answer they are in.";
    for (size_t i = 0; i < HITS; i++) {
        hits[i] = hit_of(SLICE_LIT(TEXT));
        snprintf(ids[i], sizeof(ids[i]), "faq/doc%zu/%zu", i / 2, i);
        hits[i].chunk_id = slice_of(ids[i]);
        hits[i].doc_id = (struct slice){ids[i] + 4, 4};
        ranked[i] = (struct ranked){&hits[i], 1000000 - (uint32_t)i};
    }
    return HITS;
}

Test(shape_fit, names_the_hits_it_shows)
{
    struct hit hits[HITS];
    struct ranked ranked[HITS];
    char ids[HITS][32];
    size_t n = make_list(hits, ranked, ids), seen[HITS + 1] = {0};
    for (uint32_t budget = 0; budget < 8000; budget += 100) {
        for (uint32_t variant = 0; variant < 6; variant++) {
            struct shape_options o = options(RENDER_MCP, 1 + 5 * (variant % 2), budget);
            profile.chunks_per_document = variant / 2;
            const struct hit *shown[HITS] = {0};
            size_t n_shown;
            json_t *root = shape(ranked, n, &o, shown, &n_shown);
            const json_t *results = json_object_get(root, "results");
            cr_assert_eq(json_array_size(results), n_shown);
            for (size_t i = 0; i < n_shown; i++) {
                const json_t *id = json_object_get(json_array_get(results, i), "chunk_id");
                cr_assert(slice_is(shown[i]->chunk_id, json_string_value(id)));
            }
            cr_assert(n_shown == HITS || !shown[n_shown]);
            seen[n_shown]++;
            json_decref(root);
        }
    }
    cr_assert(seen[0] == 0 && seen[1] && seen[3] && seen[HITS]);
}

Test(shape_fit, an_empty_answer_shows_no_hit)
{
    struct hit hit = hit_of(SLICE_LIT("text"));
    const struct ranked ranked = {&hit, 1000000};
    struct shape_options o = options(RENDER_MCP, 0, 48 * 1024);
    const struct hit *shown[1] = {NULL};
    size_t n;
    json_decref(shape(&ranked, 1, &o, shown, &n));
    cr_expect(n == 0 && !shown[0]);
    json_decref(shape(NULL, 0, &o, shown, &n));
    cr_expect(n == 0 && !shown[0]);
}
