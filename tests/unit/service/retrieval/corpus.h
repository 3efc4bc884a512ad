/* SPDX-License-Identifier: Apache-2.0 */
/* corpus: documents made up from a seed, filters, and stores built from them as ingest would, for
 * the tests of this folder. */
#ifndef TEST_RETRIEVAL_CORPUS_H
#define TEST_RETRIEVAL_CORPUS_H

#include "scope/policy.h"
#include "service/base/mem.h"
#include "service/retrieval/generation.h"
#include "service/retrieval/segment.h"

#include <criterion/criterion.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAYBE_UNUSED __attribute__((unused)) static

/* xorshift64* */
struct random {
    uint64_t state;
};

MAYBE_UNUSED uint64_t random_next(struct random *r)
{
    r->state ^= r->state >> 12;
    r->state ^= r->state << 25;
    r->state ^= r->state >> 27;
    return r->state * 0x2545F4914F6CDD1Du;
}

MAYBE_UNUSED uint32_t random_below(struct random *r, uint32_t n)
{
    return (uint32_t)(random_next(r) >> 33) % n;
}

/* A folder of the test's own. */

MAYBE_UNUSED char *folder_new(void)
{
    const char *base = getenv("TMPDIR");
    char *path = mem_alloc(4096);
    snprintf(path, 4096, "%s/kbgate-test-XXXXXX", base ? base : "/tmp");
    cr_assert(mkdtemp(path), "no folder for the test");
    return path;
}

MAYBE_UNUSED int folder_remove_one(const char *path, const struct stat *st, int type,
                                   struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

MAYBE_UNUSED void folder_free(char *path)
{
    nftw(path, folder_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(path);
}

/* Documents */

struct test_doc {
    struct doc_scope scope;
    struct doc_input input;
};

enum { CORPUS_MAX_DOCS = 4000 };

struct corpus {
    struct arena arena;
    struct test_doc *docs;
    size_t n;
};

MAYBE_UNUSED void corpus_init(struct corpus *c)
{
    *c = (struct corpus){0};
    c->docs = mem_array(CORPUS_MAX_DOCS, sizeof(*c->docs));
}

MAYBE_UNUSED void corpus_done(struct corpus *c)
{
    arena_done(&c->arena);
    free(c->docs);
}

MAYBE_UNUSED struct slice corpus_text(struct corpus *c, const char *text)
{
    return arena_copy(&c->arena, slice_of(text));
}

/* labels: separated by commas, sorted; "" for none. */
MAYBE_UNUSED struct doc_scope corpus_scope(struct corpus *c, const char *collection,
                                           const char *doc_type, const char *labels)
{
    struct slice *list = arena_alloc(&c->arena, 8 * sizeof(*list));
    struct doc_scope scope = {corpus_text(c, collection), corpus_text(c, doc_type), list, 0};
    struct slice rest = corpus_text(c, labels);
    while (rest.n) {
        const char *comma = memchr(rest.p, ',', rest.n);
        size_t n = comma ? (size_t)(comma - rest.p) : rest.n;
        list[scope.n_labels++] = (struct slice){rest.p, n};
        rest = slice_skip(rest, comma ? n + 1 : n);
    }
    return scope;
}

/* A document with n_chunks empty chunks at positions 0 …; the caller fills the texts. */
MAYBE_UNUSED struct chunk_input *corpus_add(struct corpus *c, struct doc_scope scope,
                                            const char *doc_id, const char *title, size_t n_chunks)
{
    cr_assert_lt(c->n, CORPUS_MAX_DOCS);
    struct chunk_input *chunks = arena_alloc(&c->arena, n_chunks * sizeof(*chunks));
    for (size_t i = 0; i < n_chunks; i++) {
        chunks[i].position = (uint32_t)i;
    }
    c->docs[c->n++] = (struct test_doc){
        .scope = scope,
        .input = {.doc_id = corpus_text(c, doc_id),
                  .title = corpus_text(c, title),
                  .published = NO_DATE,
                  .chunks = chunks,
                  .n_chunks = n_chunks},
    };
    return chunks;
}

MAYBE_UNUSED void corpus_add_text(struct corpus *c, struct doc_scope scope, const char *doc_id,
                                  const char *title, const char *text)
{
    corpus_add(c, scope, doc_id, title, 1)->text = corpus_text(c, text);
}

/* Words that the analysis leaves as they are; the first ones are frequent. */
MAYBE_UNUSED const char *corpus_word(struct random *r)
{
    static const char *const words[] = {
        "kilo",   "delta",  "bravo",  "tango",  "lima",  "romeo", "papa",  "oscar",
        "zulu",   "quebec", "sierra", "victor", "mango", "topaz", "onyx",  "opal",
        "cobalt", "kraft",  "fjord",  "lynx",   "gecko", "bison", "tapir", "koala",
        "panda",  "heron",  "robin",  "finch",  "quail", "stork",
    };
    enum { N = sizeof(words) / sizeof(*words) };
    return words[random_below(r, 1 + random_below(r, N))];
}

MAYBE_UNUSED struct slice corpus_sentence(struct corpus *c, struct random *r, uint32_t max_words)
{
    struct dynbuf b;
    dynbuf_init(&b, 100000);
    uint32_t n = 1 + random_below(r, max_words);
    for (uint32_t i = 0; i < n; i++) {
        dynbuf_add_text(&b, i ? " " : "");
        dynbuf_add_text(&b, corpus_word(r));
    }
    struct slice text = arena_copy(&c->arena, dynbuf_get(&b));
    dynbuf_done(&b);
    return text;
}

/* A document of many shapes: ids that sort oddly, repeated texts, with and without date, title,
 * context and URL. */
MAYBE_UNUSED void corpus_add_random(struct corpus *c, struct random *r, struct doc_scope scope,
                                    const char *id_prefix)
{
    static const char *const endings[] = {"", "/1", "-b", ".c", "/10/x"};
    static const char *const shared[] = {"kilo delta mango", "this page is left blank",
                                         "lima lima onyx papa", "bison"};
    char id[128];
    snprintf(id, sizeof(id), "%s%zu%s", id_prefix, c->n, endings[random_below(r, 5)]);
    bool long_one = random_below(r, 12) == 0;
    size_t n = long_one ? 12 : 1 + random_below(r, 3);
    struct chunk_input *chunks = corpus_add(c, scope, id, "", n);
    struct doc_input *doc = &c->docs[c->n - 1].input;
    if (random_below(r, 3)) {
        doc->title = corpus_sentence(c, r, 4);
    }
    if (random_below(r, 2)) {
        doc->source_url = corpus_text(c, "https://kb.example/page");
    }
    if (random_below(r, 4)) {
        doc->published = (int32_t)random_below(r, 100);
    }
    for (size_t i = 0; i < n; i++) {
        chunks[i].text = random_below(r, 5) ? corpus_sentence(c, r, 25)
                                            : corpus_text(c, shared[random_below(r, 4)]);
        if (random_below(r, 4) == 0) {
            chunks[i].context = corpus_sentence(c, r, 6);
        }
    }
}

/* Stores */

MAYBE_UNUSED int corpus_by_scope_and_id(const void *a, const void *b)
{
    const struct test_doc *x = a;
    const struct test_doc *y = b;
    int order = doc_scope_cmp(&x->scope, &y->scope);
    return order ? order : slice_cmp(x->input.doc_id, y->input.doc_id);
}

MAYBE_UNUSED void store_add_segment(const char *store, const struct segment_input *in,
                                    struct generation_entry *entry)
{
    struct segment_paths paths;
    struct err_detail why = {{0}};
    entry->partition.scope = in->scope;
    entry->partition.n_docs = in->n_docs;
    for (size_t i = 0; i < in->n_docs; i++) {
        entry->partition.n_chunks += in->docs[i].n_chunks;
    }
    segment_content_digest(in, &entry->partition.content);
    cr_assert(generation_segment_paths(store, &entry->partition.content, "", &paths));
    unlink(paths.texts);
    unlink(paths.index);
    bool good = segment_write(in, &entry->partition.content, &paths, &entry->files, &why);
    cr_assert(good, "%s", why.text);
}

/* Publishes the corpus as the store's next generation: one segment for each scope in it. */
MAYBE_UNUSED void store_publish(const char *store, struct corpus *c)
{
    struct err_detail why = {{0}};
    int lock = generation_lock(store, &why);
    cr_assert_geq(lock, 0, "%s", why.text);
    qsort(c->docs, c->n, sizeof(*c->docs), corpus_by_scope_and_id);
    struct doc_input *docs = mem_array(c->n, sizeof(*docs));
    struct generation_entry *entries = mem_array(c->n, sizeof(*entries));
    size_t n = 0;
    for (size_t i = 0, first = 0; i < c->n; i++) {
        docs[i] = c->docs[i].input;
        if (i + 1 == c->n || doc_scope_cmp(&c->docs[i].scope, &c->docs[i + 1].scope) != 0) {
            const struct segment_input in = {c->docs[i].scope, docs + first, i + 1 - first};
            store_add_segment(store, &in, &entries[n++]);
            first = i + 1;
        }
    }
    bool good = generation_publish(store, entries, n, &why);
    cr_assert(good, "%s", why.text);
    free(entries);
    free(docs);
    close(lock);
}

/* Filters: each argument is the inside of a YAML list. */
MAYBE_UNUSED struct filter *filter_for(const char *collections, const char *doc_types,
                                       const char *labels)
{
    struct dynbuf yaml;
    struct err_detail why = {{0}};
    dynbuf_init(&yaml, 10000);
    dynbuf_add_text(&yaml, "policy_version: 1\n"
                           "issuers:\n"
                           "  corp:\n"
                           "    iss: \"https://login.example/\"\n"
                           "    jwks_file: \"keys.json\"\n"
                           "    audiences: [\"https://kb.example/mcp\"]\n"
                           "    claims:\n"
                           "      scopes: {path: scope, kind: space_string}\n"
                           "      tenant: {path: tid, kind: string}\n"
                           "    tenants: {\"1\": acme}\n"
                           "grants:\n"
                           "  - id: reader\n"
                           "    tenants: [acme]\n"
                           "    when: {scopes_all: [\"kb:read\"]}\n"
                           "    allow:\n"
                           "      collections: [");
    dynbuf_add_text(&yaml, collections);
    dynbuf_add_text(&yaml, "]\n      doc_types: [");
    dynbuf_add_text(&yaml, doc_types);
    dynbuf_add_text(&yaml, "]\n      labels: [");
    dynbuf_add_text(&yaml, labels);
    dynbuf_add_text(&yaml, "]\n");
    struct policy *p = policy_parse(dynbuf_get(&yaml), "policy.yaml", &why);
    dynbuf_done(&yaml);
    cr_assert(p, "%s", why.text);
    size_t n = 0;
    static const struct slice scopes[] = {{"kb:read", 7}};
    struct claims claims = {
        .issuer = policy_issuers(p, &n),
        .sub = SLICE_LIT("alice"),
        .tenant = SLICE_LIT("acme"),
        .scopes = scopes,
        .n_scopes = 1,
    };
    struct filter *f = policy_compile(p, &claims);
    policy_unref(p);
    cr_assert(!filter_is_none(f));
    return f;
}

#endif
