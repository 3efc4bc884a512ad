/* SPDX-License-Identifier: Apache-2.0 */
/* must: what holds for any input. A fuzzer takes the abort for a finding. */
#ifndef TESTS_FUZZ_MUST_H
#define TESTS_FUZZ_MUST_H

#include <stdbool.h>
#include <stdlib.h>

static inline void must(bool holds)
{
    if (!holds) {
        abort();
    }
}

#endif
