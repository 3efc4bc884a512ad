/* SPDX-License-Identifier: Apache-2.0 */
#include "service/ingest/crew.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { TASKS = 500 };

struct log {
    atomic_int runs[TASKS + 1];
    atomic_size_t fails[2]; /* tasks that fail, or SIZE_MAX */
    pthread_t caller;
    size_t reports, last;
};

static bool run(void *arg, size_t task, struct err_detail *detail)
{
    struct log *l = arg;
    atomic_fetch_add(&l->runs[task], 1);
    err_detail_set(detail, "task %zu", task);
    return task != l->fails[0] && task != l->fails[1];
}

static void on_done(void *arg, size_t n_done)
{
    struct log *l = arg;
    cr_assert(pthread_equal(l->caller, pthread_self()), "reported on the calling thread");
    cr_assert(l->reports == 0 ? n_done == 0 : n_done > l->last);
    l->reports++;
    l->last = n_done;
}

static bool work(struct log *l, size_t n, unsigned n_threads, struct err_detail *why)
{
    const struct crew_tasks tasks = {.n = n, .run = run, .on_done = on_done, .arg = l};
    l->caller = pthread_self();
    return crew_run(&tasks, n_threads, why);
}

static const unsigned THREADS[] = {1, 2, 3, 16, 40};

Test(crew, every_task_is_run_once)
{
    for (size_t i = 0; i < sizeof(THREADS) / sizeof(*THREADS); i++) {
        struct log l = {.fails = {SIZE_MAX, SIZE_MAX}};
        struct err_detail why = {{0}};
        cr_assert(work(&l, TASKS, THREADS[i], &why));
        for (size_t task = 0; task < TASKS; task++) {
            cr_assert_eq(l.runs[task], 1);
        }
        cr_assert_eq(l.last, TASKS);
        cr_assert_str_eq(why.text, "", "no reason where nothing failed");
    }
}

/* Tasks are begun in order, so all before the first that fails were. */
Test(crew, the_first_in_order_gives_the_reason)
{
    for (size_t i = 0; i < sizeof(THREADS) / sizeof(*THREADS); i++) {
        struct log l = {.fails = {101, 100}};
        struct err_detail why = {{0}};
        cr_assert(!work(&l, TASKS, THREADS[i], &why));
        cr_assert_str_eq(why.text, "task 100");
        for (size_t task = 0; task <= 100; task++) {
            cr_assert_eq(l.runs[task], 1);
        }
    }
}

Test(crew, one_thread_stops_at_a_failure)
{
    struct log l = {.fails = {7, SIZE_MAX}};
    cr_assert(!work(&l, TASKS, 1, NULL));
    cr_assert_eq(l.runs[7], 1);
    cr_assert_eq(l.runs[8], 0);
}

Test(crew, nothing_to_do_is_done)
{
    struct log l = {.fails = {SIZE_MAX, SIZE_MAX}};
    cr_assert(work(&l, 0, crew_size(0), NULL));
    cr_assert_eq(crew_size(0), 0);
    cr_assert_eq(crew_size(1), 1);
    cr_assert_leq(crew_size(1000), 16);
}
