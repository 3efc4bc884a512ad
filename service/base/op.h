/* SPDX-License-Identifier: Apache-2.0 */
/* op: one asynchronous operation in flight, embedded in whatever waits for it.
 *
 * Thread:    the loop thread it was started on, every call.     Blocking: never.
 * Contract:  whoever starts an operation fills on_done first; it is called exactly once, perhaps
 * before the starting call returns, unless op_cancel() comes first: then never. Ownership: the
 * operation's own state lives apart from the op (a worker or a library may still hold it);
 * cancelling only cuts the tie. */
#ifndef BASE_OP_H
#define BASE_OP_H

#include "service/base/err.h"

struct op {
    void (*on_done)(struct op *op); /* set by the waiter; reads op->result */
    enum err result;
    bool active;
    void (*detach)(void *work); /* set by the operation; cuts the tie */
    void *work;
};

/* For the operation: it has begun; detach(work) is called if the waiter cancels. */
static inline void op_start(struct op *op, void (*detach)(void *work), void *work)
{
    op->active = true;
    op->result = ERR_OK;
    op->detach = detach;
    op->work = work;
}

/* For the operation: it is over. The op may be gone when this returns. */
static inline void op_done(struct op *op, enum err result)
{
    op->active = false;
    op->result = result;
    op->on_done(op);
}

/* For the waiter: safe at any time, also when nothing is in flight. */
static inline void op_cancel(struct op *op)
{
    if (op->active) {
        op->active = false;
        op->detach(op->work);
    }
}

#endif
