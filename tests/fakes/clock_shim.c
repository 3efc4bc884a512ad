/* SPDX-License-Identifier: Apache-2.0 */
/* A wall clock that a test sets, preloaded (LD_PRELOAD) into the program under test. Only the wall
 * clock: monotonic time, and with it every wait, goes on as it does.
 *
 *   CLOCK_SHIM_FILE  16 bytes, mapped: two native int64, mode and microseconds. It may change at
 *                    any time.
 *                    mode 0  the real time
 *                    mode 1  the real time plus that many microseconds
 *                    mode 2  always that many microseconds since 1970
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum mode { REAL_TIME, OFFSET, FROZEN };
enum { SECOND_US = 1000 * 1000 };

struct setting {
    int64_t mode, us;
};

static int (*real_clock_gettime)(clockid_t, struct timespec *);
static const volatile struct setting *setting; /* NULL: the real time */

static void map_setting(void)
{
    const char *path = getenv("CLOCK_SHIM_FILE");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) {
        return;
    }
    void *map = mmap(NULL, sizeof(*setting), PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED) {
        abort(); /* a test that asks for a clock must not run on another */
    }
    setting = map;
}

/* The first caller may be a constructor that runs before any of ours. */
static void start(void)
{
    static bool started;
    if (!started) {
        *(void **)&real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
        map_setting();
        started = true;
    }
}

static int64_t now_us(void)
{
    start();
    if (setting && setting->mode == FROZEN) {
        return setting->us;
    }
    struct timespec now;
    real_clock_gettime(CLOCK_REALTIME, &now);
    int64_t us = (int64_t)now.tv_sec * SECOND_US + now.tv_nsec / 1000;
    return us + (setting && setting->mode == OFFSET ? setting->us : 0);
}

EXPORT int clock_gettime(clockid_t id, struct timespec *ret_now)
{
    start();
    if (!setting || setting->mode == REAL_TIME ||
        (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE)) {
        return real_clock_gettime(id, ret_now);
    }
    int64_t us = now_us();
    ret_now->tv_sec = us / SECOND_US;
    ret_now->tv_nsec = us % SECOND_US * 1000;
    return 0;
}

/* libc declares its first parameter nonnull, and the second as void or as struct timezone. */
EXPORT int gettimeofday(struct timeval *restrict ret_now, void *restrict zone)
{
    int64_t us = now_us();
    (void)zone;
    ret_now->tv_sec = us / SECOND_US;
    ret_now->tv_usec = us % SECOND_US;
    return 0;
}

EXPORT time_t time(time_t *ret_now)
{
    time_t now = now_us() / SECOND_US;
    if (ret_now) {
        *ret_now = now;
    }
    return now;
}
