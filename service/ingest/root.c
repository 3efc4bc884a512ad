/* SPDX-License-Identifier: Apache-2.0 */
/* Every path is marked before the first file is read, since one line of a manifest that names
 * nothing decides about files all over the folder. */
#include "service/ingest/root.h"

#include "service/base/utf8.h"

#include <stdio.h>
#include <strings.h>

const char ROOT_MANIFEST_NAME[] = "manifest.jsonl";

struct root_path {
    struct slice path;
    size_t n_folder; /* of path, with its slash */
    const struct root_path *next;
};

static struct root_path *list_add(struct arena *arena, struct root_path *list, struct slice path)
{
    struct root_path *item = arena_alloc(arena, sizeof(*item));
    size_t n = path.n;
    while (n && path.p[n - 1] != '/') {
        n--;
    }
    *item = (struct root_path){arena_copy(arena, path), n, list};
    return item;
}

/* Manifests */

struct reporting {
    struct collect *c;
    const char *shown;
};

static void on_broken(void *arg, uint64_t line, const char *reason)
{
    const struct reporting *r = arg;
    r->c->manifest_doubt = true;
    collect_skip(r->c, r->shown, line, reason);
}

bool root_read_manifest(struct collect *c, const char *path, const char *shown, struct manifest *m,
                        struct err_detail *detail)
{
    char reason[FIELD_REASON_BYTES];
    struct reporting reporting = {c, shown};
    if (manifest_read(path, &c->arena, on_broken, &reporting, m, reason)) {
        return true;
    }
    err_detail_set(detail, "%s: %s", path, reason);
    return false;
}

void root_report_unmatched(struct collect *c, const char *manifest_shown,
                           const struct manifest_entry *entry)
{
    char reason[FIELD_REASON_BYTES];
    c->manifest_doubt = true;
    if (!entry->broken) { /* else the line is reported already */
        snprintf(reason, sizeof(reason), "no document at the path %.160s", entry->path.p);
        collect_skip(c, manifest_shown, entry->line, reason);
    }
}

static bool find_manifest(struct root *r, struct manifest *named, struct err_detail *detail)
{
    if (named) {
        r->manifest = named;
        r->has_manifest_file = stat(r->c->options->manifest, &r->manifest_file) == 0;
        return true;
    }
    for (size_t i = 0; r->walk.is_folder && i < r->walk.n; i++) {
        const struct walk_file *file = &r->walk.files[i];
        if (slice_is(file->relative, ROOT_MANIFEST_NAME)) {
            r->manifest = &r->own;
            r->manifest_file.st_dev = file->device;
            r->manifest_file.st_ino = file->inode;
            r->has_manifest_file = true;
            return root_read_manifest(r->c, file->path, ROOT_MANIFEST_NAME, &r->own, detail);
        }
    }
    return true;
}

static bool is_in_force(const struct root *r, dev_t device, ino_t inode)
{
    return r->has_manifest_file && r->manifest_file.st_dev == device &&
           r->manifest_file.st_ino == inode;
}

/* Opening */

static void on_walk_skip(void *arg, const char *relative, const char *reason)
{
    struct root *r = arg;
    r->passed = list_add(&r->c->arena, r->passed, slice_of(relative));
    collect_skip(r->c, relative, 0, reason);
}

bool root_open(struct root *r, struct collect *c, const char *path, struct manifest *named,
               struct err_detail *detail)
{
    r->c = c;
    r->walk = (struct walk){.arena = &c->arena, .on_skip = on_walk_skip, .arg = r};
    if (!walk_root(&r->walk, path, detail) || !find_manifest(r, named, detail)) {
        return false;
    }
    r->beside = r->walk.is_folder ? SLICE_NONE : slice_of(path);
    return true;
}

void root_done(struct root *r)
{
    walk_done(&r->walk);
    manifest_done(&r->own);
}

/* Strays */

static bool has_manifest_name(struct slice path)
{
    size_t n = sizeof(ROOT_MANIFEST_NAME) - 1;
    return path.n >= n && strncasecmp(path.p + path.n - n, ROOT_MANIFEST_NAME, n) == 0 &&
           (path.n == n || path.p[path.n - n - 1] == '/');
}

static bool is_named(const struct root *r, struct slice path)
{
    return r->manifest && manifest_find(r->manifest, path);
}

/* A file that is named alone leaves the manifest of its folder behind. */
static void find_stray_beside(struct root *r)
{
    struct stat st;
    struct slice folder = r->beside;
    while (folder.n && folder.p[folder.n - 1] != '/') {
        folder.n--;
    }
    size_t size = folder.n + sizeof(ROOT_MANIFEST_NAME);
    char *path = arena_alloc(&r->c->arena, size);
    snprintf(path, size, "%.*s%s", (int)folder.n, folder.p, ROOT_MANIFEST_NAME);
    if (lstat(path, &st) == 0 && !(stat(path, &st) == 0 && is_in_force(r, st.st_dev, st.st_ino))) {
        r->strays = list_add(&r->c->arena, r->strays, SLICE_LIT("manifest.jsonl"));
    }
}

static void find_strays(struct root *r)
{
    struct arena *arena = &r->c->arena;
    for (size_t i = 0; r->walk.is_folder && i < r->walk.n; i++) {
        const struct walk_file *file = &r->walk.files[i];
        if (has_manifest_name(file->relative) && !is_in_force(r, file->device, file->inode) &&
            !is_named(r, file->relative)) {
            r->strays = list_add(arena, r->strays, file->relative);
        }
    }
    for (const struct root_path *p = r->passed; p; p = p->next) {
        if (has_manifest_name(p->path)) {
            r->strays = list_add(arena, r->strays, p->path);
        }
    }
    if (r->beside.p) {
        find_stray_beside(r);
    }
}

void root_mark(struct root *r)
{
    for (size_t i = 0; r->manifest && i < r->walk.n; i++) {
        manifest_mark(r->manifest, r->walk.files[i].relative);
    }
    for (const struct root_path *p = r->passed; r->manifest && p; p = p->next) {
        if (utf8_is_valid(p->path)) {
            manifest_mark(r->manifest, manifest_path(&r->c->arena, p->path));
        }
    }
    find_strays(r);
}

/* The stray that may have meant the file; NULL: none. */
static const struct root_path *stray_of(const struct root *r, struct slice relative)
{
    const struct root_path *p = r->strays;
    while (p && !slice_starts(relative, (struct slice){p->path.p, p->n_folder})) {
        p = p->next;
    }
    return p;
}

/* Judging */

enum root_verdict root_judge(const struct root *r, const struct walk_file *file,
                             const struct manifest_entry **ret_entry,
                             char ret_reason[FIELD_REASON_BYTES])
{
    const struct manifest *m = r->manifest;
    *ret_entry = m ? manifest_find(m, file->relative) : NULL;
    bool own = r->walk.is_folder && slice_is(file->relative, ROOT_MANIFEST_NAME);
    if (own || is_in_force(r, file->device, file->inode)) {
        return ROOT_PASS;
    }
    if (m && !manifest_admits(m, *ret_entry, ret_reason)) {
        return ROOT_SKIP;
    }
    const struct root_path *stray = *ret_entry ? NULL : stray_of(r, file->relative);
    if (stray) {
        r->c->manifest_doubt = true;
        snprintf(ret_reason, FIELD_REASON_BYTES,
                 "%.120s may have meant it, but is not read: a manifest stands at the top of the "
                 "folder or is named by --manifest",
                 stray->path.p);
        return ROOT_SKIP;
    }
    return ROOT_TAKE;
}
