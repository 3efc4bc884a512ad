/* SPDX-License-Identifier: Apache-2.0 */
/* crew: threads that share a list of tasks and end with it.
 *
 * Tasks are begun in their order; the first in that order to fail decides the reason, so that it is
 * the same however many threads there are. Blocking: yes, until all threads are done. */
#ifndef INGEST_CREW_H
#define INGEST_CREW_H

#include "service/base/err.h"

struct crew_tasks {
    size_t n;
    /* On any thread. False with a reason: no further task is begun. */
    bool (*run)(void *arg, size_t task, struct err_detail *detail);
    /* On the calling thread, now and then; may be NULL. */
    void (*on_done)(void *arg, size_t n_done);
    void *arg;
};

/* As many threads as this process may use processors, at most one a task. */
unsigned crew_size(size_t n_tasks);

bool crew_run(const struct crew_tasks *tasks, unsigned n_threads, struct err_detail *detail);

#endif
