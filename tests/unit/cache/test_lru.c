/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/lru.h"

#include <criterion/criterion.h>

enum { MANY = 1000 };

static struct lru_entry entries[MANY];

static struct digest key_of(uint64_t n)
{
    struct digest key;
    digest_of((struct slice){(const char *)&n, sizeof(n)}, &key);
    return key;
}

Test(lru, finds_every_entry_while_it_grows_and_shrinks)
{
    struct lru l;
    lru_init(&l);
    cr_assert_null(lru_oldest(&l));
    for (uint64_t i = 0; i < MANY; i++) {
        entries[i].key = key_of(i);
        cr_assert_null(lru_find(&l, &entries[i].key));
        lru_add(&l, &entries[i]);
    }
    for (uint64_t i = 0; i < MANY; i += 2) {
        lru_remove(&l, &entries[i]);
    }
    cr_assert_eq(l.n, MANY / 2);
    for (uint64_t i = 0; i < MANY; i++) {
        cr_assert_eq(lru_find(&l, &entries[i].key), i % 2 ? &entries[i] : NULL);
    }
    lru_done(&l, NULL);
}

Test(lru, the_oldest_is_the_one_least_recently_found)
{
    struct lru l;
    lru_init(&l);
    for (uint64_t i = 0; i < 4; i++) {
        entries[i].key = key_of(i);
        lru_add(&l, &entries[i]);
    }
    cr_assert_eq(lru_oldest(&l), &entries[0]);
    (void)lru_find(&l, &entries[0].key);
    cr_assert_eq(lru_oldest(&l), &entries[1]);
    lru_remove(&l, &entries[1]);
    cr_assert_eq(lru_oldest(&l), &entries[2]);
    lru_remove(&l, &entries[0]); /* the newest */
    lru_remove(&l, &entries[2]);
    cr_assert_eq(lru_oldest(&l), &entries[3]);
    lru_remove(&l, &entries[3]);
    cr_assert_null(lru_oldest(&l));
    lru_done(&l, NULL);
}

static size_t released;

static void count_released(struct lru_entry *e)
{
    (void)e;
    released++;
}

Test(lru, gives_every_entry_back_at_the_end)
{
    struct lru l;
    lru_init(&l);
    for (uint64_t i = 0; i < MANY; i++) {
        entries[i].key = key_of(i);
        lru_add(&l, &entries[i]);
    }
    lru_done(&l, count_released);
    cr_assert_eq(released, MANY);
}
