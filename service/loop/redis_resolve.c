/* SPDX-License-Identifier: Apache-2.0 */
/* getaddrinfo may wait for a name server for many seconds, and hiredis would call it on the loop.
 * The job's state is its own: the redis_loop may go while a worker is still waiting. */
#include "service/base/mem.h"
#include "service/loop/redis_private.h"

#include <netdb.h>
#include <stdlib.h>

struct redis_lookup {
    struct work work;
    struct redis_loop *owner; /* the loop's thread alone reads it; NULL: it is gone */
    struct redis_addresses found;
    char host[REDIS_HOST_MAX_BYTES + 1];
};

static void on_run(struct work *w, unsigned worker)
{
    struct redis_lookup *l = (struct redis_lookup *)w;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    (void)worker;
    if (getaddrinfo(l->host, NULL, &hints, &found) != 0) {
        return;
    }
    for (struct addrinfo *a = found; a && l->found.n < REDIS_MAX_ADDRESSES; a = a->ai_next) {
        char *text = l->found.text[l->found.n];
        l->found.n += getnameinfo(a->ai_addr, a->ai_addrlen, text, sizeof(l->found.text[0]), NULL,
                                  0, NI_NUMERICHOST) == 0;
    }
    freeaddrinfo(found);
}

static void on_found(struct work *w)
{
    struct redis_lookup *l = (struct redis_lookup *)w;
    struct redis_loop *r = l->owner;
    if (r) {
        r->lookup = NULL;
        r->addresses = l->found;
        redis_enter(r);
        redis_resolved(r);
        redis_leave(r);
    }
    free(l);
}

bool redis_resolve(struct redis_loop *r)
{
    if (!r->options.resolver) {
        return false;
    }
    struct redis_lookup *l = mem_alloc(sizeof(*l));
    l->work.run = on_run;
    l->work.done = on_found;
    l->owner = r;
    memcpy(l->host, r->options.address->host, sizeof(l->host));
    if (!worker_submit(r->options.resolver, r->loop, &l->work)) {
        free(l);
        return false;
    }
    r->lookup = l;
    return true;
}

void redis_resolve_cancel(struct redis_loop *r)
{
    if (r->lookup) {
        r->lookup->owner = NULL;
        r->lookup = NULL;
    }
}
