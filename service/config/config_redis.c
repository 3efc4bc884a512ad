/* SPDX-License-Identifier: Apache-2.0 */
/* The section `redis`. A URL may hold a password, so no reason here quotes one: it is named by its
 * key. The cache and the budgets each have an address; `url` and `password_file` fill in for what
 * one of them does not say. */
#include "service/config/config_parts.h"

enum { PREFIX_MAX_BYTES = 32 };

struct redis_file {
#define X(key, member, type, standard, min, max, unit, reloadable, what) CONFIG_FILE_##type(member)
    CONFIG_REDIS_TABLE(X)
#undef X
};

static const struct yaml_field FIELDS[] = {
#define X(key, member, type, standard, min, max, unit, reloadable, what)                           \
    {key, CONFIG_TYPE_##type, false, offsetof(struct redis_file, member), min, max},
    CONFIG_REDIS_TABLE(X)
#undef X
};

static const struct redis_file STANDARD = {
#define X(key, member, type, standard, min, max, unit, reloadable, what)                           \
    .member = CONFIG_STANDARD_##type(standard),
    CONFIG_REDIS_TABLE(X)
#undef X
};

struct redis_reader {
    struct config *config;
    struct redis_file file;
    struct err_detail *detail;
};

/* One of the two, with the keys that its URL and its password file come from. */
struct endpoint {
    struct slice url, password_file;
    const char *url_key, *password_key;
};

static struct config_path below_redis(const char *key)
{
    return config_path_under(CONFIG_PATH("redis"), key);
}

static bool refuse(const struct redis_reader *r, const char *key, const char *reason)
{
    return config_refuse(r->config, below_redis(key), r->detail, "%s", reason);
}

static bool check_present(const struct redis_reader *r)
{
    const struct redis_file *f = &r->file;
    if (!f->url.n && !f->cache_url.n && !f->budget_url.n) {
        return refuse(r, "url", "is missing; say where Redis is, or remove `redis`");
    }
    if (!f->url.n && (!f->cache_url.n || !f->budget_url.n)) {
        return refuse(r, f->cache_url.n ? "budget_url" : "cache_url",
                      "is missing; write it too, or one redis.url for both");
    }
    if (!f->cache_key_file.n) {
        return refuse(r, "cache_key_file",
                      "is missing; name a file of 32 random bytes, the same for all replicas, made "
                      "with `openssl rand -out FILE 32`");
    }
    return f->replicas_max ||
           refuse(r, "replicas_max",
                  "is missing; write the most replicas that ever run at once (on Kubernetes the "
                  "autoscaler's maximum): each takes that share of a limit while Redis is away");
}

static bool check_used(const struct redis_reader *r)
{
    const struct redis_file *f = &r->file;
    if (f->url.n && f->cache_url.n && f->budget_url.n) {
        return refuse(r, "url", "holds for nothing beside cache_url and budget_url; remove it");
    }
    return !(f->password_file.n && f->cache_password_file.n && f->budget_password_file.n) ||
           refuse(r, "password_file",
                  "holds for nothing beside cache_password_file and budget_password_file; remove "
                  "it");
}

static bool check_times(const struct redis_reader *r)
{
    const struct redis_file *f = &r->file;
    int64_t deadline_ms = r->config->values.deadline_ms;
    if (f->lock_ms > deadline_ms) {
        return config_refuse(r->config, below_redis("lock_ms"), r->detail,
                             "is %lld, above deadline_ms, %lld: a call that waits for another "
                             "replica could never search by itself; write at most %lld",
                             (long long)f->lock_ms, (long long)deadline_ms, (long long)deadline_ms);
    }
    return f->connect_ms >= f->command_ms ||
           config_refuse(
               r->config, below_redis("connect_ms"), r->detail,
               "is %lld, below redis.command_ms, %lld: a connection begins with commands; "
               "write at least %lld",
               (long long)f->connect_ms, (long long)f->command_ms, (long long)f->command_ms);
}

static bool is_prefix_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ':' ||
           c == '_' || c == '.' || c == '-';
}

static bool check_prefix(const struct redis_reader *r)
{
    struct slice prefix = r->file.key_prefix;
    size_t n = 0;
    while (n < prefix.n && is_prefix_byte(prefix.p[n])) {
        n++;
    }
    return (n == prefix.n && n <= PREFIX_MAX_BYTES) ||
           refuse(r, "key_prefix", "must be 1 to 32 of A-Z a-z 0-9 : _ . -, as in kbgate:");
}

static bool read_endpoint(const struct redis_reader *r, const struct endpoint *e,
                          struct redis_address *ret_address)
{
    struct err_detail reason = {""};
    if (!redis_address_parse(e->url, ret_address, &reason)) {
        return refuse(r, e->url_key, reason.text);
    }
    if (*ret_address->password && e->password_file.n) {
        return config_refuse(
            r->config, below_redis(e->password_key), r->detail,
            "is one password too many: redis.%s holds one; keep the file, and take "
            "the password out of the URL",
            e->url_key);
    }
    return redis_address_is_local(ret_address) || r->file.allow_plaintext ||
           refuse(r, e->url_key,
                  "names a host that is not loopback, and Redis is spoken to in the clear; use a "
                  "unix socket or a tunnel that begins on loopback, or write `allow_plaintext: "
                  "true` where the network may be trusted");
}

static bool read_endpoints(const struct redis_reader *r)
{
    const struct redis_file *f = &r->file;
    struct endpoint cache = {f->url, f->password_file, "url", "password_file"};
    struct endpoint budgets = cache;
    if (f->cache_url.n) {
        cache.url = f->cache_url, cache.url_key = "cache_url";
    }
    if (f->budget_url.n) {
        budgets.url = f->budget_url, budgets.url_key = "budget_url";
    }
    if (f->cache_password_file.n) {
        cache.password_file = f->cache_password_file, cache.password_key = "cache_password_file";
    }
    if (f->budget_password_file.n) {
        budgets.password_file = f->budget_password_file,
        budgets.password_key = "budget_password_file";
    }
    struct config_redis *redis = &r->config->values.redis;
    redis->cache_password_file = config_absolute(r->config, cache.password_file);
    redis->budget_password_file = config_absolute(r->config, budgets.password_file);
    return read_endpoint(r, &cache, &redis->cache) && read_endpoint(r, &budgets, &redis->budgets);
}

static void convert(struct redis_reader *r)
{
    const struct redis_file *f = &r->file;
    struct config_redis *redis = &r->config->values.redis;
    redis->cache_password_file = redis->budget_password_file = "";
    redis->cache_key_file = config_absolute(r->config, f->cache_key_file);
    redis->key_prefix = f->key_prefix.p;
    redis->replicas_max = f->replicas_max;
    redis->connect_ms = f->connect_ms;
    redis->command_ms = f->command_ms;
    redis->lock_ms = f->lock_ms;
    redis->answer_ttl_s = f->answer_ttl_s;
}

bool config_read_redis(struct config *c, const struct yaml_node *redis, struct err_detail *detail)
{
    struct redis_reader r = {c, STANDARD, detail};
    if (redis &&
        !yaml_read(c->doc, redis, FIELDS, sizeof(FIELDS) / sizeof(FIELDS[0]), &r.file, detail)) {
        return false;
    }
    convert(&r);
    c->values.redis.is_configured = redis != NULL;
    return !redis || (check_present(&r) && check_used(&r) && check_prefix(&r) && check_times(&r) &&
                      read_endpoints(&r));
}
