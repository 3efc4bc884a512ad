/* SPDX-License-Identifier: Apache-2.0 */
/* A real server on this machine, a clock that the tests move. */
#include "service/base/clock.h"
#include "service/base/log.h"
#include "service/pipeline/jwks_source.h"
#include "tests/unit/auth/mint.h"
#include "tests/unit/service/loop/stub_server.h"

#include <criterion/criterion.h>
#include <semaphore.h>
#include <stdlib.h>

enum { MINUTE_MS = 60 * 1000, DAY_MS = 86400 * 1000, SET_BYTES = 8192 };

static struct stub_server server;
static struct jwks_fetcher *fetcher;
static struct jwks_source *source;
static struct loop *loop;
static atomic_llong clock_ms;
static atomic_uint changes;
static char uri[64], set_a[SET_BYTES], set_b[SET_BYTES];

static int64_t now(void)
{
    return clock_ms;
}

static void on_changed(void *owner)
{
    cr_assert_eq(owner, &changes);
    changes++;
}

static void write_set(char *out, const char *kid)
{
    char more[64];
    struct dynbuf set;
    EVP_PKEY *key = mint_pkey(JWS_ES256);
    (void)snprintf(more, sizeof(more), "\"kid\":\"%s\",", kid);
    dynbuf_init(&set, SET_BYTES);
    dynbuf_add_text(&set, "{\"keys\":[");
    mint_jwk(&set, key, more);
    dynbuf_add_text(&set, "]}");
    (void)strcpy(out, dynbuf_text(&set));
    dynbuf_done(&set);
    EVP_PKEY_free(key);
}

static struct jwks_wanted wanted(int64_t max_stale_ms)
{
    return (struct jwks_wanted){.name = SLICE_LIT("corp"),
                                .uri = slice_of(uri),
                                .algs = 1U << JWS_ES256,
                                .max_stale_ms = max_stale_ms};
}

/* Keeps one source; its first fetch has ended when this returns. */
static void keep(int64_t max_stale_ms)
{
    const struct jwks_wanted w = wanted(max_stale_ms);
    jwks_source_unref(source);
    jwks_fetcher_keep(fetcher, &w, 1, &source);
    jwks_source_await(source, 30000);
}

static void open_all(void)
{
    log_set_level(LOG_ERROR);
    stub_open(&server);
    write_set(set_a, "a");
    write_set(set_b, "b");
    stub_says(&server, "200 OK", set_a);
    (void)snprintf(uri, sizeof(uri), "http://127.0.0.1:%u/jwks", server.port);
    clock_ms = 1000000;
    loop = loop_new();
    fetcher = jwks_fetcher_new(&(struct jwks_fetcher_options){
        .on_changed = on_changed, .owner = &changes, .now_mono_ms = now, .plain_http = true});
}

static void close_all(void)
{
    jwks_fetcher_free(fetcher);
    jwks_source_unref(source);
    loop_free(loop);
    stub_close(&server);
}

TestSuite(jwks_fetcher, .init = open_all, .fini = close_all, .timeout = 60);

/* A message that has run says that all sent to the fetcher's thread before has too. */
struct barrier {
    struct loop_message message;
    sem_t passed;
};

static void on_barrier(struct loop_message *m)
{
    sem_post(&((struct barrier *)m)->passed);
}

static bool is_fetching(void)
{
    pthread_mutex_lock(&source->lock);
    bool fetching = source->fetching || source->asked;
    pthread_mutex_unlock(&source->lock);
    return fetching;
}

/* The fetcher has seen the clock and done what was due. */
static void settle(void)
{
    struct barrier b = {.message.run = on_barrier};
    sem_init(&b.passed, 0, 0);
    jwks_fetcher_wake(fetcher);
    do {
        loop_post(source->loop, &b.message);
        sem_wait(&b.passed);
    } while (is_fetching());
    sem_destroy(&b.passed);
}

static void advance(int64_t ms)
{
    clock_ms += ms;
    settle();
}

static bool has_key(const char *kid)
{
    struct jwks *keys = jwks_source_keys(source);
    bool has = keys && jwks_find(keys, slice_of(kid), JWS_ES256);
    jwks_unref(keys);
    return has;
}

static struct jwks_source_stats stats(void)
{
    struct jwks_source_stats s;
    jwks_source_stats(source, &s);
    return s;
}

Test(jwks_fetcher, fetches_once_at_the_start)
{
    keep(DAY_MS);
    cr_expect(has_key("a"));
    cr_expect_eq(changes, 1);
    cr_expect_eq(server.n_requests, 1);
    cr_expect(stats().was_fetched);
    cr_expect_eq(stats().fetches, 1);
    cr_expect(strstr(server.last_request, "GET /jwks HTTP/1.1\r\n"));
    cr_expect(strstr(server.last_request, "Accept: application/json\r\n"));
}

Test(jwks_fetcher, fetches_again_after_ten_minutes_give_or_take_one)
{
    keep(DAY_MS);
    for (unsigned i = 1; i <= 3; i++) {
        advance(9 * MINUTE_MS - 1);
        cr_expect_eq(server.n_requests, i);
        advance(2 * MINUTE_MS + 1);
        cr_expect_eq(server.n_requests, i + 1);
    }
    cr_expect_eq(changes, 1, "the same bytes are the same set");
}

Test(jwks_fetcher, honours_max_age_within_bounds)
{
    static const struct {
        const char *head;
        int64_t least_ms, most_ms;
    } ROWS[] = {
        {"200 OK\r\nCache-Control: public, max-age=1200", 1080000, 1320000},
        {"200 OK\r\nCache-Control: max-age=1", 54000, 66000},
        {"200 OK\r\nCache-Control: max-age=999999999", DAY_MS / 10 * 9, DAY_MS / 10 * 11},
        {"200 OK\r\nCache-Control: no-store", 540000, 660000},
    };
    stub_says(&server, ROWS[0].head, set_a);
    keep(30LL * DAY_MS);
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        unsigned before = server.n_requests;
        stub_says(&server, ROWS[(i + 1) % 4].head, set_a);
        advance(ROWS[i].least_ms - 1);
        cr_expect_eq(server.n_requests, before, "%s", ROWS[i].head);
        advance(ROWS[i].most_ms - ROWS[i].least_ms + 1);
        cr_expect_eq(server.n_requests, before + 1, "%s", ROWS[i].head);
    }
}

Test(jwks_fetcher, a_short_max_stale_leaves_time_for_a_second_try)
{
    stub_says(&server, "200 OK\r\nCache-Control: max-age=86400", set_a);
    keep(MINUTE_MS);
    advance(MINUTE_MS / 2);
    cr_expect_eq(server.n_requests, 2);
    cr_expect(has_key("a"));
}

Test(jwks_fetcher, takes_up_a_new_set)
{
    keep(DAY_MS);
    stub_says(&server, "200 OK", set_b);
    advance(11 * MINUTE_MS);
    cr_expect(has_key("b"));
    cr_expect_not(has_key("a"), "gone from a good fetch");
    cr_expect_eq(changes, 2);
}

Test(jwks_fetcher, what_is_no_usable_set_changes_nothing)
{
    static char huge[JWKS_MAX_BYTES + 2];
    static const struct {
        const char *head, *body;
        unsigned reason;
    } ROWS[] = {
        {"500 Oops", "{}", JWKS_FAILURE_STATUS},
        {"302 Found\r\nLocation: /other", "", JWKS_FAILURE_STATUS},
        {"204 No Content", "", JWKS_FAILURE_STATUS},
        {"200 OK", "", JWKS_FAILURE_UNUSABLE},
        {"200 OK", "garbage", JWKS_FAILURE_UNUSABLE},
        {"200 OK", "{\"keys\":[]}", JWKS_FAILURE_UNUSABLE},
        {"200 OK", "{\"keys\":[{\"kty\":\"oct\",\"k\":\"AA\"}]}", JWKS_FAILURE_UNUSABLE},
        {"200 OK", huge, CURL_FAILURE_TOO_LARGE},
    };
    memset(huge, ' ', sizeof(huge) - 1);
    keep(30LL * DAY_MS);
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        uint64_t before = stats().failures[ROWS[i].reason];
        stub_says(&server, ROWS[i].head, ROWS[i].body);
        advance(11 * MINUTE_MS);
        cr_expect_eq(stats().failures[ROWS[i].reason], before + 1, "row %zu", i);
        cr_expect(has_key("a"));
    }
    cr_expect_eq(changes, 1);
}

Test(jwks_fetcher, an_hour_without_the_server_then_no_keys)
{
    keep(3600 * 1000);
    stub_says(&server, "500 Down", "");
    for (int i = 0; i < 3599; i++) {
        advance(1000);
        cr_assert(has_key("a"), "after %d s", i);
    }
    cr_expect_eq(stats().age_ms, 3599 * 1000);
    cr_expect_leq(server.n_requests, 1 + 2 + 120);
    cr_expect_geq(server.n_requests, 50);
    cr_expect_eq(changes, 1);
    advance(1000);
    cr_expect_null(jwks_source_keys(source), "too old");
    cr_expect_eq(changes, 2);
    cr_expect(stats().was_fetched);
    stub_says(&server, "200 OK", set_a);
    advance(MINUTE_MS);
    cr_expect(has_key("a"), "the same bytes come back");
    cr_expect_eq(changes, 3);
}

Test(jwks_fetcher, without_any_keys_it_tries_soon_and_then_within_the_limit)
{
    stub_says(&server, "503 Later", "");
    keep(DAY_MS);
    cr_expect_eq(changes, 0);
    cr_expect_not(stats().was_fetched);
    advance(1000);
    advance(1000);
    cr_expect_eq(server.n_requests, 3);
    for (int i = 0; i < 58; i++) {
        advance(1000);
    }
    cr_expect_leq(server.n_requests, 5);
    stub_says(&server, "200 OK", set_a);
    advance(30000);
    cr_expect(has_key("a"));
}

/* A request that waits. */
struct waiter {
    struct op op; /* first */
    unsigned done, changes_seen;
};

static unsigned waiting;

static void on_done(struct op *op)
{
    struct waiter *w = (struct waiter *)op;
    w->done++;
    w->changes_seen = changes;
    if (--waiting == 0) {
        loop_stop(loop);
    }
}

static bool refresh(struct waiter *w, const char *kid)
{
    *w = (struct waiter){.op.on_done = on_done};
    bool waits = jwks_source_refresh(source, loop, slice_of(kid), &w->op);
    waiting += waits;
    return waits;
}

Test(jwks_fetcher, an_unknown_kid_brings_the_new_set)
{
    struct waiter w;
    keep(DAY_MS);
    stub_says(&server, "200 OK", set_b);
    cr_assert(refresh(&w, "b"));
    loop_run(loop);
    cr_expect_eq(w.done, 1);
    cr_expect_eq(w.op.result, ERR_OK);
    cr_expect_eq(w.changes_seen, 2, "the owner knew first");
    cr_expect(has_key("b"));
    cr_expect_eq(server.n_requests, 2);
}

Test(jwks_fetcher, a_kid_that_did_not_come_is_not_fetched_again_for_a_while)
{
    struct waiter w;
    keep(DAY_MS);
    cr_assert(refresh(&w, "nobody"));
    loop_run(loop);
    cr_expect_not(refresh(&w, "nobody"));
    clock_ms += 29999;
    cr_expect_not(refresh(&w, "nobody"));
    clock_ms += 1;
    cr_expect(refresh(&w, "nobody"));
    loop_run(loop);
    cr_expect_eq(server.n_requests, 3);
}

Test(jwks_fetcher, a_kid_that_could_not_be_looked_for_is_not_remembered)
{
    struct waiter w;
    keep(DAY_MS);
    stub_says(&server, "500 Oops", "");
    cr_assert(refresh(&w, "b"));
    loop_run(loop);
    stub_says(&server, "200 OK", set_b);
    cr_assert(refresh(&w, "b"), "the limit has one more");
    loop_run(loop);
    cr_expect(has_key("b"));
}

Test(jwks_fetcher, a_flood_of_unknown_kids_makes_two_fetches)
{
    struct waiter w;
    keep(DAY_MS);
    for (int i = 0; i < 10000; i++) {
        char kid[16];
        (void)snprintf(kid, sizeof(kid), "k%d", i);
        if (refresh(&w, kid)) {
            loop_run(loop);
        }
        clock_ms += 1;
    }
    settle();
    cr_expect_eq(server.n_requests, 1 + 2);
    cr_expect_eq(stats().fetches, 1 + 2);
    cr_expect(has_key("a"));
    clock_ms += 30000;
    stub_says(&server, "200 OK", set_b);
    cr_expect(refresh(&w, "b"), "a rotation is seen within thirty seconds");
    loop_run(loop);
    cr_expect(has_key("b"));
}

Test(jwks_fetcher, those_who_wait_share_one_fetch_up_to_a_number)
{
    static struct waiter waiters[JWKS_MAX_WAITERS + 1];
    keep(DAY_MS);
    stub_set(&server, &server.silent, true);
    for (int i = 0; i < JWKS_MAX_WAITERS; i++) {
        char kid[16];
        (void)snprintf(kid, sizeof(kid), "k%d", i);
        cr_assert(refresh(&waiters[i], kid));
    }
    cr_expect_not(refresh(&waiters[JWKS_MAX_WAITERS], "one more"));
    stub_wait(&server, &server.n_requests, 2);
    op_cancel(&waiters[0].op);
    waiting--;
    cr_expect(refresh(&waiters[JWKS_MAX_WAITERS], "one more"), "in the place of who left");
    loop_run(loop); /* until the fetch times out */
    cr_expect_eq(waiters[0].done, 0);
    for (int i = 1; i <= JWKS_MAX_WAITERS; i++) {
        cr_expect_eq(waiters[i].done, 1);
    }
    cr_expect_eq(server.n_requests, 2);
    cr_expect_eq(stats().failures[CURL_FAILURE_TIMEOUT], 1);
}

Test(jwks_fetcher, who_left_when_the_answer_was_on_its_way_hears_nothing)
{
    struct waiter w;
    keep(DAY_MS);
    cr_assert(refresh(&w, "b"));
    settle(); /* the answer is a message of our loop now */
    op_cancel(&w.op);
    loop_stop(loop);
    loop_run(loop);
    cr_expect_eq(w.done, 0);
}

Test(jwks_fetcher, keeps_the_set_of_an_issuer_that_stays)
{
    struct jwks_source *before;
    struct jwks_wanted w = wanted(MINUTE_MS);
    keep(DAY_MS);
    before = jwks_source_ref(source);
    keep(MINUTE_MS);
    cr_expect_eq(source, before);
    cr_expect_eq(server.n_requests, 1);
    w.ca_pem = SLICE_LIT("another CA");
    jwks_source_unref(source);
    jwks_fetcher_keep(fetcher, &w, 1, &source);
    jwks_source_await(source, 30000);
    cr_expect_neq(source, before);
    cr_expect_eq(server.n_requests, 2);
    cr_expect_not(jwks_source_refresh(before, loop, SLICE_LIT("x"), &(struct op){0}),
                  "fetched no more");
    jwks_source_unref(before);
}

Test(jwks_fetcher, who_waits_for_a_source_that_goes_is_told)
{
    struct waiter w;
    keep(DAY_MS);
    stub_set(&server, &server.silent, true);
    cr_assert(refresh(&w, "b"));
    stub_wait(&server, &server.n_requests, 2);
    jwks_fetcher_keep(fetcher, NULL, 0, NULL);
    loop_run(loop);
    cr_expect_eq(w.done, 1);
}

Test(jwks_fetcher, a_person_may_have_all_sets_fetched_at_once)
{
    keep(DAY_MS);
    for (unsigned i = 2; i < 8; i++) {
        jwks_fetcher_refetch(fetcher);
        settle();
        cr_expect_eq(server.n_requests, i);
    }
}

Test(jwks_fetcher, ends_in_the_middle_of_a_fetch)
{
    const struct jwks_wanted w = wanted(DAY_MS);
    stub_set(&server, &server.silent, true);
    jwks_fetcher_keep(fetcher, &w, 1, &source);
    stub_wait(&server, &server.n_requests, 1);
    jwks_source_await(source, 10); /* in vain */
    cr_expect_not(stats().was_fetched);
}
