/* SPDX-License-Identifier: Apache-2.0 */
/* state: everything a gate and a request hold. Private to service/pipeline. */
#ifndef PIPELINE_STATE_H
#define PIPELINE_STATE_H

#include "cache/budget.h"
#include "cache/cache.h"
#include "cache/flight.h"
#include "cache/shared_cache.h"
#include "cache/token_cache.h"
#include "service/base/clock_watch.h"
#include "service/base/json_write.h"
#include "service/base/sink.h"
#include "service/loop/worker.h"
#include "service/mcp/render.h"
#include "service/mcp/search_args.h"
#include "service/mcp/uri.h"
#include "service/pipeline/access_rules.h"
#include "service/pipeline/admin.h"
#include "service/pipeline/answer_job.h"
#include "service/pipeline/gate.h"
#include "service/pipeline/gate_loop.h"
#include "service/pipeline/gate_redis.h"
#include "service/pipeline/metrics.h"
#include "service/pipeline/request.h"
#include "service/retrieval/backend.h"
#include "service/retrieval/shape.h"

#include <pthread.h>

enum {
    REQUEST_ID_CHARS = 32,
    BODY_MAX_BYTES = 16 * 1024 * 1024, /* ceiling of one answer; the byte budget is far below it */
};

struct gate {
    const struct config_values *config;
    char *config_path;
    char *host;           /* where it is served; NULL: not over the network */
    pthread_mutex_t lock; /* for `access` alone */
    struct access_rules *access;
    struct jwks_fetcher *fetcher;
    atomic_bool had_keys; /* every issuer's at once, some time */
    struct answer_profile profile;
    struct dynbuf fence_key, audit_key;
    struct worker_pool *workers;
    struct backend *backend;
    struct token_cache *tokens;
    struct cache *cache;
    struct flights *flights;
    struct gate_redis *redis; /* NULL: everything stays in the process */
    struct budget *budget;
    struct sink *audit; /* NULL: no audit stream */
    int audit_fd;       /* ours to close; -1: not ours */
    struct metrics metrics;
    char id_prefix[17]; /* random, so that ids of replicas differ */
    atomic_ullong next_id;
    struct config *reloaded;      /* main thread: whose budgets hold; NULL: those of config */
    struct config *proposed;      /* main thread: within a tick, to be taken up */
    struct digest config_seen;    /* main thread: the configuration file as last looked at */
    uint64_t config_refused_with; /* main thread: generation of the rules it did not fit; 0: none */
    struct digest refused_policy; /* main thread: files already refused, said once */
    struct clock_watch clock;     /* main thread */
    bool policy_trouble;          /* main thread: refused or unreadable since it was last good */
    struct err_detail last_store_failure; /* main thread: likewise */
    atomic_bool draining;
};

struct gate_loop {
    struct gate *gate;
    struct loop *loop;
    struct redis_link cache, budget; /* .redis NULL: no Redis */
};

struct request {
    struct gate *gate;
    struct gate_loop *gate_loop;
    struct loop *loop;
    struct access_rules *access;
    struct request_input in;
    request_reply_fn on_reply;
    void *door;
    struct arena arena;
    char id[REQUEST_ID_CHARS + 1];
    int64_t started_us;
    struct timer deadline;

    /* the runner's */
    size_t at;
    int64_t step_us;
    unsigned pending;
    bool running, begun, finished;

    /* token */
    struct slice token;
    struct op keys_op;
    const struct verified_token *verified;
    struct claims claims; /* of verified */
    struct filter *filter;

    /* call */
    struct mcp_call mcp;
    json_t *rest_arguments;
    enum metrics_tool tool;
    struct search_args args;
    struct arg_error arg_error; /* field NULL: the arguments are good so far */
    struct resource_uri uri;
    bool uri_is_valid;

    /* scope, arguments */
    struct view *view;
    struct search_query query;
    struct slice canonical;

    /* cache, flight, shared */
    struct cache_key key;
    const struct cache_value *cached; /* a hit, wherever: the answer is free */
    struct op flight_op, shared_op;
    struct seat *seat; /* NULL: not in a flight */
    struct boarding boarding;
    struct shared_claim claim;
    struct shared_place place;

    /* budget, retrieve */
    struct op budget_op, retrieve_op;
    struct budget_verdict verdict;
    struct hits *hits;

    /* fuse, answer */
    const struct ranked *ranked;
    size_t n_ranked;
    struct op answer_op;
    struct answer_bytes answered;
    struct dynbuf answer; /* the JSON of an error */
    struct slice note;    /* for the audit: that of the answer given */

    /* keep */
    const struct cache_value *made, *kept; /* ours, and what everybody gets */
    struct op keep_op;

    /* respond */
    struct dynbuf body, challenge, etag;
    struct reply reply;
    enum metrics_outcome outcome;
    enum err failure;
};

/* The configuration whose reloadable keys hold. Main thread. */
static inline const struct config_values *gate_config_values(const struct gate *g)
{
    return g->reloaded ? config_values(g->reloaded) : g->config;
}

/* The access rules in force, with a reference to give back. */
struct access_rules *gate_access_rules(struct gate *g);

/* A request's charge, for taking it and giving it back. */
struct budget_charge request_charge(struct request *r);

/* For a leader: gives value to every equal call that waits. */
void request_land(struct request *r, const struct cache_value *value);

static inline const char *request_version(const struct request *r)
{
    return r->view ? r->view->index_version : NULL;
}

#endif
