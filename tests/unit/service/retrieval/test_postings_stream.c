/* SPDX-License-Identifier: Apache-2.0 */
#include "service/retrieval/postings_stream.h"

#include "service/retrieval/segment_format.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

Test(postings_stream, what_is_written_is_read)
{
    static const uint32_t chunks[] = {0, 1, 2, 130, 131, 20000, 4000000, SEGMENT_MAX_CHUNKS - 1};
    static const uint32_t tfs[] = {1, 127, 128, 2, 16384, 1, SEGMENT_TF_MAX, 3};
    struct postings_writer w;
    struct postings_reader c;
    postings_writer_init(&w, 1000);
    for (size_t i = 0; i < 8; i++) {
        postings_add(&w, chunks[i], tfs[i]);
    }
    postings_reader_open(&c, dynbuf_get(&w.bytes), w.df, SEGMENT_MAX_CHUNKS);
    for (size_t i = 0; i < 8; i++) {
        cr_assert(postings_reader_next(&c));
        cr_assert_eq(c.chunk, chunks[i]);
        cr_assert_eq(c.tf, tfs[i]);
    }
    cr_assert(!postings_reader_next(&c));
    cr_assert(!c.bad);
    postings_writer_done(&w);
}

static bool is_bad(const char *bytes, size_t n, uint32_t df, uint32_t n_chunks)
{
    struct postings_reader c;
    postings_reader_open(&c, (struct slice){bytes, n}, df, n_chunks);
    while (postings_reader_next(&c)) {
        cr_assert_lt(c.chunk, n_chunks);
    }
    return c.bad;
}

Test(postings_stream, damage_is_noticed)
{
    cr_assert(!is_bad("\x00\x01\x00\x01", 4, 2, 2));
    cr_assert(is_bad("\x00\x01\x00\x01", 4, 2, 1), "a chunk past the segment's end");
    cr_assert(is_bad("\x00\x01\x00\x01", 4, 1, 2), "bytes behind the last posting");
    cr_assert(is_bad("\x00\x01\x00", 3, 2, 2), "cut");
    cr_assert(is_bad("\x00\x01", 2, 2, 2), "cut between postings");
    cr_assert(is_bad("\x00\x00", 2, 1, 2), "tf 0");
    cr_assert(is_bad("\x00\x80\x80\x04", 4, 1, 2), "tf above its maximum");
    cr_assert(is_bad("\x80\x80\x80\x80\x80\x01", 6, 1, 2), "a number that never ends");
    cr_assert(is_bad("\xFF\xFF\xFF\xFF\x1F\x01", 6, 1, 2), "a number above 32 bits");
    cr_assert(is_bad("", 0, 0, 2), "df 0");
    cr_assert(is_bad("\x00\x01", 2, 3, 2), "df above the number of chunks");
}

/* Whatever the bytes, the cursor ends and stays in its bounds. */
Test(postings_stream, any_bytes_are_safe)
{
    const unsigned seed = 4711;
    srand(seed);
    for (int round = 0; round < 20000; round++) {
        size_t n = (size_t)(rand() % 12);
        char *bytes = malloc(n + 1); /* exactly as large, so that a sanitizer sees a step too far */
        cr_assert(bytes);
        for (size_t i = 0; i < n; i++) {
            bytes[i] = (char)(rand() % 4 ? rand() % 8 : rand());
        }
        char *exact = realloc(bytes, n ? n : 1);
        struct postings_reader c;
        uint32_t read = 0;
        postings_reader_open(&c, (struct slice){exact, n}, (uint32_t)(rand() % 6), 40);
        while (postings_reader_next(&c)) {
            cr_assert(c.chunk < 40 && c.tf >= 1 && c.tf <= SEGMENT_TF_MAX, "seed %u", seed);
            cr_assert_leq(++read, 40, "seed %u", seed);
        }
        free(exact);
    }
}
