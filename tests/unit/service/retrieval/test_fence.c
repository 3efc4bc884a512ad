/* SPDX-License-Identifier: Apache-2.0 */
/* The fence's exact bytes. The tags here were computed with another HMAC implementation. */
#include "service/retrieval/fence.h"

#include <criterion/criterion.h>

static const struct slice KEY = {"0123456789abcdef0123456789abcdef", 32};

static void expect_fenced(struct slice chunk_id, struct slice text, const char *expected)
{
    struct dynbuf out;
    dynbuf_init(&out, 4096);
    fence_add(&out, KEY, chunk_id, text);
    cr_assert(slice_is(dynbuf_get(&out), expected), "%.*s", (int)out.n, out.p);
    dynbuf_done(&out);
}

Test(fence, marks_each_line)
{
    expect_fenced(SLICE_LIT("faq/guide.md/3"), SLICE_LIT("first line\nsecond line"),
                  "<<untrusted-content fence=6blpytb4ilpn64aw2sxxbjjzhp epoch=0df4df5b>>\n"
                  "6blp| first line\n"
                  "6blp| second line\n"
                  "<<end fence=6blpytb4ilpn64aw2sxxbjjzhp>>");
}

Test(fence, gives_an_empty_text_one_empty_line)
{
    const char *expected = "<<untrusted-content fence=2doudmeibfsxcachw6nj6r422g epoch=0df4df5b>>\n"
                           "2dou| \n"
                           "<<end fence=2doudmeibfsxcachw6nj6r422g>>";
    expect_fenced(SLICE_LIT("c/d/0"), SLICE_LIT(""), expected);
    expect_fenced(SLICE_LIT("c/d/0"), SLICE_NONE, expected);
}

static void fence(struct dynbuf *out, const char *key, const char *chunk_id, const char *text)
{
    dynbuf_init(out, 4096);
    fence_add(out, slice_of(key), slice_of(chunk_id), slice_of(text));
}

/* The tag alone, since the texts differ anyway. */
static bool same_tag(const struct dynbuf *a, const struct dynbuf *b)
{
    const size_t at = strlen("<<untrusted-content fence=");
    return memcmp(a->p + at, b->p + at, FENCE_TAG_CHARS) == 0;
}

Test(fence, tag_depends_on_key_chunk_and_text_and_on_nothing_else)
{
    static const char K1[] = "0123456789abcdef0123456789abcdef";
    static const char K2[] = "0123456789abcdef0123456789abcdeg";
    struct dynbuf base, same, other[5];
    fence(&base, K1, "c/d/0", "text");
    fence(&same, K1, "c/d/0", "text");
    cr_assert(slice_eq(dynbuf_get(&base), dynbuf_get(&same)));
    fence(&other[0], K2, "c/d/0", "text");
    fence(&other[1], K1, "c/d/1", "text");
    fence(&other[2], K1, "c/d/0", "texts");
    fence(&other[3], K1, "c/d/0t", "ext"); /* lengths are part of what is signed */
    fence(&other[4], K1, "c/d/0", "text\n");
    for (size_t i = 0; i < 5; i++) {
        cr_assert_not(same_tag(&base, &other[i]), "%zu", i);
        dynbuf_done(&other[i]);
    }
    dynbuf_done(&base);
    dynbuf_done(&same);
}

Test(fence, keeps_the_number_of_lines)
{
    static const struct {
        const char *text;
        size_t lines;
    } TEXTS[] = {{"", 1}, {"a", 1}, {"\n", 2}, {"a\n", 2}, {"\na", 2}, {"a\n\nb", 3}};
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++) {
        struct dynbuf out;
        size_t newlines = 0;
        fence(&out, "0123456789abcdef0123456789abcdef", "c/d/0", TEXTS[i].text);
        for (size_t k = 0; k < out.n; k++) {
            newlines += out.p[k] == '\n';
        }
        cr_assert_eq(newlines, TEXTS[i].lines + 1, "text %zu", i);
        cr_assert_neq(out.p[out.n - 1], '\n');
        dynbuf_done(&out);
    }
}

Test(fence, epoch_names_the_key_without_showing_it)
{
    char epoch[FENCE_EPOCH_CHARS + 1], other[FENCE_EPOCH_CHARS + 1];
    fence_epoch(KEY, epoch);
    cr_assert_str_eq(epoch, "0df4df5b");
    fence_epoch(SLICE_LIT("0123456789abcdef0123456789abcdeg"), other);
    cr_assert_str_neq(epoch, other);
}
