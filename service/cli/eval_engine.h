/* SPDX-License-Identifier: Apache-2.0 */
/* eval_engine: where `kbgate eval` gets its rankings from: a store, or a running service. Blocking.
 */
#ifndef CLI_EVAL_ENGINE_H
#define CLI_EVAL_ENGINE_H

#include "service/cli/options.h"
#include "service/eval/evaluation.h"

enum {
    EVAL_DEPTH = 1000,      /* of a store's candidate list */
    EVAL_SERVED_TOP_K = 20, /* the longest answer a client can ask for */
};

struct eval_source {
    const char *store, *url, *token, *collection;
    bool as_served; /* what a client would get: profile defaults, abstaining, 20 results */
    struct option_texts profile;
};

enum eval_outcome {
    EVAL_ANSWERED,
    EVAL_EMPTY,
    EVAL_REFUSED, /* the query itself is none the service takes; a reason is set */
};

struct eval_engine {
    const struct eval_engine_ops *ops;
    char index_version[64]; /* of the first answer */
    int64_t n_documents;    /* that are searched; -1: not known */
};

struct eval_engine_ops {
    /* Adds the documents found to `ranking`, best first; those whose text is the same as a
     * passage's directly behind that passage's. False with a reason: the run cannot go on. */
    bool (*ask)(struct eval_engine *e, struct slice query, struct ranking *ranking,
                enum eval_outcome *ret_outcome, struct err_detail *detail);

    /* Whether the store holds the document; NULL where that cannot be known. */
    bool (*holds)(struct eval_engine *e, struct slice doc_id);

    void (*free)(struct eval_engine *e);
};

/* Whether each --profile sets a member of the answer profile within its bounds. */
bool eval_source_check(const struct eval_source *source, struct err_detail *detail);

/* NULL with a reason. The source is borrowed as long as the engine lives. */
struct eval_engine *eval_store_open(const struct eval_source *source, struct err_detail *detail);
struct eval_engine *eval_http_open(const struct eval_source *source, struct err_detail *detail);

/* The document of <collection>/<doc_id>/<position>. */
struct slice chunk_id_doc(struct slice chunk_id);

/* Adds the documents of an outcome's JSON to the ranking. False with a reason: no such JSON, or
 * another index_version than the one before. */
bool eval_take_results(struct eval_engine *e, struct slice outcome, struct ranking *ranking,
                       enum eval_outcome *ret_outcome, struct err_detail *detail);

#endif
