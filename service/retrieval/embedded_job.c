/* SPDX-License-Identifier: Apache-2.0 */
/* The worker writes result and hits, the loop reads them in done(): the pool's message between the
 * two threads orders that. `op` is the loop's alone; `cancelled` is all they share. */
#include "service/retrieval/embedded_job.h"

#include "service/base/mem.h"

#include <stdlib.h>

struct job {
    struct work work;   /* first: the two are one */
    struct arena arena; /* the copy of the query */
    struct embedded_job_start start;
    bool is_fetch;
    struct search_query search;
    struct fetch_query fetch;

    struct op *op; /* NULL: nobody waits */
    struct hits **ret_hits;
    atomic_bool cancelled;

    enum err result;
    struct hits *hits;
};

static void free_job(struct job *j)
{
    view_unref(j->start.view);
    hits_free(j->hits);
    arena_done(&j->arena);
    free(j);
}

static void run(struct work *w, unsigned worker)
{
    struct job *j = (struct job *)w;
    if (atomic_load_explicit(&j->cancelled, memory_order_relaxed)) {
        return;
    }
    struct embedded_reader reader = j->start.reader(j->start.arg, worker, &j->cancelled);
    j->result = j->is_fetch ? embedded_view_fetch(j->start.view, &reader, &j->fetch, &j->hits)
                            : embedded_view_search(j->start.view, &reader, &j->search, &j->hits);
}

static void done(struct work *w)
{
    struct job *j = (struct job *)w;
    struct op *op = j->op;
    enum err result = j->result;
    if (op && result == ERR_OK) {
        *j->ret_hits = j->hits;
        j->hits = NULL;
    }
    free_job(j);
    if (op) {
        op_done(op, result);
    }
}

static void detach(void *work)
{
    struct job *j = work;
    j->op = NULL;
    atomic_store_explicit(&j->cancelled, true, memory_order_relaxed);
}

static struct job *new_job(const struct embedded_job_start *start, struct hits **ret_hits,
                           struct op *op)
{
    struct job *j = mem_alloc(sizeof(*j));
    j->start = *start;
    j->start.view = view_ref(start->view);
    j->ret_hits = ret_hits;
    j->op = op;
    atomic_init(&j->cancelled, false);
    j->work.run = run;
    j->work.done = done;
    j->work.loop = start->loop;
    return j;
}

static void submit(struct job *j)
{
    struct op *op = j->op;
    op_start(op, detach, j);
    if (!worker_submit(j->start.pool, j->start.loop, &j->work)) {
        free_job(j);
        op_done(op, ERR_BUSY);
    }
}

void embedded_job_search(const struct embedded_job_start *start, const struct search_query *q,
                         struct hits **ret_hits, struct op *op)
{
    struct job *j = new_job(start, ret_hits, op);
    j->search = *q;
    j->search.text = arena_copy(&j->arena, q->text);
    j->search.collection = arena_copy(&j->arena, q->collection);
    j->search.doc_type = arena_copy(&j->arena, q->doc_type);
    submit(j);
}

void embedded_job_fetch(const struct embedded_job_start *start, const struct fetch_query *q,
                        struct hits **ret_hits, struct op *op)
{
    struct job *j = new_job(start, ret_hits, op);
    j->is_fetch = true;
    j->fetch = *q;
    j->fetch.collection = arena_copy(&j->arena, q->collection);
    j->fetch.doc_id = arena_copy(&j->arena, q->doc_id);
    submit(j);
}
