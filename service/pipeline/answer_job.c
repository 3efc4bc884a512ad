/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes are a pure function of what the job holds, so the thread that writes them is of no
 * matter. As with a search, `op` is the loop's alone and `cancelled` is all that both threads
 * touch. */
#include "service/pipeline/answer_job.h"

#include "service/base/json_write.h"
#include "service/base/mem.h"
#include "service/pipeline/state.h"
#include "service/retrieval/neutralise.h"

#include <stdlib.h>

enum { NOTE_MAX_CHUNKS = 64, NOTE_MAX_BYTES = 48 * 1024 };

struct job {
    struct work work;   /* first: the two are one */
    struct arena arena; /* the copy of the ranking, and shown */
    struct answer_job_start start;
    const struct hit **shown; /* ANSWER_SEARCH: what the answer returns of the ranking */
    size_t n_shown;
    struct answer_bytes bytes;
    struct op *op; /* NULL: nobody waits */
    struct answer_bytes *ret_bytes;
    atomic_bool cancelled;
};

static void add_chunk(struct json_writer *w, struct slice id)
{
    if (w->out->n + id.n < NOTE_MAX_BYTES / 2) {
        json_text(w, id);
    }
}

/* The chunk ids that were really returned, as the answer shows them: the byte budget may have left
 * some of the ranked ones out. */
static void note_results(struct json_writer *w, const struct job *j)
{
    struct dynbuf id;
    dynbuf_init(&id, SIZE_MAX);
    for (size_t i = 0; i < j->n_shown; i++) {
        dynbuf_cut(&id, 0);
        neutralise_line(&id, j->shown[i]->chunk_id, NULL);
        add_chunk(w, dynbuf_get(&id));
    }
    dynbuf_done(&id);
}

static void note_passages(struct json_writer *w, const struct hits *hits)
{
    for (size_t i = 0; hits && i < hits->n && i < NOTE_MAX_CHUNKS; i++) {
        add_chunk(w, hits->items[i].chunk_id);
    }
}

static void write_note(struct job *j)
{
    struct json_writer w = json_writer_on(&j->bytes.note);
    json_array_begin(&w);
    if (j->start.kind == ANSWER_SEARCH) {
        note_results(&w, j);
    } else {
        note_passages(&w, j->start.hits);
    }
    json_array_end(&w);
}

static void write_answer(struct job *j)
{
    const struct answer_job_start *s = &j->start;
    switch (s->kind) {
    case ANSWER_SEARCH:
        j->n_shown =
            shape_answer_shown(&j->bytes.answer, s->ranked, s->n_ranked, &s->options, j->shown);
        break;
    case ANSWER_PASSAGES: shape_passages(&j->bytes.answer, s->hits, &s->options); break;
    case ANSWER_INDEX: shape_index(&j->bytes.answer, s->view); break;
    }
}

static void run(struct work *w, unsigned worker)
{
    struct job *j = (struct job *)w;
    (void)worker;
    if (!atomic_load_explicit(&j->cancelled, memory_order_relaxed)) {
        write_answer(j);
        write_note(j);
    }
}

static void free_job(struct job *j)
{
    view_unref(j->start.view);
    hits_free(j->start.hits);
    dynbuf_done(&j->bytes.answer);
    dynbuf_done(&j->bytes.note);
    arena_done(&j->arena);
    free(j);
}

static void end(struct job *j, enum err result)
{
    struct op *op = j->op;
    if (op && result == ERR_OK) {
        *j->ret_bytes = j->bytes;
        j->bytes = (struct answer_bytes){0};
    }
    free_job(j);
    if (op) {
        op_done(op, result);
    }
}

static void done(struct work *w)
{
    struct job *j = (struct job *)w;
    end(j, j->bytes.answer.failed ? ERR_INTERNAL : ERR_OK);
}

static void detach(void *work)
{
    struct job *j = work;
    j->op = NULL;
    atomic_store_explicit(&j->cancelled, true, memory_order_relaxed);
}

static const struct ranked *copy_ranking(const struct answer_job_start *s, struct arena *arena)
{
    struct ranked *copy = arena_alloc(arena, s->n_ranked * sizeof(*copy));
    for (size_t i = 0; i < s->n_ranked; i++) {
        copy[i] = s->ranked[i];
    }
    return copy;
}

void answer_job(const struct answer_job_start *start, struct answer_bytes *ret_bytes, struct op *op)
{
    struct job *j = mem_alloc(sizeof(*j));
    j->start = *start;
    j->start.view = view_ref(start->view);
    j->start.ranked = copy_ranking(start, &j->arena);
    j->shown = arena_alloc(&j->arena, start->n_ranked * sizeof(const struct hit *));
    j->n_shown = 0;
    dynbuf_init(&j->bytes.answer, BODY_MAX_BYTES);
    dynbuf_init(&j->bytes.note, NOTE_MAX_BYTES);
    j->op = op;
    j->ret_bytes = ret_bytes;
    atomic_init(&j->cancelled, false);
    j->work.run = run;
    j->work.done = done;
    op_start(op, detach, j);
    if (!start->pool) {
        run(&j->work, 0);
        done(&j->work);
    } else if (!worker_submit(start->pool, start->loop, &j->work)) {
        end(j, ERR_BUSY);
    }
}
