/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever happens to a source makes the fetcher's thread attend to it: look at the clock, drop a
 * set that is too old, start a fetch that is due, set the timer for what comes next. The clock is
 * asked each time, so moving it is all a test has to do. */
#include "service/pipeline/jwks_fetcher.h"

#include "service/base/clock.h"
#include "service/base/log.h"
#include "service/base/mem.h"
#include "service/base/thread.h"
#include "service/pipeline/cache_control.h"
#include "service/pipeline/jwks_source.h"

#include <stdlib.h>
#include <sys/random.h>

struct jwks_fetcher {
    struct jwks_fetcher_options options;
    struct loop *loop; /* NULL: no source so far */
    pthread_t thread;
    struct jwks_source *sources; /* the main thread's */
    uint64_t random;             /* the fetcher's thread's */
};

/* How a fetch ended. */
struct ending {
    struct jwks *keys; /* NULL: it failed */
    unsigned failure;
    struct err_detail detail;
    struct digest bytes_digest;
    int64_t max_age_s;
};

const char *jwks_failure_name(unsigned failure)
{
    return failure == JWKS_FAILURE_STATUS     ? "status"
           : failure == JWKS_FAILURE_UNUSABLE ? "unusable"
                                              : curl_failure_name((enum curl_failure)failure);
}

/* ms +- 10 %: replicas that started together do not ask together for ever. */
static int64_t jittered(struct jwks_fetcher *f, int64_t ms)
{
    f->random ^= f->random << 13; /* xorshift64 */
    f->random ^= f->random >> 7;
    f->random ^= f->random << 17;
    return ms - ms / 10 + (int64_t)(f->random % (uint64_t)(ms / 5 + 1));
}

static int64_t refresh_after_ms(struct jwks_source *s, int64_t max_age_s)
{
    int64_t ms = max_age_s < 0 ? JWKS_REFRESH_MS : max_age_s * 1000;
    ms = ms < JWKS_REFRESH_MIN_MS ? JWKS_REFRESH_MIN_MS : ms;
    ms = ms > JWKS_REFRESH_MAX_MS ? JWKS_REFRESH_MAX_MS : ms;
    ms = jittered(s->fetcher, ms);
    return ms < s->max_stale_ms / 2 ? ms : s->max_stale_ms / 2; /* time for a second try */
}

static int64_t retry_after_ms(struct jwks_source *s)
{
    return s->keys ? jittered(s->fetcher, JWKS_RETRY_MS) : JWKS_RETRY_COLD_MS;
}

static void log_source(enum log_level level, const char *event, const struct jwks_source *s,
                       const struct ending *e)
{
    struct log_line l;
    log_begin(&l, level, event);
    log_text_z(&l, "issuer", s->name);
    log_text_z(&l, "uri", s->uri);
    if (e && e->keys) {
        log_int(&l, "keys", (int64_t)jwks_count(e->keys));
        log_int(&l, "dropped", (int64_t)jwks_dropped(e->keys));
    } else if (e) {
        log_text_z(&l, "reason", jwks_failure_name(e->failure));
        log_text_z(&l, "detail", e->detail.text);
    }
    log_end(&l);
}

static void tell_owner(struct jwks_source *s)
{
    s->fetcher->options.on_changed(s->fetcher->options.owner);
}

static void read_set(const struct jwks_source *s, const struct curl_response *r, struct ending *e)
{
    e->keys = jwks_parse(dynbuf_get(&r->body), s->algs, &e->detail);
    e->failure = e->keys ? CURL_FAILURE_NONE : JWKS_FAILURE_UNUSABLE;
    e->max_age_s = cache_control_max_age_s(curl_response_field(r, "Cache-Control"));
    digest_of(dynbuf_get(&r->body), &e->bytes_digest);
}

static struct ending ending_of(const struct jwks_source *s)
{
    const struct curl_response *r = s->response;
    struct ending e = {.failure = r->failure};
    if (r->failure != CURL_FAILURE_NONE) {
        err_detail_set(&e.detail, "%s", r->detail);
    } else if (r->status != 200) {
        e.failure = JWKS_FAILURE_STATUS;
        err_detail_set(&e.detail, "the server answered with status %d", r->status);
    } else {
        read_set(s, r, &e);
    }
    return e;
}

/* Puts the set in force; false where it is the same as before. Locked. */
static bool take_up(struct jwks_source *s, struct ending *e)
{
    bool same = s->keys && digest_eq(&s->bytes_digest, &e->bytes_digest);
    s->fetched_ms = s->now_mono_ms();
    s->next_ms = s->fetched_ms + refresh_after_ms(s, e->max_age_s);
    s->stats.was_fetched = true;
    if (!same) {
        jwks_unref(s->keys);
        s->keys = jwks_ref(e->keys);
        s->bytes_digest = e->bytes_digest;
    }
    return !same;
}

/* Locked. */
static bool record(struct jwks_source *s, struct ending *e)
{
    s->last_failed = !e->keys;
    if (e->keys) {
        return take_up(s, e);
    }
    s->stats.failures[e->failure]++;
    s->next_ms = s->now_mono_ms() + retry_after_ms(s);
    return false;
}

static void end_fetch(struct jwks_source *s, bool is_fresh)
{
    pthread_mutex_lock(&s->lock);
    s->fetching = false;
    s->n_ended++;
    jwks_source_tell_waiters(s, is_fresh);
    pthread_cond_broadcast(&s->ended);
    pthread_mutex_unlock(&s->lock);
}

static void attend(struct jwks_source *s);

static void on_fetched(struct op *op)
{
    struct jwks_source *s =
        (struct jwks_source *)(void *)((char *)op - offsetof(struct jwks_source, fetch_op));
    struct ending e = ending_of(s);
    pthread_mutex_lock(&s->lock);
    bool changed = record(s, &e);
    pthread_mutex_unlock(&s->lock);
    if (changed || !e.keys) {
        log_source(e.keys ? LOG_INFO : LOG_WARN, e.keys ? "jwks_fetched" : "jwks_fetch_failed", s,
                   &e);
    }
    if (changed) {
        tell_owner(s); /* before the waiters: they judge by what is in force then */
    }
    end_fetch(s, e.keys != NULL);
    jwks_unref(e.keys);
    curl_response_free(s->response);
    s->response = NULL;
    attend(s);
}

static void begin_fetch(struct jwks_source *s)
{
    static const struct curl_field FIELDS[] = {
        {SLICE_LIT("Accept"), SLICE_LIT("application/json")},
        {SLICE_LIT("User-Agent"), SLICE_LIT("kbgate/" KB_VERSION)}};
    const struct curl_request request = {.url = s->uri,
                                         .fields = FIELDS,
                                         .n_fields = sizeof(FIELDS) / sizeof(FIELDS[0]),
                                         .max_body_bytes = JWKS_MAX_BYTES,
                                         .deadline_ms = JWKS_FETCH_MS};
    if (!s->client) {
        s->client = curl_loop_new(
            s->loop, &(struct curl_loop_options){.ca_pem = dynbuf_get(&s->ca_pem),
                                                 .plain_http = s->fetcher->options.plain_http});
    }
    s->fetch_op.on_done = on_fetched;
    curl_loop_start(s->client, &request, &s->response, &s->fetch_op);
}

/* Locked. */
static bool drop_too_old(struct jwks_source *s, int64_t now)
{
    if (!s->keys || now - s->fetched_ms < s->max_stale_ms) {
        return false;
    }
    jwks_unref(s->keys);
    s->keys = NULL;
    return true;
}

/* A repetition draws on the limit that tokens draw on: a server in trouble is asked no more often
 * for their sake. Locked. */
static bool is_due(struct jwks_source *s, int64_t now)
{
    if (s->fetching || (!s->asked && now < s->next_ms)) {
        return false;
    }
    if (!s->asked && s->last_failed && !refresh_limit_take(&s->limit, now)) {
        s->next_ms = now + refresh_limit_wait_ms(&s->limit, now);
        return false;
    }
    s->asked = false;
    s->fetching = true;
    s->stats.fetches++;
    return true;
}

/* Locked. */
static void set_timer(struct jwks_source *s, int64_t now)
{
    int64_t due = s->fetching ? INT64_MAX : s->next_ms;
    if (s->keys && s->fetched_ms + s->max_stale_ms < due) {
        due = s->fetched_ms + s->max_stale_ms;
    }
    if (due == INT64_MAX) {
        timer_stop(&s->timer);
    } else {
        timer_start(s->loop, &s->timer, due - now);
    }
}

static void attend(struct jwks_source *s)
{
    pthread_mutex_lock(&s->lock);
    int64_t now = s->now_mono_ms();
    bool dropped = drop_too_old(s, now), due = is_due(s, now);
    set_timer(s, now);
    pthread_mutex_unlock(&s->lock);
    if (dropped) {
        log_source(LOG_ERROR, "jwks_too_old", s, NULL);
        tell_owner(s);
    }
    if (due) {
        begin_fetch(s);
    }
}

static void on_timer(struct timer *t)
{
    attend((struct jwks_source *)(void *)((char *)t - offsetof(struct jwks_source, timer)));
}

static void shut(struct jwks_source *s)
{
    timer_stop(&s->timer);
    op_cancel(&s->fetch_op);
    curl_loop_free(s->client);
    s->client = NULL;
    end_fetch(s, false);
    jwks_source_unref(s); /* the fetcher's */
}

static void on_poked(struct loop_message *m)
{
    struct jwks_source *s =
        (struct jwks_source *)(void *)((char *)m - offsetof(struct jwks_source, poke));
    pthread_mutex_lock(&s->lock);
    s->poked = false;
    bool closed = s->closed;
    pthread_mutex_unlock(&s->lock);
    if (closed) {
        shut(s);
    } else {
        attend(s);
    }
    jwks_source_unref(s); /* the message's */
}

static void *run(void *arg)
{
    loop_run(arg);
    return NULL;
}

static void start_thread(struct jwks_fetcher *f)
{
    if (!f->loop) {
        f->loop = loop_new();
        thread_start(&f->thread, run, f->loop);
    }
}

static struct jwks_source *find(const struct jwks_fetcher *f, const struct jwks_wanted *w)
{
    struct slice ca_pem = w->ca_pem.p ? w->ca_pem : SLICE_LIT("");
    for (struct jwks_source *s = f->sources; s; s = s->next) {
        if (slice_is(w->name, s->name) && slice_is(w->uri, s->uri) && w->algs == s->algs &&
            slice_eq(ca_pem, dynbuf_get(&s->ca_pem))) {
            return s;
        }
    }
    return NULL;
}

static struct jwks_source *add(struct jwks_fetcher *f, const struct jwks_wanted *w)
{
    struct jwks_source *s = jwks_source_new(w);
    start_thread(f);
    s->fetcher = f;
    s->loop = f->loop;
    s->now_mono_ms = f->options.now_mono_ms;
    s->timer.on_expired = on_timer;
    s->poke.run = on_poked;
    s->next_ms = s->now_mono_ms();
    refresh_limit_init(&s->limit, s->next_ms);
    s->next = f->sources;
    f->sources = s;
    return s;
}

static void close_source(struct jwks_source *s)
{
    pthread_mutex_lock(&s->lock);
    s->closed = true;
    jwks_source_poke(s);
    pthread_mutex_unlock(&s->lock);
}

static void close_unkept(struct jwks_fetcher *f)
{
    for (struct jwks_source **at = &f->sources, *s; (s = *at);) {
        if (s->kept) {
            s->kept = false;
            at = &s->next;
        } else {
            *at = s->next;
            close_source(s);
        }
    }
}

void jwks_fetcher_keep(struct jwks_fetcher *f, const struct jwks_wanted *wanted, size_t n,
                       struct jwks_source **ret_sources)
{
    for (size_t i = 0; i < n; i++) {
        struct jwks_source *s = find(f, &wanted[i]);
        s = s ? s : add(f, &wanted[i]);
        s->kept = true;
        pthread_mutex_lock(&s->lock);
        s->max_stale_ms = wanted[i].max_stale_ms;
        jwks_source_poke(s);
        pthread_mutex_unlock(&s->lock);
        ret_sources[i] = jwks_source_ref(s);
    }
    close_unkept(f);
}

static void poke_all(struct jwks_fetcher *f, bool ask)
{
    for (struct jwks_source *s = f->sources; s; s = s->next) {
        pthread_mutex_lock(&s->lock);
        s->asked = s->asked || ask; /* a fetch under way began before: once more after it */
        jwks_source_poke(s);
        pthread_mutex_unlock(&s->lock);
    }
}

void jwks_fetcher_refetch(struct jwks_fetcher *f)
{
    poke_all(f, true);
}

void jwks_fetcher_wake(struct jwks_fetcher *f)
{
    poke_all(f, false);
}

struct jwks_fetcher *jwks_fetcher_new(const struct jwks_fetcher_options *options)
{
    struct jwks_fetcher *f = mem_alloc(sizeof(*f));
    f->options = *options;
    if (!f->options.now_mono_ms) {
        f->options.now_mono_ms = clock_mono_ms;
    }
    if (getrandom(&f->random, sizeof(f->random), 0) != (ssize_t)sizeof(f->random) || !f->random) {
        f->random = (uint64_t)clock_mono_us() | 1;
    }
    return f;
}

void jwks_fetcher_free(struct jwks_fetcher *f)
{
    if (!f) {
        return;
    }
    close_unkept(f);
    if (f->loop) {
        loop_stop(f->loop); /* after the pokes, which it runs first */
        pthread_join(f->thread, NULL);
        loop_free(f->loop);
    }
    free(f);
}
