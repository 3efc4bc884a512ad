/* SPDX-License-Identifier: Apache-2.0 */
/* jwks_source: what the fetcher's thread and the requests share of one issuer's key set. Private to
 * jwks_fetcher.c and jwks_source.c.
 *
 * Locks: a source's lock is the innermost of ours; only loop_post is called under it. */
#ifndef PIPELINE_JWKS_SOURCE_H
#define PIPELINE_JWKS_SOURCE_H

#include "service/pipeline/jwks_fetcher.h"
#include "service/pipeline/refresh_limit.h"

#include <pthread.h>
#include <stdatomic.h>

struct jwks_waiter;

struct jwks_source {
    atomic_uint refs;

    /* fixed */
    struct jwks_fetcher *fetcher; /* not to be used once closed */
    struct loop *loop;            /* the fetcher's, likewise */
    int64_t (*now_mono_ms)(void);
    char *name, *uri;
    struct dynbuf ca_pem;
    uint32_t algs;

    /* the main thread's */
    struct jwks_source *next;
    bool kept;

    /* the fetcher's thread's */
    struct curl_loop *client;
    struct op fetch_op;
    struct curl_response *response;
    struct timer timer;

    pthread_mutex_t lock; /* of the rest */
    pthread_cond_t ended; /* a fetch */
    struct loop_message poke;
    bool poked;    /* poke is on its way */
    bool closed;   /* kept no more */
    bool asked;    /* a fetch, at once */
    bool fetching; /* until its waiters have been told */
    struct jwks *keys;
    struct digest bytes_digest; /* of the set in force */
    int64_t max_stale_ms, fetched_ms, next_ms;
    bool last_failed;
    uint64_t n_ended; /* fetches */
    struct refresh_limit limit;
    struct jwks_waiter *waiters;
    size_t n_waiters;
    struct jwks_source_stats stats; /* age_ms: computed when asked for */
};

/* Sends the fetcher's thread to look at s. Locked. */
void jwks_source_poke(struct jwks_source *s);

/* Tells all that wait. is_fresh: a good fetch has ended; what they asked for and is still not in
 * the set is not fetched again for a while. Locked. */
void jwks_source_tell_waiters(struct jwks_source *s, bool is_fresh);

struct jwks_source *jwks_source_new(const struct jwks_wanted *w);

#endif
