/* SPDX-License-Identifier: Apache-2.0 */
/* search_kb calls without pause over N connections: either a fixed set of questions over and over,
 * or ones that no cache has seen. The set is dealt out among the connections, so that no two ever
 * ask the same at once: each call is answered for itself, none by another that is on its way.
 * Prints a JSON line; what it means is redis_report.py's business. */
#include "tests/bench/client.h"

#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CONNECTIONS = 1024, MAX_QUESTIONS = 1000000, MAX_MS = 3600 * 1000 };

struct options {
    struct target target;
    struct queries *queries;
    unsigned connections, questions, ms;
    unsigned first_serial; /* of the cold questions; 0: the fixed set */
    bool once;             /* the fixed set, each question a single time */
};

/* What all threads share. */
struct run {
    const struct options *options;
    int64_t ends_us;
    atomic_uint failed;
    atomic_uint_fast64_t next_cold;
    atomic_uint_fast64_t bytes;
    atomic_uint_fast64_t digest; /* of the answers, in whatever order they came; --once only */
};

struct thread {
    pthread_t thread;
    struct run *run;
    unsigned index;
    struct caller caller;
};

/* FNV-1a: tells whether two servers gave the same answers. */
static uint64_t hash(const char *p)
{
    uint64_t h = 0xcbf29ce484222325ULL;
    for (; *p; p++) {
        h = (h ^ (unsigned char)*p) * 0x100000001b3ULL;
    }
    return h;
}

/* False: the call failed. */
static bool ask(struct thread *self, struct connection *c, uint64_t generator, uint64_t serial)
{
    struct run *run = self->run;
    char query[QUERY_MAX_BYTES], request[REQUEST_MAX_BYTES];
    struct reply reply;
    queries_write(run->options->queries, &generator, serial, query);
    target_write_search(&run->options->target, query, request);
    if (!caller_call(&self->caller, c, request, "\"results\":[{", &reply)) {
        return false;
    }
    atomic_fetch_add(&run->bytes, strlen(reply.body));
    if (run->options->once) {
        atomic_fetch_add(&run->digest, hash(reply.body));
    }
    return true;
}

static void ask_cold(struct thread *self, struct connection *c)
{
    uint64_t serial;
    do {
        serial = atomic_fetch_add(&self->run->next_cold, 1);
    } while (ask(self, c, serial * 0x9E3779B97F4A7C15ULL, serial) && now_us() < self->run->ends_us);
}

/* Every connections-th question of the set, from the own one on. */
static void ask_again(struct thread *self, struct connection *c)
{
    const struct options *o = self->run->options;
    for (unsigned i = self->index;; i += o->connections) {
        if (i >= o->questions) {
            i = self->index;
            if (o->once) {
                return;
            }
        }
        if (!ask(self, c, i + 1, i) || (!o->once && now_us() >= self->run->ends_us)) {
            return;
        }
    }
}

static void *thread_main(void *arg)
{
    struct thread *self = arg;
    struct connection c;
    if (!connection_open(&c, self->run->options->target.port)) {
        die("cannot connect");
    }
    (self->run->options->first_serial ? ask_cold : ask_again)(self, &c);
    connection_close(&c);
    return NULL;
}

static void print(struct run *run, const struct thread *threads, int64_t took_us)
{
    const char *comma = "";
    size_t calls = 0;
    for (unsigned i = 0; i < run->options->connections; i++) {
        calls += threads[i].caller.samples.n;
    }
    printf("{\"calls\":%zu,\"took_us\":%" PRId64 ",\"bytes\":%" PRIu64 ",\"digest\":\"%016" PRIx64
           "\",\"us\":[",
           calls, took_us, run->bytes, run->digest);
    for (unsigned i = 0; i < run->options->connections; i++) {
        comma = samples_print(&threads[i].caller.samples, comma);
    }
    printf("]}\n");
}

static unsigned run_calls(const struct options *o)
{
    static struct thread threads[MAX_CONNECTIONS];
    int64_t start = now_us();
    struct run run = {
        .options = o, .ends_us = start + (int64_t)o->ms * 1000, .next_cold = o->first_serial};
    for (unsigned i = 0; i < o->connections; i++) {
        threads[i] = (struct thread){.run = &run, .index = i, .caller.failed = &run.failed};
        if (pthread_create(&threads[i].thread, NULL, thread_main, &threads[i]) != 0) {
            die("cannot start a thread");
        }
    }
    for (unsigned i = 0; i < o->connections; i++) {
        pthread_join(threads[i].thread, NULL);
    }
    print(&run, threads, now_us() - start);
    for (unsigned i = 0; i < o->connections; i++) {
        free(threads[i].caller.samples.us);
    }
    return run.failed;
}

static struct options parse(int argc, char **argv)
{
    static const struct option LONG[] = {{"port", required_argument, NULL, 'p'},
                                         {"token-file", required_argument, NULL, 't'},
                                         {"words", required_argument, NULL, 'w'},
                                         {"ms", required_argument, NULL, 'm'},
                                         {"connections", required_argument, NULL, 'c'},
                                         {"questions", required_argument, NULL, 'q'},
                                         {"cold", required_argument, NULL, 'n'},
                                         {"once", no_argument, NULL, 'o'},
                                         {0}};
    struct options o = {.connections = 8, .questions = 256, .ms = 1000};
    for (int c; (c = getopt_long(argc, argv, "", LONG, NULL)) != -1;) {
        switch (c) {
        case 'p': o.target.port = (uint16_t)argument_number(optarg, UINT16_MAX); break;
        case 't': target_read_token(&o.target, optarg); break;
        case 'w': o.queries = queries_load(optarg); break;
        case 'm': o.ms = argument_number(optarg, MAX_MS); break;
        case 'c': o.connections = argument_number(optarg, MAX_CONNECTIONS); break;
        case 'q': o.questions = argument_number(optarg, MAX_QUESTIONS); break;
        case 'n': o.first_serial = argument_number(optarg, UINT32_MAX); break;
        case 'o': o.once = true; break;
        default: exit(2);
        }
    }
    if (!o.target.port || !o.target.token[0] || !o.queries) {
        die("give --port, --token-file and --words");
    }
    if (o.connections > o.questions || (o.once && o.first_serial)) {
        die("give at least a question a connection; --once is for the fixed set");
    }
    return o;
}

int main(int argc, char **argv)
{
    struct options o = parse(argc, argv);
    unsigned failed = run_calls(&o);
    queries_free(o.queries);
    return failed ? 1 : 0;
}
