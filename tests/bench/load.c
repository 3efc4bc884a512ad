/* SPDX-License-Identifier: Apache-2.0 */
/* Load for a running kbgate: rounds that alternate between idle and N clients of cold searches, in
 * each of which /livez and a cached call are timed at a fixed pace. Every sample is printed, a JSON
 * line a round; what they mean is report.py's business. Threads block on a connection each: they
 * sleep nearly all the time, so the measured machine stays kbgate's. */
#include "tests/bench/connection.h"
#include "tests/bench/queries.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MAX_CLIENTS = 1024,
    MAX_ROUNDS = 1000,
    MAX_SECONDS = 3600,
    TOKEN_MAX_BYTES = 16 * 1024,
    REQUEST_MAX_BYTES = TOKEN_MAX_BYTES + 2048,
    PROBE_CONNECTIONS = 8, /* the kernel spreads connections over the loops: none is missed */
    PROBE_PERIOD_US = 2000,
    US_PER_S = 1000000,
};

struct options {
    uint16_t port, admin_port;
    unsigned clients, rounds, seconds;
    char token[TOKEN_MAX_BYTES];
    struct queries *queries;
};

struct samples {
    uint32_t *us;
    size_t n, cap;
};

/* What all clients of a round share. */
struct round {
    const struct options *options;
    int64_t ends_us;
    atomic_uint failed;
};

static atomic_uint_fast64_t next_serial = 1;

/* One thread: its requests and how long each took. */
struct client {
    pthread_t thread;
    struct round *round;
    void *(*main)(void *);
    uint64_t generator;
    struct samples samples;
};

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * US_PER_S + t.tv_nsec / 1000;
}

static void sleep_until(int64_t us)
{
    const struct timespec t = {.tv_sec = us / US_PER_S, .tv_nsec = us % US_PER_S * 1000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
        /* again */
    }
}

static void die(const char *what)
{
    (void)fprintf(stderr, "bench_load: %s\n", what);
    exit(1);
}

static void samples_add(struct samples *s, int64_t us)
{
    if (s->n == s->cap) {
        s->cap = 2 * s->cap + 4096;
        s->us = realloc(s->us, s->cap * sizeof(*s->us));
        if (!s->us) {
            die("out of memory");
        }
    }
    s->us[s->n++] = (uint32_t)(us < UINT32_MAX ? us : UINT32_MAX);
}

/* Only the first failure of a round is printed, they tend to be alike. */
static void fail(struct round *r, const char *what, const struct reply *reply)
{
    if (atomic_fetch_add(&r->failed, 1) == 0) {
        (void)fprintf(stderr, "bench_load: %s: status %d %.300s\n", what, reply->status,
                      reply->body ? reply->body : "(no answer)");
    }
}

/* Times one request whose answer must be a 200 that contains `expected`. */
static bool timed_call(struct client *self, struct connection *c, const char *request,
                       const char *expected)
{
    struct reply reply = {0};
    int64_t start = now_us();
    bool answered = connection_call(c, request, strlen(request), &reply);
    int64_t took = now_us() - start;
    if (!answered || reply.status != 200 || !strstr(reply.body, expected)) {
        fail(self->round, request[0] == 'G' ? "/livez" : "search_kb", &reply);
        return false;
    }
    samples_add(&self->samples, took);
    return true;
}

static void open_connections(struct connection *c, size_t n, uint16_t port)
{
    for (size_t i = 0; i < n; i++) {
        if (!connection_open(&c[i], port)) {
            die("cannot connect");
        }
    }
}

static void close_connections(struct connection *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        connection_close(&c[i]);
    }
}

static void write_search(char ret_request[REQUEST_MAX_BYTES], const struct options *o,
                         const char *query)
{
    char body[QUERY_MAX_BYTES + 200];
    int n = snprintf(body, sizeof(body),
                     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                     "\"name\":\"search_kb\",\"arguments\":{\"query\":\"%s\"}}}",
                     query);
    (void)snprintf(ret_request, REQUEST_MAX_BYTES,
                   "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nAuthorization: Bearer %s\r\n"
                   "Content-Type: application/json\r\n"
                   "Accept: application/json, text/event-stream\r\n"
                   "MCP-Protocol-Version: 2025-11-25\r\nContent-Length: %d\r\n\r\n%s",
                   o->port, o->token, n, body);
}

/* Searches without pause, each one new to every cache. */
static void *search(void *arg)
{
    struct client *self = arg;
    const struct options *o = self->round->options;
    struct connection c;
    char query[QUERY_MAX_BYTES], request[REQUEST_MAX_BYTES];
    open_connections(&c, 1, o->port);
    do {
        queries_write(o->queries, &self->generator, atomic_fetch_add(&next_serial, 1), query);
        write_search(request, o, query);
    } while (timed_call(self, &c, request, "\"isError\":false") && now_us() < self->round->ends_us);
    connection_close(&c);
    return NULL;
}

/* One request a period, over each connection in turn. */
static void probe(struct client *self, uint16_t port, const char *request, const char *expected)
{
    struct connection c[PROBE_CONNECTIONS];
    open_connections(c, PROBE_CONNECTIONS, port);
    int64_t due = now_us();
    for (size_t i = 0; due < self->round->ends_us; i++) {
        sleep_until(due);
        if (!timed_call(self, &c[i % PROBE_CONNECTIONS], request, expected)) {
            break;
        }
        int64_t late = now_us() - due;
        due += (late / PROBE_PERIOD_US + 1) * PROBE_PERIOD_US;
    }
    close_connections(c, PROBE_CONNECTIONS);
}

static void *probe_livez(void *arg)
{
    struct client *self = arg;
    char request[200];
    uint16_t port = self->round->options->admin_port;
    (void)snprintf(request, sizeof(request), "GET /livez HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n",
                   port);
    probe(self, port, request, "ok");
    return NULL;
}

static void *probe_cached(void *arg)
{
    struct client *self = arg;
    const struct options *o = self->round->options;
    char query[QUERY_MAX_BYTES], request[REQUEST_MAX_BYTES];
    uint64_t generator = 1;
    queries_write(o->queries, &generator, 0, query); /* always the same */
    write_search(request, o, query);
    probe(self, o->port, request, "\"isError\":false");
    return NULL;
}

static void print_samples(const char *name, const struct client *clients, size_t n)
{
    const char *comma = "";
    printf(",\"%s_us\":[", name);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < clients[i].samples.n; j++, comma = ",") {
            printf("%s%" PRIu32, comma, clients[i].samples.us[j]);
        }
    }
    printf("]");
}

/* Index 0 probes /livez, 1 the cached call, the rest search. */
static unsigned run_round(const struct options *o, unsigned n_searching, uint64_t seed)
{
    static struct client clients[2 + MAX_CLIENTS];
    size_t n = 2 + n_searching;
    int64_t start = now_us();
    struct round round = {.options = o, .ends_us = start + (int64_t)o->seconds * US_PER_S};
    memset(clients, 0, sizeof(clients));
    for (size_t i = 0; i < n; i++) {
        clients[i].round = &round;
        clients[i].generator = (seed << 16) + i + 1;
        clients[i].main = i == 0 ? probe_livez : i == 1 ? probe_cached : search;
        if (pthread_create(&clients[i].thread, NULL, clients[i].main, &clients[i]) != 0) {
            die("cannot start a thread");
        }
    }
    for (size_t i = 0; i < n; i++) {
        pthread_join(clients[i].thread, NULL);
    }
    printf("{\"clients\":%u,\"took_us\":%" PRId64 ",\"period_us\":%d,\"failed\":%u", n_searching,
           now_us() - start, PROBE_PERIOD_US, round.failed);
    print_samples("livez", &clients[0], 1);
    print_samples("cached", &clients[1], 1);
    print_samples("cold", &clients[2], n_searching);
    printf("}\n");
    (void)fflush(stdout);
    for (size_t i = 0; i < n; i++) {
        free(clients[i].samples.us);
    }
    return round.failed;
}

static void read_token(struct options *o, const char *file)
{
    FILE *in = fopen(file, "r");
    if (!in || !fgets(o->token, sizeof(o->token), in)) {
        die("cannot read the token file");
    }
    o->token[strcspn(o->token, "\r\n")] = '\0';
    (void)fclose(in);
}

static unsigned number(const char *text, unsigned max)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (end == text || *end || n == 0 || n > max) {
        die("a number is missing or out of range");
    }
    return (unsigned)n;
}

static struct options parse(int argc, char **argv)
{
    static const struct option LONG[] = {
        {"port", required_argument, NULL, 'p'},       {"admin-port", required_argument, NULL, 'a'},
        {"token-file", required_argument, NULL, 't'}, {"words", required_argument, NULL, 'w'},
        {"clients", required_argument, NULL, 'c'},    {"rounds", required_argument, NULL, 'r'},
        {"seconds", required_argument, NULL, 's'},    {0}};
    struct options o = {.clients = 8, .rounds = 5, .seconds = 3};
    for (int c; (c = getopt_long(argc, argv, "", LONG, NULL)) != -1;) {
        switch (c) {
        case 'p': o.port = (uint16_t)number(optarg, UINT16_MAX); break;
        case 'a': o.admin_port = (uint16_t)number(optarg, UINT16_MAX); break;
        case 't': read_token(&o, optarg); break;
        case 'w': o.queries = queries_load(optarg); break;
        case 'c': o.clients = number(optarg, MAX_CLIENTS); break;
        case 'r': o.rounds = number(optarg, MAX_ROUNDS); break;
        case 's': o.seconds = number(optarg, MAX_SECONDS); break;
        default: exit(2);
        }
    }
    if (!o.port || !o.admin_port || !o.token[0] || !o.queries) {
        die("give --port, --admin-port, --token-file and --words; --seconds is a round's length");
    }
    return o;
}

int main(int argc, char **argv)
{
    struct options o = parse(argc, argv);
    unsigned failed = 0;
    for (unsigned i = 0; i < o.rounds; i++) {
        failed += run_round(&o, 0, 2 * i + 1);
        failed += run_round(&o, o.clients, 2 * i + 2);
    }
    queries_free(o.queries);
    return failed ? 1 : 0;
}
