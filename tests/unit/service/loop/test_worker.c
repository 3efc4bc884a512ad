/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs wait on a gate that the test opens, so the queue is full exactly when a test says so. */
#include "service/loop/worker.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

TestSuite(worker, .timeout = 30);

struct gate_lock {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool open;
    unsigned entered;
};

struct job {
    struct work work;
    struct gate_lock *gate; /* NULL: does not wait */
    pthread_t loop_thread;
    unsigned worker;
    bool ran, signals_blocked;
    int nice;
    int *ret_done, stop_at;
    int *next_sequence, sequence; /* NULL: not asked for; one worker only */
};

static void run(struct work *w, unsigned worker)
{
    struct job *j = (struct job *)w;
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    j->signals_blocked = sigismember(&blocked, SIGTERM) == 1;
    j->nice = getpriority(PRIO_PROCESS, 0);
    j->worker = worker;
    j->ran = true;
    j->sequence = j->next_sequence ? (*j->next_sequence)++ : 0;
    cr_assert_not(pthread_equal(pthread_self(), j->loop_thread));
    if (j->gate) {
        pthread_mutex_lock(&j->gate->lock);
        j->gate->entered++;
        pthread_cond_broadcast(&j->gate->changed);
        while (!j->gate->open) {
            pthread_cond_wait(&j->gate->changed, &j->gate->lock);
        }
        pthread_mutex_unlock(&j->gate->lock);
    }
}

static void done(struct work *w)
{
    struct job *j = (struct job *)w;
    cr_assert(pthread_equal(pthread_self(), j->loop_thread));
    cr_assert(j->ran);
    if (++*j->ret_done == j->stop_at) {
        loop_stop(w->loop);
    }
}

static struct job job(struct gate_lock *gate, int *ret_done, int stop_at)
{
    return (struct job){.work = {.run = run, .done = done},
                        .gate = gate,
                        .loop_thread = pthread_self(),
                        .ret_done = ret_done,
                        .stop_at = stop_at};
}

static void wait_entered(struct gate_lock *g, unsigned n)
{
    pthread_mutex_lock(&g->lock);
    while (g->entered < n) {
        pthread_cond_wait(&g->changed, &g->lock);
    }
    pthread_mutex_unlock(&g->lock);
}

static void open_gate(struct gate_lock *g)
{
    pthread_mutex_lock(&g->lock);
    g->open = true;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

#define GATE_CLOSED                                                                                \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0                              \
    }

Test(worker, runs_each_job_once_on_a_worker_and_done_on_the_loop)
{
    enum { N = 500 };
    static struct job jobs[N];
    int n_done = 0;
    struct loop *l = loop_new();
    struct worker_pool *p = worker_pool_new(3, N);
    cr_assert_eq(worker_pool_size(p), 3);
    for (int i = 0; i < N; i++) {
        jobs[i] = job(NULL, &n_done, N);
        cr_assert(worker_submit(p, l, &jobs[i].work));
    }
    loop_run(l);
    cr_assert_eq(n_done, N);
    for (int i = 0; i < N; i++) {
        cr_assert_lt(jobs[i].worker, 3);
        cr_assert(jobs[i].signals_blocked, "signals are for the main thread");
    }
    worker_pool_free(p);
    loop_free(l);
}

Test(worker, jobs_give_way_to_loops)
{
    enum { LEAST_PRIORITY = 19 };
    int n_done = 0, before = getpriority(PRIO_PROCESS, 0);
    struct loop *l = loop_new();
    struct worker_pool *p = worker_pool_new(1, 1);
    struct job j = job(NULL, &n_done, 1);
    cr_assert(worker_submit(p, l, &j.work));
    loop_run(l);
    int lower = before + WORKER_NICENESS;
    cr_assert_eq(j.nice, lower < LEAST_PRIORITY ? lower : LEAST_PRIORITY);
    cr_assert_eq(getpriority(PRIO_PROCESS, 0), before, "the loop's own thread");
    worker_pool_free(p);
    loop_free(l);
}

Test(worker, jobs_in_progress_have_different_worker_indices)
{
    struct gate_lock gate = GATE_CLOSED;
    struct job jobs[2];
    int n_done = 0;
    struct loop *l = loop_new();
    struct worker_pool *p = worker_pool_new(2, 2);
    for (int i = 0; i < 2; i++) {
        jobs[i] = job(&gate, &n_done, 2);
        cr_assert(worker_submit(p, l, &jobs[i].work));
    }
    wait_entered(&gate, 2);
    open_gate(&gate);
    loop_run(l);
    cr_assert_neq(jobs[0].worker, jobs[1].worker);
    worker_pool_free(p);
    loop_free(l);
}

Test(worker, a_full_queue_refuses_and_calls_nothing)
{
    enum { QUEUE = 3 };
    struct gate_lock gate = GATE_CLOSED;
    struct job jobs[QUEUE + 2];
    int n_done = 0;
    struct loop *l = loop_new();
    struct worker_pool *p = worker_pool_new(1, QUEUE);
    for (int i = 0; i < QUEUE + 2; i++) {
        jobs[i] = job(&gate, &n_done, QUEUE + 1);
    }
    cr_assert(worker_submit(p, l, &jobs[0].work));
    wait_entered(&gate, 1); /* taken out of the queue */
    for (int i = 1; i <= QUEUE; i++) {
        cr_assert_eq(worker_queue_length(p), (size_t)i - 1);
        cr_assert(worker_submit(p, l, &jobs[i].work), "job %d fits", i);
    }
    cr_assert_not(worker_submit(p, l, &jobs[QUEUE + 1].work));
    cr_assert_eq(worker_queue_length(p), QUEUE);
    open_gate(&gate);
    loop_run(l);
    cr_assert_eq(n_done, QUEUE + 1);
    cr_assert_not(jobs[QUEUE + 1].ran);
    cr_assert_eq(worker_queue_length(p), 0);
    worker_pool_free(p);
    loop_free(l);
}

Test(worker, one_worker_runs_jobs_in_the_order_they_came)
{
    enum { N = 50 };
    struct gate_lock gate = GATE_CLOSED;
    static struct job jobs[N];
    int n_done = 0, sequence = 0;
    struct loop *l = loop_new();
    struct worker_pool *p = worker_pool_new(1, N);
    for (int i = 0; i < N; i++) {
        jobs[i] = job(i == 0 ? &gate : NULL, &n_done, N);
        jobs[i].next_sequence = &sequence;
        cr_assert(worker_submit(p, l, &jobs[i].work));
    }
    wait_entered(&gate, 1);
    for (int i = 1; i < N; i++) {
        cr_assert_not(jobs[i].ran, "job %d waits for the first", i);
    }
    open_gate(&gate);
    loop_run(l);
    for (int i = 0; i < N; i++) {
        cr_assert_eq(jobs[i].sequence, i);
    }
    worker_pool_free(p);
    loop_free(l);
}

Test(worker, a_stopped_loop_still_waits_for_its_jobs)
{
    struct gate_lock gate = GATE_CLOSED;
    int n_done = 0;
    struct loop *l = loop_new();
    struct worker_pool *p = worker_pool_new(1, 1);
    struct job j = job(&gate, &n_done, -1);
    cr_assert(worker_submit(p, l, &j.work));
    loop_stop(l);
    open_gate(&gate);
    loop_run(l);
    cr_assert_eq(n_done, 1);
    worker_pool_free(p);
    loop_free(l);
}

Test(worker, free_finishes_what_is_queued)
{
    enum { N = 20 };
    static struct job jobs[N];
    int n_done = 0;
    struct loop *l = loop_new();
    struct worker_pool *p = worker_pool_new(2, N);
    for (int i = 0; i < N; i++) {
        jobs[i] = job(NULL, &n_done, -1);
        cr_assert(worker_submit(p, l, &jobs[i].work));
    }
    worker_pool_free(p);
    for (int i = 0; i < N; i++) {
        cr_assert(jobs[i].ran);
    }
    cr_assert_eq(n_done, 0, "done() is the loop's to call");
    loop_stop(l);
    loop_run(l);
    cr_assert_eq(n_done, N);
    worker_pool_free(NULL);
    loop_free(l);
}
