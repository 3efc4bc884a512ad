/* SPDX-License-Identifier: Apache-2.0 */
/* Copying plain lines is a short cut, so nobody may be able to tell: same bytes and same counts as
 * the general way, for whatever stands before, behind and in between. KB_SEED=n repeats a failure.
 */
#include "service/retrieval/neutralise_general.h"

#include "hostile_text.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { RUNS = 10000, TEXT_MAX = 1 << 16, OUT_MAX = 8 * TEXT_MAX };

struct both {
    struct dynbuf plain, general;
};

static void both_init(struct both *b)
{
    dynbuf_init(&b->plain, OUT_MAX);
    dynbuf_init(&b->general, OUT_MAX);
}

static void both_done(struct both *b)
{
    dynbuf_done(&b->plain);
    dynbuf_done(&b->general);
}

static bool same_count(const struct neutralise_count *a, const struct neutralise_count *b)
{
    return a->replaced == b->replaced && a->deleted == b->deleted && a->broken == b->broken;
}

static void expect_same_form(struct both *b, struct slice in, bool one_line, uint64_t seed)
{
    struct neutralise_count plain = {9, 9, 9}, general = {0};
    dynbuf_cut(&b->plain, 0);
    dynbuf_cut(&b->general, 0);
    (one_line ? neutralise_line : neutralise_text)(&b->plain, in, &plain);
    neutralise_general(&b->general, in, one_line, &general);
    bool same = slice_eq(dynbuf_get(&b->plain), dynbuf_get(&b->general));
    cr_assert(same && same_count(&plain, &general),
              "KB_SEED=%llu, line %d: %.*s\n gave %.*s\n not %.*s", (unsigned long long)seed,
              one_line, (int)in.n, in.p, (int)b->plain.n, b->plain.p, (int)b->general.n,
              b->general.p);
}

static void expect_same(struct both *b, struct slice in, uint64_t seed)
{
    expect_same_form(b, in, false, seed);
    expect_same_form(b, in, true, seed);
}

/* What a line may hold that is not plain, or looks as if it were not. */
static const struct slice SPECIALS[] = {
    {"\0", 1},
    SLICE_LIT("\x01"),
    SLICE_LIT("\t"),
    SLICE_LIT("\n"),
    SLICE_LIT("\v"),
    SLICE_LIT("\r"),
    SLICE_LIT("\r\n"),
    SLICE_LIT("\n\r"),
    SLICE_LIT("\n\n"),
    SLICE_LIT("\x1B[3"),
    SLICE_LIT("\x1B[31m"),
    SLICE_LIT("\x1F"),
    SLICE_LIT("\x7F"),
    SLICE_LIT("\x80"),
    SLICE_LIT("\xFF"),
    SLICE_LIT("\xC2\x85"),
    SLICE_LIT("\xC2\x9B"
              "1m"),
    SLICE_LIT("\xC2\xA0"),
    SLICE_LIT("\xC2\xAD"),
    SLICE_LIT("\xC2\xB7"),
    SLICE_LIT("\xCC\x81"),
    SLICE_LIT("\xCC\xB8"),
    SLICE_LIT("\xCC\x81\xCC\xA7"),
    SLICE_LIT("\xC3\xA9"),
    SLICE_LIT("\xE2\x80\x8B"),
    SLICE_LIT("\xE2\x80\xA8"),
    SLICE_LIT("\xE2\x82"),
    SLICE_LIT("\xE2\x84\xAB"),
    SLICE_LIT("\xE3\x82\x99"),
    SLICE_LIT("\xF0\x9F\x98\x80"),
    SLICE_LIT("\xEF\xBC\x9C"),
    SLICE_LIT("<"),
    SLICE_LIT("< <end fence"),
    SLICE_LIT("<\t<untrusted"),
    SLICE_LIT("<</ end fence"),
    SLICE_LIT("<|im_start|>"),
    SLICE_LIT("<|im_start"),
    SLICE_LIT("<|a<|b|>"),
    SLICE_LIT("[INST]"),
    SLICE_LIT("[instance]"),
    SLICE_LIT("[/inst]"),
    SLICE_LIT("</s>"),
    SLICE_LIT("<sys>"),
    SLICE_LIT("<TOOL_call id=1>"),
    SLICE_LIT("<img src=x>"),
    SLICE_LIT("<imp>"),
    SLICE_LIT("![a](b)"),
    SLICE_LIT("! [a](b)"),
    SLICE_LIT("[a](b)"),
    SLICE_LIT("](javascript:"),
    SLICE_LIT("]( \t data:x)"),
    SLICE_LIT("]: vbscript :"),
    SLICE_LIT("]:  VBScript:"),
    SLICE_LIT("Human:"),
    SLICE_LIT("\n> system \t:"),
    SLICE_LIT("\n*\t_Assistant:"),
    SLICE_LIT("\nthe system:"),
    SLICE_LIT("\n1. user:"),
    SLICE_LIT("\nassistants:"),
    SLICE_LIT("`"),
};
enum { N_SPECIALS = sizeof(SPECIALS) / sizeof(SPECIALS[0]) };

static void add_plain(struct dynbuf *out, size_t n)
{
    static const char WORDS[] = "Leave, of (up to) 14 days: a|b & c; \"then\" ask system! #5 `x` ";
    for (size_t i = 0; i < n; i++) {
        dynbuf_add_byte(out, WORDS[i % (sizeof(WORDS) - 1)]);
    }
}

/* Every special at every place of a short text of two lines, alone and with another behind it. */
Test(neutralise_plain, differs_from_the_general_way_at_no_offset)
{
    struct both b;
    struct dynbuf in;
    both_init(&b);
    dynbuf_init(&in, TEXT_MAX);
    for (size_t s = 0; s < N_SPECIALS; s++) {
        for (size_t at = 0; at <= 12; at++) {
            for (size_t behind = 0; behind <= N_SPECIALS; behind++) {
                dynbuf_cut(&in, 0);
                dynbuf_add(&in, (struct slice){"ab cd\nefg hi", at});
                dynbuf_add(&in, SPECIALS[s]);
                dynbuf_add(&in, behind < N_SPECIALS ? SPECIALS[behind] : SLICE_LIT(""));
                dynbuf_add(&in, (struct slice){&"ab cd\nefg hi"[at], 12 - at});
                expect_same(&b, dynbuf_get(&in), 0);
            }
        }
    }
    dynbuf_done(&in);
    both_done(&b);
}

Test(neutralise_plain, differs_for_no_byte_nor_pair_of_bytes)
{
    struct both b;
    both_init(&b);
    for (unsigned first = 0; first < 256; first++) {
        for (unsigned second = 0; second < 256; second++) {
            const char pair[] = {'a', (char)first, (char)second, 'b'};
            expect_same(&b, (struct slice){pair, 4}, 0);
            expect_same(&b, (struct slice){pair + 1, 2}, 0);
        }
    }
    both_done(&b);
}

static void add_line_of(struct dynbuf *in, size_t n, const char *unit, const char *end)
{
    for (size_t i = 0; i < n; i++) {
        dynbuf_add_byte(in, unit[i % strlen(unit)]);
    }
    dynbuf_add_text(in, end);
}

/* Around the wrap and the cap, with and without room to wrap at, alone and before a plain line. */
Test(neutralise_plain, knows_where_lines_are_wrapped_and_capped)
{
    static const char *const UNITS[] = {"x", "word ", "`", "` ", "a [b](c) "};
    static const size_t AROUND[] = {0, NEUTRALISE_WRAP_BYTES, NEUTRALISE_LINE_MAX_BYTES,
                                    2 * NEUTRALISE_WRAP_BYTES + 1};
    struct both b;
    struct dynbuf in;
    both_init(&b);
    dynbuf_init(&in, TEXT_MAX);
    for (size_t u = 0; u < sizeof(UNITS) / sizeof(UNITS[0]); u++) {
        for (size_t k = 0; k < 4 * 13; k++) {
            size_t n = AROUND[k / 13] + k % 13;
            dynbuf_cut(&in, 0);
            add_line_of(&in, n > 6 ? n - 6 : 0, UNITS[u], "");
            expect_same(&b, dynbuf_get(&in), 0);
            dynbuf_add_text(&in, "\nplain\n");
            add_line_of(&in, n, UNITS[u], "\n");
            expect_same(&b, dynbuf_get(&in), 0);
        }
    }
    dynbuf_done(&in);
    both_done(&b);
}

static void write_mix(struct author *a, struct dynbuf *in)
{
    dynbuf_cut(in, 0);
    for (size_t parts = below(a, 12); parts > 0; parts--) {
        size_t kind = below(a, 40);
        if (kind == 0) {
            add_plain(in, below(a, 5000));
        } else if (kind < 20) {
            add_plain(in, below(a, 30));
        } else {
            dynbuf_add(in, SPECIALS[below(a, N_SPECIALS)]);
        }
        dynbuf_add_text(in, below(a, 3) ? "" : "\n");
    }
}

static uint64_t seed_of_run(void)
{
    const char *text = getenv("KB_SEED");
    return text && *text ? strtoull(text, NULL, 10) : 20250301;
}

Test(neutralise_plain, differs_for_no_mix_of_plain_and_hostile_text)
{
    uint64_t seed = seed_of_run();
    struct author a = {.state = seed};
    struct both b;
    struct dynbuf in;
    both_init(&b);
    dynbuf_init(&in, TEXT_MAX);
    learn_tag(&a, "aaaabbbbccccddddeeeeffff23");
    for (size_t i = 0; i < RUNS; i++) {
        if (i % 2) {
            write_mix(&a, &in);
        } else {
            write_hostile_text(&a, &in);
        }
        expect_same(&b, dynbuf_get(&in), seed);
    }
    dynbuf_done(&in);
    both_done(&b);
}

/* The comparison can fail: the general way does break, delete and replace. */
Test(neutralise_plain, the_general_way_counts_and_changes)
{
    struct neutralise_count count = {0};
    struct dynbuf out;
    dynbuf_init(&out, OUT_MAX);
    neutralise_general(&out, SLICE_LIT("\xFF\x01<s>"), false, &count);
    cr_expect(slice_is(dynbuf_get(&out), "\xEF\xBF\xBD<\xC2\xB7s>"));
    cr_expect(count.replaced == 1 && count.deleted == 1 && count.broken == 1);
    neutralise_general(&out, SLICE_LIT("\x01"), true, &count);
    cr_expect_eq(count.deleted, 2, "it adds");
    dynbuf_done(&out);
}
