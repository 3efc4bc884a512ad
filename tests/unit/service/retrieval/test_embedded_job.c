/* SPDX-License-Identifier: Apache-2.0 */
#include "service/retrieval/embedded.h"

#include "corpus.h"

#include <pthread.h>

static char *store;
static struct corpus corpus;
static struct answer_profile profile;
static struct loop *loop;
static struct worker_pool *pool;
static struct backend *backend;
static struct view *view;

static void setup(void)
{
    struct random r = {31337};
    store = folder_new();
    corpus_init(&corpus);
    answer_profile_init(&profile);
    for (int i = 0; i < 60; i++) {
        corpus_add_random(&corpus, &r, corpus_scope(&corpus, i % 2 ? "c" : "d", "note", "public"),
                          "d");
    }
    store_publish(store, &corpus);
    loop = loop_new();
    pool = worker_pool_new(2, 8);
    backend = embedded_open(store, &profile, pool, NULL);
    cr_assert(backend);
    struct filter *f = filter_for("c", "\"*\"", "\"*\"");
    view = backend->ops->open_view(backend, f);
    filter_unref(f);
}

static void teardown(void)
{
    view_unref(view);
    worker_pool_free(pool);
    backend->ops->free(backend);
    loop_free(loop);
    corpus_done(&corpus);
    folder_free(store);
}

TestSuite(embedded_job, .init = setup, .fini = teardown);

static unsigned n_waiting; /* ops that have not come back */

struct waiter {
    struct op op;
    struct hits *hits;
    unsigned times;
};

static void on_done(struct op *op)
{
    struct waiter *w = (struct waiter *)op;
    w->times++;
    if (--n_waiting == 0) {
        loop_stop(loop);
    }
}

static void start_search(struct waiter *w, const char *text)
{
    const struct search_query q = {
        .text = slice_of(text), .published_from = NO_DATE, .published_to = NO_DATE};
    *w = (struct waiter){.op = {.on_done = on_done}};
    n_waiting++;
    backend->ops->search(backend, loop, view, &q, &w->hits, &w->op);
}

/* Holds the workers until it is opened, so that what is queued behind them stays queued. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool open;
    unsigned inside;
    struct work works[2];
};

static struct gate gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void stand_at_gate(struct work *w, unsigned worker)
{
    (void)w, (void)worker;
    pthread_mutex_lock(&gate.lock);
    gate.inside++;
    pthread_cond_broadcast(&gate.changed);
    while (!gate.open) {
        pthread_cond_wait(&gate.changed, &gate.lock);
    }
    pthread_mutex_unlock(&gate.lock);
}

static void gate_left(struct work *w)
{
    (void)w;
    if (--n_waiting == 0) {
        loop_stop(loop);
    }
}

static void hold_workers(void)
{
    for (int i = 0; i < 2; i++) {
        gate.works[i] = (struct work){.run = stand_at_gate, .done = gate_left, .loop = loop};
        n_waiting++;
        cr_assert(worker_submit(pool, loop, &gate.works[i]));
    }
    pthread_mutex_lock(&gate.lock);
    while (gate.inside < 2) {
        pthread_cond_wait(&gate.changed, &gate.lock);
    }
    pthread_mutex_unlock(&gate.lock);
}

static void let_workers_go(void)
{
    pthread_mutex_lock(&gate.lock);
    gate.open = true;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.lock);
}

Test(embedded_job, searches_give_what_the_direct_call_gives)
{
    static const char *const queries[] = {"kilo", "delta mango", "bison", "panda heron",
                                          "none", "kilo lima",   "tango", "quail"};
    struct waiter waiters[8];
    for (size_t i = 0; i < 8; i++) {
        char *text = mem_text(slice_of(queries[i]));
        start_search(&waiters[i], text);
        memset(text, 'x', strlen(text)); /* the query was borrowed until the call returned */
        free(text);
    }
    loop_run(loop);
    size_t n = 0;
    for (size_t i = 0; i < 8; i++) {
        const struct search_query q = {
            .text = slice_of(queries[i]), .published_from = NO_DATE, .published_to = NO_DATE};
        struct hits *direct = NULL, *found = waiters[i].hits;
        cr_assert_eq(waiters[i].times, 1);
        cr_assert_eq(waiters[i].op.result, ERR_OK);
        cr_assert_eq(embedded_search_now(backend, view, &q, &direct), ERR_OK);
        cr_assert_eq(found->n, direct->n);
        for (size_t k = 0; k < found->n; k++) {
            cr_assert(slice_eq(found->items[k].chunk_id, direct->items[k].chunk_id));
            cr_assert_eq(found->items[k].score, direct->items[k].score);
            cr_assert(slice_is(found->items[k].scope.collection, "c"));
        }
        n += found->n;
        hits_free(found);
        hits_free(direct);
    }
    cr_assert_gt(n, 8);
}

Test(embedded_job, fetch_works_too)
{
    const struct test_doc *d = &corpus.docs[0];
    struct filter *f = filter_owner();
    struct view *all = backend->ops->open_view(backend, f);
    filter_unref(f);
    const struct fetch_query q = {d->scope.collection, d->input.doc_id, false, 0};
    struct waiter w = {.op = {.on_done = on_done}};
    n_waiting = 1;
    backend->ops->fetch(backend, loop, all, &q, &w.hits, &w.op);
    view_unref(all); /* the job holds its own */
    loop_run(loop);
    cr_assert_eq(w.op.result, ERR_OK);
    cr_assert_eq(w.hits->n, d->input.n_chunks);
    cr_assert(slice_eq(w.hits->items[0].doc_id, d->input.doc_id));
    hits_free(w.hits);
}

Test(embedded_job, a_full_queue_is_busy_at_once)
{
    struct waiter waiters[9];
    hold_workers();
    for (size_t i = 0; i < 8; i++) {
        start_search(&waiters[i], "kilo");
        cr_assert_eq(waiters[i].times, 0, "still queued");
    }
    start_search(&waiters[8], "kilo");
    cr_assert_eq(waiters[8].times, 1);
    cr_assert_eq(waiters[8].op.result, ERR_BUSY);
    cr_assert_null(waiters[8].hits);
    let_workers_go();
    loop_run(loop);
    for (size_t i = 0; i < 8; i++) {
        cr_assert_eq(waiters[i].times, 1);
        cr_assert_eq(waiters[i].op.result, ERR_OK);
        hits_free(waiters[i].hits);
    }
}

/* Cancelled while queued: no callback, nothing written, nothing leaks; the others go on. */
Test(embedded_job, a_cancelled_search_never_comes_back)
{
    struct waiter waiters[6];
    hold_workers();
    for (size_t i = 0; i < 6; i++) {
        start_search(&waiters[i], "kilo delta");
    }
    for (size_t i = 0; i < 6; i += 2) {
        op_cancel(&waiters[i].op);
        op_cancel(&waiters[i].op); /* safe again */
        n_waiting--;
    }
    let_workers_go();
    loop_run(loop);
    for (size_t i = 0; i < 6; i++) {
        cr_assert_eq(waiters[i].times, i % 2);
        cr_assert_eq(waiters[i].hits != NULL, i % 2);
        hits_free(waiters[i].hits);
    }
}

/* Cancelled when the workers are done but the loop does not know yet. */
Test(embedded_job, a_finished_search_can_still_be_cancelled)
{
    struct waiter gone, kept;
    start_search(&gone, "kilo");
    start_search(&kept, "kilo");
    worker_pool_free(pool); /* waits until both have run; their messages are on the loop */
    pool = NULL;
    op_cancel(&gone.op);
    n_waiting--;
    loop_run(loop);
    cr_assert_eq(gone.times, 0);
    cr_assert_null(gone.hits);
    cr_assert_eq(kept.times, 1);
    cr_assert(kept.hits && kept.hits->n > 0);
    hits_free(kept.hits);
}

/* Publishing while searches run: each answer belongs to the version its view names. */
Test(embedded_job, searches_and_a_switch_at_the_same_time)
{
    enum { N = 8 };
    struct waiter waiters[N];
    hold_workers();
    for (size_t i = 0; i < N; i++) {
        start_search(&waiters[i], "kilo");
    }
    for (size_t i = 0; i < corpus.n; i++) {
        struct doc_input *d = &corpus.docs[i].input;
        d->title = SLICE_LIT("the new edition");
    }
    store_publish(store, &corpus);
    generation_collect(store, 0);
    let_workers_go();
    cr_assert(embedded_refresh(backend, NULL, NULL));
    loop_run(loop);
    for (size_t i = 0; i < N; i++) {
        cr_assert_eq(waiters[i].op.result, ERR_OK);
        cr_assert_eq(waiters[i].hits->n, waiters[0].hits->n);
        for (size_t k = 0; k < waiters[i].hits->n; k++) {
            cr_assert(!slice_is(waiters[i].hits->items[k].title, "the new edition"));
        }
        hits_free(i ? waiters[i].hits : NULL);
    }
    hits_free(waiters[0].hits);
}
