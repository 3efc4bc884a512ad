/* SPDX-License-Identifier: Apache-2.0 */
/* The bucket is one number, as in a generic cell rate algorithm: when it would be full again. The
 * absent keys are searched linearly: they are looked for only after a signature or key check
 * failed, and only keys that a whole fetch was spent on get in. */
#include "service/pipeline/refresh_limit.h"

void refresh_limit_init(struct refresh_limit *l, int64_t now_ms)
{
    l->full_at_ms = now_ms;
    l->next = l->n = 0;
}

int64_t refresh_limit_wait_ms(const struct refresh_limit *l, int64_t now_ms)
{
    int64_t wait = l->full_at_ms - now_ms - (REFRESH_BURST - 1) * (int64_t)REFRESH_EVERY_MS;
    return wait > 0 ? wait : 0;
}

bool refresh_limit_take(struct refresh_limit *l, int64_t now_ms)
{
    if (refresh_limit_wait_ms(l, now_ms)) {
        return false;
    }
    l->full_at_ms = (l->full_at_ms > now_ms ? l->full_at_ms : now_ms) + REFRESH_EVERY_MS;
    return true;
}

void refresh_limit_add_absent(struct refresh_limit *l, const struct digest *key, int64_t now_ms)
{
    l->absent[l->next].key = *key;
    l->absent[l->next].until_ms = now_ms + REFRESH_ABSENT_MS;
    l->next = (l->next + 1) % REFRESH_MAX_ABSENT;
    l->n += l->n < REFRESH_MAX_ABSENT;
}

bool refresh_limit_is_absent(const struct refresh_limit *l, const struct digest *key,
                             int64_t now_ms)
{
    for (size_t i = 0; i < l->n; i++) {
        if (l->absent[i].until_ms > now_ms && digest_eq(&l->absent[i].key, key)) {
            return true;
        }
    }
    return false;
}
