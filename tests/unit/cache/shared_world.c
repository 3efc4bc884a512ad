/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cache/shared_world.h"

#include "cache/scripts.h"
#include "service/base/clock.h"

#include <criterion/criterion.h>
#include <stdio.h>

static void on_health(void *who, bool up, enum redis_failure why)
{
    (void)why;
    if (up) {
        loop_stop(who);
    }
}

static struct redis_loop *connect_to(struct world *w, const struct redis_address *address,
                                     int64_t command_ms)
{
    const struct redis_loop_options options = {.address = address,
                                               .connect_ms = 5000,
                                               .command_ms = command_ms,
                                               .seed = 1,
                                               .on_health = on_health,
                                               .who = w->loop};
    struct redis_loop *r = redis_loop_new(w->loop, &options);
    while (!redis_loop_is_up(r)) {
        loop_run(w->loop);
    }
    return r;
}

static void on_mode_told(void *who, bool works, const char *why)
{
    struct replica *r = who;
    r->n_works += works;
    r->n_refused += !works;
    snprintf(r->why, sizeof(r->why), "%s", why);
}

static void replica_init(struct world *w, int i, const struct world_options *options)
{
    struct slice secret = options && options->secrets[i].p ? options->secrets[i] : SECRET;
    const struct shared_cache_options cache = {
        .hmac_key = secret,
        .key_prefix = SLICE_LIT("t:"),
        .ttl_ms = TTL_MS,
        .lock_ms = options && options->lock_ms ? options->lock_ms : LOCK_MS,
        .on_mode = on_mode_told,
        .who = &w->replicas[i],
    };
    w->replicas[i].cache = shared_cache_new(&cache);
    w->replicas[i].redis = connect_to(
        w, &w->replica_address, options && options->command_ms ? options->command_ms : COMMAND_MS);
}

static void name_place(struct world *w)
{
    struct digest tenant;
    struct dynbuf b;
    digest_of(TENANT, &tenant);
    dynbuf_init(&b, sizeof(w->value_name) - 1);
    dynbuf_add_text(&b, "t:a:{");
    digest_add_hex(&b, &tenant);
    dynbuf_cut(&b, b.n - 48);
    dynbuf_add_text(&b, "}:");
    digest_add_hex(&b, &w->key.value);
    snprintf(w->value_name, sizeof(w->value_name), "%s", dynbuf_text(&b));
    snprintf(w->lock_name, sizeof(w->lock_name), "%s", dynbuf_text(&b));
    w->lock_name[2] = 'l';
    dynbuf_done(&b);
}

/* The commands a cache needs, for an ACL (redis.io, ACL SETUSER). */
static void add_user(struct world *w)
{
    const char *reply =
        SAY(w, L("ACL"), L("SETUSER"), L("few"), L("on"), L(">secret"), L("~t:*"),
            L("resetchannels"), L("-@all"), L("+ping"), L("+eval"), L("+evalsha"), L("+get"),
            L("+set"), L("+strlen"), L("+unlink"), L("+del"), L("+pttl"));
    cr_assert_str_eq(reply, "OK");
    snprintf(w->replica_address.user, sizeof(w->replica_address.user), "few");
    snprintf(w->replica_address.password, sizeof(w->replica_address.password), "secret");
}

void world_init(struct world *w, const struct world_options *options)
{
    memset(w, 0, sizeof(*w));
    signal(SIGPIPE, SIG_IGN); /* as the program does: hiredis writes to sockets as to files */
    w->loop = loop_new();
    redis_server_start(&w->server, NULL);
    w->admin = connect_to(w, &w->server.address, 20000);
    w->replica_address = w->server.address;
    if (options && options->few_rights) {
        add_user(w);
    }
    digest_of(SLICE_LIT("call"), &w->key.value);
    for (int i = 0; i < N_REPLICAS; i++) {
        replica_init(w, i, options);
    }
    name_place(w);
    SAY(w, L("SCRIPT"), L("LOAD"), slice_of(shared_find_lua));
    SAY(w, L("SCRIPT"), L("LOAD"), slice_of(shared_release_lua));
}

void world_done(struct world *w)
{
    for (int i = 0; i < N_REPLICAS; i++) {
        redis_loop_free(w->replicas[i].redis);
        shared_cache_free(w->replicas[i].cache);
    }
    redis_loop_free(w->admin);
    redis_server_stop(&w->server);
    loop_stop(w->loop); /* what is left for it runs */
    loop_run(w->loop);
    loop_free(w->loop);
}

struct shared_place world_place(const struct world *w, int replica)
{
    return (struct shared_place){w->replicas[replica].redis, w->loop, TENANT, &w->key};
}

void world_run_until(struct world *w, const bool *flag)
{
    while (!*flag) {
        loop_run(w->loop);
    }
}

struct saying {
    struct redis_call call; /* first */
    struct loop *loop;
    char *text;
    size_t size;
    bool is_done;
};

static void on_said(struct op *op)
{
    struct saying *s = (struct saying *)op;
    const struct redis_reply *r = s->call.reply;
    if (op->result != ERR_OK) {
        snprintf(s->text, s->size, "(%s)", redis_failure_name(s->call.failure));
    } else if (r->kind == REDIS_INTEGER) {
        snprintf(s->text, s->size, "%lld", (long long)r->integer);
    } else if (r->kind == REDIS_NIL) {
        snprintf(s->text, s->size, "(nil)");
    } else if (r->kind == REDIS_LIST) {
        snprintf(s->text, s->size, "(%zu items)", r->n_items);
    } else {
        snprintf(s->text, s->size, "%.*s", (int)r->text.n, r->text.p);
    }
    s->is_done = true;
    loop_stop(s->loop);
}

static void say_on(struct world *w, struct redis_loop *redis, size_t n_args,
                   const struct slice *args, char *ret_text, size_t size)
{
    struct saying s = {.call.op.on_done = on_said, .loop = w->loop, .text = ret_text, .size = size};
    redis_loop_call(redis, args, n_args, &s.call);
    world_run_until(w, &s.is_done);
}

const char *world_say(struct world *w, size_t n_args, const struct slice *args)
{
    static char text[64 * 1024];
    say_on(w, w->admin, n_args, args, text, sizeof(text));
    return text;
}

void world_settle(struct world *w, int replica)
{
    const struct slice ping = L("PING");
    char text[64];
    say_on(w, w->replicas[replica].redis, 1, &ping, text, sizeof(text));
    cr_assert_str_eq(text, "PONG");
}

static void on_found(struct op *op)
{
    struct finding *f = (struct finding *)op;
    cr_assert_not(f->is_done);
    cr_assert_eq(op->result, ERR_OK);
    f->took_ms = clock_mono_ms() - f->begun_mono_ms;
    f->is_done = true;
    loop_stop(f->world->loop);
}

void find_begin_for(struct world *w, int replica, struct slice tenant, struct finding *f)
{
    *f = (struct finding){.op.on_done = on_found, .world = w, .place = world_place(w, replica)};
    f->place.tenant = tenant;
    f->begun_mono_ms = clock_mono_ms();
    shared_cache_find(w->replicas[replica].cache, &f->place, &f->claim, &f->value, &f->op);
}

void find_begin(struct world *w, int replica, struct finding *f)
{
    find_begin_for(w, replica, TENANT, f);
}

void find(struct world *w, int replica, struct finding *f)
{
    find_begin(w, replica, f);
    world_run_until(w, &f->is_done);
}

void find_free(struct finding *f)
{
    op_cancel(&f->op);
    cache_release(f->value);
    f->value = NULL;
}

static void on_kept(struct op *op)
{
    struct keeping *k = (struct keeping *)op;
    cr_assert_not(k->is_done);
    cr_assert_eq(op->result, ERR_OK);
    k->is_done = true;
    loop_stop(k->world->loop);
}

void keep_begin(struct world *w, int replica, const struct shared_claim *claim,
                const struct cache_value *value, struct keeping *k)
{
    *k = (struct keeping){
        .op.on_done = on_kept, .world = w, .place = world_place(w, replica), .ours = value};
    shared_cache_keep(w->replicas[replica].cache, &k->place, claim, value, &k->kept, &k->op);
}

const struct cache_value *world_value(const struct world *w, struct slice body)
{
    return cache_value_new(&w->key, body, SLICE_LIT("note"), false);
}

void keep(struct world *w, int replica, const struct shared_claim *claim, struct slice body,
          struct keeping *k)
{
    keep_begin(w, replica, claim, world_value(w, body), k);
    world_run_until(w, &k->is_done);
}

void keep_free(struct keeping *k)
{
    op_cancel(&k->op);
    cache_release(k->ours);
    cache_release(k->kept);
    k->ours = k->kept = NULL;
}

struct shared_cache_stats world_stats(const struct world *w, int replica)
{
    struct shared_cache_stats stats;
    shared_cache_stats(w->replicas[replica].cache, &stats);
    return stats;
}
