/* SPDX-License-Identifier: Apache-2.0 */
#include "service/retrieval/view.h"

#include "service/base/arena.h"
#include "service/retrieval/fence.h"

#include <criterion/criterion.h>

static const struct slice LABELS[] = {{"hr", 2}, {"internal", 8}};

static struct partition partition(const char *collection, const char *doc_type, size_t n_labels,
                                  const char *content)
{
    struct partition p = {.scope = {slice_of(collection), slice_of(doc_type), LABELS, n_labels}};
    digest_of(slice_of(content), &p.content);
    return p;
}

struct version {
    char text[INDEX_VERSION_CHARS + 1];
};

static struct version version_of(const struct partition *p, size_t n,
                                 const struct answer_profile *profile)
{
    struct version v;
    index_version_write(p, n, profile, v.text);
    return v;
}

static bool same(struct version a, struct version b)
{
    return strcmp(a.text, b.text) == 0;
}

Test(view, index_version_has_its_form)
{
    struct answer_profile profile;
    answer_profile_init(&profile);
    struct version v = version_of(NULL, 0, &profile);
    cr_assert_eq(strlen(v.text), 30);
    cr_assert_eq(strncmp(v.text, "kb1-", 4), 0);
    cr_assert_eq(strspn(v.text + 4, "abcdefghijklmnopqrstuvwxyz234567"), 26);
}

Test(view, index_version_repeats_for_equal_input)
{
    struct answer_profile a, b;
    answer_profile_init(&a);
    answer_profile_init(&b);
    struct partition p[] = {partition("c", "t", 1, "x"), partition("d", "t", 2, "y")};
    struct partition q[] = {partition("c", "t", 1, "x"), partition("d", "t", 2, "y")};
    q[0].n_docs = 77; /* counts follow from the content */
    cr_assert(same(version_of(p, 2, &a), version_of(q, 2, &b)));
}

Test(view, index_version_changes_with_every_number_of_the_profile)
{
    struct partition p = partition("c", "t", 1, "x");
    struct answer_profile profile;
    answer_profile_init(&profile);
    struct version before = version_of(&p, 1, &profile);
    uint32_t *const members[] = {
#define X(member, standard, low, high, what) &profile.member,
        ANSWER_PROFILE_TABLE(X)
#undef X
            & profile.analysis_version,
        &profile.title_weight,
        &profile.context_weight,
        &profile.text_weight,
        &profile.scoring_version,
        &profile.abstain_version,
        &profile.neutralise_version,
        &profile.fence_version,
        &profile.scan_version,
    };
    for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
        ++*members[i];
        cr_assert(!same(before, version_of(&p, 1, &profile)), "member %zu", i);
        --*members[i];
        cr_assert(same(before, version_of(&p, 1, &profile)), "member %zu", i);
    }
    memcpy(profile.fence_epoch, "3f9a0c1e", 9);
    cr_assert(!same(before, version_of(&p, 1, &profile)));
}

/* Every byte of the struct belongs to a member that the test above covers. */
Test(view, the_profile_has_no_member_that_the_test_forgets)
{
    size_t members = 0;
#define X(member, standard, low, high, what) members++;
    ANSWER_PROFILE_TABLE(X)
#undef X
    size_t bytes = (members + 9) * sizeof(uint32_t) + FENCE_EPOCH_CHARS + 1;
    cr_assert_eq(sizeof(struct answer_profile), (bytes + 3) / 4 * 4);
}

Test(view, two_members_with_swapped_values_differ)
{
    struct answer_profile a, b;
    answer_profile_init(&a);
    answer_profile_init(&b);
    a.rrf_k = 7;
    a.lexical_weight = 9;
    b.rrf_k = 9;
    b.lexical_weight = 7;
    cr_assert(!same(version_of(NULL, 0, &a), version_of(NULL, 0, &b)));
}

Test(view, index_version_changes_with_every_part_of_a_partition)
{
    struct answer_profile profile;
    answer_profile_init(&profile);
    const struct partition base = partition("c", "t", 1, "x");
    const struct partition others[] = {
        partition("d", "t", 1, "x"), partition("c", "u", 1, "x"), partition("c", "t", 0, "x"),
        partition("c", "t", 2, "x"), partition("c", "t", 1, "y"), partition("ct", "", 1, "x"),
    };
    struct version before = version_of(&base, 1, &profile);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        cr_assert(!same(before, version_of(&others[i], 1, &profile)), "case %zu", i);
    }
    struct partition both[] = {base, others[0]};
    cr_assert(!same(before, version_of(both, 2, &profile)));
    cr_assert(!same(before, version_of(both, 0, &profile)));
}

Test(view, defaults_are_those_of_the_table)
{
    struct answer_profile profile;
    answer_profile_init(&profile);
#define X(member, standard, low, high, what)                                                       \
    cr_assert_eq(profile.member, (standard), #member);                                             \
    cr_assert((standard) >= (low) && (standard) <= (high), #member);
    ANSWER_PROFILE_TABLE(X)
#undef X
    cr_assert_str_eq(profile.fence_epoch, "");
}

Test(view, names_are_sorted_and_distinct)
{
    const struct partition p[] = {
        partition("b", "t", 1, "1"),
        partition("b", "u", 1, "2"),
        partition("ba", "t", 1, "3"),
        partition("a", "z", 1, "4"),
    };
    const struct view v = {.partitions = p, .n_partitions = 4};
    struct arena arena = {0};
    size_t n = 0;
    const struct slice *names = view_collections(&v, &arena, &n);
    cr_assert_eq(n, 3);
    cr_assert(slice_is(names[0], "a") && slice_is(names[1], "b") && slice_is(names[2], "ba"));
    names = view_doc_types(&v, &arena, &n);
    cr_assert_eq(n, 3);
    cr_assert(slice_is(names[0], "t") && slice_is(names[1], "u") && slice_is(names[2], "z"));
    arena_done(&arena);
}

Test(view, an_empty_view_has_no_names)
{
    const struct view v = {0};
    struct arena arena = {0};
    size_t n = 1;
    view_collections(&v, &arena, &n);
    cr_assert_eq(n, 0);
    arena_done(&arena);
}
