/* SPDX-License-Identifier: Apache-2.0 */
/* Four loops board, lead, land, fail, cancel and leave the same few flights at random. At no time
 * has a key two leaders, everybody who stays hears, an answer belongs to its key, and what was
 * handed out is what was counted. A lane frees its loop as soon as its own seats are given back,
 * while the others still fly: nothing may be posted to it any more. Every value and every seat is
 * released, or a leak sanitizer tells. */
#include "cache/flight.h"

#include "service/base/thread.h"
#include "tests/threads/check.h"

#include <stdatomic.h>

enum { N_LANES = 4, N_PASSENGERS = 12, N_KEYS = 3, N_TRIPS = 20000 };

struct airport {
    struct flights *flights;
    struct cache_key keys[N_KEYS];
    atomic_int leaders[N_KEYS];
    pthread_barrier_t together;
};

enum state { IDLE, WAITS, LEADS, ANSWERED, FAILED, CANCELLED };

struct passenger {
    struct op op;             /* first: found by it */
    struct loop_message turn; /* its next decision */
    bool has_turn;
    enum state state;
    unsigned key;
    struct seat *seat;
    struct boarding boarding;
    struct lane *lane;
};

struct lane {
    struct airport *airport;
    struct loop *loop;
    pthread_t thread, self;
    uint64_t random;
    unsigned n_trips, n_home, n_answered, n_led, n_failed;
    struct passenger passengers[N_PASSENGERS];
};

static unsigned draw(struct lane *l, unsigned n)
{
    return (unsigned)(next_random(&l->random) >> 33) % n;
}

static void decide_later(struct passenger *p)
{
    if (!p->has_turn) {
        p->has_turn = true;
        loop_post(p->lane->loop, &p->turn);
    }
}

static void on_boarded(struct op *op)
{
    struct passenger *p = (struct passenger *)op;
    CHECK(pthread_equal(pthread_self(), p->lane->self));
    CHECK(p->state == WAITS);
    if (op->result != ERR_OK) {
        CHECK(op->result == ERR_BACKEND_DOWN && !p->boarding.leads && !p->boarding.value);
        p->state = FAILED;
    } else if (p->boarding.leads) {
        CHECK(atomic_fetch_add(&p->lane->airport->leaders[p->key], 1) == 0);
        p->state = LEADS;
    } else {
        CHECK(
            slice_eq(p->boarding.value->body, digest_slice(&p->lane->airport->keys[p->key].value)));
        p->state = ANSWERED;
    }
    decide_later(p);
}

static void board(struct passenger *p)
{
    struct lane *l = p->lane;
    if (l->n_trips == N_TRIPS) {
        if (++l->n_home == N_PASSENGERS) {
            loop_stop(l->loop);
        }
        return;
    }
    l->n_trips++;
    p->key = draw(l, N_KEYS);
    p->state = WAITS;
    flight_board(l->airport->flights, l->loop, &l->airport->keys[p->key], &p->seat, &p->boarding,
                 &p->op);
    if (draw(l, 2)) {
        decide_later(p); /* the others have nothing but the flight to wake them */
    }
}

static void land(struct passenger *p)
{
    const struct cache_key *key = &p->lane->airport->keys[p->key];
    const struct cache_value *value =
        cache_value_new(key, digest_slice(&key->value), SLICE_NONE, false);
    seat_land(p->seat, value);
    cache_release(value);
}

/* Whether it is off. */
static bool decide_as_leader(struct passenger *p)
{
    unsigned choice = draw(p->lane, 8);
    if (choice > 4) {
        return false;
    }
    CHECK(atomic_fetch_sub(&p->lane->airport->leaders[p->key], 1) == 1);
    if (choice == 0) {
        seat_fail(p->seat, ERR_BACKEND_DOWN);
    } else if (choice == 1) {
        land(p);
    } else {
        seat_leave(p->seat);
    }
    return true;
}

/* Whether it is off. */
static bool decide_while_waiting(struct passenger *p)
{
    switch (draw(p->lane, 4)) {
    case 0: seat_leave(p->seat); return true;
    case 1:
        op_cancel(&p->op);
        seat_leave(p->seat);
        return true;
    case 2:
        op_cancel(&p->op);
        p->state = CANCELLED;
        return false;
    default: return false;
    }
}

static bool is_off(struct passenger *p)
{
    struct lane *l = p->lane;
    if (p->state == WAITS) {
        return decide_while_waiting(p);
    }
    if (p->state == LEADS) {
        bool off = decide_as_leader(p);
        l->n_led += off;
        return off;
    }
    l->n_answered += p->state == ANSWERED;
    l->n_failed += p->state == FAILED;
    if (p->state == ANSWERED) {
        cache_release(p->boarding.value);
    }
    seat_leave(p->seat);
    return true;
}

static void on_turn(struct loop_message *m)
{
    struct passenger *p = (struct passenger *)((char *)m - offsetof(struct passenger, turn));
    p->has_turn = false;
    if (p->state == IDLE || is_off(p)) {
        p->state = IDLE;
        board(p);
    } else if (p->state != WAITS) {
        decide_later(p);
    }
}

static void *serve(void *arg)
{
    struct lane *l = arg;
    l->self = pthread_self();
    l->loop = loop_new();
    for (unsigned i = 0; i < N_PASSENGERS; i++) {
        struct passenger *p = &l->passengers[i];
        p->op.on_done = on_boarded;
        p->turn.run = on_turn;
        p->lane = l;
        decide_later(p);
    }
    pthread_barrier_wait(&l->airport->together);
    loop_run(l->loop);
    loop_free(l->loop);
    return NULL;
}

int main(void)
{
    static struct airport airport;
    static struct lane lanes[N_LANES];
    airport.flights = flights_new();
    for (unsigned i = 0; i < N_KEYS; i++) {
        digest_of((struct slice){(const char *)&i, sizeof(i)}, &airport.keys[i].value);
    }
    pthread_barrier_init(&airport.together, NULL, N_LANES);
    for (unsigned i = 0; i < N_LANES; i++) {
        lanes[i].airport = &airport;
        lanes[i].random = 7000 + i;
        thread_start(&lanes[i].thread, serve, &lanes[i]);
    }
    struct lane sum = {0};
    for (unsigned i = 0; i < N_LANES; i++) {
        pthread_join(lanes[i].thread, NULL);
        sum.n_answered += lanes[i].n_answered;
        sum.n_led += lanes[i].n_led;
        sum.n_failed += lanes[i].n_failed;
    }
    for (unsigned i = 0; i < N_KEYS; i++) {
        CHECK(atomic_load(&airport.leaders[i]) == 0);
    }
    struct flight_stats stats;
    flights_stats(airport.flights, &stats);
    CHECK(stats.waited == sum.n_answered && sum.n_answered > 0);
    CHECK(stats.handed_over > 0 && stats.handed_over < sum.n_led && sum.n_failed > 0);
    flights_free(airport.flights);
    pthread_barrier_destroy(&airport.together);
    return 0;
}
