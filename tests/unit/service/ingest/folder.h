/* SPDX-License-Identifier: Apache-2.0 */
/* folder: a temporary folder with files, for the tests of this directory. */
#ifndef TESTS_INGEST_FOLDER_H
#define TESTS_INGEST_FOLDER_H

#include "service/base/slice.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
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

static inline void folder_remove_path(const char *path)
{
    struct stat st;
    if (lstat(path, &st) != 0) {
        return;
    }
    DIR *dir = S_ISDIR(st.st_mode) ? opendir(path) : NULL;
    struct dirent *e;
    while (dir && (e = readdir(dir)) != NULL) {
        char below[2048];
        bool real = strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
        int n = snprintf(below, sizeof(below), "%s/%s", path, e->d_name);
        if (real && n > 0 && (size_t)n < sizeof(below)) {
            folder_remove_path(below);
        }
    }
    if (dir) {
        closedir(dir);
    }
    remove(path);
}

static inline void folder_done(struct folder *f)
{
    folder_remove_path(f->path);
}

#endif
