/* SPDX-License-Identifier: Apache-2.0 */
/* flight: equal calls that are in the process at once, of which one does the work.
 *
 * The first to board a key leads; the others wait. A leader lands with the answer, which all get;
 * or it fails, which all get; or it leaves, and the one that waited longest leads. Nobody waits
 * for a flight without a leader: the work of a key ends when its last waiter leaves.
 * Thread:    a seat belongs to the loop it boarded from; the flights to any.
 * Blocking:  never beyond one short mutex.
 * Ceiling:   one seat a request in flight, which the doors limit. */
#ifndef CACHE_FLIGHT_H
#define CACHE_FLIGHT_H

#include "cache/cache.h"
#include "service/base/op.h"
#include "service/loop/loop.h"

struct flights; /* opaque: the flights of a process */
struct seat;    /* opaque: one request's place in one of them */

struct flights *flights_new(void);
void flights_free(struct flights *f); /* no seat is taken any more; NULL is fine */

/* How boarding ended. */
struct boarding {
    bool leads;                      /* do the work, then land, fail or leave */
    const struct cache_value *value; /* ERR_OK and not leads: the answer, to release */
};

/* Takes a seat. op is done, at once for who leads at once, with ERR_OK and *ret_boarding set, or
 * with the error the leader failed with. *ret_seat is set at once, before op is done. The seat is
 * the caller's to give back once: a leader to one of seat_land, seat_fail and seat_leave, everybody
 * else to seat_leave, also after the answer came. op_cancel(op) gives up the place, not the seat:
 * seat_leave is still due, at once or later. seat_leave cancels op, so either order is right.
 * ret_boarding is borrowed until op is done or cancelled. l runs until its seats were given back,
 * and then what was posted to it; f outlives that. */
void flight_board(struct flights *f, struct loop *l, const struct cache_key *key,
                  struct seat **ret_seat, struct boarding *ret_boarding, struct op *op);

/* For a leader: everybody gets value (a reference each). Frees the seat. */
void seat_land(struct seat *s, const struct cache_value *value);

/* For a leader: everybody's boarding ends with error. Frees the seat. */
void seat_fail(struct seat *s, enum err error);

/* For anybody, at any time: a leader hands over to the longest waiting, a waiter goes, whoever got
 * an answer only gives the seat back. Frees the seat. NULL is fine. */
void seat_leave(struct seat *s);

struct flight_stats {
    uint64_t waited;      /* seats that got their answer from another's work */
    uint64_t handed_over; /* times a waiter became the leader */
};
void flights_stats(struct flights *f, struct flight_stats *ret_stats);

#endif
