/* SPDX-License-Identifier: Apache-2.0 */
/* An endpoint is down while any loop's connection to it is: said once when the first goes and once
 * when the last is back, however many loops there are and however often they try. */
#include "service/pipeline/gate_redis.h"

#include "service/base/log.h"
#include "service/base/mem.h"
#include "service/pipeline/metrics.h"
#include "service/pipeline/redis_secrets.h"

#include <stdlib.h>
#include <sys/random.h>

enum { ADDRESS_TEXT_BYTES = 300 };

/* Counters of links that are closed, so that a metric never falls. */
struct endpoint {
    struct redis_address address;
    size_t n_down;
    bool is_refused; /* and said so, since it is down */
    struct redis_link *links;
    struct redis_stats closed;
};

struct gate_redis {
    struct redis_secrets secrets;
    struct shared_cache *cache;
    int64_t connect_ms, command_ms;
    struct budget *budget; /* set before there are links; NULL: nobody to tell */
    pthread_mutex_t lock;  /* of the endpoints */
    struct endpoint endpoints[ENDPOINT_COUNT];
};

static const char *const ENDPOINT_NAMES[ENDPOINT_COUNT] = {
    [ENDPOINT_CACHE] = "cache", [ENDPOINT_BUDGET] = "budget"};

static void on_cache_mode(void *who, bool works, const char *why)
{
    (void)who;
    if (works) {
        log_event(LOG_INFO, "cache_shared", "Redis keeps answers again");
    } else {
        log_event(LOG_WARN, "cache_in_process", why);
    }
}

bool gate_redis_open(const struct config_redis *config, struct gate_redis **ret_redis,
                     struct err_detail *detail)
{
    *ret_redis = NULL;
    if (!config->is_configured) {
        return true;
    }
    struct gate_redis *s = mem_alloc(sizeof(*s));
    if (!redis_secrets_load(config, &s->secrets, detail)) {
        redis_secrets_done(&s->secrets);
        free(s);
        return false;
    }
    pthread_mutex_init(&s->lock, NULL);
    s->endpoints[ENDPOINT_CACHE].address = s->secrets.cache;
    s->endpoints[ENDPOINT_BUDGET].address = s->secrets.budgets;
    s->connect_ms = config->connect_ms;
    s->command_ms = config->command_ms;
    const struct shared_cache_options options = {
        .hmac_key = dynbuf_get(&s->secrets.cache_key),
        .key_prefix = slice_of(config->key_prefix),
        .ttl_ms = config->answer_ttl_s * 1000,
        .lock_ms = config->lock_ms,
        .on_mode = on_cache_mode,
    };
    s->cache = shared_cache_new(&options);
    *ret_redis = s;
    return true;
}

void gate_redis_tell(struct gate_redis *s, struct budget *b)
{
    s->budget = b;
}

void gate_redis_close(struct gate_redis *s)
{
    if (s) {
        shared_cache_free(s->cache);
        redis_secrets_done(&s->secrets);
        pthread_mutex_destroy(&s->lock);
        free(s);
    }
}

struct shared_cache *gate_redis_cache(struct gate_redis *s)
{
    return s->cache;
}

static void say(const struct gate_redis *s, enum redis_endpoint endpoint, bool up,
                enum redis_failure why)
{
    char address[ADDRESS_TEXT_BYTES];
    struct log_line l;
    redis_address_describe(&s->endpoints[endpoint].address, address, sizeof(address));
    log_begin(&l, up ? LOG_INFO : LOG_WARN, up ? "redis_up" : "redis_down");
    log_text_z(&l, "endpoint", ENDPOINT_NAMES[endpoint]);
    log_text_z(&l, "address", address);
    if (!up) {
        log_text_z(&l, "reason", redis_failure_name(why));
    }
    log_end(&l);
}

static void say_refused(const struct gate_redis *s, enum redis_endpoint endpoint)
{
    char address[ADDRESS_TEXT_BYTES];
    struct log_line l;
    redis_address_describe(&s->endpoints[endpoint].address, address, sizeof(address));
    log_begin(&l, LOG_WARN, "redis_refused");
    log_text_z(&l, "endpoint", ENDPOINT_NAMES[endpoint]);
    log_text_z(&l, "address", address);
    log_text_z(&l, "reason", "check user, password and its rights");
    log_end(&l);
}

/* Whether that is to be said. Under the lock. */
static bool note_reason(struct endpoint *e, struct redis_link *k, enum redis_failure why)
{
    bool was_refused = e->is_refused;
    k->why = why;
    e->is_refused = e->n_down && (was_refused || why == REDIS_FAILURE_REFUSED);
    return e->is_refused && !was_refused;
}

/* Whether the endpoint as a whole is another now. Under the lock. */
static bool count_link(struct endpoint *e, struct redis_link *k, bool down)
{
    if (k->is_down == down) {
        return false;
    }
    k->is_down = down;
    e->n_down += down ? 1 : (size_t)-1;
    return e->n_down == (down ? 1 : 0);
}

static void on_health(void *who, bool up, enum redis_failure why)
{
    struct redis_link *k = who;
    struct gate_redis *s = k->owner;
    pthread_mutex_lock(&s->lock);
    bool changed = count_link(&s->endpoints[k->endpoint], k, !up);
    k->is_up = up;
    bool is_refused = note_reason(&s->endpoints[k->endpoint], k, why);
    pthread_mutex_unlock(&s->lock);
    if (changed) {
        say(s, k->endpoint, up, why);
        if (up && k->endpoint == ENDPOINT_BUDGET && s->budget) {
            budget_redis_returned(s->budget);
        }
    }
    if (is_refused) {
        say_refused(s, k->endpoint);
    }
}

void redis_link_open(struct redis_link *k, struct gate_redis *s, enum redis_endpoint endpoint,
                     struct loop *l)
{
    struct endpoint *e = &s->endpoints[endpoint];
    *k = (struct redis_link){.owner = s, .endpoint = endpoint};
    struct redis_loop_options options = {.address = &e->address,
                                         .connect_ms = s->connect_ms,
                                         .command_ms = s->command_ms,
                                         .on_health = on_health,
                                         .who = k};
    if (getrandom(&options.seed, sizeof(options.seed), 0) != (ssize_t)sizeof(options.seed)) {
        options.seed = (uint64_t)(uintptr_t)k;
    }
    k->redis = redis_loop_new(l, &options);
    pthread_mutex_lock(&s->lock);
    k->next = e->links;
    e->links = k;
    pthread_mutex_unlock(&s->lock);
}

static void add_stats(struct redis_stats *sum, const struct redis_stats *more)
{
    sum->calls += more->calls;
    sum->writes += more->writes;
    sum->connects += more->connects;
    for (size_t i = 0; i < REDIS_FAILURE_COUNT; i++) {
        sum->failures[i] += more->failures[i];
    }
}

void redis_link_close(struct redis_link *k)
{
    struct gate_redis *s = k->owner;
    struct endpoint *e = &s->endpoints[k->endpoint];
    struct redis_stats stats;
    pthread_mutex_lock(&s->lock);
    struct redis_link **at = &e->links;
    while (*at != k) {
        at = &(*at)->next;
    }
    *at = k->next;
    redis_loop_stats(k->redis, &stats);
    add_stats(&e->closed, &stats);
    (void)count_link(e, k, false); /* a loop that ends is no transition */
    pthread_mutex_unlock(&s->lock);
    redis_loop_free(k->redis);
}

/* Under the lock. */
static bool is_up(const struct endpoint *e)
{
    for (const struct redis_link *k = e->links; k; k = k->next) {
        if (!k->is_up) {
            return false;
        }
    }
    return e->links != NULL;
}

static void read_stats(struct gate_redis *s, enum redis_endpoint endpoint,
                       struct redis_stats *ret_stats, bool *ret_up)
{
    const struct endpoint *e = &s->endpoints[endpoint];
    pthread_mutex_lock(&s->lock);
    *ret_stats = e->closed;
    for (const struct redis_link *k = e->links; k; k = k->next) {
        struct redis_stats stats;
        redis_loop_stats(k->redis, &stats);
        add_stats(ret_stats, &stats);
    }
    *ret_up = is_up(e);
    pthread_mutex_unlock(&s->lock);
}

struct readings {
    struct redis_stats stats[ENDPOINT_COUNT];
    bool up[ENDPOINT_COUNT];
};

static void add_samples(struct dynbuf *out, const char *name, const char *type,
                        const int64_t values[ENDPOINT_COUNT])
{
    metrics_add_type(out, name, type);
    for (size_t i = 0; i < ENDPOINT_COUNT; i++) {
        dynbuf_add_text(out, name);
        metrics_add_label(out, '{', "endpoint", slice_of(ENDPOINT_NAMES[i]));
        metrics_end_sample(out, values[i]);
    }
}

static void add_failures(struct dynbuf *out, const struct readings *now)
{
    const char *name = "kbgate_redis_failures_total";
    metrics_add_type(out, name, "counter");
    for (size_t i = 0; i < ENDPOINT_COUNT; i++) {
        for (size_t f = REDIS_FAILURE_NONE + 1; f < REDIS_FAILURE_COUNT; f++) {
            dynbuf_add_text(out, name);
            metrics_add_label(out, '{', "endpoint", slice_of(ENDPOINT_NAMES[i]));
            metrics_add_label(out, ',', "reason",
                              slice_of(redis_failure_name((enum redis_failure)f)));
            metrics_end_sample(out, (int64_t)now->stats[i].failures[f]);
        }
    }
}

static void add_shared_cache(struct gate_redis *s, struct dynbuf *out)
{
    struct shared_cache_stats c;
    shared_cache_stats(s->cache, &c);
    metrics_write_one(out, "kbgate_shared_cache_hits_total", "counter", (int64_t)c.hits);
    metrics_write_one(out, "kbgate_shared_cache_misses_total", "counter", (int64_t)c.misses);
    metrics_write_one(out, "kbgate_shared_cache_unavailable_total", "counter",
                      (int64_t)c.unavailable);
    metrics_write_one(out, "kbgate_shared_cache_rejected_total", "counter", (int64_t)c.rejected);
    metrics_write_one(out, "kbgate_shared_cache_waited_total", "counter", (int64_t)c.waited);
    metrics_write_one(out, "kbgate_shared_cache_too_large_total", "counter", (int64_t)c.too_large);
}

void gate_redis_write_metrics(struct gate_redis *s, struct dynbuf *out)
{
    struct readings now;
    int64_t up[ENDPOINT_COUNT], calls[ENDPOINT_COUNT], writes[ENDPOINT_COUNT],
        connects[ENDPOINT_COUNT];
    for (size_t i = 0; i < ENDPOINT_COUNT; i++) {
        read_stats(s, (enum redis_endpoint)i, &now.stats[i], &now.up[i]);
        up[i] = now.up[i];
        calls[i] = (int64_t)now.stats[i].calls;
        writes[i] = (int64_t)now.stats[i].writes;
        connects[i] = (int64_t)now.stats[i].connects;
    }
    add_samples(out, "kbgate_redis_up", "gauge", up);
    add_samples(out, "kbgate_redis_calls_total", "counter", calls);
    add_samples(out, "kbgate_redis_writes_total", "counter", writes);
    add_samples(out, "kbgate_redis_connects_total", "counter", connects);
    add_failures(out, &now);
    add_shared_cache(s, out);
}

/* Of the links that are down; what people must mend comes first. */
static enum redis_failure reason_of(struct gate_redis *s, enum redis_endpoint endpoint)
{
    enum redis_failure why = REDIS_FAILURE_NONE;
    pthread_mutex_lock(&s->lock);
    for (const struct redis_link *k = s->endpoints[endpoint].links; k; k = k->next) {
        if (k->is_down && why != REDIS_FAILURE_REFUSED) {
            why = k->why;
        }
    }
    pthread_mutex_unlock(&s->lock);
    return why;
}

static void describe_reason(struct dynbuf *out, enum redis_failure why)
{
    if (why != REDIS_FAILURE_NONE) {
        dynbuf_add_text(out, ": ");
        dynbuf_add_text(out, redis_failure_name(why));
    }
}

void gate_redis_describe(struct gate_redis *s, struct dynbuf *out)
{
    for (size_t i = 0; i < ENDPOINT_COUNT; i++) {
        char address[ADDRESS_TEXT_BYTES];
        struct redis_stats ignored;
        bool up;
        read_stats(s, (enum redis_endpoint)i, &ignored, &up);
        redis_address_describe(&s->endpoints[i].address, address, sizeof(address));
        dynbuf_add_text(out, up ? "ok redis " : "away redis ");
        dynbuf_add_text(out, ENDPOINT_NAMES[i]);
        dynbuf_add_byte(out, ' ');
        dynbuf_add_text(out, address);
        describe_reason(out, reason_of(s, (enum redis_endpoint)i));
        dynbuf_add_byte(out, '\n');
    }
}
