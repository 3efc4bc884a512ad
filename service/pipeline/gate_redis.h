/* SPDX-License-Identifier: Apache-2.0 */
/* gate_redis: what replicas share, from a gate's view: the two endpoints, how each of them fares,
 * and the shared cache. Private to service/pipeline.
 *
 * Thread: open and close from the main thread; the links belong to their loops; the rest any. */
#ifndef PIPELINE_GATE_REDIS_H
#define PIPELINE_GATE_REDIS_H

#include "cache/budget.h"
#include "cache/shared_cache.h"
#include "service/base/dynbuf.h"
#include "service/config/config.h"
#include "service/loop/redis_loop.h"

#include <pthread.h>

enum redis_endpoint { ENDPOINT_CACHE, ENDPOINT_BUDGET, ENDPOINT_COUNT };

struct gate_redis; /* opaque; NULL: everything stays in the process */

/* *ret_redis is NULL where no Redis is configured. Reads the files the section names. False with a
 * reason. Nothing is connected yet, and a start needs no Redis. */
bool gate_redis_open(const struct config_redis *config, struct gate_redis **ret_redis,
                     struct err_detail *detail);

/* b is told when Redis is back for it; it outlives the links. */
void gate_redis_tell(struct gate_redis *s, struct budget *b);

/* Every link is closed. */
void gate_redis_close(struct gate_redis *s);

struct shared_cache *gate_redis_cache(struct gate_redis *s);

/* One loop's connection to one endpoint. */
struct redis_link {
    struct gate_redis *owner;
    enum redis_endpoint endpoint;
    struct redis_loop *redis;
    bool is_up, is_down;     /* neither: not known yet; under the owner's lock */
    enum redis_failure why;  /* it is down; likewise */
    struct redis_link *next; /* the owner's */
};

void redis_link_open(struct redis_link *k, struct gate_redis *s, enum redis_endpoint endpoint,
                     struct loop *l);
void redis_link_close(struct redis_link *k);

/* Samples of both endpoints and the shared cache. */
void gate_redis_write_metrics(struct gate_redis *s, struct dynbuf *out);

/* "ok redis cache host:port" or "away redis cache host:port: refused", a line an endpoint, for
 * /readyz?verbose: it never decides readiness. */
void gate_redis_describe(struct gate_redis *s, struct dynbuf *out);

#endif
