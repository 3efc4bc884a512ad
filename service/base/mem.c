/* SPDX-License-Identifier: Apache-2.0 */
/* One place decides what happens when memory is gone, so that no caller carries a path nobody
 * tests. */
#include "service/base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void out_of_memory(void)
{
    static const char message[] = "kbgate: out of memory\n";
    (void)!fwrite(message, 1, sizeof(message) - 1, stderr);
    abort();
}

void *mem_alloc(size_t n)
{
    void *p = calloc(1, n ? n : 1);
    if (!p) {
        out_of_memory();
    }
    return p;
}

void *mem_realloc(void *p, size_t n)
{
    void *grown = realloc(p, n ? n : 1);
    if (!grown) {
        out_of_memory();
    }
    return grown;
}

void *mem_array(size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size) {
        out_of_memory();
    }
    return mem_alloc(count * size);
}

char *mem_text(struct slice s)
{
    if (!s.p) {
        return NULL;
    }
    char *text = mem_alloc(s.n + 1);
    memcpy(text, s.p, s.n);
    return text;
}
