/* SPDX-License-Identifier: Apache-2.0 */
/* The one promise of this folder, against an oracle that shares no code with it: random policies,
 * claims and documents, judged document by document over bit masks. The canonical text is judged
 * too, read back as JSON: it must say exactly what the filter does. */
#include "scope/policy.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum { N_POLICIES = 1500, N_CLAIMS = 4, N_DOCUMENTS = 16, N_VALUES = 5, N_CONDITIONS = 5 };
enum { MAX_RULES = 4 };

/* Groups share names with scopes on purpose; values look like syntax and like the wildcard. */
static const char *const TENANTS[N_VALUES] = {"acme", "globex", "initech", "acme2", "ACME"};
static const char *const SCOPES[N_VALUES] = {"kb:read", "*", "admin", "a,b", "OR"};
static const char *const GROUPS[N_VALUES] = {"kb:read", "*", "admin", "it's \"x\"", "caf\xC3\xA9"};
static const char *const CLIENTS[N_VALUES] = {"agent", "*", "admin", "a b", "kb:read"};
static const char *const COLLECTIONS[N_VALUES] = {"kb", "kb2", "hr", "KB", "contracts"};
static const char *const DOC_TYPES[N_VALUES] = {"faq", "faq2", "article", "FAQ", "kb"};
static const char *const LABELS[N_VALUES] = {"internal", "legal", "public", "public2", "kb"};

static const char *const CONDITION_NAMES[N_CONDITIONS] = {"scopes_all", "scopes_any", "groups_all",
                                                          "groups_any", "client_ids_any"};

struct set {
    bool all;
    unsigned mask;
};

struct model_condition {
    bool written, has[N_CONDITIONS];
    unsigned mask[N_CONDITIONS];
};

struct model_grant {
    unsigned tenants;
    struct model_condition when;
    struct set collections, doc_types, labels;
};

struct model_deny {
    struct model_condition unless;
    bool on_collections, on_doc_types, on_labels;
    struct set collections, doc_types, labels;
};

struct model {
    struct model_grant grants[MAX_RULES];
    struct model_deny denies[MAX_RULES];
    size_t n_grants, n_denies, max_matched;
};

struct model_claims {
    int tenant, client; /* -1: none */
    unsigned scopes, groups;
    bool overage;
};

struct model_document {
    int collection, doc_type; /* -1: empty */
    unsigned labels;
};

static uint64_t state;

static size_t pick(size_t n)
{
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (size_t)(state >> 33) % n;
}

static unsigned pick_mask(void)
{
    return (unsigned)pick(1U << N_VALUES) & (unsigned)(pick(2) ? pick(1U << N_VALUES) : ~0U);
}

/* --- the oracle ------------------------------------------------------------------------------ */

static bool holds(const struct model_condition *condition, const struct model_claims *c)
{
    unsigned client = c->client < 0 ? 0 : 1U << c->client;
    const unsigned have[N_CONDITIONS] = {c->scopes, c->scopes, c->overage ? 0 : c->groups,
                                         c->overage ? 0 : c->groups, client};
    for (int i = 0; i < N_CONDITIONS; i++) {
        bool every = i == 0 || i == 2;
        unsigned wanted = condition->mask[i], met = wanted & have[i];
        if (condition->has[i] && (met == 0 || (every && met != wanted))) {
            return false;
        }
    }
    return true;
}

static bool in(const struct set *s, int value)
{
    return s->all || (s->mask >> value & 1);
}

static bool allows(const struct model_grant *g, const struct model_document *d)
{
    bool labels = g->labels.all || (d->labels != 0 && (d->labels & ~g->labels.mask) == 0);
    return in(&g->collections, d->collection) && in(&g->doc_types, d->doc_type) && labels;
}

static bool denies(const struct model_deny *x, const struct model_document *d)
{
    return (!x->on_collections || in(&x->collections, d->collection)) &&
           (!x->on_doc_types || in(&x->doc_types, d->doc_type)) &&
           (!x->on_labels || (x->labels.mask & d->labels) != 0);
}

static bool oracle(const struct model *m, const struct model_claims *c,
                   const struct model_document *d)
{
    size_t matched = 0;
    bool seen = false;
    for (size_t i = 0; i < m->n_grants; i++) {
        const struct model_grant *g = &m->grants[i];
        bool applies = c->tenant >= 0 && (g->tenants >> c->tenant & 1) && holds(&g->when, c);
        matched += applies;
        seen = seen || (applies && d->collection >= 0 && d->doc_type >= 0 && allows(g, d));
    }
    for (size_t i = 0; i < m->n_denies; i++) {
        const struct model_deny *x = &m->denies[i];
        bool applies = !(x->unless.written && holds(&x->unless, c));
        if (applies && d->collection >= 0 && d->doc_type >= 0 && denies(x, d)) {
            seen = false;
        }
    }
    return seen && matched <= m->max_matched;
}

/* --- drawing a model and writing it down ------------------------------------------------------ */

static void draw_condition(struct model_condition *c)
{
    *c = (struct model_condition){.written = pick(4) != 0};
    bool any = false;
    for (int i = 0; c->written && i < N_CONDITIONS; i++) {
        c->has[i] = pick(4) == 0;
        c->mask[i] = c->has[i] ? pick_mask() : 0;
        any = any || c->has[i];
    }
    c->written = any;
}

static struct set draw_set(bool may_be_all)
{
    bool all = may_be_all && pick(3) == 0;
    return (struct set){all, all ? 0 : pick_mask()};
}

static void draw_model(struct model *m)
{
    *m = (struct model){
        .n_grants = pick(MAX_RULES + 1), .n_denies = pick(3), .max_matched = 1 + pick(MAX_RULES)};
    for (size_t i = 0; i < m->n_grants; i++) {
        struct model_grant *g = &m->grants[i];
        g->tenants = (unsigned)pick(1U << N_VALUES) | (unsigned)pick(1U << N_VALUES);
        draw_condition(&g->when);
        g->collections = draw_set(true);
        g->doc_types = draw_set(true);
        g->labels = draw_set(true);
    }
    for (size_t i = 0; i < m->n_denies; i++) {
        struct model_deny *d = &m->denies[i];
        draw_condition(&d->unless);
        d->on_collections = pick(2);
        d->on_doc_types = pick(2);
        d->on_labels = pick(2) || (!d->on_collections && !d->on_doc_types);
        d->collections = draw_set(true);
        d->doc_types = draw_set(true);
        d->labels = draw_set(false);
    }
}

static void write_quoted(FILE *f, const char *text)
{
    (void)fputc('\'', f);
    for (; *text; text++) {
        (void)fprintf(f, *text == '\'' ? "''" : "%c", *text);
    }
    (void)fputc('\'', f);
}

static void write_values(FILE *f, const char *key, const struct set *s, const char *const *values)
{
    (void)fprintf(f, "%s: [", key);
    if (s->all) {
        (void)fputs("\"*\"", f);
    }
    const char *comma = "";
    for (size_t n = 0, at = pick(N_VALUES); n < N_VALUES; n++, at = (at + 1) % N_VALUES) {
        if (s->mask >> at & 1) {
            (void)fputs(comma, f);
            write_quoted(f, values[at]);
            comma = ", ";
        }
    }
    (void)fputs("]", f);
}

static void write_condition(FILE *f, const char *key, const struct model_condition *c)
{
    static const char *const *const values[N_CONDITIONS] = {SCOPES, SCOPES, GROUPS, GROUPS,
                                                            CLIENTS};
    if (!c->written) {
        return;
    }
    (void)fprintf(f, "    %s:\n", key);
    for (int i = 0; i < N_CONDITIONS; i++) {
        if (c->has[i]) {
            struct set s = {false, c->mask[i]};
            (void)fputs("      ", f);
            write_values(f, CONDITION_NAMES[i], &s, values[i]);
            (void)fputc('\n', f);
        }
    }
}

static void write_grant(FILE *f, size_t i, const struct model_grant *g)
{
    struct set tenants = {false, g->tenants};
    (void)fprintf(f, "  - id: g%zu\n    ", i);
    write_values(f, "tenants", &tenants, TENANTS);
    (void)fputc('\n', f);
    write_condition(f, "when", &g->when);
    (void)fputs("    allow:\n      ", f);
    write_values(f, "labels", &g->labels, LABELS);
    (void)fputs("\n      ", f);
    write_values(f, "collections", &g->collections, COLLECTIONS);
    (void)fputs("\n      ", f);
    write_values(f, "doc_types", &g->doc_types, DOC_TYPES);
    (void)fputc('\n', f);
}

static void write_deny(FILE *f, size_t i, const struct model_deny *d)
{
    (void)fprintf(f, "  - id: d%zu\n", i);
    write_condition(f, "unless", &d->unless);
    (void)fputs("    match:\n", f);
    if (d->on_collections) {
        (void)fputs("      ", f);
        write_values(f, "collections", &d->collections, COLLECTIONS);
        (void)fputc('\n', f);
    }
    if (d->on_doc_types) {
        (void)fputs("      ", f);
        write_values(f, "doc_types", &d->doc_types, DOC_TYPES);
        (void)fputc('\n', f);
    }
    if (d->on_labels) {
        (void)fputs("      ", f);
        write_values(f, "labels_any", &d->labels, LABELS);
        (void)fputc('\n', f);
    }
}

static struct policy *write_and_parse(const struct model *m)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    (void)fprintf(f,
                  "policy_version: 1\nlimits: {max_matched_grants: %zu}\nissuers:\n  i:\n"
                  "    iss: i\n    jwks_file: k\n    audiences: [a]\n    claims:\n"
                  "      scopes: {path: scope, kind: array}\n"
                  "      tenant: {path: tid, kind: string}\n"
                  "    tenants: {t0: acme, t1: globex, t2: initech, t3: acme2, t4: ACME}\n",
                  m->max_matched);
    (void)fputs(m->n_grants ? "grants:\n" : "grants: []\n", f);
    for (size_t i = 0; i < m->n_grants; i++) {
        write_grant(f, i, &m->grants[i]);
    }
    (void)fputs(m->n_denies ? "denies:\n" : "", f);
    for (size_t i = 0; i < m->n_denies; i++) {
        write_deny(f, i, &m->denies[i]);
    }
    (void)fclose(f);
    struct err_detail detail = {0};
    struct policy *p = policy_parse((struct slice){text, n}, "p.yaml", &detail);
    cr_assert(p, "%s\n%s", detail.text, text);
    free(text);
    return p;
}

/* --- claims and documents --------------------------------------------------------------------- */

static size_t spell(unsigned mask, const char *const *values, struct slice *ret_items)
{
    size_t n = 0;
    for (size_t i = 0; i < N_VALUES; i++) {
        if (mask >> i & 1) {
            ret_items[n++] = slice_of(values[i]);
        }
    }
    return n;
}

static struct filter *compile(const struct policy *p, const struct model_claims *c)
{
    struct slice scopes[N_VALUES], groups[N_VALUES];
    struct claims claims = {.scopes = scopes, .groups = groups, .groups_overage = c->overage};
    claims.n_scopes = spell(c->scopes, SCOPES, scopes);
    claims.n_groups = spell(c->groups, GROUPS, groups);
    claims.tenant = c->tenant < 0 ? SLICE_NONE : slice_of(TENANTS[c->tenant]);
    claims.client_id = c->client < 0 ? SLICE_NONE : slice_of(CLIENTS[c->client]);
    return policy_compile(p, &claims);
}

static struct model_claims draw_claims(void)
{
    return (struct model_claims){.tenant = (int)pick(N_VALUES + 1) - 1,
                                 .client = (int)pick(N_VALUES + 1) - 1,
                                 .scopes = (unsigned)(pick(1U << N_VALUES) | pick(1U << N_VALUES)),
                                 .groups = (unsigned)(pick(1U << N_VALUES) | pick(1U << N_VALUES)),
                                 .overage = pick(8) == 0};
}

static struct model_document draw_document(void)
{
    return (struct model_document){.collection = pick(20) ? (int)pick(N_VALUES) : -1,
                                   .doc_type = pick(20) ? (int)pick(N_VALUES) : -1,
                                   .labels = pick_mask() & pick_mask()};
}

static struct doc_scope place(const struct model_document *d, struct slice *labels)
{
    struct doc_scope where = {.labels = labels};
    where.collection = d->collection < 0 ? SLICE_LIT("") : slice_of(COLLECTIONS[d->collection]);
    where.doc_type = d->doc_type < 0 ? SLICE_LIT("") : slice_of(DOC_TYPES[d->doc_type]);
    where.n_labels = spell(d->labels, LABELS, labels);
    return where;
}

/* --- the canonical text, read by somebody else's JSON parser -----------------------------------
 */

static bool json_has(const json_t *set, struct slice value)
{
    size_t i;
    json_t *item;
    json_array_foreach(set, i, item)
    {
        if (slice_is(value, json_string_value(item))) {
            return true;
        }
    }
    return json_is_string(set); /* "*" */
}

static bool json_rule_matches(const json_t *rule, const struct doc_scope *where)
{
    const json_t *collections = json_object_get(rule, "collections");
    const json_t *doc_types = json_object_get(rule, "doc_types");
    const json_t *labels = json_object_get(rule, "labels");
    const json_t *labels_any = json_object_get(rule, "labels_any");
    size_t listed = 0;
    for (size_t i = 0; i < where->n_labels; i++) {
        listed += json_has(labels ? labels : labels_any, where->labels[i]);
    }
    bool every = json_is_string(labels) || (listed == where->n_labels && listed > 0);
    return (!collections || json_has(collections, where->collection)) &&
           (!doc_types || json_has(doc_types, where->doc_type)) && (!labels || every) &&
           (!labels_any || listed > 0);
}

static bool json_any_matches(const json_t *rules, const struct doc_scope *where)
{
    size_t i;
    json_t *rule;
    json_array_foreach(rules, i, rule)
    {
        if (json_rule_matches(rule, where)) {
            return true;
        }
    }
    return false;
}

static bool canonical_permits(const json_t *canonical, const struct doc_scope *where)
{
    return where->collection.n && where->doc_type.n &&
           json_any_matches(json_object_get(canonical, "any_of"), where) &&
           !json_any_matches(json_object_get(canonical, "none_of"), where);
}

static size_t judge_caller(const struct model *m, const struct policy *p, uint64_t seed)
{
    struct model_claims c = draw_claims();
    struct filter *f = compile(p, &c);
    struct slice text = filter_canonical(f);
    json_t *canonical = json_loadb(text.p, text.n, JSON_REJECT_DUPLICATES, NULL);
    cr_assert(canonical, "seed %d: %.*s", (int)seed, (int)text.n, text.p);
    size_t n_seen = 0;
    for (int i = 0; i < N_DOCUMENTS; i++) {
        struct slice labels[N_VALUES];
        struct model_document d = draw_document();
        struct doc_scope where = place(&d, labels);
        bool expected = oracle(m, &c, &d);
        cr_assert_eq(filter_permits(f, &where), expected, "seed %d: %s: %.*s", (int)seed,
                     expected ? "withheld" : "leaked", (int)text.n, text.p);
        cr_assert_eq(canonical_permits(canonical, &where), expected, "seed %d: %.*s", (int)seed,
                     (int)text.n, text.p);
        cr_assert(!expected || !filter_is_none(f), "seed %d", (int)seed);
        n_seen += expected;
    }
    json_decref(canonical);
    filter_unref(f);
    return n_seen;
}

Test(isolation, agrees_with_a_naive_oracle_on_every_document)
{
    size_t n_seen = 0;
    for (uint64_t seed = 1; seed <= N_POLICIES; seed++) {
        state = seed * 7919;
        struct model m;
        draw_model(&m);
        struct policy *p = write_and_parse(&m);
        for (int i = 0; i < N_CLAIMS; i++) {
            n_seen += judge_caller(&m, p, seed);
        }
        policy_unref(p);
    }
    size_t n_all = (size_t)N_POLICIES * N_CLAIMS * N_DOCUMENTS;
    cr_assert(n_seen > n_all / 50 && n_seen < n_all / 2, "both outcomes are drawn: %zu of %zu",
              n_seen, n_all);
}
