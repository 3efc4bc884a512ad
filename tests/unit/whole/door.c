/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is faked between the documents and the bytes: publish_documents writes the store, the
 * gate notices it as a running service does, and requests pass every step. */
#include "tests/unit/whole/door.h"

#include "service/base/clock.h"
#include "service/base/mem.h"
#include "service/ingest/publish.h"
#include "service/loop/loop.h"
#include "service/pipeline/gate.h"
#include "service/pipeline/gate_loop.h"
#include "service/retrieval/generation.h"
#include "tests/unit/auth/mint.h"

#include <ftw.h>
#include <unistd.h>

enum { PATH_BYTES = 512, FILE_MAX_BYTES = 1 << 20 };

struct door {
    char folder[PATH_BYTES], store[PATH_BYTES + 16];
    struct config *configs[N_PROFILES];
    struct gate *gates[N_PROFILES]; /* NULL: not opened yet */
    struct gate_loop *gate_loops[N_PROFILES];
    unsigned profile;
    struct loop *loop;
    struct dynbuf *reply;
};

const struct answer_settings ANSWERS[N_PROFILES] = {
    {.candidate_depth = 50, .also_in_max = 5, .byte_budget = 49152},
    {.candidate_depth = 20, .chunks_per_document = 1, .also_in_max = 2, .byte_budget = 4096},
    {.candidate_depth = 50, .chunks_per_document = 2, .also_in_max = 0, .byte_budget = 7000},
    {.candidate_depth = 200, .chunks_per_document = 3, .also_in_max = 1, .byte_budget = 12000},
};

/* Files */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void remove_folder(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static const char *file_of(const struct door *d, const char *name)
{
    static _Thread_local char path[2 * PATH_BYTES];
    snprintf(path, sizeof(path), "%s/%s", d->folder, name);
    return path;
}

static void write_file(const struct door *d, const char *name, struct slice bytes)
{
    FILE *f = fopen(file_of(d, name), "w");
    MUST(f && fwrite(bytes.p, 1, bytes.n, f) == bytes.n && fclose(f) == 0, "%s", name);
}

/* In memory where there is such a place: every publication is fsynced several times. */
static void make_folder(struct door *d)
{
    const char *base = getenv("TMPDIR");
    base = base ? base : access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(d->folder, sizeof(d->folder), "%s/kbgate-hidden-XXXXXX", base);
    MUST(mkdtemp(d->folder), "%s", base);
    snprintf(d->store, sizeof(d->store), "%s/store", d->folder);
}

static void add_answer(struct dynbuf *out, const struct answer_settings *s)
{
    char line[256];
    snprintf(line, sizeof(line),
             "answer: {candidate_depth: %u, chunks_per_document: %u, also_in_max: %u, "
             "byte_budget: %u}\n",
             s->candidate_depth, s->chunks_per_document, s->also_in_max, s->byte_budget);
    dynbuf_add_text(out, line);
}

static void config_name(char name[32], unsigned profile)
{
    snprintf(name, 32, "kbgate%u.yaml", profile);
}

static void write_config(struct door *d, unsigned profile)
{
    struct dynbuf text;
    struct err_detail why = {""};
    char name[32];
    dynbuf_init(&text, FILE_MAX_BYTES);
    dynbuf_add_text(&text, "public_url: \"" CALLER_AUDIENCE "\"\n"
                           "policy_file: policy.yaml\nstore: store\n"
                           "fence_key_file: fence.key\naudit_key_file: audit.key\n"
                           "cache_bytes: 0\nworkers: 1\n"
                           "budgets:\n"
                           "  tenant: {per_minute: 0, burst: 1, per_day: 0}\n"
                           "  subject: {per_minute: 0, burst: 1, per_day: 0}\n");
    add_answer(&text, &ANSWERS[profile]);
    config_name(name, profile);
    write_file(d, name, dynbuf_get(&text));
    d->configs[profile] = config_load(file_of(d, name), &why);
    MUST(d->configs[profile], "%s", why.text);
    dynbuf_done(&text);
}

void credentials_make(struct credentials *c)
{
    char payload[512];
    long long now_s = clock_unix_ms() / 1000;
    EVP_PKEY *key = mint_pkey(JWS_ES256);
    dynbuf_init(&c->jwks, FILE_MAX_BYTES);
    dynbuf_add_text(&c->jwks, "{\"keys\":[");
    mint_jwk(&c->jwks, key, "");
    dynbuf_add_text(&c->jwks, "]}");
    snprintf(payload, sizeof(payload),
             "{\"iss\":\"" CALLER_ISSUER "\",\"aud\":\"" CALLER_AUDIENCE
             "\",\"iat\":%lld,\"exp\":%lld," CALLER_CLAIMS "}",
             now_s, now_s + 43200);
    dynbuf_init(&c->token, MINT_MAX_BYTES);
    dynbuf_add_text(&c->token, "Bearer ");
    mint_compact(&c->token, key, JWS_ES256, SLICE_LIT("{\"alg\":\"ES256\"}"), slice_of(payload));
    EVP_PKEY_free(key);
}

void credentials_done(struct credentials *c)
{
    dynbuf_done(&c->jwks);
    dynbuf_done(&c->token);
}

struct door *door_new(const struct credentials *c)
{
    struct door *d = mem_alloc(sizeof(*d));
    make_folder(d);
    write_file(d, "jwks.json", dynbuf_get(&c->jwks));
    write_file(d, "fence.key", SLICE_LIT("0123456789abcdef0123456789abcdef"));
    write_file(d, "audit.key", SLICE_LIT("fedcba9876543210fedcba9876543210"));
    for (unsigned i = 0; i < N_PROFILES; i++) {
        write_config(d, i);
    }
    d->loop = loop_new();
    return d;
}

void door_free(struct door *d)
{
    for (unsigned i = 0; i < N_PROFILES; i++) {
        gate_loop_close(d->gate_loops[i]);
        gate_close(d->gates[i]);
        config_free(d->configs[i]);
    }
    loop_free(d->loop);
    remove_folder(d->folder);
    free(d);
}

/* The gate */

void door_admit(struct door *d, const struct caller *c, unsigned profile)
{
    struct dynbuf policy;
    dynbuf_init(&policy, FILE_MAX_BYTES);
    caller_write_policy(c, &policy);
    write_file(d, "policy.yaml", dynbuf_get(&policy));
    dynbuf_done(&policy);
    d->profile = profile;
}

static struct gate *take_gate(struct door *d)
{
    struct gate **gate = &d->gates[d->profile];
    struct err_detail why = {""};
    if (*gate) {
        gate_tick(*gate, true);
    } else {
        char name[32];
        config_name(name, d->profile);
        *gate = gate_open(d->configs[d->profile], file_of(d, name), &why);
        MUST(*gate, "%s", why.text);
        d->gate_loops[d->profile] = gate_loop_open(*gate, d->loop);
    }
    return *gate;
}

void door_reopen(struct door *d)
{
    gate_loop_close(d->gate_loops[d->profile]);
    gate_close(d->gates[d->profile]);
    d->gate_loops[d->profile] = NULL;
    d->gates[d->profile] = NULL;
    take_gate(d);
}

/* The store */

static struct document document_of(const struct paper *p, size_t line)
{
    return (struct document){.head = {.scope = place_scope(p->place),
                                      .doc_id = p->input.doc_id,
                                      .title = p->input.title,
                                      .source_url = p->input.source_url,
                                      .published = p->input.published},
                             .chunks = p->input.chunks,
                             .n_chunks = p->input.n_chunks,
                             .path = "papers.jsonl",
                             .line = line + 1};
}

static void publish_papers(const struct door *d, const struct world *w)
{
    const struct ingest_options options = {.store_dir = d->store};
    struct ingest_report report = {0};
    struct err_detail why = {""};
    struct collect c = {.options = &options, .report = &report};
    for (size_t i = 0; i < w->n; i++) {
        struct document document = document_of(&w->papers[i], i);
        collect_push(&c, &document);
    }
    MUST(collect_sort(&c, &why), "%s", why.text);
    MUST(c.n == w->n, "an id was drawn twice");
    MUST(publish_documents(&c, &report, &why), "%s", why.text);
    collect_done(&c);
}

static void publish_nothing(const struct door *d)
{
    struct err_detail why = {""};
    int lock = generation_lock(d->store, &why);
    MUST(lock >= 0, "%s", why.text);
    MUST(generation_publish(d->store, NULL, 0, &why), "%s", why.text);
    close(lock);
}

/* Publishing replaces collections and removes none. */
static bool loses_a_collection(const struct door *d, const struct world *w)
{
    struct generation live;
    struct err_detail why = {""};
    MUST(generation_read(d->store, &live, &why), "%s", why.text);
    bool loses = false;
    for (size_t i = 0; i < live.n; i++) {
        bool found = false;
        for (size_t k = 0; k < w->n && !found; k++) {
            found = slice_is(live.entries[i].partition.scope.collection,
                             COLLECTIONS[w->papers[k].place.collection]);
        }
        loses = loses || !found;
    }
    generation_done(&live);
    return loses;
}

void door_publish(struct door *d, const struct world *w, bool anew)
{
    if (anew || loses_a_collection(d, w)) {
        remove_folder(d->store);
    }
    if (w->n) {
        publish_papers(d, w);
    } else {
        publish_nothing(d);
    }
    take_gate(d);
}

/* Requests */

static void add_field(struct dynbuf *out, const char *name, struct slice value)
{
    if (value.p) {
        dynbuf_add_text(out, name);
        dynbuf_add(out, value);
        dynbuf_add_text(out, "\n");
    }
}

static void on_reply(struct request *r, const struct reply *reply, void *door)
{
    struct door *d = door;
    dynbuf_add_int(d->reply, reply->status);
    dynbuf_add_text(d->reply, reply->private_no_cache ? " private\n" : "\n");
    dynbuf_add_int(d->reply, reply->retry_after_ms);
    dynbuf_add_text(d->reply, "\n");
    add_field(d->reply, "type: ", reply->content_type);
    add_field(d->reply, "challenge: ", reply->www_authenticate);
    add_field(d->reply, "etag: ", reply->etag);
    add_field(d->reply, "", reply->body);
    request_free(r);
    loop_stop(d->loop);
}

void door_ask(struct door *d, const struct request_input *in, struct dynbuf *out)
{
    d->reply = out;
    request_run(request_new(d->gate_loops[d->profile], in, on_reply, d));
    loop_run(d->loop); /* returns at once where the answer came already */
}
