/* SPDX-License-Identifier: Apache-2.0 */
/* Two locks: `switching` is held for as long as a new generation takes to open, `lock` only while
 * the pointer to the current one is read or set, so that open_view never waits. */
#include "service/retrieval/embedded.h"

#include "service/base/clock.h"
#include "service/base/mem.h"
#include "service/retrieval/embedded_job.h"
#include "service/retrieval/generation_files.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
    LOAD_ATTEMPTS = 3,    /* a generation may be collected while it is being opened */
    RETRY_MIN_MS = 1000,  /* after a generation that could not be opened, doubling up to … */
    RETRY_MAX_MS = 60000, /* each attempt hashes files */
};

/* Tells one CURRENT from another without reading it. */
struct current_stamp {
    dev_t dev;
    ino_t ino;
    off_t size;
    struct timespec changed;
};

struct embedded {
    struct backend backend; /* first: the two are one */
    char *store_dir;
    struct answer_profile profile;
    struct worker_pool *pool;
    unsigned n_slots; /* a worker's number is its slot; the last one is for the _now calls */
    struct text_analyser **analysers;
    pthread_mutex_t now; /* of the last slot */

    pthread_mutex_t lock;
    struct snapshot *current;

    pthread_mutex_t switching; /* of everything below */
    struct snapshot *retired;
    struct current_stamp stamp;
    struct current_stamp failed; /* the CURRENT that could not be opened */
    struct err_detail failed_why;
    int64_t retry_at_mono_ms, retry_after_ms;
};

static struct embedded *of(struct backend *b)
{
    return (struct embedded *)b;
}

static struct snapshot *current(struct embedded *e)
{
    pthread_mutex_lock(&e->lock);
    struct snapshot *s = e->current ? snapshot_ref(e->current) : NULL;
    pthread_mutex_unlock(&e->lock);
    return s;
}

static void make_current(struct embedded *e, struct snapshot *s)
{
    pthread_mutex_lock(&e->lock);
    struct snapshot *old = e->current;
    e->current = s;
    pthread_mutex_unlock(&e->lock);
    snapshot_retire(&e->retired, old);
}

/* The backend's calls */

static struct view *open_view(struct backend *b, struct filter *f)
{
    struct snapshot *s = current(of(b));
    struct view *v = embedded_view_new(s, f, &of(b)->profile);
    snapshot_unref(s);
    return v;
}

static struct embedded_reader reader_of(struct embedded *e, unsigned slot, atomic_bool *cancelled)
{
    return (struct embedded_reader){
        .slot = slot,
        .analyser = e->analysers[slot],
        .profile = &e->profile,
        .cancelled = cancelled,
    };
}

static struct embedded_reader reader_for_worker(void *arg, unsigned worker, atomic_bool *cancelled)
{
    return reader_of(arg, worker, cancelled);
}

static void search(struct backend *b, struct loop *l, struct view *v, const struct search_query *q,
                   struct hits **ret_hits, struct op *op)
{
    const struct embedded_job_start start = {of(b)->pool, l, v, reader_for_worker, b};
    embedded_job_search(&start, q, ret_hits, op);
}

static void fetch(struct backend *b, struct loop *l, struct view *v, const struct fetch_query *q,
                  struct hits **ret_hits, struct op *op)
{
    const struct embedded_job_start start = {of(b)->pool, l, v, reader_for_worker, b};
    embedded_job_fetch(&start, q, ret_hits, op);
}

enum err embedded_search_now(struct backend *b, struct view *v, const struct search_query *q,
                             struct hits **ret_hits)
{
    struct embedded *e = of(b);
    struct embedded_reader reader = reader_of(e, e->n_slots - 1, NULL);
    pthread_mutex_lock(&e->now);
    enum err result = embedded_view_search(v, &reader, q, ret_hits);
    pthread_mutex_unlock(&e->now);
    return result;
}

enum err embedded_fetch_now(struct backend *b, struct view *v, const struct fetch_query *q,
                            struct hits **ret_hits)
{
    struct embedded *e = of(b);
    struct embedded_reader reader = reader_of(e, e->n_slots - 1, NULL);
    pthread_mutex_lock(&e->now);
    enum err result = embedded_view_fetch(v, &reader, q, ret_hits);
    pthread_mutex_unlock(&e->now);
    return result;
}

/* Generations */

static bool read_stamp(struct embedded *e, struct current_stamp *ret_stamp,
                       struct err_detail *detail)
{
    char path[STORE_PATH_MAX];
    struct stat st;
    if (!store_path(path, e->store_dir, "CURRENT")) {
        err_detail_set(detail, "the store's path is too long");
        return false;
    }
    if (stat(path, &st) != 0 && errno == ENOENT) {
        err_detail_set(detail, "%s: no index here yet; run: kbgate ingest --store %s PATH…",
                       e->store_dir, e->store_dir);
        return false;
    }
    if (stat(path, &st) != 0) {
        err_detail_set(detail, "%s: %s", path, strerror(errno));
        return false;
    }
    *ret_stamp = (struct current_stamp){st.st_dev, st.st_ino, st.st_size, st.st_mtim};
    return true;
}

static bool same_stamp(const struct current_stamp *a, const struct current_stamp *b)
{
    return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
           a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

/* Opens what CURRENT names now; ret_snapshot NULL where that is open already. */
static bool load_once(struct embedded *e, const struct snapshot *open,
                      struct snapshot **ret_snapshot, struct err_detail *detail)
{
    struct generation g;
    *ret_snapshot = NULL;
    if (!generation_read(e->store_dir, &g, detail)) {
        return false;
    }
    bool good = true;
    if (!open || !snapshot_is_generation(open, &g)) {
        *ret_snapshot = snapshot_open(e->store_dir, &g, open, e->n_slots, detail);
        good = *ret_snapshot != NULL;
    }
    generation_done(&g);
    return good;
}

/* Again while CURRENT moves on under us. `stamp` becomes that of the CURRENT last tried. */
static bool load(struct embedded *e, struct current_stamp *stamp, struct snapshot **ret_snapshot,
                 struct err_detail *detail)
{
    struct snapshot *open = current(e);
    bool good = false;
    for (int i = 0; i < LOAD_ATTEMPTS; i++) {
        struct current_stamp tried = *stamp;
        good = load_once(e, open, ret_snapshot, detail);
        if (good || !read_stamp(e, stamp, detail) || same_stamp(stamp, &tried)) {
            break;
        }
    }
    snapshot_unref(open);
    return good;
}

static void remember_failure(struct embedded *e, const struct current_stamp *stamp,
                             const struct err_detail *why)
{
    bool again = same_stamp(stamp, &e->failed);
    int64_t after_ms = again ? 2 * e->retry_after_ms : RETRY_MIN_MS;
    e->retry_after_ms = after_ms < RETRY_MAX_MS ? after_ms : RETRY_MAX_MS;
    e->retry_at_mono_ms = clock_mono_ms() + e->retry_after_ms;
    e->failed = *stamp;
    e->failed_why = *why;
}

static bool switch_to_newest(struct embedded *e, bool *ret_switched, struct err_detail *detail)
{
    struct current_stamp stamp;
    struct snapshot *fresh = NULL;
    if (!read_stamp(e, &stamp, detail)) {
        return false;
    }
    if (same_stamp(&stamp, &e->stamp)) {
        return true;
    }
    if (same_stamp(&stamp, &e->failed) && clock_mono_ms() < e->retry_at_mono_ms) {
        *detail = e->failed_why;
        return false;
    }
    if (!load(e, &stamp, &fresh, detail)) {
        remember_failure(e, &stamp, detail);
        return false;
    }
    e->stamp = stamp;
    if (fresh) {
        make_current(e, fresh);
        *ret_switched = true;
    }
    return true;
}

bool embedded_refresh(struct backend *b, bool *ret_switched, struct err_detail *detail)
{
    struct embedded *e = of(b);
    struct err_detail why = {{0}};
    bool switched = false;
    pthread_mutex_lock(&e->switching);
    bool good = switch_to_newest(e, &switched, &why);
    snapshot_sweep(&e->retired, false);
    pthread_mutex_unlock(&e->switching);
    if (ret_switched) {
        *ret_switched = switched;
    }
    if (!good) {
        err_detail_set(detail, "%s", why.text);
    }
    return good;
}

/* Life */

static void free_embedded(struct backend *b)
{
    struct embedded *e = of(b);
    if (!e) {
        return;
    }
    snapshot_sweep(&e->retired, true);
    snapshot_unref(e->current);
    for (unsigned i = 0; i < e->n_slots; i++) {
        text_analyser_free(e->analysers[i]);
    }
    free(e->analysers);
    free(e->store_dir);
    pthread_mutex_destroy(&e->now);
    pthread_mutex_destroy(&e->lock);
    pthread_mutex_destroy(&e->switching);
    free(e);
}

static const struct backend_ops OPS = {
    .open_view = open_view,
    .search = search,
    .fetch = fetch,
    .free = free_embedded,
};

struct backend *embedded_open(const char *store_dir, const struct answer_profile *profile,
                              struct worker_pool *pool, struct err_detail *detail)
{
    struct embedded *e = mem_alloc(sizeof(*e));
    e->backend.ops = &OPS;
    e->store_dir = mem_text(slice_of(store_dir));
    e->profile = *profile;
    e->pool = pool;
    e->n_slots = (pool ? worker_pool_size(pool) : 0) + 1;
    e->analysers = mem_array(e->n_slots, sizeof(struct text_analyser *));
    for (unsigned i = 0; i < e->n_slots; i++) {
        e->analysers[i] = text_analyser_new();
    }
    pthread_mutex_init(&e->now, NULL);
    pthread_mutex_init(&e->lock, NULL);
    pthread_mutex_init(&e->switching, NULL);
    if (!embedded_refresh(&e->backend, NULL, detail)) {
        free_embedded(&e->backend);
        return NULL;
    }
    return &e->backend;
}

void embedded_stats(struct backend *b, struct embedded_stats *ret_stats)
{
    struct snapshot *s = current(of(b));
    *ret_stats =
        (struct embedded_stats){.n_partitions = s->n, .n_docs = s->n_docs, .n_chunks = s->n_chunks};
    memcpy(ret_stats->generation, s->generation, sizeof(ret_stats->generation));
    snapshot_unref(s);
}
