/* SPDX-License-Identifier: Apache-2.0 */
/* A reader that stalls costs lines and never makes a caller wait. */
#include "service/base/sink.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static size_t read_all(int fd, char *bytes, size_t room)
{
    size_t n = 0;
    for (;;) {
        ssize_t got = read(fd, bytes + n, room - n);
        if (got <= 0) {
            return n;
        }
        n += (size_t)got;
    }
}

Test(sink, writes_lines_whole_and_in_order)
{
    enum { LINES = 2000 };
    static char bytes[64 * 1024];
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    cr_assert_gt(fcntl(ends[1], F_SETPIPE_SZ, (int)sizeof(bytes)), 0);
    struct sink *s = sink_new(ends[1], sizeof(bytes));
    for (int i = 0; i < LINES; i++) {
        char line[16];
        int n = snprintf(line, sizeof(line), "line %d\n", i);
        cr_assert(sink_put(s, (struct slice){line, (size_t)n}));
    }
    cr_expect_eq(sink_dropped(s), 0);
    sink_free(s, 10000);
    close(ends[1]);
    size_t n = read_all(ends[0], bytes, sizeof(bytes) - 1);
    bytes[n] = '\0';
    char *at = bytes;
    for (int i = 0; i < LINES; i++) {
        char line[16];
        int length = snprintf(line, sizeof(line), "line %d\n", i);
        cr_assert_eq(strncmp(at, line, (size_t)length), 0, "line %d", i);
        at += length;
    }
    cr_expect_eq(*at, '\0');
}

Test(sink, drops_and_counts_when_the_reader_stalls)
{
    enum { CEILING = 100000 };
    static char line[1000], bytes[4096];
    memset(line, 'x', sizeof(line) - 1);
    line[sizeof(line) - 1] = '\n';
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    int size = fcntl(ends[1], F_SETPIPE_SZ, 4096);
    struct sink *s = sink_new(ends[1], CEILING);
    /* the pipe, the buffer being written and the one being filled: more can never wait */
    const int most = (size + 2 * CEILING) / (int)sizeof(line) + 1;
    int kept = 0, tried = most + 50;
    for (int i = 0; i < tried; i++) {
        kept += sink_put(s, (struct slice){line, sizeof(line)});
    }
    cr_expect_leq(kept, most);
    cr_expect_geq(kept, CEILING / (int)sizeof(line));
    cr_expect_eq(sink_dropped(s), (uint64_t)(tried - kept));
    for (long left = (long)kept * (long)sizeof(line); left > 0;) {
        ssize_t got = read(ends[0], bytes, sizeof(bytes));
        cr_assert_gt(got, 0);
        left -= got;
    }
    sink_free(s, 10000);
    close(ends[0]);
    close(ends[1]);
}

Test(sink, refuses_a_line_over_its_ceiling_and_takes_one_at_it)
{
    char bytes[64];
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    struct sink *s = sink_new(ends[1], 10);
    cr_expect_not(sink_put(s, SLICE_LIT("0123456789\n")));
    cr_expect(sink_put(s, SLICE_LIT("012345678\n")));
    cr_expect_eq(sink_dropped(s), 1);
    sink_free(s, 10000);
    close(ends[1]);
    cr_expect_eq(read_all(ends[0], bytes, sizeof(bytes)), 10);
    cr_expect_arr_eq(bytes, "012345678\n", 10);
}

Test(sink, counts_lines_that_could_not_be_written)
{
    signal(SIGPIPE, SIG_IGN);
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    close(ends[0]);
    struct sink *s = sink_new(ends[1], 1000);
    cr_expect(sink_put(s, SLICE_LIT("lost\n")));
    while (sink_dropped(s) == 0) {
        usleep(1000); /* ends with the test's time-out if the line is never counted */
    }
    cr_expect_eq(sink_dropped(s), 1);
    sink_free(s, 10000);
    close(ends[1]);
}

/* A wait under a second is a wait too: a pause of the writer is not the end of the line. */
Test(sink, waits_for_the_writer_in_milliseconds)
{
    char bytes[64];
    for (int i = 0; i < 50; i++) {
        int ends[2];
        cr_assert_eq(pipe(ends), 0);
        struct sink *s = sink_new(ends[1], 100);
        cr_expect(sink_put(s, SLICE_LIT("last words\n")));
        sink_free(s, 999);
        close(ends[1]);
        cr_assert_eq(read_all(ends[0], bytes, sizeof(bytes)), 11);
        close(ends[0]);
    }
}

/* Taken by the sink's thread, the signal would end the process, or cut short what it stands for. */
Test(sink, leaves_signals_to_those_who_wait_for_them)
{
    sigset_t term, pending;
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    struct sink *s = sink_new(ends[1], 100); /* before the mask: it must not depend on that */
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &term, NULL);
    cr_assert_eq(kill(getpid(), SIGTERM), 0);
    sigpending(&pending);
    cr_expect(sigismember(&pending, SIGTERM));
    sink_free(s, 10000);
    close(ends[0]);
    close(ends[1]);
}

Test(sink, frees_nothing_for_null)
{
    sink_free(NULL, 0);
}
