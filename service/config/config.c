/* SPDX-License-Identifier: Apache-2.0 */
/* One list, CONFIG_TABLE, makes the struct that is read into, the reader's table, the defaults and
 * the conversion: a setting that is in one of them is in all. */
#include "service/config/config_parts.h"

#include "service/base/mem.h"
#include "service/base/small_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct yaml_field FIELDS[] = {
#define X(key, member, type, standard, min, max, unit, reloadable, what)                           \
    {key, CONFIG_TYPE_##type, false, offsetof(struct config_file, member), min, max},
    CONFIG_TABLE(X)
#undef X
        {"answer", YAML_SUBTREE, false, offsetof(struct config_file, answer), 0, 0},
    {"backend", YAML_SUBTREE, false, offsetof(struct config_file, backend), 0, 0},
    {"budgets", YAML_SUBTREE, false, offsetof(struct config_file, budgets), 0, 0},
    {"redis", YAML_SUBTREE, false, offsetof(struct config_file, redis), 0, 0},
};

static const struct config_file STANDARD = {
#define X(key, member, type, standard, min, max, unit, reloadable, what)                           \
    .member = CONFIG_STANDARD_##type(standard),
    CONFIG_TABLE(X)
#undef X
};

const char *config_absolute(struct config *c, struct slice path)
{
    if (path.n == 0 || path.p[0] == '/' || slice_is(path, "-")) {
        return path.p;
    }
    size_t folder_n = strlen(c->folder);
    char *joined = arena_alloc(&c->arena, folder_n + path.n + 2);
    memcpy(joined, c->folder, folder_n);
    joined[folder_n] = '/';
    memcpy(joined + folder_n + 1, path.p, path.n);
    return joined;
}

static struct config_texts as_texts(struct yaml_texts texts)
{
    return (struct config_texts){texts.items, texts.n};
}

#define CONVERT_text(member) values->member = file->member.p;
#define CONVERT_path(member) values->member = config_absolute(c, file->member);
#define CONVERT_int(member) values->member = file->member;
#define CONVERT_flag(member) values->member = file->member;
#define CONVERT_list(member) values->member = as_texts(file->member);

static void convert(struct config *c, const struct config_file *file)
{
    struct config_values *values = &c->values;
#define X(key, member, type, standard, min, max, unit, reloadable, what) CONVERT_##type(member)
    CONFIG_TABLE(X)
#undef X
}

/* The folder part of path, made absolute; NULL where the working directory is gone. */
static const char *folder_of(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    struct slice folder = {path, slash ? (size_t)(slash - path) : 0};
    if (path[0] == '/') {
        return arena_copy(arena, folder).p;
    }
    char here[PATH_MAX];
    if (!getcwd(here, sizeof(here))) {
        return NULL;
    }
    size_t here_n = strcmp(here, "/") == 0 ? 0 : strlen(here);
    char *joined = arena_alloc(arena, here_n + folder.n + 2);
    (void)snprintf(joined, here_n + folder.n + 2, "%.*s%s%.*s", (int)here_n, here,
                   folder.n ? "/" : "", (int)folder.n, folder.p);
    return joined;
}

static const char *remedy(int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR: return "name an existing file with --config";
    case EACCES:
    case EPERM: return "make it readable for the user kbgate runs as";
    case EISDIR: return "name the file in it with --config";
    default: return "check the file and its volume";
    }
}

static bool refuse_unread(const char *path, int error, struct err_detail *detail)
{
    err_detail_set(detail, "%s: cannot be read: %s; %s", path, strerror(error), remedy(error));
    return false;
}

static bool read_file(const char *path, struct dynbuf *out, struct err_detail *detail)
{
    int fd = file_open_regular(path);
    if (fd < 0) {
        return refuse_unread(path, errno, detail);
    }
    bool fine = fd_read_all(fd, out);
    int error = errno;
    (void)close(fd);
    if (!fine && error == EFBIG) {
        err_detail_set(detail, "%s: is larger than %d KiB; is it the configuration file?", path,
                       CONFIG_MAX_BYTES / 1024);
        return false;
    }
    return fine || refuse_unread(path, error, detail);
}

static bool read_values(struct config *c, struct slice bytes, const char *path,
                        struct err_detail *detail)
{
    struct config_file file = STANDARD;
    c->doc = yaml_parse(bytes, path, detail);
    if (!c->doc || !yaml_read(c->doc, yaml_root(c->doc), FIELDS, sizeof(FIELDS) / sizeof(FIELDS[0]),
                              &file, detail)) {
        return false;
    }
    convert(c, &file);
    return config_check(c, detail) && config_read_answer(c, file.answer, detail) &&
           config_read_backend(c, file.backend, detail) &&
           config_read_budgets(c, file.budgets, detail) && config_check_budgets(c, detail) &&
           config_read_redis(c, file.redis, detail);
}

static bool load_into(struct config *c, const char *path, struct err_detail *detail)
{
    struct dynbuf bytes;
    c->folder = folder_of(&c->arena, path);
    if (!c->folder) {
        return refuse_unread(path, errno, detail);
    }
    dynbuf_init(&bytes, CONFIG_MAX_BYTES);
    bool fine = read_file(path, &bytes, detail) && read_values(c, dynbuf_get(&bytes), path, detail);
    dynbuf_done(&bytes);
    return fine;
}

struct config *config_load(const char *path, struct err_detail *detail)
{
    struct config *c = mem_alloc(sizeof(*c));
    arena_init(&c->arena);
    if (!load_into(c, path, detail)) {
        config_free(c);
        return NULL;
    }
    return c;
}

void config_free(struct config *c)
{
    if (c) {
        yaml_doc_free(c->doc);
        arena_done(&c->arena);
        free(c);
    }
}

const struct config_values *config_values(const struct config *c)
{
    return &c->values;
}
