/* SPDX-License-Identifier: Apache-2.0 */
/* A double buffer: callers fill one, the thread writes the other. A reader of stderr that stalls
 * then costs log lines, never requests. */
#include "service/base/sink.h"

#include "service/base/dynbuf.h"
#include "service/base/mem.h"
#include "service/base/thread.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct sink {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    struct dynbuf filling;
    uint64_t dropped;
    int fd;
    bool closing;
};

static bool write_all(struct sink *s, struct slice bytes)
{
    while (bytes.n) {
        ssize_t n = write(s->fd, bytes.p, bytes.n);
        if (n < 0 && errno == EAGAIN) {
            struct pollfd writable = {.fd = s->fd, .events = POLLOUT};
            if (poll(&writable, 1, 1000) < 0 && errno != EINTR) {
                return false;
            }
        } else if (n < 0 && errno != EINTR) {
            return false;
        } else if (n > 0) {
            bytes = slice_skip(bytes, (size_t)n);
        }
    }
    return true;
}

static uint64_t count_lines(struct slice bytes)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < bytes.n; i++) {
        lines += bytes.p[i] == '\n';
    }
    return lines;
}

static void *run(void *arg)
{
    struct sink *s = arg;
    struct dynbuf writing;
    dynbuf_init(&writing, s->filling.max_bytes);
    pthread_mutex_lock(&s->lock);
    while (s->filling.n || !s->closing) {
        if (!s->filling.n) {
            pthread_cond_wait(&s->changed, &s->lock);
            continue;
        }
        struct dynbuf full = s->filling;
        s->filling = writing;
        writing = full;
        pthread_mutex_unlock(&s->lock);
        bool good = write_all(s, dynbuf_get(&writing));
        pthread_mutex_lock(&s->lock);
        s->dropped += good ? 0 : count_lines(dynbuf_get(&writing));
        dynbuf_cut(&writing, 0);
    }
    pthread_mutex_unlock(&s->lock);
    dynbuf_done(&writing);
    return NULL;
}

struct sink *sink_new(int fd, size_t max_bytes)
{
    struct sink *s = mem_alloc(sizeof(*s));
    s->fd = fd;
    dynbuf_init(&s->filling, max_bytes);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    thread_start(&s->thread, run, s);
    return s;
}

bool sink_put(struct sink *s, struct slice line)
{
    pthread_mutex_lock(&s->lock);
    bool fits = line.n <= s->filling.max_bytes - s->filling.n;
    if (fits) {
        dynbuf_add(&s->filling, line);
        pthread_cond_signal(&s->changed);
    } else {
        s->dropped++;
    }
    pthread_mutex_unlock(&s->lock);
    return fits;
}

uint64_t sink_dropped(struct sink *s)
{
    pthread_mutex_lock(&s->lock);
    uint64_t dropped = s->dropped;
    pthread_mutex_unlock(&s->lock);
    return dropped;
}

bool sink_free(struct sink *s, int wait_ms)
{
    if (!s) {
        return true;
    }
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    int64_t until_ns = until.tv_nsec + (int64_t)(wait_ms % 1000) * 1000000;
    until.tv_sec += wait_ms / 1000 + until_ns / 1000000000;
    until.tv_nsec = until_ns % 1000000000;
    if (pthread_timedjoin_np(s->thread, NULL, &until) != 0) {
        return false; /* the reader stalls: the process is about to end, so the thread keeps the
                         memory */
    }
    dynbuf_done(&s->filling);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
    return true;
}
