/* SPDX-License-Identifier: Apache-2.0 */
/* thread: threads that leave signals to the main thread.
 *
 * Failure:   a thread that cannot be started ends the process: kbgate starts all of its threads
 * before it serves. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>

/* Runs main(arg) on a new thread with a stack of 2 MiB and every signal blocked. */
void thread_start(pthread_t *ret_thread, void *(*main)(void *arg), void *arg);

#endif
