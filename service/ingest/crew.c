/* SPDX-License-Identifier: Apache-2.0 */
/* The calling thread only waits and reports, so that a long task does not hold progress up. */
#include "service/ingest/crew.h"

#include <pthread.h>
#include <sched.h>

enum { THREADS_MAX = 16 }; /* each holds the index of what it builds in memory */

struct crew {
    const struct crew_tasks *tasks;
    pthread_mutex_t lock; /* of everything below */
    pthread_cond_t changed;
    size_t next, done;
    unsigned at_work;
    bool failed;
    size_t failed_task; /* the first in order */
    struct err_detail why;
};

unsigned crew_size(size_t n_tasks)
{
    cpu_set_t allowed;
    int cores = sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
    size_t n = cores < 1 ? 1 : cores > THREADS_MAX ? THREADS_MAX : (size_t)cores;
    return (unsigned)(n < n_tasks ? n : n_tasks);
}

static bool take(struct crew *c, size_t *ret_task)
{
    pthread_mutex_lock(&c->lock);
    bool taken = !c->failed && c->next < c->tasks->n;
    *ret_task = c->next;
    c->next += taken;
    if (!taken) {
        c->at_work--;
        pthread_cond_signal(&c->changed);
    }
    pthread_mutex_unlock(&c->lock);
    return taken;
}

static void finish(struct crew *c, size_t task, bool good, const struct err_detail *why)
{
    pthread_mutex_lock(&c->lock);
    c->done++;
    if (!good && (!c->failed || task < c->failed_task)) {
        c->failed = true;
        c->failed_task = task;
        c->why = *why;
    }
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static void *work(void *arg)
{
    struct crew *c = arg;
    size_t task;
    while (take(c, &task)) {
        struct err_detail why = {{0}};
        bool good = c->tasks->run(c->tasks->arg, task, &why);
        finish(c, task, good, &why);
    }
    return NULL;
}

static void report(const struct crew *c, size_t n_done)
{
    if (c->tasks->on_done) {
        c->tasks->on_done(c->tasks->arg, n_done);
    }
}

static void wait_for_all(struct crew *c)
{
    size_t reported = 0;
    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (c->at_work > 0 && c->done == reported) {
            pthread_cond_wait(&c->changed, &c->lock);
        }
        if (c->done == reported) {
            break;
        }
        reported = c->done;
        pthread_mutex_unlock(&c->lock);
        report(c, reported);
        pthread_mutex_lock(&c->lock);
    }
    pthread_mutex_unlock(&c->lock);
}

static unsigned start(struct crew *c, unsigned n_threads, pthread_t threads[THREADS_MAX])
{
    unsigned n = 0;
    while (n < n_threads && pthread_create(&threads[n], NULL, work, c) == 0) {
        n++;
    }
    return n;
}

bool crew_run(const struct crew_tasks *tasks, unsigned n_threads, struct err_detail *detail)
{
    n_threads = n_threads < THREADS_MAX ? n_threads : THREADS_MAX;
    struct crew c = {.tasks = tasks,
                     .at_work = n_threads,
                     .lock = PTHREAD_MUTEX_INITIALIZER,
                     .changed = PTHREAD_COND_INITIALIZER};
    pthread_t threads[THREADS_MAX];
    report(&c, 0);
    unsigned n = start(&c, n_threads, threads);
    for (unsigned i = n; i < n_threads; i++) {
        work(&c); /* in the place of a thread that could not be had */
    }
    wait_for_all(&c);
    for (unsigned i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
    }
    if (c.failed) {
        err_detail_set(detail, "%s", c.why.text);
    }
    return !c.failed;
}
