/* SPDX-License-Identifier: Apache-2.0 */
/* Redis is away, silent, full or says no, and callers leave at any time: a find and a keep end all
 * the same, with ERR_OK, and no lock stays behind that a release could still reach. */
#include "tests/unit/cache/shared_world.h"

#include "service/base/mem.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(shared_faults, .timeout = 60);

static const struct shared_claim NO_CLAIM = {0};

static bool holds_nothing(const struct finding *f)
{
    return f->is_done && !f->value && !f->claim.held && !f->claim.overwrite;
}

static void must_be_unavailable(struct world *w)
{
    struct finding f;
    struct keeping k;
    uint64_t before = world_stats(w, 0).unavailable;
    find(w, 0, &f);
    cr_assert(holds_nothing(&f));
    keep(w, 0, &f.claim, L("body"), &k);
    cr_assert_eq(k.kept, k.ours);
    struct shared_cache_stats stats = world_stats(w, 0);
    cr_assert_eq(stats.unavailable, before + 2);
    cr_assert(stats.misses == 0 && stats.waited == 0 && stats.rejected == 0);
    keep_free(&k);
}

static bool exists(struct world *w, const char *name)
{
    return strcmp(SAY(w, L("EXISTS"), slice_of(name)), "1") == 0;
}

Test(shared_faults, without_redis_everything_ends_at_once)
{
    struct world w;
    world_init(&w, NULL);
    redis_server_signal(&w.server, SIGKILL);
    while (redis_loop_is_up(w.replicas[0].redis)) {
        struct finding f;
        find(&w, 0, &f);
    }
    struct finding f;
    find_begin(&w, 0, &f);
    cr_assert(holds_nothing(&f), "before the call returned");
    struct keeping k;
    keep_begin(&w, 0, &NO_CLAIM, world_value(&w, L("body")), &k);
    cr_assert(k.is_done && k.kept == k.ours);
    keep_free(&k);
    must_be_unavailable(&w);
    world_done(&w);
}

Test(shared_faults, a_server_that_says_no_is_as_good_as_none)
{
    struct world w;
    struct finding f;
    struct keeping k;
    world_init(&w, NULL);
    SAY(&w, L("CONFIG"), L("SET"), L("maxmemory"), L("1"));
    must_be_unavailable(&w);
    SAY(&w, L("CONFIG"), L("SET"), L("maxmemory"), L("0"));
    SAY(&w, L("ACL"), L("SETUSER"), L("default"), L("-set"));
    must_be_unavailable(&w);
    SAY(&w, L("ACL"), L("SETUSER"), L("default"), L("+set"));
    SAY(&w, L("REPLICAOF"), L("127.0.0.1"), L("1"));
    must_be_unavailable(&w);
    SAY(&w, L("REPLICAOF"), L("NO"), L("ONE"));
    cr_assert_str_eq(SAY(&w, L("DBSIZE")), "0");
    find(&w, 0, &f);
    cr_assert(f.claim.held);
    keep(&w, 0, &f.claim, L("body"), &k);
    keep_free(&k);
    SAY(&w, L("CONFIG"), L("SET"), L("maxmemory"), L("1"));
    find(&w, 1, &f);
    cr_assert_not_null(f.value, "a full server still answers what it has");
    find_free(&f);
    world_done(&w);
}

/* Every command that either script and a keep may use: a miss, a planted list, a planted lock, a
 * release and a hit. */
Test(shared_faults, few_rights_are_enough)
{
    struct world w;
    struct finding f;
    struct keeping k;
    world_init(&w, &(struct world_options){.few_rights = true});
    SAY(&w, L("RPUSH"), slice_of(w.value_name), L("x"));
    SAY(&w, L("SET"), slice_of(w.lock_name), L("x"));
    find(&w, 0, &f);
    cr_assert(f.claim.held);
    keep(&w, 0, &f.claim, L("body"), &k);
    world_settle(&w, 0);
    cr_assert_not(exists(&w, w.lock_name));
    find(&w, 1, &f);
    cr_assert(f.value && slice_is(f.value->body, "body"));
    for (int i = 0; i < N_REPLICAS; i++) {
        cr_assert_eq(world_stats(&w, i).unavailable, 0);
    }
    cr_assert_str_eq(SAY(&w, L("ACL"), L("LOG")), "(0 items)");
    find_free(&f);
    keep_free(&k);
    world_done(&w);
}

/* An account that may not look is no reason to remove what others stored. */
Test(shared_faults, a_right_that_is_missing_costs_no_answer)
{
    struct world w;
    struct finding f;
    struct keeping k;
    world_init(&w, &(struct world_options){.few_rights = true});
    find(&w, 0, &f);
    keep(&w, 0, &f.claim, L("body"), &k);
    keep_free(&k);
    SAY(&w, L("ACL"), L("SETUSER"), L("few"), L("-strlen"));
    find(&w, 1, &f);
    cr_assert_null(f.value);
    cr_assert_not(f.claim.held);
    cr_assert(exists(&w, w.value_name));
    cr_assert_eq(world_stats(&w, 1).unavailable, 1);
    world_done(&w);
}

/* Each new call is one that Redis refuses to keep; a hit is read all the same. */
Test(shared_faults, a_server_that_refuses_is_told_once_and_so_is_its_return)
{
    struct world w;
    struct finding f;
    struct keeping k;
    world_init(&w, NULL);
    const struct replica *r = &w.replicas[0];
    find(&w, 0, &f);
    keep(&w, 0, &f.claim, L("body"), &k);
    keep_free(&k);
    SAY(&w, L("CONFIG"), L("SET"), L("maxmemory"), L("1"));
    const struct cache_key stored = w.key;
    for (int i = 0; i < 3; i++) {
        digest_of((struct slice){(const char *)&i, sizeof(i)}, &w.key.value);
        find(&w, 0, &f);
        cr_assert_null(f.value);
        struct cache_key other = w.key;
        w.key = stored;
        find(&w, 0, &f);
        cr_assert_not_null(f.value);
        find_free(&f);
        w.key = other;
    }
    cr_assert_eq(r->n_refused, 1);
    cr_assert_eq(r->n_works, 0);
    cr_assert_str_eq(r->why, "OOM");
    SAY(&w, L("CONFIG"), L("SET"), L("maxmemory"), L("0"));
    for (int i = 3; r->n_works == 0; i++) { /* until it has settled */
        digest_of((struct slice){(const char *)&i, sizeof(i)}, &w.key.value);
        find(&w, 0, &f);
        cr_assert(f.claim.held);
    }
    cr_assert_eq(r->n_refused, 1);
    world_done(&w);
}

/* How often locks were deleted: by whom but a release? */
static void must_have_released(struct world *w, const char *times)
{
    char line[64];
    snprintf(line, sizeof(line), "cmdstat_del:calls=%s,", times);
    cr_assert_not_null(strstr(SAY(w, L("INFO"), L("commandstats")), line));
    cr_assert_not(exists(w, w->lock_name));
}

Test(shared_faults, a_silent_server_costs_one_deadline_and_keeps_no_lock)
{
    struct world w;
    struct finding f;
    world_init(&w, &(struct world_options){.lock_ms = 600000, .command_ms = 300});
    redis_server_signal(&w.server, SIGSTOP);
    find(&w, 0, &f);
    cr_assert(holds_nothing(&f));
    cr_assert_geq(f.took_ms, 200);
    cr_assert_lt(f.took_ms, 300 + 5000);
    cr_assert_eq(world_stats(&w, 0).unavailable, 1);
    redis_server_signal(&w.server, SIGCONT);
    world_settle(&w, 0);
    must_have_released(&w, "1"); /* it had got the lock, and the release came behind */
    world_done(&w);
}

Test(shared_faults, a_find_cancelled_on_its_way_keeps_no_lock)
{
    struct world w;
    struct finding f;
    world_init(&w, &(struct world_options){.lock_ms = 600000});
    find_begin(&w, 0, &f);
    op_cancel(&f.op);
    world_settle(&w, 0);
    cr_assert_not(f.is_done);
    must_have_released(&w, "1");
    world_done(&w);
}

Test(shared_faults, a_find_cancelled_while_it_waits_asks_no_more)
{
    struct world w;
    struct finding holder, f;
    world_init(&w, &(struct world_options){.lock_ms = 600000});
    find(&w, 0, &holder);
    find_begin(&w, 1, &f);
    while (world_stats(&w, 1).waited == 0) {
        world_settle(&w, 1);
    }
    op_cancel(&f.op);
    struct redis_stats before, after;
    world_settle(&w, 1);
    redis_loop_stats(w.replicas[1].redis, &before);
    shared_cache_give_up(w.replicas[0].cache, &holder.place, &holder.claim);
    world_settle(&w, 0);
    find(&w, 0, &holder); /* would find the lock taken, and wait */
    cr_assert(holder.claim.held && !f.is_done);
    redis_loop_stats(w.replicas[1].redis, &after);
    cr_assert_eq(after.calls, before.calls);
    world_done(&w);
}

Test(shared_faults, a_cancelled_keep_goes_on)
{
    struct world w;
    struct finding f;
    struct keeping k;
    world_init(&w, NULL);
    find(&w, 0, &f);
    keep_begin(&w, 0, &f.claim, world_value(&w, L("body")), &k);
    op_cancel(&k.op);
    world_settle(&w, 0);
    cr_assert(!k.is_done && !k.kept);
    cr_assert_not(exists(&w, w.lock_name));
    find(&w, 1, &f);
    cr_assert(f.value && slice_is(f.value->body, "body"));
    find_free(&f);
    keep_free(&k);
    world_done(&w);
}

/* A request that is over the moment it hears, with all that it lent. */
struct brief_request {
    struct op op; /* first */
    struct cache_key key;
    struct shared_place place;
    struct shared_claim claim;
    const struct cache_value *value, *ret_value;
    bool *ret_done;
};

static void on_done_free(struct op *op)
{
    struct brief_request *r = (struct brief_request *)op;
    cache_release(r->value);
    cache_release(r->ret_value);
    *r->ret_done = true;
    free(r);
}

static struct brief_request *brief_request(const struct world *w, bool *ret_done)
{
    struct brief_request *r = mem_alloc(sizeof(*r));
    r->op.on_done = on_done_free;
    r->key = w->key;
    r->place = world_place(w, 0);
    r->place.key = &r->key;
    r->ret_done = ret_done;
    return r;
}

/* An address sanitizer sees a use of what is gone. */
Test(shared_faults, nothing_borrowed_is_used_once_a_call_is_done)
{
    struct world w;
    world_init(&w, NULL);
    redis_server_signal(&w.server, SIGKILL);
    while (redis_loop_is_up(w.replicas[0].redis)) {
        struct finding f;
        find(&w, 0, &f);
    }
    bool done[3] = {false};
    struct brief_request *r = brief_request(&w, &done[0]);
    shared_cache_find(w.replicas[0].cache, &r->place, &r->claim, &r->ret_value, &r->op);
    for (int i = 1; i < 3; i++) {
        char *zeros = mem_alloc(SHARED_VALUE_MAX_BYTES);
        struct slice body = {zeros, i == 1 ? 100 : SHARED_VALUE_MAX_BYTES}; /* or too large */
        r = brief_request(&w, &done[i]);
        r->value = cache_value_new(&r->key, body, SLICE_NONE, false);
        r->claim.held = true;
        shared_cache_keep(w.replicas[0].cache, &r->place, &r->claim, r->value, &r->ret_value,
                          &r->op);
        free(zeros);
    }
    cr_assert(done[0] && done[1] && done[2]);
    world_done(&w);
}
