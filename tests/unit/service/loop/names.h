/* SPDX-License-Identifier: Apache-2.0 */
/* names: a resolver that stands before the C library's, which still answers addresses.
 *
 *   slow.test  takes until the test lets it fail
 *   two.test   has two addresses: 127.0.0.2, then 127.0.0.1
 *   any other  ends the process: no test asks a name server */
#ifndef TESTS_LOOP_NAMES_H
#define TESTS_LOOP_NAMES_H

#include <semaphore.h>

extern sem_t names_resolving, names_may_resolve, names_resolved; /* of slow.test */

void names_init(void);

#endif
