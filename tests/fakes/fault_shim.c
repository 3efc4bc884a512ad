/* SPDX-License-Identifier: Apache-2.0 */
/* A disk that fails at a chosen moment, preloaded (LD_PRELOAD) into the program under test. It
 * counts the calls that change files below one folder and at the Nth kills the process, as a power
 * cut would, or lets the disk be full from there on. Everything else passes through.
 *
 *   FAULT_DIR    the folder, absolute and resolved
 *   FAULT_AT     N, from 1; 0 or unset: only count
 *   FAULT_MODE   before   SIGKILL before the Nth call
 *                after    SIGKILL behind it
 *                torn     SIGKILL after half of what the Nth call writes (else as before)
 *                full     from the Nth call on, whatever needs space fails with ENOSPC
 *   FAULT_COUNT  a file outside FAULT_DIR that gets the number of calls when the process ends
 *
 * Counted: write, pwrite, fsync, fdatasync, rename, ftruncate, unlink, mkdir, and opening to write.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { PATH_BYTES = 4096 };
enum mode { BEFORE, AFTER, TORN, FULL };

static struct {
    char dir[PATH_BYTES];
    size_t dir_length;
    unsigned long at, count;
    enum mode mode;
} fault;

/* The next definition of a function, which is libc's. */
#define REAL(name) real_##name
#define DECLARE(result, name, ...) static result (*REAL(name))(__VA_ARGS__)

DECLARE(int, open, const char *, int, ...);
DECLARE(int, openat, int, const char *, int, ...);
DECLARE(ssize_t, write, int, const void *, size_t);
DECLARE(ssize_t, pwrite, int, const void *, size_t, off_t);
DECLARE(int, fsync, int);
DECLARE(int, fdatasync, int);
DECLARE(int, ftruncate, int, off_t);
DECLARE(int, rename, const char *, const char *);
DECLARE(int, unlink, const char *);
DECLARE(int, mkdir, const char *, mode_t);

static enum mode mode_of(const char *name)
{
    static const char *const names[] = {"before", "after", "torn", "full"};
    for (int i = 0; name && i < 4; i++) {
        if (strcmp(name, names[i]) == 0) {
            return (enum mode)i;
        }
    }
    return BEFORE;
}

/* The first caller may be a constructor that runs before ours. */
static void start(void)
{
    static bool started;
    if (started) {
        return;
    }
    started = true;
    /* dlsym returns an object pointer; POSIX wants it usable as a function. */
#define FIND(name) (*(void **)&REAL(name) = dlsym(RTLD_NEXT, #name))
    FIND(open);
    FIND(openat);
    FIND(write);
    FIND(pwrite);
    FIND(fsync);
    FIND(fdatasync);
    FIND(ftruncate);
    FIND(rename);
    FIND(unlink);
    FIND(mkdir);
    const char *dir = getenv("FAULT_DIR"), *at = getenv("FAULT_AT");
    snprintf(fault.dir, sizeof(fault.dir), "%s", dir ? dir : "");
    fault.dir_length = strlen(fault.dir);
    fault.at = at ? strtoul(at, NULL, 10) : 0;
    fault.mode = mode_of(getenv("FAULT_MODE"));
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("FAULT_COUNT");
    char text[32];
    if (path && REAL(open)) {
        int fd = REAL(open)(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        int n = snprintf(text, sizeof(text), "%lu\n", fault.count);
        if (fd >= 0) {
            (void)!REAL(write)(fd, text, (size_t)n);
            close(fd);
        }
    }
}

static bool is_below(const char *path)
{
    size_t n = fault.dir_length;
    return n && strncmp(path, fault.dir, n) == 0 && (path[n] == '/' || path[n] == 0);
}

static bool is_ours(int fd)
{
    char link[64], path[PATH_BYTES];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof(path) - 1);
    if (n < 0) {
        return false;
    }
    path[n] = 0;
    return is_below(path);
}

static _Noreturn void die(void)
{
    kill(getpid(), SIGKILL);
    for (;;) {
        pause();
    }
}

/* Counts one call; true when it is the one to act on. */
static bool reached(bool ours)
{
    if (!ours) {
        return false;
    }
    unsigned long n = __atomic_add_fetch(&fault.count, 1, __ATOMIC_SEQ_CST); /* any thread */
    return fault.at && n == fault.at;
}

static bool is_full(bool ours)
{
    return ours && fault.mode == FULL && fault.at &&
           __atomic_load_n(&fault.count, __ATOMIC_SEQ_CST) >= fault.at;
}

static int no_space(void)
{
    errno = ENOSPC;
    return -1;
}

static void kill_before(bool now)
{
    if (now && (fault.mode == BEFORE || fault.mode == TORN)) {
        die();
    }
}

static void kill_after(bool now)
{
    if (now && fault.mode == AFTER) {
        die();
    }
}

static int guarded_open(int folder, const char *path, int flags, mode_t mode)
{
    bool writes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC));
    bool ours = writes && is_below(path);
    bool now = reached(ours);
    kill_before(now);
    if (is_full(ours) && (flags & O_CREAT)) {
        return no_space();
    }
    int fd = REAL(openat)(folder, path, flags, mode);
    kill_after(now);
    return fd;
}

EXPORT int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    start();
    return guarded_open(AT_FDCWD, path, flags, mode);
}

EXPORT int openat(int folder, const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    start();
    return guarded_open(folder, path, flags, mode);
}

EXPORT ssize_t write(int fd, const void *bytes, size_t n)
{
    start();
    bool ours = is_ours(fd), now = reached(ours);
    if (now && fault.mode == TORN) {
        (void)!REAL(write)(fd, bytes, n / 2);
    }
    kill_before(now);
    if (is_full(ours)) {
        return no_space();
    }
    ssize_t done = REAL(write)(fd, bytes, n);
    kill_after(now);
    return done;
}

EXPORT ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    start();
    bool ours = is_ours(fd), now = reached(ours);
    if (now && fault.mode == TORN) {
        (void)!REAL(pwrite)(fd, bytes, n / 2, at);
    }
    kill_before(now);
    if (is_full(ours)) {
        return no_space();
    }
    ssize_t done = REAL(pwrite)(fd, bytes, n, at);
    kill_after(now);
    return done;
}

/* A call on a descriptor or a path that only succeeds or fails. */
#define GUARD(ours_expression, full_matters, call)                                                 \
    do {                                                                                           \
        start();                                                                                   \
        bool ours = (ours_expression), now = reached(ours);                                        \
        kill_before(now);                                                                          \
        if ((full_matters) && is_full(ours)) {                                                     \
            return no_space();                                                                     \
        }                                                                                          \
        int result = (call);                                                                       \
        kill_after(now);                                                                           \
        return result;                                                                             \
    } while (0)

EXPORT int fsync(int fd)
{
    GUARD(is_ours(fd), true, REAL(fsync)(fd));
}

EXPORT int fdatasync(int fd)
{
    GUARD(is_ours(fd), true, REAL(fdatasync)(fd));
}

EXPORT int ftruncate(int fd, off_t size)
{
    GUARD(is_ours(fd), true, REAL(ftruncate)(fd, size));
}

EXPORT int rename(const char *from, const char *to)
{
    GUARD(is_below(from) || is_below(to), false, REAL(rename)(from, to));
}

EXPORT int unlink(const char *path)
{
    GUARD(is_below(path), false, REAL(unlink)(path));
}

EXPORT int mkdir(const char *path, mode_t mode)
{
    GUARD(is_below(path), true, REAL(mkdir)(path, mode));
}

/* The large-file names: off_t is 64 bits wide on every platform that kbgate is built for. */
EXPORT int open64(const char *path, int flags, ...) __attribute__((alias("open")));
EXPORT int openat64(int folder, const char *path, int flags, ...) __attribute__((alias("openat")));
EXPORT ssize_t pwrite64(int fd, const void *bytes, size_t n, off_t at)
    __attribute__((alias("pwrite")));
EXPORT int ftruncate64(int fd, off_t size) __attribute__((alias("ftruncate")));
