/* SPDX-License-Identifier: Apache-2.0 */
/* One mutex over all flights. A waiter is told under that mutex, while its seat is still in the
 * flight: its request has not ended then, so its loop runs and will run the message, whatever the
 * request does meanwhile. What remains is the seat, an allocation of its own, which lives until it
 * was given back and nothing is on its way to it. */
#include "cache/flight.h"

#include "cache/lru.h"
#include "service/base/mem.h"

#include <pthread.h>
#include <stdlib.h>

struct flight {
    struct lru_entry entry; /* first: a flight is found by its entry */
    struct seat *leader;    /* never NULL */
    struct seat *first, *last;
};

struct flights {
    pthread_mutex_t lock; /* of all that is in the table, of every seat's flight and telling */
    struct lru table;
    struct flight_stats stats;
};

struct seat {
    struct loop_message message; /* first: a seat is found by its message */
    struct flights *flights;
    struct flight *flight; /* while it leads or waits */
    struct seat *previous, *next;
    struct loop *loop;
    bool is_posted, is_given_back;
    struct boarding told; /* on its way: holds a reference */
    enum err result;
    struct boarding *ret_boarding;
    struct op *op; /* until it is done or cancelled */
};

struct flights *flights_new(void)
{
    struct flights *f = mem_alloc(sizeof(*f));
    pthread_mutex_init(&f->lock, NULL);
    lru_init(&f->table);
    return f;
}

void flights_free(struct flights *f)
{
    if (!f) {
        return;
    }
    lru_done(&f->table, NULL);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

static void append(struct flight *f, struct seat *s)
{
    s->previous = f->last;
    *(f->last ? &f->last->next : &f->first) = s;
    f->last = s;
}

static void take_out(struct flight *f, struct seat *s)
{
    *(s->previous ? &s->previous->next : &f->first) = s->next;
    *(s->next ? &s->next->previous : &f->last) = s->previous;
    s->previous = s->next = NULL;
}

/* Under the lock, and only while s is in its flight: see above. */
static void tell(struct seat *s, struct boarding told, enum err result)
{
    s->told = told;
    s->result = result;
    s->is_posted = true;
    loop_post(s->loop, &s->message);
}

static void hand_over(struct flights *all, struct flight *f)
{
    f->leader = f->first;
    if (!f->leader) {
        lru_remove(&all->table, &f->entry);
        free(f);
        return;
    }
    take_out(f, f->leader);
    tell(f->leader, (struct boarding){.leads = true}, ERR_OK);
}

static void get_off(struct seat *s)
{
    pthread_mutex_lock(&s->flights->lock);
    struct flight *f = s->flight;
    s->flight = NULL;
    if (f && f->leader == s) {
        hand_over(s->flights, f);
    } else if (f) {
        take_out(f, s);
    }
    pthread_mutex_unlock(&s->flights->lock);
}

/* For op_cancel: the place is given up at once; the seat itself is still the caller's. */
static void detach(void *work)
{
    struct seat *s = work;
    s->op = NULL;
    get_off(s);
    cache_release(s->told.value);
    s->told.value = NULL;
}

/* Only its own loop asks: off the flight, nobody posts to the seat any more. */
static void free_if_over(struct seat *s)
{
    if (s->is_given_back && !s->is_posted) {
        free(s);
    }
}

static void count(struct flights *all, const struct boarding *told)
{
    all->stats.handed_over += told->leads;
    all->stats.waited += told->value != NULL;
}

static void on_told(struct loop_message *m)
{
    struct seat *s = (struct seat *)m;
    struct op *op = s->op;
    pthread_mutex_lock(&s->flights->lock);
    s->is_posted = false;
    if (op) {
        count(s->flights, &s->told);
    }
    pthread_mutex_unlock(&s->flights->lock);
    if (!op) {
        free_if_over(s);
        return;
    }
    *s->ret_boarding = s->told;
    s->told.value = NULL;
    s->op = NULL;
    op_done(op, s->result); /* may give the seat back */
}

static struct flight *flight_new(const struct cache_key *key, struct seat *leader)
{
    struct flight *f = mem_alloc(sizeof(*f));
    f->entry.key = key->value;
    f->leader = leader;
    return f;
}

/* Whether it leads. */
static bool take_seat(struct flights *all, const struct cache_key *key, struct seat *s)
{
    pthread_mutex_lock(&all->lock);
    s->flight = (struct flight *)lru_find(&all->table, &key->value);
    bool leads = !s->flight;
    if (leads) {
        s->flight = flight_new(key, s);
        lru_add(&all->table, &s->flight->entry);
    } else {
        append(s->flight, s);
    }
    pthread_mutex_unlock(&all->lock);
    return leads;
}

void flight_board(struct flights *f, struct loop *l, const struct cache_key *key,
                  struct seat **ret_seat, struct boarding *ret_boarding, struct op *op)
{
    struct seat *s = mem_alloc(sizeof(*s));
    s->message.run = on_told;
    s->flights = f;
    s->loop = l;
    s->ret_boarding = ret_boarding;
    s->op = op;
    *ret_seat = s;
    *ret_boarding = (struct boarding){0};
    op_start(op, detach, s); /* first: once in the flight, it may be told at any time */
    if (take_seat(f, key, s)) {
        s->op = NULL;
        ret_boarding->leads = true;
        op_done(op, ERR_OK);
    }
}

/* value NULL: everybody fails. */
static void end(struct seat *s, const struct cache_value *value, enum err result)
{
    struct flights *all = s->flights;
    struct flight *f = s->flight;
    pthread_mutex_lock(&all->lock);
    lru_remove(&all->table, &f->entry);
    for (struct seat *w = f->first, *next; w; w = next) {
        next = w->next;
        w->flight = NULL;
        tell(w, (struct boarding){.value = value ? cache_value_ref(value) : NULL}, result);
    }
    pthread_mutex_unlock(&all->lock);
    free(f);
    free(s);
}

void seat_land(struct seat *s, const struct cache_value *value)
{
    end(s, value, ERR_OK);
}

void seat_fail(struct seat *s, enum err error)
{
    end(s, NULL, error);
}

void seat_leave(struct seat *s)
{
    if (!s) {
        return;
    }
    if (s->op) {
        op_cancel(s->op);
    } else {
        get_off(s);
    }
    s->is_given_back = true;
    free_if_over(s);
}

void flights_stats(struct flights *f, struct flight_stats *ret_stats)
{
    pthread_mutex_lock(&f->lock);
    *ret_stats = f->stats;
    pthread_mutex_unlock(&f->lock);
}
