/* SPDX-License-Identifier: Apache-2.0 */
/* Grants are kept whole and OR-ed: merging them by dimension would let a caller combine the
 * collections of one with the labels of another. Each is sorted and written out; the sorted texts
 * are the canonical form, so that rights, not the way they were written, decide the digest. */
#include "scope/filter_build.h"

#include "service/base/arena.h"
#include "service/base/json_write.h"
#include "service/base/mem.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Far above what a policy file of 256 KiB can say. */
enum { CANONICAL_MAX_BYTES = 4 * 1024 * 1024, NAME_MAX_BYTES = 64 };

struct filter {
    atomic_size_t refs;
    struct arena arena;
    struct filter_grant *grants;
    size_t n_grants;
    struct filter_deny *denies;
    size_t n_denies;
    struct slice canonical;
    struct filter_digest digest;
};

int doc_scope_cmp(const struct doc_scope *a, const struct doc_scope *b)
{
    int order = slice_cmp(a->collection, b->collection);
    order = order ? order : slice_cmp(a->doc_type, b->doc_type);
    for (size_t i = 0; order == 0 && i < a->n_labels && i < b->n_labels; i++) {
        order = slice_cmp(a->labels[i], b->labels[i]);
    }
    return order ? order : (a->n_labels > b->n_labels) - (a->n_labels < b->n_labels);
}

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool scope_name_is_valid(struct slice name)
{
    if (name.n < 1 || name.n > NAME_MAX_BYTES || !is_letter_or_digit(name.p[0])) {
        return false;
    }
    for (size_t i = 1; i < name.n; i++) {
        if (!is_letter_or_digit(name.p[i]) && name.p[i] != '.' && name.p[i] != '_' &&
            name.p[i] != '-') {
            return false;
        }
    }
    return true;
}

static int compare_slices(const void *a, const void *b)
{
    return slice_cmp(*(const struct slice *)a, *(const struct slice *)b);
}

/* Sorts and drops repeats; returns how many are left. */
static size_t sort_distinct(struct slice *items, size_t n)
{
    if (n == 0) {
        return 0;
    }
    qsort(items, n, sizeof(*items), compare_slices);
    size_t kept = 1;
    for (size_t i = 1; i < n; i++) {
        if (!slice_eq(items[i], items[kept - 1])) {
            items[kept++] = items[i];
        }
    }
    return kept;
}

static struct filter_set copy_set(struct arena *arena, const struct filter_set *set)
{
    if (set->all) {
        return (struct filter_set){.all = true};
    }
    struct slice *items = arena_alloc(arena, set->n * sizeof(*items));
    for (size_t i = 0; i < set->n; i++) {
        items[i] = arena_copy(arena, set->items[i]);
    }
    return (struct filter_set){.items = items, .n = sort_distinct(items, set->n)};
}

static const struct filter_set *copy_written(struct arena *arena, const struct filter_set *set)
{
    if (!set) {
        return NULL;
    }
    struct filter_set *copy = arena_alloc(arena, sizeof(*copy));
    *copy = copy_set(arena, set);
    return copy;
}

static struct filter_grant *copy_grants(struct arena *arena, const struct filter_grant *grants,
                                        size_t n)
{
    struct filter_grant *copies = arena_alloc(arena, n * sizeof(*copies));
    for (size_t i = 0; i < n; i++) {
        copies[i].collections = copy_set(arena, &grants[i].collections);
        copies[i].doc_types = copy_set(arena, &grants[i].doc_types);
        copies[i].labels = copy_set(arena, &grants[i].labels);
    }
    return copies;
}

static struct filter_deny *copy_denies(struct arena *arena, const struct filter_deny *denies,
                                       size_t n)
{
    struct filter_deny *copies = arena_alloc(arena, n * sizeof(*copies));
    for (size_t i = 0; i < n; i++) {
        copies[i].collections = copy_written(arena, denies[i].collections);
        copies[i].doc_types = copy_written(arena, denies[i].doc_types);
        copies[i].labels_any = copy_written(arena, denies[i].labels_any);
    }
    return copies;
}

/* "*" as a text is the flag, ["*"] would be a value: the two never share bytes. */
static void write_set(struct json_writer *w, const char *dimension, const struct filter_set *set)
{
    if (!set) {
        return;
    }
    json_key(w, dimension);
    if (set->all) {
        json_text_z(w, "*");
        return;
    }
    json_array_begin(w);
    for (size_t i = 0; i < set->n; i++) {
        json_text(w, set->items[i]);
    }
    json_array_end(w);
}

struct written_sets {
    const struct filter_set *collections, *doc_types, *labels;
    const char *labels_key;
};

static struct slice write_rule(struct arena *arena, const struct written_sets *sets)
{
    struct dynbuf text;
    dynbuf_init(&text, CANONICAL_MAX_BYTES);
    struct json_writer w = json_writer_on(&text);
    json_object_begin(&w);
    write_set(&w, "collections", sets->collections);
    write_set(&w, "doc_types", sets->doc_types);
    write_set(&w, sets->labels_key, sets->labels);
    json_object_end(&w);
    struct slice copy = text.failed ? SLICE_NONE : arena_copy(arena, dynbuf_get(&text));
    dynbuf_done(&text);
    return copy;
}

static struct slice write_grant(struct arena *arena, const struct filter_grant *grant)
{
    struct written_sets sets = {&grant->collections, &grant->doc_types, &grant->labels, "labels"};
    return write_rule(arena, &sets);
}

static struct slice write_deny(struct arena *arena, const struct filter_deny *deny)
{
    struct written_sets sets = {deny->collections, deny->doc_types, deny->labels_any, "labels_any"};
    return write_rule(arena, &sets);
}

static void write_sorted(struct json_writer *w, const char *key, struct slice *texts, size_t n)
{
    n = sort_distinct(texts, n);
    json_key(w, key);
    json_array_begin(w);
    for (size_t i = 0; i < n; i++) {
        json_raw_value(w, texts[i]);
    }
    json_array_end(w);
}

/* False where the text would pass its ceiling. */
static bool write_canonical(struct filter *f)
{
    bool whole = true;
    struct slice *grants = arena_alloc(&f->arena, f->n_grants * sizeof(*grants));
    for (size_t i = 0; i < f->n_grants; i++) {
        grants[i] = write_grant(&f->arena, &f->grants[i]);
        whole = whole && grants[i].p;
    }
    struct slice *denies = arena_alloc(&f->arena, f->n_denies * sizeof(*denies));
    for (size_t i = 0; i < f->n_denies; i++) {
        denies[i] = write_deny(&f->arena, &f->denies[i]);
        whole = whole && denies[i].p;
    }
    struct dynbuf text;
    dynbuf_init(&text, CANONICAL_MAX_BYTES);
    struct json_writer w = json_writer_on(&text);
    json_object_begin(&w);
    write_sorted(&w, "any_of", grants, f->n_grants);
    write_sorted(&w, "none_of", denies, f->n_denies);
    json_object_end(&w);
    whole = whole && !text.failed;
    f->canonical = arena_copy(&f->arena, dynbuf_get(&text));
    dynbuf_done(&text);
    digest_of(f->canonical, &f->digest.value);
    return whole;
}

struct filter *filter_build(const struct filter_grant *grants, size_t n_grants,
                            const struct filter_deny *denies, size_t n_denies)
{
    struct filter *f = mem_alloc(sizeof(*f));
    atomic_init(&f->refs, 1);
    arena_init(&f->arena);
    n_denies = n_grants ? n_denies : 0; /* nothing less something is nothing */
    f->n_grants = n_grants;
    f->n_denies = n_denies;
    f->grants = copy_grants(&f->arena, grants, n_grants);
    f->denies = copy_denies(&f->arena, denies, n_denies);
    if (!write_canonical(f)) {
        filter_unref(f); /* two filters must never share a text that was cut */
        return filter_build(NULL, 0, NULL, 0);
    }
    return f;
}

struct filter *filter_owner(void)
{
    static const struct filter_grant everything = {{.all = true}, {.all = true}, {.all = true}};
    return filter_build(&everything, 1, NULL, 0);
}

struct filter *filter_ref(struct filter *f)
{
    atomic_fetch_add_explicit(&f->refs, 1, memory_order_relaxed);
    return f;
}

void filter_unref(struct filter *f)
{
    if (f && atomic_fetch_sub_explicit(&f->refs, 1, memory_order_acq_rel) == 1) {
        arena_done(&f->arena);
        free(f);
    }
}

bool filter_is_none(const struct filter *f)
{
    return f->n_grants == 0;
}

static bool set_has(const struct filter_set *set, struct slice value)
{
    return set->all ||
           (set->n && bsearch(&value, set->items, set->n, sizeof(value), compare_slices) != NULL);
}

/* Vacuous truth would show unlabelled documents to everyone: they need the written "*". */
static bool set_has_every(const struct filter_set *set, const struct slice *labels, size_t n)
{
    if (set->all) {
        return true;
    }
    for (size_t i = 0; i < n; i++) {
        if (!set_has(set, labels[i])) {
            return false;
        }
    }
    return n > 0;
}

static bool set_has_any(const struct filter_set *set, const struct slice *labels, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (set_has(set, labels[i])) {
            return true;
        }
    }
    return false;
}

static bool grant_permits(const struct filter_grant *grant, const struct doc_scope *where)
{
    return set_has(&grant->collections, where->collection) &&
           set_has(&grant->doc_types, where->doc_type) &&
           set_has_every(&grant->labels, where->labels, where->n_labels);
}

static bool deny_matches(const struct filter_deny *deny, const struct doc_scope *where)
{
    return (!deny->collections || set_has(deny->collections, where->collection)) &&
           (!deny->doc_types || set_has(deny->doc_types, where->doc_type)) &&
           (!deny->labels_any || set_has_any(deny->labels_any, where->labels, where->n_labels));
}

bool filter_permits(const struct filter *f, const struct doc_scope *where)
{
    if (where->collection.n == 0 || where->doc_type.n == 0) {
        return false;
    }
    for (size_t i = 0; i < f->n_denies; i++) {
        if (deny_matches(&f->denies[i], where)) {
            return false;
        }
    }
    for (size_t i = 0; i < f->n_grants; i++) {
        if (grant_permits(&f->grants[i], where)) {
            return true;
        }
    }
    return false;
}

struct slice filter_canonical(const struct filter *f)
{
    return f->canonical;
}

const struct filter_digest *filter_digest(const struct filter *f)
{
    return &f->digest;
}
