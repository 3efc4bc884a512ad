/* SPDX-License-Identifier: Apache-2.0 */
/* walk: the files below a folder, the same list in the same order on every machine.
 *
 * Names that begin with a dot are passed over in silence. Left out with a reason: unsupported
 * types, symbolic links to folders and to places outside, what is neither file nor folder, names
 * that are not UTF-8. Blocking: yes. */
#ifndef INGEST_WALK_H
#define INGEST_WALK_H

#include "service/base/arena.h"
#include "service/base/err.h"
#include "service/ingest/file.h"

#include <sys/types.h>

enum { WALK_DEPTH_MAX = 64 };

struct walk_file {
    struct slice relative; /* to the root, with '/', in NFC */
    const char *path;      /* to open it: resolved, no symbolic link at its end */
    enum file_type type;
    dev_t device;
    ino_t inode;
};

struct walk {
    struct arena *arena;
    void (*on_skip)(void *arg, const char *relative, const char *reason); /* relative: any bytes */
    void *arg;
    struct walk_file *files; /* sorted by relative, bytewise */
    size_t n, cap;
    const char *root; /* resolved */
    bool is_folder;
};

/* Fills files; arena, on_skip and arg are the caller's. A root that is a file gives one, named by
 * its base name. False with a reason if the root cannot be read. */
bool walk_root(struct walk *w, const char *root, struct err_detail *detail);
void walk_done(struct walk *w);

#endif
