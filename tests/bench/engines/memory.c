/* SPDX-License-Identifier: Apache-2.0 */
/* Anonymous memory: what a store takes that the page cache cannot take back. Nothing but kbgate is
 * in the process: its questions are made before the first figure is read, with the generator gone
 * again. */
#include "tests/bench/engines/bench.h"
#include "tests/bench/engines/engine_kbgate.h"

#include <malloc.h>
#include <stdio.h>

enum { WORKERS = 2, QUEUE = 64 };

struct asking {
    struct op op; /* first: the two are one */
    struct run *run;
    struct hits *hits;
};

struct run {
    struct kbgate *kbgate;
    struct loop *loop;
    unsigned waiting;
};

static unsigned long read_kb(const char *field)
{
    char line[256];
    unsigned long kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    engine_require(f != NULL, "/proc/self/status", "cannot be read");
    while (fgets(line, sizeof(line), f)) {
        if (strncmp(line, field, strlen(field)) == 0) {
            (void)sscanf(line + strlen(field), ": %lu", &kb);
        }
    }
    (void)fclose(f);
    return kb;
}

static void on_done(struct op *op)
{
    struct asking *a = (struct asking *)op;
    engine_require(op->result == ERR_OK, "kbgate", err_name(op->result));
    hits_free(a->hits);
    if (--a->run->waiting == 0) {
        loop_stop(a->run->loop);
    }
}

/* As many at once as there are workers. */
static void ask_pair(struct run *r, struct view *view, char **questions)
{
    struct asking asking[WORKERS] = {0};
    r->waiting = WORKERS;
    for (int i = 0; i < WORKERS; i++) {
        struct search_query q = kbgate_query(r->kbgate, questions[i]);
        asking[i] = (struct asking){.op = {.on_done = on_done}, .run = r};
        r->kbgate->backend->ops->search(r->kbgate->backend, r->loop, view, &q, &asking[i].hits,
                                        &asking[i].op);
    }
    loop_run(r->loop);
}

static void ask_all(struct run *r, int scope, char **questions, uint32_t n)
{
    struct backend *b = r->kbgate->backend;
    struct view *view = b->ops->open_view(b, r->kbgate->filters[scope]);
    for (uint32_t i = 0; i + WORKERS <= n; i += WORKERS) {
        ask_pair(r, view, questions + i);
    }
    view_unref(view);
}

void bench_memory(const struct bench_options *o)
{
    char **questions = bench_questions(o);
    (void)malloc_trim(0);
    unsigned long before = read_kb("RssAnon");
    struct worker_pool *pool = worker_pool_new(WORKERS, QUEUE);
    struct run r = {.kbgate = kbgate_open(o->store, o->n_partitions, pool), .loop = loop_new()};
    unsigned long opened = read_kb("RssAnon");
    for (int scope = 0; scope < N_SCOPES; scope++) {
        ask_all(&r, scope, questions, o->n_questions);
    }
    printf("{\"rss_anon_kb_before\":%lu,\"rss_anon_kb_opened\":%lu,\"rss_anon_kb\":%lu,"
           "\"rss_kb\":%lu}\n",
           before, opened, read_kb("RssAnon"), read_kb("VmRSS"));
    kbgate_close(r.kbgate);
    worker_pool_free(pool);
    loop_free(r.loop);
    bench_questions_free(questions, o->n_questions);
}
