/* SPDX-License-Identifier: Apache-2.0 */
/* What a filter permits, and that its digest stands for rights and nothing else. */
#include "scope/filter_build.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum { MAX_ITEMS = 8 };

static struct slice label(const char *text)
{
    return slice_of(text);
}

static struct filter_set set_of(const struct slice *items, size_t n)
{
    return (struct filter_set){.items = items, .n = n};
}

static const struct filter_set EVERY = {.all = true};
static const struct filter_set NOTHING = {0};

static struct filter *one_grant(struct filter_set collections, struct filter_set doc_types,
                                struct filter_set labels)
{
    struct filter_grant grant = {collections, doc_types, labels};
    return filter_build(&grant, 1, NULL, 0);
}

static bool sees(const struct filter *f, const char *collection, const char *doc_type,
                 const struct slice *labels, size_t n)
{
    struct doc_scope where = {slice_of(collection), slice_of(doc_type), labels, n};
    return filter_permits(f, &where);
}

Test(filter, names_have_a_closed_alphabet_and_length)
{
    static const char *const good[] = {"a", "Z", "0", "kb", "hr-policies", "v1.2_x", "a-", "A.b"};
    static const char *const bad[] = {"",    "*",  "-a",  ".a",          "_a", "a b",
                                      "a/b", "a*", "a\"", "caf\xC3\xA9", "a\n"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        cr_assert(scope_name_is_valid(slice_of(good[i])), "%s", good[i]);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_assert_not(scope_name_is_valid(slice_of(bad[i])), "%s", bad[i]);
    }
    char text[65];
    memset(text, 'a', sizeof(text));
    cr_assert(scope_name_is_valid((struct slice){text, 63}));
    cr_assert(scope_name_is_valid((struct slice){text, 64}));
    cr_assert_not(scope_name_is_valid((struct slice){text, 65}));
    cr_assert_not(scope_name_is_valid(SLICE_NONE));
    cr_assert_not(scope_name_is_valid(SLICE_LIT("a\0b")));
}

Test(filter, every_label_of_the_document_must_be_listed)
{
    struct slice listed[] = {label("internal"), label("public")};
    struct slice both[] = {label("internal"), label("public")};
    struct slice more[] = {label("internal"), label("legal")};
    struct filter *f = one_grant(EVERY, EVERY, set_of(listed, 2));
    cr_assert(sees(f, "kb", "faq", &both[0], 1));
    cr_assert(sees(f, "kb", "faq", both, 2));
    cr_assert_not(sees(f, "kb", "faq", more, 2), "a second label narrows");
    cr_assert_not(sees(f, "kb", "faq", &more[1], 1));
    filter_unref(f);
}

Test(filter, a_document_without_labels_needs_the_written_star)
{
    struct slice listed[] = {label("public")};
    struct filter *some = one_grant(EVERY, EVERY, set_of(listed, 1));
    struct filter *none = one_grant(EVERY, EVERY, NOTHING);
    struct filter *all = one_grant(EVERY, EVERY, EVERY);
    cr_assert_not(sees(some, "kb", "faq", NULL, 0));
    cr_assert_not(sees(none, "kb", "faq", NULL, 0));
    cr_assert(sees(all, "kb", "faq", NULL, 0));
    cr_assert(sees(all, "kb", "faq", listed, 1));
    filter_unref(some);
    filter_unref(none);
    filter_unref(all);
}

Test(filter, an_empty_set_matches_nothing_in_any_dimension)
{
    struct slice public[] = {label("public")};
    struct filter *filters[] = {one_grant(NOTHING, EVERY, EVERY), one_grant(EVERY, NOTHING, EVERY),
                                one_grant(EVERY, EVERY, NOTHING)};
    for (size_t i = 0; i < 3; i++) {
        cr_assert_not(sees(filters[i], "kb", "faq", public, 1), "%zu", i);
        cr_assert_not(filter_is_none(filters[i]), "a grant that matches nothing is still one");
        filter_unref(filters[i]);
    }
}

Test(filter, nothing_sees_a_document_without_collection_or_type)
{
    struct filter *f = filter_owner();
    cr_assert(sees(f, "kb", "faq", NULL, 0));
    cr_assert_not(sees(f, "", "faq", NULL, 0));
    cr_assert_not(sees(f, "kb", "", NULL, 0));
    cr_assert_not(sees(f, NULL, NULL, NULL, 0));
    filter_unref(f);
}

Test(filter, a_value_star_is_a_name_and_never_the_wildcard)
{
    struct slice star[] = {label("*")};
    struct filter *value = one_grant(set_of(star, 1), EVERY, EVERY);
    struct filter *flag = one_grant(EVERY, EVERY, EVERY);
    cr_assert_not(sees(value, "kb", "faq", NULL, 0));
    cr_assert(sees(value, "*", "faq", NULL, 0));
    cr_assert_not(slice_eq(filter_canonical(value), filter_canonical(flag)));
    cr_assert_not(digest_eq(&filter_digest(value)->value, &filter_digest(flag)->value));
    filter_unref(value);
    filter_unref(flag);
}

Test(filter, grants_are_not_merged_by_dimension)
{
    struct slice kb[] = {label("kb")}, contracts[] = {label("contracts")};
    struct slice public[] = {label("public")}, legal[] = {label("legal")};
    struct filter_grant grants[] = {{set_of(kb, 1), EVERY, set_of(legal, 1)},
                                    {set_of(contracts, 1), EVERY, set_of(public, 1)}};
    struct filter *f = filter_build(grants, 2, NULL, 0);
    cr_assert(sees(f, "kb", "faq", legal, 1));
    cr_assert(sees(f, "contracts", "faq", public, 1));
    cr_assert_not(sees(f, "contracts", "faq", legal, 1));
    cr_assert_not(sees(f, "kb", "faq", public, 1));
    filter_unref(f);
}

Test(filter, denies_need_every_written_dimension_and_any_label)
{
    struct slice kb[] = {label("kb")}, faq[] = {label("faq")};
    struct slice embargoed[] = {label("embargoed")};
    struct slice labels[] = {label("embargoed"), label("public")};
    struct filter_set kb_set = set_of(kb, 1), faq_set = set_of(faq, 1);
    struct filter_set embargoed_set = set_of(embargoed, 1);
    struct filter_grant all = {EVERY, EVERY, EVERY};
    struct filter_deny deny = {&kb_set, &faq_set, &embargoed_set};
    struct filter *f = filter_build(&all, 1, &deny, 1);
    cr_assert_not(sees(f, "kb", "faq", labels, 2), "one label of two is enough");
    cr_assert(sees(f, "kb", "faq", &labels[1], 1));
    cr_assert(sees(f, "kb", "faq", NULL, 0));
    cr_assert(sees(f, "hr", "faq", labels, 2));
    cr_assert(sees(f, "kb", "article", labels, 2));
    filter_unref(f);

    struct filter_deny by_collection = {&kb_set, NULL, NULL};
    f = filter_build(&all, 1, &by_collection, 1);
    cr_assert_not(sees(f, "kb", "faq", NULL, 0));
    cr_assert(sees(f, "hr", "faq", NULL, 0));
    filter_unref(f);
}

Test(filter, a_deny_outweighs_any_number_of_grants)
{
    struct slice kb[] = {label("kb")};
    struct filter_set kb_set = set_of(kb, 1);
    struct filter_grant grants[] = {{kb_set, EVERY, EVERY}, {EVERY, EVERY, EVERY}};
    struct filter_deny deny = {&kb_set, NULL, NULL};
    struct filter *f = filter_build(grants, 2, &deny, 1);
    cr_assert_not(sees(f, "kb", "faq", NULL, 0));
    filter_unref(f);
}

Test(filter, none_is_one_form_whatever_is_denied)
{
    struct slice kb[] = {label("kb")};
    struct filter_set kb_set = set_of(kb, 1);
    struct filter_deny deny = {&kb_set, NULL, NULL};
    struct filter *plain = filter_build(NULL, 0, NULL, 0);
    struct filter *with_deny = filter_build(NULL, 0, &deny, 1);
    cr_assert(filter_is_none(plain) && filter_is_none(with_deny));
    cr_assert_not(sees(plain, "kb", "faq", NULL, 0));
    cr_assert_not(sees(plain, "hr", "faq", kb, 1));
    cr_assert(slice_eq(filter_canonical(plain), filter_canonical(with_deny)));
    cr_assert(slice_is(filter_canonical(plain), "{\"any_of\":[],\"none_of\":[]}"));
    filter_unref(plain);
    filter_unref(with_deny);
}

Test(filter, canonical_text_is_sorted_distinct_json)
{
    struct slice b_a[] = {label("b"), label("a"), label("b")}, x[] = {label("x")};
    struct filter_set set = set_of(b_a, 3);
    struct filter_grant grants[] = {
        {set_of(x, 1), EVERY, EVERY}, {set, EVERY, NOTHING}, {set_of(x, 1), EVERY, EVERY}};
    struct filter_deny deny = {NULL, &set, NULL};
    struct filter *f = filter_build(grants, 3, &deny, 1);
    cr_assert(slice_is(filter_canonical(f),
                       "{\"any_of\":["
                       "{\"collections\":[\"a\",\"b\"],\"doc_types\":\"*\",\"labels\":[]},"
                       "{\"collections\":[\"x\"],\"doc_types\":\"*\",\"labels\":\"*\"}],"
                       "\"none_of\":[{\"doc_types\":[\"a\",\"b\"]}]}"),
              "%.*s", (int)filter_canonical(f).n, filter_canonical(f).p);
    struct digest expected;
    digest_of(filter_canonical(f), &expected);
    cr_assert(digest_eq(&expected, &filter_digest(f)->value));
    filter_unref(f);
}

Test(filter, owner_sees_everything)
{
    struct slice odd[] = {label("a"), label("secret")};
    struct filter *f = filter_owner();
    cr_assert_not(filter_is_none(f));
    cr_assert(sees(f, "any", "thing", odd, 2));
    filter_unref(f);
}

Test(filter, lives_until_the_last_reference)
{
    struct filter *f = filter_owner();
    cr_assert_eq(filter_ref(f), f);
    filter_unref(f);
    cr_assert(sees(f, "kb", "faq", NULL, 0));
    filter_unref(f);
    filter_unref(NULL);
}

Test(filter, copies_what_it_is_built_from)
{
    char name[] = "kb";
    struct slice items[] = {{name, 2}};
    struct filter *f = one_grant(set_of(items, 1), EVERY, EVERY);
    name[0] = 'X';
    items[0] = SLICE_NONE;
    cr_assert(sees(f, "kb", "faq", NULL, 0));
    cr_assert_not(sees(f, "Xb", "faq", NULL, 0));
    filter_unref(f);
}

Test(filter, doc_scopes_have_one_order)
{
    struct slice l1[] = {label("a")}, l2[] = {label("a"), label("b")}, l3[] = {label("b")};
    struct doc_scope sorted[] = {
        {SLICE_LIT("a"), SLICE_LIT("z"), l3, 1},  {SLICE_LIT("b"), SLICE_LIT("a"), NULL, 0},
        {SLICE_LIT("b"), SLICE_LIT("a"), l1, 1},  {SLICE_LIT("b"), SLICE_LIT("a"), l2, 2},
        {SLICE_LIT("b"), SLICE_LIT("a"), l3, 1},  {SLICE_LIT("b"), SLICE_LIT("b"), NULL, 0},
        {SLICE_LIT("ba"), SLICE_LIT("a"), l1, 1},
    };
    int n = sizeof(sorted) / sizeof(sorted[0]);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            int order = doc_scope_cmp(&sorted[i], &sorted[j]);
            cr_assert_eq((order > 0) - (order < 0), (i > j) - (i < j), "%d %d", i, j);
        }
    }
}

Test(filter, rights_too_long_to_write_out_are_none)
{
    enum { N = 90000 };
    static char names[N][50];
    static struct slice items[N];
    for (size_t i = 0; i < N; i++) {
        items[i] = (struct slice){names[i], (size_t)snprintf(names[i], 50, "%049zu", i)};
    }
    struct filter *f = one_grant(set_of(items, N / 2), EVERY, EVERY);
    cr_assert(sees(f, names[0], "faq", NULL, 0));
    filter_unref(f);
    f = one_grant(set_of(items, N), EVERY, EVERY);
    cr_assert(filter_is_none(f));
    cr_assert_not(sees(f, names[0], "faq", NULL, 0));
    filter_unref(f);
}

/* --- properties ------------------------------------------------------------------------------ */

static uint64_t state;

static size_t pick(size_t n)
{
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (size_t)(state >> 33) % n;
}

static const char *const VALUES[] = {"a", "b", "c", "*", "a,b", "\"", "]", "ab"};

/* A set as a bit mask over VALUES, and written out with repeats in a random order. */
struct random_set {
    bool all;
    unsigned mask;
    struct slice items[2 * MAX_ITEMS];
    size_t n;
};

static void write_shuffled(struct random_set *s)
{
    s->n = 0;
    for (size_t i = 0; i < MAX_ITEMS; i++) {
        for (size_t copies = (s->mask >> i & 1) ? 1 + pick(2) : 0; copies; copies--) {
            size_t at = pick(s->n + 1);
            s->items[s->n++] = s->items[at];
            s->items[at] = slice_of(VALUES[i]);
        }
    }
}

static void draw_set(struct random_set *s)
{
    s->all = pick(5) == 0;
    s->mask = s->all ? 0 : (unsigned)pick(1U << MAX_ITEMS) & (unsigned)pick(1U << MAX_ITEMS);
}

static struct filter_set as_set(struct random_set *s)
{
    write_shuffled(s);
    return (struct filter_set){s->all, s->items, s->n};
}

struct random_rights {
    struct random_set grants[3][3];
    size_t n;
};

static struct filter *build_shuffled(struct random_rights *r)
{
    struct filter_grant grants[6];
    size_t n = 0;
    size_t first = pick(3);
    struct random_set copies[6][3];
    for (size_t i = 0; i < r->n + (r->n ? pick(3) : 0); i++) {
        memcpy(copies[n], r->grants[(first + i) % r->n], sizeof(copies[n]));
        grants[n] = (struct filter_grant){as_set(&copies[n][0]), as_set(&copies[n][1]),
                                          as_set(&copies[n][2])};
        n++;
    }
    return filter_build(grants, n, NULL, 0);
}

static bool same_set(const struct random_set *a, const struct random_set *b)
{
    return a->all == b->all && a->mask == b->mask;
}

static bool has_grant(const struct random_rights *r, const struct random_set grant[3])
{
    for (size_t i = 0; i < r->n; i++) {
        if (same_set(&r->grants[i][0], &grant[0]) && same_set(&r->grants[i][1], &grant[1]) &&
            same_set(&r->grants[i][2], &grant[2])) {
            return true;
        }
    }
    return false;
}

static bool same_rights(const struct random_rights *a, const struct random_rights *b)
{
    bool same = true;
    for (size_t i = 0; i < a->n; i++) {
        same = same && has_grant(b, a->grants[i]);
    }
    for (size_t i = 0; i < b->n; i++) {
        same = same && has_grant(a, b->grants[i]);
    }
    return same;
}

static void draw_rights(struct random_rights *r)
{
    r->n = pick(4);
    for (size_t i = 0; i < r->n; i++) {
        for (size_t d = 0; d < 3; d++) {
            draw_set(&r->grants[i][d]);
        }
    }
}

Test(filter, order_and_repeats_never_change_the_digest)
{
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        state = seed;
        struct random_rights rights;
        draw_rights(&rights);
        struct filter *a = build_shuffled(&rights), *b = build_shuffled(&rights);
        cr_assert(slice_eq(filter_canonical(a), filter_canonical(b)), "seed %d", (int)seed);
        cr_assert(digest_eq(&filter_digest(a)->value, &filter_digest(b)->value), "seed %d",
                  (int)seed);
        filter_unref(a);
        filter_unref(b);
    }
}

Test(filter, different_rights_never_share_canonical_bytes)
{
    size_t n_same = 0;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        state = seed;
        struct random_rights x, y;
        draw_rights(&x);
        y = x;
        if (y.n) { /* a neighbour: one bit or one flag away, or the same again */
            struct random_set *s = &y.grants[pick(y.n)][pick(3)];
            s->mask ^= (pick(2) ? 1U << pick(MAX_ITEMS) : 0);
            s->all = pick(4) == 0;
            s->mask = s->all ? 0 : s->mask;
        }
        struct filter *a = build_shuffled(&x), *b = build_shuffled(&y);
        bool same = same_rights(&x, &y);
        n_same += same;
        cr_assert_eq(slice_eq(filter_canonical(a), filter_canonical(b)), same, "seed %d",
                     (int)seed);
        cr_assert_eq(digest_eq(&filter_digest(a)->value, &filter_digest(b)->value), same, "seed %d",
                     (int)seed);
        filter_unref(a);
        filter_unref(b);
    }
    cr_assert(n_same > 100 && n_same < 3900, "both kinds are drawn: %zu", n_same);
}
