/* SPDX-License-Identifier: Apache-2.0 */
/* Paths are compared by the file behind them, or where there is none yet, by its resolved folder
 * and its name. */
#include "service/cli/eval_files.h"

#include "service/base/mem.h"
#include "service/eval/test_set.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder without links and dots; NULL where there is none. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) + 1 : 1;
    char *folder = mem_alloc(n + 1);
    memcpy(folder, slash ? path : ".", n);
    char *resolved = realpath(folder, NULL);
    free(folder);
    return resolved;
}

static bool same_place(const char *a, const char *b)
{
    const char *a_slash = strrchr(a, '/'), *b_slash = strrchr(b, '/');
    if (strcmp(a_slash ? a_slash + 1 : a, b_slash ? b_slash + 1 : b) != 0) {
        return false;
    }
    char *a_folder = folder_of(a), *b_folder = folder_of(b);
    bool same = a_folder && b_folder && strcmp(a_folder, b_folder) == 0;
    free(a_folder);
    free(b_folder);
    return same;
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    bool a_is = stat(a, &x) == 0, b_is = stat(b, &y) == 0;
    if (a_is && b_is) {
        return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    }
    return !a_is && !b_is && same_place(a, b);
}

static bool is_file(const struct eval_file *f)
{
    return f->path && strcmp(f->path, "-") != 0;
}

bool eval_files_apart(const struct eval_file *files, size_t n, struct err_detail *detail)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            const struct eval_file *a = &files[j], *b = &files[i];
            bool writes = a->use != EVAL_FILE_READ || b->use != EVAL_FILE_READ;
            if (writes && is_file(a) && is_file(b) && same_file(a->path, b->path)) {
                err_detail_set(detail, "%s and %s name the same file, %.300s", a->option, b->option,
                               b->path);
                return false;
            }
        }
    }
    return true;
}

static bool is_held_out(const char *path)
{
    struct err_detail ignored;
    json_t *root = json_file_read(path, &ignored);
    bool held_out = json_is_true(json_object_get(root, "held_out"));
    json_decref(root);
    return held_out;
}

static bool may_write(const struct eval_file *f, struct err_detail *detail)
{
    struct stat st;
    if (f->use == EVAL_FILE_READ || !is_file(f) || stat(f->path, &st) != 0) {
        return true;
    }
    if (S_ISREG(st.st_mode) && is_held_out(f->path)) {
        err_detail_set(detail,
                       "%s %.200s: a held-out result is recorded there already; a second look at a "
                       "held-out set is no measurement. --force overwrites it",
                       f->option, f->path);
        return false;
    }
    if (f->use == EVAL_FILE_RECORDED) {
        err_detail_set(detail,
                       "%s %.200s: the file exists, and a held-out result is recorded in a new "
                       "one; --force overwrites it",
                       f->option, f->path);
        return false;
    }
    return true;
}

int eval_files_check(const struct command *c, const struct eval_file *files, size_t n, bool force)
{
    struct err_detail detail = {""};
    if (!eval_files_apart(files, n, &detail)) {
        return options_usage_error(c, "%s", detail.text);
    }
    for (size_t i = 0; !force && i < n; i++) {
        if (!may_write(&files[i], &detail)) {
            return command_failed(c, detail.text);
        }
    }
    return -1;
}
