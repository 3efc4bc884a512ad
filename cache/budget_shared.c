/* SPDX-License-Identifier: Apache-2.0 */
/* Both scripts get their keys in the order of the bill's windows, so that a window's number in a
 * reply names it. */
#include "cache/budget_shared.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    ID_BYTES = 16, /* of a digest: enough that no two counters meet */
    ID_CHARS = 2 * ID_BYTES,
    REPLY_HEAD = 4, /* code, window, wait, day */
};

enum { CODE_DENIED, CODE_CHARGED, CODE_REMEMBERED };

/* What may stand in a reply: exact in Lua. */
#define MAX_EXACT (INT64_C(1) << 53)

/* One window of a bill. */
struct window {
    const char *name;
    char kind; /* 'm', 'd' */
    size_t line;
    int64_t limit, burst;
};

static size_t list_windows(const struct budget_bill *bill,
                           struct window ret_windows[BUDGET_MAX_WINDOWS])
{
    size_t n = 0;
    for (size_t i = 0; i < bill->n_lines; i++) {
        const struct budget_line *line = &bill->lines[i];
        const struct budget_rule *rule = &line->rule;
        if (rule->per_minute) {
            ret_windows[n++] =
                (struct window){line->minute_name, 'm', i, rule->per_minute, rule->burst};
        }
        if (rule->per_day) {
            ret_windows[n++] = (struct window){line->day_name, 'd', i, rule->per_day, 0};
        }
    }
    return n;
}

static void id_of(const struct digest *d, char ret_id[ID_CHARS + 1])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < ID_BYTES; i++) {
        ret_id[2 * i] = digits[d->bytes[i] >> 4];
        ret_id[2 * i + 1] = digits[d->bytes[i] & 15];
    }
    ret_id[ID_CHARS] = '\0';
}

/* What all keys of a tenant begin with. */
struct key_head {
    struct slice prefix;
    char tenant[ID_CHARS + 1];
};

static void add_key(struct budget_script_input *in, const struct key_head *head, char kind,
                    const struct digest *owner, const char *end)
{
    char id[ID_CHARS + 1];
    id_of(owner, id);
    size_t n_prefix =
        head->prefix.n < BUDGET_PREFIX_MAX_BYTES ? head->prefix.n : BUDGET_PREFIX_MAX_BYTES;
    int n = snprintf(in->key_room[in->n_keys], BUDGET_KEY_BYTES, "%.*sb:{%s}:%c:%s%s",
                     (int)n_prefix, n_prefix ? head->prefix.p : "", head->tenant, kind, id, end);
    in->keys[in->n_keys] = (struct slice){in->key_room[in->n_keys], (size_t)n};
    in->n_keys++;
}

static void add_keys(struct budget_script_input *in, struct slice prefix,
                     const struct budget_bill *bill, const struct window *windows, size_t n_windows)
{
    struct key_head head = {.prefix = prefix};
    id_of(&bill->tenant, head.tenant);
    add_key(in, &head, 'c', &bill->memory, "");
    for (size_t i = 0; i < n_windows; i++) {
        const struct budget_line *line = &bill->lines[windows[i].line];
        add_key(in, &head, line->kind, &line->counter, windows[i].kind == 'm' ? ":m" : ":d");
    }
}

static void add_kind(struct budget_script_input *in, char kind)
{
    in->arg_room[in->n_args][0] = kind;
    in->args[in->n_args] = (struct slice){in->arg_room[in->n_args], 1};
    in->n_args++;
}

static void add_number(struct budget_script_input *in, int64_t number)
{
    int n = snprintf(in->arg_room[in->n_args], BUDGET_ARG_BYTES, "%" PRId64, number);
    in->args[in->n_args] = (struct slice){in->arg_room[in->n_args], (size_t)n};
    in->n_args++;
}

void budget_shared_take_input(struct slice prefix, const struct budget_bill *bill,
                              struct budget_script_input *ret_input)
{
    struct window windows[BUDGET_MAX_WINDOWS];
    size_t n_windows = list_windows(bill, windows);
    ret_input->n_keys = ret_input->n_args = 0;
    add_keys(ret_input, prefix, bill, windows, n_windows);
    add_number(ret_input, bill->cost);
    add_number(ret_input, BUDGET_REMEMBER_MS);
    for (size_t i = 0; i < n_windows; i++) {
        add_kind(ret_input, windows[i].kind);
        add_number(ret_input, windows[i].limit);
        add_number(ret_input, windows[i].burst);
    }
}

void budget_shared_refund_input(struct slice prefix, const struct budget_bill *bill,
                                struct budget_script_input *ret_input)
{
    struct window windows[BUDGET_MAX_WINDOWS];
    size_t n_windows = list_windows(bill, windows);
    ret_input->n_keys = ret_input->n_args = 0;
    add_keys(ret_input, prefix, bill, windows, n_windows);
    for (size_t i = 0; i < n_windows; i++) {
        add_kind(ret_input, windows[i].kind);
    }
}

static bool are_exact_numbers(const struct redis_reply *reply)
{
    for (size_t i = 0; i < reply->n_items; i++) {
        const struct redis_reply *item = &reply->items[i];
        if (item->kind != REDIS_INTEGER || item->integer < 0 || item->integer > MAX_EXACT) {
            return false;
        }
    }
    return reply->n_items > 0;
}

/* {0, window, wait, day, …} or {1, 0, 0, day, …} */
static bool read_decision(const struct redis_reply *reply, const struct window *windows,
                          size_t n_windows, struct budget_verdict *ret_verdict)
{
    int64_t code = reply->items[0].integer, window = reply->items[1].integer;
    int64_t wait_ms = reply->items[2].integer;
    if (code == CODE_CHARGED && window == 0 && wait_ms == 0) {
        *ret_verdict = (struct budget_verdict){.charged = true};
        return true;
    }
    if (code == CODE_DENIED && window >= 1 && (size_t)window <= n_windows && wait_ms >= 1) {
        *ret_verdict =
            (struct budget_verdict){.budget = windows[window - 1].name, .retry_after_ms = wait_ms};
        return true;
    }
    return false;
}

/* False: the reply has another number of days than the bill. */
static bool read_used(const struct redis_reply *reply, const struct window *windows,
                      size_t n_windows, struct budget_note *ret_note)
{
    size_t at = REPLY_HEAD;
    *ret_note = (struct budget_note){.charged = reply->items[0].integer == CODE_CHARGED,
                                     .day = reply->items[3].integer};
    for (size_t i = 0; i < n_windows; i++) {
        if (windows[i].kind == 'd' && at < reply->n_items) {
            ret_note->used[windows[i].line] = reply->items[at].integer;
        }
        at += windows[i].kind == 'd';
    }
    return at == reply->n_items;
}

bool budget_shared_read(const struct redis_reply *reply, const struct budget_bill *bill,
                        struct budget_reading *ret_reading)
{
    struct budget_reading reading = {0};
    struct window windows[BUDGET_MAX_WINDOWS];
    size_t n_windows = list_windows(bill, windows);
    if (reply->kind != REDIS_LIST || !are_exact_numbers(reply)) {
        return false;
    }
    bool good = reply->n_items == 1
                    ? reply->items[0].integer == CODE_REMEMBERED
                    : reply->n_items >= REPLY_HEAD &&
                          read_decision(reply, windows, n_windows, &reading.verdict) &&
                          read_used(reply, windows, n_windows, &reading.note);
    if (good) {
        *ret_reading = reading;
    }
    return good;
}
