/* SPDX-License-Identifier: Apache-2.0 */
/* What to keep is decided from the live generation and the numbers below it alone, so that an
 * interrupted ingest (a higher number, an unnamed segment) is swept up by the next one. */
#include "service/retrieval/generation_files.h"

#include "service/base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NUMBER_MAX_DIGITS = 18 };

uint64_t generation_number(struct slice name)
{
    static const struct slice suffix = {".json", 5};
    if (name.n <= suffix.n || name.n > NUMBER_MAX_DIGITS + suffix.n || name.p[0] == '0' ||
        !slice_eq(slice_skip(name, name.n - suffix.n), suffix)) {
        return 0;
    }
    uint64_t n = 0;
    for (size_t i = 0; i < name.n - suffix.n; i++) {
        if (name.p[i] < '0' || name.p[i] > '9') {
            return 0;
        }
        n = 10 * n + (uint64_t)(name.p[i] - '0');
    }
    return n;
}

static void write_name(uint64_t n, char ret_name[GENERATION_NAME_MAX])
{
    snprintf(ret_name, GENERATION_NAME_MAX, "%llu.json", (unsigned long long)n);
}

bool generation_file_path(const char *store_dir, const char *name, char ret_path[STORE_PATH_MAX])
{
    char dir[STORE_PATH_MAX];
    return store_path(dir, store_dir, "generations") && store_path(ret_path, dir, name);
}

enum { SEGMENT_NAME_MAX = 80 };

static void segment_name(const struct digest *content, const char *ending,
                         char ret_name[SEGMENT_NAME_MAX])
{
    struct dynbuf hex;
    dynbuf_init(&hex, sizeof(struct digest) * 2);
    digest_add_hex(&hex, content);
    snprintf(ret_name, SEGMENT_NAME_MAX, "%.*s%s", (int)hex.n, hex.p, ending);
    dynbuf_done(&hex);
}

static bool segment_path(const char *store_dir, const char *name, const char *suffix,
                         char ret_path[STORE_PATH_MAX])
{
    int n = snprintf(ret_path, STORE_PATH_MAX, "%s/segments/%s%s", store_dir, name, suffix);
    return n > 0 && n < STORE_PATH_MAX;
}

static const char TEXTS[] = ".seg", INDEX[] = ".idx";

bool generation_segment_paths(const char *store_dir, const struct digest *content,
                              const char *suffix, struct segment_paths *ret_paths)
{
    char texts[SEGMENT_NAME_MAX], index[SEGMENT_NAME_MAX];
    segment_name(content, TEXTS, texts);
    segment_name(content, INDEX, index);
    return segment_path(store_dir, texts, suffix, ret_paths->texts) &&
           segment_path(store_dir, index, suffix, ret_paths->index);
}

struct numbers {
    uint64_t *items;
    size_t n;
};

static int descending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* The generations that are there, newest first. */
static bool list_generations(const char *store_dir, struct numbers *ret, struct err_detail *detail)
{
    char path[STORE_PATH_MAX];
    *ret = (struct numbers){0};
    DIR *d = store_path(path, store_dir, "generations") ? opendir(path) : NULL;
    if (!d) {
        err_detail_set(detail, "%s/generations: %s", store_dir, strerror(errno));
        return false;
    }
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        uint64_t n = generation_number(slice_of(e->d_name));
        if (n) {
            ret->items = mem_realloc(ret->items, (ret->n + 1) * sizeof(*ret->items));
            ret->items[ret->n++] = n;
        }
    }
    closedir(d);
    if (ret->n) {
        qsort(ret->items, ret->n, sizeof(*ret->items), descending);
    }
    return true;
}

bool generation_next_name(const char *store_dir, char ret_name[GENERATION_NAME_MAX],
                          struct err_detail *detail)
{
    struct numbers numbers;
    char current[GENERATION_NAME_MAX];
    if (!generation_current_name(store_dir, current, detail) ||
        !list_generations(store_dir, &numbers, detail)) {
        return false;
    }
    uint64_t highest = generation_number(slice_of(current));
    if (numbers.n && numbers.items[0] > highest) {
        highest = numbers.items[0];
    }
    free(numbers.items);
    write_name(highest + 1, ret_name);
    return true;
}

/* Names of files to keep, in one folder. */
struct keep {
    char (*names)[SEGMENT_NAME_MAX];
    size_t n;
};

static void keep_add(struct keep *k, const char *name)
{
    k->names = mem_realloc(k->names, (k->n + 1) * sizeof(*k->names));
    snprintf(k->names[k->n++], sizeof(*k->names), "%s", name);
}

static void keep_generation(struct keep *generations, struct keep *segments,
                            const struct generation *g)
{
    keep_add(generations, g->name);
    for (size_t i = 0; i < g->n; i++) {
        char name[SEGMENT_NAME_MAX];
        segment_name(&g->entries[i].partition.content, TEXTS, name);
        keep_add(segments, name);
        segment_name(&g->entries[i].partition.content, INDEX, name);
        keep_add(segments, name);
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Deletes every file of the folder that is not kept. */
static void sweep(const char *store_dir, const char *folder, struct keep *k)
{
    char dir[STORE_PATH_MAX], path[STORE_PATH_MAX];
    DIR *d = store_path(dir, store_dir, folder) ? opendir(dir) : NULL;
    if (!d) {
        return;
    }
    if (k->n) {
        qsort(k->names, k->n, sizeof(*k->names), by_name);
    }
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        bool kept = e->d_name[0] == '.' ||
                    (k->n && bsearch(e->d_name, k->names, k->n, sizeof(*k->names), by_name));
        if (!kept && store_path(path, dir, e->d_name)) {
            unlink(path);
        }
    }
    closedir(d);
}

void generation_collect(const char *store_dir, size_t keep)
{
    struct generation live;
    struct numbers numbers;
    if (!generation_read(store_dir, &live, NULL)) {
        return; /* nothing is known to be superfluous */
    }
    struct keep generations = {0}, segments = {0};
    uint64_t live_number = generation_number(slice_of(live.name));
    keep_generation(&generations, &segments, &live);
    generation_done(&live);
    bool listed = list_generations(store_dir, &numbers, NULL);
    for (size_t i = 0, kept = 0; listed && i < numbers.n && kept < keep; i++) {
        char name[GENERATION_NAME_MAX];
        struct generation older;
        write_name(numbers.items[i], name);
        if (numbers.items[i] < live_number &&
            generation_read_named(store_dir, name, &older, NULL)) {
            keep_generation(&generations, &segments, &older);
            generation_done(&older);
            kept++;
        }
    }
    if (listed) {
        sweep(store_dir, "generations", &generations);
        sweep(store_dir, "segments", &segments);
    }
    free(numbers.items);
    free(generations.names);
    free(segments.names);
}
