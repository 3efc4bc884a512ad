/* SPDX-License-Identifier: Apache-2.0 */
/* lint: what is wrong with a test set, all of it, line by line. Pure.
 *
 * A fatal finding makes figures wrong or impossible; the others make them mean less than they seem
 * to. */
#ifndef EVAL_LINT_H
#define EVAL_LINT_H

#include "service/base/slice.h"

#include <stdbool.h>
#include <stdint.h>

/* kind, whether it is fatal, what it is */
#define LINT_TABLE(X)                                                                              \
    X(malformed, true, "a line that is not in the file's form")                                    \
    X(duplicate_id, true, "an id that an earlier line of the file has")                            \
    X(duplicate_judgement, true, "a document judged for a query that an earlier line judges too")  \
    X(empty_query, true, "a query without text")                                                   \
    X(missing_document, true, "a judgement of a document that the corpus lacks")                   \
    X(missing_query, true, "a judgement of a query that the queries file lacks")                   \
    X(empty_document, false, "a document without text, which cannot be ingested")                  \
    X(unjudged_query, false, "a query without any judgement: it counts nowhere")                   \
    X(no_relevant, false, "a query without a relevant document: it counts 0 whatever is found")    \
    X(quotes_title, false, "a query that holds the whole title of a relevant document")

enum lint_kind {
#define X(name, fatal, what) LINT_##name,
    LINT_TABLE(X)
#undef X
        N_LINT_KINDS
};

const char *lint_name(enum lint_kind k);
const char *lint_what(enum lint_kind k);
bool lint_is_fatal(enum lint_kind k);

/* One file; path is how findings name it. */
struct lint_file {
    const char *path;
    struct slice bytes;
};

struct lint_finding {
    enum lint_kind kind;
    const char *path;
    uint64_t line;
    struct slice id;   /* of the query or document; SLICE_NONE for a malformed line */
    struct slice more; /* a reason, or the other id */
};

struct lint_counts {
    uint64_t n_queries, n_documents, n_judgements;
    uint64_t findings[N_LINT_KINDS];
    uint64_t n_fatal;
};

/* Calls on_finding for each finding, file by file. qrels->path may be NULL: then what needs them is
 * not looked for. What a finding points to is borrowed until on_finding returns. */
void lint_set(const struct lint_file *queries, const struct lint_file *corpus,
              const struct lint_file *qrels,
              void (*on_finding)(void *arg, const struct lint_finding *finding), void *arg,
              struct lint_counts *ret_counts);

#endif
