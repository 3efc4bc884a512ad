/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that a worker writes: the same bytes as on the loop, no call back into a request that is
 * gone, and no answer at all where the queue is full. */
#include "tests/unit/service/pipeline/fixture.h"

#include <semaphore.h>

#define SEARCH                                                                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"search_kb\","  \
    "\"arguments\":{\"query\":\"canary\"}}}"
#define READ(uri)                                                                                  \
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"resources/read\",\"params\":{\"uri\":\"" uri "\"}" \
    "}"

static struct fixture f;

static void open_fixture(void)
{
    fixture_open(&f);
}

static void close_fixture(void)
{
    worker_pool_free(f.gate.workers);
    fixture_close(&f);
}

TestSuite(answer_job, .init = open_fixture, .fini = close_fixture, .timeout = 30);

/* A job that holds the pool's only thread until the test lets go. */
struct blocker {
    struct work work; /* first */
    sem_t started, go;
    struct timer release;
    unsigned done;
};

static void block(struct work *w, unsigned worker)
{
    struct blocker *b = (struct blocker *)w;
    (void)worker;
    sem_post(&b->started);
    sem_wait(&b->go);
}

static void unblocked(struct work *w)
{
    ((struct blocker *)w)->done++;
}

static void start_blocked_pool(struct blocker *b, size_t max_queue)
{
    f.gate.workers = worker_pool_new(1, max_queue);
    *b = (struct blocker){.work = {.run = block, .done = unblocked}};
    sem_init(&b->started, 0, 0);
    sem_init(&b->go, 0, 0);
    cr_assert(worker_submit(f.gate.workers, f.loop, &b->work));
    sem_wait(&b->started);
}

static void copy_body(struct dynbuf *ret_copy)
{
    dynbuf_init(ret_copy, 1 << 20);
    dynbuf_add(ret_copy, dynbuf_get(&f.body));
}

Test(answer_job, a_worker_writes_the_bytes_that_the_loop_would)
{
    static const char *const CALLS[] = {SEARCH, READ("kb://doc/kb/a.md"), READ("kb://index")};
    for (size_t i = 0; i < sizeof(CALLS) / sizeof(CALLS[0]); i++) {
        struct dynbuf inline_body;
        fixture_call(&f, SURFACE_MCP, CALLS[i]);
        cr_assert(fixture_body_has(&f, i < 2 ? "canary passage" : "collections"));
        copy_body(&inline_body);
        cache_free(f.gate.cache); /* or it would answer the second call */
        f.gate.cache = cache_new(1 << 20);
        f.gate.workers = worker_pool_new(1, 8);
        unsigned replies = f.replies;
        fixture_call(&f, SURFACE_MCP, CALLS[i]);
        cr_assert_eq(f.replies, replies, "answered on the loop");
        loop_run(f.loop);
        cr_assert_eq(f.replies, replies + 1);
        cr_assert(slice_eq(dynbuf_get(&f.body), dynbuf_get(&inline_body)));
        dynbuf_done(&inline_body);
        worker_pool_free(f.gate.workers);
        f.gate.workers = NULL;
    }
}

Test(answer_job, a_client_that_leaves_meanwhile_hears_nothing_and_nothing_is_kept)
{
    struct blocker b;
    start_blocked_pool(&b, 8);
    struct request *r = fixture_start(&f, SURFACE_MCP, SEARCH);
    request_run(r);
    request_cancel(r);
    sem_post(&b.go);
    loop_stop(f.loop);
    loop_run(f.loop); /* until both jobs are done */
    cr_assert_eq(b.done, 1);
    cr_assert_eq(f.replies, 0);
    fixture_call(&f, SURFACE_MCP, SEARCH);
    loop_run(f.loop);
    cr_assert_eq(f.engine.searches, 2, "an answer nobody waited for was cached");
    cr_assert(fixture_body_has(&f, "canary passage"));
}

static void let_go(struct timer *t)
{
    sem_post(&((struct blocker *)(void *)((char *)t - offsetof(struct blocker, release)))->go);
}

Test(answer_job, the_deadline_holds_while_the_answer_waits_for_a_thread)
{
    struct blocker b;
    f.config.deadline_ms = 20;
    start_blocked_pool(&b, 8);
    fixture_call(&f, SURFACE_MCP, SEARCH);
    b.release.on_expired = let_go; /* later than the deadline, by the order of timers */
    timer_start(f.loop, &b.release, 1000);
    loop_run(f.loop);
    cr_assert_eq(f.replies, 1);
    cr_assert(fixture_body_has(&f, "retryable"));
    cr_assert_eq(f.gate.metrics.failures[ERR_DEADLINE], 1);
    cr_assert_eq(f.gate.metrics.charged, f.gate.metrics.refunded);
}

Test(answer_job, a_full_queue_is_retryable_and_gives_the_charge_back)
{
    struct blocker b;
    start_blocked_pool(&b, 1);
    struct request *waiting = fixture_start(&f, SURFACE_MCP, SEARCH);
    request_run(waiting); /* at the limit: it waits in the queue */
    cr_assert_eq(f.replies, 0);
    cr_assert_eq(worker_queue_length(f.gate.workers), 1);
    fixture_call(&f, SURFACE_REST, "{\"query\":\"canary\"}"); /* above it */
    cr_assert_eq(f.replies, 1);
    cr_assert_eq(f.status, 503);
    cr_assert_not(fixture_body_has(&f, "canary"));
    cr_assert_eq(f.gate.metrics.failures[ERR_BUSY], 1);
    cr_assert_eq(f.gate.metrics.refunded, 1);
    sem_post(&b.go);
    loop_run(f.loop);
    cr_assert_eq(f.replies, 2);
    cr_assert_eq(f.status, 200);
    cr_assert(fixture_body_has(&f, "canary passage"));
}

enum { NOTED_HITS = 4 };

static void nothing_more(struct op *op)
{
    (void)op;
}

static struct hits *long_hits(void)
{
    static const char *const IDS[NOTED_HITS] = {"kb/a.md/0", "kb/<s>\"e\xCC\x81\".md/1",
                                                "kb/\x01\xFF.md/2", "kb/last.md/3"};
    static char text[1000];
    struct hits *h = fixture_hits(ENGINE_ANSWERS);
    struct hit first = h->items[0];
    memset(text, 'w', sizeof(text));
    h->items = arena_alloc(&h->arena, NOTED_HITS * sizeof(*h->items));
    for (size_t i = 0; i < NOTED_HITS; i++) {
        h->items[i] = first;
        h->items[i].chunk_id = slice_of(IDS[i]);
        h->items[i].text = (struct slice){text, sizeof(text)};
    }
    h->n = NOTED_HITS;
    return h;
}

/* The note of a search for the hits above within a budget of so many bytes. */
static void write_note(uint32_t byte_budget, struct answer_bytes *ret_bytes)
{
    struct hits *hits = long_hits();
    struct answer_profile profile;
    struct ranked ranked[NOTED_HITS];
    struct filter *owner = filter_owner();
    struct view *view = f.gate.backend->ops->open_view(f.gate.backend, owner);
    struct op op = {.on_done = nothing_more};
    filter_unref(owner);
    answer_profile_init(&profile);
    profile.byte_budget = byte_budget;
    profile.chunks_per_document = 0;
    for (size_t i = 0; i < NOTED_HITS; i++) {
        ranked[i] = (struct ranked){&hits->items[i], 1000000 - (uint32_t)i};
    }
    const struct answer_job_start start = {
        .kind = ANSWER_SEARCH,
        .hits = hits,
        .ranked = ranked,
        .n_ranked = NOTED_HITS,
        .view = view,
        .options = {RENDER_REST, NOTED_HITS, &profile, SLICE_LIT(""), view->index_version},
    };
    answer_job(&start, ret_bytes, &op);
    cr_assert_eq(op.result, ERR_OK);
    view_unref(view);
}

/* What the budget leaves out was not returned, and an id stands in the note as in the answer. */
Test(answer_job, the_note_names_what_the_answer_shows)
{
    static const struct {
        uint32_t byte_budget;
        const char *note;
    } ROWS[] = {
        {48 * 1024, "[\"kb/a.md/0\",\"kb/<\xC2\xB7s>\\\"\xC3\xA9\\\".md/1\","
                    "\"kb/\xEF\xBF\xBD.md/2\",\"kb/last.md/3\"]"},
        {3500, "[\"kb/a.md/0\",\"kb/<\xC2\xB7s>\\\"\xC3\xA9\\\".md/1\",\"kb/\xEF\xBF\xBD.md/2\"]"},
        {0, "[\"kb/a.md/0\"]"},
    };
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        struct answer_bytes bytes = {0};
        write_note(ROWS[i].byte_budget, &bytes);
        cr_expect(slice_is(dynbuf_get(&bytes.note), ROWS[i].note), "%u: %.*s", ROWS[i].byte_budget,
                  (int)bytes.note.n, bytes.note.p);
        dynbuf_done(&bytes.answer);
        dynbuf_done(&bytes.note);
    }
}
