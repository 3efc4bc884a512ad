/* SPDX-License-Identifier: Apache-2.0 */
/* Four loops share three workers through a queue that is nearly always full. Nothing here is
 * atomic: a job's fields go from its loop to a worker and back, a worker's counter belongs to its
 * index, and a loop is freed the moment loop_run returns, perhaps while another still stands in
 * loop_post. Each of that is a promise of service/loop that the sanitizer holds it to. */
#include "service/base/thread.h"
#include "service/loop/worker.h"
#include "tests/threads/check.h"

enum { N_LOOPS = 4, N_WORKERS = 3, MAX_QUEUE = 4, N_JOBS = 2000, N_AT_ONCE = 8 };

struct ring {
    struct worker_pool *pool;
    struct lane *lanes;
    pthread_barrier_t all_have_loops;
    uint64_t ran[N_WORKERS]; /* each written by the worker of that index alone */
};

/* One job a lane keeps submitting, with the message it sends to the next loop. */
struct job {
    struct work work;
    struct loop_message visit;
    struct lane *lane;
    unsigned asked, answered, visited;
    bool is_visiting;
};

/* One loop and its thread. */
struct lane {
    struct ring *ring;
    struct loop *loop;
    pthread_t thread, self;
    unsigned number, n_submitted, n_refused;
    unsigned n_done, n_back, n_guests; /* guests: the previous loop's messages */
    struct timer again, never;
    struct job jobs[N_AT_ONCE];
};

static struct lane *next_lane(const struct lane *l)
{
    return &l->ring->lanes[(l->number + 1) % N_LOOPS];
}

static void end_if_complete(struct lane *l)
{
    if (l->n_done == N_JOBS && l->n_back == N_JOBS && l->n_guests == N_JOBS) {
        loop_stop(l->loop);
    }
}

static void run(struct work *w, unsigned worker)
{
    struct job *j = (struct job *)w;
    CHECK(worker < N_WORKERS);
    j->lane->ring->ran[worker]++;
    j->answered = j->asked * 7;
}

static void submit(struct job *j)
{
    struct lane *l = j->lane;
    if (l->n_submitted == N_JOBS || j->is_visiting) {
        return;
    }
    j->asked = l->n_submitted + l->number;
    if (worker_submit(l->ring->pool, l->loop, &j->work)) {
        l->n_submitted++;
        j->is_visiting = true;
    } else {
        l->n_refused++;
        timer_start(l->loop, &l->again, 1);
    }
}

static void on_again(struct timer *t)
{
    struct lane *l = (struct lane *)((char *)t - offsetof(struct lane, again));
    for (unsigned i = 0; i < N_AT_ONCE; i++) {
        submit(&l->jobs[i]);
    }
}

static void on_never(struct timer *t)
{
    (void)t;
    CHECK(!"a timer that is put off with every job expired");
}

/* The visit is back where it started: the job is free again. */
static void on_back(struct loop_message *m)
{
    struct job *j = (struct job *)((char *)m - offsetof(struct job, visit));
    CHECK(j->visited == j->answered + 1);
    j->is_visiting = false;
    j->lane->n_back++;
    submit(j);
    end_if_complete(j->lane);
}

/* On the next loop. */
static void on_visit(struct loop_message *m)
{
    struct job *j = (struct job *)((char *)m - offsetof(struct job, visit));
    struct lane *host = next_lane(j->lane);
    CHECK(pthread_equal(pthread_self(), host->self));
    j->visited = j->answered + 1;
    m->run = on_back;
    loop_post(j->lane->loop, m); /* its loop may end and be freed before this returns */
    host->n_guests++;
    end_if_complete(host);
}

static void done(struct work *w)
{
    struct job *j = (struct job *)w;
    struct lane *l = j->lane;
    CHECK(pthread_equal(pthread_self(), l->self));
    CHECK(j->answered == j->asked * 7);
    l->n_done++;
    timer_start(l->loop, &l->never, 60 * 1000);
    j->visit.run = on_visit;
    loop_post(next_lane(l)->loop, &j->visit);
}

static void *serve(void *arg)
{
    struct lane *l = arg;
    l->self = pthread_self();
    l->loop = loop_new();
    pthread_barrier_wait(&l->ring->all_have_loops);
    for (unsigned i = 0; i < N_AT_ONCE; i++) {
        l->jobs[i].lane = l;
        l->jobs[i].work.run = run;
        l->jobs[i].work.done = done;
    }
    l->again.on_expired = on_again;
    l->never.on_expired = on_never;
    on_again(&l->again);
    loop_run(l->loop);
    timer_stop(&l->again);
    timer_stop(&l->never);
    loop_free(l->loop);
    return NULL;
}

int main(void)
{
    static struct lane lanes[N_LOOPS];
    static struct ring ring;
    ring.lanes = lanes;
    pthread_barrier_init(&ring.all_have_loops, NULL, N_LOOPS);
    ring.pool = worker_pool_new(N_WORKERS, MAX_QUEUE);
    for (unsigned i = 0; i < N_LOOPS; i++) {
        lanes[i].ring = &ring;
        lanes[i].number = i;
        thread_start(&lanes[i].thread, serve, &lanes[i]);
    }
    unsigned refused = 0;
    for (unsigned i = 0; i < N_LOOPS; i++) {
        pthread_join(lanes[i].thread, NULL);
        refused += lanes[i].n_refused;
    }
    worker_pool_free(ring.pool);
    pthread_barrier_destroy(&ring.all_have_loops);
    CHECK(refused > 0); /* else the queue was never full */
    CHECK(ring.ran[0] + ring.ran[1] + ring.ran[2] == (uint64_t)N_LOOPS * N_JOBS);
    return 0;
}
