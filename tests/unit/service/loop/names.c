/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/service/loop/names.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sem_t names_resolving, names_may_resolve, names_resolved;

void names_init(void)
{
    sem_init(&names_resolving, 0, 0);
    sem_init(&names_may_resolve, 0, 0);
    sem_init(&names_resolved, 0, 0);
}

typedef int resolve(const char *, const char *, const struct addrinfo *, struct addrinfo **);

static int resolve_address(const char *name, const char *service, const struct addrinfo *hints,
                           struct addrinfo **ret)
{
    unsigned char address[sizeof(struct in6_addr)];
    if (inet_pton(AF_INET, name, address) != 1 && inet_pton(AF_INET6, name, address) != 1) {
        fprintf(stderr, "names: a test asks for a name\n");
        abort();
    }
    resolve *libc_resolve;
    void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");
    memcpy(&libc_resolve, &symbol, sizeof(symbol));
    return libc_resolve(name, service, hints, ret);
}

static struct addrinfo *list_of(uint32_t address, struct addrinfo *next)
{
    struct {
        struct addrinfo info;
        struct sockaddr_in address;
    } *one = calloc(1, sizeof(*one)); /* in one piece, as freeaddrinfo wants it */
    if (!one) {
        abort();
    }
    one->address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(address)};
    one->info = (struct addrinfo){.ai_family = AF_INET,
                                  .ai_socktype = SOCK_STREAM,
                                  .ai_addr = (struct sockaddr *)&one->address,
                                  .ai_addrlen = sizeof(one->address),
                                  .ai_next = next};
    return &one->info;
}

__attribute__((visibility("default"))) int getaddrinfo(const char *name, const char *service,
                                                       const struct addrinfo *hints,
                                                       struct addrinfo **ret)
{
    *ret = NULL;
    if (strcmp(name, "two.test") == 0) {
        *ret = list_of(INADDR_LOOPBACK + 1, list_of(INADDR_LOOPBACK, NULL));
        return 0;
    }
    if (strcmp(name, "slow.test") == 0) {
        sem_post(&names_resolving);
        sem_wait(&names_may_resolve);
        sem_post(&names_resolved);
        return EAI_NONAME;
    }
    return resolve_address(name, service, hints, ret);
}
