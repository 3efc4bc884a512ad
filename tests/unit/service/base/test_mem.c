/* SPDX-License-Identifier: Apache-2.0 */
/* Memory comes zeroed, and a size that cannot be had ends the process instead of wrapping round. */
#include "service/base/mem.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

Test(mem, gives_zeroed_bytes)
{
    unsigned char *p = mem_alloc(4096);
    for (size_t i = 0; i < 4096; i++) {
        cr_assert_eq(p[i], 0, "byte %zu", i);
    }
    free(p);
    uint64_t *numbers = mem_array(3, sizeof(*numbers));
    cr_expect_eq(numbers[2], 0);
    free(numbers);
}

Test(mem, never_returns_null_for_nothing)
{
    void *none = mem_alloc(0), *empty = mem_array(0, 8), *grown = mem_realloc(NULL, 0);
    cr_expect_not_null(none);
    cr_expect_not_null(empty);
    cr_expect_not_null(grown);
    free(none);
    free(empty);
    free(grown);
}

Test(mem, keeps_the_bytes_it_grows)
{
    char *p = mem_realloc(NULL, 4);
    memcpy(p, "abcd", 4);
    p = mem_realloc(p, 100000);
    cr_expect_arr_eq(p, "abcd", 4);
    free(p);
}

Test(mem, copies_text_with_a_nul)
{
    cr_expect_null(mem_text(SLICE_NONE));
    char *empty = mem_text(SLICE_LIT("")), *text = mem_text((struct slice){"abcdef", 3});
    cr_expect_str_eq(empty, "");
    cr_expect_str_eq(text, "abc");
    free(empty);
    free(text);
}

Test(mem, ends_the_process_when_a_product_overflows, .signal = SIGABRT)
{
    size_t count = SIZE_MAX / 8;
    free(mem_array(count + 1, 8));
}
