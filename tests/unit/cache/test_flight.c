/* SPDX-License-Identifier: Apache-2.0 */
/* Equal calls fly together: one leads, the others get what it got, in the order they came, and
 * nobody is forgotten, whoever leaves and whenever. Loops run on the test's own thread, a turn at a
 * time: what was told stays on its way until the test lets the loop run. */
#include "cache/flight.h"

#include <criterion/criterion.h>

TestSuite(flight, .timeout = 30);

enum { MAX_PASSENGERS = 8 };

struct passenger {
    struct op op;
    struct seat *seat;
    struct boarding boarding;
    int n_done;
    unsigned done_as; /* 1 for the first of the airport that was done */
    struct airport *airport;
};

struct airport {
    struct flights *flights;
    struct loop *loops[2];
    struct cache_key key;
    unsigned n_done;
    struct passenger p[MAX_PASSENGERS];
};

static void on_done(struct op *op)
{
    struct passenger *p = (struct passenger *)op;
    p->n_done++;
    p->done_as = ++p->airport->n_done;
}

static void airport_init(struct airport *a)
{
    *a = (struct airport){.flights = flights_new(), .loops = {loop_new(), loop_new()}};
    digest_of(SLICE_LIT("key"), &a->key.value);
    for (int i = 0; i < MAX_PASSENGERS; i++) {
        a->p[i].airport = a;
        a->p[i].op.on_done = on_done;
    }
}

/* What was told so far arrives. */
static void run(struct airport *a)
{
    for (int i = 0; i < 2; i++) {
        loop_stop(a->loops[i]);
        loop_run(a->loops[i]);
    }
}

static void airport_done(struct airport *a)
{
    run(a);
    flights_free(a->flights);
    loop_free(a->loops[0]);
    loop_free(a->loops[1]);
}

static void board_key(struct airport *a, int i, const struct cache_key *key)
{
    flight_board(a->flights, a->loops[i % 2], key, &a->p[i].seat, &a->p[i].boarding, &a->p[i].op);
}

static void board(struct airport *a, int n)
{
    for (int i = 0; i < n; i++) {
        board_key(a, i, &a->key);
    }
}

static bool leads(const struct passenger *p)
{
    return p->n_done == 1 && p->op.result == ERR_OK && p->boarding.leads && !p->boarding.value;
}

static bool waits(const struct passenger *p)
{
    return p->n_done == 0 && p->op.active;
}

static bool answered(const struct passenger *p, const struct cache_value *value)
{
    return p->n_done == 1 && p->op.result == ERR_OK && !p->boarding.leads &&
           p->boarding.value == value;
}

static void leave_answered(struct passenger *p)
{
    cache_release(p->boarding.value);
    seat_leave(p->seat);
}

static const struct cache_value *answer(const struct airport *a)
{
    return cache_value_new(&a->key, SLICE_LIT("body"), SLICE_NONE, false);
}

/* The last reference is the test's: an address sanitizer sees one too few or too many. */
static void land(struct airport *a, int i)
{
    const struct cache_value *value = answer(a);
    seat_land(a->p[i].seat, value);
    cache_release(value);
}

Test(flight, the_first_leads_at_once_and_the_others_get_its_answer)
{
    struct airport a;
    airport_init(&a);
    board(&a, 4);
    run(&a);
    cr_assert(leads(&a.p[0]));
    cr_assert(waits(&a.p[1]) && waits(&a.p[2]) && waits(&a.p[3]));
    const struct cache_value *value = answer(&a);
    seat_land(a.p[0].seat, value);
    cr_assert(waits(&a.p[1]), "told on its own loop, not on the leader's");
    run(&a);
    for (int i = 1; i < 4; i++) {
        cr_assert(answered(&a.p[i], value));
        leave_answered(&a.p[i]);
    }
    cr_assert_eq(a.p[0].n_done, 1);
    cr_assert(slice_is(value->body, "body"));
    cache_release(value);
    struct flight_stats stats;
    flights_stats(a.flights, &stats);
    cr_assert(stats.waited == 3 && stats.handed_over == 0);
    airport_done(&a);
}

Test(flight, an_error_of_the_leader_is_everybodys)
{
    struct airport a;
    airport_init(&a);
    board(&a, 3);
    seat_fail(a.p[0].seat, ERR_BACKEND_DOWN);
    run(&a);
    for (int i = 1; i < 3; i++) {
        cr_assert(a.p[i].n_done == 1 && a.p[i].op.result == ERR_BACKEND_DOWN);
        cr_assert(!a.p[i].boarding.leads && !a.p[i].boarding.value);
        seat_leave(a.p[i].seat);
    }
    struct flight_stats stats;
    flights_stats(a.flights, &stats);
    cr_assert_eq(stats.waited, 0, "an error is no answer");
    airport_done(&a);
}

Test(flight, other_keys_do_not_wait)
{
    struct airport a;
    struct cache_key other;
    airport_init(&a);
    digest_of(SLICE_LIT("other"), &other.value);
    board_key(&a, 0, &a.key);
    board_key(&a, 1, &other);
    cr_assert(leads(&a.p[0]) && leads(&a.p[1]));
    land(&a, 0);
    seat_leave(a.p[1].seat);
    airport_done(&a);
}

Test(flight, who_boards_after_the_landing_leads_anew)
{
    struct airport a;
    airport_init(&a);
    board_key(&a, 0, &a.key);
    land(&a, 0);
    board_key(&a, 1, &a.key);
    cr_assert(leads(&a.p[1]));
    seat_fail(a.p[1].seat, ERR_BUSY);
    board_key(&a, 2, &a.key);
    cr_assert(leads(&a.p[2]));
    seat_leave(a.p[2].seat);
    board_key(&a, 3, &a.key);
    cr_assert(leads(&a.p[3]), "a flight that all left is over");
    seat_leave(a.p[3].seat);
    airport_done(&a);
}

Test(flight, is_handed_over_in_the_order_of_boarding)
{
    struct airport a;
    airport_init(&a);
    board(&a, 5);
    seat_leave(a.p[2].seat); /* from the middle of the queue */
    seat_leave(a.p[0].seat);
    run(&a);
    cr_assert(leads(&a.p[1]) && waits(&a.p[3]) && waits(&a.p[4]));
    seat_leave(a.p[1].seat);
    run(&a);
    cr_assert(leads(&a.p[3]) && waits(&a.p[4]));
    board_key(&a, 5, &a.key);
    seat_leave(a.p[4].seat);
    land(&a, 3);
    run(&a);
    cr_assert_eq(a.p[5].n_done, 1);
    leave_answered(&a.p[5]);
    cr_assert(a.p[2].n_done == 0 && a.p[4].n_done == 0, "who left hears nothing");
    struct flight_stats stats;
    flights_stats(a.flights, &stats);
    cr_assert(stats.handed_over == 2 && stats.waited == 1);
    airport_done(&a);
}

Test(flight, tells_in_the_order_of_boarding)
{
    struct airport a;
    airport_init(&a);
    for (int i = 0; i < 6; i++) { /* all on one loop */
        flight_board(a.flights, a.loops[0], &a.key, &a.p[i].seat, &a.p[i].boarding, &a.p[i].op);
    }
    land(&a, 0);
    run(&a);
    for (unsigned i = 1; i < 6; i++) {
        cr_assert_eq(a.p[i].done_as, i + 1);
        leave_answered(&a.p[i]);
    }
    airport_done(&a);
}

/* How a passenger may go while it waits or while something is on its way to it. */
enum exit_way { LEAVE, CANCEL_THEN_LEAVE, LEAVE_THEN_CANCEL, CANCEL_THEN_LEAVE_LATER, N_WAYS };

static void go(struct airport *a, int first, int last, enum exit_way way)
{
    for (int i = first; i <= last && way != LEAVE && way != LEAVE_THEN_CANCEL; i++) {
        op_cancel(&a->p[i].op);
    }
    if (way == CANCEL_THEN_LEAVE_LATER) {
        run(a);
    }
    for (int i = first; i <= last; i++) {
        seat_leave(a->p[i].seat);
        op_cancel(&a->p[i].op);
        cr_assert(!a->p[i].op.active);
    }
}

Test(flight, leadership_that_a_cancelled_waiter_was_told_of_goes_on)
{
    for (enum exit_way way = 0; way < N_WAYS; way++) {
        struct airport a;
        airport_init(&a);
        board(&a, 4);
        seat_leave(a.p[0].seat); /* p[1] is told */
        go(&a, 1, 2, way);       /* before it hears */
        run(&a);
        cr_assert(a.p[1].n_done == 0 && a.p[2].n_done == 0);
        cr_assert(leads(&a.p[3]), "way %d", way);
        struct flight_stats stats;
        flights_stats(a.flights, &stats);
        cr_assert_eq(stats.handed_over, 1, "only who heard of it became the leader");
        land(&a, 3);
        airport_done(&a);
    }
}

Test(flight, ends_when_its_last_waiter_goes_before_it_hears_that_it_leads)
{
    for (enum exit_way way = 0; way < N_WAYS; way++) {
        struct airport a;
        airport_init(&a);
        board(&a, 2);
        seat_leave(a.p[0].seat);
        go(&a, 1, 1, way);
        board_key(&a, 2, &a.key);
        cr_assert(leads(&a.p[2]));
        run(&a);
        cr_assert_eq(a.p[1].n_done, 0);
        seat_leave(a.p[2].seat);
        airport_done(&a);
    }
}

Test(flight, an_answer_on_its_way_to_a_cancelled_waiter_is_released)
{
    for (enum exit_way way = 0; way < N_WAYS; way++) {
        struct airport a;
        airport_init(&a);
        board(&a, 3);
        land(&a, 0);
        go(&a, 1, 1, way);
        run(&a);
        cr_assert_eq(a.p[1].n_done, 0);
        cr_assert_eq(a.p[2].n_done, 1);
        leave_answered(&a.p[2]);
        airport_done(&a); /* a leak sanitizer sees the reference and the seat */
    }
}

Test(flight, a_waiter_that_goes_leaves_the_rest_as_it_was)
{
    for (enum exit_way way = 0; way < N_WAYS; way++) {
        struct airport a;
        airport_init(&a);
        board(&a, 3);
        go(&a, 1, 1, way);
        run(&a);
        cr_assert(leads(&a.p[0]) && a.p[1].n_done == 0 && waits(&a.p[2]));
        land(&a, 0);
        run(&a);
        cr_assert_eq(a.p[2].n_done, 1);
        leave_answered(&a.p[2]);
        airport_done(&a);
    }
}

Test(flight, op_cancel_of_a_leader_changes_nothing)
{
    struct airport a;
    airport_init(&a);
    board(&a, 2);
    op_cancel(&a.p[0].op); /* it was done at once */
    run(&a);
    cr_assert(waits(&a.p[1]));
    seat_leave(a.p[0].seat);
    run(&a);
    cr_assert(leads(&a.p[1]));
    op_cancel(&a.p[1].op);
    land(&a, 1);
    seat_leave(NULL);
    airport_done(&a);
}

struct replacing {
    struct op op;
    struct seat *seat;
    struct boarding boarding;
    struct airport *airport;
};

/* A request may be over, its seat given back and another begun, while op_done runs. */
static void on_done_go_and_board_anew(struct op *op)
{
    struct replacing *r = (struct replacing *)op;
    struct airport *a = r->airport;
    cache_release(r->boarding.value);
    seat_leave(r->seat);
    memset(r, 0x5A, sizeof(*r));
    board_key(a, 1, &a->key);
}

Test(flight, a_seat_may_be_given_back_from_its_own_callback)
{
    struct airport a;
    airport_init(&a);
    struct replacing r = {.op = {.on_done = on_done_go_and_board_anew}, .airport = &a};
    board_key(&a, 0, &a.key);
    flight_board(a.flights, a.loops[1], &a.key, &r.seat, &r.boarding, &r.op);
    land(&a, 0);
    run(&a);
    cr_assert(leads(&a.p[1]));
    seat_leave(a.p[1].seat);
    airport_done(&a);
}
