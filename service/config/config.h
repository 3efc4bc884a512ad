/* SPDX-License-Identifier: Apache-2.0 */
/* config: the service's one configuration file, strict YAML, one table.
 *
 * Paths in it are relative to the file's own folder, and absolute once read. Refused with file,
 * line, key and the fix: whatever is unknown, out of range or contradictory. Blocking: yes
 * (start-up and reload). */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include "service/base/dynbuf.h"
#include "service/base/err.h"
#include "service/loop/redis_address.h"

#include <stdint.h>

enum { CONFIG_MAX_BYTES = 256 * 1024 };

/* key, member, type, default, min, max, unit, reloadable, what it is. One list for the reader,
 * --help and the README's table (config_describe prints it). Types: text, path (made absolute;
 * "-" stays), int, flag, list. */
#define CONFIG_TABLE(X)                                                                            \
    X("listen", listen, text, "127.0.0.1:8080", 0, 0, "address", false,                            \
      "address and port of /mcp and /v1/search")                                                   \
    X("admin_listen", admin_listen, text, "127.0.0.1:9090", 0, 0, "address", false,                \
      "address and port of /livez, /readyz and /metrics; never the public port")                   \
    X("public_url", public_url, text, "", 0, 0, "URL", false,                                      \
      "the /mcp address as clients write it; the resource of RFC 9728; required")                  \
    X("policy_file", policy_file, path, "", 0, 0, "path", false, "issuers and grants; required")   \
    X("store", store, path, "", 0, 0, "path", false, "folder of the embedded store; required")     \
    X("fence_key_file", fence_key_file, path, "", 0, 0, "path", false,                             \
      "at least 32 random bytes that key the fence; required")                                     \
    X("audit_key_file", audit_key_file, path, "", 0, 0, "path", false,                             \
      "at least 32 random bytes that key hashes in the audit stream; required")                    \
    X("audit_file", audit_file, path, "", 0, 0, "path", false,                                     \
      "where audit lines go, appended; \"-\" is standard output; empty: nowhere")                  \
    X("token_key_file", token_key_file, path, "", 0, 0, "path", false,                             \
      "development only: the private key (PEM) `kbgate token` signs with")                         \
    X("allowed_hosts", allowed_hosts, list, "", 0, 0, "host[:port]", false,                        \
      "Host values served beside those of public_url and listen")                                  \
    X("allowed_origins", allowed_origins, list, "", 0, 0, "origin", false,                         \
      "Origin values served beside public_url's own")                                              \
    X("log_level", log_level, text, "info", 0, 0, "debug|info|warn|error", true,                   \
      "least level logged")                                                                        \
    X("threads", threads, int, 0, 0, 64, "threads", false, "serving loops; 0: one a core")         \
    X("workers", workers, int, 0, 0, 64, "threads", false, "search threads; 0: one a core")        \
    X("worker_queue", worker_queue, int, 256, 1, 100000, "jobs", false,                            \
      "searches that may wait for a thread; beyond it calls are retryable")                        \
    X("deadline_ms", deadline_ms, int, 10000, 100, 120000, "ms", false,                            \
      "longest a request may take")                                                                \
    X("drain_ms", drain_ms, int, 10000, 0, 120000, "ms", false,                                    \
      "longest SIGTERM waits for requests in flight")                                              \
    X("max_connections", max_connections, int, 10000, 1, 1000000, "connections", false,            \
      "open at once; beyond it new ones are closed")                                               \
    X("max_in_flight", max_in_flight, int, 1024, 1, 100000, "requests", false,                     \
      "being worked on at once; beyond it 503")                                                    \
    X("max_body_bytes", max_body_bytes, int, 1048576, 1024, 1048576, "bytes", false,               \
      "largest request body; beyond it 413")                                                       \
    X("cache_bytes", cache_bytes, int, 67108864, 0, 68719476736, "bytes", false,                   \
      "answers kept in the process; 0: none")                                                      \
    X("publish_output_schema", publish_output_schema, flag, true, 0, 0, "", false,                 \
      "whether tools/list carries outputSchema")

/* The same columns for what stands below `redis`. An int whose default is below its min has none:
 * it must be written. */
#define CONFIG_REDIS_TABLE(X)                                                                      \
    X("url", url, text, "", 0, 0, "URL", false,                                                    \
      "where cache and budgets of all replicas live: unix://[USER@]/PATH or "                      \
      "redis://[USER@]HOST[:PORT][/DATABASE]")                                                     \
    X("cache_url", cache_url, text, "", 0, 0, "URL", false,                                        \
      "where the cache lives, if not at redis.url")                                                \
    X("budget_url", budget_url, text, "", 0, 0, "URL", false,                                      \
      "where the budgets live, if not at redis.url")                                               \
    X("password_file", password_file, path, "", 0, 0, "path", false,                               \
      "the password of the URLs' user; a line break at its end is dropped")                        \
    X("cache_password_file", cache_password_file, path, "", 0, 0, "path", false,                   \
      "the same for the cache alone")                                                              \
    X("budget_password_file", budget_password_file, path, "", 0, 0, "path", false,                 \
      "the same for the budgets alone")                                                            \
    X("cache_key_file", cache_key_file, path, "", 0, 0, "path", false,                             \
      "at least 32 random bytes that sign cached answers, the same for all replicas; required")    \
    X("allow_plaintext", allow_plaintext, flag, false, 0, 0, "", false,                            \
      "whether a host that is not loopback may be spoken to in the clear")                         \
    X("replicas_max", replicas_max, int, 0, 1, 1000, "replicas", false,                            \
      "the most that ever run at once; without Redis each takes its share of a limit; required")   \
    X("connect_ms", connect_ms, int, 250, 10, 10000, "ms", false,                                  \
      "longest a connection may take until it is usable")                                          \
    X("command_ms", command_ms, int, 50, 1, 5000, "ms", false,                                     \
      "longest wait for a reply; then it goes on without Redis")                                   \
    X("lock_ms", lock_ms, int, 2000, 100, 60000, "ms", false,                                      \
      "longest others wait for the replica that searches the same; at most deadline_ms")           \
    X("answer_ttl_s", answer_ttl_s, int, 86400, 60, 2592000, "s", false,                           \
      "how long an answer is kept in Redis")                                                       \
    X("key_prefix", key_prefix, text, "kbgate:", 0, 0, "text", false,                              \
      "begins every key; 1 to 32 of A-Z a-z 0-9 : _ . -")

struct config_texts {
    const struct slice *items;
    size_t n;
};

/* A limit of 0: none. Windows: a minute (GCRA with a burst of at least 1), a day. */
struct budget_limits {
    int64_t per_minute, burst, per_day;
};

struct tenant_budget {
    struct slice tenant, tool; /* tool SLICE_NONE: the tenant as a whole */
    struct budget_limits limits;
};

struct config_tool {
    struct slice tool;
    int64_t cost; /* 1..1000 units of every budget */
    bool is_paid; /* costs money */
};

struct config_redis {
    bool is_configured;                  /* then both addresses are filled */
    struct redis_address cache, budgets; /* as the URLs say: without what a password file holds */
    const char *cache_password_file, *budget_password_file; /* "": none */
    const char *cache_key_file, *key_prefix;
    int64_t replicas_max, connect_ms, command_ms, lock_ms, answer_ttl_s;
};

struct config; /* opaque; the members below are read through config_values() */

struct config_values {
    const char *listen, *admin_listen, *public_url, *policy_file, *store, *fence_key_file,
        *audit_key_file, *audit_file, *token_key_file, *log_level;
    struct config_texts allowed_hosts, allowed_origins;
    int64_t threads, workers, worker_queue, deadline_ms, drain_ms, max_connections, max_in_flight,
        max_body_bytes, cache_bytes;
    bool publish_output_schema;

    /* answer: each member of ANSWER_PROFILE_TABLE may be set; here by name, for pipeline to apply.
     */
    struct config_setting {
        struct slice key;
        int64_t value;
        int line;
    } const *answer;
    size_t n_answer;

    /* budgets: defaults and those of named tenants and (tenant, tool). What a named tenant leaves
     * out is as in budget_tenant, what a tool leaves out is unlimited. */
    struct budget_limits budget_tenant, budget_subject; /* 120/20/20,000 and 60/10/10,000 */
    const struct tenant_budget *budgets;
    size_t n_budgets;
    const struct config_tool *tools; /* every tool */
    size_t n_tools;

    int64_t backend_max_rate; /* calls a minute that the engine stands; 0: not said */
    struct config_redis redis;
};

/* Reads the file at path. What only some commands need (policy_file, store, the key files,
 * public_url) may be absent: "". NULL with a reason. */
struct config *config_load(const char *path, struct err_detail *detail);
void config_free(struct config *c);
const struct config_values *config_values(const struct config *c);

/* The table as Markdown, for the README and `kbgate serve --help-config`. */
void config_describe(struct dynbuf *out);

/* Splits "host:port", "[v6]:port"; the host NUL-terminated without brackets. False: ill-formed. */
bool config_split_address(const char *address, char *ret_host, size_t host_size,
                          uint16_t *ret_port);

/* Whether every address a host text names is loopback: 127.0.0.0/8, ::1, localhost. */
bool config_host_is_loopback(const char *host);

#endif
