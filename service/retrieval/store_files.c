/* SPDX-License-Identifier: Apache-2.0 */
/* Every write is followed to the disk: a name that a rename publishes must never lead to bytes that
 * a power cut took away. */
#include "service/retrieval/store_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_BYTES = 64 * 1024 };

static bool fail(struct err_detail *detail, const char *what, const char *path)
{
    err_detail_set(detail, "%s: cannot %s: %s", path, what, strerror(errno));
    return false;
}

bool store_path(char ret_path[STORE_PATH_MAX], const char *dir, const char *name)
{
    int n = snprintf(ret_path, STORE_PATH_MAX, "%s/%s", dir, name);
    return n > 0 && n < STORE_PATH_MAX;
}

/* Also makes the new name durable in the folder above. */
static bool make_one(const char *path, struct err_detail *detail)
{
    if (mkdir(path, 0777) == 0) {
        return store_sync_parent(path, detail);
    }
    return errno == EEXIST || fail(detail, "make the folder", path);
}

bool store_make_dir(const char *path, struct err_detail *detail)
{
    char part[STORE_PATH_MAX];
    size_t n = strlen(path);
    if (n == 0 || n >= sizeof(part)) {
        err_detail_set(detail, "the store's path is empty or too long");
        return false;
    }
    for (size_t i = 1; i <= n; i++) {
        if (path[i] != '/' && path[i] != 0) {
            continue;
        }
        memcpy(part, path, i);
        part[i] = 0;
        if (!make_one(part, detail)) {
            return false;
        }
    }
    return true;
}

static bool write_all(int fd, struct slice bytes)
{
    while (bytes.n) {
        ssize_t n = write(fd, bytes.p, bytes.n);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        bytes = slice_skip(bytes, n > 0 ? (size_t)n : 0);
    }
    return true;
}

static bool write_new(const char *path, const struct slice *parts, size_t n, struct hasher *h,
                      struct err_detail *detail)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        return fail(detail, "create", path);
    }
    bool good = true;
    for (size_t i = 0; good && i < n; i++) {
        good = write_all(fd, parts[i]);
        if (h) {
            hasher_bytes(h, parts[i]);
        }
    }
    good = (good && fsync(fd) == 0) || fail(detail, "write", path);
    if (close(fd) != 0 && good) {
        good = fail(detail, "write", path);
    }
    return good;
}

bool store_write_new(const char *path, struct slice bytes, struct err_detail *detail)
{
    return write_new(path, &bytes, 1, NULL, detail);
}

bool store_write_parts(const char *path, const struct slice *parts, size_t n,
                       struct digest *ret_digest, struct err_detail *detail)
{
    struct hasher h;
    hasher_init(&h);
    bool good = write_new(path, parts, n, &h, detail);
    hasher_done(&h, ret_digest);
    return good;
}

bool store_sync(const char *path, struct err_detail *detail)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return fail(detail, "open", path);
    }
    bool good = fsync(fd) == 0 || fail(detail, "write", path);
    close(fd);
    return good;
}

bool store_sync_parent(const char *path, struct err_detail *detail)
{
    char dir[STORE_PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (!slash) {
        return store_sync(".", detail);
    }
    size_t n = slash == path ? 1 : (size_t)(slash - path);
    if (n >= sizeof(dir)) {
        err_detail_set(detail, "%s: the path is too long", path);
        return false;
    }
    memcpy(dir, path, n);
    dir[n] = 0;
    return store_sync(dir, detail);
}

/* Feeds the file to on_bytes, block by block. */
static bool read_blocks(const char *path, void (*on_bytes)(void *arg, struct slice bytes),
                        void *arg, struct err_detail *detail)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return fail(detail, "open", path);
    }
    char block[READ_BYTES];
    ssize_t n = 0;
    do {
        n = read(fd, block, sizeof(block));
        if (n > 0) {
            on_bytes(arg, (struct slice){block, (size_t)n});
        }
    } while (n > 0 || (n < 0 && errno == EINTR));
    bool good = n == 0 || fail(detail, "read", path);
    close(fd);
    return good;
}

static void add_to_buffer(void *arg, struct slice bytes)
{
    dynbuf_add(arg, bytes);
}

bool store_read(const char *path, struct dynbuf *out, struct err_detail *detail)
{
    if (!read_blocks(path, add_to_buffer, out, detail)) {
        return false;
    }
    if (out->failed) {
        err_detail_set(detail, "%s: the file is too large", path);
        return false;
    }
    return true;
}

static void add_to_hasher(void *arg, struct slice bytes)
{
    hasher_bytes(arg, bytes);
}

bool store_is_published(const char *path, const struct digest *found,
                        const struct digest *published, struct err_detail *detail)
{
    if (!digest_eq(found, published)) {
        err_detail_set(detail, "%s: the file is damaged (its SHA-256 is not the published one)",
                       path);
        return false;
    }
    return true;
}

bool store_digest(const char *path, struct digest *ret_digest, struct err_detail *detail)
{
    struct hasher h;
    hasher_init(&h);
    bool good = read_blocks(path, add_to_hasher, &h, detail);
    hasher_done(&h, ret_digest);
    return good;
}
