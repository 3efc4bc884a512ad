/* SPDX-License-Identifier: Apache-2.0 */
/* The judge works on bits and knows the policy before it was written, so a mistake in reading the
 * file or in the filter cannot be in both. */
#include "tests/unit/whole/caller.h"

#include <stdio.h>

const char *const COLLECTIONS[N_COLLECTIONS] = {"atlas", "basil", "cedar", "delta", "omega"};
const char *const DOC_TYPES[N_DOC_TYPES] = {"law", "memo", "note"};
static const char *const LABELS[N_LABELS] = {"hr", "internal", "legal", "public"}; /* sorted */

bool place_eq(struct place a, struct place b)
{
    return a.collection == b.collection && a.doc_type == b.doc_type && a.labels == b.labels;
}

struct doc_scope place_scope(struct place p)
{
    static const struct slice names[N_LABELS] = {SLICE_LIT("hr"), SLICE_LIT("internal"),
                                                 SLICE_LIT("legal"), SLICE_LIT("public")};
    static _Thread_local struct slice sets[1U << N_LABELS][N_LABELS];
    struct slice *set = sets[p.labels];
    size_t n = 0;
    for (unsigned i = 0; i < N_LABELS; i++) {
        if (p.labels >> i & 1) {
            set[n++] = names[i];
        }
    }
    return (struct doc_scope){slice_of(COLLECTIONS[p.collection]), slice_of(DOC_TYPES[p.doc_type]),
                              set, n};
}

/* The judge */

static bool has(struct values v, unsigned bit)
{
    return v.all || (v.bits >> bit & 1);
}

static bool allows(const struct rule *g, struct place p)
{
    bool labels = g->labels.all || (p.labels && (p.labels & ~g->labels.bits) == 0);
    return g->in_force && has(g->collections, p.collection) && has(g->doc_types, p.doc_type) &&
           labels;
}

static bool takes_away(const struct rule *r, struct place p)
{
    bool labels = r->labels.all || (p.labels & r->labels.bits);
    return r->in_force && has(r->collections, p.collection) && has(r->doc_types, p.doc_type) &&
           labels;
}

bool caller_sees(const struct caller *c, struct place p)
{
    bool allowed = false;
    for (size_t i = 0; i < c->n_grants; i++) {
        allowed = allowed || allows(&c->grants[i], p);
    }
    for (size_t i = 0; i < c->n_denies; i++) {
        allowed = allowed && !takes_away(&c->denies[i], p);
    }
    return allowed;
}

/* Policies */

static struct values draw_values(struct draw *d, unsigned n, uint32_t all_one_in)
{
    struct values v = {.all = draw_one_in(d, all_one_in)};
    while (!v.bits) {
        v.bits = draw_below(d, 1U << n) & (draw_below(d, 2) ? draw_below(d, 1U << n) : ~0U);
    }
    return v;
}

static struct rule draw_rule(struct draw *d)
{
    return (struct rule){.collections = draw_values(d, N_COLLECTIONS, 5),
                         .doc_types = draw_values(d, N_DOC_TYPES, 3),
                         .labels = draw_values(d, N_LABELS, 5),
                         .in_force = !draw_one_in(d, 4)};
}

static void draw_policy(struct caller *c, struct draw *d)
{
    c->n_grants = 1 + draw_below(d, MAX_RULES);
    c->n_denies = draw_below(d, MAX_RULES);
    for (size_t i = 0; i < c->n_grants; i++) {
        c->grants[i] = draw_rule(d);
    }
    for (size_t i = 0; i < c->n_denies; i++) {
        c->denies[i] = draw_rule(d);
        c->denies[i].labels.all = c->denies[i].labels.all && !c->denies[i].doc_types.all;
    }
}

static void add_place(struct caller *c, struct place p)
{
    bool seen = caller_sees(c, p);
    struct place *list = seen ? c->seen : c->hidden;
    size_t *n = seen ? &c->n_seen : &c->n_hidden;
    for (size_t i = 0; i < *n; i++) {
        if (place_eq(list[i], p)) {
            return;
        }
    }
    if (*n < MAX_PLACES) {
        list[(*n)++] = p;
    }
}

static struct place draw_place(struct draw *d)
{
    struct place p = {draw_below(d, N_COLLECTIONS), draw_below(d, N_DOC_TYPES),
                      draw_below(d, 1U << N_LABELS)};
    p.labels &= draw_below(d, 2) ? draw_below(d, 1U << N_LABELS) : ~0U;
    return p;
}

/* A neighbour differs in one dimension: most mistakes are between such two. */
static struct place draw_neighbour(struct draw *d, struct place p)
{
    switch (draw_below(d, 3)) {
    case 0: p.labels ^= 1U << draw_below(d, N_LABELS); break;
    case 1: p.doc_type = draw_below(d, N_DOC_TYPES); break;
    default: p.collection = draw_below(d, N_COLLECTIONS); break;
    }
    return p;
}

void caller_draw(struct caller *c, struct draw *d)
{
    do {
        *c = (struct caller){0};
        draw_policy(c, d);
        for (int i = 0; i < 40; i++) {
            add_place(c, c->n_seen && draw_below(d, 2)
                             ? draw_neighbour(d, c->seen[draw_below(d, c->n_seen)])
                             : draw_place(d));
        }
    } while (!c->n_seen || !c->n_hidden);
    c->n_seen = 1 + draw_below(d, c->n_seen < 3 ? c->n_seen : 3);
    c->n_hidden = 1 + draw_below(d, c->n_hidden);
}

/* The file */

static void write_values(struct dynbuf *out, const char *key, struct values v,
                         const char *const *names, unsigned n)
{
    dynbuf_add_text(out, key);
    dynbuf_add_text(out, ": [");
    for (unsigned i = 0, written = 0; i < n && !v.all; i++) {
        if (v.bits >> i & 1) {
            dynbuf_add_text(out, written++ ? ", " : "");
            dynbuf_add_text(out, names[i]);
        }
    }
    dynbuf_add_text(out, v.all ? "\"*\"]" : "]");
}

static void write_grant(struct dynbuf *out, const struct rule *g, size_t number)
{
    dynbuf_add_text(out, "  - id: g");
    dynbuf_add_int(out, (int64_t)number);
    dynbuf_add_text(out, "\n    tenants: [acme]\n    when: {scopes_all: [\"");
    dynbuf_add_text(out, g->in_force ? "yes" : "no");
    dynbuf_add_text(out, "\"]}\n    allow: {");
    write_values(out, "collections", g->collections, COLLECTIONS, N_COLLECTIONS);
    write_values(out, ", doc_types", g->doc_types, DOC_TYPES, N_DOC_TYPES);
    write_values(out, ", labels", g->labels, LABELS, N_LABELS);
    dynbuf_add_text(out, "}\n");
}

/* A dimension that matches everything is left out. */
static void write_deny(struct dynbuf *out, const struct rule *r, size_t number)
{
    const char *comma = "";
    dynbuf_add_text(out, "  - id: d");
    dynbuf_add_int(out, (int64_t)number);
    dynbuf_add_text(out, "\n    unless: {groups_any: [");
    dynbuf_add_text(out, r->in_force ? "board" : "staff");
    dynbuf_add_text(out, "]}\n    match: {");
    if (!r->collections.all) {
        write_values(out, "collections", r->collections, COLLECTIONS, N_COLLECTIONS);
        comma = ", ";
    }
    if (!r->doc_types.all) {
        dynbuf_add_text(out, comma);
        write_values(out, "doc_types", r->doc_types, DOC_TYPES, N_DOC_TYPES);
        comma = ", ";
    }
    if (!r->labels.all) {
        dynbuf_add_text(out, comma);
        write_values(out, "labels_any", r->labels, LABELS, N_LABELS);
    }
    dynbuf_add_text(out, "}\n");
}

void caller_write_policy(const struct caller *c, struct dynbuf *out)
{
    dynbuf_add_text(out, "policy_version: 1\n"
                         "issuers:\n"
                         "  tests:\n"
                         "    iss: \"" CALLER_ISSUER "\"\n"
                         "    jwks_file: jwks.json\n"
                         "    audiences: [\"" CALLER_AUDIENCE "\"]\n"
                         "    algs: [ES256]\n"
                         "    typ_any: true\n"
                         "    claims:\n"
                         "      scopes: {path: scope, kind: space_string}\n"
                         "      groups: {path: groups, kind: array}\n"
                         "      tenant: {path: tid, kind: string}\n"
                         "    tenants: {T1: acme}\n"
                         "grants:\n");
    for (size_t i = 0; i < c->n_grants; i++) {
        write_grant(out, &c->grants[i], i);
    }
    dynbuf_add_text(out, c->n_denies ? "denies:\n" : "");
    for (size_t i = 0; i < c->n_denies; i++) {
        write_deny(out, &c->denies[i], i);
    }
}
