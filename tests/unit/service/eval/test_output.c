/* SPDX-License-Identifier: Apache-2.0 */
#include "service/eval/output.h"

#include <criterion/criterion.h>
#include <locale.h>

Test(output, fractions_are_decimal_in_every_locale)
{
    static const struct {
        double value;
        int digits;
        const char *want;
    } CASES[] = {
        {0, 6, "0.000000"},  {1, 6, "1.000000"},          {0.1234564, 6, "0.123456"},
        {0.5, 1, "0.5"},     {0.12345, 4, "0.1235"},      {0.99996, 4, "1.0000"},
        {-0.25, 2, "-0.25"}, {-0.0000001, 6, "0.000000"}, {12.5, 3, "12.500"},
        {-0.004, 2, "0.00"},
    };
    (void)setlocale(LC_ALL, "de_DE.UTF-8");
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct dynbuf out;
        dynbuf_init(&out, 64);
        fraction_add(&out, millionths(CASES[i].value), CASES[i].digits);
        cr_assert(slice_is(dynbuf_get(&out), CASES[i].want), "%.*s, not %s", (int)out.n, out.p,
                  CASES[i].want);
        dynbuf_done(&out);
    }
}

Test(output, run_lines_fall_in_score_and_have_six_columns)
{
    struct ranking ranking = {0};
    struct dynbuf out;
    dynbuf_init(&out, 1024);
    ranking_add(&ranking, SLICE_LIT("b"));
    ranking_add(&ranking, SLICE_LIT("a/x#p1"));
    ranking_add(&ranking, SLICE_LIT("Terms V1.0\t.md"));
    run_add(&out, SLICE_LIT("q 1"), &ranking);
    cr_assert(slice_is(dynbuf_get(&out), "q%201 Q0 b 1 3 kbgate\n"
                                         "q%201 Q0 a/x#p1 2 2 kbgate\n"
                                         "q%201 Q0 Terms%20V1.0%09.md 3 1 kbgate\n"));
    ranking_done(&ranking);
    dynbuf_done(&out);
}
