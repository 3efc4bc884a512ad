/* SPDX-License-Identifier: Apache-2.0 */
/* getaddrinfo may wait for a name server for many seconds, and nothing ends it sooner. So each
 * lookup has a thread of its own, which nobody waits for, and a state that lives until both sides
 * have let go of it. It ends with an event on a descriptor of that state rather than with a message
 * to the loop: a loop that is gone meanwhile has nothing to be told. */
#include "service/base/mem.h"
#include "service/loop/redis_private.h"

#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { STACK_BYTES = 512 * 1024 }; /* getaddrinfo's modules keep their buffers there */

struct redis_lookup {
    struct watch watch; /* the loop's thread alone uses it and owner */
    struct redis_loop *owner;
    atomic_uint n_holders; /* the owner and the thread */
    atomic_bool has_ended; /* then found is filled */
    struct redis_addresses found;
    int fd;
    char host[REDIS_HOST_MAX_BYTES + 1];
};

static void lookup_free(struct redis_lookup *l)
{
    close(l->fd);
    free(l);
}

static void let_go(struct redis_lookup *l)
{
    if (atomic_fetch_sub(&l->n_holders, 1) == 1) {
        lookup_free(l);
    }
}

static void look_up(const char *host, struct redis_addresses *ret_found)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    if (getaddrinfo(host, NULL, &hints, &found) != 0) {
        return;
    }
    for (struct addrinfo *a = found; a && ret_found->n < REDIS_MAX_ADDRESSES; a = a->ai_next) {
        char *text = ret_found->text[ret_found->n];
        ret_found->n += getnameinfo(a->ai_addr, a->ai_addrlen, text, sizeof(ret_found->text[0]),
                                    NULL, 0, NI_NUMERICHOST) == 0;
    }
    freeaddrinfo(found);
}

static void *run_lookup(void *arg)
{
    struct redis_lookup *l = arg;
    uint64_t one = 1;
    look_up(l->host, &l->found);
    atomic_store(&l->has_ended, true);
    ssize_t n = write(l->fd, &one, sizeof(one));
    (void)n; /* the counter is at 0: there is room */
    let_go(l);
    return NULL;
}

static void on_ended(struct watch *w, uint32_t events)
{
    struct redis_lookup *l = (struct redis_lookup *)w;
    struct redis_loop *r = l->owner;
    (void)events;
    if (!atomic_load(&l->has_ended)) {
        return;
    }
    r->addresses = l->found;
    redis_resolve_cancel(r);
    redis_enter(r);
    redis_resolved(r);
    redis_leave(r);
}

/* Not thread_start: where there is no room for a thread only this lookup fails. */
static bool start_thread(struct redis_lookup *l)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool has_started = pthread_create(&thread, &attributes, run_lookup, l) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return has_started;
}

bool redis_resolve(struct redis_loop *r)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0) {
        return false;
    }
    struct redis_lookup *l = mem_alloc(sizeof(*l));
    l->fd = fd;
    l->owner = r;
    l->watch.on_ready = on_ended;
    memcpy(l->host, r->options.address->host, sizeof(l->host));
    atomic_init(&l->n_holders, 2); /* its redis_loop and its thread */
    if (!watch_start(r->loop, &l->watch, fd, EPOLLIN)) {
        lookup_free(l);
        return false;
    }
    if (!start_thread(l)) {
        watch_stop(&l->watch);
        lookup_free(l);
        return false;
    }
    r->lookup = l;
    return true;
}

void redis_resolve_cancel(struct redis_loop *r)
{
    if (r->lookup) {
        watch_stop(&r->lookup->watch);
        let_go(r->lookup);
        r->lookup = NULL;
    }
}
