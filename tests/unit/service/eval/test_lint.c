/* SPDX-License-Identifier: Apache-2.0 */
#include "service/eval/lint.h"

#include "service/base/dynbuf.h"
#include "service/eval/title_quote.h"

#include <criterion/criterion.h>

static void on_finding(void *arg, const struct lint_finding *f)
{
    struct dynbuf *out = arg;
    dynbuf_add_text(out, f->path);
    dynbuf_add_byte(out, ':');
    dynbuf_add_int(out, (int64_t)f->line);
    dynbuf_add_byte(out, ' ');
    dynbuf_add_text(out, lint_name(f->kind));
    if (f->id.p) {
        dynbuf_add_byte(out, ' ');
        dynbuf_add(out, f->id);
    }
    dynbuf_add_byte(out, '\n');
}

static void assert_findings(const char *queries, const char *corpus, const char *qrels,
                            const char *want, uint64_t want_fatal)
{
    const struct lint_file q = {"q", slice_of(queries)}, c = {"c", slice_of(corpus)};
    const struct lint_file j = {qrels ? "j" : NULL, slice_of(qrels)};
    struct lint_counts counts;
    struct dynbuf found;
    dynbuf_init(&found, SIZE_MAX);
    lint_set(&q, &c, &j, on_finding, &found, &counts);
    cr_assert(slice_is(dynbuf_get(&found), want), "found:\n%.*s\nwanted:\n%s", (int)found.n,
              found.p ? found.p : "", want);
    cr_assert_eq(counts.n_fatal, want_fatal);
    dynbuf_done(&found);
}

#define QUERY "{\"id\":\"q1\",\"text\":\"how long is parental leave\"}\n"
#define DOCUMENT "{\"id\":\"d1\",\"title\":\"Leave\",\"text\":\"Sixteen weeks.\"}\n"

Test(lint, of_a_sound_set_finds_nothing)
{
    assert_findings(QUERY, "{\"id\":\"d1\",\"title\":\"Sick notes\",\"text\":\"x\"}\n",
                    "q1 0 d1 1\n", "", 0);
    assert_findings(QUERY, DOCUMENT, NULL, "", 0);
}

Test(lint, finds_each_fatal_kind)
{
    assert_findings(
        QUERY "broken\n" QUERY "{\"id\":\"q2\",\"text\":\" \\n\"}\n", DOCUMENT DOCUMENT, NULL,
        "q:2 malformed\nq:3 duplicate_id q1\nq:4 empty_query q2\nc:2 duplicate_id d1\n", 4);
    assert_findings(QUERY, "{\"id\":\"d1\",\"text\":\"x\"}\n",
                    "q1 0 d1 1\nq1 0 d1 0\nq1 0 d2 1\nq2 0 d1 1\nq1 0 d1\n",
                    "j:2 duplicate_judgement q1\nj:3 missing_document q1\nj:4 missing_query q2\n"
                    "j:5 malformed\n",
                    4);
}

Test(lint, finds_what_is_to_be_known)
{
    assert_findings(QUERY "{\"id\":\"q2\",\"text\":\"x\"}\n{\"id\":\"q3\",\"text\":\"y\"}\n",
                    DOCUMENT "{\"id\":\"d2\",\"title\":\"t\",\"text\":\"\"}\n",
                    "q1 0 d1 1\nq3 0 d2 0\n",
                    "c:2 empty_document d2\nj:1 quotes_title q1\nq:2 unjudged_query q2\n"
                    "q:3 no_relevant q3\n",
                    0);
}

Test(lint, looks_at_titles_of_relevant_documents_only)
{
    assert_findings(QUERY, DOCUMENT "{\"id\":\"d2\",\"text\":\"x\"}\n", "q1 0 d1 0\nq1 0 d2 1\n",
                    "", 0);
}

Test(title_quote, is_a_run_of_the_titles_words)
{
    static const struct {
        const char *title, *query;
        bool quoted;
    } CASES[] = {
        {"Parental leave", "how long is parental leave?", true},
        {"Parental Leaves", "PARENTAL-LEAVE", false}, /* one word with parts: its whole counts */
        {"parental leave", "leave of a parental kind", false},
        {"parental leave", "parental paid leave", false},
        {"parental leave", "parental", false},
        {"Caf\xC3\xA9 rules", "cafe rule", true},
        {"", "anything", false},
        {" - ", "anything", false},
        {"leave", "", false},
        {"a a b", "a a a b", true},
    };
    struct text_analyser *a = text_analyser_new();
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        cr_assert_eq(title_is_quoted(a, slice_of(CASES[i].title), slice_of(CASES[i].query)),
                     CASES[i].quoted, "%s / %s", CASES[i].title, CASES[i].query);
    }
    text_analyser_free(a);
}
