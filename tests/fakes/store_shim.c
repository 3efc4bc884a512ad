/* SPDX-License-Identifier: Apache-2.0 */
/* A store that hangs or fails at will, preloaded (LD_PRELOAD) into the program under test: every
 * search reads the texts of its hits through sqlite3_step.
 *
 *   STORE_FAULT  a file. Absent: nothing happens. Empty: a step hangs until that changes. With
 *                bytes in it: a step fails with SQLITE_IOERR.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

enum { STEP_IOERR = 10, POLL_NS = 2 * 1000 * 1000 };

static int (*real_step)(void *statement);

__attribute__((constructor)) static void start(void)
{
    *(void **)&real_step = dlsym(RTLD_NEXT, "sqlite3_step");
}

/* True: the step fails. */
static bool wait_for_fault(void)
{
    const char *path = getenv("STORE_FAULT");
    struct stat st;
    while (path && stat(path, &st) == 0) {
        if (st.st_size > 0) {
            return true;
        }
        nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
    }
    return false;
}

EXPORT int sqlite3_step(void *statement);
EXPORT int sqlite3_step(void *statement)
{
    return wait_for_fault() ? STEP_IOERR : real_step(statement);
}
