/* SPDX-License-Identifier: Apache-2.0 */
/* A name server that never answers, preloaded (LD_PRELOAD) into the program under test: looking up
 * silent.example takes until the process ends. */
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

typedef int lookup_fn(const char *, const char *, const struct addrinfo *, struct addrinfo **);

EXPORT int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                       struct addrinfo **ret_list)
{
    while (host && strcmp(host, "silent.example") == 0) {
        pause();
    }
    lookup_fn *real;
    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    return real(host, service, hints, ret_list);
}
