/* SPDX-License-Identifier: Apache-2.0 */
/* A set with one broken line is refused as a whole: a figure over the rest would look like a figure
 * over all of it. */
#include "service/eval/records.h"

#include "service/base/mem.h"
#include "service/eval/id_map.h"
#include "service/eval/lines.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum { REASON_BYTES = 256 };

/* A member that is a text without NUL, or absent. */
static bool take(const json_t *object, const char *key, struct arena *arena, struct slice *ret_text)
{
    const json_t *value = json_object_get(object, key);
    *ret_text = SLICE_NONE;
    if (!value || json_is_null(value)) {
        return true;
    }
    struct slice text = {json_string_value(value), json_string_length(value)};
    if (!json_is_string(value) || memchr(text.p, 0, text.n)) {
        return false;
    }
    *ret_text = arena_copy(arena, text);
    return true;
}

static const char *take_all(const json_t *object, struct arena *arena, struct eval_record *r)
{
    if (!take(object, "id", arena, &r->id) || !r->id.p || r->id.n == 0 ||
        r->id.n > EVAL_ID_MAX_BYTES) {
        return "`id` has to be a text of 1 to 512 bytes without NUL";
    }
    if (!take(object, "text", arena, &r->text) || !r->text.p) {
        return "`text` has to be a text without NUL";
    }
    if (!take(object, "title", arena, &r->title) ||
        !take(object, "category", arena, &r->category) ||
        !take(object, "difficulty", arena, &r->difficulty) ||
        !take(object, "group", arena, &r->group)) {
        return "`title`, `category`, `difficulty` and `group` are texts without NUL where they "
               "stand";
    }
    return NULL;
}

static const char *parse(struct slice line, struct arena *arena, struct eval_record *ret_record,
                         char room[REASON_BYTES])
{
    const char *fault = line_fault(line);
    if (fault) {
        return fault;
    }
    json_error_t error;
    json_t *object = json_loadb(line.p, line.n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (!object) {
        snprintf(room, REASON_BYTES, "broken JSON at column %d: %s", error.column, error.text);
        return room;
    }
    fault = json_is_object(object) ? take_all(object, arena, ret_record) : "not a JSON object";
    json_decref(object);
    return fault;
}

void records_each(struct slice bytes, struct arena *arena,
                  void (*on_record)(void *arg, uint64_t line, const struct eval_record *record,
                                    const char *reason),
                  void *arg)
{
    if (slice_starts(bytes, SLICE_LIT("\xEF\xBB\xBF"))) {
        bytes = slice_skip(bytes, 3);
    }
    for (uint64_t n = 1; bytes.n; n++) {
        struct slice line = line_next(&bytes);
        if (slice_is_blank(line)) {
            continue;
        }
        char room[REASON_BYTES];
        struct eval_record record = {.line = n};
        const char *reason = parse(line, arena, &record, room);
        on_record(arg, n, reason ? NULL : &record, reason);
    }
}

struct reading {
    const char *path;
    struct records *records;
    struct id_map ids;
    struct err_detail *detail;
    bool bad;
    char room[REASON_BYTES];
};

static const char *refusal(struct reading *r, const struct eval_record *record)
{
    bool is_new;
    uint32_t before = id_map_add(&r->ids, record->id, &is_new);
    if (!is_new) {
        snprintf(r->room, sizeof(r->room), "the id %.100s is that of line %llu already",
                 record->id.p, (unsigned long long)r->records->items[before].line);
        return r->room;
    }
    return r->records->n == RECORDS_MAX ? "more than 2,000,000 records" : NULL;
}

static void on_record(void *arg, uint64_t line, const struct eval_record *record,
                      const char *reason)
{
    struct reading *r = arg;
    struct records *all = r->records;
    if (r->bad) {
        return;
    }
    reason = reason ? reason : refusal(r, record);
    if (reason) {
        r->bad = true;
        (void)line_refuse(r->detail, r->path, line, reason);
        return;
    }
    if (all->n == all->cap) {
        all->cap = all->cap ? 2 * all->cap : 256;
        all->items = mem_realloc(all->items, all->cap * sizeof(*all->items));
    }
    all->items[all->n++] = *record;
}

bool records_read(const char *path, struct slice bytes, struct records *ret_records,
                  struct err_detail *detail)
{
    *ret_records = (struct records){0};
    struct reading r = {.path = path, .records = ret_records, .detail = detail};
    records_each(bytes, &ret_records->arena, on_record, &r);
    if (!r.bad && ret_records->n == 0) {
        r.bad = true;
        err_detail_set(detail, "%s: no record in it: one JSON object a line, with id and text",
                       path);
    }
    id_map_done(&r.ids);
    return !r.bad;
}

void records_done(struct records *r)
{
    arena_done(&r->arena);
    free(r->items);
    *r = (struct records){0};
}
