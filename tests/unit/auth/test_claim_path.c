/* SPDX-License-Identifier: Apache-2.0 */
#include "auth/claim_path.h"

#include <criterion/criterion.h>

static const char *const PAYLOAD =
    "{\"a\":1,\"a.b\":2,\"a\\\\b\":3,\"\":4,\"o\":{\"x\":5,\"x.y\":6,\"\":7,\"p\":{\"q\":8}},"
    "\"l\":[9]}";

struct trial {
    const char *path;
    int expected; /* 0: not there */
    bool blocked;
};

Test(claim_path, walks_steps_and_escapes)
{
    static const struct trial TRIALS[] = {
        {"a", 1, false},    {"a\\.b", 2, false},   {"a\\b", 3, false},     {"", 4, false},
        {"o.x", 5, false},  {"o.x\\.y", 6, false}, {"o.", 7, false},       {"o.p.q", 8, false},
        {"none", 0, false}, {"o.none", 0, false},  {"o.none.x", 0, false}, {"a.b", 0, true},
        {"l.0", 0, true},   {"o.x.y", 0, true},    {"A", 0, false},        {"o.p.q.", 0, true},
        {"o..q", 0, true},
    };
    struct arena arena = {0};
    json_t *payload = json_loads(PAYLOAD, 0, NULL);
    cr_assert_not_null(payload);
    for (size_t i = 0; i < sizeof(TRIALS) / sizeof(TRIALS[0]); i++) {
        bool blocked = !TRIALS[i].blocked;
        const json_t *value = claim_path_get(payload, slice_of(TRIALS[i].path), &arena, &blocked);
        cr_expect_eq((int)json_integer_value(value), TRIALS[i].expected, "%s", TRIALS[i].path);
        cr_expect_eq(value != NULL, TRIALS[i].expected != 0, "%s", TRIALS[i].path);
        cr_expect_eq(blocked, TRIALS[i].blocked, "%s", TRIALS[i].path);
    }
    json_decref(payload);
    arena_done(&arena);
}
