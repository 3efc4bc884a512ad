/* SPDX-License-Identifier: Apache-2.0 */
/* refresh_limit: whether a token may cause a fetch of its issuer's keys.
 *
 * A token bucket bounds the fetches, whatever tokens arrive; keys that a fresh set did not have are
 * remembered for a while, so that one client's mistake does not use the bucket up. Pure: the time
 * is an argument, in milliseconds of any clock that never jumps back.
 * Thread: one at a time. */
#ifndef PIPELINE_REFRESH_LIMIT_H
#define PIPELINE_REFRESH_LIMIT_H

#include "service/digest/digest.h"

#include <stdint.h>

enum {
    REFRESH_BURST = 2,
    REFRESH_EVERY_MS = 30 * 1000,  /* one more fetch */
    REFRESH_ABSENT_MS = 30 * 1000, /* how long an absent key is remembered */
    REFRESH_MAX_ABSENT = 1024,     /* the oldest is forgotten first */
};

struct refresh_limit {
    int64_t full_at_ms; /* when the bucket is, or was, full again */
    struct {
        struct digest key;
        int64_t until_ms;
    } absent[REFRESH_MAX_ABSENT]; /* a ring */
    size_t next, n;
};

/* The bucket is full, nothing is absent. */
void refresh_limit_init(struct refresh_limit *l, int64_t now_ms);

/* Takes one fetch from the bucket; false: it is empty. */
bool refresh_limit_take(struct refresh_limit *l, int64_t now_ms);

/* How long until refresh_limit_take says yes; 0: now. */
int64_t refresh_limit_wait_ms(const struct refresh_limit *l, int64_t now_ms);

/* key: a digest of what a token asked for. */
void refresh_limit_add_absent(struct refresh_limit *l, const struct digest *key, int64_t now_ms);
bool refresh_limit_is_absent(const struct refresh_limit *l, const struct digest *key,
                             int64_t now_ms);

#endif
