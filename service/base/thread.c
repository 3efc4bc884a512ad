/* SPDX-License-Identifier: Apache-2.0 */
/* The stack is set rather than inherited from the shell's limit: libh2o puts up to 400 KB of header
 * names on it. */
#include "service/base/thread.h"

#include <signal.h>
#include <stdlib.h>

enum { STACK_BYTES = 2 * 1024 * 1024 };

void thread_start(pthread_t *ret_thread, void *(*main)(void *arg), void *arg)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(ret_thread, &attributes, main, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (failed) {
        abort();
    }
}
