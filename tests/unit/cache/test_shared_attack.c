/* SPDX-License-Identifier: Apache-2.0 */
/* Somebody else writes to Redis: whatever lies there, an answer is ours or it is none, and what is
 * none does not stay. */
#include "tests/unit/cache/shared_world.h"

#include <criterion/criterion.h>

TestSuite(shared_attack, .timeout = 60);

#define FORGER SLICE_LIT("0123456789abcdef0123456789abcdeF")

static const struct shared_claim NO_CLAIM = {0};

/* A whole value in our format, under a key and a secret of choice. */
static struct dynbuf value_bytes(const struct cache_key *key, struct slice secret)
{
    struct dynbuf out;
    dynbuf_init(&out, SHARED_VALUE_MAX_BYTES);
    const struct cache_value *v = cache_value_new(key, L("planted"), L("note"), false);
    cr_assert(shared_value_encode(secret, v, &out));
    cache_release(v);
    return out;
}

static void plant(struct world *w, struct slice bytes)
{
    SAY(w, L("SET"), slice_of(w->value_name), bytes, L("PX"), L("600000"));
}

static void must_be_stored(struct world *w, const char *body)
{
    struct finding f;
    for (int i = 0; i < N_REPLICAS; i++) {
        world_settle(w, i);
        find(w, i, &f);
        cr_assert(f.value && slice_is(f.value->body, body));
        find_free(&f);
    }
    cr_assert_gt(atol(SAY(w, L("PTTL"), slice_of(w->value_name))), 0);
}

/* What is planted is not read, and is overwritten by the right answer. */
static void must_be_rejected(struct world *w, struct slice bytes, const char *what)
{
    struct finding f;
    struct keeping k;
    uint64_t rejected = world_stats(w, 0).rejected;
    plant(w, bytes);
    find(w, 0, &f);
    cr_assert(!f.value && !f.claim.held && f.claim.overwrite, "%s", what);
    cr_assert_eq(world_stats(w, 0).rejected, rejected + 1);
    keep(w, 0, &f.claim, L("right"), &k);
    cr_assert_eq(k.kept, k.ours);
    must_be_stored(w, "right");
    keep_free(&k);
}

Test(shared_attack, what_does_not_verify_is_rejected_and_overwritten)
{
    struct world w;
    struct cache_key other;
    world_init(&w, NULL);
    digest_of(L("another call"), &other.value);
    must_be_rejected(&w, L("junk"), "junk");
    must_be_rejected(&w, L("{\"results\":[]}"), "an answer as it is sent");
    struct dynbuf good = value_bytes(&w.key, SECRET);
    must_be_rejected(&w, (struct slice){good.p, good.n - 1}, "cut short");
    good.p[4] = 2;
    must_be_rejected(&w, dynbuf_get(&good), "another version's");
    struct dynbuf moved = value_bytes(&other, SECRET), forged = value_bytes(&w.key, FORGER);
    must_be_rejected(&w, dynbuf_get(&moved), "another call's answer, signed by us");
    must_be_rejected(&w, dynbuf_get(&forged), "all right but for the HMAC");
    dynbuf_done(&good);
    dynbuf_done(&moved);
    dynbuf_done(&forged);
    world_done(&w);
}

/* The planted value itself is good: what lies under the key is read if and only if it verifies. */
Test(shared_attack, a_value_that_verifies_is_read)
{
    struct world w;
    struct finding f;
    world_init(&w, NULL);
    struct dynbuf good = value_bytes(&w.key, SECRET);
    plant(&w, dynbuf_get(&good));
    find(&w, 0, &f);
    cr_assert(f.value && slice_is(f.value->body, "planted"));
    find_free(&f);
    dynbuf_done(&good);
    world_done(&w);
}

Test(shared_attack, replicas_with_other_secrets_never_read_each_other)
{
    struct world w;
    struct finding f;
    struct keeping k;
    world_init(&w, &(struct world_options){.secrets = {SECRET, FORGER}});
    for (int round = 0; round < 4; round++) {
        int i = round % 2;
        find(&w, i, &f);
        cr_assert_null(f.value);
        cr_assert_eq(f.claim.overwrite, round > 0);
        keep(&w, i, &f.claim, i ? L("one's") : L("zero's"), &k);
        cr_assert_eq(k.kept, k.ours);
        world_settle(&w, i);
        find(&w, i, &f);
        cr_assert(f.value && slice_eq(f.value->body, k.ours->body));
        find_free(&f);
        keep_free(&k);
    }
    /* also where the other's came between find and keep */
    SAY(&w, L("DEL"), slice_of(w.value_name));
    keep(&w, 1, &NO_CLAIM, L("one's"), &k);
    keep_free(&k);
    keep(&w, 0, &NO_CLAIM, L("zero's"), &k);
    cr_assert_eq(k.kept, k.ours);
    keep_free(&k);
    world_done(&w);
}

/* It goes at once, so that it does not cross the wire with every call. */
static void must_be_removed(struct world *w, const char *what)
{
    struct finding f;
    struct keeping k;
    find(w, 0, &f);
    cr_assert(!f.value && f.claim.held && !f.claim.overwrite, "%s", what);
    cr_assert_str_eq(SAY(w, L("EXISTS"), slice_of(w->value_name)), "0");
    keep(w, 0, &f.claim, L("right"), &k);
    cr_assert_eq(k.kept, k.ours);
    must_be_stored(w, "right");
    SAY(w, L("DEL"), slice_of(w->value_name));
    keep_free(&k);
}

Test(shared_attack, other_types_and_what_is_too_large_are_removed)
{
    struct world w;
    world_init(&w, NULL);
    struct slice name = slice_of(w.value_name);
    SAY(&w, L("RPUSH"), name, L("x"));
    must_be_removed(&w, "a list");
    SAY(&w, L("HSET"), name, L("x"), L("y"));
    must_be_removed(&w, "a hash");
    SAY(&w, L("SADD"), name, L("x"));
    must_be_removed(&w, "a set");
    SAY(&w, L("SETRANGE"), name, L("10485759"), L("x"));
    must_be_removed(&w, "10 MB");
    SAY(&w, L("SETRANGE"), name, L("262144"), L("x"));
    must_be_removed(&w, "one byte too much");
    SAY(&w, L("SET"), name, L(""));
    struct finding f;
    find(&w, 0, &f);
    cr_assert(!f.value && f.claim.held);
    struct redis_stats stats;
    redis_loop_stats(w.replicas[0].redis, &stats);
    cr_assert_eq(stats.connects, 1, "no connection was lost over it");
    world_done(&w);
}

Test(shared_attack, junk_of_the_largest_size_is_read_and_rejected)
{
    struct world w;
    struct finding f;
    world_init(&w, NULL);
    SAY(&w, L("SETRANGE"), slice_of(w.value_name), L("262143"), L("x"));
    find(&w, 0, &f);
    cr_assert(!f.value && f.claim.overwrite && !f.claim.held);
    world_done(&w);
}

/* None of ours has no end, or one further away than a lock's life. */
Test(shared_attack, a_planted_lock_stops_nobody)
{
    struct world w;
    struct finding f;
    world_init(&w, &(struct world_options){.lock_ms = 3000});
    struct slice name = slice_of(w.lock_name);
    for (int i = 0; i < 3; i++) {
        SAY(&w, L("DEL"), name);
        if (i == 0) {
            SAY(&w, L("SET"), name, L("x"));
        } else if (i == 1) {
            SAY(&w, L("SET"), name, L("x"), L("PX"), L("600000"));
        } else {
            SAY(&w, L("RPUSH"), name, L("x"));
        }
        find(&w, 0, &f);
        cr_assert(!f.value && f.claim.held, "planted lock %d", i);
        cr_assert_str_eq(SAY(&w, L("GET"), name), f.claim.token);
        long left = atol(SAY(&w, L("PTTL"), name));
        cr_assert(left > 0 && left <= 3000);
    }
    cr_assert_eq(world_stats(&w, 0).waited, 0);
    world_done(&w);
}

/* Between a find and its keep. */
Test(shared_attack, what_came_before_the_keep_is_overwritten_unless_it_is_an_answer)
{
    for (int i = 0; i < 4; i++) {
        struct world w;
        struct finding f;
        struct keeping k;
        world_init(&w, NULL);
        struct dynbuf forged = value_bytes(&w.key, FORGER), good = value_bytes(&w.key, SECRET);
        find(&w, 0, &f);
        cr_assert(f.claim.held);
        if (i == 2) {
            SAY(&w, L("RPUSH"), slice_of(w.value_name), L("x"));
        } else {
            plant(&w, i == 0 ? dynbuf_get(&forged) : i == 1 ? L("") : dynbuf_get(&good));
        }
        keep(&w, 0, &f.claim, L("right"), &k);
        cr_assert_eq(k.kept == k.ours, i != 3);
        cr_assert_eq(world_stats(&w, 0).rejected, i != 3);
        must_be_stored(&w, i == 3 ? "planted" : "right");
        cr_assert_str_eq(SAY(&w, L("EXISTS"), slice_of(w.lock_name)), "0");
        keep_free(&k);
        dynbuf_done(&forged);
        dynbuf_done(&good);
        world_done(&w);
    }
}
