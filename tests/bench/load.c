/* SPDX-License-Identifier: Apache-2.0 */
/* Load for a running kbgate: rounds that alternate between idle and N clients of cold searches, in
 * each of which /livez and a cached call are timed at a fixed pace. Every sample is printed, a JSON
 * line a round; what they mean is report.py's business. Threads block on a connection each: they
 * sleep nearly all the time, so the measured machine stays kbgate's. */
#include "tests/bench/client.h"

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
    PROBE_CONNECTIONS = 8, /* the kernel spreads connections over the loops: none is missed */
    PROBE_PERIOD_US = 2000,
};

struct options {
    struct target target;
    uint16_t admin_port;
    unsigned clients, rounds, seconds;
    struct queries *queries;
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
    struct caller caller;
};

static void sleep_until(int64_t us)
{
    const struct timespec t = {.tv_sec = us / US_PER_S, .tv_nsec = us % US_PER_S * 1000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
        /* again */
    }
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

/* Searches without pause, each one new to every cache. */
static void *search(void *arg)
{
    struct client *self = arg;
    const struct options *o = self->round->options;
    struct connection c;
    struct reply reply;
    char query[QUERY_MAX_BYTES], request[REQUEST_MAX_BYTES];
    open_connections(&c, 1, o->target.port);
    do {
        queries_write(o->queries, &self->generator, atomic_fetch_add(&next_serial, 1), query);
        target_write_search(&o->target, query, request);
    } while (caller_call(&self->caller, &c, request, "\"isError\":false", &reply) &&
             now_us() < self->round->ends_us);
    connection_close(&c);
    return NULL;
}

/* One request a period, over each connection in turn. */
static void probe(struct client *self, uint16_t port, const char *request, const char *expected)
{
    struct connection c[PROBE_CONNECTIONS];
    struct reply reply;
    open_connections(c, PROBE_CONNECTIONS, port);
    int64_t due = now_us();
    for (size_t i = 0; due < self->round->ends_us; i++) {
        sleep_until(due);
        if (!caller_call(&self->caller, &c[i % PROBE_CONNECTIONS], request, expected, &reply)) {
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
    target_write_search(&o->target, query, request);
    probe(self, o->target.port, request, "\"isError\":false");
    return NULL;
}

static void print_samples(const char *name, const struct client *clients, size_t n)
{
    const char *comma = "";
    printf(",\"%s_us\":[", name);
    for (size_t i = 0; i < n; i++) {
        comma = samples_print(&clients[i].caller.samples, comma);
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
        clients[i].caller.failed = &round.failed;
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
        free(clients[i].caller.samples.us);
    }
    return round.failed;
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
        case 'p': o.target.port = (uint16_t)argument_number(optarg, UINT16_MAX); break;
        case 'a': o.admin_port = (uint16_t)argument_number(optarg, UINT16_MAX); break;
        case 't': target_read_token(&o.target, optarg); break;
        case 'w': o.queries = queries_load(optarg); break;
        case 'c': o.clients = argument_number(optarg, MAX_CLIENTS); break;
        case 'r': o.rounds = argument_number(optarg, MAX_ROUNDS); break;
        case 's': o.seconds = argument_number(optarg, MAX_SECONDS); break;
        default: exit(2);
        }
    }
    if (!o.target.port || !o.admin_port || !o.target.token[0] || !o.queries) {
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
