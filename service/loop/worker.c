/* SPDX-License-Identifier: Apache-2.0 */
/* One queue for all threads, so a slow job delays only the thread it runs on. The queue is short
 * and bounded: a full one means the machine cannot keep up, and waiting longer would only let
 * deadlines pass. */
#include "service/loop/worker.h"

#include "service/base/mem.h"
#include "service/base/thread.h"
#include "service/loop/loop_private.h"

#include <stdlib.h>
#include <unistd.h>

struct worker {
    struct worker_pool *pool;
    pthread_t thread;
    unsigned index;
};

struct worker_pool {
    pthread_mutex_t lock; /* of the queue */
    pthread_cond_t changed;
    struct work *first, **last;
    size_t n_waiting, max_queue;
    bool closing;
    unsigned n_workers;
    struct worker workers[];
};

static void on_message(struct loop_message *m)
{
    struct work *w = (struct work *)((char *)m - offsetof(struct work, message));
    w->loop->n_jobs--;
    w->done(w);
}

/* The next job, or NULL when the pool closes and nothing waits. */
static struct work *take_job(struct worker_pool *p)
{
    pthread_mutex_lock(&p->lock);
    while (!p->first && !p->closing) {
        pthread_cond_wait(&p->changed, &p->lock);
    }
    struct work *w = p->first;
    if (w) {
        p->first = w->next;
        p->last = p->first ? p->last : &p->first;
        p->n_waiting--;
    }
    pthread_mutex_unlock(&p->lock);
    return w;
}

static void *run_worker(void *arg)
{
    struct worker *self = arg;
    (void)!nice(WORKER_NICENESS); /* Linux: of this thread alone; refused, it works all the same */
    for (struct work *w; (w = take_job(self->pool));) {
        w->run(w, self->index);
        loop_post(w->loop, &w->message);
    }
    return NULL;
}

struct worker_pool *worker_pool_new(unsigned n_threads, size_t max_queue)
{
    struct worker_pool *p = mem_alloc(sizeof(*p) + n_threads * sizeof(struct worker));
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    p->last = &p->first;
    p->max_queue = max_queue;
    p->n_workers = n_threads;
    for (unsigned i = 0; i < n_threads; i++) {
        p->workers[i] = (struct worker){.pool = p, .index = i};
        thread_start(&p->workers[i].thread, run_worker, &p->workers[i]);
    }
    return p;
}

void worker_pool_free(struct worker_pool *p)
{
    if (!p) {
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->closing = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->n_workers; i++) {
        pthread_join(p->workers[i].thread, NULL);
    }
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

unsigned worker_pool_size(const struct worker_pool *p)
{
    return p->n_workers;
}

bool worker_submit(struct worker_pool *p, struct loop *l, struct work *w)
{
    w->loop = l;
    w->message.run = on_message;
    w->next = NULL;
    pthread_mutex_lock(&p->lock);
    bool fits = !p->closing && p->n_waiting < p->max_queue;
    if (fits) {
        *p->last = w;
        p->last = &w->next;
        p->n_waiting++;
        pthread_cond_signal(&p->changed);
    }
    l->n_jobs += fits; /* before the loop's next turn, which alone lowers it */
    pthread_mutex_unlock(&p->lock);
    return fits;
}

size_t worker_queue_length(struct worker_pool *p)
{
    pthread_mutex_lock(&p->lock);
    size_t n = p->n_waiting;
    pthread_mutex_unlock(&p->lock);
    return n;
}
