/* SPDX-License-Identifier: Apache-2.0 */
/* kbgate serve: opens the gate, serves, looks twice a second for a new version or policy, and
 * drains on SIGTERM. The main thread does all the blocking work, so the serving loops never have
 * to. */
#include "service/base/log.h"
#include "service/cli/options.h"
#include "service/http/server.h"
#include "service/pipeline/admin.h"
#include "service/pipeline/gate.h"
#include "service/pipeline/gate_loop.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    TICK_MS = 500,
    LOG_QUEUE_BYTES = 4 * 1024 * 1024,
    SINK_WAIT_MS = 2000,
    WRITE_TIMEOUT_MS = 30000,
    MAX_NAMES = 256,
    TABLE_MAX_BYTES = 64 * 1024,
    HOST_MAX_BYTES = 256,
};

struct values {
    const char *config;
    bool help_config;
};

static const struct cli_option OPTIONS[] = {
    {"config", "FILE", "the configuration", OPTION_TEXT, offsetof(struct values, config), 0, 0},
    {"help-config", NULL, "print the table of configuration keys and exit", OPTION_FLAG,
     offsetof(struct values, help_config), 0, 0},
};

/* What a Host or Origin header may say: the configured values, and our own addresses. */
struct names {
    struct slice items[MAX_NAMES];
    size_t n;
};

struct addresses {
    char host[HOST_MAX_BYTES], admin_host[HOST_MAX_BYTES];
    uint16_t port, admin_port;
};

static void add_name(struct names *names, struct slice name)
{
    if (name.n && names->n < MAX_NAMES) {
        names->items[names->n++] = name;
    }
}

static void add_all(struct names *names, struct config_texts texts)
{
    for (size_t i = 0; i < texts.n; i++) {
        add_name(names, texts.items[i]);
    }
}

/* "https://host:port" of a URL, and with `host_only` "host:port". */
static struct slice url_origin(const char *url, bool host_only)
{
    const char *authority = strstr(url, "://");
    if (!authority) {
        return SLICE_NONE;
    }
    authority += 3;
    const char *end = authority + strcspn(authority, "/?#");
    const char *begin = host_only ? authority : url;
    return (struct slice){begin, (size_t)(end - begin)};
}

static void add_hosts(struct names *names, const struct config_values *c, const char *host)
{
    add_all(names, c->allowed_hosts);
    add_name(names, url_origin(c->public_url, true));
    if (config_host_is_loopback(host)) {
        add_name(names, SLICE_LIT("127.0.0.1"));
        add_name(names, SLICE_LIT("localhost"));
        add_name(names, SLICE_LIT("[::1]"));
    }
}

static bool read_addresses(const struct config_values *c, struct addresses *ret,
                           struct err_detail *detail)
{
    if (!config_split_address(c->listen, ret->host, sizeof(ret->host), &ret->port)) {
        err_detail_set(detail, "key `listen`: %s is no address; write HOST:PORT", c->listen);
        return false;
    }
    if (!config_split_address(c->admin_listen, ret->admin_host, sizeof(ret->admin_host),
                              &ret->admin_port)) {
        err_detail_set(detail, "key `admin_listen`: %s is no address; write HOST:PORT",
                       c->admin_listen);
        return false;
    }
    return true;
}

static unsigned thread_count(const struct config_values *c)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return c->threads ? (unsigned)c->threads : cores > 0 ? (unsigned)cores : 1;
}

static struct http_server *start(struct gate *gate, const struct config_values *c,
                                 const struct addresses *a, struct err_detail *detail)
{
    struct names hosts = {.n = 0}, origins = {.n = 0};
    add_hosts(&hosts, c, a->host);
    add_all(&origins, c->allowed_origins);
    add_name(&origins, url_origin(c->public_url, false));
    const struct http_options options = {
        .host = a->host,
        .port = a->port,
        .admin_host = a->admin_host,
        .admin_port = a->admin_port,
        .n_threads = thread_count(c),
        .max_body_bytes = (size_t)c->max_body_bytes,
        .max_connections = (size_t)c->max_connections,
        .max_in_flight = (size_t)c->max_in_flight,
        .deadline_ms = c->deadline_ms,
        .write_timeout_ms = WRITE_TIMEOUT_MS,
        .hosts = hosts.items,
        .n_hosts = hosts.n,
        .origins = origins.items,
        .n_origins = origins.n,
    };
    return http_server_start(&options, gate, detail);
}

static void print_listening(const struct addresses *a, const struct http_server *server)
{
    printf("{\"listening\":\"%s:%u\",\"admin\":\"%s:%u\"}\n", a->host, http_server_port(server),
           a->admin_host, http_server_admin_port(server));
    fflush(stdout);
}

static void log_serving(const struct config_values *c)
{
    struct log_line l;
    log_begin(&l, LOG_INFO, "serving");
    log_text_z(&l, "listen", c->listen);
    log_text_z(&l, "admin_listen", c->admin_listen);
    log_text_z(&l, "public_url", c->public_url);
    if (c->redis.is_configured) { /* of all replicas, to be held against Redis' maxclients */
        log_int(&l, "redis_connections_max",
                (int64_t)GATE_LOOP_CONNECTIONS * thread_count(c) * c->redis.replicas_max);
    }
    log_end(&l);
}

static void block_signals(sigset_t *ret_set)
{
    sigemptyset(ret_set);
    sigaddset(ret_set, SIGTERM);
    sigaddset(ret_set, SIGINT);
    sigaddset(ret_set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, ret_set, NULL);
}

static bool apply_log_level(const struct config *config)
{
    enum log_level level;
    bool known = log_level_parse(slice_of(config_values(config)->log_level), &level);
    if (known) {
        log_set_level(level);
    }
    return known;
}

/* Returns when SIGTERM or SIGINT came. */
static void serve_until_signal(struct gate *gate, const sigset_t *signals)
{
    const struct timespec tick = {.tv_nsec = TICK_MS * 1000000L};
    for (;;) {
        int got = sigtimedwait(signals, NULL, &tick);
        if (got == SIGTERM || got == SIGINT) {
            return;
        }
        gate_tick(gate, got == SIGHUP);
    }
}

static bool serve(const struct config *config, const char *path, struct err_detail *detail)
{
    const struct config_values *c = config_values(config);
    struct addresses a;
    sigset_t signals;
    if (!read_addresses(c, &a, detail)) {
        return false;
    }
    block_signals(&signals);
    struct gate *gate = gate_open(config, path, detail);
    struct http_server *server = NULL;
    if (gate && gate_may_serve(gate, a.host, detail)) {
        server = start(gate, c, &a, detail);
    }
    if (server) {
        print_listening(&a, server);
        log_serving(c);
        serve_until_signal(gate, &signals);
        log_event(LOG_INFO, "draining", "a signal asked for the end");
        gate_begin_drain(gate);
        http_server_stop(server, c->drain_ms);
    }
    gate_close(gate);
    return server != NULL;
}

static int print_config_table(void)
{
    struct dynbuf out;
    dynbuf_init(&out, TABLE_MAX_BYTES);
    config_describe(&out);
    printf("%.*s", (int)out.n, out.p);
    dynbuf_done(&out);
    return EXIT_DONE;
}

static int run_serve(int argc, char **argv)
{
    struct values v = {0};
    int first;
    int result = options_parse(&COMMAND_SERVE, argc, argv, &v, &first);
    if (result >= 0) {
        return result;
    }
    if (v.help_config) {
        return print_config_table();
    }
    if (!v.config || first != argc) {
        return options_usage_error(&COMMAND_SERVE, "--config FILE is needed, and nothing else");
    }
    struct err_detail detail = {""};
    struct config *config = config_load(v.config, &detail);
    if (!config) {
        return command_failed(&COMMAND_SERVE, detail.text);
    }
    if (!apply_log_level(config)) {
        config_free(config);
        return command_failed(&COMMAND_SERVE, "key `log_level`: write debug, info, warn or error");
    }
    struct sink *log = sink_new(STDERR_FILENO, LOG_QUEUE_BYTES);
    log_to(log);
    bool good = serve(config, v.config, &detail);
    log_to(NULL);
    sink_free(log, SINK_WAIT_MS);
    config_free(config);
    return good ? EXIT_DONE : command_failed(&COMMAND_SERVE, detail.text);
}

const struct command COMMAND_SERVE = {
    .name = "serve",
    .arguments = "--config FILE",
    .summary = "serve /mcp and /v1/search over HTTP",
    .description =
        "Serves in the foreground. Prints one JSON line with the addresses when it is ready to\n"
        "accept; logs go to stderr as JSON lines. Changed policy and key files and what is\n"
        "reloadable of a changed configuration are taken up within a second; SIGHUP does so at\n"
        "once. SIGTERM or SIGINT stops accepting, lets calls in flight finish and exits 0.\n"
        "It does not start without an issuer, an audience, keys, a store and both key files, nor\n"
        "with a development issuer on an address that is not loopback.",
    .options = OPTIONS,
    .n_options = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .run = run_serve,
};
