/* SPDX-License-Identifier: Apache-2.0 */
/* on_done runs exactly once, or never after a cancel. */
#include "service/base/op.h"

#include <criterion/criterion.h>

struct waiter {
    struct op op; /* first, so that the callback finds its waiter */
    int calls;
    enum err seen;
};

static void on_done(struct op *op)
{
    struct waiter *w = (struct waiter *)op;
    w->calls++;
    w->seen = op->result;
}

static void detach(void *work)
{
    ++*(int *)work;
}

Test(op, reports_its_result_once)
{
    int detached = 0;
    struct waiter w = {.op.on_done = on_done};
    op_start(&w.op, detach, &detached);
    cr_expect(w.op.active);
    op_done(&w.op, ERR_BACKEND_DOWN);
    cr_expect_not(w.op.active);
    cr_expect_eq(w.calls, 1);
    cr_expect_eq(w.seen, ERR_BACKEND_DOWN);
    op_cancel(&w.op);
    cr_expect_eq(detached, 0, "nothing is in flight any more");
    cr_expect_eq(w.calls, 1);
}

Test(op, cancels_at_any_time_and_once)
{
    int detached = 0;
    struct waiter w = {.op.on_done = on_done};
    op_cancel(&w.op);
    cr_expect_eq(detached, 0, "before the start");
    op_start(&w.op, detach, &detached);
    op_cancel(&w.op);
    op_cancel(&w.op);
    cr_expect_eq(detached, 1);
    cr_expect_eq(w.calls, 0, "a cancelled operation never calls back");
}

Test(op, can_be_used_again)
{
    int detached = 0;
    struct waiter w = {.op.on_done = on_done};
    for (int i = 1; i <= 3; i++) {
        op_start(&w.op, detach, &detached);
        cr_expect_eq(w.op.result, ERR_OK);
        op_done(&w.op, ERR_BUSY);
        cr_expect_eq(w.calls, i);
    }
}
