/* SPDX-License-Identifier: Apache-2.0 */
/* folder: a temporary folder with files, for the tests of this directory. */
#ifndef TESTS_INGEST_FOLDER_H
#define TESTS_INGEST_FOLDER_H

#include "service/base/slice.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct folder {
    char path[256];
};

static inline void folder_new(struct folder *f)
{
    const char *base = getenv("TMPDIR");
    snprintf(f->path, sizeof(f->path), "%s/kbgate-ingest-XXXXXX", base ? base : "/tmp");
    cr_assert_not_null(mkdtemp(f->path));
}

static inline const char *folder_at(const struct folder *f, const char *name)
{
    static char paths[8][1024];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof(paths[0]), "%s/%s", f->path, name);
    return path;
}

/* Writes a file, making the folders above it. */
static inline void folder_write_bytes(const struct folder *f, const char *name, struct slice bytes)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s", f->path, name);
    for (char *p = path + strlen(f->path) + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = 0;
        cr_assert(mkdir(path, 0700) == 0 || errno == EEXIST);
        *p = '/';
    }
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file, "%s", path);
    cr_assert_eq(fwrite(bytes.p, 1, bytes.n, file), bytes.n);
    fclose(file);
}

static inline void folder_write(const struct folder *f, const char *name, const char *text)
{
    folder_write_bytes(f, name, slice_of(text));
}

static inline int folder_remove_entry(const char *path, const struct stat *st, int kind,
                                      struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

static inline void folder_remove_path(const char *path)
{
    nftw(path, folder_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void folder_done(struct folder *f)
{
    folder_remove_path(f->path);
}

#endif
