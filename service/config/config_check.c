/* SPDX-License-Identifier: Apache-2.0 */
/* What types and ranges cannot say: addresses, URLs and what contradicts each other. A wrong value
 * is found at the start, not by the first client whose Host or Origin does not fit. */
#include "service/config/config_parts.h"

#include "service/base/log.h"

struct check {
    const struct config *config;
    struct err_detail *detail;
};

static bool refuse(const struct check *k, const char *key, const char *reason)
{
    return config_refuse(k->config, config_path_under((struct config_path){0}, key), k->detail,
                         "%s", reason);
}

static bool check_address(const struct check *k, const char *key, const char *address)
{
    char host[256];
    uint16_t port;
    return config_split_address(address, host, sizeof(host), &port) ||
           refuse(k, key, "must be HOST:PORT or [IPV6]:PORT, as in 127.0.0.1:8080");
}

/* Printable ASCII without what would end or split a URL or a header value. */
static bool is_plain(struct slice text, const char *but)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c <= 0x20 || c >= 0x7F || c == '"' || c == '\\' || strchr(but, c)) {
            return false;
        }
    }
    return true;
}

/* What follows http:// or https://; SLICE_NONE for anything else. */
static struct slice after_scheme(struct slice url)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < 2; i++) {
        if (slice_starts(url, slice_of(schemes[i]))) {
            return slice_skip(url, strlen(schemes[i]));
        }
    }
    return SLICE_NONE;
}

static bool is_url(struct slice url, const char *but)
{
    struct slice rest = after_scheme(url);
    return rest.n > 0 && rest.p[0] != '/' && rest.p[rest.n - 1] != '/' && is_plain(rest, but);
}

static bool check_public_url(const struct check *k)
{
    struct slice url = slice_of(k->config->values.public_url);
    return url.n == 0 || is_url(url, "?#@<>") ||
           refuse(k, "public_url",
                  "must be http(s)://HOST[:PORT]/PATH without a slash at its end, query, fragment "
                  "or user");
}

static bool check_names(const struct check *k)
{
    const struct config_values *v = &k->config->values;
    for (size_t i = 0; i < v->allowed_hosts.n; i++) {
        if (!is_plain(v->allowed_hosts.items[i], "/?#@*,")) {
            return refuse(k, "allowed_hosts",
                          "must list hosts with or without a port, as in kb.example.com:8443");
        }
    }
    for (size_t i = 0; i < v->allowed_origins.n; i++) {
        struct slice origin = v->allowed_origins.items[i];
        if (!is_url(origin, "?#@*,") ||
            memchr(after_scheme(origin).p, '/', after_scheme(origin).n)) {
            return refuse(k, "allowed_origins",
                          "must list origins without a path, as in https://app.example.com");
        }
    }
    return true;
}

bool config_check(const struct config *c, struct err_detail *detail)
{
    const struct check k = {c, detail};
    const struct config_values *v = &c->values;
    enum log_level level;
    if (!log_level_parse(slice_of(v->log_level), &level)) {
        return refuse(&k, "log_level", "must be debug, info, warn or error");
    }
    if (!check_address(&k, "listen", v->listen) ||
        !check_address(&k, "admin_listen", v->admin_listen)) {
        return false;
    }
    struct slice listen = slice_of(v->listen);
    if (slice_is(listen, v->admin_listen) &&
        !(listen.n > 2 && slice_is(slice_skip(listen, listen.n - 2), ":0"))) {
        return refuse(&k, "admin_listen", "is the address of listen; give it a port of its own");
    }
    return check_public_url(&k) && check_names(&k);
}
