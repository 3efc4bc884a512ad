/* SPDX-License-Identifier: Apache-2.0 */
#include "service/base/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

bool fd_read_all(int fd, struct dynbuf *out)
{
    char piece[16 * 1024];
    ssize_t n;
    while ((n = read(fd, piece, sizeof(piece))) != 0) {
        if (n > 0) {
            dynbuf_add(out, (struct slice){piece, (size_t)n});
        } else if (errno != EINTR) {
            return false;
        }
        if (out->failed) {
            errno = EFBIG;
            return false;
        }
    }
    return true;
}

int file_open_regular(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
        return -1;
    }
    return fd;
}

bool small_file_read(const char *path, const char *what, struct dynbuf *out,
                     struct err_detail *detail)
{
    int fd = file_open_regular(path);
    bool good = fd >= 0 && fd_read_all(fd, out);
    if (!good) {
        err_detail_set(
            detail, "%s: %s: %s; check that it is a regular file, readable and at most %zu bytes",
            what, path, strerror(errno), out->max_bytes);
    }
    if (fd >= 0) {
        close(fd);
    }
    return good;
}

void path_beside(const char *base, struct slice path, struct dynbuf *out)
{
    const char *slash = strrchr(base, '/');
    if (path.n && path.p[0] != '/' && slash) {
        dynbuf_add(out, (struct slice){base, (size_t)(slash - base) + 1});
    }
    dynbuf_add(out, path);
}
