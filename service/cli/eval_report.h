/* SPDX-License-Identifier: Apache-2.0 */
/* eval_report: the figures of `kbgate eval retrieval`, for machines and for people. */
#ifndef CLI_EVAL_REPORT_H
#define CLI_EVAL_REPORT_H

#include "service/cli/eval_engine.h"
#include "service/eval/paired.h"
#include "service/eval/test_set.h"

#include <stdio.h>

struct eval_figures {
    const struct eval_source *source;
    const struct evaluation *evaluation;
    char index_version[64];
    char checksum[CHECKSUM_CHARS + 1];
    uint64_t n_queries, n_judgements;
    uint64_t n_unjudged; /* queries without a judgement: they count nowhere */
    uint64_t n_unasked;  /* judged queries that the queries file lacks: they count 0 */
    int64_t n_documents; /* that the store holds; -1: not known */
    int64_t n_missing;   /* judged documents that the store lacks; -1: not known */
    uint64_t n_empty, n_refused, n_excluded;
    const struct paired *paired; /* NULL: compared with nothing */
    bool held_out;
};

/* "store" or "url". */
const char *eval_source_name(const struct eval_source *s);
int64_t eval_source_depth(const struct eval_source *s);

/* One JSON object and a newline. */
void eval_report_json(struct dynbuf *out, const struct eval_figures *f);

void eval_report_text(struct dynbuf *out, const struct eval_figures *f);

/* One JSON object a query, with its measures. */
void eval_report_query(struct dynbuf *out, struct slice query, const struct query_result *result,
                       enum eval_outcome outcome);

#endif
