/* SPDX-License-Identifier: Apache-2.0 */
/* ingest_bench: a corpus, a store, and what a run over them said. */
#ifndef TEST_INGEST_BENCH_H
#define TEST_INGEST_BENCH_H

#include "service/ingest/ingest.h"
#include "service/retrieval/generation.h"
#include "tests/unit/service/ingest/folder.h"

struct bench {
    struct folder corpus, store;
    struct ingest_report report;
    struct err_detail detail;
    char skips[4096], warnings[2048];
    uint64_t last_done, last_total;
    bool strict;
};

static inline void on_skip(void *arg, const struct ingest_skip *s)
{
    struct bench *b = arg;
    size_t n = strlen(b->skips);
    snprintf(b->skips + n, sizeof(b->skips) - n, "%s:%llu: %s\n", s->path,
             (unsigned long long)s->line, s->reason);
}

static inline void on_warning(void *arg, const char *text)
{
    struct bench *b = arg;
    size_t n = strlen(b->warnings);
    snprintf(b->warnings + n, sizeof(b->warnings) - n, "%s\n", text);
}

static inline void on_progress(void *arg, const char *phase, uint64_t done, uint64_t total)
{
    struct bench *b = arg;
    cr_expect(strcmp(phase, "read") == 0 || strcmp(phase, "build") == 0);
    cr_expect_leq(done, total);
    b->last_done = done;
    b->last_total = total;
}

static inline void start(struct bench *b)
{
    *b = (struct bench){0};
    folder_new(&b->corpus);
    folder_new(&b->store);
}

static inline void stop(struct bench *b)
{
    folder_done(&b->corpus);
    folder_done(&b->store);
}

static inline bool run_with(struct bench *b, const char *const *paths, size_t n_paths,
                            const char *collection, const char *manifest)
{
    static const char *const labels[] = {"public"};
    struct ingest_options o = {.store_dir = b->store.path,
                               .paths = paths,
                               .n_paths = n_paths,
                               .manifest = manifest,
                               .collection = collection,
                               .doc_type = collection ? "note" : NULL,
                               .labels = labels,
                               .n_labels = collection ? 1 : 0,
                               .strict = b->strict,
                               .on_progress = on_progress,
                               .on_skip = on_skip,
                               .on_warning = on_warning,
                               .arg = b};
    b->skips[0] = b->warnings[0] = 0;
    b->detail.text[0] = 0;
    bool ok = ingest_run(&o, &b->report, &b->detail);
    cr_expect_neq(ok, strlen(b->detail.text) > 0, "%s", b->detail.text);
    return ok;
}

static inline bool run(struct bench *b, const char *collection)
{
    const char *paths[] = {b->corpus.path};
    return run_with(b, paths, 1, collection, NULL);
}

/* "collection/doc_type[labels] docs/chunks content" a line. */
static inline const char *live(const struct bench *b)
{
    static char texts[4][262144];
    static unsigned next;
    char *text = texts[next++ % 4];
    struct generation g;
    size_t n = 0;
    text[0] = 0;
    cr_assert(generation_read(b->store.path, &g, NULL));
    for (size_t i = 0; i < g.n; i++) {
        const struct partition *p = &g.entries[i].partition;
        struct dynbuf line;
        dynbuf_init(&line, 4096);
        dynbuf_add(&line, p->scope.collection);
        dynbuf_add_byte(&line, '/');
        dynbuf_add(&line, p->scope.doc_type);
        dynbuf_add_byte(&line, '[');
        for (size_t j = 0; j < p->scope.n_labels; j++) {
            dynbuf_add_text(&line, j ? "," : "");
            dynbuf_add(&line, p->scope.labels[j]);
        }
        dynbuf_add_text(&line, "] ");
        dynbuf_add_int(&line, (int64_t)p->n_docs);
        dynbuf_add_byte(&line, '/');
        dynbuf_add_int(&line, (int64_t)p->n_chunks);
        dynbuf_add_byte(&line, ' ');
        digest_add_hex(&line, &p->content);
        n += (size_t)snprintf(text + n, sizeof(texts[0]) - n, "%.*s\n", (int)line.n, line.p);
        dynbuf_done(&line);
    }
    generation_done(&g);
    return text;
}

static inline void expect_live(const struct bench *b, const char *start_of_line)
{
    cr_expect_not_null(strstr(live(b), start_of_line), "%s is not in\n%s", start_of_line, live(b));
}

#endif
