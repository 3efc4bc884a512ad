/* SPDX-License-Identifier: Apache-2.0 */
/* Symbolic links to files inside the root are read, since mounted configuration is made of them;
 * links to folders are not, since what they name is found at its own place and loops end nowhere.
 */
#include "service/ingest/walk.h"

#include "service/base/mem.h"
#include "service/base/utf8.h"
#include "service/ingest/outline.h"
#include "service/retrieval/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

struct names {
    char **items;
    size_t n, cap;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int compare_files(const void *a, const void *b)
{
    return slice_cmp(((const struct walk_file *)a)->relative,
                     ((const struct walk_file *)b)->relative);
}

static void names_done(struct names *names)
{
    for (size_t i = 0; i < names->n; i++) {
        free(names->items[i]);
    }
    free(names->items);
}

/* A folder's names, sorted, without hidden ones. */
static bool list(const char *folder, struct names *ret_names)
{
    DIR *dir = opendir(folder);
    if (!dir) {
        return false;
    }
    struct dirent *e;
    while ((e = readdir(dir)) != NULL) {
        if (e->d_name[0] == '.') {
            continue;
        }
        if (ret_names->n == ret_names->cap) {
            ret_names->cap = ret_names->cap ? ret_names->cap * 2 : 32;
            ret_names->items =
                mem_realloc(ret_names->items, ret_names->cap * sizeof(*ret_names->items));
        }
        ret_names->items[ret_names->n++] = mem_text(slice_of(e->d_name));
    }
    closedir(dir);
    if (ret_names->n) {
        qsort(ret_names->items, ret_names->n, sizeof(*ret_names->items), compare_names);
    }
    return true;
}

static const char *join(struct arena *arena, const char *folder, const char *name)
{
    size_t n = strlen(folder) + strlen(name) + 2;
    char *path = arena_alloc(arena, n);
    snprintf(path, n, "%s%s%s", folder, folder[0] ? "/" : "", name);
    return path;
}

static void skip(const struct walk *w, const char *relative, const char *reason)
{
    w->on_skip(w->arg, relative, reason);
}

static struct slice to_nfc(struct arena *arena, const char *text)
{
    struct dynbuf b;
    dynbuf_init(&b, OUTLINE_MAX_BYTES);
    text_add_nfc(&b, slice_of(text));
    struct slice copy = arena_copy(arena, dynbuf_get(&b));
    dynbuf_done(&b);
    return copy;
}

static void add_file(struct walk *w, const char *relative, const char *path, const struct stat *st)
{
    if (!utf8_is_valid(slice_of(relative))) {
        skip(w, relative, "its name is not valid UTF-8");
        return;
    }
    enum file_type type = file_type_of(slice_of(relative));
    if (type == FILE_OTHER) {
        skip(w, relative, "unsupported type");
        return;
    }
    if (w->n == w->cap) {
        w->cap = w->cap ? w->cap * 2 : 64;
        w->files = mem_realloc(w->files, w->cap * sizeof(*w->files));
    }
    w->files[w->n++] = (struct walk_file){.relative = to_nfc(w->arena, relative),
                                          .path = path,
                                          .type = type,
                                          .device = st->st_dev,
                                          .inode = st->st_ino};
}

static bool is_within(const char *path, const char *root)
{
    size_t n = strlen(root);
    return strncmp(path, root, n) == 0 && (path[n] == '/' || !path[n] || root[n - 1] == '/');
}

static void visit_link(struct walk *w, const char *relative, const char *path)
{
    struct stat st;
    char *target = realpath(path, NULL);
    if (!target || stat(target, &st) != 0) {
        skip(w, relative, "a symbolic link to nothing that can be read");
    } else if (!is_within(target, w->root)) {
        skip(w, relative, "a symbolic link that leaves the folder");
    } else if (!S_ISREG(st.st_mode)) {
        skip(w, relative, "a symbolic link to something other than a file");
    } else {
        const char *kept = arena_copy(w->arena, slice_of(target)).p;
        add_file(w, relative, kept, &st);
    }
    free(target);
}

static void visit_folder(struct walk *w, const char *relative, const char *path, unsigned depth);

static void visit(struct walk *w, const char *relative, const char *path, unsigned depth)
{
    struct stat st;
    if (lstat(path, &st) != 0) {
        skip(w, relative, strerror(errno));
    } else if (S_ISLNK(st.st_mode)) {
        visit_link(w, relative, path);
    } else if (S_ISDIR(st.st_mode) && depth >= WALK_DEPTH_MAX) {
        skip(w, relative, "more than 64 folders deep");
    } else if (S_ISDIR(st.st_mode)) {
        visit_folder(w, relative, path, depth + 1);
    } else if (S_ISREG(st.st_mode)) {
        add_file(w, relative, path, &st);
    } else {
        skip(w, relative, "not a regular file");
    }
}

static void visit_folder(struct walk *w, const char *relative, const char *path, unsigned depth)
{
    struct names names = {0};
    if (!list(path, &names)) {
        skip(w, relative, strerror(errno));
    }
    for (size_t i = 0; i < names.n; i++) {
        visit(w, join(w->arena, relative, names.items[i]), join(w->arena, path, names.items[i]),
              depth);
    }
    names_done(&names);
}

bool walk_root(struct walk *w, const char *root, struct err_detail *detail)
{
    struct stat st;
    char *resolved = realpath(root, NULL);
    if (!resolved || stat(resolved, &st) != 0) {
        err_detail_set(detail, "%s: %s", root, strerror(errno));
        free(resolved);
        return false;
    }
    w->root = arena_copy(w->arena, slice_of(resolved)).p;
    w->is_folder = S_ISDIR(st.st_mode);
    free(resolved);
    if (w->is_folder) {
        visit_folder(w, "", w->root, 0);
        if (w->n) {
            qsort(w->files, w->n, sizeof(*w->files), compare_files);
        }
        return true;
    }
    const char *slash = strrchr(root, '/');
    add_file(w, slash ? slash + 1 : root, w->root, &st);
    return true;
}

void walk_done(struct walk *w)
{
    free(w->files);
    w->files = NULL;
    w->n = w->cap = 0;
}
