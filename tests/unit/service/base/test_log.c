/* SPDX-License-Identifier: Apache-2.0 */
/* One line is one JSON object, whatever its values hold. */
#include "service/base/log.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

static char caught[64 * 1024];
static int ends[2];

/* stderr becomes a pipe, as it is under a supervisor. */
static void setup(void)
{
    cr_assert_eq(pipe(ends), 0);
    cr_assert_geq(dup2(ends[1], STDERR_FILENO), 0);
    close(ends[1]);
}

TestSuite(log, .init = setup);

static const char *written(void)
{
    close(STDERR_FILENO);
    size_t n = 0;
    for (ssize_t got; (got = read(ends[0], caught + n, sizeof(caught) - 1 - n)) > 0;) {
        n += (size_t)got;
    }
    caught[n] = '\0';
    return caught;
}

Test(log, writes_one_object_with_time_level_and_event_first)
{
    struct log_line l;
    log_begin(&l, LOG_WARN, "started");
    log_text_z(&l, "host", "a\"b\nc");
    log_text(&l, "bytes", (struct slice){"x\0y", 3});
    log_int(&l, "port", 8080);
    log_end(&l);
    const char *line = written();
    cr_assert_eq(strncmp(line, "{\"time\":\"", 9), 0, "%s", line);
    cr_expect_str_eq(line + 9 + 24,
                     "\",\"level\":\"warn\",\"event\":\"started\",\"host\":\"a\\\"b\\nc"
                     "\",\"bytes\":\"x\\u0000y\",\"port\":8080}\n");
}

Test(log, writes_nothing_below_its_level)
{
    log_set_level(LOG_WARN);
    log_event(LOG_DEBUG, "a", "x");
    log_event(LOG_INFO, "b", "x");
    log_event(LOG_WARN, "c", "x");
    log_event(LOG_ERROR, "d", "x");
    const char *lines = written();
    cr_expect_null(strstr(lines, "\"a\""));
    cr_expect_null(strstr(lines, "\"b\""));
    cr_expect_not_null(strstr(lines, "\"level\":\"warn\",\"event\":\"c\",\"reason\":\"x\"}\n"));
    cr_expect_not_null(strstr(lines, "\"level\":\"error\",\"event\":\"d\",\"reason\":\"x\"}\n"));
}

Test(log, says_that_a_line_was_too_long_instead_of_cutting_it)
{
    static char text[9000];
    memset(text, 'q', sizeof(text) - 1);
    log_event(LOG_INFO, "long", text);
    const char *line = written();
    cr_expect_null(strstr(line, "qqqq"));
    cr_expect_not_null(strstr(line, "log_line_too_long"));
    cr_expect_eq(line[strlen(line) - 1], '\n');
}

Test(log, goes_to_the_sink_it_was_given)
{
    char bytes[1024] = {0};
    int own[2];
    cr_assert_eq(pipe(own), 0);
    struct sink *s = sink_new(own[1], sizeof(bytes));
    log_to(s);
    log_event(LOG_INFO, "inside", "x");
    log_to(NULL);
    log_event(LOG_INFO, "outside", "x");
    sink_free(s, 10000);
    cr_assert_gt(read(own[0], bytes, sizeof(bytes) - 1), 0);
    cr_expect_not_null(strstr(bytes, "inside"));
    cr_expect_null(strstr(bytes, "outside"));
    const char *lines = written();
    cr_expect_not_null(strstr(lines, "outside"));
    cr_expect_null(strstr(lines, "inside"));
}

Test(log, reads_level_names_exactly)
{
    enum log_level level = LOG_DEBUG;
    cr_expect(log_level_parse(SLICE_LIT("error"), &level));
    cr_expect_eq(level, LOG_ERROR);
    cr_expect_not(log_level_parse(SLICE_LIT("Error"), &level));
    cr_expect_not(log_level_parse(SLICE_LIT("warning"), &level));
    cr_expect_not(log_level_parse(SLICE_LIT(""), &level));
    cr_expect_eq(level, LOG_ERROR);
}

Test(log, formats_time_in_utc)
{
    static const struct {
        int64_t unix_ms;
        const char *text;
    } CASES[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {1709210096007, "2024-02-29T12:34:56.007Z"},
        {253402300799999, "9999-12-31T23:59:59.999Z"},
    };
    setenv("TZ", "Asia/Tokyo", 1);
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct dynbuf b;
        dynbuf_init(&b, 64);
        log_add_time(&b, CASES[i].unix_ms);
        cr_expect(slice_is(dynbuf_get(&b), CASES[i].text), "%s", CASES[i].text);
        dynbuf_done(&b);
    }
}
