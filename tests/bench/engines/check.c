/* SPDX-License-Identifier: Apache-2.0 */
/* A fast engine that finds the wrong chunks must not pass for a good one: its first ten hits are
 * compared with the oracle's, ids, order and scores. */
#include "tests/bench/engines/bench.h"
#include "tests/bench/engines/engine_kbgate.h"
#include "tests/bench/engines/oracle.h"

#include <stdio.h>

static bool is_same(const struct hits *found, const struct oracle_answer *expected)
{
    size_t n = found->n < ORACLE_HITS ? found->n : ORACLE_HITS;
    bool same = n == expected->n;
    for (size_t i = 0; same && i < n; i++) {
        same = corpus_number(found->items[i].doc_id) == expected->hits[i].number &&
               found->items[i].score == expected->hits[i].score;
    }
    return same;
}

static void print_difference(const char *question, int scope, const struct hits *found,
                             const struct oracle_answer *expected)
{
    fprintf(stderr, "bench_retrieval: wrong hits for \"%s\" (scope %s)\n  found    ", question,
            CORPUS_SCOPES[scope]);
    for (size_t i = 0; i < found->n && i < ORACLE_HITS; i++) {
        fprintf(stderr, " %.*s=%llu", (int)found->items[i].doc_id.n, found->items[i].doc_id.p,
                (unsigned long long)found->items[i].score);
    }
    fprintf(stderr, "\n  expected ");
    for (size_t i = 0; i < expected->n; i++) {
        fprintf(stderr, " s%08u=%llu", expected->hits[i].number,
                (unsigned long long)expected->hits[i].score);
    }
    fputc('\n', stderr);
}

static bool check_question(struct kbgate *k, const struct oracle *o, char **questions, uint32_t i,
                           int scope)
{
    struct oracle_answer expected;
    struct hits *found = NULL;
    oracle_ask(o, (enum corpus_scope)scope, i, &expected);
    struct view *view = kbgate_search(k, scope, questions[i], &found);
    bool same = is_same(found, &expected);
    if (!same) {
        print_difference(questions[i], scope, found, &expected);
    }
    hits_free(found);
    view_unref(view);
    return same;
}

int bench_check(const struct bench_options *options)
{
    char **questions = bench_questions(options);
    uint32_t n = options->n_questions, right = 0;
    engine_require(n >= 1 && n <= ORACLE_QUESTIONS_MAX, "check", "--questions 1..64");
    struct oracle *o =
        oracle_new(options->n_chunks, options->n_partitions, (const char *const *)questions, n);
    struct kbgate *k = kbgate_open(options->store, options->n_partitions, NULL);
    for (uint32_t i = 0; i < n; i++) {
        for (int scope = 0; scope < N_SCOPES; scope++) {
            right += check_question(k, o, questions, i, scope);
        }
    }
    printf("{\"checked\":%u,\"right\":%u,\"postings\":%llu}\n", n * N_SCOPES, right,
           (unsigned long long)oracle_postings(o));
    kbgate_close(k);
    oracle_free(o);
    bench_questions_free(questions, n);
    return right == n * N_SCOPES ? 0 : 1;
}
