/* SPDX-License-Identifier: Apache-2.0 */
/* Replicas that share answers through a real redis-server: who finds, who leads, who waits, and
 * what lies in Redis afterwards. */
#include "tests/unit/cache/shared_world.h"

#include "service/base/mem.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(shared_cache, .timeout = 60);

static bool exists(struct world *w, const char *name)
{
    return strcmp(SAY(w, L("EXISTS"), slice_of(name)), "1") == 0;
}

/* Neither for ever nor for longer than it should. */
static bool has_ttl(struct world *w, const char *name, long max_ms)
{
    long left = atol(SAY(w, L("PTTL"), slice_of(name)));
    return left > 0 && left <= max_ms;
}

static bool leads(const struct finding *f)
{
    return f->is_done && !f->value && f->claim.held && !f->claim.overwrite &&
           strlen(f->claim.token) == SHARED_TOKEN_CHARS;
}

static bool hits(const struct finding *f, const char *body)
{
    return f->is_done && f->value && slice_is(f->value->body, body) &&
           slice_is(f->value->note, "note") && !f->claim.held && !f->claim.overwrite;
}

Test(shared_cache, what_one_replica_keeps_the_other_finds)
{
    struct world w;
    struct finding f;
    struct keeping k;
    world_init(&w, NULL);
    find(&w, 0, &f);
    cr_assert(leads(&f));
    cr_assert(has_ttl(&w, w.lock_name, LOCK_MS));
    cr_assert_str_eq(SAY(&w, L("GET"), slice_of(w.lock_name)), f.claim.token);
    keep(&w, 0, &f.claim, L("body"), &k);
    cr_assert_eq(k.kept, k.ours);
    world_settle(&w, 0);
    cr_assert_not(exists(&w, w.lock_name));
    cr_assert(has_ttl(&w, w.value_name, TTL_MS));
    cr_assert_str_eq(SAY(&w, L("DBSIZE")), "1");
    find_free(&f);
    for (int i = 0; i < N_REPLICAS; i++) {
        find(&w, i, &f);
        cr_assert(hits(&f, "body"));
        cr_assert(digest_eq(&f.value->key.value, &w.key.value));
        find_free(&f);
    }
    cr_assert_not(exists(&w, w.lock_name), "a hit takes no lock");
    struct shared_cache_stats one = world_stats(&w, 0), two = world_stats(&w, 1);
    cr_assert(one.hits == 1 && one.misses == 1 && two.hits == 1 && two.misses == 0);
    cr_assert(!one.unavailable && !one.rejected && !one.waited && !one.too_large);
    keep_free(&k);
    world_done(&w);
}

Test(shared_cache, an_empty_outcome_and_no_note_come_back_so)
{
    struct world w;
    struct finding f;
    struct keeping k;
    world_init(&w, NULL);
    find(&w, 0, &f);
    keep_begin(&w, 0, &f.claim, cache_value_new(&w.key, L("{}"), SLICE_NONE, true), &k);
    world_run_until(&w, &k.is_done);
    find(&w, 1, &f);
    cr_assert(f.value && f.value->is_empty_outcome && slice_is(f.value->body, "{}"));
    cr_assert_eq(f.value->note.n, 0);
    find_free(&f);
    keep_free(&k);
    world_done(&w);
}

/* "a" and "a\0" and "a\0b" are three. */
Test(shared_cache, tenants_share_nothing_and_are_not_named)
{
    const struct slice tenants[] = {L("acme"), L("a"), L("a\0"), L("a\0b"), L("")};
    enum { N = sizeof(tenants) / sizeof(tenants[0]) };
    struct world w;
    struct finding f[N];
    world_init(&w, NULL);
    for (int i = 0; i < N; i++) {
        find_begin_for(&w, 0, tenants[i], &f[i]);
        world_run_until(&w, &f[i].is_done);
        cr_assert(leads(&f[i]), "tenant %d has its own lock", i);
    }
    cr_assert_str_eq(SAY(&w, L("DBSIZE")), "5");
    cr_assert_str_eq(SAY(&w, L("KEYS"), L("*acme*")), "(0 items)");
    cr_assert_str_eq(SAY(&w, L("KEYS"), L("t:l:{????????????????}:*")), "(5 items)");
    for (int i = 0; i < N; i++) {
        shared_cache_give_up(w.replicas[0].cache, &f[i].place, &f[i].claim);
    }
    world_settle(&w, 0);
    cr_assert_str_eq(SAY(&w, L("DBSIZE")), "0");
    world_done(&w);
}

Test(shared_cache, the_second_waits_for_the_first_and_gets_its_answer)
{
    struct world w;
    struct finding first, second;
    struct keeping k;
    world_init(&w, NULL);
    find(&w, 0, &first);
    find_begin(&w, 1, &second);
    while (world_stats(&w, 1).waited == 0) {
        world_settle(&w, 1);
    }
    cr_assert_not(second.is_done);
    keep(&w, 0, &first.claim, L("body"), &k);
    world_run_until(&w, &second.is_done);
    cr_assert(hits(&second, "body"));
    cr_assert_lt(second.took_ms, LOCK_MS / 2, "it did not wait for the lock's end");
    struct shared_cache_stats stats = world_stats(&w, 1);
    cr_assert(stats.waited == 1 && stats.hits == 1 && stats.misses == 0);
    find_free(&second);
    keep_free(&k);
    world_done(&w);
}

Test(shared_cache, the_second_leads_when_the_first_gives_up)
{
    struct world w;
    struct finding first, second;
    world_init(&w, NULL);
    find(&w, 0, &first);
    find_begin(&w, 1, &second);
    while (world_stats(&w, 1).waited == 0) {
        world_settle(&w, 1);
    }
    struct shared_place place = world_place(&w, 0);
    shared_cache_give_up(w.replicas[0].cache, &place, &first.claim);
    cr_assert(!first.claim.held && !first.claim.token[0]);
    world_run_until(&w, &second.is_done);
    cr_assert(leads(&second) && second.took_ms < LOCK_MS / 2);
    shared_cache_give_up(w.replicas[0].cache, &place, &first.claim); /* holds nothing any more */
    world_settle(&w, 0);
    cr_assert_str_eq(SAY(&w, L("GET"), slice_of(w.lock_name)), second.claim.token);
    world_done(&w);
}

Test(shared_cache, a_lock_that_is_another_s_by_now_is_not_released)
{
    struct world w;
    struct finding f;
    struct keeping k;
    world_init(&w, NULL);
    find(&w, 0, &f);
    SAY(&w, L("SET"), slice_of(w.lock_name), L("another's"), L("PX"), L("500"));
    keep(&w, 0, &f.claim, L("body"), &k);
    world_settle(&w, 0);
    cr_assert_str_eq(SAY(&w, L("GET"), slice_of(w.lock_name)), "another's");
    keep_free(&k);
    world_done(&w);
}

Test(shared_cache, a_dead_holder_costs_at_most_the_lock_s_life)
{
    struct world w;
    struct finding dead, next;
    world_init(&w, &(struct world_options){.lock_ms = 300});
    find(&w, 0, &dead);
    cr_assert(leads(&dead));
    find(&w, 1, &next);
    cr_assert(leads(&next), "the lock ended and is the waiter's");
    cr_assert_geq(next.took_ms, 200);
    cr_assert_lt(next.took_ms, 300 + 5000); /* a busy machine */
    world_done(&w);
}

struct renewal {
    struct timer timer;
    struct world *w;
};

/* One lock after the other, as if each replica that gets it died. */
static void on_renew(struct timer *t)
{
    struct world *w = ((struct renewal *)t)->w;
    const struct slice args[] = {L("SET"), slice_of(w->lock_name), L("x"), L("PX"), L("300")};
    redis_loop_send(w->admin, args, 5);
    timer_start(w->loop, t, 20);
}

Test(shared_cache, nobody_waits_longer_than_a_lock_s_life, .timeout = 20)
{
    struct world w;
    struct finding f;
    world_init(&w, &(struct world_options){.lock_ms = 300});
    struct renewal renewal = {{.on_expired = on_renew}, &w};
    on_renew(&renewal.timer);
    SAY(&w, L("PING"));
    find(&w, 1, &f);
    timer_stop(&renewal.timer);
    cr_assert(!f.value && !f.claim.held && !f.claim.overwrite);
    cr_assert_geq(f.took_ms, 300);
    cr_assert_lt(f.took_ms, 300 + 5000);
    struct shared_cache_stats stats = world_stats(&w, 1);
    cr_assert(stats.waited == 1 && stats.misses == 1 && stats.unavailable == 0);
    world_done(&w);
}

/* Two that worked it out at once: the test gives them different bodies to see whose it is. */
Test(shared_cache, the_first_writer_wins)
{
    struct world w;
    struct finding f;
    struct keeping one, two;
    const struct shared_claim none = {0};
    world_init(&w, NULL);
    keep_begin(&w, 0, &none, world_value(&w, L("first")), &one);
    world_run_until(&w, &one.is_done);
    keep(&w, 1, &none, L("second"), &two);
    cr_assert_eq(one.kept, one.ours);
    cr_assert_neq(two.kept, two.ours);
    cr_assert(slice_is(two.kept->body, "first"));
    find(&w, 1, &f);
    cr_assert(hits(&f, "first"));
    find_free(&f);
    keep_free(&one);
    keep_free(&two);
    world_done(&w);
}

Test(shared_cache, both_sides_of_a_race_leave_with_the_same_answer)
{
    struct world w;
    struct keeping one, two;
    const struct shared_claim none = {0};
    world_init(&w, NULL);
    keep_begin(&w, 0, &none, world_value(&w, L("first")), &one);
    keep_begin(&w, 1, &none, world_value(&w, L("second")), &two);
    world_run_until(&w, &one.is_done);
    world_run_until(&w, &two.is_done);
    cr_assert(slice_eq(one.kept->body, two.kept->body));
    keep_free(&one);
    keep_free(&two);
    world_done(&w);
}

Test(shared_cache, the_largest_answer_is_stored_and_a_larger_one_is_not)
{
    enum { ROOM = SHARED_VALUE_MAX_BYTES - SHARED_VALUE_SPARE_BYTES - 4 /* "note" */ };
    char *body = mem_alloc(ROOM + 1);
    for (int extra = -1; extra <= 1; extra++) {
        struct world w;
        struct finding f, again;
        struct keeping k;
        world_init(&w, NULL);
        find(&w, 0, &f);
        keep(&w, 0, &f.claim, (struct slice){body, (size_t)(ROOM + extra)}, &k);
        cr_assert_eq(k.kept, k.ours);
        world_settle(&w, 0);
        cr_assert_not(exists(&w, w.lock_name));
        cr_assert_eq(exists(&w, w.value_name), extra <= 0);
        cr_assert_eq(world_stats(&w, 0).too_large, extra > 0);
        find(&w, 1, &again);
        cr_assert_eq(again.value != NULL, extra <= 0);
        cr_assert(!again.value || slice_eq(again.value->body, k.ours->body));
        find_free(&again);
        keep_free(&k);
        world_done(&w);
    }
    free(body);
}

static struct redis_stats redis_stats_of(const struct world *w, int replica)
{
    struct redis_stats stats;
    redis_loop_stats(w->replicas[replica].redis, &stats);
    return stats;
}

Test(shared_cache, a_hit_is_one_round_trip_and_a_miss_two)
{
    struct world w;
    struct finding f;
    struct keeping k;
    world_init(&w, NULL);
    struct redis_stats before = redis_stats_of(&w, 0);
    find(&w, 0, &f);
    struct redis_stats found = redis_stats_of(&w, 0);
    keep(&w, 0, &f.claim, L("body"), &k);
    struct redis_stats kept = redis_stats_of(&w, 0);
    cr_assert(found.writes == before.writes + 1 && found.calls == before.calls + 1);
    cr_assert(kept.writes == found.writes + 1 && kept.calls == found.calls + 2);
    world_settle(&w, 0);
    before = redis_stats_of(&w, 0);
    find(&w, 0, &f);
    found = redis_stats_of(&w, 0);
    cr_assert_not_null(f.value);
    cr_assert(found.writes == before.writes + 1 && found.calls == before.calls + 1);
    find_free(&f);
    keep_free(&k);
    world_done(&w);
}

/* A server that was started anew knows no script. */
Test(shared_cache, scripts_that_the_server_forgot_are_sent_again)
{
    struct world w;
    struct finding f;
    struct keeping k;
    world_init(&w, NULL);
    SAY(&w, L("SCRIPT"), L("FLUSH"));
    find(&w, 0, &f);
    cr_assert(leads(&f));
    SAY(&w, L("SCRIPT"), L("FLUSH"));
    keep(&w, 0, &f.claim, L("body"), &k);
    for (int i = 0; i < 2; i++) { /* EVALSHA, and behind its answer EVAL */
        world_settle(&w, 0);
    }
    cr_assert_not(exists(&w, w.lock_name));
    find(&w, 1, &f);
    cr_assert(hits(&f, "body"));
    find_free(&f);
    keep_free(&k);
    world_done(&w);
}
