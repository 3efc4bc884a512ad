/* SPDX-License-Identifier: Apache-2.0 */
/* Four threads write through one sink whose reader is slower than they are: every line comes whole,
 * each thread's in its order, and what does not come was counted. */
#include "service/base/sink.h"
#include "service/base/thread.h"
#include "tests/threads/check.h"

#include <unistd.h>

enum { N_THREADS = 4, N_LINES = 5000, CEILING = 2000 };

struct writer {
    struct sink *sink;
    pthread_t thread;
    int number, n_refused;
};

struct reader {
    pthread_t thread;
    int fd, n_lines;
};

static void *write_lines(void *arg)
{
    struct writer *w = arg;
    for (int i = 1; i <= N_LINES; i++) {
        char line[32];
        int n = snprintf(line, sizeof(line), "%d %d.\n", w->number, i);
        w->n_refused += !sink_put(w->sink, (struct slice){line, (size_t)n});
    }
    return NULL;
}

static void *read_lines(void *arg)
{
    struct reader *r = arg;
    FILE *in = fdopen(r->fd, "r");
    char line[64];
    int last[N_THREADS] = {0};
    while (fgets(line, sizeof(line), in)) {
        int number, i;
        char end[2];
        CHECK(sscanf(line, "%d %d%1[.]\n", &number, &i, end) == 3);
        CHECK(number >= 0 && number < N_THREADS && i > last[number]);
        last[number] = i;
        r->n_lines++;
    }
    fclose(in);
    return NULL;
}

int main(void)
{
    struct writer writers[N_THREADS] = {{0}};
    int ends[2];
    CHECK(pipe(ends) == 0);
    struct reader reader = {.fd = ends[0]};
    struct sink *sink = sink_new(ends[1], CEILING);
    thread_start(&reader.thread, read_lines, &reader);
    for (int i = 0; i < N_THREADS; i++) {
        writers[i].sink = sink;
        writers[i].number = i;
        thread_start(&writers[i].thread, write_lines, &writers[i]);
    }
    int n_refused = 0;
    for (int i = 0; i < N_THREADS; i++) {
        pthread_join(writers[i].thread, NULL);
        n_refused += writers[i].n_refused;
    }
    CHECK(sink_dropped(sink) == (uint64_t)n_refused);
    sink_free(sink, 60 * 1000);
    close(ends[1]);
    pthread_join(reader.thread, NULL);
    CHECK(reader.n_lines + n_refused == N_THREADS * N_LINES);
    CHECK(reader.n_lines > 0);
    return 0;
}
