/* SPDX-License-Identifier: Apache-2.0 */
/* Opening is a list of parts in the order they depend on each other; closing is the reverse and
 * takes a half-opened gate too. */
#include "service/base/log.h"
#include "service/base/mem.h"
#include "service/pipeline/gate_access.h"
#include "service/pipeline/gate_config.h"
#include "service/pipeline/key_file.h"
#include "service/retrieval/embedded.h"
#include "service/retrieval/fence.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

enum { AUDIT_QUEUE_BYTES = 4 * 1024 * 1024, SINK_WAIT_MS = 2000 };

static bool require_setting(const char *config_path, const char *key, const char *value,
                            const char *fix, struct err_detail *detail)
{
    if (*value) {
        return true;
    }
    err_detail_set(detail, "%s: key `%s` is missing; %s", config_path, key, fix);
    return false;
}

static bool check_settings(const struct config_values *c, const char *path,
                           struct err_detail *detail)
{
    return require_setting(path, "policy_file", c->policy_file,
                           "name the YAML file with issuers and grants", detail) &&
           require_setting(path, "public_url", c->public_url,
                           "write the /mcp address as clients use it, for example "
                           "http://127.0.0.1:8080/mcp",
                           detail) &&
           require_setting(path, "store", c->store,
                           "name the folder that `kbgate ingest --store` filled", detail) &&
           require_setting(path, "fence_key_file", c->fence_key_file,
                           "name a file of 32 random bytes, made with `openssl rand -out FILE 32`",
                           detail) &&
           require_setting(path, "audit_key_file", c->audit_key_file,
                           "name a file of 32 random bytes, made with `openssl rand -out FILE 32`",
                           detail);
}

/* Sets the member of that name; false where there is none or the value is out of range. */
static bool set_profile_member(struct answer_profile *p, const struct config_setting *s)
{
#define X(member, standard, low, high, what)                                                       \
    if (slice_is(s->key, #member)) {                                                               \
        p->member = (uint32_t)s->value;                                                            \
        return s->value >= (low) && s->value <= (high);                                            \
    }
    ANSWER_PROFILE_TABLE(X)
#undef X
    return false;
}

static void describe_profile_member(const struct config_setting *s, struct err_detail *ret)
{
#define X(member, standard, low, high, what)                                                       \
    if (slice_is(s->key, #member)) {                                                               \
        err_detail_set(ret, "must be %d..%d (%s)", low, high, what);                               \
        return;                                                                                    \
    }
    ANSWER_PROFILE_TABLE(X)
#undef X
#define X(member, standard, low, high, what) " " #member
    err_detail_set(ret, "is unknown; the keys of `answer` are" ANSWER_PROFILE_TABLE(X));
#undef X
}

static bool make_profile(struct gate *g, const char *config_path, struct err_detail *detail)
{
    answer_profile_init(&g->profile);
    fence_epoch(dynbuf_get(&g->fence_key), g->profile.fence_epoch);
    for (size_t i = 0; i < g->config->n_answer; i++) {
        const struct config_setting *s = &g->config->answer[i];
        if (!set_profile_member(&g->profile, s)) {
            struct err_detail rule;
            describe_profile_member(s, &rule);
            err_detail_set(detail, "%s:%d: key `answer.%.*s` %.400s", config_path, s->line,
                           (int)s->key.n, s->key.p, rule.text);
            return false;
        }
    }
    return true;
}

static bool open_audit(struct gate *g, struct err_detail *detail)
{
    const char *path = g->config->audit_file;
    if (!*path) {
        return true;
    }
    int fd = STDOUT_FILENO;
    if (strcmp(path, "-") != 0) {
        fd = g->audit_fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    }
    if (fd < 0) {
        err_detail_set(detail, "audit_file: %s: %s; name a file in a folder that can be written",
                       path, strerror(errno));
        return false;
    }
    g->audit = sink_new(fd, AUDIT_QUEUE_BYTES);
    return true;
}

static unsigned worker_count(const struct config_values *c)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return c->workers ? (unsigned)c->workers : cores > 0 ? (unsigned)cores : 1;
}

static void make_id_prefix(struct gate *g)
{
    uint64_t bits = 0;
    if (getrandom(&bits, sizeof(bits), 0) != (ssize_t)sizeof(bits)) {
        bits = (uint64_t)getpid();
    }
    (void)snprintf(g->id_prefix, sizeof(g->id_prefix), "%016llx", (unsigned long long)bits);
}

static bool open_parts(struct gate *g, const char *config_path, struct err_detail *detail)
{
    const struct config_values *c = g->config;
    if (!check_settings(c, config_path, detail) ||
        !key_file_read("fence_key_file", c->fence_key_file, &g->fence_key, detail) ||
        !key_file_read("audit_key_file", c->audit_key_file, &g->audit_key, detail) ||
        !make_profile(g, config_path, detail)) {
        return false;
    }
    if (!gate_redis_open(&c->redis, &g->redis, detail) || !gate_access_open(g, detail) ||
        !open_audit(g, detail)) {
        return false;
    }
    g->workers = worker_pool_new(worker_count(c), (size_t)c->worker_queue);
    g->backend = embedded_open(c->store, &g->profile, g->workers, detail);
    return g->backend != NULL;
}

struct gate *gate_open(const struct config *config, const char *config_path,
                       struct err_detail *detail)
{
    struct gate *g = mem_alloc(sizeof(*g));
    g->config = config_values(config);
    g->config_path = mem_text(slice_of(config_path));
    g->audit_fd = -1;
    pthread_mutex_init(&g->lock, NULL);
    dynbuf_init(&g->fence_key, KEY_FILE_MAX_BYTES);
    dynbuf_init(&g->audit_key, KEY_FILE_MAX_BYTES);
    make_id_prefix(g);
    gate_config_look(g);
    if (!open_parts(g, config_path, detail)) {
        gate_close(g);
        return NULL;
    }
    g->tokens = token_cache_new(TOKEN_CACHE_ENTRIES);
    g->cache = cache_new((size_t)g->config->cache_bytes);
    g->flights = flights_new();
    gate_config_open(g);
    return g;
}

void gate_close(struct gate *g)
{
    if (!g) {
        return;
    }
    if (g->workers) { /* before the backend: its jobs run there */
        worker_pool_free(g->workers);
    }
    if (g->backend) {
        g->backend->ops->free(g->backend);
    }
    gate_config_close(g);
    flights_free(g->flights);
    cache_free(g->cache);
    gate_redis_close(g->redis);
    token_cache_free(g->tokens);
    bool audit_ended = sink_free(g->audit, SINK_WAIT_MS);
    if (g->audit_fd >= 0 && audit_ended) {
        close(g->audit_fd);
    }
    gate_access_close(g);
    free(g->config_path);
    dynbuf_done(&g->fence_key);
    dynbuf_done(&g->audit_key);
    pthread_mutex_destroy(&g->lock);
    free(g);
}

void gate_tick(struct gate *g, bool reload)
{
    gate_config_propose(g, reload);
    gate_access_tick(g, reload);
    gate_config_settle(g);
    struct err_detail detail = {""};
    bool switched = false;
    if (!embedded_refresh(g->backend, &switched, &detail)) {
        atomic_fetch_add(&g->metrics.store_failures, 1);
        if (strcmp(detail.text, g->last_store_failure.text) != 0) {
            log_event(LOG_ERROR, "store_refresh_failed", detail.text);
        }
    }
    g->last_store_failure = detail;
    if (switched) {
        atomic_fetch_add(&g->metrics.store_switches, 1);
        log_event(LOG_INFO, "store_switched", "a new generation is served");
    }
}
