/* SPDX-License-Identifier: Apache-2.0 */
/* Counters are named by digests of what they count: of equal length, telling nothing, and no
 * tenant's name can be made to look like another's counter. */
#include "cache/budget_rules.h"

#include "service/base/arena.h"
#include "service/base/mem.h"

#include <stdatomic.h>
#include <stdlib.h>

struct budget_rulebook {
    atomic_size_t n_refs;
    struct arena arena;
    struct budget_rules rules; /* lists and texts in the arena */
};

static void copy_named(struct budget_rulebook *r, const struct budget_rules *from)
{
    struct budget_named *named = arena_alloc(&r->arena, from->n_named * sizeof(*named));
    for (size_t i = 0; i < from->n_named; i++) {
        named[i] = from->named[i];
        named[i].tenant = arena_copy(&r->arena, from->named[i].tenant);
        named[i].tool = arena_copy(&r->arena, from->named[i].tool);
    }
    r->rules.named = named;
}

static void copy_tools(struct budget_rulebook *r, const struct budget_rules *from)
{
    struct budget_tool *tools = arena_alloc(&r->arena, from->n_tools * sizeof(*tools));
    for (size_t i = 0; i < from->n_tools; i++) {
        tools[i] = from->tools[i];
        tools[i].tool = arena_copy(&r->arena, from->tools[i].tool);
    }
    r->rules.tools = tools;
}

struct budget_rulebook *budget_rulebook_new(const struct budget_rules *rules)
{
    struct budget_rulebook *r = mem_alloc(sizeof(*r));
    atomic_init(&r->n_refs, 1);
    arena_init(&r->arena);
    r->rules = *rules;
    copy_named(r, rules);
    copy_tools(r, rules);
    return r;
}

struct budget_rulebook *budget_rulebook_ref(struct budget_rulebook *r)
{
    atomic_fetch_add(&r->n_refs, 1);
    return r;
}

void budget_rulebook_unref(struct budget_rulebook *r)
{
    if (r && atomic_fetch_sub(&r->n_refs, 1) == 1) {
        arena_done(&r->arena);
        free(r);
    }
}

static struct budget_rule find_rule(const struct budget_rules *rules, struct slice tenant,
                                    struct slice tool, struct budget_rule standard)
{
    for (size_t i = 0; i < rules->n_named; i++) {
        const struct budget_named *named = &rules->named[i];
        if (slice_eq(named->tenant, tenant) && slice_eq(named->tool, tool)) {
            return named->rule;
        }
    }
    return standard;
}

static struct budget_tool find_tool(const struct budget_rules *rules, struct slice tool)
{
    for (size_t i = 0; i < rules->n_tools; i++) {
        if (slice_eq(rules->tools[i].tool, tool)) {
            return rules->tools[i];
        }
    }
    return (struct budget_tool){.tool = tool, .cost = 1};
}

static struct digest digest_parts(const char *kind, struct slice owner, struct slice detail)
{
    struct digest key;
    struct hasher h;
    hasher_init(&h);
    hasher_part(&h, slice_of(kind));
    hasher_part(&h, owner);
    hasher_part(&h, detail);
    hasher_done(&h, &key);
    return key;
}

/* A budget without limits is no line: nobody has to look at its counter. */
static void add_line(struct budget_bill *bill, struct budget_line line)
{
    if (line.rule.per_minute || line.rule.per_day) {
        bill->lines[bill->n_lines++] = line;
    }
}

void budget_bill_make(const struct budget_rulebook *rules, const struct budget_charge *charge,
                      struct budget_bill *ret_bill)
{
    const struct budget_rule none = {0};
    const struct budget_rules *r = &rules->rules;
    struct slice tenant = charge->tenant, name = slice_of(charge->tool);
    struct slice subject = digest_slice(charge->subject);
    struct budget_tool tool = find_tool(r, name);
    *ret_bill = (struct budget_bill){
        .tenant = digest_parts("tenant", tenant, SLICE_NONE),
        .memory = digest_parts("charge", subject, digest_slice(&charge->call->value)),
        .cost = tool.cost,
        .is_paid = tool.is_paid,
    };
    add_line(ret_bill,
             (struct budget_line){"tenant/minute", "tenant/day", 't',
                                  find_rule(r, tenant, SLICE_NONE, r->tenant), ret_bill->tenant});
    add_line(ret_bill, (struct budget_line){"subject/minute", "subject/day", 's', r->subject,
                                            digest_parts("subject", tenant, subject)});
    add_line(ret_bill,
             (struct budget_line){"tool/minute", "tool/day", 'l', find_rule(r, tenant, name, none),
                                  digest_parts("tool", tenant, name)});
}
